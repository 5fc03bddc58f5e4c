"""Strings of references: given as text, generated, or taken from a trace; and the standard set for comparing policies.

A string is a sequence of runs: page, number of references in a row, and the nanoseconds of process virtual time
that they take. In a trace an instruction takes 1 ns, as in an exact run. Otherwise a reference stands for STEP_NS of
work on its page, which only policies with a clock notice.

References write to the program's own pages, unless a letter before a page number says otherwise (KINDS_OF_USE): `f3`
loads from page 3 of a mapped file, `r3` reads it by a system call. Among runs, a row with 0 references has the kind of
the rows after it (tools/vmsim/vmsim.h: REF_*).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from tidemark.errors import USAGE, LabError

if TYPE_CHECKING:
    from tidemark.trace.format import Reader

STEP_NS = 100_000
RUNS_AT_ONCE = 1 << 16
DEFAULT_REFERENCES = 200_000
MAX_REFERENCES = 1 << 30
MAX_PAGE = (1 << 32) - 1
TRACE = "trace.tmt"  # in the folder of `tidemark trace record`
OF_FILE, BY_CALL, LOADS, FETCHES = 1, 2, 4, 8
KINDS_OF_USE = {
    "": 0,
    "l": LOADS,
    "f": OF_FILE | LOADS,
    "F": OF_FILE,
    "x": OF_FILE | LOADS | FETCHES,
    "r": OF_FILE | BY_CALL | LOADS,
    "w": OF_FILE | BY_CALL,
}
USES_IN_TRACE = "xfFFrw"  # of pages of files, by kind (tidemark.trace.ALL_KINDS)
SYNTAX = (
    'page numbers ("1 2 3 4 1 2 5", "1-9 3"; with a letter, "l3" only loads; of a file, "f3" loads, "F3" stores, "x3" '
    'fetches text where it is mapped, "r3" and "w3" read and write), a file of them, a trace (.tmt, or the folder of '
    "`tidemark trace record`), the name of a standard string, or KIND:PAGES[,refs=N][,seed=S] with a kind of loop, "
    "random, zipf, scan, phases, correlated, pools"
)


class References(Protocol):
    """A string that can be traversed any number of times."""

    @property
    def name(self) -> str:
        """The string's name."""
        ...

    @property
    def nr_pages(self) -> int:
        """Distinct pages."""
        ...

    @property
    def nr_references(self) -> int:
        """Length of the string."""
        ...

    def runs(self) -> Iterator[np.ndarray]:
        """Pieces u32[n, 3]: page, references, nanoseconds; with 0 references, a kind instead of a page."""
        ...


@dataclass(frozen=True)
class Mixed:
    """A string of several kinds of references: rows kind, page (u32[n, 2]), each one reference of `step_ns`."""

    name: str
    uses: np.ndarray
    step_ns: int = STEP_NS

    @property
    def nr_references(self) -> int:
        """Length of the string."""
        return len(self.uses)

    @property
    def nr_pages(self) -> int:
        """Distinct pages; pages of the process and of the file are different."""
        return len(np.unique(self.uses & (OF_FILE, MAX_PAGE), axis=0))

    def runs(self) -> Iterator[np.ndarray]:
        """See References."""
        for at in range(0, len(self.uses), RUNS_AT_ONCE):
            part = self.uses[at : at + RUNS_AT_ONCE]
            piece = np.empty((2 * len(part), 3), np.uint32)
            piece[0::2] = np.column_stack([part[:, 0], np.zeros((len(part), 2))])
            piece[1::2] = np.column_stack([part[:, 1], np.ones(len(part)), np.full(len(part), self.step_ns)])
            yield piece


