"""References from the text of Valgrind's Lackey: `valgrind --tool=lackey --trace-mem=yes --log-file=ls.txt ls`.

A line is `I  ADDRESS,SIZE`, ` L ADDRESS,SIZE`, ` S ...` or ` M ...`: instruction fetch, load, store, or load and store
by one instruction; the address is hexadecimal, the size in decimal bytes. Valgrind's own comments, `==PID== ...`, come
before and after. Any other line is foreign: output of the program in the same stream, or not Lackey text at all;
it is an error unless the caller wants such lines counted and skipped. Since a comment follows the last reference if
Valgrind could finish, a text with comments that ends in a reference was cut off.

The text is read in chunks that a compiled loop turns into columns; the loop stops at any line that it does not know and
leaves that line to Python. One chunk is in memory at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BufferedReader
from pathlib import PurePath
from typing import Any

import numpy as np

from tidemark.jit import Int, compiled
from tidemark.trace import INSTRUCTION, LOAD, MODIFY, STORE
from tidemark.trace.format import TraceError
from tidemark.trace.pages import MAX_SIZE, Array

CHUNK = 1 << 20
SHORTEST_LINE = len("I  0,1\n")
SHOWN = 60
COMMENT = re.compile(rb"(==|--|\*\*)(\d+)\1 ?(.*)")

NO_DIGIT = 255
DIGITS = np.full(256, NO_DIGIT, np.uint8)
for _value, _pair in enumerate(zip("0123456789abcdef", "0123456789ABCDEF", strict=True)):
    DIGITS[[ord(_digit) for _digit in _pair]] = _value
NO_KIND = 255
DATA_KINDS = np.full(256, NO_KIND, np.uint8)
for _letter, _code in (("L", LOAD), ("S", STORE), ("M", MODIFY)):
    DATA_KINDS[ord(_letter)] = _code
MAX_ADDRESS_DIGITS = 16
MAX_SIZE_DIGITS = 4
I_LETTER, SPACE, COMMA, NEWLINE = (ord(character) for character in "I ,\n")


@compiled
def _kind(first: Int, second: Int) -> Int:
    if first == SPACE:
        return DATA_KINDS[second]
    return INSTRUCTION if first == I_LETTER and second == SPACE else NO_KIND


@compiled
def _parse(text: Array, at: Int, end: Int, kinds: Array, addresses: Array, sizes: Array) -> tuple[Int, Int]:
    """Parse the whole lines text[at:end] into columns. Returns (offset of the first other line or `end`, number)."""
    done = 0
    while at < end:
        start = at
        kind = _kind(text[at], text[at + 1])
        if kind == NO_KIND or text[at + 2] != SPACE:
            return start, done
        at += 3
        address = np.uint64(0)
        while DIGITS[text[at]] != NO_DIGIT:
            address = (address << np.uint64(4)) | np.uint64(DIGITS[text[at]])
            at += 1
        if text[at] != COMMA or at == start + 3 or at > start + 3 + MAX_ADDRESS_DIGITS:
            return start, done
        at += 1
        first_digit = at
        size = 0
        while DIGITS[text[at]] < 10:
            size = 10 * size + DIGITS[text[at]]
            at += 1
        if text[at] != NEWLINE or at > first_digit + MAX_SIZE_DIGITS or not 0 < size <= MAX_SIZE:
            return start, done
        if address + np.uint64(size - 1) < address:
            return start, done
        at += 1
        kinds[done], addresses[done], sizes[done] = kind, address, size
        done += 1
    return at, done


class LackeyText:
    """The references of one Lackey text: iterate once, then read `lines`, `foreign` and `space`.

    `file` is open for reading bytes, `name` is its name in messages. With `skip_foreign`, foreign lines are counted in
    `foreign`; with `partial`, a text that was cut off is read up to there. Iterating raises TraceError if it is bad.
    """

    source = "lackey"

    def __init__(self, file: BufferedReader[Any], name: str, skip_foreign: bool = False, partial: bool = False) -> None:
        self.lines = self.foreign = self.references = 0
        self._file, self._name = file, name
        self._skip_foreign, self._partial = skip_foreign, partial
        self._pid: int | None = None
        self._command = ""
        self._ends_in_comment = False
        self._cut = False
        self._bytes = bytearray(CHUNK + SHORTEST_LINE)
        self._text = np.frombuffer(self._bytes, np.uint8)
        most = CHUNK // SHORTEST_LINE
        self._columns = (np.empty(most, np.uint8), np.empty(most, np.uint64), np.empty(most, np.uint32))

    def __iter__(self) -> Iterator[tuple[Array, Array, Array]]:
        """Batches of references: kinds u8, addresses u64 and sizes u32 in bytes. Each is valid until the next one."""
        kept = 0
        window = memoryview(self._bytes)
        while got := self._file.readinto1(window[kept:CHUNK]):  # a single read, so that Ctrl-C takes effect at once
            filled = kept + got
            end = self._bytes.rfind(b"\n", 0, filled) + 1
            if not end and filled == CHUNK:
                raise TraceError(f"{self._name}, line {self.lines + 1}: no end of line in {CHUNK} bytes: not a text")
            yield from self._lines(end)
            kept = filled - end
            self._bytes[:kept] = self._bytes[end:filled]
        self._check_end(bytes(self._bytes[:kept]))

    def space(self) -> dict[str, Any]:
        """The row for the table of spaces; complete after the last batch."""
        words = self._command.split()
        return {
            "space": 0,
            "name": PurePath(words[0]).name if words else "",
            "pid": self._pid,
            "command": self._command,
            "whole": False if self._cut else (True if self._ends_in_comment else None),
        }

    def _lines(self, end: int) -> Iterator[tuple[Array, Array, Array]]:
        at = 0
        while at < end:
            at, done = _parse(self._text, at, end, *self._columns)
            if done:
                self.lines += done
                self.references += done
                self._ends_in_comment = False
                kinds, addresses, sizes = (column[:done] for column in self._columns)
                yield kinds, addresses, sizes
            if at < end:
                line_end = self._bytes.index(b"\n", at)
                self.lines += 1
                self._other(bytes(self._bytes[at:line_end]))
                at = line_end + 1

    def _other(self, line: bytes) -> None:
        """Handle a line that is not a reference: keep what a comment says, refuse or count a foreign line."""
        comment = COMMENT.fullmatch(line)
        if not comment:
            return self._foreign(line)
        pid, text = int(comment[2]), comment[3].decode(errors="replace")
        if self._pid not in (None, pid):
            raise TraceError(
                f"{self._name}, line {self.lines}: references of processes {self._pid} and {pid} are mixed here;"
                " record one process: valgrind --child-silent-after-fork=yes, without --trace-children"
            )
        self._pid = pid
        self._ends_in_comment = True
        if text.startswith("Command: "):
            self._command = text.removeprefix("Command: ")

    def _foreign(self, line: bytes) -> None:
        if not self._skip_foreign:
            shown = line[:SHOWN].decode(errors="backslashreplace") + ("..." if len(line) > SHOWN else "")
            raise TraceError(
                f"{self._name}, line {self.lines}: not a line of Lackey: {shown!r}; record with --log-file=FILE to keep"
                " the program's output apart, or count and skip such lines with --skip-foreign"
            )
        self.foreign += 1

    def _check_end(self, rest: bytes) -> None:
        """Check the end of the text. Raises TraceError if it was cut off or has no references."""
        if rest:
            self.lines += 1
            whole_comment = COMMENT.fullmatch(rest)
            self._cut = not whole_comment
            self._ends_in_comment = self._ends_in_comment or bool(whole_comment)
        elif self._pid is not None:
            self._cut = not self._ends_in_comment
        if self._cut and not self._partial:
            raise TraceError(
                f"{self._name}: cut off at line {self.lines}, Valgrind's closing lines are missing;"
                " record it again, or import the part before that with --partial"
            )
        if not self.references:
            raise TraceError(f"{self._name}: it has no references; record with valgrind --tool=lackey --trace-mem=yes")
