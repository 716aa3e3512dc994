"""The site: every public name is documented, and made pages are what their commands make."""

import importlib.util
import inspect
import re
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

import trimtab

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_name_is_in_the_reference() -> None:
    listed = re.findall(r"^::: trimtab\.(\w+)$", (DOCS / "reference.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(set(trimtab.__all__) - {"__version__"})


@pytest.mark.parametrize("name", sorted(set(trimtab.__all__) - {"__version__"}))
def test_public_names_say_what_they_are(name: str) -> None:
    value = getattr(trimtab, name)
    assert len(inspect.getdoc(value) or "") > 20
    members = vars(value).items() if inspect.isclass(value) else ()
    silent = [
        member
        for member, code in members
        if not member.startswith("_")
        and (inspect.isfunction(code) or isinstance(code, property))
        and not inspect.getdoc(code)
    ]
    assert not silent, f"{name} has members without a docstring: {silent}"


def test_the_page_of_advice_is_not_stale() -> None:
    made = loaded(DOCS / "make_which.py").page()
    written = (DOCS / "which-method.md").read_text(encoding="utf-8")
    assert written == made, "run: python docs/make_which.py"


def test_the_page_of_results_is_not_stale() -> None:
    made = loaded(DOCS / "make_results.py")
    shown, written = made.page(made.read_results(made.RESULTS)), (DOCS / "results.md").read_text()
    assert written == shown, "run: python docs/make_results.py"


def test_the_tables_of_the_preset_are_not_stale() -> None:
    made = loaded(DOCS / "make_beyond.py")
    for path, page in ((made.PAGE, made.page), (made.MEASURED, made.measured_page)):
        written = path.read_text(encoding="utf-8")
        assert page(written) == written, "run: python docs/make_beyond.py"


@pytest.mark.parametrize("name", ["make_beyond", "make_harm"])
def test_what_the_readme_counts_is_what_was_measured(name: str) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert loaded(DOCS / f"{name}.py").readme(readme) == readme, f"run: python docs/{name}.py"


def test_made_parts_of_a_page_are_there_once(tmp_path: Path) -> None:
    filled = loaded(DOCS / "made_parts.py").filled
    page = "a <!-- x -->old<!-- /x --> b\n<!-- y -->\nold\n<!-- /y -->\n"
    made = filled(page, {"x": "1", "y": "2\n"}, tmp_path)
    assert made == "a <!-- x -->1<!-- /x --> b\n<!-- y -->\n\n2\n\n<!-- /y -->\n"
    with pytest.raises(ValueError, match="needs one part <!-- z -->, has 0"):
        filled(page, {"z": ""}, tmp_path)


def test_places_where_the_preset_falls_short_are_counted_and_named() -> None:
    made = loaded(DOCS / "make_beyond.py")
    places = [("net", "continual"), ("net", "mixed"), ("net", "correlated")]
    own = (made.Cell(20.0, 0.1, 4.0, 3), made.Cell(21.0, 0.3, 9.0, 3), made.Cell(22.0, 0.1, 5.0, 3))
    cells = {(place, "trimtab"): cell for place, cell in zip(places, own, strict=True)}
    cells |= {(place, "roid"): made.Cell(20.8, 0.2, 40.0, 3) for place in places}
    found = made.compared(cells, "No worse than ROID", "roid", places)
    assert found == (
        "**No worse than ROID** in 1 of 3 means, and in 1 more within the standard error; "
        "not in `net` correlated (22.0 ± 0.1 against 20.8 ± 0.2)."
    )
    assert made.calibrated(cells, places).endswith("in 2 of 3; not in `net` mixed (9.0).")
    half = made.compared(cells, "Half of it", "roid", places[:1], share=0.5)
    assert half.startswith("**Half of it** in 0 of 1 means; not in")


def test_the_page_of_harm_is_not_stale() -> None:
    made, written = loaded(DOCS / "make_harm.py").page(), (DOCS / "harm.md").read_text()
    assert written == made, "run: python docs/make_harm.py"


def test_the_counts_of_harm_on_the_page_of_the_guard_are_not_stale() -> None:
    written = (DOCS / "guard.md").read_text(encoding="utf-8")
    made = loaded(DOCS / "make_harm.py").guard_page(written)
    assert written == made, "run: python docs/make_harm.py"


def test_streams_that_break_a_promise_are_counted_and_named() -> None:
    calm = {
        "model": "net",
        "stream": "benign",
        "method": "tent",
        "seed": 1,
        "whole_without": -3.0,
        "whole_with": -3.0,
        "worst_1000_without": 0.0,
        "worst_1000_with": 0.0,
        "gain_lost": 0.0,
        "cost": 1.05,
        "source_predicts": "00",
    }
    harmed = {**calm, "stream": "noise", "whole_without": 9.0, "whole_with": 1.2}
    lines = loaded(DOCS / "make_harm.py").kept([calm, harmed])
    assert "of 2 streams 1 break it without a guard, 1 with it:" in lines[0]
    assert lines[0].endswith("\n    - tent, `net`: noise +1.2")
    assert "0 break it without a guard, 0 with it." in lines[1]
    assert "of 1 with a gain 0 lose more." in lines[2]


def test_long_streams_stand_above_short_ones_and_what_is_worse_than_the_source_is_marked() -> None:
    made = loaded(DOCS / "make_results.py")
    place = ("net", "continual")
    longer = {
        (*place, "source"): (40.0, 9.0),
        (*place, "tent"): (80.04, 3.4),
        (*place, "roid"): (20.0, 5.0),
    }
    shorter = {(*place, "tent"): (30.0, 1.0)}
    rows = made.paper_size(longer, shorter).splitlines()[2:]
    assert [" ".join(row.replace("|", " ").split()) for row in rows] == [
        "`net` continual 10,000 40.0 / 9 80.0 / 3 ▲ **20.0** / 5",
        "`net` continual 1,000 30.0 / 1",
    ]


def test_advice_takes_the_lowest_and_what_is_level_and_names_what_harms() -> None:
    advice = loaded(DOCS / "make_which.py").advice
    found = {"source": 40.0, "roid": 20.3, "tent": 20.0, "bn1": 21.0, "lame": 55.0}
    assert advice(found) == ("TENT, ROID", "LAME")
    assert advice({"source": 10.0, "roid": 11.0}) == ("none of them", "ROID")


def test_links_that_leave_the_site_become_words() -> None:
    hook = loaded(DOCS / "site_links.py").on_page_markdown
    config = {"docs_dir": str(DOCS)}
    assert (
        hook("see [`a`](../deploy/a.json) and [b](b.md)", config=config) == "see `a` and [b](b.md)"
    )
    changelog = hook('--8<-- "CHANGELOG.md"\n', config=config)
    assert changelog.startswith("# Changelog")
    assert "](docs/" not in changelog


def test_pictures_of_the_site_are_named_by_its_pages_and_kept_nowhere() -> None:
    hook = loaded(DOCS / "site_pictures.py")
    words = "one\n<!-- site: ![two](corruptions.png) -->\nthree"
    assert hook.on_page_markdown(words) == "one\n![two](corruptions.png)\nthree"
    pages = "\n".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))
    for name in hook.PICTURES:
        assert f"]({name}) -->" in pages
        assert not (DOCS / name).exists()


