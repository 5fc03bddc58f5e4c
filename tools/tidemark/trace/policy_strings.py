"""Which references of a recording were to pages of the policy: the reference strings that a replacement policy sees.

A policy has the pages that can be evicted, not locked pages. The plugin notes when a page of a process is given to the
policy (CAME), when it is locked, and what the process frees. From a page's first CAME until then it is one page, and
every reference to it belongs to the string, even if it was evicted and read again in between. The CAME is a reference
of its own, because the kernel may be the first to use the page: for example, the initial stack of a program is written
by the kernel.

Pages of files on disks are named by the file and need no CAME: each reference names them, whether through a mapping or
by `read` or `write`, and whether they were in memory or not. A page that is dropped (truncated, deleted, or given up by
posix_fadvise) is another page when it is used again. A page of a file is the same page in all spaces. What a process
reads before exec, and exec itself reads, counts for the space that exec makes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tidemark import trace
from tidemark.errors import LabError
from tidemark.jit import Int, compiled
from tidemark.trace import FILE_INDEX_BITS, FILE_PAGE, MAX_SPACES
from tidemark.trace.format import Reader
from tidemark.trace.future import PAGE_BYTES, REF_BYTES, Space, without_repetitions
from tidemark.trace.pack import CAME, FILE, FREED, FREED_SHIFT, LOCKED, SPACES, STORE, Note
from tidemark.trace.pages import PageTable
from tidemark.trace.record import Recording

Array = np.ndarray
Columns = tuple[Array, Array, Array, Array]
MIB = 1 << 20
NEW, HOW_SHIFT, VPN = 1 << 24, 20, (1 << 20) - 1
IN_FAULT, IN_CLAIM, IN_READ, IN_ADOPT = 0, 2, 3, 4  # enum vm_in; a page that was read ahead is claimed
FILE_STORES = 1 << 25  # mm/policy.h: from here on, files on disks
DISK_PAGE = FILE_PAGE | FILE_STORES << FILE_INDEX_BITS
ALL_SPACES = MAX_SPACES - 1  # the space of files' pages, in the table
NEW_OF_FILE = 1 << 3 | IN_READ  # `write` has filled it
BORN, TAKEN, RETURNED, GONE = range(4)  # new with a reference, new without, new if not resident, locked
NONE = -1


def how(value: int) -> int:
    """The reason (IN_FAULT, ...) from a CAME note's value."""
    return value >> HOW_SHIFT & 7


def faults(recording: Recording, number: int) -> tuple[int, int]:
    """(faults, faults that read the page) of the address space with this number in order of creation."""
    key = [note.key for note in recording.notes if note.tag == SPACES][number]
    came = [note.value for note in recording.notes if note.tag == CAME and note.key == key]
    read = sum(how(value) == IN_FAULT and not value & NEW for value in came)
    to, space = after_exec(recording), recording.numbers.get(key, NONE)
    files = [note.value for note in recording.notes if note.tag == STORE and to[recording.numbers[note.key]] == space]
    asked = [value for value in files if value & 7 in (IN_FAULT, IN_CLAIM, IN_READ)]
    made = sum(value == NEW_OF_FILE for value in asked)
    claimed = sum(value & 7 == IN_CLAIM for value in asked)
    return sum(how(value) in (IN_FAULT, IN_CLAIM) for value in came) + len(asked), read + len(asked) - made - claimed


def after_exec(recording: Recording) -> Array:
    """u16[spaces]: for each space of a process the last one that the process had, by exec."""
    to = np.arange(MAX_SPACES, dtype=np.uint16)
    pids = {row["space"]: row["pid"] for row in recording.spaces if "pid" in row}
    made = [recording.numbers.get(note.key, NONE) for note in recording.notes if note.tag == SPACES]
    last = {pids[space]: space for space in made if space in pids}
    for space, pid in pids.items():
        to[space] = last.get(pid, space)
    return to


def meaning(tag: int, value: int) -> int:
    """The meaning of a note about a page: BORN, TAKEN, RETURNED or GONE."""
    if tag in (LOCKED, FILE):
        return GONE
    if how(value) == IN_ADOPT:
        return TAKEN
    return BORN if value & NEW else RETURNED


