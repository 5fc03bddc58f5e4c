"""How much memory programs had at once, from the observation of frames. A cap that the kernel itself counts can be
evaded by code that writes into the kernel's memory.

A frame is filled (cleared, copied into, read from the swap disk), referenced, perhaps written to the disk, and
filled again. From its first reference to its last, or to the write, it held a page all the time.
"""

from __future__ import annotations

import numpy as np

from tidemark.grade.witness.evidence import COPY, FILE_READ, READ, STORE, WRITE, ZERO, Evidence

SPARE = 16  # frames, or a SHAREth of all: the kernel no longer counts frames that are being written
SHARE = 8


def most_frames(seen: Evidence) -> int:
    """A lower bound of the frames that held program pages, not file pages, at one time. References must be recorded."""
    kinds, count = seen.events["kind"], len(seen.events)
    which = np.flatnonzero(np.isin(kinds, (*range(STORE + 1), READ, WRITE, ZERO, COPY, FILE_READ)))
    order = which[np.argsort(seen.events["b"][which], kind="stable")]
    kind, frame = kinds[order], seen.events["b"][order]
    fills = np.isin(kind, (READ, ZERO, COPY, FILE_READ))
    begins = fills | np.concatenate([[True], frame[1:] != frame[:-1]])[: len(frame)]
    starts, holds = np.flatnonzero(begins), np.cumsum(begins) - 1
    first, last = np.full(len(starts), count), np.full(len(starts), -1)
    used = kind <= STORE
    np.minimum.at(first, holds[used], order[used])
    np.maximum.at(last, holds[~fills], order[~fills])
    wanted = fills[starts] & (kind[starts] != FILE_READ) & (first < count)
    change = np.zeros(count + 1, np.int64)
    np.add.at(change, first[wanted], 1)
    np.add.at(change, last[wanted] + 1, -1)
    return int(change.cumsum().max())


def too_many(seen: Evidence, frames: int) -> str:
    """A message if programs had more than their frames; empty if not."""
    most = most_frames(seen)
    if most <= frames + max(SPARE, frames // SHARE):
        return ""
    return f"{most} pages were in memory at once, with {frames} frames"
