"""Open the built site in Chromium, on a desk and on a phone: ``python docs/look_at_site.py site``.

Writes screenshots into ``build/screenshots`` (or the folder named), and fails if a page asks for
anything outside of the site, complains, or has to be scrolled sideways.
"""

import argparse
import functools
import http.server
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

WIDTHS = (1280, 390)
PAGES = (
    "",
    "which-method/",
    "leaderboard/",
    "report/",
    "streams/",
    "reference/",
    "results/",
    "faq/",
)
TALLEST = 3000
"""Pixels of a page that a screenshot shows at most."""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of the site, while it is served."""
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def look(browser: Browser, base: str, width: int, out: Path) -> list[str]:
    """What is wrong with the pages at one width."""
    wrong: list[str] = []
    with browser.new_context(viewport={"width": width, "height": 900}) as context:
        page = context.new_page()
        page.on("requestfailed", lambda request: wrong.append(f"not there: {request.url}"))
        page.on("pageerror", lambda error: wrong.append(f"{page.url}: {error}"))
        page.on(
            "request",
            lambda r: None if r.url.startswith((base, "data:")) else wrong.append(f"asks {r.url}"),
        )
        for name in PAGES:
            answer = page.goto(base + name)
            if answer is None or not answer.ok:
                wrong.append(f"{name}: no such page")
                continue
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                wrong.append(f"{name}: wider than {width} pixels")
            height = min(TALLEST, page.evaluate("document.documentElement.scrollHeight"))
            file = out / f"{name.strip('/') or 'index'}-{width}.png"
            part = {"x": 0, "y": 0, "width": width, "height": height}
            page.screenshot(path=file, full_page=True, clip=part)  # type: ignore[arg-type]
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path)
    parser.add_argument("--out", type=Path, default=Path("build/screenshots"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    found = shutil.which("chromium") or shutil.which("google-chrome")
    with served(args.site) as base, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found)
        wrong = [what for width in WIDTHS for what in look(browser, base, width, args.out)]
        browser.close()
    print("\n".join(wrong) or f"{len(PAGES)} pages at {WIDTHS} pixels, screenshots in {args.out}")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