def names_and_counts(pieces: Iterator[np.ndarray]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(u64[n], u32[n]) for each piece: page numbers, those of the file from 2^32 on; references."""
    kind = 0
    for piece in pieces:
        headers = piece[:, 1] == 0
        kinds = np.concatenate([[kind], piece[headers, 0]])[np.cumsum(headers)]
        kind = int(kinds[-1])
        names = piece[:, 0] + ((kinds & OF_FILE).astype(np.uint64) << np.uint64(32))
        yield names[~headers].astype(np.uint64), np.ascontiguousarray(piece[~headers, 1])


@dataclass(frozen=True)
class Given:
    """A string in memory: `pages` u32[n], with one reference of `step_ns` each."""

    name: str
    pages: np.ndarray
    step_ns: int = STEP_NS

    @property
    def nr_references(self) -> int:
        """Length of the string."""
        return len(self.pages)

    @property
    def nr_pages(self) -> int:
        """Distinct pages."""
        return len(np.unique(self.pages))

    def runs(self) -> Iterator[np.ndarray]:
        """See References."""
        for at in range(0, len(self.pages), RUNS_AT_ONCE):
            part = self.pages[at : at + RUNS_AT_ONCE]
            piece = np.empty((len(part), 3), np.uint32)
            piece[:, 0], piece[:, 1], piece[:, 2] = part, 1, self.step_ns
            yield piece


def with_kinds(runs: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """Rows of runs, u32[n, 3], with a row for the kind, u32[n], before each row with another kind."""
    changes = np.flatnonzero(np.diff(kinds, prepend=np.uint32(MAX_PAGE)))
    headers = np.zeros((len(changes), 3), np.uint32)
    headers[:, 0] = kinds[changes]
    return np.insert(runs, changes, headers, axis=0)


def kinds_of_use(of_file: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """u32[n]: the kinds in a string for references of a trace's kinds, to pages of a file or not (bool[n]). Those to
    the program's own pages always count as writes, as in a trace without files.
    """
    by_kind = np.array([KINDS_OF_USE[letter] for letter in USES_IN_TRACE], np.uint32)
    uses: np.ndarray = np.where(of_file, by_kind[kinds], 0).astype(np.uint32)
    return uses


class Traced:
    """One space of a trace, with all kinds of references. Its pages, including those of files, are numbered from 0 in
    order of first appearance.
    """

    def __init__(self, reader: Reader, space: str = "", name: str = "") -> None:
        """`space`: a name or number, "" for the one with the most references; `name`: of the string, "" for the file's.
        Raises LabError if there is no such space.
        """
        from tidemark.trace.spaces import choose_space

        self._reader = reader
        self._space = choose_space(reader, space)
        row = next(row for row in reader.spaces if row["space"] == self._space)
        self.name = name or reader.path.name
        self.nr_pages, self.nr_references = row["pages"], row["references"]

    def runs(self) -> Iterator[np.ndarray]:
        """See References."""
        from tidemark.curves.runs import Choice, Selection
        from tidemark.trace import FILE_PAGE

        selection = Selection(Choice(self._space), files=bool(self._reader.files))
        for batch in selection.batches(iter(self._reader)):
            rows = np.column_stack([batch.pages.astype(np.uint32), batch.counts, batch.steps])
            if self._reader.files:
                of_file = selection.pages()[1] >= FILE_PAGE
                rows = with_kinds(rows, kinds_of_use(of_file[batch.pages], batch.kinds))
            yield rows


def loop(pages: int, references: int, rng: np.random.Generator) -> np.ndarray:
    """0, 1, ... pages - 1, repeated: with one frame too few, LRU and FIFO fault every time."""
    return np.arange(references) % pages


def uniform(pages: int, references: int, rng: np.random.Generator) -> np.ndarray:
    """Every page equally likely every time: nothing can be learned, and only MIN does better than the rest."""
    return rng.integers(0, pages, references)


def zipf(pages: int, references: int, rng: np.random.Generator) -> np.ndarray:
    """Page k with probability ~ 1 / (k + 1), independently (G. Zipf, 1949): keeping the most frequent would be best."""
    cumulated = np.cumsum(1 / np.arange(1, pages + 1))
    pages_drawn: np.ndarray = np.searchsorted(cumulated, rng.random(references) * cumulated[-1])
    return pages_drawn


def scan(pages: int, references: int, rng: np.random.Generator) -> np.ndarray:
    """A tenth of the pages is hot, used at random by every second reference; the others are read one after the other,
    in a circle: pages used once must not push out the hot ones (J. Johnson and D. Shasha, "2Q", VLDB 1994).
    """
    hot = max(1, pages // 10)
    cold = max(1, pages - hot)
    string = rng.integers(0, hot, references)
    string[1::2] = hot + np.arange(references // 2) % cold
    return string


def phases(pages: int, references: int, rng: np.random.Generator) -> np.ndarray:
    """Twenty phases, each at random within its own tenth of the pages (A. Madison and A. Batson, CACM 19(5), 1976):
    what was used often in the last phase is useless in this one.
    """
    locality = max(1, pages // 10)
    length = -(-references // 20)
    starts = rng.integers(0, max(1, pages - locality + 1), 20)
    return np.repeat(starts, length)[:references] + rng.integers(0, locality, references)


def correlated(pages: int, references: int, rng: np.random.Generator) -> np.ndarray:
    """Bursts: a page is used four times, with one or two other pages between, and then at random. Half of the
    bursts go to a tenth of the pages. Counting uses one by one mistakes a burst for popularity (E. O'Neil, P. O'Neil,
    G. Weikum, "LRU-K", SIGMOD 1993).
    """
    bursts = -(-references // 4)
    hot = max(1, pages // 10)
    page = np.where(rng.random(bursts) < 0.5, rng.integers(0, hot, bursts), rng.integers(0, pages, bursts))
    when = np.arange(bursts)[:, None] * 4 + rng.integers(0, 3, (bursts, 4)) + np.array([0, 3, 6, 9])
    order = np.argsort(when, axis=None, kind="stable")
    return np.repeat(page, 4)[order][:references]


def pools(pages: int, references: int, rng: np.random.Generator) -> np.ndarray:
    """Two pools in turn, an index of 1 page in 101 and its records, each at random: a page of the index is used 100
    times as often as a record, but not much more recently (O'Neil, O'Neil and Weikum, section 4.1).
    """
    index = max(1, pages // 101)
    string = rng.integers(0, index, references)
    string[1::2] = rng.integers(index, max(index + 1, pages), references // 2)
    return string


KINDS: dict[str, Callable[[int, int, np.random.Generator], np.ndarray]] = {
    "loop": loop,
    "random": uniform,
    "zipf": zipf,
    "scan": scan,
    "phases": phases,
    "correlated": correlated,
    "pools": pools,
}


@dataclass(frozen=True)
class Standard:
    """A string of the standard set: how it is made, its numbers of frames, and what it asks of a policy."""

    made: str
    frames: tuple[int, ...]
    asks: str


STANDARD = {
    "belady": Standard("1 2 3 4 1 2 5 1 2 3 4 5", (3, 4), "more frames, more faults? (Belady and others, 1969)"),
    "loop": Standard("loop:110", (55, 100, 105), "a loop just larger than memory"),
    "scan": Standard("scan:1000", (110, 250, 500), "pages used once among hot ones"),
    "zipf": Standard("zipf:1000", (50, 200, 500), "popular and unpopular pages"),
    "phases": Standard("phases:1000", (50, 100, 150), "localities that change"),
    "random": Standard("random:400", (100, 200, 300), "nothing to learn"),
    "correlated": Standard("correlated:1000", (50, 200, 500), "bursts of uses that say nothing"),
    "btree": Standard("btree 2048 2000", (32, 64, 128, 256), "a program: the workload of that name, recorded in QEMU"),
}


def word_uses(word: str, where: str) -> np.ndarray:
    """The references of one word, a number or a range with or without a letter: rows of kind and page."""
    match = re.fullmatch(r"([A-Za-z]?)(\d{1,10})(?:-(\d{1,10}))?", word)
    first, last = (int(match[2]), int(match[3] or match[2])) if match and match[1] in KINDS_OF_USE else (0, -1)
    if not match or not first <= last <= MAX_PAGE:
        raise LabError(f"{where}: {word[:40]!r} is not a page number or range; a string is {SYNTAX}")
    pages = np.arange(first, last + 1, dtype=np.uint32)
    return np.column_stack([np.full_like(pages, KINDS_OF_USE[match[1]]), pages])


def uses_of(text: str, where: str) -> np.ndarray:
    """u32[n, 2]: kinds and pages, from numbers and ranges such as 1-5 between blanks or commas; # begins a comment.
    Raises LabError, which names the wrong word of `where`.
    """
    parts = [
        word_uses(word, f"{where}, line {number}")
        for number, line in enumerate(text.splitlines(), 1)
        for word in re.split(r"[\s,]+", line.partition("#")[0])
        if word
    ]
    if not parts:
        raise LabError(f"{where}: there is no page number in it; a string is {SYNTAX}")
    return np.concatenate(parts)


def from_text(text: str, where: str) -> np.ndarray:
    """u32[n]: the pages of a string that has page numbers only. Raises LabError for any other string."""
    if re.fullmatch(r"[\d\s]+", text) and (numbers := text.split()) and max(map(len, numbers)) < len(str(MAX_PAGE)):
        return np.array(numbers, np.uint32)  # many at once
    uses = uses_of(text, where)
    if uses[:, 0].any():
        raise LabError(f"{where}: only page numbers are allowed here, no other kinds of references")
    return np.ascontiguousarray(uses[:, 1])


def written_out(name: str, text: str, where: str, step_ns: int) -> Given | Mixed:
    """The string of references in a text."""
    if re.search(r"(?m)^[^#]*[A-Za-z]", text):
        return Mixed(name, uses_of(text, where), step_ns)
    return Given(name, from_text(text, where), step_ns)


def generated(text: str) -> np.ndarray:
    """u32[refs] for KIND:PAGES[,refs=N][,seed=S]: the same text gives the same string. Raises LabError otherwise."""
    match = re.fullmatch(r"(\w+):(\d+)((?:,(?:refs|seed)=\d+)*)", text)
    if not match or match[1] not in KINDS:
        raise LabError(f"{text} is not a string of references: give {SYNTAX}", USAGE)
    options = dict(word.split("=") for word in match[3].split(",") if word)
    pages, references = int(match[2]), int(options.get("refs", DEFAULT_REFERENCES))
    if not 1 <= pages <= MAX_REFERENCES or not 1 <= references <= MAX_REFERENCES:
        raise LabError(f"{text}: 1 to {MAX_REFERENCES:,} pages and references", USAGE)
    rng = np.random.default_rng(int(options.get("seed", 1)))
    return KINDS[match[1]](pages, references, rng).astype(np.uint32)


def find(text: str, space: str = "", step_ns: int = STEP_NS) -> References:
    """The string that `text` means (SYNTAX); `space`: the space of a trace; `step_ns`: time of a reference of any other
    string. Raises LabError if there is no such string.
    """
    path = Path(text)
    if not text.strip():
        raise LabError(f"which string of references? Give {SYNTAX}", USAGE)
    if text in STANDARD:
        return standard(text, step_ns)
    if re.fullmatch(r"(\w?[\d,-]+\s*)+", text.lstrip()):
        return written_out(" ".join(text.split()), text, "the string", step_ns)
    if re.match(r"\w+:\d", text):
        return Given(text, generated(text), step_ns)
    if (path / TRACE).is_file():
        path = path / TRACE
    if not path.is_file():
        raise LabError(f"{text}: there is no such file; a string of references is {SYNTAX}")
    if path.suffix == ".tmt":
        from tidemark.trace.format import Reader

        return Traced(Reader(path), space)
    return written_out(path.name, path.read_text("utf-8", "replace"), text, step_ns)


def standard(name: str, step_ns: int = STEP_NS) -> References:
    """A string of the standard set."""
    made = STANDARD[name].made
    if ":" in made:
        return Given(name, generated(made), step_ns)
    if made[0].isdigit():
        return Given(name, from_text(made, name), step_ns)
    return recorded(name, made)


def recorded(name: str, command: str) -> References:
    """The references of a program in a fresh guest, recorded once for each image (an exact run is always the same)."""
    import tempfile

    from tidemark.files import copy_atomically
    from tidemark.machine import qemu
    from tidemark.trace.format import Reader
    from tidemark.trace.record import record

    kept = qemu.ROOT / f"build/vmsim/{name}.tmt"
    parts = [qemu.ROOT / part for part in (qemu.KERNEL, qemu.INITRD)]
    if not kept.exists() or any(not part.exists() or part.stat().st_mtime > kept.stat().st_mtime for part in parts):
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
            made = record(qemu.Settings(run=command, mem="64M"), Path(folder, "run"))
            copy_atomically(made.trace, kept)
    return Traced(Reader(kept), command.split()[0], name)
