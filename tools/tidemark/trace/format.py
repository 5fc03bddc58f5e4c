"""The trace file: every reference of one or more processes, in order, by page.

docs/reference/trace-format.md describes each byte.

A trace is a sequence of runs: consecutive references of the same kind to the same page of the same address space. The
file is a header, blocks of up to BLOCK_RUNS runs, a tail (table of spaces, totals) and a trailer with the offset of the
tail. Pages are numbered in order of first appearance; a block has the pages that are new in it, followed by four
columns of runs. Each column is split into planes of bytes, lowest first, and the block is compressed with zstandard:
upper planes are nearly all zero and cost nothing, and decoding takes a few nanoseconds per run.

The file has two states: NAME.partial while it is written, NAME once the trailer is written (see output.py). A reader
trusts nothing: each section has its own checksum, sizes are bounded before memory is allocated, numbers are checked
before they are used as indices, and the totals of the tail must be right.
"""

from __future__ import annotations

import contextlib
import json
import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple
from zlib import crc32

import numpy as np
import zstandard

from tidemark.errors import NO_SPACE, LabError
from tidemark.output import Output
from tidemark.trace import ALL_KINDS, KINDS, MAX_SPACES

SUFFIX = ".tmt"
MAGIC = b"\x89TMT\r\n\x1a\n"
VERSIONS = (1, 2)  # without and with pages of files
START = struct.Struct("<8sI")
SECTION = struct.Struct("<4sIIII")  # tag, runs, new pages, bytes of content, checksum of content
CHECKSUM = struct.Struct("<I")
TRAILER = struct.Struct("<Q8s")
END = b"TMT END\n"
META, BLOCK, TAIL = b"META", b"BLCK", b"TAIL"

BLOCK_RUNS = 1 << 16
MAX_BLOCK_RUNS = 1 << 20
MAX_PAGE = (1 << 52) - 1
LEVEL = 3
APPENDED = (np.uint16, np.uint64, np.uint8, np.uint32, np.uint32)
NEW_PAGE_COLUMNS = (np.dtype("<u2"), np.dtype("<u8"))
RUN_COLUMNS = (np.dtype("<u4"), np.dtype("u1"), np.dtype("<u4"), np.dtype("<u4"))
NEW_PAGE_BYTES = sum(column.itemsize for column in NEW_PAGE_COLUMNS)
RUN_BYTES = sum(column.itemsize for column in RUN_COLUMNS)


class TraceError(LabError):
    """A trace cannot be read; the message says where and why."""


class Block(NamedTuple):
    """Runs in order: `ids`, `kinds`, `counts` (references) and `insns` (instructions begun since the space's previous
    run), of equal length; and the pages that are new in this block, whose ids follow those of earlier blocks.
    """

    new_spaces: np.ndarray
    new_pages: np.ndarray
    ids: np.ndarray
    kinds: np.ndarray
    counts: np.ndarray
    insns: np.ndarray


def to_planes(column: np.ndarray) -> bytes:
    """A column as planes of bytes: all lowest bytes, then all second ones, and so on."""
    planes = []
    top, number = int(column.max(initial=0)), column.dtype.type
    for shift in range(0, 8 * column.itemsize, 8):  # nearly all upper planes are zero, and are skipped
        empty = not top >> shift
        planes.append(bytes(len(column)) if empty else (column >> number(shift)).astype(np.uint8).tobytes())
    return b"".join(planes)


def from_planes(data: bytes, offset: int, length: int, dtype: np.dtype) -> np.ndarray:
    """The column of `length` numbers whose planes begin at `offset`."""
    planes = np.frombuffer(data, np.uint8, length * dtype.itemsize, offset).reshape(dtype.itemsize, length)
    column: np.ndarray = planes[0].astype(dtype)
    for number, plane in enumerate(planes[1:], 1):
        if plane.any():
            column |= plane.astype(dtype) << dtype.type(8 * number)
    return column


def encode_block(block: Block) -> bytes:
    """The content of a block's section."""
    return zstandard.compress(b"".join(to_planes(column) for column in block), LEVEL)


