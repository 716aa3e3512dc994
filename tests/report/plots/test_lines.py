"""Lines of any numbers."""

from trimtab.report.plots.lines import lines


def test_every_line_has_its_name_and_the_source_is_grey() -> None:
    drawn = lines({"source": [(1.0, 20.0), (2.0, 20.0)], "a<b": [(1.0, 10.0), (2.0, 30.0)]}, "x")
    assert "a&lt;b" in drawn
    assert drawn.count("<polyline") == 4  # two lines, two keys
    assert 'class="line grey"' in drawn


def test_few_places_of_a_doubling_axis_are_written_as_they_are() -> None:
    drawn = lines({"a": [(0.01, 1.0), (0.1, 2.0), (10.0, 4.0)]}, "x", doubling=True)
    assert all(f">{value}</text>" in drawn for value in ("0.01", "0.1", "10"))


def test_a_single_point_is_drawn() -> None:
    assert "circle" in lines({"a": [(3.0, 5.0)]}, "x")
