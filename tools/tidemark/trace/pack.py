"""Turns the plugin's stream, while it arrives, into a trace's runs.

tools/plugin/stream.c defines the stream: 32-bit words, one for each load or store with the number of fetches before it,
and tagged words that say which page of code is fetched and which page directory is in use. Here words become runs:
consecutive references of one kind to one page of one address space are merged.

A page directory (cr3) is used again after its process has ended, so an address space is one life of a page directory;
a life ends where the stream says DEATH. Spaces are numbered in order of their first reference. Names come from the
kernel's telemetry: the n-th BIRTH in the stream belongs to the n-th `mm` event, which names the life that the page
directory has at that point of the stream.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from tidemark.errors import LabError
from tidemark.jit import Int, compiled
from tidemark.trace import (
    FILE_INDEX_BITS,
    FILE_PAGE,
    INSTRUCTION,
    LOAD,
    MAX_COUNT,
    MAX_SPACES,
    PAGE_SHIFT,
    READ,
    WRITE,
)

STREAM_VERSION = 4
WORD = np.dtype("<u4")
BEGIN, CODE, FETCHES, TAIL, SPACE, BIRTH, DEATH, END, SPACES, OF, CAME, LOCKED, FROM, FREED, STORE, FILE = range(16)
INDEX, PAGE, NONE, FILE_READ, FILE_WRITE, FILE_CAME, FILE_GONE = range(7)  # kinds of FILE words
FREED_SHIFT = FILE_SHIFT = 20
VPN = (1 << FILE_SHIFT) - 1
USER_PAGES = 3 << 18
NO_TAG = -1
TAGGED = 3 << 30
TAG_SHIFT, TAGS, MAX_VALUE = 26, 15, (1 << 26) - 1
STORE_SHIFT, MAX_FETCHES = 11, (1 << 11) - 1

BATCH = 1 << 16
COLUMNS = (np.uint16, np.uint64, np.uint8, np.uint32, np.uint32)
COUNT = 3


class StreamError(LabError):
    """The stream is not as the plugin writes it; the message says what is wrong, and where."""


class Note(NamedTuple):
    """An event for the policy: SPACES (a new address space), CAME or LOCKED (a page; `value` as in the stream), FREED
    (pages; `value` is the first << FREED_SHIFT | the end). `at`: the number of runs before it; `key`: the address
    space, as in `Spaces.numbers`. STORE: a page of a file on a disk has come for the space, `value` as in FILE_CAME.
    FILE: such pages are gone, from `key` (store, index) to the page `value` of that file.
    """

    at: int
    tag: int
    key: tuple[int, int]
    value: int


class Sink(Protocol):
    """Takes the runs; for example tidemark.trace.format.Writer."""

    def append(
        self, spaces: np.ndarray, pages: np.ndarray, kinds: np.ndarray, counts: np.ndarray, insns: np.ndarray
    ) -> None: ...


def tagged(tag: int, value: int = 0) -> int:
    """The word with this tag and value."""
    return TAGGED | tag << TAG_SHIFT | value


def example() -> bytes:
    """The shortest stream with a reference."""
    return np.array([tagged(BEGIN, STREAM_VERSION), 1, tagged(END, 2)], WORD).tobytes()


Array = np.ndarray
Columns = tuple[np.ndarray, ...]


@compiled
def _access(word: Int, tag: Int, value: Int, waiting: np.ndarray, space: Int) -> tuple[Int, Int, Int, Int]:
    """The access of a word, without its fetches: page, kind, count (0: none), and the fetches that it accounts for."""
    if tag != NO_TAG:
        return value, INSTRUCTION, int(tag == TAIL), 0
    begun = min(waiting[space], MAX_COUNT)
    waiting[space] -= begun
    return word >> PAGE_SHIFT, LOAD + (word >> STORE_SHIFT & 1), 1, begun


@compiled
def _pack(
    words: Array, start: Int, space: Int, fetches_too: bool, waiting: Array, state: Array, columns: Columns, filled: Int
) -> tuple[Int, Int]:
    """Fill in the runs of words from `start` up to a word that is not about references: (its index, runs filled).

    `state` is the page of code, and the open run: space, page, kind, count (0: none is open), insns. If fetches are not
    runs of their own, `waiting[space]` is the number of fetches that the space's next run has to account for.
    """
    code, run_space, run_page, run_kind, run_count, run_insns = state
    spaces, pages, kinds, counts, insns = columns
    while start < len(words):
        word: Int = np.int64(words[start])
        tag, value, fetches = NO_TAG, word & MAX_VALUE, word & MAX_FETCHES
        if word >= TAGGED:
            tag = word >> TAG_SHIFT & TAGS
            if tag != CODE and tag != FETCHES and tag != TAIL:
                break
            fetches = value if tag == FETCHES else 0
        code = value if tag == CODE else code
        if not fetches_too:
            waiting[space] += fetches
            fetches = 0
        for second in range(2):
            page, kind, count, begun = code, INSTRUCTION, fetches, fetches
            if second:
                page, kind, count, begun = _access(word, tag, value, waiting, space)
            if not count:
                continue
            same = page == run_page and kind == run_kind and space == run_space
            if same and run_count + count <= MAX_COUNT and run_insns + begun <= MAX_COUNT:
                run_count += count
                run_insns += begun
                continue
            if run_count:
                spaces[filled], pages[filled], kinds[filled] = run_space, run_page, run_kind
                counts[filled], insns[filled] = run_count, run_insns
                filled += 1
            run_space, run_page, run_kind, run_count, run_insns = space, page, kind, count, begun
        start += 1
    state[:] = (code, run_space, run_page, run_kind, run_count, run_insns)
    return start, filled


class Spaces:
    """The numbers of address spaces, and at the end their names."""

    def __init__(self) -> None:
        self._births = 0
        self._deaths: dict[int, list[int]] = {}  # by cr3: for each death, the number of births before it
        self.numbers: dict[tuple[int, int], int] = {}  # (cr3, life)

    def birth(self) -> None:
        """Count a birth: the kernel has written an `mm` event."""
        self._births += 1

    def death(self, cr3: int) -> None:
        """End the life of a page directory; the next one with this cr3 is a different space."""
        self._deaths.setdefault(cr3, []).append(self._births)

    def key(self, cr3: int) -> tuple[int, int]:
        """(page directory, index of its present life)."""
        return cr3, len(self._deaths.get(cr3, ()))

    def number(self, cr3: int) -> int:
        """The number of the page directory's present space. Raises StreamError if there are too many."""
        number = self.numbers.setdefault(self.key(cr3), len(self.numbers))
        if number >= MAX_SPACES:
            raise StreamError(f"a trace holds at most {MAX_SPACES} address spaces; record a shorter run")
        return number

    def table(self, events: Sequence[dict[str, Any]], whole: bool) -> list[dict[str, Any]]:
        """Rows {"space", "name", "cr3", "whole", and "pid", "since_us" if an event names it} for the trace's tail.

        `events` are the `mm` events {"pid", "comm", "cr3", "t_us"} in order, empty if the telemetry is off. `whole`:
        the run was recorded to its end. Raises StreamError if `whole` and there are not as many events as births.
        """
        if whole and events and len(events) != self._births:
            raise StreamError(f"the telemetry has {len(events)} mm events, the plugin saw {self._births}")
        named: dict[tuple[int, int], dict[str, Any]] = {}
        for births, event in enumerate(events):
            lives = self._deaths.get(event["cr3"], [])
            named[event["cr3"], bisect_right(lives, births)] = event
        rows = []
        for (cr3, life), number in self.numbers.items():
            row = {"space": number, "name": f"cr3 {cr3:#x}", "cr3": cr3, "whole": whole}
            if found := named.get((cr3, life)):
                row |= {"name": found["comm"], "pid": found["pid"], "since_us": found["t_us"]}
            rows.append(row)
        return rows


