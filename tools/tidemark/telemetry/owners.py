"""The owner of each frame of memory at each sample: recorded by QEMU's plugin (tools/plugin/frames.c), read here.

`tidemark run --owners` makes FILE in a result's folder. The guest does nothing for it, so the run is the same, byte for
byte.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tidemark.errors import LabError
from tidemark.machine import plugin
from tidemark.telemetry.stream import Telemetry

FILE = "owners.ndjson"
PLACES = {"at": "sample_now", "pages": "mem_map", "max_pfn": "max_pfn"}
FREE, KERNEL, FILES, NOBODY = range(4)  # the plugin's numbers; larger ones are page directories
OTHERS = {FREE: "free", KERNEL: "kernel", FILES: "files", NOBODY: "read ahead, or left"}


@dataclass(frozen=True)
class Owners:
    """`map`: uint8[frames, samples], for each frame the number of its owner in `names`; `times` in seconds."""

    times: np.ndarray
    names: list[str]
    map: np.ndarray


def flags(image: Path, folder: Path) -> str:
    """The addition to the settings' qemu_flags for a run into `folder`."""
    places = dict(zip(PLACES, map(hex, plugin.addresses(image, *PLACES.values()))))
    return plugin.flags("frames", out=folder.absolute() / FILE, **places)


def directories(data: Telemetry) -> list[tuple[int, int, str]]:
    """(µs, page directory, process) of each `mm` event, in their order."""
    return [
        (event["t_us"], event["cr3"], f"{event['comm']} {event['pid']}") for event in data.events if event["ev"] == "mm"
    ]


def read(folder: Path, data: Telemetry) -> Owners | None:
    """The owners of a run; None if they were not recorded. Raises LabError if the file is malformed."""
    path = folder / FILE
    if not path.exists() or not data.samples:
        return None
    try:
        lines: list[list[list[int]]] = [json.loads(line) for line in path.read_text("ascii").splitlines()]
        last = {record["pid"]: record["comm"] for record in data.exits}
        columns, names = [], list(OTHERS.values())
        for sample, line in zip(data.samples, lines):
            of = {cr3: name for at, cr3, name in directories(data) if at <= sample["t_us"]}
            columns.append(column(line, of, names))
        return Owners(
            np.array([s["t_us"] / 1e6 for s in data.samples[: len(columns)]]), named(names, last), table(columns)
        )
    except (OSError, ValueError, TypeError) as error:
        raise LabError(f"{path} cannot be read: {error}") from None


def column(line: Sequence[Sequence[int]], of: dict[int, str], names: list[str]) -> np.ndarray:
    """The owners of all frames at one sample, as numbers in `names`, which grows."""
    numbers = []
    for owner, _ in line:
        name = OTHERS.get(owner) or of.get(owner, OTHERS[NOBODY])
        if name not in names:
            names.append(name)
        numbers.append(min(names.index(name), 255))
    return np.repeat(np.array(numbers, np.uint8), [count for _, count in line])


def table(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Columns of equal length side by side."""
    return np.column_stack(columns)


def named(names: Sequence[str], last: dict[int, str]) -> list[str]:
    """The names of owners, with the last name of a process that called exec after a fork."""
    return [
        f"{last[int(pid)]} {pid}" if (pid := name.rpartition(" ")[2]).isdigit() and int(pid) in last else name
        for name in names
    ]


def taken(owners: Owners) -> np.ndarray:
    """int[names, names]: the number of frames that the row owned at one sample and the column at the next."""
    nr = len(owners.names)
    before, after = owners.map[:, :-1].astype(int), owners.map[:, 1:].astype(int)
    changed = before != after
    counts: np.ndarray = np.bincount(before[changed] * nr + after[changed], minlength=nr * nr).reshape(nr, nr)
    return counts
