"""The page itself: old browsers, the prompt, narrow and dark screens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pages import Opened
from soak import soak_but

Open = Callable[..., Opened]
SCREEN = "document.querySelector('.xterm-accessibility-tree')?.innerText ?? ''"


def shows(page: Opened, text: str) -> None:
    """Waits until the terminal shows a text."""
    page.until(f"({SCREEN}).includes({text!r})")


def test_prompt_takes_what_is_typed_and_the_menu_switches(linked: Open) -> None:
    page = linked("#step=clock")
    page.page.locator("#prompt").scroll_into_view_if_needed()
    shows(page, "tidemark$")
    page.page.locator(".xterm-helper-textarea").focus()
    page.page.keyboard.type("thrash 2 24576 999 &\n")
    page.page.get_by_role("combobox", name="Policy of this machine").select_option("ws")
    shows(page, "echo ws > /proc/sys/vm/policy")
    page.page.keyboard.type("cat /proc/vm/policy\n")
    shows(page, "working_sets")
    page.page.keyboard.type("poweroff\n")
    page.until("document.querySelector('#prompt .controls .faint').textContent == 'The machine is off.'")
    assert page.complaints == []


@pytest.mark.parametrize("scheme", soak_but(["light", "dark"], "dark"))
def test_page_fits_a_telephone(linked: Open, scheme: str) -> None:
    page = linked("#vm=2q,ws&mem=8M&run=thrash+3+2048+1", 390, scheme)
    page.until("document.querySelectorAll('.pages li').length >= 6")
    assert page.value("document.documentElement.scrollWidth") <= 390
    page.page.set_viewport_size({"width": 1200, "height": 800})
    page.page.wait_for_timeout(100)
    wide = "[...document.querySelectorAll('canvas.chart')].map(one => one.width)"
    page.until(f"({wide}).every(width => width > 390)")
    dark = page.value("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    assert dark == (scheme == "dark") and page.complaints == []


LACKING = {"WebAssembly": "has no WebAssembly", "Worker": "has no workers", "DecompressionStream": "too old"}


@pytest.mark.parametrize("lacking", soak_but([*LACKING], "WebAssembly"))
def test_old_browser_gets_a_sentence(browser: object, folder: Path, lacking: str) -> None:
    context = browser.new_context()
    context.add_init_script(f"delete globalThis.{lacking}")
    page = Opened(context.new_page())
    page.page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.page.goto((folder / "index.html").as_uri())
    notes = page.texts("[data-tidemark] .note")
    still = page.value("document.querySelector('#race img.still').naturalWidth")
    context.close()
    assert len(notes) >= 2 and all(LACKING[lacking] in note for note in notes) and page.complaints == []
    assert still > 300, "a picture of the race stands for it"


@pytest.mark.soak
def test_page_without_script_says_what_it_needs(opened: Open) -> None:
    page = opened(java_script_enabled=False)
    note = page.page.locator("#race .note")
    note.wait_for(state="visible")
    assert "needs JavaScript and a current browser" in note.inner_text()
    page.until("document.querySelector('#race img.still').naturalWidth > 300")


BREAKS = """const post = globalThis.post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message) {
    post.call(this, message.kind == 'start' ? { ...message, files: { ...message.files, wasm: null } } : message);
};"""
MENDS = "Worker.prototype.postMessage = globalThis.post"


def test_machine_that_cannot_start_is_told_in_a_sentence(linked: Open) -> None:
    page = linked("#step=clock")
    page.value(f"() => {{ {BREAKS} }}")
    page = linked("#vm=2q,ws")
    page.until("[...document.querySelectorAll('.verdict')].some(one => one.textContent.includes('broke down'))")
    page.until("document.querySelector('button.chief').textContent == 'Start'")
    page.value(f"() => {{ {MENDS} }}")
    assert all("broke down" in one for one in page.texts(".verdict"))


def test_folder_says_what_is_in_it(folder: Path) -> None:
    told = (folder / "licences/README.txt").read_text()
    texts = {path.name for path in (folder / "licences").iterdir()} - {"README.txt"}
    assert texts and all(name in told for name in texts)
    parts = [folder / name for name in ("index.html", "style.css", "page.js")] + [*(folder / "data").iterdir()]
    assert sum(path.stat().st_size for path in parts) < 8 << 20