class Packer:
    """Takes the stream in pieces of any size, and gives runs to a sink. `words` counts the words taken; `notes` are
    filled if the plugin was asked for them; `files` are the stores of files whose pages were used. `_shown` has, for a
    space, the page of a file that each of its pages maps at present: one number per page, 0 for none.
    """

    def __init__(self, sink: Sink, fetches_too: bool = True) -> None:
        """`fetches_too`: whether fetches are references of their own; if not, they only advance virtual time."""
        self.spaces = Spaces()
        self.words = 0
        self.ended = False
        self.notes: list[Note] = []
        self._runs = 0
        self._of = self._from = self._store = self._index = 0
        self.files: set[int] = set()
        self._shown: dict[int, np.ndarray] = {}
        self._sink, self._fetches_too = sink, fetches_too
        self._rest = b""
        self._cr3 = 0
        self._state = np.zeros(1 + len(COLUMNS), np.int64)
        self._waiting = np.zeros(MAX_SPACES, np.int64)
        self._columns = tuple(np.empty(2 * BATCH + 1, dtype) for dtype in COLUMNS)

    def feed(self, data: bytes) -> None:
        """Take the next bytes. Raises StreamError if they are not a valid stream."""
        data = self._rest + data if self._rest else data
        whole = len(data) & -WORD.itemsize
        self._rest = data[whole:]
        words = np.frombuffer(data, WORD, whole // WORD.itemsize)
        for at in range(0, len(words), BATCH):
            self._batch(words[at : at + BATCH])

    def finish(self, whole: bool = True) -> None:
        """Give the last run to the sink. Raises StreamError if `whole` and the stream has no end record."""
        if whole and (not self.ended or self._rest):
            raise StreamError(f"the plugin's stream was cut off after {self.words:,} words: it has no end record")
        self._append(self._close_run(0))

    def _close_run(self, filled: int) -> int:
        """End the open run, if there is one. Returns the new number of filled runs."""
        if not self._state[1 + COUNT]:
            return filled
        for column, value in zip(self._columns, self._state[1:], strict=True):
            column[filled] = value
        self._state[1 + COUNT] = 0
        return filled + 1

    def _batch(self, words: np.ndarray) -> None:
        at = filled = 0
        while at < len(words):
            word = int(words[at])
            if self.words + at == 0 and word != tagged(BEGIN, STREAM_VERSION):
                raise StreamError(
                    f"this is not a stream of this program's plugin: it begins with {word:#010x}; `make lab` builds it"
                )
            if self.ended:
                raise StreamError(f"the plugin's stream goes on after its end record, at word {self.words + at:,}")
            if word >= TAGGED and (word >> TAG_SHIFT & TAGS) not in (CODE, FETCHES, TAIL):
                tag, value = word >> TAG_SHIFT & TAGS, word & MAX_VALUE
                filled = self._other(tag, value, self.words + at, filled)
                at += 1
                continue
            space = self.spaces.number(self._cr3)
            at, filled = _pack(words, at, space, self._fetches_too, self._waiting, self._state, self._columns, filled)
        self.words += len(words)
        self._append(filled)

    def _other(self, tag: int, value: int, at: int, filled: int) -> int:
        """Handle a word that is not about references, with `filled` runs before it. Returns the runs filled then."""
        if tag in (STORE, FILE):
            return self._of_files(tag, value, filled)
        if SPACES <= tag <= FREED:
            filled = self._close_run(filled)
            self._policys(tag, value, self._runs + filled)
            return filled
        if tag == DEATH and (number := self.spaces.numbers.get(self.spaces.key(value << PAGE_SHIFT))) in self._shown:
            self._append(self._close_run(filled))
            filled = 0
            del self._shown[number]
        self._note(tag, value, at)
        return filled

    def _note(self, tag: int, value: int, at: int) -> None:
        """Handle a word about address spaces, or about the stream itself. Raises StreamError if it is unknown."""
        if tag == SPACE:
            self._cr3 = value << PAGE_SHIFT
        elif tag == BIRTH:
            self.spaces.birth()
        elif tag == DEATH:
            self.spaces.death(value << PAGE_SHIFT)
        elif tag == END and value == at & MAX_VALUE:
            self.ended = True
        elif tag != BEGIN or at:
            raise StreamError(f"the plugin's stream is damaged at word {at:,}: tag {tag}, value {value:#x}")

    def _policys(self, tag: int, value: int, at: int) -> None:
        """Handle a word about an event for the policy, with `at` runs before it."""
        if tag == OF:
            self._of = value << PAGE_SHIFT
        elif tag == FROM:
            self._from = value
        else:
            value |= self._from << FREED_SHIFT if tag == FREED else 0
            self.notes.append(Note(at, tag, self.spaces.key(value << PAGE_SHIFT if tag == SPACES else self._of), value))

    def _of_files(self, tag: int, value: int, filled: int) -> int:
        """Handle a word about pages of files, with `filled` runs before it. Returns the runs filled then."""
        what, number = value >> FILE_SHIFT, value & VPN
        if tag == STORE:
            self._store = value
            self.files.add(value)
        elif what == INDEX:
            self._index = number
        elif what in (FILE_CAME, FILE_GONE):
            filled = self._close_run(filled)
            key = self.spaces.key(self._cr3) if what == FILE_CAME else (self._store, self._index)
            self.notes.append(Note(self._runs + filled, STORE if what == FILE_CAME else FILE, key, number))
        elif what in (PAGE, NONE):  # earlier runs are of the page's previous content
            self._append(self._close_run(filled))
            shown = self._shown.setdefault(self.spaces.number(self._cr3), np.zeros(USER_PAGES, np.uint64))
            shown[number] = self._file_page(self._index) if what == PAGE else 0  # no file
            return 0
        elif what in (FILE_READ, FILE_WRITE):
            filled = self._close_run(filled)
            space = self.spaces.number(self._cr3)
            begun = min(self._waiting[space], MAX_COUNT)
            self._waiting[space] -= begun
            kind = READ if what == FILE_READ else WRITE
            self._state[1:] = space, self._file_page(number), kind, 1, begun
        else:
            raise StreamError(f"the plugin's stream is damaged: a word about files, {value:#x}")
        return filled

    def _file_page(self, index: int) -> int:
        return FILE_PAGE | self._store << FILE_INDEX_BITS | index

    def _append(self, filled: int) -> None:
        self._runs += filled
        if not filled:
            return
        columns = tuple(column[:filled] for column in self._columns)
        spaces, pages = columns[:2]
        for space, shown in self._shown.items():
            own = np.flatnonzero((spaces == space) & (pages < np.uint64(USER_PAGES)))
            names = shown[pages[own].astype(np.int64)]
            pages[own] = np.where(names, names, pages[own])
        self._sink.append(*columns)