@compiled
def _follow(
    start: Int,
    columns: tuple[Array, Array, Array, Array, Array],
    notes: tuple[Array, Array, Array, Array],
    state: Array,
    living: Array,
    now: Array,
    births: Array,
    out: tuple[Array, Array, Array, Array],
) -> Int:
    """Fill `out` (space, page, time, whether it writes) with the string of these runs; the first run is number `start`.
    Returns the length of the string. `state`: next note, number of pages; `living`: the present page of each number in
    the table, or NONE; `births`: the table's number of each page. Pages `of_disk` need no note: the first reference is
    their birth.
    """
    spaces, ids, insns, of_disk, writes = columns
    note_at, note_id, note_space, note_means = notes
    out_spaces, out_pages, out_times, out_writes = out
    n, note, pages = 0, state[0], state[1]
    for i in range(len(ids)):
        while note < len(note_at) and note_at[note] <= start + i:
            which, means = note_id[note], note_means[note]
            fresh = means == BORN or (means != GONE and living[which] == NONE)
            if means == GONE:
                living[which] = NONE
            elif fresh:
                living[which] = pages
                births[pages] = which
                pages += 1
            if fresh and means != TAKEN:
                space = note_space[note]
                out_spaces[n], out_pages[n], out_times[n] = space, living[which], now[space]
                out_writes[n] = means == BORN
                n += 1
            note += 1
        now[spaces[i]] += insns[i]
        if of_disk[i] and living[ids[i]] == NONE:
            living[ids[i]] = pages
            births[pages] = ids[i]
            pages += 1
        if living[ids[i]] != NONE:
            out_spaces[n], out_pages[n], out_times[n] = spaces[i], living[ids[i]], now[spaces[i]]
            out_writes[n] = writes[i]
            n += 1
    state[0], state[1] = note, pages
    return n


def pages_of_disks(recording: Recording) -> Array:
    """u64[n]: the pages of files on disks, as the trace has them, in order."""
    found = [np.unique(pages[pages >= DISK_PAGE]) for _, pages, *_ in Reader(recording.trace).runs()]
    return np.unique(np.concatenate([*found, np.zeros(0, np.uint64)]))


def each_page(notes: list[Note], of_disks: Array) -> Iterator[Note]:
    """The notes about pages; a freed range becomes one note for each page in it that the policy had, and a range of a
    file one for each of its pages `of_disks`, with that page as its value.
    """
    come: dict[tuple[int, int], set[int]] = {}
    for note in notes:
        if note.tag == FILE:
            first = FILE_PAGE | note.key[0] << FILE_INDEX_BITS
            at = np.searchsorted(of_disks, np.array([first | note.key[1], (first | note.value) + 1], np.uint64))
            yield from (note._replace(value=int(page)) for page in of_disks[at[0] : at[1]])
        if note.tag in (CAME, LOCKED):
            come.setdefault(note.key, set()).add(note.value & VPN)
            yield note
        elif note.tag == FREED:
            first, end = note.value >> FREED_SHIFT, note.value & VPN
            there = come.get(note.key, set())
            gone = {vpn for vpn in there if first <= vpn < end}
            there -= gone
            yield from (note._replace(tag=LOCKED, value=vpn) for vpn in sorted(gone))


