"""Sheets on paper: an HTML file for a class, which a browser prints with one student after another, each on new pages.

A sheet is a title, a student's name, and blocks: text, lines of code, a string of references, questions with room for
an answer. The examiner's keys are a second file of the same form. Neither loads anything: the file can be printed on a
machine without a network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

STYLE = """
@page { size: A4; margin: 15mm 20mm; }
p { margin: 2mm 0; }
body { font: 10.5pt/1.35 "DejaVu Serif", Georgia, serif; margin: 0 auto; max-width: 170mm; color: #000; }
header { display: flex; justify-content: space-between; border-bottom: 1px solid #000; margin-bottom: 5mm; }
h1 { font-size: 14pt; margin: 0 0 2mm; }
.name { font-weight: bold; }
article + article { break-before: page; }
pre { font: 8.5pt/1.3 "DejaVu Sans Mono", monospace; white-space: pre-wrap; margin: 2mm 0; padding: 1.5mm 3mm;
      border: 1px solid #999; break-inside: avoid; }
table { border-collapse: collapse; margin: 2mm 0; break-inside: avoid; }
td, th { border: 1px solid #999; padding: .5mm 1.5mm; text-align: center; font: 10pt "DejaVu Sans Mono", monospace; }
th { font-size: 8pt; font-weight: normal; color: #444; }
.asked { break-inside: avoid; margin: 3mm 0; }
.room { border-bottom: 1px solid #000; height: 7mm; }
.short { display: flex; justify-content: space-between; align-items: flex-end; gap: 6mm; }
.short .room { flex: 0 0 28mm; }
.key { font-weight: bold; }
@media screen { article { margin: 10mm 0; } }
"""
IN_A_ROW = 20  # references of a string in a row of its table


@dataclass(frozen=True)
class Sheet:
    """What is printed for a student: `blocks` are HTML, made by the functions below."""

    title: str
    name: str
    blocks: Sequence[str]


def text(words: str) -> str:
    """A paragraph."""
    return f"<p>{escape(words)}</p>"


def listing(lines: str) -> str:
    """Lines of code, or commands."""
    return f"<pre>{escape(lines)}</pre>"


def references(string: Sequence[object]) -> str:
    """A string of references: a table with the number of each reference, from 1 on, above its page."""
    rows = []
    for first in range(0, len(string), IN_A_ROW):
        some = string[first : first + IN_A_ROW]
        rows.append("".join(f"<th>{number}</th>" for number in range(first + 1, first + 1 + len(some))))
        rows.append("".join(f"<td>{escape(str(page))}</td>" for page in some))
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def question(number: int, words: str, lines: int = 0) -> str:
    """A question, and room for an answer of some lines; 0: for a number, beside the question."""
    if not lines:
        return f'<div class="asked short"><span>{number}. {escape(words)}</span><span class="room"></span></div>'
    room = '<div class="room"></div>' * lines
    return f'<div class="asked">{number}. {escape(words)}{room}</div>'


def answer(number: int, words: str, key: str) -> str:
    """A question with its key, for the examiner."""
    return f'<div class="asked">{number}. {escape(words)}<br><span class="key">{escape(key)}</span></div>'


def article(sheet: Sheet) -> str:
    """One student's pages."""
    head = f'<header><h1>{escape(sheet.title)}</h1><span class="name">{escape(sheet.name)}</span></header>'
    return "\n".join(["<article>", head, *sheet.blocks, "</article>"])


def document(title: str, sheets: Sequence[Sheet]) -> str:
    """The file for a class."""
    top = f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style>'
    return "\n".join([top, *map(article, sheets), "</html>", ""])
