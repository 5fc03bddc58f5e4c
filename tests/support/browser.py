"""A plugin of pytest's: the browser, for tests of the page and of the pictures."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator

import pytest


def chromium() -> str:
    """The path of a Chromium. Ubuntu's package is a script that starts a snap: skips the test if that is not there."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if not path:
        pytest.fail("chromium is not installed: apt-get install chromium")
    asked = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    if asked.returncode and "snap" in asked.stderr:
        pytest.skip(f"{path} needs the snap of Chromium: sudo snap install chromium")
    return path


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    """A headless Chromium."""
    from playwright.sync_api import sync_playwright  # here, since few tests need it and it takes a while

    path = chromium()
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def browser_page(browser: object) -> Iterator[object]:
    """A tab with nothing in it."""
    page = browser.new_page(viewport={"width": 1600, "height": 1200})
    yield page
    page.close()
