"""The server's live page in a real browser, on a desk and on a phone, light and dark."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from torch import Tensor

import trimtab
from reference import nets
from server.running import running, service
from trimtab.server.tokens import Owner, Tokens

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("live-page")]

TOKEN = "a token that nobody guesses".replace(" ", "-")
BRIGHTNESS = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]"


@pytest.fixture(scope="module")
def url(
    recorded: dict[str, Tensor], images: Tensor, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    served = service(
        nets.trained("gn", recorded),
        images,
        tmp_path_factory.mktemp("store"),
        tokens=Tokens({TOKEN: Owner()}),
    )
    with running(served) as url, trimtab.Client(url, token=TOKEN) as client:
        for number in range(1, 4):
            for stream in ("cam-1", "cam-2", "a-rather-long-name-of-a-stream.in:the@north+wing=3"):
                client.infer(images[:8], stream=stream, number=number)
        yield url


@pytest.fixture(params=[("light", 1280), ("dark", 390)], ids=["desk-light", "phone-dark"])
def page(request: pytest.FixtureRequest, browser: Browser, url: str) -> Iterator[Page]:
    scheme, width = request.param
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    complaints: list[str] = []
    strangers: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda asked: strangers.append(asked.url))
    page.goto(url)
    page.locator("#token").fill(TOKEN)
    page.locator("#access button").click()
    expect(page.locator("#status")).to_have_text("live")
    assert (page.evaluate(BRIGHTNESS) > 128) == (scheme == "light")
    yield page
    context.close()
    assert complaints == []
    assert all(asked.startswith((url, "data:")) for asked in strangers)


def test_streams_and_plots_are_there_and_nothing_scrolls_sideways(page: Page) -> None:
    expect(page.locator("#streams tr")).to_have_count(3)
    row = page.locator("tr[data-stream=cam-1]")
    expect(row).to_contain_text("24")
    expect(row).to_contain_text("3 / 3")
    for name in ("throughput", "latency", "accuracy"):
        box = page.locator(f"#{name}").bounding_box()
        assert box is not None
        assert box["width"] > 100
    expect(page.locator("#throughput path")).to_have_attribute("d", re.compile(r"^M[\d.]+ "))
    assert page.locator("#rate").inner_text() != "–"
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_a_stream_can_be_frozen_and_reset(page: Page) -> None:
    row = page.locator("tr[data-stream=cam-2]")
    row.get_by_role("button", name="Freeze", exact=True).click()
    expect(row).to_contain_text("frozen")
    expect(page.locator("#events li").first).to_contain_text("cam-2: frozen")
    row.get_by_role("button", name="Unfreeze").click()
    expect(row).not_to_contain_text("frozen")
    row.get_by_role("button", name="Reset").click()
    expect(page.locator("#events li").first).to_contain_text("cam-2: reset by an operator")


def test_a_wrong_token_shows_nothing(browser: Browser, url: str) -> None:
    page = browser.new_page()
    page.goto(url)
    expect(page.locator("#status")).to_have_text("a token is needed")
    page.locator("#token").fill("wrong")
    page.locator("#access button").click()
    expect(page.locator("#status")).to_contain_text("token")
    expect(page.locator("#streams tr")).to_have_count(0)
    page.close()


def test_colours_can_be_switched(page: Page) -> None:
    before = page.evaluate(BRIGHTNESS)
    page.locator("#theme").click()
    assert (page.evaluate(BRIGHTNESS) > 128) != (before > 128)


def test_the_page_asks_for_nothing_from_elsewhere() -> None:
    folder = Path(trimtab.__file__).parent / "server" / "page"
    for path in folder.iterdir():
        assert "//" not in path.read_text().replace("https://github", "")
