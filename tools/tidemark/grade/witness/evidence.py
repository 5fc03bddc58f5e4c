"""Observations, from outside, of a kernel with a student's code.

The plugin (tools/plugin/evidence.c) sees every reference of a program, with its frame, and every page
that is cleared, copied, or moved between a frame and the modelled disk. The order of these events shows the decisions
of the student's code, whatever the guest prints: a page that is read from the store had been evicted, and a page
written to it is a victim. Transfers between a frame and the disk for files are recorded separately (FILE_READ,
FILE_WRITE): they are pages of a file, which no process has lost. The plugin also sees which code accesses what, and a
student's code may access little.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from tidemark.grade.witness.kernel_map import KernelMap

REF, STORE, READ, WRITE, ZERO, COPY, SWITCH, BIRTH, EXIT, BREACH, BUDGET, END, FILE_READ, FILE_WRITE = range(14)
KILLED, TABLES, FLUSH, REQUEST, ENDED = 14, 15, 16, 17, 18
EVENT = np.dtype(
    [
        ("kind", "u1"),
        ("rule", "u1"),
        ("space", "<u2"),
        ("a", "<u4"),
        ("b", "<u4"),
        ("user", "<u8"),
        ("all", "<u8"),
    ]
)
MMAP_PAGES = range(0x40000, 0xB7000)  # where the kernel puts mappings, in pages


@dataclass(frozen=True)
class Breach:
    """An access of the student's code that it may not make. `what`: "user memory", "page of a program", "kernel data",
    "policy interface", "code", "control", "instruction", "memory", "argument", "stack" or "registers"; `text` says it
    in a sentence, `place` its place in the notation of `tidemark gdb`, unless the run itself shows it.
    """

    what: str
    function: str
    address: int
    text: str
    place: str = ""


@dataclass(frozen=True)
class References:
    """A string of references to the array of the workload refstring: each with its frame, whether the page
    had to be read from the store for it, and the index of its (first) event. `victims`: for each eviction, the number
    of references before it, and the page. Pages count from 0 in order of first use. A clean page is evicted without
    being written, and so is not among the victims. `written`: the indices of the victims' events.
    """

    pages: np.ndarray
    frames: np.ndarray
    swapped_in: np.ndarray
    at: np.ndarray
    victims: list[tuple[int, int]]
    written: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Evidence:
    """The plugin's observations. `events`: an array of EVENT, in order; tools/plugin/evidence/record.c has the kinds.
    Spaces count from 1 in order of appearance; a page directory that is used again is another space. `virtual_ns`:
    QEMU's clock at the end, 0 if the budget ended the run. `whole`: nothing is missing at the end.
    """

    events: np.ndarray
    breaches: list[Breach]
    instructions: int
    virtual_ns: int
    over_budget: bool
    whole: bool

    @property
    def nr_spaces(self) -> int:
        """An upper bound of the spaces' numbers, exclusive."""
        return int(self.events["space"].max(initial=0)) + 1

    def count(self, kind: int) -> int:
        """The number of events of a kind."""
        return int((self.events["kind"] == kind).sum())

    @property
    def programs_ran(self) -> bool:
        """Has any program executed an instruction?"""
        return bool(self.user_instructions.any())

    @cached_property
    def user_instructions(self) -> np.ndarray:
        """Instructions that programs have executed, by space."""
        switches = self.events[self.events["kind"] == SWITCH]
        last = self.events["user"][-1:]
        done = np.zeros(self.nr_spaces, np.uint64)
        np.add.at(done, switches["space"], np.diff(np.concatenate([switches["user"], last])) if len(last) else 0)
        return done

    @cached_property
    def _mapped(self) -> np.ndarray:
        """Indices of references to the mmap area."""
        pages, kinds = self.events["a"], self.events["kind"]
        return np.flatnonzero((kinds <= STORE) & (pages >= MMAP_PAGES.start) & (pages < MMAP_PAGES.stop))

    def main_space(self) -> int:
        """The workload's space: the last of those that reference most pages of the mmap area; 0 if there is none."""
        used = self.events[self._mapped]
        pages = np.unique(used["space"].astype(np.uint64) << np.uint64(32) | used["a"]) >> np.uint64(32)
        nr_pages = np.bincount(pages.astype(np.int64), minlength=1)
        return len(nr_pages) - 1 - int(nr_pages[::-1].argmax())

    def string(self, space: int) -> References:
        """The references of the workload refstring in `space` to its array, which it maps last: from the lowest
        page of the mmap area on, the pages whose first use is not before that of the first page.
        """
        mapped = self._mapped[self.events["space"][self._mapped] == space]
        if not len(mapped):
            empty = np.array([], np.int64)
            return References(empty, empty, empty.astype(bool), empty, [])
        kinds, pages = self.events["kind"], self.events["a"]
        distinct, first = np.unique(pages[mapped], return_index=True)
        array = distinct[first >= first[0]]
        mine = np.flatnonzero((kinds <= STORE) & (self.events["space"] == space))
        again = np.concatenate([[False], pages[mine][1:] == pages[mine][:-1]])
        used = np.isin(pages[mine], array)
        moved = np.flatnonzero((kinds >= READ) & (kinds <= COPY) | (kinds == FILE_READ))
        at = np.concatenate([mine[used], moved])
        order = np.argsort(at)
        number = np.concatenate([np.searchsorted(array, pages[mine[used]]), np.full(len(moved), -1)])
        begins = np.concatenate([~again[used], np.zeros(len(moved), bool)])
        return follow(at[order], self.events[at[order]], number[order], begins[order])


