"""Plots hold what they should, and are well-formed."""

import re
from xml.etree import ElementTree

import pytest

from report import stores
from trimtab.report.metrics import ERROR, TVD
from trimtab.report.plots.curves import curves, mean_curve, merged
from trimtab.report.plots.heat_map import domain_errors, heat_map
from trimtab.report.plots.marks import marks
from trimtab.report.plots.reliability import pooled_bins, reliability
from trimtab.report.plots.scatter import scatter
from trimtab.report.plots.strip import strip, strip_axis, strip_scale
from trimtab.report.ranking import ranking
from trimtab.report.settings import Row
from trimtab.report.table import Cell, Table, tables

NASTY = 'tent"><script>alert(1)</script>'


def one_table() -> Table:
    (table,) = tables([*stores.three_methods(), stores.done(stores.spec(NASTY), 0.3)])
    return table


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def numbers(svg: str) -> list[float]:
    return [float(word) for word in re.findall(r'(?:points|cx|cy|x|y)="([-\d.]+)', svg)]


def test_a_curve_is_the_mean_over_seeds_in_percent() -> None:
    cell = Cell(tuple(stores.done(stores.spec(seed=seed), 0.2 + 0.1 * seed) for seed in (0, 1)))
    assert dict(mean_curve(cell, ERROR)) == pytest.approx({200: 24, 400: 25, 600: 26})
    assert dict(mean_curve(cell, TVD)) == pytest.approx({200: 10, 400: 20, 600: 30})


def test_seeds_with_other_stretches_are_left_out_of_a_curve() -> None:
    same = [stores.done(stores.spec(seed=seed), 0.2) for seed in (0, 1)]
    other = stores.done(stores.spec(seed=2), 0.9, curve=[(7, 0.9, 0.9)])
    assert len(mean_curve(Cell((*same, other)), ERROR)) == 3


def test_short_stretches_are_taken_together_by_their_samples() -> None:
    curve = [(40, 10.0), (60, 40.0), (110, 5.0), (120, 9.0)]
    assert dict(merged(curve)) == pytest.approx({60: 20.0, 110: 5.0, 120: 9.0})
    assert merged([(5, 1.0)]) == [(5, 1.0)]


@pytest.mark.parametrize("curve", [[(600, 0.2, 0.1)], [(300, 0.2, 0.1), (600, 0.2, 0.1)]])
def test_a_flat_or_short_curve_is_drawn(curve: list[tuple[int, float, float]]) -> None:
    run = stores.done(stores.spec(), 0.2, curve=curve)
    (table,) = tables([run])
    drawn = {Row.of(run.spec): mean_curve(Cell((run,)), ERROR)}
    svg = parsed(curves(drawn, marks([table]), ERROR, (15.0, 25.0)))
    lines = svg.findall(".//polyline")
    assert len(lines) == 2
    assert len(lines[0].attrib["points"].split()) == 2


def test_every_method_has_a_line_a_mark_and_a_hint() -> None:
    table = one_table()
    looks = marks([table])
    column = table.column(table.settings[0])
    drawn = {row: mean_curve(cell, ERROR) for row, cell in column.items()}
    svg = parsed(curves(drawn, looks, ERROR, (0.0, 100.0)))
    names = [part.attrib["data-method"] for part in svg.findall("./g")]
    assert sorted(names) == sorted(2 * [looks[row].name for row in column])
    hints = [part.findtext("title") or "" for part in svg.findall("./g")]
    assert any(hint.startswith(NASTY) for hint in hints)


def test_marks_differ_for_two_dozen_methods() -> None:
    runs = [stores.done(stores.spec(f"method_{index}"), 0.3) for index in range(24)]
    (table,) = tables(runs)
    looks = marks([table]).values()
    assert len({(mark.colour, mark.dash) for mark in looks}) == 24


def test_a_scatter_has_a_point_and_a_label_for_each_method() -> None:
    table = one_table()
    points = {row: (1.0 + index, 20.0 + 7 * index) for index, row in enumerate(table.rows)}
    svg = parsed(scatter(points, marks([table])))
    labels = [text.text for text in svg.findall(".//text[@class='label']")]
    assert {"Source", "ROID", "TENT"} <= set(labels)
    assert len(svg.findall(".//g[@data-method]//title")) == len(table.rows)


def test_one_point_alone_is_drawn_inside() -> None:
    table = one_table()
    svg = scatter({table.rows[0]: (1.0, 40.0)}, marks([table]))
    assert all(-1 <= number <= 400 for number in numbers(svg))


def test_labels_never_cover_each_other() -> None:
    runs = [stores.done(stores.spec(f"method_{index}"), 0.3) for index in range(20)]
    (table,) = tables(runs)
    points = {row: (2.0 + 0.01 * index, 30.0) for index, row in enumerate(table.rows)}
    svg = parsed(scatter(points, marks([table])))
    places = [
        (float(text.attrib["x"]), float(text.attrib["y"]))
        for text in svg.findall(".//text[@class='label']")
    ]
    assert 0 < len(places) < 20
    for position, (x, y) in enumerate(places):
        assert all(abs(x - a) > 40 or abs(y - b) >= 11 for a, b in places[position + 1 :])


def test_bins_are_pooled_by_their_samples() -> None:
    runs = [
        stores.done(stores.spec(seed=0), 0.2, reliability=[(100, 0.6, 0.5), (0, 0.0, 0.0)]),
        stores.done(stores.spec(seed=1), 0.2, reliability=[(300, 0.8, 0.9), (0, 0.0, 0.0)]),
    ]
    ((samples, sure, right),) = pooled_bins(Cell(tuple(runs)))
    assert samples == 400
    assert sure == pytest.approx(0.75)
    assert right == pytest.approx(0.8)


def test_a_reliability_diagram_has_a_point_for_each_bin_that_holds_samples() -> None:
    table = one_table()
    row, cell = next(iter(table.column(table.settings[0]).items()))
    svg = parsed(reliability({row: pooled_bins(cell)}, marks([table])))
    assert len(svg.findall(".//circle")) == 2


def test_a_heat_map_shows_each_domain_and_what_changes_against_the_source() -> None:
    table = one_table()
    errors = {row: domain_errors(cell) for row, cell in table.column(table.settings[1]).items()}
    svg = parsed(heat_map(errors, ["fog", "snow"]))
    kinds = [rect.attrib["class"] for rect in svg.findall(".//rect")]
    assert kinds == ["plain"] * 2 + ["cooler"] * 2 + ["hotter"] * 2
    values = [text.text for text in svg.findall(".//text[@class='value middle']")]
    assert values[:2] == ["36", "46"]


def test_a_strip_has_a_dot_for_each_setting_and_the_source_on_its_axis() -> None:
    table = one_table()
    standings = ranking(table)
    scale = strip_scale(standings)
    assert "source" in [text.text for text in parsed(strip_axis(scale)).findall("text")]
    svg = parsed(strip(standings[0], marks([table])[standings[0].row], scale))
    dots = [part for part in svg.findall("./g/*") if part.tag in ("circle", "polygon")]
    assert len(dots) == 2
