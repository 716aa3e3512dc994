"""A real browser."""

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None and not os.environ.get("TRIMTAB_NEED_CHROMIUM"):
        pytest.skip("needs Debian's chromium; TRIMTAB_NEED_CHROMIUM=1 makes this a failure")
    assert found is not None, "expected chromium on the path, found none"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found)
        yield browser
        browser.close()