def follow(at: np.ndarray, events: np.ndarray, number: np.ndarray, begins: np.ndarray) -> References:
    """The references to an array, and the fate of its pages, from events (`at`: their indices) that reference it or
    fill or empty a frame. `number`: the array's page; `begins`: is it another reference than the event before?
    """
    rows: list[list[int]] = []
    victims: dict[int, list[int]] = {}  # by index of the event
    holds: dict[int, int] = {}  # frame: page, from its last reference
    written: dict[int, int] = {}  # page: index of the event
    read: set[int] = set()  # frames
    lately: list[int] = []  # indices of victims' events since the last reference
    columns = (at, events["kind"], events["b"], number, begins)
    for index, kind, frame, page, begin in zip(*(column.tolist() for column in columns)):
        if kind == WRITE and frame in holds:
            victims[index] = [len(rows), holds[frame]]
            written[holds[frame]] = index
            lately.append(index)
        elif kind > STORE and kind != WRITE:
            holds.pop(frame, None)
            (read.add if kind == READ else read.discard)(frame)
        elif kind <= STORE:
            if begin:
                rows.append([page, frame, False, index])
            else:  # only now the reference has all that it needs
                for victim in lately:
                    victims[victim][0] -= 1
            lately.clear()
            rows[-1][1:3] = frame, rows[-1][2] or frame in read
            if page in written and holds.get(frame) == page:
                del victims[written[page]]  # it was written, but stayed in its frame
            written.pop(page, None)
            read.discard(frame)
            holds[frame] = page
    made = np.array(rows, np.int64).reshape(-1, 4).T
    left = [(at, page) for at, page in victims.values()]
    return References(made[0], made[1], made[2].astype(bool), made[3], left, list(victims))


def sentence(kernel: KernelMap, rule: int, pc: int, address: int) -> Breach:
    """The Breach of a BREACH event."""
    function, source = kernel.function(pc)
    code = f"{function}() in {source}"
    rules = (
        ("user memory", f"{code} accesses a program's memory, at {address:#x}"),
        ("page of a program", f"{code} accesses a page of a program through its frame, at {address:#x}"),
        ("kernel data", f"{code} writes to {kernel.variable(address)}, which is not its own"),
        ("kernel data", f"{code} writes to a field of a struct page that is not the policy's"),
        ("policy interface", f"the policy broke the rule '{kernel.text(address)}' of mm/policy.h; fifo took over"),
        ("code", f"the kernel executes, at {pc:#x}, what is not its code as it was linked"),
        ("control", f"{code} jumps or returns to {address:#x}, where nothing that it may use begins"),
        ("instruction", f"{code} executes, at {pc:#x}, what only the kernel's lower parts may do"),
        ("memory", f"{code} accesses memory that is not its own, at {address:#x}"),
        ("argument", f"{code} hands {kernel.variable(address)}() what the kernel has not given it, or has taken back"),
        ("stack", f"{code} has its stack elsewhere, at {address:#x}"),
        ("registers", f"{code} returns with other registers than those that it was called with"),
    )
    what, text = rules[rule]
    written = f" --writes {address:#x}" if what == "kernel data" else ""
    return Breach(what, function, address, text, "" if what == "policy interface" else f"--pc {pc:#x}{written}")


def read(path: Path, kernel: KernelMap) -> Evidence:
    """The evidence in the plugin's file."""
    events = np.fromfile(path, EVENT) if path.exists() else np.array([], EVENT)
    last = events[-1] if len(events) else np.zeros(1, EVENT)[0]
    breaches = events[events["kind"] == BREACH]
    return Evidence(
        events=events[(events["kind"] != BUDGET) & (events["kind"] != END)],
        breaches=[sentence(kernel, *row) for row in breaches[["rule", "a", "b"]].tolist()],
        instructions=int(last["all"]),
        virtual_ns=(int(last["b"]) << 32 | int(last["a"])) if last["kind"] == END else 0,
        over_budget=bool((events["kind"][-2:] == BUDGET).any()),
        whole=bool(last["kind"] == END),
    )


NOTHING = Evidence(np.zeros(0, EVENT), [], 0, 0, over_budget=False, whole=True)  # of a machine that was not started
