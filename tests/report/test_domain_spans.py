"""Where domains begin and end along a stream."""

import json
from typing import Any
from xml.etree import ElementTree

from report import stores
from trimtab.report.domain_spans import Span, domain_spans
from trimtab.report.metrics import ERROR
from trimtab.report.plots.curves import curves, mean_curve
from trimtab.report.plots.marks import SHAPES, marks, nth_mark
from trimtab.report.table import Cell, tables

FOG_THEN_SNOW = [Span(0, 300, "fog"), Span(300, 600, "snow")]


def cell(*starts: list[tuple[int, str]], **fields: Any) -> Cell:
    """A cell with a seed for each list of recorded starts."""
    return Cell(
        tuple(
            stores.done(stores.spec(seed=seed, **fields), 0.2, domain_starts=found)
            for seed, found in enumerate(starts)
        )
    )


def test_what_a_run_recorded_is_taken() -> None:
    found = domain_spans(cell([(0, "fog"), (100, "snow"), (500, "fog")], scenario="cyclic"))
    assert found == [Span(0, 100, "fog"), Span(100, 500, "snow"), Span(500, 600, "fog")]


def test_older_results_are_read_by_their_protocol() -> None:
    assert domain_spans(cell([], images_per_domain=300)) == FOG_THEN_SNOW
    assert domain_spans(cell([], images_per_domain=300, scenario="correlated(delta=0.1)"))
    assert domain_spans(cell([], images_per_domain=299)) == []
    assert domain_spans(cell([], images_per_domain=None)) == []
    assert domain_spans(cell([], images_per_domain=300, scenario="mixed")) == []


def test_seeds_that_differ_have_no_common_domains() -> None:
    assert domain_spans(cell([(0, "fog"), (300, "snow")], [(0, "snow"), (300, "fog")])) == []
    assert domain_spans(Cell((stores.failed(stores.spec()),))) == []


def test_a_plot_names_the_domains_and_holds_every_number() -> None:
    runs = [stores.done(stores.spec(method, images_per_domain=300), 0.2) for method in ("a", "b")]
    (table,) = tables(runs)
    column = table.column(table.settings[0])
    drawn = {row: mean_curve(found, ERROR) for row, found in column.items()}
    svg = ElementTree.fromstring(
        curves(drawn, marks([table]), ERROR, (0.0, 50.0), domain_spans(next(iter(column.values()))))
    )
    texts = [part.text for part in svg.findall(".//text")]
    assert texts[-2:] == ["fog", "snow"]
    assert "600 samples, domain after domain" in texts
    data = json.loads(svg.attrib["data-curve"])
    assert data["domains"] == [[300, "fog"], [600, "snow"]]
    assert [line["values"] for line in data["lines"]] == [[19.0, 20.0, 21.0]] * 2
    assert [line["ends"] for line in data["lines"]] == [[200, 400, 600]] * 2


def test_lines_that_lie_upon_each_other_show_their_marks_at_different_places() -> None:
    points = [(100 * (i + 1), 0.2, 0.1) for i in range(60)]
    runs = [stores.done(stores.spec(m), 0.2, curve=points, samples=6000) for m in ("a", "b", "c")]
    (table,) = tables(runs)
    drawn = {row: mean_curve(c, ERROR) for row, c in table.column(table.settings[0]).items()}
    svg = ElementTree.fromstring(curves(drawn, marks([table]), ERROR, (0.0, 50.0)))
    places = [
        {point.attrib.get("cx") or point.attrib["points"].split(",")[0] for point in group}
        for group in svg.findall("./g[@class='spots']")
    ]
    assert [len(found) for found in places] == [6, 6, 6]
    assert not places[0] & places[1]


def test_eight_methods_have_eight_shapes() -> None:
    assert len({nth_mark(index).shape for index in range(8)}) == len(SHAPES) == 8
    drawn = {nth_mark(index).point(10, 10, 4) for index in range(8)}
    assert len({part.split("points=")[-1] for part in drawn}) == 8