def test_nothing_large_or_built_is_kept() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "docs", "examples", "benchmarks"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    files = [ROOT / line for line in listed.stdout.splitlines()]
    sizes = {file.name: file.stat().st_size for file in files if file.exists()}
    assert not [name for name in sizes if name.endswith(".html")]
    assert not {name: size for name, size in sizes.items() if size > 2**20}


def test_the_picture_shows_the_numbers_that_are_kept() -> None:
    drawn = loaded(DOCS / "make_picture.py").picture()
    kept = (DOCS / "terminal.svg").read_text(encoding="utf-8")
    number = re.compile(r"\d+\.\d(?=[&\s<])")
    assert len(number.findall(words_of(kept))) > 20
    assert number.findall(words_of(kept)) == number.findall(words_of(drawn)), (
        "run: python docs/make_picture.py"
    )
    assert "@font-face" not in kept


def test_the_picture_of_the_report_is_not_stale() -> None:
    made = loaded(DOCS / "make_report_picture.py").picture()
    kept = (DOCS / "report.svg").read_text(encoding="utf-8")
    assert kept == made, "run: python docs/make_report_picture.py"
    assert "http" not in kept.replace("http://www.w3.org/2000/svg", "")


def words_of(svg: str) -> str:
    """What an SVG writes, without where."""
    return " ".join(re.findall(r">([^<>]+)</text>", svg)) + " "
