"""The page in a browser, as a file and from a web server. If npm could not fetch its packages, the tests are
skipped."""

from __future__ import annotations

import contextlib
import functools
import http.server
import importlib.util
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from making import make
from pages import Opened
from tidemark.machine import qemu

FOLDER = qemu.ROOT / "build/page"
BUSY = "task queue exceeded allotted deadline"  # xterm.js's message on a slow host


@pytest.fixture(scope="session")
def folder() -> Path:
    """The folder of the page."""
    if not (FOLDER / "index.html").exists():
        pytest.skip("build/page does not exist: `make page` builds it, and needs npm packages")
    return FOLDER


class Silent(http.server.SimpleHTTPRequestHandler):
    """Serves files without logging."""

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
    """The folder of the book, which is built if necessary."""
    if not importlib.util.find_spec("sphinx"):
        pytest.skip("sphinx is not installed: `make page` installs it")
    made = make("build/page/book/parts.css", timeout=280)
    assert made.returncode == 0, made.stderr  # this includes that there was no warning
    return folder / "book"


@contextlib.contextmanager
def tab(browser: object, address: str, **options: object) -> Iterator[Opened]:
    """A page in a tab of its own, with its error messages and its requests."""
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
    """opened(WHAT, **context): opens an address, or a suffix to that of the page as a file, in a tab of its own."""
    with contextlib.ExitStack() as tabs:

        def go(what: str = "", **options: object) -> Opened:
            address = what if what.startswith(("http:", "file:")) else (folder / "index.html").as_uri() + what
            return tabs.enter_context(tab(browser, address, **options))

        yield go


@pytest.fixture(scope="session")
def one_page(browser: object, folder: Path) -> Iterator[Opened]:
    """The page as a file, without a running race, and with the stepper loaded."""
    with tab(browser, (folder / "index.html").as_uri() + "#step=clock") as found:
        found.until("document.querySelector('#step [data-at]')", 60)
        yield found


FORGET = """for (const lane of document.querySelectorAll('.lane')) lane.remove();
document.querySelector('#step .step').removeAttribute('data-at');
history.replaceState(null, '', '#');"""
STOP = "[...document.querySelectorAll('button.chief')].find((one) => one.textContent == 'Stop')?.click()"


@pytest.fixture
def linked(one_page: Opened) -> Iterator[Callable[..., Opened]]:
    """linked(LINK): gives a link to an open page. Tests share the page, because loading one takes a second."""

    def go(link: str, width: int = 1280, scheme: str = "light") -> Opened:
        one_page.complaints.clear()
        one_page.page.set_viewport_size({"width": width, "height": 800})
        one_page.page.emulate_media(color_scheme=scheme)
        one_page.page.evaluate(f"link => {{ {FORGET} location.hash = link; }}", link)
        return one_page

    yield go
    one_page.value(STOP)
