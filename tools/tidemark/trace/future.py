"""The future of a run, as input of the policies min and vmin: a file in the guest's memory.

kernel/include/lib/future.h describes its content and use. For each address space, in order of creation, it has the
string of its references to pages that a policy has, without immediate repetitions, and with each reference the index of
the next one to the same page, and the space's virtual time. A page is named by a file (0: the space's own) and an
index.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

MAGIC = 0x32465554
NEVER = (1 << 32) - 1
HEADER, SPACE = struct.Struct("<7I"), struct.Struct("<11I")
SUM = 3  # the word of the header that makes the sum of all words 0
REF_BYTES, PAGE_BYTES = 12, 24
TIME_SHIFT = 10


@dataclass(frozen=True)
class Space:
    """One address space: page numbers u32[pages] by page, pages u32[n] in order of reference, and times u64[n]:
    instructions begun before each. A page that was freed and used anew is another page with the same number. `files`:
    u32[pages], the number of each page's file, as policies know it (page_id.store), 0 for the space's own pages; None:
    all are its own. `writes` bool[n], if they are known: does the reference, or an immediate repetition of it, write,
    or is the page new?
    """

    vpns: np.ndarray
    refs: np.ndarray
    times: np.ndarray
    files: np.ndarray | None = None
    writes: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))

    def of_file(self) -> np.ndarray:
        """bool[pages]: does the page belong to a file?"""
        return np.zeros(len(self.vpns), bool) if self.files is None else self.files != 0


def next_uses(refs: np.ndarray) -> np.ndarray:
    """u32[n]: for each reference the index of the next one to the same page, or NEVER."""
    order = np.argsort(refs, kind="stable")
    following = np.full(len(refs), NEVER, np.uint32)
    same = refs[order[:-1]] == refs[order[1:]]
    following[order[:-1][same]] = order[1:][same]
    return following


def first_uses(refs: np.ndarray, nr_pages: int) -> np.ndarray:
    """u32[pages]: the index of the first reference to each page, or NEVER."""
    first = np.full(nr_pages, NEVER, np.uint32)
    pages, places = np.unique(refs, return_index=True)
    first[pages] = places
    return first


def gaps(space: Space) -> np.ndarray:
    """f64[n]: how long the page is unused after each reference, inf after the last. A page is in use
    until the next reference. The unit is the guest's (instructions >> TIME_SHIFT).
    """
    times, following = space.times >> np.uint64(TIME_SHIFT), next_uses(space.refs)
    away = np.full(len(following), np.inf)
    used = np.flatnonzero(following != NEVER)
    away[used] = times[following[used]] - times[used + 1]
    return away


def vmin(space: Space, tau_us: float) -> tuple[int, float]:
    """(faults, mean number of pages) of VMIN: a page is evicted after a reference if its next use is over `tau_us` away
    (B. Prieve, R. Fabry, "VMIN: an optimal variable-space page replacement algorithm", CACM 19(5), 1976). The mean is
    over the space's virtual time from the first reference to the last.
    """
    away = gaps(space)
    kept = away <= int(tau_us * 1000) >> TIME_SHIFT
    lasted = np.diff(space.times >> np.uint64(TIME_SHIFT)).sum()
    return len(space.refs) - int(kept.sum()), 1 + float(away[kept].sum()) / max(float(lasted), 1)


def size(spaces: Sequence[Space]) -> int:
    """The size in bytes of a file of these spaces, without the command."""
    tables = sum(SPACE.size + REF_BYTES * len(one.refs) + PAGE_BYTES * len(one.vpns) for one in spaces)
    return HEADER.size + tables


def encode(spaces: Sequence[Space], main: int = 0, run: str = "") -> bytes:
    """The file's content. The policies show their counts for the space number `main`. `run` is the recorded run's
    command: the kernel refuses the future of another one.
    """
    at = HEADER.size + SPACE.size * len(spaces)
    text = run.encode() + bytes(4 - len(run.encode()) % 4)
    of_files = sum(int(one.of_file().sum()) for one in spaces)
    heads = [HEADER.pack(MAGIC, size(spaces) + len(text), len(spaces), 0, main, of_files, size(spaces))]
    tables = []
    for number, one in enumerate(spaces):
        refs = np.column_stack([one.refs, next_uses(one.refs), one.times >> np.uint64(TIME_SHIFT)]).astype("<u4")
        nothing = np.zeros(len(one.vpns), np.uint32)
        files = nothing if one.files is None else one.files
        first = first_uses(one.refs, len(one.vpns))
        pages = np.column_stack([files, one.vpns, first, nothing + number, nothing, nothing]).astype("<u4")
        heads.append(SPACE.pack(at, at + refs.nbytes, len(refs), len(pages), *7 * [0]))
        tables += [refs.tobytes(), pages.tobytes()]
        at += refs.nbytes + pages.nbytes
    words = np.frombuffer(b"".join([*heads, *tables, text]), "<u4").copy()
    words[SUM] = -int(words.sum(dtype=np.uint64)) % (1 << 32)
    return words.tobytes()


def without_repetitions(refs: np.ndarray) -> np.ndarray:
    """bool[n]: is the reference to another page than the one before it?"""
    return np.concatenate([[True], refs[1:] != refs[:-1]]) if len(refs) else np.zeros(0, bool)
