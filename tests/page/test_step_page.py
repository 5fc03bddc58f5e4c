"""The stepper in Chromium, opened as a file: by mouse and keys, with links, bad input, on a phone, in dark mode."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote_plus

import marionette
import pytest
from pages import Opened
from soak import soak_but

BELADY = "1 2 3 4 1 2 5 1 2 3 4 5"
FIELDS = "button, select, input"
HERE = "document.querySelector('#step .step')"
Open = Callable[..., Opened]


def link(policies: str, string: str = BELADY, frames: object = 3, at: int = 0) -> str:
    return f"#step={policies}&frames={frames}&string={quote_plus(string)}&at={at}"


def at(page: Opened, number: int, selector: str = "#step") -> None:
    """Waits until the stepper is at a reference."""
    page.until(f'document.querySelector(\'{selector} [data-at="{number}"], {selector}[data-at="{number}"]\')', 30)


def shown(page: Opened) -> list[str]:
    """All texts that a step changes."""
    return page.value(f"[...{HERE}.querySelectorAll('.step-card')].map(card => card.textContent)")


def typed(page: Opened, label: str, text: str) -> str:
    """Types into a field; returns the page's error message."""
    field = page.page.locator("#step form").get_by_label(label, exact=True)
    field.fill(text)
    field.press("Tab")
    page.page.wait_for_timeout(50)
    return " ".join(page.texts("#step .note"))


def test_steps_forth_and_back_by_keys(linked: Open) -> None:
    page = linked(link("clock,lirs"))
    at(page, 0)
    page.page.locator("#step .step-string").focus()
    seen = []
    for number in range(1, 13):
        page.page.keyboard.press("ArrowRight")
        at(page, number)
        seen.append(shown(page))
    page.page.keyboard.press("ArrowRight")  # this is already the end
    for number in range(11, 0, -1):
        page.page.keyboard.press("ArrowLeft")
        at(page, number)
        assert shown(page) == seen[number - 1], number
    page.page.keyboard.press("End")
    at(page, 12)
    assert shown(page) == seen[11] and "10 faults so far, 10 in the end, MIN has 7." in seen[11][0]
    said = page.texts("#step [aria-live]")
    assert said[0].startswith(
        "Reference 12. clock: Page 5 is not in memory: a fault. No frame is free. clock looks at 2"
    )
    assert "clock looks at 2 (not used) and takes 2. lirs: Page 5" in said[0]
    assert page.complaints == [] and all(url.startswith(("file:", "data:", "blob:")) for url in page.requests)


def test_line_is_marked(linked: Open) -> None:
    page = linked(link("clock", at=10))
    at(page, 10)
    assert page.texts("#step .step-source .chose") == ["\t\t} else if (page_referenced(page)) {"]
    assert page.value("document.querySelector('#step .chose').ariaCurrent") == "step"
    top, height = (
        f"document.querySelector('#step {one}').getBoundingClientRect()" for one in (".chose", ".step-source")
    )
    place = page.value(f"[{top}.top - {height}.top, {height}.height]")
    assert 0 < place[0] < place[1]  # it is visible


def unfold(page: Opened) -> None:
    """Shows the fields for time and parameters."""
    page.value("document.querySelector('#step form details').open = true")


REFUSED = [
    ("String", "", "The string is empty"),
    ("String", "a b c", "“a” is not a page"),
    ("String", " ".join(map(str, range(9999))), "more than 2000 references"),
    ("Frames", "0", "0 is not a possible number of frames"),
    ("µs that a reference takes", "soon", "soon is not a possible time of a reference"),
]


def test_bad_input_is_told_and_the_page_goes_on(linked: Open) -> None:
    page = linked(link("nosuch,clock,fifo", frames=4) + "&colour=blue")
    at(page, 0)
    [told] = page.texts("#step .note")
    assert "There is no policy nosuch; there are 2q, aging," in told and "At most two policies" in told
    assert "words that this page does not know: colour." in told
    unfold(page)
    for label, text, said in REFUSED:
        assert said in typed(page, label, text), label
        good = {"String": BELADY, "Frames": "3"}.get(label, "100")
        assert typed(page, label, good) == "", label
    page.page.locator("#step form select").nth(1).select_option("min")
    assert "pages of a file" in typed(page, "String", "1 2 f3")
    assert typed(page, "String", "7 8 9 7") == ""
    page.page.get_by_role("button", name="Step").click()
    at(page, 1)
    assert "Page 7 is not in memory" in shown(page)[0] and page.complaints == []


def test_what_is_seen_travels_as_a_link(linked: Open, opened: Open) -> None:
    page = linked(link("fifo", at=-7) + "&lirs.hir_percent=9&us=50.5")
    at(page, 0)
    assert page.texts("#step .note") == ["There is no parameter lirs.hir_percent. "]
    unfold(page)
    page.page.locator("#step form select").nth(2).select_option("ws")
    assert "ws.tau_ms=0: give a whole number from 1 to" in typed(page, "ws.tau_ms, ms", "0")
    assert typed(page, "ws.tau_ms, ms", "77") == ""
    page.page.get_by_role("button", name="Step").click()
    at(page, 1)
    typed(page, "String", "4 5 6 7 4")
    page.page.get_by_role("button", name="End").click()
    at(page, 5)
    again = opened(page.value("location.hash"))
    at(again, 5)
    assert shown(again) == shown(page) and "left: 5" in shown(page)[0]
    values = f"[...{HERE}.querySelectorAll('form input')].map(one => one.value)"
    assert again.value(values) == page.value(values) and {"50.5", "77"} <= set(page.value(values))


@pytest.mark.parametrize("width", soak_but([390, 1280], 390))
def test_fits_and_has_contrast(width: int, linked: Open) -> None:
    for scheme in ("light", "dark"):
        page = linked(link("clockpro,nru", "1 2 3 11 1 2 12 3 13 1 14 2 21-29", 16, 12), width, scheme)
        at(page, 12)
        assert page.value("document.documentElement.scrollWidth") <= width
        boxes = page.value(f"[...{HERE}.querySelectorAll('{FIELDS}')].map(one => one.getBoundingClientRect())")
        assert boxes and all(box["left"] >= 0 and box["right"] <= width for box in boxes)
        red = "Number(getComputedStyle(document.body).{}.match(/[0-9]+/)[0])"
        text, ground = (page.value(red.format(one)) for one in ("color", "backgroundColor"))
        assert (text < ground) == (scheme == "light") and abs(text - ground) > 150


@pytest.mark.soak
def test_longest_string_takes_no_time(opened: Open) -> None:
    page = opened(link("lirs,arc", " ".join(str(n * n % 97) for n in range(2000)), 64, 2000))
    at(page, 2000)
    assert page.complaints == []


@pytest.mark.soak
def test_firefox_shows_the_same(opened: Open, folder: Path) -> None:
    program = marionette.installed()
    if not program:
        pytest.skip("Firefox is not installed: apt-get install firefox-esr")
    wanted = link("clockpro,2q", "1 2 3 r1 f2 1 l2 3 r1 4 5", 4, 11)
    page = opened(wanted)
    at(page, 11)
    with marionette.firefox(program) as firefox:
        firefox.open((folder / "index.html").as_uri() + wanted)
        firefox.until(f"{HERE}?.dataset.at == 11")
        cards = f"[...{HERE}.querySelectorAll('.step-card')].map(card => card.textContent)"
        assert firefox.value(cards) == shown(page)
