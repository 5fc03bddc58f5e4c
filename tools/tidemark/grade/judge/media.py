"""What is on the medium of a disk after a power cut, computed from a record of all writes and flushes.

A run that is recorded once (tools/plugin/evidence/disk.c) stands for a run with cut=N for every N and every
cut_seed: until the cut the runs are the same, and what the cut does to the medium is drawn as in
kernel/drivers/powercut.c. Some sectors of the request under way are written, and each write of a sector in the disk's
cache, which is all since the last flush, is on the medium or is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from tidemark.grade.witness.boot import Boot
from tidemark.grade.witness.evidence import FILE_WRITE, REQUEST, STORE

SECTOR = 512
QUARTERS = 4
STEP, WORD = 0x9E3779B97F4A7C15, (1 << 64) - 1
HEADER = np.dtype([("at", "<u4"), ("size", "<u4")])


@dataclass
class Request:
    """A request: the sectors that it writes, by number, in order; none: it is a flush, at its end. `marks`: the pages
    that the program had marked before it, in order. `later`: sectors written while a flush was under way, which it does
    not cover."""

    marks: tuple[int, ...]
    sectors: list[tuple[int, bytes]] = field(default_factory=list)
    later: int = 0


@dataclass(frozen=True)
class Log:
    """All requests of a run, and all pages that were marked."""

    requests: list[Request]
    marks: tuple[int, ...]

    @property
    def flushes(self) -> int:
        """The number of flushes."""
        return sum(not request.sectors for request in self.requests)


def pieces(data: bytes) -> Iterator[list[tuple[int, bytes]]]:
    """The sectors of each piece in the plugin's file of writes."""
    at = 0
    while at < len(data):
        first, size = (int(number) for number in np.frombuffer(data, HEADER, 1, at)[0])
        at += HEADER.itemsize
        yield [((first + n) // SECTOR, data[at + n : at + n + SECTOR]) for n in range(0, size, SECTOR)]
        at += size


def log_of(run: Boot, pages: range) -> Log:
    """The log of a run that was recorded with writes. `pages`: those that its program marks, each by a store. What is
    written with no request since the last mark has come around the queue of requests, and counts as not written."""
    events, written = run.evidence.events, pieces(run.writes)
    of_marks = (events["kind"] == STORE) & (events["a"] >= pages.start) & (events["a"] < pages.stop)
    kept = events[of_marks | np.isin(events["kind"], (REQUEST, FILE_WRITE))]
    requests: list[Request] = []
    marks: list[int] = []
    for kind, page in kept[["kind", "a"]].tolist():
        if kind == REQUEST:
            requests.append(Request(tuple(marks)))
        elif kind == FILE_WRITE:
            piece = next(written)
            if requests and len(requests[-1].marks) == len(marks):
                requests[-1].sectors += piece
        elif not marks or page - pages.start != marks[-1]:
            marks.append(page - pages.start)
    return Log(requests, tuple(marks))


def mix64(z: int) -> int:
    """As kernel/lib/mix64.c."""
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB & WORD
    return z ^ z >> 31


class Draw:
    """The draws of a cut."""

    def __init__(self, cut: int, seed: int) -> None:
        self.drawn, self.key = 0, seed << 32 | cut

    def __call__(self, below: int) -> int:
        self.drawn = self.drawn + STEP & WORD
        return (mix64(self.drawn + self.key & WORD) >> 32) % below


def place(sector: int) -> slice:
    """The bytes of a sector."""
    return slice(sector * SECTOR, (sector + 1) * SECTOR)


def cut_at(view: bytearray, old: list[tuple[int, bytes]], request: Request, draw: Draw) -> bytes:
    """The medium after a cut at a request. `view`: what a read would return; `old`: the medium's contents under the
    writes in the cache, oldest first."""
    medium = bytearray(view)
    quarters = draw(QUARTERS + 1)
    for sector, content in reversed(old):
        if draw(QUARTERS) >= quarters:
            medium[place(sector)] = content
    quarters = draw(QUARTERS + 1)
    for sector, content in request.sectors:
        if draw(QUARTERS) < quarters:
            medium[place(sector)] = content
    return bytes(medium)


def at_end(image: bytes, requests: list[Request]) -> bytes:
    """What a read returns after all requests."""
    view = bytearray(image)
    for sector, content in (one for request in requests for one in request.sectors):
        view[place(sector)] = content
    return bytes(view)


def all_but_one(image: bytes, requests: list[Request]) -> Iterator[tuple[int, int, bytes]]:
    """(N, sector, medium) for cuts at each write: all that was written before is on the medium, and all sectors of the
    write but this one."""
    view = bytearray(image)
    for number, request in enumerate(requests, 1):
        before = [(sector, bytes(view[place(sector)])) for sector, _ in request.sectors]
        for sector, content in request.sectors:
            view[place(sector)] = content
        for sector, content in before:
            medium = bytearray(view)
            medium[place(sector)] = content
            yield number, sector, bytes(medium)


def all_cuts(image: bytes, requests: list[Request], cache: int, seeds: int) -> Iterator[tuple[int, int, bytes]]:
    """(N, seed, medium) for cut=N at each request and cut_seed=1 up to `seeds`, for a disk with a cache of some
    bytes."""
    view, old = bytearray(image), list[tuple[int, bytes]]()
    for number, request in enumerate(requests, 1):
        for seed in range(1, seeds + 1):
            yield number, seed, cut_at(view, old, request, Draw(number, seed))
        if not request.sectors:
            del old[: max(0, len(old) - request.later)]
        for sector, content in request.sectors:
            old.append((sector, bytes(view[place(sector)])))
            view[place(sector)] = content
        del old[: max(0, len(old) - cache // SECTOR)]
