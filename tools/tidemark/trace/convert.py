"""Traces from foreign files, and foreign files from traces.

The format of an input is found from its first bytes; `-` is the standard input, and gzip is undone on the way. A new
file gets its name only when it is whole; until then it is NAME.partial, which is removed if an error occurs.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from io import BufferedReader, TextIOWrapper
from pathlib import Path
from typing import Any, Protocol, TextIO, cast

import numpy as np

from tidemark import output
from tidemark.errors import USAGE, LabError
from tidemark.trace import ALL_KINDS, lackeyml
from tidemark.trace.format import MAGIC, Reader, TraceError, Writer
from tidemark.trace.lackeyml import Lackeyml

STDIN = "-"
GZIP = b"\x1f\x8b"
UTF8_MARK = b"\xef\xbb\xbf"
CSV_HEAD = "space,page,kind,count,insns\n"

Progress = Callable[[int, "int | None"], None]
Batch = tuple[np.ndarray, ...]


def no_progress(done: int, total: int | None) -> None:
    """Ignores the progress."""


class Source:
    """A file to import: `stream` of its decompressed bytes; `name`; `total` bytes of the opened file, or None."""

    def __init__(self, raw: BufferedReader[Any], name: str) -> None:
        self.name = name
        self._raw = raw
        about = os.fstat(raw.fileno())
        self.total = about.st_size if stat.S_ISREG(about.st_mode) else None
        packed = raw.peek(len(GZIP)).startswith(GZIP)
        self.stream: BufferedReader[Any] = BufferedReader(gzip.GzipFile(fileobj=raw)) if packed else raw

    def done(self) -> int:
        """Bytes read so far, 0 if unknown."""
        return self._raw.tell() if self.total is not None else 0


@contextlib.contextmanager
def opened(path: str) -> Iterator[Source]:
    """The file or the standard input. Raises TraceError if it cannot be read or decompressed."""
    name = "the standard input" if path == STDIN else path
    try:
        with contextlib.nullcontext(sys.stdin.buffer) if path == STDIN else Path(path).open("rb") as raw:
            yield Source(cast("BufferedReader[Any]", raw), name)
    except (EOFError, OSError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or f"{error}; it is cut off or damaged"
        raise TraceError(f"{name}: cannot be read: {reason}") from error


class References(Protocol):
    """The interface of a reader of a foreign format: batches of references, and afterwards facts about the process."""

    source: str
    lines: int
    foreign: int

    def __iter__(self) -> Iterator[Batch]: ...

    def space(self) -> dict[str, Any]: ...


def references(source: Source, skip_foreign: bool, partial: bool) -> References:
    """The reader for the format of the first bytes. Raises TraceError if the file is empty or a Tidemark trace."""
    from tidemark.trace.lackey import LackeyText

    first = source.stream.peek(len(MAGIC)).removeprefix(UTF8_MARK)
    if not first:
        raise TraceError(f"{source.name} is empty; record with valgrind --tool=lackey --trace-mem=yes")
    if first.startswith(MAGIC):
        raise TraceError(f"{source.name} is a Tidemark trace already; see `tidemark trace info`")
    if first.lstrip().startswith(b"<"):
        return Lackeyml(source.stream, source.name)
    return LackeyText(source.stream, source.name, skip_foreign, partial)


def import_file(
    path: str, out: Path, skip_foreign: bool = False, partial: bool = False, progress: Progress = no_progress
) -> dict[str, Any]:
    """Make the trace `out` of Lackey text or lackeyml; returns {"source", "lines", "foreign", "space", "totals"}.

    `skip_foreign` and `partial` are those of LackeyText. Raises TraceError if the input is bad, LabError if `out`
    cannot be written; then `out` is unchanged.
    """
    from tidemark.trace.pages import RunBuilder

    builder = RunBuilder()
    with opened(path) as source:
        reader = references(source, skip_foreign, partial)
        with new_trace(out, {"source": reader.source, "file": source.name}) as writer:
            for batch in reader:
                append(writer, builder.add(*batch))
                progress(source.done(), source.total)
            append(writer, builder.finish())
            writer.close([reader.space()])
    found = {"source": reader.source, "lines": reader.lines, "foreign": reader.foreign}
    return found | {"space": writer.spaces[0], "totals": writer.totals}


def append(writer: Writer, columns: Batch) -> None:
    """Append the runs of the only space."""
    writer.append(np.zeros(len(columns[0]), np.uint16), *columns)


@contextlib.contextmanager
def new_trace(out: Path, meta: dict[str, Any]) -> Iterator[Writer]:
    """A Writer that leaves no file if an error occurs."""
    writer = Writer(out, meta)
    try:
        with writer:
            yield writer
    except BaseException:
        writer.output.drop()
        raise


@contextlib.contextmanager
def new_text(out: Path) -> Iterator[TextIO]:
    """A text file that gets its name only when it is whole."""
    with output.written(out) as made, output.telling(out):
        text = TextIOWrapper(made.file, encoding="utf-8", newline="\n")
        yield text
        text.detach()


def chosen_space(reader: Reader, space: int | None) -> dict[str, Any]:
    """The row of the space to export. Raises LabError if the choice is ambiguous or wrong."""
    rows = [row for row in reader.spaces if space in (None, row["space"])]
    if len(rows) != 1:
        there = ", ".join(f"{row['space']} ({row.get('name', '')})" for row in reader.spaces) or "none"
        raise LabError(f"lackeyml holds one process: choose one with --space; {reader.path} has {there}", USAGE)
    return rows[0]


def tracked(reader: Reader, progress: Progress) -> Iterator[Batch]:
    """The trace's columns; reports the number of runs as progress."""
    done = 0
    for batch in reader.runs():
        yield batch
        done += len(batch[0])
        progress(done, reader.totals["runs"])


def export_lackeyml(reader: Reader, out: Path, space: int | None, progress: Progress = no_progress) -> dict[str, Any]:
    """Write one space as lackeyml. Returns {"instructions": of the space, "carried": those the document shows}. Raises
    LabError if the trace has pages of files."""
    if reader.files:
        raise LabError(f"{reader.path}: lackeyml has no pages of files; --out NAME.csv writes the runs as CSV", USAGE)
    row = chosen_space(reader, space)
    command = row.get("command") or row.get("name") or ""
    with new_text(out) as file:
        carried = lackeyml.export(tracked(reader, progress), row["space"], command, file)
    return {"instructions": row["instructions"], "carried": carried}


def export_csv(reader: Reader, out: Path, space: int | None, progress: Progress = no_progress) -> None:
    """Write the runs of one space, or of all, as CSV with a header line."""
    with new_text(out) as file:
        file.write(CSV_HEAD)
        for batch in tracked(reader, progress):
            mine = slice(None) if space is None else batch[0] == space
            rows = zip(*(column[mine].tolist() for column in batch), strict=True)
            file.writelines(f"{s},{page},{ALL_KINDS[kind]},{count},{insns}\n" for s, page, kind, count, insns in rows)
