"""Values as text: common functions of CSV and HTML."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from html import escape as escaped
from typing import Any


def printable(text: str) -> str:
    """`text` with a question mark for each character that cannot be printed or written to a file."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else "?" for character in text)


def escape(text: str) -> str:
    """Any text escaped for HTML, also within quotes."""
    return escaped(printable(text))


def short(text: str, most: int) -> str:
    """`text` in at most `most` characters: names can be long, pictures cannot."""
    return text if len(text) <= most else text[: most - 1] + "…"


def as_text(value: object) -> object:
    """A value in CSV: numbers to ten digits, empty for nan and None. numpy's floats are floats of Python here."""
    if isinstance(value, float):
        return "" if value != value else f"{value:.10g}"
    if isinstance(value, str):
        return printable(value)
    return "" if value is None else value


def csv_text(table: Mapping[str, Sequence[Any]]) -> str:
    """A table of columns as CSV with a header line."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(printable, table))
    writer.writerows([as_text(value) for value in row] for row in zip(*table.values()))
    return text.getvalue()
