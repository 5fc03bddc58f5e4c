"""The guide as a book: its figures are those of the Markdown, its links work, and it works as files."""

from __future__ import annotations

import importlib.util
import re
import types
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from pages import Opened
from tidemark.machine import qemu
from tidemark.strings import refstrings, vmsim

DOCS = qemu.ROOT / "docs"
GUIDE = sorted((DOCS / "guide").rglob("*.md"))
STEP = re.compile(r"([\w ]+), ([^,]+), (\d+) frames(?:, \d+ ms each)?")
OTHERS = {"figures", "schema", "end"}  # of tools/figures and tools/schema.py
PHONE = 390
Open = Callable[..., Opened]


def figures(page: Path) -> list[tuple[str, str]]:
    """(kind, content) of each comment that becomes a figure."""
    comments = re.findall(r"<!-- (\w+):? ?(.*?) ?-->", page.read_text())
    return [(kind, text) for kind, text in comments if kind not in OTHERS]


def test_figures_say_what_runs() -> None:
    kinds = {"open": 0, "prompt": 0, "race": 0, "step": 0}
    for page in GUIDE:
        for kind, text in figures(page):
            kinds[kind] += 1
            if kind != "step":
                continue
            policies, string, frames = STEP.fullmatch(text).groups()
            assert set(policies.split()) <= set(vmsim.policies()), (page, text)
            assert 1 < refstrings.find(string).nr_references < 100 and 0 < int(frames) <= 16, (page, text)
    assert all(kinds.values())


def test_each_policy_of_the_field_guide_steps() -> None:
    pages = {path.stem: figures(path) for path in (DOCS / "guide/policies").glob("*.md")}
    steps = {name: [text.split(",")[0].split()[0] for kind, text in found] for name, found in pages.items()}
    assert {name for name in vmsim.policies() if steps.get(name) != [name]} == set(vmsim.WITH_FUTURE)


def test_student_tree_has_the_book_without_what_it_lacks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("book", qemu.ROOT / "tools/page/book/book.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    missing = "<!-- step: nosuch, 1 2, 3 frames -->"
    text = f"<!-- step: clock, 1 2, 3 frames -->\n{missing}\n[one](../../kernel/nothing.c) [two](nothing.md)"
    app = types.SimpleNamespace(env=types.SimpleNamespace(metadata={}))
    for wrong in (missing, text.splitlines()[-1]):
        with pytest.raises(made.ExtensionError):
            made.prepare(app, "guide/page", [wrong])
    (tmp_path / "RELEASE").touch()
    monkeypatch.setattr(made, "RELEASE", tmp_path / "RELEASE")
    content = [text]
    made.prepare(app, "guide/page", content)
    assert content[0].count("data-tidemark") == 1 and content[0].endswith("\n\none two")


# --- the built book ---


class Found(HTMLParser):
    """The links of a page, and its anchors."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.anchors.update(filter(None, (given.get("id"), given.get("name"))))
        for name in ("href", "src"):
            if given.get(name):
                (self.links if tag == "a" else self.loads).append(str(given[name]))


@cache
def found(page: Path) -> Found:
    return Found(page)


@pytest.mark.soak
def test_every_page_of_the_guide_is_in_it(book: Path) -> None:
    for page in GUIDE:
        there = book / page.relative_to(DOCS).with_suffix(".html")
        runs = [link for link in found(there).loads if link.endswith("/page.js")] if there.exists() else None
        assert runs is not None and bool(runs) == any(kind != "open" for kind, _ in figures(page)), page


@pytest.mark.soak
def test_every_link_leads_somewhere(book: Path) -> None:
    broken, seen = [], 0
    for page in book.rglob("*.html"):
        for link in found(page).links + found(page).loads:
            path, _, anchor = re.sub(r"\?v=\w+$", "", link).partition("#")
            if re.match(r"[a-z]+:", link):
                continue
            seen += 1
            to = (page.parent / unquote(path)).resolve() if path else page
            own = to.suffix == ".html" and to.exists() and anchor and "=" not in anchor  # `=`: a run of the page
            anchors = found(to).anchors if own else {unquote(anchor)}
            if not to.is_file() or unquote(anchor) not in anchors:
                broken.append(f"{page.relative_to(book)}: {link}")
    assert seen > 5000 and broken == []


@pytest.mark.soak
def test_source_that_is_named_is_there(book: Path) -> None:
    links = found(book / "guide/04-policy.html").links
    assert any(link.endswith("source/kernel/mm/policy/clock.c.html") for link in links)
    text = (book / "source/kernel/mm/policy/clock.c.html").read_text()
    assert "clock_select" in text and "second chance" in text


@pytest.mark.soak
def test_nothing_is_fetched(book: Path) -> None:
    for page in book.rglob("*.html"):
        assert [link for link in found(page).loads if re.match(r"(https?:)?//", link)] == [], page
    for style in book.rglob("*.css"):
        assert re.findall(r"url\(['\"]?(?:https?:)?//|@import", style.read_text()) == [], style


@pytest.mark.soak
@pytest.mark.parametrize("page", [path for path in GUIDE if "step" in dict(figures(path))], ids=lambda path: path.stem)
def test_figures_run(page: Path, book: Path, opened: Open) -> None:
    there = book / page.relative_to(DOCS).with_suffix(".html")
    shown = opened(there.as_uri(), viewport={"width": PHONE, "height": 800})
    place = shown.page.locator("[data-tidemark=step]").first
    place.scroll_into_view_if_needed()
    place.get_by_role("button", name="Step").click()
    shown.until("document.querySelector('[data-at=\"1\"]')", 60)
    assert "is not in memory: a fault. A frame is free." in place.inner_text()
    assert shown.value("document.documentElement.scrollWidth") <= PHONE
    assert shown.complaints == [] and all(url.startswith(("file:", "data:")) for url in shown.requests)


@pytest.mark.soak
@pytest.mark.parametrize("served", [False, True])
def test_search_finds(served: bool, book: Path, opened: Open, site: str) -> None:
    address = f"{site}book/" if served else f"{book.as_uri()}/"
    page = opened(f"{address}search.html?q=anomaly")
    page.until("document.querySelectorAll('ul.search li a').length > 0", 60)
    links = page.value("[...document.querySelectorAll('ul.search li a')].map(one => one.href)")
    assert any("policies/fifo.html" in link for link in links)
    assert page.complaints == []
