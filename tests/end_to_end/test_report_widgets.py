"""What the report does when it is pointed at, sorted and filtered; on all sizes of screens."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest
from playwright.sync_api import Browser, FloatRect, Locator, Page, ViewportSize, expect

from end_to_end.test_report import many_runs
from report import stores
from trimtab.cli.main import main

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]  # one at a time

LEAST_PIXELS = 11


class Opener(Protocol):
    """Opens the report in a window of some width."""

    def __call__(self, width: int, *, touch: bool = False) -> Page: ...


TEXT_SIZES = """() => {
  const small = new Map();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode, parent = node.parentElement;
    if (!node.textContent.trim() || !parent.checkVisibility()) continue;
    if (parent.closest("script, title")) continue;
    let size = parseFloat(getComputedStyle(parent).fontSize);
    const matrix = parent.getScreenCTM?.();
    if (matrix) size *= Math.sqrt(Math.abs(matrix.a * matrix.d - matrix.b * matrix.c));
    if (size < LEAST - 0.05) small.set(node.textContent.trim().slice(0, 30), size);
  }
  return [...small.entries()].slice(0, 5);
}"""

HIDDEN_WITHOUT_HINT = """() => [...document.querySelectorAll("body *")].filter((box) => {
  const style = getComputedStyle(box);
  if (!/auto|scroll/.test(style.overflowX) || !box.checkVisibility()) return false;
  if (box.scrollWidth <= box.clientWidth + 2) return false;
  const hint = box.closest(".more.right");
  return !hint || getComputedStyle(hint, "::after").opacity !== "1";
}).map((box) => box.className)"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = stores.write(tmp_path_factory.mktemp("widgets"), many_runs())
    stores.write_images(store)
    assert main(["report", str(store), "--title", "Night shift"]) == 0
    return store / "report.html"


@pytest.fixture(scope="module")
def open_at(browser: Browser, report: Path) -> Iterator[Opener]:
    """One window for each width; a page that is opened there again is as new."""
    windows: dict[tuple[int, bool], Page] = {}

    def opened(width: int, *, touch: bool = False) -> Page:
        if (width, touch) not in windows:
            size: ViewportSize = {"width": width, "height": 900}
            context = browser.new_context(viewport=size, has_touch=touch, reduced_motion="reduce")
            windows[width, touch] = context.new_page()
        page = windows[width, touch]
        page.mouse.move(0, 0)
        page.goto(report.as_uri())
        return page

    yield opened
    for page in windows.values():
        page.context.close()


def box_of(part: Locator) -> FloatRect:
    found = part.bounding_box()
    assert found is not None
    return found


def shown_values(page: Page) -> list[float]:
    return [float(words.split()[0]) for words in page.locator(".tip b").all_inner_texts()]


SETTLED = """async () => {
  for (let frames = 0; frames < 3; frames++) await new Promise(requestAnimationFrame);
  await Promise.all(document.getAnimations().map((transition) => transition.finished));
}"""
"""Observers of sizes run once a frame, and what they show fades in, however long that takes."""


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_no_text_is_too_small_and_nothing_is_cut_off_without_a_hint(
    open_at: Opener, width: int
) -> None:
    page = open_at(width)
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    assert page.evaluate(TEXT_SIZES.replace("LEAST", str(LEAST_PIXELS))) == []
    page.evaluate(SETTLED)
    assert page.evaluate(HIDDEN_WITHOUT_HINT) == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0


def test_a_wide_screen_is_used(open_at: Opener) -> None:
    page = open_at(1920)
    boxes = [box_of(panel) for panel in page.locator("#stream .panel").all()]
    assert max(box["x"] + box["width"] for box in boxes) > 0.9 * 1920
    assert len({box["y"] for box in boxes}) < len(boxes) / 2


def test_pointing_at_a_stream_shows_all_numbers_of_its_stretch(open_at: Opener) -> None:
    page = open_at(1280)
    plot = page.locator("#stream .plot").first
    plot.scroll_into_view_if_needed()
    box = box_of(plot)
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.4 * box["height"])
    tip = page.locator(".tip")
    expect(tip).to_be_visible()
    assert tip.locator("p").inner_text() == "fog, samples 201 to 400"
    assert shown_values(page) == [20.5, 25.5, 30.5, 35.5, 50.5, 62.5]
    page.mouse.move(box["x"] + 0.95 * box["width"], box["y"] + 0.4 * box["height"])
    assert tip.locator("p").inner_text() == "snow, samples 401 to 600"
    page.mouse.move(5, 5)
    expect(tip).to_be_hidden()


