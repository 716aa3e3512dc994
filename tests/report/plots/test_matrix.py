"""Fields of numbers, and bars."""

from xml.etree import ElementTree

import pytest

from trimtab.report.plots.bars import histogram
from trimtab.report.plots.matrix import change_matrix, share_matrix

NASTY = "fog<script>"


def hints(svg: ElementTree.Element) -> list[str]:
    return [part.findtext("title") or "" for part in svg.findall("./g")]


def test_a_change_has_a_colour_a_number_and_a_hint() -> None:
    values = {NASTY: {"snow": 12.4, "clean": -0.2}, "snow": {"clean": 0.0}}
    svg = ElementTree.fromstring(change_matrix("changes", values, ["snow", "clean"], 10.0))
    assert hints(svg) == [
        f"{NASTY}, snow: +12.4 points",
        f"{NASTY}, clean: -0.2 points",
        "snow, clean: +0.0 points",
    ]
    rects = svg.findall("./g/rect")
    assert [rect.attrib["class"] for rect in rects] == ["hotter", "cooler", "cooler"]
    assert [float(rect.attrib["fill-opacity"]) for rect in rects] == [0.66, 0.07, 0.06]
    assert [text.text for text in svg.findall("./g/text")] == ["+12", "0", "0"]


def test_shares_are_darker_the_larger_they_are() -> None:
    columns = [f"stretch {number}" for number in range(60)]
    values = {f"class {row}": dict.fromkeys(columns, 10.0 * row) for row in range(3)}
    svg = ElementTree.fromstring(share_matrix("shares", values, columns, "along", 15.0))
    rects = svg.findall("./g/rect")
    assert len(rects) == 3 * 60
    opacities = [float(rect.attrib["fill-opacity"]) for rect in rects[::60]]
    assert opacities == [0.04, 0.64, 0.94]
    width = float(svg.attrib["viewBox"].split()[2])
    assert all(float(r.attrib["x"]) + float(r.attrib["width"]) <= width for r in rects)


def test_a_hundred_classes_are_drawn_without_their_names() -> None:
    values = {f"class {row}": {"1": 1.0} for row in range(100)}
    svg = ElementTree.fromstring(share_matrix("shares", values, ["1"], "along", 4.0))
    assert [text.text for text in svg.findall("./text")] == ["along"]


def test_bars_are_as_high_as_their_shares() -> None:
    svg = ElementTree.fromstring(histogram("h", [1, 3, 0], "classes"))
    heights = [float(rect.attrib["height"]) for rect in svg.findall("./rect")]
    assert heights[0] == pytest.approx(heights[1] / 3, abs=0.02)
    assert heights[2] == 0
    assert [rect.findtext("title") for rect in svg.findall("./rect")][1] == "class 1: 75.0 %"
