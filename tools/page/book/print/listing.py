"""The printed source: docs/guide/core.txt's files as one HTML page, which Chromium prints (press.py).

In the manner of xv6's booklet. Lines are numbered through all files, so that a number names a line of the book: the
contents give each file's first line, the index each function's definition and uses, and the guide, printed beside it,
the lines of the files it names. core.txt has the titles of the parts, and after each title its files in reading order.
"""

from __future__ import annotations

import bisect
import re
import sys
from collections import defaultdict
from dataclasses import dataclass
from html import escape
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import CLexer, GasLexer

ROOT = Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "tools"))

from structure import source  # noqa: E402

LIST = ROOT / "docs/guide/core.txt"
STYLE = Path(__file__).with_name("listing.css")
COLUMNS = 100  # of a printed line; a longer one goes on below
TAB = 4  # columns; the source has 8, which takes more than the paper has


@dataclass(frozen=True)
class Chapter:
    """A part of the list: its title, and its files relative to ROOT, in order."""

    title: str
    files: tuple[Path, ...]


def chapters(text: str) -> list[Chapter]:
    """What core.txt says. SystemExit, with the line, if a file does not exist or is listed twice."""
    made: list[tuple[str, list[Path]]] = []
    seen: set[Path] = set()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        path = Path(line.strip())
        if "/" not in line:
            made.append((line.strip(), []))
            continue
        if not made or path in seen or not (ROOT / path).is_file():
            why = "is listed twice" if path in seen else "does not exist" if made else "stands before the first title"
            raise SystemExit(f"docs/guide/core.txt:{number}: {path} {why}")
        seen.add(path)
        made[-1][1].append(path)
    return [Chapter(title, tuple(files)) for title, files in made]


class Book:
    """The files with their numbers: `first[file]` is the number of a file's first line, from 1."""

    def __init__(self, parts: list[Chapter]) -> None:
        """`parts`: as `chapters` returns them."""
        self.parts = parts
        self.lines = {file: (ROOT / file).read_text().splitlines() for part in parts for file in part.files}
        self.first: dict[Path, int] = {}
        number = 1
        for file, lines in self.lines.items():
            self.first[file] = number
            number += len(lines)
        self.count = number - 1

    def definitions(self) -> dict[str, list[int]]:
        """The numbers of the lines at which functions of a name are defined; static ones may share a name."""
        made: dict[str, list[int]] = defaultdict(list)
        for file, first in self.first.items():
            if file.suffix in (".c", ".h"):
                for function in source.c_functions(file):
                    made[function.name].append(first + function.line - 1)
            else:
                for number, line in enumerate(self.lines[file]):
                    if label := re.match(r"([a-z_]\w*):", line):
                        made[label[1]].append(first + number)
        return dict(made)

    def uses(self, names: set[str]) -> dict[str, list[int]]:
        """The numbers of the lines that mention a function, but for its definition and comments."""
        made: dict[str, list[int]] = defaultdict(list)
        defined = self.definitions()
        for file, first in self.first.items():
            code = re.sub(r"/\*.*?\*/", lambda one: "\n" * one[0].count("\n"), "\n".join(self.lines[file]), flags=re.S)
            for number, line in enumerate(code.split("\n"), first):
                for name in set(re.findall(r"\w+", line)) & names:
                    if not near(number, defined[name]):
                        made[name].append(number)
        return dict(made)


def near(number: int, definitions: list[int]) -> bool:
    """Is a line part of a function's heading, which has up to three lines?"""
    at = bisect.bisect_right(definitions, number) - 1
    return at >= 0 and number - definitions[at] < 3


def numbered(book: Book, file: Path) -> str:
    """A file's lines as HTML, each with its number."""
    lexer = GasLexer() if file.suffix == ".S" else CLexer()
    text = "\n".join(
        line.expandtabs(8).replace("        ", " " * TAB) if line.startswith("\t") else line.expandtabs(8)
        for line in book.lines[file]
    )
    html = highlight(text, lexer, HtmlFormatter(nowrap=True, style="bw")).rstrip("\n").split("\n")
    html += [""] * (len(book.lines[file]) - len(html))
    return "".join(
        f'<div class="line"><span class="number">{number:04}</span><code>{line}</code></div>'
        for number, line in enumerate(html, book.first[file])
    )


def contents(book: Book) -> str:
    """The parts and their files, with the number of each file's first line."""
    made = []
    for part in book.parts:
        rows = "".join(
            f'<tr><td><a href="#{file}">{file}</a></td><td>{book.first[file]:04}</td></tr>' for file in part.files
        )
        made.append(f"<section><h3>{escape(part.title)}</h3><table>{rows}</table></section>")
    return f'<h2>Contents</h2><div class="contents">{"".join(made)}</div>'


def index(book: Book) -> str:
    """Each function: the lines of its definitions, in bold, then those that use it."""
    defined = book.definitions()
    uses = book.uses(set(defined))
    rows = "".join(
        f"<p><code>{name}</code> <b>{', '.join(f'{at:04}' for at in defined[name])}</b>"
        f" {', '.join(f'{at:04}' for at in uses.get(name, []))}</p>"
        for name in sorted(defined, key=str.lower)
    )
    return f'<h2>Index of functions</h2><div class="index">{rows}</div>'


def page(book: Book) -> str:
    """All of it."""
    parts = "".join(
        f"<h2>{escape(part.title)}</h2>"
        + "".join(f'<h3 id="{file}">{file}</h3>{numbered(book, file)}' for file in part.files)
        for part in book.parts
    )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Tidemark: the core</title>'
        f"<style>{STYLE.read_text()}</style><h1>Tidemark: the core</h1>"
        f"<p>{len(book.first)} files, {book.count:,} lines, comments included, in reading order. A number names a line "
        "of this book. The guide, printed beside it, is its commentary and names these numbers. The kernel has more "
        "policies, guards, file systems and devices; they are not needed to understand what is here.</p>"
        f"{contents(book)}{parts}{index(book)}</html>"
    )


def core() -> Book:
    """The book that core.txt describes."""
    return Book(chapters(LIST.read_text()))


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(core()))