def decode_block(content: bytes, runs: int, new: int) -> Block:
    """The inverse of `encode_block`. Raises ValueError if the content does not match the two lengths."""
    size = runs * RUN_BYTES + new * NEW_PAGE_BYTES
    if runs > MAX_BLOCK_RUNS or new > runs or zstandard.frame_content_size(content) != size:
        raise ValueError("a block's sizes contradict each other")
    data = zstandard.decompress(content)
    columns, offset = [], 0
    for length, dtypes in ((new, NEW_PAGE_COLUMNS), (runs, RUN_COLUMNS)):
        for dtype in dtypes:
            columns.append(from_planes(data, offset, length, dtype))
            offset += length * dtype.itemsize
    return Block(*columns)


class Writer:
    """Writes a trace as a stream, with memory bounded by the number of distinct pages. The file gets its name only in
    `close`; without that, NAME.partial is left, which no reader accepts as a trace.
    """

    def __init__(self, path: str | Path, meta: dict[str, Any]) -> None:
        """`meta` is any JSON object that says where the trace comes from. Raises LabError if the file cannot be
        created. After `close`, `spaces` and `totals` are those that a Reader would find."""
        from tidemark.trace.pages import Counters, PageTable  # numba is slow to load, and a Reader does not need it

        self.path = Path(path)
        self._pages = PageTable()
        self._counters = Counters()
        self._columns = tuple(np.empty(BLOCK_RUNS, dtype) for dtype in APPENDED)
        self._filled = 0
        self.spaces: list[dict[str, Any]] = []
        self.totals: dict[str, Any] = {}
        self.output = Output(self.path)
        self._file = self.output.file
        self._write(START.pack(MAGIC, VERSIONS[0]))
        self._section(META, json.dumps(meta).encode())

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: type | None, *_: object) -> None:
        unfinished = not self._file.closed
        with contextlib.suppress(OSError):
            self._file.close()
        if unfinished and kind is None:
            raise RuntimeError("a trace was left without close()")

    def append(
        self, spaces: np.ndarray, pages: np.ndarray, kinds: np.ndarray, counts: np.ndarray, insns: np.ndarray
    ) -> None:
        """Append runs in order: spaces u16[n], pages u64[n] below 2^52, kinds u8[n], counts u32[n] of at least 1, insns
        u32[n], of equal length. Raises ValueError if they are not, LabError if the disk is full.
        """
        given = (spaces, pages, kinds, counts, insns)
        columns = tuple(np.asarray(column, dtype) for column, dtype in zip(given, APPENDED, strict=True))
        length = len(columns[0])
        if any(len(column) != length for column in columns):
            raise ValueError("columns of different length")
        if length and (columns[1].max() > MAX_PAGE or columns[2].max() >= len(ALL_KINDS) or not columns[3].min()):
            raise ValueError("a page of 2^52 or above, an unknown kind, or a run of no references")
        done = 0
        while done < length:
            take = min(length - done, BLOCK_RUNS - self._filled)
            for buffer, column in zip(self._columns, columns, strict=True):
                buffer[self._filled : self._filled + take] = column[done : done + take]
            self._filled += take
            done += take
            if self._filled == BLOCK_RUNS:
                self._write_block()

    def close(self, spaces: Iterable[dict[str, Any]] = (), files: Sequence[dict[str, Any]] = ()) -> None:
        """Write the pending runs and the tail, and give the file its name. `spaces` are rows {"space": n, "name": ...,
        ...}; each gets its "runs", "references", "instructions" and "pages", and a space without a row gets one.
        `files` are rows {"store": n, ...}: with them, pages from FILE_PAGE on are of files, and system calls may use
        them. Raises ValueError if a space has two rows, LabError if the disk is full.
        """
        given = list(spaces)
        rows = {row["space"]: row for row in given}
        if len(rows) != len(given):
            raise ValueError("two rows for one space")
        self._write_block()
        tail: dict[str, Any] = {
            "spaces": self._space_table(rows),
            "totals": self._totals(ALL_KINDS if files else KINDS),
        }
        tail |= {"files": list(files)} if files else {}
        with self._telling_why():
            offset = self._file.tell()
        self.spaces, self.totals = tail["spaces"], tail["totals"]
        self._section(TAIL, json.dumps(tail).encode())
        self._write(TRAILER.pack(offset, END))
        with self._telling_why():
            self._file.seek(0)
            self._file.write(START.pack(MAGIC, VERSIONS[bool(files)]))
            self._file.flush()
        self.output.close()

    def _write_block(self) -> None:
        if not self._filled:
            return
        spaces, pages, kinds, counts, insns = (column[: self._filled] for column in self._columns)
        known = self._pages.known
        ids = self._pages.number(spaces, pages)
        self._counters.add(spaces, kinds, counts, insns)
        new = slice(known, self._pages.known)
        block = Block(self._pages.spaces[new], self._pages.pages[new], ids, kinds, counts, insns)
        self._section(BLOCK, encode_block(block), self._filled, len(block.new_pages))
        self._filled = 0

    def _space_table(self, rows: dict[int, dict[str, Any]]) -> list[dict[str, Any]]:
        pages = np.bincount(self._pages.spaces[: self._pages.known], minlength=MAX_SPACES)
        counters = self._counters
        used = np.flatnonzero(counters.runs).tolist()
        return [
            rows.get(space, {"space": space})
            | {
                "runs": int(counters.runs[space]),
                "references": int(counters.references[space].sum()),
                "instructions": int(counters.instructions[space]),
                "pages": int(pages[space]),
            }
            for space in sorted({*rows, *used})
        ]

    def _totals(self, kinds: tuple[str, ...]) -> dict[str, Any]:
        by_kind = self._counters.references.sum(axis=0).tolist()
        if any(by_kind[len(kinds) :]):
            raise ValueError("references by system calls in a trace without files")
        return {
            "runs": int(self._counters.runs.sum()),
            "references": sum(by_kind),
            "instructions": int(self._counters.instructions.sum()),
            "pages": self._pages.known,
            "kinds": dict(zip(kinds, by_kind)),
        }

    def _section(self, tag: bytes, content: bytes, runs: int = 0, new: int = 0) -> None:
        head = SECTION.pack(tag, runs, new, len(content), crc32(content))
        self._write(head + CHECKSUM.pack(crc32(head)) + content)

    def _write(self, data: bytes) -> None:
        with self._telling_why():
            self._file.write(data)

    @contextlib.contextmanager
    def _telling_why(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or error
            raise LabError(
                f"{self.path}: cannot write the trace: {reason}; make room or choose another place", NO_SPACE
            ) from error


class Reader:
    """A trace from a file: `meta`, `spaces`, `totals` and `files` at once; iterate for the runs in blocks, as often as
    needed. `files` are rows {"store": n, ...}; if there are any, pages from FILE_PAGE on are pages of files.

    The constructor raises TraceError if the file is not a whole trace; iterating does if there is damage inside.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            with self.path.open("rb") as file:
                self._read_ends(file, self.path.stat().st_size)
        except OSError as error:
            raise TraceError(f"{self.path}: cannot read the trace: {error.strerror or error}") from error

    def __iter__(self) -> Iterator[Block]:
        known = runs = references = 0
        with self.path.open("rb") as file:
            file.seek(self._blocks_at)
            while (at := file.tell()) < self._tail_at:
                head, content = self._section(file, BLOCK)
                block = self._decode(at, head, content)
                known += len(block.new_pages)
                runs += len(block.ids)
                references += int(block.counts.sum(dtype=np.uint64))
                self._check_numbers(at, block, known)
                yield block
        if (runs, references, known) != tuple(self.totals.get(name) for name in ("runs", "references", "pages")):
            raise self._damaged(self._tail_at, "the totals are wrong")

    def runs(self) -> Iterator[tuple[np.ndarray, ...]]:
        """The columns that `Writer.append` was given: spaces, pages, kinds, counts, insns, in batches."""
        known_spaces, known_pages = np.empty(0, np.uint16), np.empty(0, np.uint64)
        known = 0
        for block in self:
            after = known + len(block.new_pages)
            if after > len(known_pages):
                known_spaces, known_pages = np.resize(known_spaces, 2 * after), np.resize(known_pages, 2 * after)
            known_spaces[known:after], known_pages[known:after] = block.new_spaces, block.new_pages
            known = after
            yield known_spaces[block.ids], known_pages[block.ids], block.kinds, block.counts, block.insns

    def _read_ends(self, file: IO[bytes], size: int) -> None:
        start = file.read(START.size)
        if start[: len(MAGIC)] != MAGIC:
            what = "is empty" if not size else "is not a Tidemark trace"
            raise TraceError(f"{self.path} {what}; make one with `tidemark trace record` or `tidemark trace import`")
        if len(start) < START.size or size < START.size + TRAILER.size:
            raise self._cut_off(size)
        version = START.unpack(start)[1]
        if version not in VERSIONS:
            raise TraceError(
                f"{self.path}: version {version} of the trace format, this Tidemark reads up to {VERSIONS[-1]};"
                " record or import it again"
            )
        self._nr_kinds = len(ALL_KINDS if version == VERSIONS[1] else KINDS)
        self._tail_at = self._find_tail(file, size)
        file.seek(START.size)
        self.meta: dict[str, Any] = self._json(file, META, ())
        self._blocks_at = file.tell()
        file.seek(self._tail_at)
        tail = self._json(file, TAIL, ("spaces", "totals", "files") if version == VERSIONS[1] else ("spaces", "totals"))
        if file.tell() != size - TRAILER.size:
            raise self._damaged(file.tell(), "the tail does not end where the file does")
        self.spaces: list[dict[str, Any]] = tail["spaces"]
        self.totals: dict[str, Any] = tail["totals"]
        self.files: list[dict[str, Any]] = tail["files"] if version == VERSIONS[1] else []

    def _find_tail(self, file: IO[bytes], size: int) -> int:
        file.seek(size - TRAILER.size)
        offset: int
        offset, end = TRAILER.unpack(file.read(TRAILER.size))
        if end != END:
            raise self._cut_off(size)
        if not START.size <= offset < size - TRAILER.size:
            raise self._damaged(size - TRAILER.size, "the trailer points outside the file")
        return offset

    def _section(self, file: IO[bytes], tag: bytes) -> tuple[tuple[int, int], bytes]:
        """((runs, new pages), content) of the section at the file's position."""
        at = file.tell()
        head = file.read(SECTION.size + CHECKSUM.size)
        if len(head) < SECTION.size + CHECKSUM.size or CHECKSUM.unpack(head[SECTION.size :])[0] != crc32(
            head[: SECTION.size]
        ):
            raise self._damaged(at, "the head of a section has a wrong checksum")
        found, runs, new, length, checksum = SECTION.unpack(head[: SECTION.size])
        if found != tag:
            raise self._damaged(at, f"a section {tag.decode()} was expected, not {found!r}")
        content = file.read(length)
        if len(content) != length or crc32(content) != checksum:
            raise self._damaged(at, "the content of a section has a wrong checksum")
        return (runs, new), content

    def _json(self, file: IO[bytes], tag: bytes, required: tuple[str, ...]) -> dict[str, Any]:
        at = file.tell()
        try:
            value = json.loads(self._section(file, tag)[1])
        except ValueError as error:
            raise self._damaged(at, f"the JSON does not parse ({error})") from error
        if not isinstance(value, dict) or any(name not in value for name in required):
            raise self._damaged(at, "the JSON lacks a required member")
        return value

    def _decode(self, at: int, head: tuple[int, int], content: bytes) -> Block:
        try:
            return decode_block(content, *head)
        except (ValueError, zstandard.ZstdError) as error:
            raise self._damaged(at, str(error)) from error

    def _check_numbers(self, at: int, block: Block, known: int) -> None:
        if len(block.ids) and (
            block.ids.max() >= known or block.kinds.max() >= self._nr_kinds or not block.counts.min()
        ):
            raise self._damaged(at, "a run has an unknown page or kind, or no references")

    def _cut_off(self, size: int) -> TraceError:
        return TraceError(
            f"{self.path}: ends at byte {size} without its end record: the file was cut off, or its writer was"
            " interrupted; record or import it again"
        )

    def _damaged(self, at: int, what: str) -> TraceError:
        return TraceError(f"{self.path}: damaged at byte {at}: {what}; copy, record or import it again")
