"""Telemetry: the NDJSON stream of the kernel's second serial port, read and checked.

docs/reference/telemetry.md defines its members; records.py has their types.

A complete stream begins with a `start` record that names the schema, counts `seq` without gaps, and ends with an `end`
record. `read` refuses any other stream; with `partial` it accepts the stream of a run that stopped early.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

from tidemark.errors import LabError
from tidemark.telemetry.records import SCHEMA, End, Exit, Mm, Oom, Policy, Pressure, Profile, Sample, Start, Violation

if TYPE_CHECKING:
    import numpy as np


class TelemetryError(LabError):
    """The stream is not complete, or of another schema; the text says where."""


@dataclass
class Telemetry:
    """One run's records by event; `events` are the records without a separate list."""

    start: Start
    samples: list[Sample] = field(default_factory=list)
    exits: list[Exit] = field(default_factory=list)
    pressure: list[Pressure] = field(default_factory=list)
    events: list[Mm | Policy | Violation | Oom | Profile] = field(default_factory=list)
    end: End | None = None

    @property
    def whole(self) -> bool:
        """Is the stream complete?"""
        return self.end is not None


def parse_line(line: str, number: int, before: int | None) -> dict[str, Any]:
    """The record in one line, whose `seq` must follow `before` (None: the first line, which must name the schema)."""
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise TelemetryError(f"line {number} is not JSON: {line[:120]!r} ({error})") from None
    if not isinstance(record, dict):
        raise TelemetryError(f"line {number} is not a JSON object: {line[:120]!r}")
    if before is None:
        if record.get("ev") != "start" or "schema" not in record:
            raise TelemetryError(f"the first record is not a start record with a schema: {line[:120]!r}")
        if record["schema"] != SCHEMA:
            raise TelemetryError(
                f"it has schema {record['schema']}, this program reads schema {SCHEMA}: "
                "use the tidemark of the tree that made it, or run again"
            )
        if record.get("seq") != 0:
            raise TelemetryError(f"it begins with seq {record.get('seq')}, not 0")
    elif record.get("seq") != before + 1:
        raise TelemetryError(f"line {number}: seq {record.get('seq')} follows {before}: records are missing")
    return record


class Follower:
    """Reads a stream that may still grow. `poll` returns the records that have arrived since the last call."""

    def __init__(self, path: Path) -> None:
        self.path, self.number = path, 0
        self.seq: int | None = None
        self._file: TextIO | None = None
        self._rest = ""

    def poll(self) -> list[dict[str, Any]]:
        """New complete lines as records, in order; empty if there is no file yet. Raises TelemetryError on a gap."""
        if self._file is None:
            if not self.path.exists():
                return []
            self._file = self.path.open(encoding="ascii", errors="replace")
        *lines, self._rest = (self._rest + self._file.read()).split("\n")
        records = []
        for line in lines:
            self.number += 1
            record = parse_line(line, self.number, self.seq)
            self.seq = record["seq"]
            records.append(record)
        return records

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


def parse(text: str, partial: bool = False) -> list[dict[str, Any]]:
    """The records of a stream, in order. Raises TelemetryError, which says what is wrong.

    `partial`: a missing end, and an incomplete last line, are allowed.
    """
    *lines, rest = text.split("\n")
    records: list[dict[str, Any]] = []
    for number, line in enumerate(lines, 1):
        records.append(parse_line(line, number, records[-1]["seq"] if records else None))
    if not records:
        raise TelemetryError("it is empty: the run ended before it wrote a record")
    if rest and not partial:
        raise TelemetryError(f"its last line is cut off: {rest[:120]!r}")
    if records[-1]["ev"] != "end" and not partial:
        raise TelemetryError(f"it has no end record, so the run was cut off after {records[-1]['t_us'] / 1e6:.3f} s")
    return records


def read(path: Path, partial: bool = False) -> Telemetry:
    """The telemetry in a file; `partial` as in parse. Raises TelemetryError, which names the file."""
    try:
        records = parse(path.read_text("ascii", "replace"), partial)
    except FileNotFoundError:
        raise TelemetryError(f"{path}: there is no such file") from None
    except TelemetryError as error:
        raise TelemetryError(f"{path}: {error}") from None
    telemetry = Telemetry(cast("Start", records[0]))
    lists: dict[str, list[Any]] = {
        "sample": telemetry.samples,
        "exit": telemetry.exits,
        "pressure": telemetry.pressure,
    }
    for record in records[1:]:
        lists.get(record["ev"], cast("list[Any]", telemetry.events)).append(record)
    if records[-1]["ev"] == "end":
        telemetry.end = cast("End", telemetry.events.pop())
    return telemetry


def column(samples: Sequence[Mapping[str, Any]], name: str) -> np.ndarray:
    """One number of each sample, float64[len(samples)], nan where absent. `vm.pgfault` is a nested member."""
    import numpy as np

    values, keys = np.full(len(samples), np.nan), name.split(".")
    for at, sample in enumerate(samples):
        value: Any = sample
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if value is not None:
            values[at] = value
    return values


def utilisation(before: Sample, after: Sample) -> float:
    """Share of the time between two samples in which the processor was not idle, 0 to 1."""
    interval = after["t_us"] - before["t_us"]
    return 1 - (after["idle_us"] - before["idle_us"]) / interval if interval > 0 else 0.0


def fault_rate(before: Sample, after: Sample) -> float:
    """Major faults per virtual second between two samples."""
    interval = after["t_us"] - before["t_us"]
    return (after["vm"]["pgmajfault"] - before["vm"]["pgmajfault"]) * 1e6 / interval if interval > 0 else 0.0
