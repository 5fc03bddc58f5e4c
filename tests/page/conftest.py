"""The page in a browser, as a file and from a web server. Where npm could fetch no packages, the tests are left out."""

from __future__ import annotations

import contextlib
import functools
import http.server
import importlib.util
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from making import make
from pages import Opened
from playwright.sync_api import sync_playwright
from tidemark import qemu

FOLDER = qemu.ROOT / "build/page"
BUSY = "task queue exceeded allotted deadline"  # the terminal's word for a slow host


@pytest.fixture(scope="session")
def folder() -> Path:
    """The folder of the page."""
    if not (FOLDER / "index.html").exists():
        pytest.skip("build/page is not there: `make page` builds it, and needs packages of npm")
    return FOLDER


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    """A headless Chromium."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if not path:
        pytest.fail("chromium is not installed: apt-get install chromium")
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


class Silent(http.server.SimpleHTTPRequestHandler):
    """Serves files, and writes nothing about it."""

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="session")
def site(folder: Path) -> Iterator[str]:
    """The address of the folder on a web server."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Silent, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.fixture(scope="session")
def book(folder: Path) -> Path:
    """The folder of the book, made if need be."""
    if not importlib.util.find_spec("sphinx"):
        pytest.skip("sphinx is not here: `make page` installs it")
    made = make("build/page/book/parts.css", timeout=280)
    assert made.returncode == 0, made.stderr  # that there was no warning, too
    return folder / "book"


@contextlib.contextmanager
def tab(browser: object, address: str, **options: object) -> Iterator[Opened]:
    """A page in a tab of its own, with what it complains of and asks for."""
    context = browser.new_context(**options)
    found = Opened(context.new_page())
    found.page.on("console", lambda message: BUSY in message.text or found.complaints.append(message.text))
    found.page.on("pageerror", lambda error: found.complaints.append(str(error)))
    found.page.on("request", lambda request: found.requests.append(request.url))
    found.page.goto(address, wait_until="load")
    yield found
    context.close()


@pytest.fixture
def opened(browser: object, folder: Path) -> Iterator[Callable[..., Opened]]:
    """opened(WHAT, **context): an address, or what comes after that of the page as a file, in a tab of its own."""
    with contextlib.ExitStack() as tabs:

        def go(what: str = "", **options: object) -> Opened:
            address = what if what.startswith(("http:", "file:")) else (folder / "index.html").as_uri() + what
            return tabs.enter_context(tab(browser, address, **options))

        yield go


@pytest.fixture(scope="session")
def one_page(browser: object, folder: Path) -> Iterator[Opened]:
    """A page as a file, in which no race runs and the stepper is there."""
    with tab(browser, (folder / "index.html").as_uri() + "#step=clock") as found:
        found.until("document.querySelector('#step [data-at]')", 60)
        yield found


FORGET = """for (const lane of document.querySelectorAll('.lane')) lane.remove();
document.querySelector('#step .step').removeAttribute('data-at');
history.replaceState(null, '', '#');"""
STOP = "[...document.querySelectorAll('button.chief')].find((one) => one.textContent == 'Stop')?.click()"


@pytest.fixture
def linked(one_page: Opened) -> Iterator[Callable[..., Opened]]:
    """linked(LINK): an open page is given a link. Tests share the page, since to load one takes a second."""

    def go(link: str, width: int = 1280, scheme: str = "light") -> Opened:
        one_page.complaints.clear()
        one_page.page.set_viewport_size({"width": width, "height": 800})
        one_page.page.emulate_media(color_scheme=scheme)
        one_page.page.evaluate(f"link => {{ {FORGET} location.hash = link; }}", link)
        return one_page

    yield go
    one_page.value(STOP)
