"""lackeyml: references as XML, after A. McMenamin, Applying Working Set Heuristics to the Linux Kernel (2011).

The document type is in Appendix A of the report: an `application` with its command comes first, then one element per
reference, `instruction`, `load`, `store` or `modify`, with address and size in hexadecimal ("0x...").

Import accepts 0x and hexadecimal digits, or decimal ones. (The report's converter put 0x before Lackey's decimal sizes,
so a size of 16 reads as 22, here as in the report's own reader; it matters only if a reference ends less than that
before the border of a page.) XML readers can be attacked by entities: documents that declare any are refused, and no
other file is ever opened.

Export keeps only kinds and pages in order: a trace has pages, not addresses, so a reference gets its page's first
address and size 1. An instruction that straddles two pages, which counts on both but once in time, becomes one element
of two bytes across the border. So importing an export gives the same runs, except that runs which another space had
split are merged. Lost are all other spaces, and instruction counts that differ from the number of instructions that the
references show.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from io import BufferedReader
from itertools import chain
from pathlib import PurePath
from typing import Any, TextIO
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

import numpy as np

from tidemark.trace import INSTRUCTION, KINDS, PAGE_SHIFT
from tidemark.trace.format import TraceError

NAMESPACE = "http://cartesianproduct.wordpress.com"
VERSION = "0.1"
ROOT = "lackeyml"
MAX_SIZE = 1 << PAGE_SHIFT
CHUNK = 1 << 18
AT_ONCE = 1 << 12
NUMBER = re.compile(r"0[xX][0-9a-fA-F]{1,16}|0|[1-9][0-9]{0,19}")
KIND_NUMBERS = {kind: number for number, kind in enumerate(KINDS)}

DOCUMENT_TYPE = (
    "<!DOCTYPE lackeyml [\n"
    "<!ELEMENT lackeyml (application,(instruction|store|load|modify)*)>\n"
    '<!ATTLIST lackeyml version CDATA #FIXED "0.1">\n'
    f'<!ATTLIST lackeyml xmlns CDATA #FIXED "{NAMESPACE}">\n'
    "<!ELEMENT application EMPTY>\n"
    "<!ATTLIST application command CDATA #REQUIRED>\n"
    + "".join(
        f"<!ELEMENT {kind} EMPTY>\n<!ATTLIST {kind} address CDATA #REQUIRED>\n<!ATTLIST {kind} size CDATA #REQUIRED>\n"
        for kind in KINDS
    )
    + "]>\n"
)


def number(text: str) -> int:
    """The value of an attribute. Raises ValueError if it is not a number."""
    if not NUMBER.fullmatch(text):
        raise ValueError(f"{text!r} is not a number: write 0x and hexadecimal digits, or decimal digits")
    return int(text, 16 if text[:2] in ("0x", "0X") else 10)


class Lackeyml:
    """The references of one lackeyml document: iterate once, then read `space`.

    `file` is open for reading bytes, `name` is its name in messages. Iterating raises TraceError with the line.
    """

    source = "lackeyml"

    def __init__(self, file: BufferedReader[Any], name: str) -> None:
        self.lines = self.foreign = 0
        self._file, self._name = file, name
        self._command: str | None = None
        self._depth = 0
        self._kinds: list[int] = []
        self._addresses: list[int] = []
        self._sizes: list[int] = []
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.EntityDeclHandler = self._entity

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Batches of references: kinds u8, addresses u64 and sizes u32 in bytes."""
        while data := self._file.read1(CHUNK):
            self._parse(data, last=False)
            yield self._batch()
        self._parse(b"", last=True)
        self.lines = self._parser.CurrentLineNumber
        if self._command is None:
            raise self._wrong("no application in the document")

    def space(self) -> dict[str, Any]:
        """The row for the table of spaces; complete after the last batch."""
        words = (self._command or "").split()
        name = PurePath(words[0]).name if words else ""
        return {"space": 0, "name": name, "pid": None, "command": self._command, "whole": True}

    def _parse(self, data: bytes, last: bool) -> None:
        try:
            self._parser.Parse(data, last)
        except expat.ExpatError as error:
            raise TraceError(
                f"{self._name}, line {error.lineno}, column {error.offset}: {expat.ErrorString(error.code)};"
                " the document is damaged or cut off: make it again"
            ) from error

    def _batch(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        batch = (
            np.array(self._kinds, np.uint8),
            np.array(self._addresses, np.uint64),
            np.array(self._sizes, np.uint32),
        )
        for column in (self._kinds, self._addresses, self._sizes):
            column.clear()
        return batch

    def _start(self, element: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth == 1:
            self._check_root(element, attributes)
        elif self._depth > 2 or (element == "application") != (self._command is None):
            raise self._wrong(f"element {element} in a place where it may not be")
        elif element == "application":
            self._command = self._attribute(element, attributes, "command")
        else:
            self._reference(element, attributes)

    def _end(self, element: str) -> None:
        self._depth -= 1

    def _text(self, text: str) -> None:
        if text.strip():
            raise self._wrong(f"text {text.strip()[:60]!r} between the elements")

    def _entity(self, *_: object) -> None:
        raise self._wrong("the document declares entities, which lackeyml has no use for")

    def _check_root(self, element: str, attributes: dict[str, str]) -> None:
        if element != ROOT:
            raise self._wrong(f"the document is {element}, not {ROOT}")
        for name, fixed in (("version", VERSION), ("xmlns", NAMESPACE)):
            if attributes.get(name, fixed) != fixed:
                raise self._wrong(f"{name} is {attributes[name]!r}, not {fixed!r}")

    def _reference(self, element: str, attributes: dict[str, str]) -> None:
        kind = KIND_NUMBERS.get(element)
        if kind is None:
            raise self._wrong(f"unknown element {element}")
        try:
            address, size = (number(self._attribute(element, attributes, name)) for name in ("address", "size"))
        except ValueError as error:
            raise self._wrong(str(error)) from error
        if not 0 < size <= MAX_SIZE or address + size > 1 << 64:
            raise self._wrong(f"{size} bytes at {address:#x} are not a valid reference")
        self._kinds.append(kind)
        self._addresses.append(address)
        self._sizes.append(size)

    def _attribute(self, element: str, attributes: dict[str, str], name: str) -> str:
        if name not in attributes:
            raise self._wrong(f"{element} without {name}")
        return attributes[name]

    def _wrong(self, what: str) -> TraceError:
        return TraceError(f"{self._name}, line {self._parser.CurrentLineNumber}: {what}; is it lackeyml?")


def element(kind: int, address: int, size: int) -> str:
    """One reference as XML."""
    return f'<{KINDS[kind]} address="{address:#010x}" size="{size:#x}"/>\n'


Run = tuple[int, int, int, int]  # page, kind, count, instructions


def runs_of(batches: Iterable[tuple[np.ndarray, ...]], space: int) -> Iterator[Run]:
    """The runs of one space in order, from the columns that `Reader.runs` yields."""
    for spaces, *columns in batches:
        mine = spaces == space
        yield from zip(*(column[mine].tolist() for column in columns), strict=True)


def straddles(run: Run, following: Run) -> bool:
    """Whether the last instruction of a run continues on the page of the following run, which then has one reference
    more than instructions.
    """
    page, kind, _, _ = run
    next_page, next_kind, count, insns = following
    return kind == next_kind == INSTRUCTION and next_page == page + 1 and insns == count - 1


def elements(runs: Iterable[Run]) -> Iterator[tuple[str, int]]:
    """(element, number of repetitions) for the runs of one space."""
    end: Run = (-1, -1, 0, 0)
    previous, left = end, 0
    for run in chain(runs, [end]):
        page, kind, _, _ = previous
        continues = left > 0 and straddles(previous, run)
        if left > continues:
            yield element(kind, page << PAGE_SHIFT, 1), left - continues
        if continues:
            yield element(kind, (run[0] << PAGE_SHIFT) - 1, 2), 1
        previous, left = run, run[2] - continues


def export(batches: Iterable[tuple[np.ndarray, ...]], space: int, command: str, out: TextIO) -> int:
    """Write one space of a trace, columns as `Reader.runs` yields them, as lackeyml. Returns the number of instructions
    that the document shows.
    """
    out.write("<?xml version='1.0' encoding='UTF-8'?>\n" + DOCUMENT_TYPE)
    out.write(f'<lackeyml version="{VERSION}" xmlns="{NAMESPACE}">\n<application command={quoteattr(command)}/>\n')
    instructions = 0
    for text, times in elements(runs_of(batches, space)):
        if text.startswith("<instruction"):
            instructions += times
        while times:
            now = min(times, AT_ONCE)
            out.write(text * now)
            times -= now
    out.write("</lackeyml>\n")
    return instructions
