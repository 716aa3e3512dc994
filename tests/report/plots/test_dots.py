"""Dots in rows."""

import re

from trimtab.report.plots.dots import dots

ROWS = {"<resnet>": {"source": 40.0, "ROID": 20.0}, "vit": {"ROID": 30.0}}


def test_every_number_is_a_dot_with_words_and_its_place() -> None:
    drawn = dots(ROWS, "error in %")
    for words in ("&lt;resnet&gt;, source: 40", "&lt;resnet&gt;, ROID: 20", "vit, ROID: 30"):
        assert f"<title>{words}</title>" in drawn
    places = [float(x) for x in re.findall(r'<circle class="point [^"]*" cx="([\d.]+)"', drawn)]
    source, roid, vit, *_ = places
    assert roid < vit < source
    assert abs((roid + source) / 2 - vit) < 0.02


def test_the_source_is_grey_and_every_kind_is_in_the_legend_once() -> None:
    drawn = dots(ROWS, "error in %")
    legend = drawn[drawn.index('<ul class="names">') :]
    assert legend.count("</li>") == 2
    assert "point grey" in legend


def test_equal_factors_are_equally_far_apart() -> None:
    drawn = dots({"a": {"x": 1.0}, "b": {"x": 4.0}, "c": {"x": 16.0}}, "GB", doubling=True)
    left, middle, right, *_ = (float(x) for x in re.findall(r'cx="([\d.]+)"', drawn))
    assert abs((left + right) / 2 - middle) < 0.02


def test_one_number_is_enough() -> None:
    assert "a, x: 3" in dots({"a": {"x": 3.0}}, "GB")
