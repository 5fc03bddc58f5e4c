"""A run's event stream: switches, faults, requests, evictions and admissions, each at its virtual nanosecond.

QEMU's plugin writes it (tools/plugin/events.c) and the guest does nothing for it, so the run is the same, byte for
byte. `tidemark run --events` makes FILE in a result's folder: columns as numpy's savez_compressed writes them.
docs/reference/events.md says what the columns mean.
"""

from __future__ import annotations

import enum
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tidemark import output
from tidemark.errors import LabError
from tidemark.files import suffix
from tidemark.machine import plugin

FILE, RAW = "events.npz", "events.raw"
VERSION = 1
SYMBOLS = {"current": "current_task", "zero": "clock_zero", "pages": "mem_map"}
CLOCK = {"main": "kernel_main", "clock": "clock_start"}
# Faults that come in the middle of an instruction: division, segments, protection, pages, alignment.
TRAPS = tuple(f"trap_{vector}" for vector in (0, 10, 11, 12, 13, 14, 17))
RECORD = np.dtype(
    [("ns", "<u8"), ("kind", "<u4"), ("pid", "<i4")]
    + [(name, "<u4") for name in ("page", "frame", "how", "other", "store", "number")]
)
AT_ONCE = 1 << 16  # rows that are Python objects at the same time
SMALL = {"kind": "u1", "pid": "<i2"}  # columns that are stored smaller


class Kind(enum.IntEnum):
    """The kinds of events, as in tools/plugin/events.c."""

    TASK, SWITCH, WAKE, FAULT, FAULT_END, REQUEST, DONE, SELECT = range(8)
    PUTBACK, EVICT, DROP, INSERT, REMOVE, HOLD, ADMIT, USE = range(8, 16)


class Account(enum.IntEnum):
    """Where a task's time goes: enum acct of the kernel."""

    USER, KERNEL, READY, PAGEWAIT, ADMIT, SLEEP = range(6)


class Why(enum.IntEnum):
    """Why reclaim ran: the reason in `how` of SELECT and EVICT, in bits 8 and 9."""

    KSWAPD, DIRECT, CAP, TRIM = range(4)


class In(enum.IntEnum):
    """How a page came: enum vm_in of the policy interface."""

    FAULT, PREFETCH, CLAIM, READ, ADOPT = range(5)


class Out(enum.IntEnum):
    """How a page was taken from the policy: enum vm_out."""

    FREED, PINNED, SWITCH, MOVED = range(4)


FAILED, MINOR, MAJOR = range(3)  # `how` of FAULT_END
EVICTS = 0  # enum vm_act: VM_EVICT, in the lowest bits of `how` of SELECT
SWAP = 1  # `store` of pages in the swap area; files have larger numbers


class Row(NamedTuple):
    """One event: the members of RECORD."""

    ns: int
    kind: int
    pid: int
    page: int
    frame: int
    how: int
    other: int
    store: int
    number: int

    @property
    def name(self) -> str:
        """The name in a TASK event."""
        words = np.array([self.page, self.frame, self.how, self.other], "<u4")
        return words.tobytes().split(b"\0")[0].decode("ascii", "replace")

    @property
    def why(self) -> Why:
        """Why reclaim ran, of a SELECT or EVICT."""
        return Why(self.how >> 8 & 3)

    @property
    def priority(self) -> int:
        """The priority of the scan, of a SELECT or EVICT: 12 calm, 0 desperate."""
        return self.how >> 4 & 15


@dataclass(frozen=True)
class Events:
    """One run's events in order. `rows` is a structured array with the members of RECORD; `whole`: the run came to its
    end."""

    rows: np.ndarray
    whole: bool

    def __len__(self) -> int:
        return len(self.rows)

    def of(self, *kinds: Kind) -> np.ndarray:
        """int[n]: the places of the events of these kinds."""
        return np.flatnonzero(np.isin(self.rows["kind"], kinds))

    def each(self, places: np.ndarray) -> Iterator[Row]:
        """The events at these places, in order."""
        for first in range(0, len(places), AT_ONCE):
            yield from map(Row._make, self.rows[places[first : first + AT_ONCE]].tolist())

    def row(self, place: int) -> Row:
        """The event at a place."""
        return Row._make(self.rows[place].item())

    def names(self) -> dict[int, str]:
        """The last name of each task, by pid."""
        return {row.pid: row.name for row in self.each(self.of(Kind.TASK))}


def flags(image: Path, folder: Path, after: int | None = None) -> str:
    """The addition to the settings' qemu_flags for a run into `folder`, which gets RAW. `after`: also record the first
    use of each frame once there are that many events, from 1 on. Raises LabError as tidemark.machine.plugin.flags."""
    wanted = SYMBOLS | CLOCK | ({} if after is None else {"note_io": "cache_note_io"})
    places = dict(zip(wanted, map(hex, plugin.addresses(image, *wanted.values()))))
    if after is not None:
        places["after"] = str(after)
    traps = ":".join(map(hex, plugin.addresses(image, *TRAPS)))
    out = folder.absolute() / RAW
    return plugin.flags("events", out=out, symbols=plugin.symbols(image), faults=traps, **places)


def rows_of(raw: Path) -> np.ndarray:
    """The records in a file of the plugin, also an incomplete one."""
    size = raw.stat().st_size // RECORD.itemsize
    return np.fromfile(raw, RECORD, size)


def pack(folder: Path, whole: bool) -> Path | None:
    """Make FILE of RAW in a folder, and remove RAW. `whole`: the run came to its end. Returns FILE, or None if the
    plugin wrote nothing. Raises LabError if it cannot be written."""
    raw = folder / RAW
    partial = raw.with_name(raw.name + ".partial")
    source = raw if raw.exists() else partial
    if not source.exists():
        return None
    write(folder / FILE, Events(rows_of(source), whole and source is raw))
    source.unlink()
    return folder / FILE


def write(path: Path, events: Events) -> None:
    """Write events to a file, in one step. Raises LabError if it cannot be written."""
    columns = {name: events.rows[name].astype(SMALL.get(name, "<u4")) for name in RECORD.names or () if name != "ns"}
    columns["ns"] = np.diff(events.rows["ns"].astype("<i8"), prepend=0)
    columns |= {"version": np.array(VERSION), "whole": np.array(events.whole)}
    with output.written(path, suffix()) as out, output.telling(path):
        np.savez_compressed(out.file, allow_pickle=False, **columns)


def read(folder: Path) -> Events | None:
    """The events of a result's folder; None if none were recorded. Raises LabError if the file is cut short, malformed
    or of another version."""
    path = folder / FILE
    if not path.exists():
        return None
    try:
        with np.load(path, allow_pickle=False) as stored:
            version = int(stored["version"])
            if version != VERSION:
                raise LabError(f"{path} is of version {version}, this program reads {VERSION}: record the run again")
            rows = np.empty(len(stored["kind"]), RECORD)
            for name in RECORD.names or ():
                rows[name] = stored[name].cumsum() if name == "ns" else stored[name]
            return Events(rows, bool(stored["whole"]))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise LabError(f"{path} is cut short or malformed ({error}): remove it, and record the run again") from None


def missing(name: str) -> str:
    """The sentence that says what a result without events lacks."""
    return (
        f"{name} has no events, so single faults, switches, requests and evictions are missing; "
        "`tidemark run --events` records them"
    )