def test_numbers_of_a_stream_can_be_had_by_touch_and_by_keyboard(open_at: Opener) -> None:
    page = open_at(390, touch=True)
    plot = page.locator("#stream .plot").first
    plot.scroll_into_view_if_needed()
    plot.tap()
    expect(page.locator(".tip")).to_be_visible()
    assert len(shown_values(page)) == 6
    box = box_of(page.locator(".tip"))
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    page.keyboard.press("Escape")
    expect(page.locator(".tip")).to_be_hidden()
    plot.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tip p")).to_have_text(re.compile("samples 401 to 600|samples 201 to 400"))


POINTS = {
    "#cost .point": "× the cost of a forward",
    "#calibration .point": "% sure",
    "#domains [data-hint]": "against the source model",
    "#worst .point": "points",
}


def test_every_point_says_its_values_at_once(open_at: Opener) -> None:
    page = open_at(1280)
    for place, words in POINTS.items():
        points = page.locator(place)
        assert points.count() > 10
        assert all(points.evaluate_all("parts => parts.map(part => part.dataset.hint)"))
        points.last.scroll_into_view_if_needed()
        points.last.hover(force=True)
        expect(page.locator(".tip")).to_be_visible()
        assert words in page.locator(".tip").inner_text()


def test_a_tip_stays_until_the_page_has_moved(open_at: Opener) -> None:
    page = open_at(1280)
    point = page.locator("#cost .point").last
    point.scroll_into_view_if_needed()
    point.hover(force=True)
    tip = page.locator(".tip")
    expect(tip).to_be_visible()
    page.evaluate("dispatchEvent(new Event('scroll'))")  # late word of a scroll before
    assert tip.is_visible()
    page.evaluate("scrollBy(0, -40)")
    expect(tip).to_be_hidden()


def methods_in(page: Page) -> list[str]:
    rows = page.locator("#table div:not([hidden]) tbody tr:visible th")
    return [words.strip() for words in rows.all_inner_texts()]


def test_a_table_is_sorted_by_its_heads(open_at: Opener) -> None:
    page = open_at(1280)
    table = page.locator("#table div:not([hidden]) table").first
    first = table.locator("thead tr").nth(1).locator(".sort").first
    first.click()
    assert methods_in(page)[0] == "ROID"
    assert methods_in(page)[-1] == "SAR"  # it failed, and has no number
    assert table.locator("[aria-sort=ascending]").count() == 1
    first.click()
    assert methods_in(page)[0] == "TENT"
    assert methods_in(page)[-1] == "SAR"
    table.locator("thead .sort", has_text="Method").click()
    assert methods_in(page) == sorted(methods_in(page), key=str.lower)
    table.locator("thead .sort", has_text="Mean").focus()
    page.keyboard.press("Enter")
    assert methods_in(page)[0] == "ROID"


def test_a_table_is_filtered_by_words(open_at: Opener) -> None:
    page = open_at(1280)
    field = page.locator("[data-filter=table]")
    field.fill("tent")
    assert len(methods_in(page)) == 2
    field.fill("tent ensembling")
    assert len(methods_in(page)) == 1
    field.fill("no such thing")
    assert methods_in(page) == []
    expect(page.locator("#table output")).to_have_text("nothing has these words")
    field.fill("")
    assert len(methods_in(page)) == 7


def test_a_name_leads_to_the_methods_card(open_at: Opener) -> None:
    page = open_at(1280)
    page.locator("#table .method a:visible", has_text="ROID").click()
    card = page.locator("#method-roid")
    expect(card).to_be_in_viewport()
    assert "arXiv:2306.00650" in card.inner_text()


def test_images_of_the_domains_are_shown(open_at: Opener) -> None:
    page = open_at(1280)
    images = page.locator("#images img")
    assert images.count() == 2
    assert images.evaluate_all("found => found.every(one => one.naturalWidth === 4)")
    assert page.locator("#images figcaption").all_inner_texts() == ["fog", "snow"]


def test_the_title_is_the_users(open_at: Opener) -> None:
    assert open_at(390).locator("h1").inner_text() == "Night shift"
