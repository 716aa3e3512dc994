"""The leaderboard in a real browser, on a desk and on a phone."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from end_to_end.test_report_widgets import HIDDEN_WITHOUT_HINT, LEAST_PIXELS, TEXT_SIZES
from report.board.test_board import ADA, BOB, made
from trimtab.report.board.page import board_page

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]  # one at a time


@pytest.mark.parametrize("width", [390, 1280])
def test_places_can_be_read_sorted_and_filtered(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    path = tmp_path / "leaderboard.html"
    path.write_text(board_page(made(ada=ADA, bob=BOB), {"ada.json": ADA, "bob.json": BOB}, "Ours"))
    asked: list[str] = []
    with browser.new_context(viewport={"width": width, "height": 900}) as context:
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        for _ in range(100):  # observers of sizes run once a frame, which may take a while
            page.wait_for_timeout(50)
            if page.evaluate(HIDDEN_WITHOUT_HINT) == []:
                break
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0
        assert page.evaluate(TEXT_SIZES.replace("LEAST", str(LEAST_PIXELS))) == []
        assert page.evaluate(HIDDEN_WITHOUT_HINT) == []
        rows = page.locator("#places tbody tr")
        assert "ROID" in rows.first.inner_text()
        page.locator("#places .sort", has_text="By mean").click()
        assert "TENT" in rows.first.inner_text()
        page.locator("#places input").fill("bob")
        assert page.locator("#places tbody tr:visible").count() == 1
        assert "ROID (Ada) is safest" in page.locator(".headline").inner_text()
    assert asked == [path.as_uri()]
