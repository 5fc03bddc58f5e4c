"""The sections of a run in which a kernel for several processors would hold the zone's lock.

This kernel has one processor and no such lock. Linux takes zone->lock around the buddy allocator of a zone: for each
block that it allocates or frees, and once for a whole batch that moves between the buddy and a processor's list of
single frames. So a section here is a call of buddy_alloc or buddy_free, from its first instruction to its return. With
lists (vm.percpu_pagelist_fraction), all of them within one call of the lists' functions are one section.

Time is counted in instructions, by the plugin (tools/plugin/holds.c); waiting for a disk takes none. The boot is left
out: recording starts with the first address space. All zones together have one lock here, while Linux has one for each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tidemark.curves.runs import Array
from tidemark.errors import FAILED, NO_TOOL, LabError
from tidemark.machine import plugin, qemu
from tidemark.runs import experiment, results

BUDDY = ("buddy_alloc", "buddy_free")
LISTS = ("pagelist_alloc", "pagelist_free", "pagelists_drain")
BEGIN = "telemetry_mm"
HOLDS = "holds.txt"


@dataclass(frozen=True)
class Sections:
    """One processor's sections in order: `holds` i64[n], instructions in each, and `thinks` i64[n], instructions
    between the end of the previous section and its start. The first section follows the last: the program repeats."""

    thinks: Array
    holds: Array


def sections(text: str) -> Sections:
    """The sections in the plugin's file. Raises LabError if it is incomplete, or has no section."""
    lines = [line.split() for line in text.splitlines()]
    if not lines or lines[-1][0] != "end":
        raise LabError("the plugin's file of sections is incomplete", FAILED)
    spans: list[tuple[int, int]] = []
    for number, begin, end in (map(int, line) for line in lines[:-1]):
        if number < len(BUDDY):
            spans.append((begin, end))
        else:
            merge(spans, begin)
    if not spans:
        raise LabError("the run never allocated or freed a block of the buddy", FAILED)
    begins, ends = np.array(spans, np.int64).T
    rest = int(lines[-1][1]) - ends[-1]
    return Sections(np.append(rest, begins[1:] - ends[:-1]), ends - begins)


def merge(spans: list[tuple[int, int]], begin: int) -> None:
    """Make one span of those that started after `begin`; spans are in order."""
    first = len(spans)
    while first and spans[first - 1][0] > begin:
        first -= 1
    if first < len(spans):
        spans[first:] = [(spans[first][0], spans[-1][1])]


def record(settings: qemu.Settings, folder: Path, progress: experiment.Progress) -> Sections:
    """Run `settings` into the result `folder`, and return its sections. Raises LabError if the run fails."""
    pcs = plugin.addresses(settings.image, *BUDDY, *LISTS)
    (after,) = plugin.addresses(settings.image, BEGIN)
    file = folder.resolve() / HOLDS
    flags = plugin.flags("holds", out=file, pcs=":".join(map(hex, pcs)), after=hex(after))
    result = experiment.run(replace(settings, qemu_flags=settings.qemu_flags + flags), folder, progress)
    if said := plugin.complaint(folder / results.QEMU_LOG):
        raise LabError(said, NO_TOOL)
    if result.meta["exit"] != qemu.OK:
        raise LabError(f"{result.meta['reason']}; {folder} keeps the run", FAILED)
    return sections(file.read_text())
