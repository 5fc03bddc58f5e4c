"""A lower bound of the time that a batch can take, by arithmetic: no policy and no guard can beat it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tidemark.errors import LabError


@dataclass(frozen=True)
class Disk:
    """The modelled disk (kernel/drivers/simdisk.c): seconds for a page, for one move of the head, and for each request
    besides."""

    page_s: float
    move_s: float
    latency_s: float = 0.0


@dataclass(frozen=True)
class Batch:
    """`jobs` equal jobs, of `pages` pages each, that were started together; the processor time of one job, in seconds,
    until its pages are filled, and from then on. None works before all are filled, as in the workload thrash."""

    jobs: int
    pages: int
    fill_s: float
    work_s: float

    @property
    def alone_s(self) -> float:
        """Seconds that all jobs take one after the other if memory is not short."""
        return self.jobs * (self.fill_s + self.work_s)


@dataclass(frozen=True)
class Least:
    """Seconds if the disk moves pages while the processor works, and if they take turns."""

    together_s: float
    by_turns_s: float


def disk_of(console: str) -> Disk:
    """The disk that the kernel prints when it starts. Raises LabError if it prints none."""
    found = re.search(
        r"^swap: sim:.*; seek (\d+), rotation (\d+), transfer (\d+), latency (\d+)", console, re.MULTILINE
    )
    if not found:
        raise LabError("the console names no modelled disk")
    seek_us, rotation_us, transfer_us, latency_us = map(int, found.groups())
    return Disk(transfer_us / 1e6, (seek_us + rotation_us) / 1e6, latency_us / 1e6)


def least(batch: Batch, frames: int, disk: Disk) -> Least:
    """The least number of seconds in which `batch` can be done in `frames` frames.

    When the last job has filled its pages, all hold data, jobs * pages in number. At most `frames` of them are in
    memory; the others, `away`, have been written. Each job then uses all of its pages, so `away` pages are read, too.
    No more is needed: a job whose set is in memory works to its end, which frees its frames for the next whole
    set.

    A request that begins where the last one ended needs no move of the head. So pages move at the full rate, except
    for one move, from the end of the written pages to the beginning of the read ones. A disk's latency is left out.

    While the disk moves pages, the processor can fill others, and later work on others. In each half, until all is
    filled and from then on, the longer of the two times counts; if they take turns, the sum.
    """
    away = max(0, batch.jobs * batch.pages - frames)
    out_s = away * disk.page_s
    in_s = out_s + (disk.move_s if away else 0)
    together = max(out_s, batch.jobs * batch.fill_s) + max(in_s, batch.jobs * batch.work_s)
    return Least(together, out_s + in_s + batch.alone_s)
