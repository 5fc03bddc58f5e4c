"""`make book`: the printed source, its list of files, and the commentary (tools/page/book/print)."""

from __future__ import annotations

import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import browser
import pytest
from tidemark.machine import qemu

PRINT = qemu.ROOT / "tools/page/book/print"
sys.path.insert(0, str(PRINT))

import listing  # noqa: E402

MOST_LINES = 10_000


@pytest.fixture(scope="module")
def book() -> listing.Book:
    return listing.core()


def line(book: listing.Book, number: int) -> str:
    """The text of a line of the book."""
    file = max((file for file in book.first if book.first[file] <= number), key=book.first.__getitem__)
    return book.lines[file][number - book.first[file]]


def test_core_is_read_in_two_weeks(book: listing.Book) -> None:
    assert 5000 < book.count <= MOST_LINES


def test_policies_of_the_core_are_four(book: listing.Book) -> None:
    named = [file.stem for file in book.first if file.match("kernel/mm/policy/*.c")]
    assert named == ["fifo", "clock", "2q", "ws"]


def test_every_line_stands_once_and_as_it_is(book: listing.Book) -> None:
    shown = re.findall(
        r'<div class="line"><span class="number">(\d+)</span><code>(.*?)</code></div>', listing.page(book)
    )
    assert [int(number) for number, _ in shown] == list(range(1, book.count + 1))
    bare = [unescape(re.sub(r"<[^>]*>", "", text)).split() for _, text in shown]
    assert bare == [line(book, number).split() for number in range(1, book.count + 1)]


def test_index_names_definitions_and_uses(book: listing.Book) -> None:
    defined = book.definitions()
    assert len(defined) > 500
    for name, numbers in defined.items():
        assert all(any(name in line(book, number + up) for up in range(3)) for number in numbers), name
    used = book.uses({"handle_mm_fault"})["handle_mm_fault"]
    assert used and all("handle_mm_fault" in line(book, number) for number in used)
    assert not set(used) & set(defined["handle_mm_fault"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("One\nkernel/main.c\nkernel/main.c\n", "core.txt:3: kernel/main.c is listed twice"),
        ("One\nkernel/none.c\n", "core.txt:2: kernel/none.c does not exist"),
        ("kernel/main.c\n", "core.txt:1: kernel/main.c stands before the first title"),
    ],
)
def test_list_that_is_wrong_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(SystemExit, match=re.escape(said)):
        listing.chapters(text)


def press(page: Path, out: Path, path: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, PRINT / "press.py", page, out]
    return subprocess.run(command, env={"PATH": path}, capture_output=True, text=True, check=False)


def test_without_chromium_one_sentence_says_so(tmp_path: Path) -> None:
    made = press(tmp_path / "a.html", tmp_path / "a.pdf", str(tmp_path))
    assert made.returncode == 1 and made.stderr.count("\n") == 1 and "Chromium, which is not installed" in made.stderr


def test_chromium_that_fails_is_quoted_and_leaves_no_file(tmp_path: Path) -> None:
    browser = tmp_path / "chromium"
    browser.write_text("#!/bin/sh\necho 'no display' >&2\nexit 3\n")
    browser.chmod(0o755)
    made = press(tmp_path / "a.html", tmp_path / "a.pdf", f"{tmp_path}:/bin:/usr/bin")
    assert made.returncode == 1 and made.stderr.strip().endswith("a.html: no display")
    assert not (tmp_path / "a.pdf").exists()


def test_book_is_printed() -> None:
    browser.chromium()
    subprocess.run(["make", "book"], cwd=qemu.ROOT, capture_output=True, check=True)
    for name, least in (("core", 100), ("guide", 15)):
        made = (qemu.ROOT / f"build/book/{name}.pdf").read_bytes()
        assert made.startswith(b"%PDF") and len(re.findall(rb"/Type /Page\b", made)) >= least
    commentary = (qemu.ROOT / "build/book/guide.html").read_text()
    first = listing.core().first
    assert f"({first[Path('kernel/mm/space/fault.c')]:04})" in commentary
    pictures = re.findall(r'src="(_images/[^"]*)"', commentary)
    assert pictures and all((qemu.ROOT / "build/book" / picture).is_file() for picture in pictures)