class Follower:
    """Turns a recording's runs into the policy's reference strings."""

    def __init__(self, recording: Recording) -> None:
        of_disks, numbers = pages_of_disks(recording), recording.numbers
        notes = [note for note in each_page(recording.notes, of_disks) if note.tag == FILE or note.key in numbers]
        self.table = PageTable()
        spaces = np.array([ALL_SPACES if note.tag == FILE else numbers[note.key] for note in notes], np.uint16)
        vpns = np.array([note.value if note.tag == FILE else note.value & VPN for note in notes], np.uint64)
        at = np.array([note.at for note in notes], np.int64)
        means = np.array([meaning(note.tag, note.value) for note in notes], np.uint8)
        self._notes = at, self.table.number(spaces, vpns), spaces, means
        self._state = np.zeros(2, np.int64)
        self._living = np.full(recording.totals["pages"] + len(notes) + 1, NONE, np.int32)
        self._now = np.zeros(1 << 16, np.uint64)
        self._births = np.zeros(len(notes) + len(of_disks) + 1, np.uint32)
        self._to = after_exec(recording)
        self._runs = 0

    def string_of(self, columns: tuple[Array, ...]) -> Columns:
        """The string (space, page, time, whether it writes) of these runs, which are columns of Reader.runs."""
        spaces, pages, kinds, _, insns = columns
        of_disk, writes = pages >= DISK_PAGE, (kinds == trace.STORE) | (kinds == trace.MODIFY)
        spaces = np.where(of_disk, self._to[spaces], spaces)
        most = len(spaces) + len(self._notes[0])
        out = np.empty(most, np.uint16), np.empty(most, np.uint32), np.empty(most, np.uint64), np.empty(most, np.bool_)
        runs = spaces, self.table.number(np.where(of_disk, ALL_SPACES, spaces), pages), insns, of_disk, writes
        state = self._state, self._living, self._now, self._births
        n = _follow(self._runs, runs, self._notes, *state, out)
        self._runs += len(spaces)
        return out[0][:n], out[1][:n], out[2][:n], out[3][:n]

    def vpns(self) -> np.ndarray:
        """u64[pages]: the virtual page number of each page."""
        return self.table.pages[self._births[: int(self._state[1])]]


def joined(string: Columns) -> Columns:
    """The string without a space's immediate repetitions; a reference writes if one of its repetitions does."""
    spaces, pages, _, writes = string
    keep, writes = np.zeros(len(spaces), bool), writes.copy()
    for space in np.unique(spaces):
        here = np.flatnonzero(spaces == space)
        new = without_repetitions(pages[here])
        keep[here] = new
        writes[here[new]] = any_of_group(writes[here], new)
    spaces, pages, times, writes = (column[keep] for column in (*string[:3], writes))
    return spaces, pages, times, writes


def any_of_group(values: Array, first: Array) -> Array:
    """bool: for each group of consecutive elements, which begins where `first` is set, whether one of them is true."""
    return np.logical_or.reduceat(values, np.flatnonzero(first)) if len(values) else values


def collected(recording: Recording, most: int) -> tuple[Follower, list[Columns], int]:
    """The follower, the whole string in pieces, and its length; if that exceeds `most`, pieces are missing."""
    follower, length = Follower(recording), 0
    pieces: list[Columns] = []
    for columns in Reader(recording.trace).runs():
        string = joined(follower.string_of(columns))
        length += len(string[0])
        if length <= most:
            pieces.append(string)
    return follower, pieces, length


def spaces_of(recording: Recording, room: int) -> list[Space]:
    """The string of each address space, in order of creation. Raises LabError if their future needs more than `room`
    bytes.
    """
    follower, pieces, length = collected(recording, room // REF_BYTES)
    vpns = follower.vpns()
    need = length * REF_BYTES + len(vpns) * PAGE_BYTES
    if need > room:
        raise LabError(
            f"the run refers to {length:,} pages in turn, and its future takes {need / MIB:,.0f} MiB; beside the "
            f"guest's memory and its store there is room for {room / MIB:,.0f} MiB. Give a shorter run"
        )
    spaces, pages, times, writes = (np.concatenate([piece[column] for piece in pieces]) for column in range(4))
    heres = (spaces == recording.numbers.get(note.key, NONE) for note in recording.notes if note.tag == SPACES)
    return [one_space(vpns, pages[here], times[here], writes[here]) for here in heres]


def one_space(vpns: Array, pages: Array, times: Array, writes: Array) -> Space:
    """One space's references, with its pages renumbered from 0."""
    keep = without_repetitions(pages)
    used, refs = np.unique(pages[keep], return_inverse=True)
    names = vpns[used]
    files = np.where(names >= DISK_PAGE, (names & ~np.uint64(FILE_PAGE)) >> np.uint64(FILE_INDEX_BITS), 0)
    numbers = (names & np.uint64(VPN)).astype(np.uint32)
    wrote = any_of_group(writes, keep)
    return Space(numbers, refs.astype(np.uint32), times[keep], files.astype(np.uint32), wrote)
