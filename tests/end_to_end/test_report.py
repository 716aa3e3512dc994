"""The report in a real browser, on a desk and on a phone."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from report import stores
from trimtab.bench.result import RunResult
from trimtab.cli.main import main

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]  # one at a time

LONG = "tent + source_ensembling(momentum=0.99) + prior_correction"
METHODS = {"source": 0.5, "bn1": 0.35, "tent": 0.62, "eata": 0.3, "roid": 0.2, LONG: 0.25}
SCENARIOS = ("continual", "mixed", "correlated(delta=0.1)", "mixed_correlated(delta=0.01)")
WIDTHS = {"desktop": 1280, "phone": 390}
EVERY = [(runs, screen) for runs in ("few", "many") for screen in WIDTHS]
BOTH = [("few", "desktop"), ("many", "phone")]
"""Each number of runs and each screen once: what a click does depends on neither."""


def many_runs() -> list[RunResult]:
    runs = [
        stores.done(
            stores.spec(method, model=model, scenario=scenario, seed=seed, images_per_domain=300),
            error + 0.02 * place + 0.01 * seed,
            multiple=1.0 + 0.7 * position,
        )
        for position, (method, error) in enumerate(METHODS.items())
        for model in ("tiny-bn", "tiny-gn", "tiny-ln")
        for place, scenario in enumerate(SCENARIOS)
        for seed in (0, 1)
    ]
    broken = stores.spec("sar", model="tiny-bn", scenario="continual", images_per_domain=300)
    return [*runs, stores.failed(broken, error="ValueError: </script><script>alert(1)</script>")]


@dataclass
class Visit:
    """A page in the browser, and all that it complained about or asked the network for."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A report of few runs, and one of many."""
    made = {}
    for name, runs in {"few": stores.three_methods([0]), "many": many_runs()}.items():
        store = stores.write(tmp_path_factory.mktemp(name), runs)
        stores.write_images(store)
        assert main(["report", str(store)]) == 0
        made[name] = store / "report.html"
    return made


@pytest.fixture(params=BOTH, ids="-".join)
def visit(
    request: pytest.FixtureRequest, browser: Browser, reports: dict[str, Path]
) -> Iterator[Visit]:
    runs, screen = request.param
    report, size = reports[runs], ViewportSize(width=WIDTHS[screen], height=800)
    context = browser.new_context(viewport=size, reduced_motion="reduce")
    visit = Visit(context.new_page())
    visit.page.goto(report.as_uri())
    yield visit
    context.close()
    assert visit.complaints == []
    assert [url for url in visit.requests if not url.startswith("data:image/png")] == [
        report.as_uri()
    ]


def overflow(page: Page) -> int:
    """Pixels that the page is wider than its window."""
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))


@pytest.mark.parametrize("visit", EVERY, ids="-".join, indirect=True)
def test_tables_and_plots_are_there_and_the_page_never_scrolls_sideways(visit: Visit) -> None:
    page = visit.page
    assert overflow(page) == 0
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    assert overflow(page) == 0
    assert page.locator("#table table:visible").count() == 1
    for name in ("stream", "cost", "classes", "domains", "calibration", "worst"):
        plots = page.locator(f"#{name} svg")
        assert plots.count() > 0
        box = plots.first.bounding_box()
        assert box is not None
        assert box["width"] > 100
        assert box["height"] > 20


def test_a_cell_shows_the_command_of_each_of_its_runs(visit: Visit) -> None:
    page = visit.page
    page.locator("#table div:not([hidden]) tr", has_text="ROID").locator(
        "[data-cell]"
    ).first.click()
    shown = page.locator("dialog[open]")
    command = shown.locator("code").first
    assert command.is_visible()
    assert command.inner_text().startswith("trimtab run --method roid --model tiny")
    assert overflow(page) == 0
    shown.locator("[data-copy]").first.click()
    expect(shown.locator("[data-copy]").first).to_have_text(re.compile("Copied|Marked"))
    page.locator("dialog .close").click()
    assert page.locator("dialog[open]").count() == 0


@pytest.mark.parametrize(("runs", "kind"), [("few", "csv"), ("many", "json")])
def test_numbers_can_be_saved_without_a_network(
    browser: Browser, reports: dict[str, Path], tmp_path: Path, runs: str, kind: str
) -> None:
    report = reports[runs]
    with browser.new_context(offline=True, accept_downloads=True) as context:
        page = context.new_page()
        page.goto(report.as_uri())
        with page.expect_download() as saved:
            page.locator(".downloads a", has_text=kind.upper()).click()
        assert saved.value.suggested_filename == f"results.{kind}"
        saved.value.save_as(tmp_path / "saved")
    out = tmp_path / f"table.{kind}"
    assert main(["report", str(report.parent), "--out", str(out)]) == 0
    assert (tmp_path / "saved").read_text() == out.read_text()


def test_another_number_can_be_shown(visit: Visit) -> None:
    page = visit.page
    page.locator("[data-show=cost]").click()
    assert page.locator("#table [data-metric=cost]").first.is_visible()
    assert not page.locator("#table [data-metric=error]").first.is_visible()


def test_one_method_can_be_looked_at_alone(visit: Visit) -> None:
    page = visit.page
    page.locator("[data-focus=source]").click()
    assert page.locator("[data-method=source].pale").count() == 0
    assert page.locator("[data-method=m0]:not(.pale)").count() == 0
    page.locator("[data-focus=source]").click()
    assert page.locator(".pale").count() == 0


@pytest.mark.parametrize(("runs", "scheme"), [("few", "light"), ("many", "dark")])
def test_colours_follow_the_system_until_they_are_switched(
    browser: Browser, reports: dict[str, Path], runs: str, scheme: str
) -> None:
    context = browser.new_context(color_scheme="dark" if scheme == "dark" else "light")
    page = context.new_page()
    page.goto(reports[runs].as_uri())
    brightness = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]"
    before = page.evaluate(brightness)
    assert (before > 128) == (scheme == "light")
    page.locator(".theme").click()
    assert (page.evaluate(brightness) > 128) != (before > 128)
    context.close()
