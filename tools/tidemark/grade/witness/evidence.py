"""Booting a kernel with a student's code in it, and what was seen of it from outside.

The plugin (tools/plugin/evidence.c) sees every reference of a program, with the frame that it went to, and every page
that is cleared, copied, or moved between a frame and the modelled disk. From the order of these events follows what the
student's code decided, whatever the guest prints: a page that is read from the store had been evicted, and what is
written to it is a victim. The plugin also sees which code touches what, and a student's has no business with most.
"""

from __future__ import annotations

import shutil
import signal
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import mkinitramfs
import numpy as np

from tidemark import plugin, qemu
from tidemark.errors import FAILED, LabError
from tidemark.grade.model import Outcome
from tidemark.grade.witness import kernel_map
from tidemark.grade.witness.kernel_map import Watched

if TYPE_CHECKING:
    from tidemark.grade.build.workspace import Bench

REF, STORE, READ, WRITE, ZERO, COPY, SWITCH, BIRTH, EXIT, BREACH, BUDGET, END = range(12)
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
MAX_RECORDS = 1 << 24  # of tools/plugin/evidence.c
LIMIT_S, WALL_LIMIT_S = 300, 3000  # of processor time, and by the clock: last resorts, the budget comes long before


@dataclass(frozen=True)
class Breach:
    """What the student's code did where it has no business. `what`: "user memory", "page of a program", "kernel data"
    or "rule of the seam"; `text` says it in a sentence.
    """

    what: str
    function: str
    address: int
    text: str


@dataclass(frozen=True)
class References:
    """A string of references to the array of the workload refstring, each with the frame it went to, whether the page
    had to be read from the store for it, and the index of its (first) event. `victims`: for each eviction, how many
    references there had been, and the page. Pages count from 0 in order of first use. A page that is evicted without
    having been changed is not written, and so not among the victims.
    """

    pages: np.ndarray
    frames: np.ndarray
    swapped_in: np.ndarray
    at: np.ndarray
    victims: list[tuple[int, int]]


@dataclass(frozen=True)
class Evidence:
    """What the plugin saw. `events`: an array of EVENT, in order; see tools/plugin/evidence.c for the kinds. Spaces
    count from 1 in order of appearance; a page directory that is used again is another space. `virtual_ns` of QEMU's
    clock at the end, 0 when the budget ended the run. `whole`: nothing is missing at the end.
    """

    events: np.ndarray
    breaches: list[Breach]
    instructions: int
    virtual_ns: int
    over_budget: bool
    whole: bool

    @property
    def nr_spaces(self) -> int:
        """Numbers of spaces lie below this one."""
        return int(self.events["space"].max(initial=0)) + 1

    def count(self, kind: int) -> int:
        """How many events there are of a kind."""
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
        """The workload: the space that refers to most pages of the mmap area, of several the last; 0: there is none."""
        used = self.events[self._mapped]
        pages = np.unique(used["space"].astype(np.uint64) << np.uint64(32) | used["a"]) >> np.uint64(32)
        nr_pages = np.bincount(pages.astype(np.int64), minlength=1)
        return len(nr_pages) - 1 - int(nr_pages[::-1].argmax())

    def string(self, space: int) -> References:
        """The references of the workload refstring in `space` to its array, which is what it maps last: from the lowest
        page of the mmap area on, those that it uses first when it uses that page, or later.
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
        moved = np.flatnonzero((kinds >= READ) & (kinds <= COPY))
        at = np.concatenate([mine[used], moved])
        order = np.argsort(at)
        number = np.concatenate([np.searchsorted(array, pages[mine[used]]), np.full(len(moved), -1)])
        begins = np.concatenate([~again[used], np.zeros(len(moved), bool)])
        return follow(at[order], self.events[at[order]], number[order], begins[order])


def follow(at: np.ndarray, events: np.ndarray, number: np.ndarray, begins: np.ndarray) -> References:
    """The references to an array, and what became of its pages, from events (`at`: their indices) that refer to it or
    fill or empty a frame. `number`: of the array's page; `begins`: is it another reference than the event before?
    """
    rows: list[list[int]] = []
    victims: dict[int, list[int]] = {}  # by index of the event
    holds: dict[int, int] = {}  # frame: page, as of its last reference
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
            else:  # it has only now all that it needs
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
    return References(made[0], made[1], made[2].astype(bool), made[3], [(at, page) for at, page in victims.values()])


@dataclass(frozen=True)
class Boot:
    """How a run ended: `reason` in a line, `console` to be shown, never trusted, and what was seen from outside."""

    outcome: Outcome
    reason: str
    console: str
    evidence: Evidence


def sentence(kernel: Watched, rule: int, pc: int, address: int) -> Breach:
    """What a BREACH event means."""
    function, source = kernel.function(pc)
    who = f"{function}() in {source}"
    rules = (
        ("user memory", f"{who} accesses a program's memory, at {address:#x}"),
        ("page of a program", f"{who} accesses a page of a program through its frame, at {address:#x}"),
        ("kernel data", f"{who} writes to {kernel.variable(address)}, which is not its own"),
        ("kernel data", f"{who} writes to a field of a struct page that is not the policy's"),
        ("rule of the seam", f"the policy broke the rule '{kernel.text(address)}' of mm/policy.h; fifo took over"),
    )
    what, text = rules[rule]
    return Breach(what, function, address, text)


def read(path: Path, kernel: Watched) -> Evidence:
    """The plugin's file."""
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


def ending(code: int, status: int, said: str, evidence: Evidence) -> tuple[Outcome, str]:
    """How a run ended, from qemu.unattended's answer and QEMU's last message. LabError when that was not the guest's
    doing, or evidence is missing.
    """
    number = -status if status < 0 else max(status - 128, 0)  # of a signal
    known = {
        qemu.OK: (Outcome.RIGHT, "it ended well"),
        qemu.FAILED: (Outcome.WRONG, "the command failed"),
        qemu.PANICKED: (Outcome.PANICKED, "the kernel panicked"),
        qemu.HUNG: (Outcome.HUNG, "the kernel hung: its watchdog found no progress"),
        qemu.TIMED_OUT: (Outcome.HUNG, f"it had not ended after {WALL_LIMIT_S} s of host time"),
        qemu.REFUSED: (Outcome.NO_BOOT, "the kernel refused its command line"),
    }
    if evidence.over_budget and len(evidence.events) >= MAX_RECORDS:
        found = Outcome.HUNG, f"it had not ended after {len(evidence.events):,} recorded references"
    elif evidence.over_budget:
        found = Outcome.HUNG, f"it had not ended after {evidence.instructions:,} instructions"
    elif code in known:
        found = known[code]
    elif status == 0:
        found = Outcome.PANICKED, "the machine was reset by a triple fault"
    elif number == signal.SIGXCPU:
        found = Outcome.HUNG, f"it had not ended after {LIMIT_S} s of the host's processor time"
    elif number and number != signal.SIGKILL:
        found = Outcome.PANICKED, f"the machine came to a stop: {said or f'signal {number}'}"
    else:
        raise LabError(f"QEMU did not run the kernel: {said or f'status {status}'}", FAILED)
    if not evidence.whole and code in known and code != qemu.TIMED_OUT:
        raise LabError("what the plugin recorded is cut off: is the disk full?", FAILED)
    if evidence.whole and not evidence.programs_ran:
        return Outcome.NO_BOOT, f"no program ever ran: {found[1]}"
    return found


def lay_image(bench: Bench, folder: Path, files: Mapping[str, bytes]) -> None:
    """Copy the tree's kernel into a folder, all that a run sees, and its first file system, with `files` added."""
    (folder / "build").mkdir()
    shutil.copyfile(bench.tree / qemu.KERNEL, folder / qemu.KERNEL)
    archive = (bench.tree / qemu.INITRD).read_bytes()
    archive = archive[: archive.rindex(b"070701", 0, archive.rindex(b"TRAILER!!!"))]
    members = {name: mkinitramfs.Entry(0o100644, data) for name, data in files.items()}
    (folder / qemu.INITRD).write_bytes(archive + mkinitramfs.archive(members))


def boot(
    bench: Bench,
    run: str,
    files: Mapping[str, bytes],
    *,
    vm: str = "2q",
    mem: str = "16M",
    swap: str = "sim:ssd",
    frames: str | int = "",
    cmdline: str = "",
    refs: bool = True,
    budget: int = 2_000_000_000,
    seed: str | int = "",
) -> Boot:
    """Boot the bench's tree and run one command line; `files` are added to its first file system, in directories that
    it has. `refs`: record references; without, nothing is known of them, nor of pages of programs that the student's
    code touches. `budget`: instructions, kernel's and programs', after which the run is ended. LabError when it could
    not be run for a reason that is not the student's.
    """
    kernel = kernel_map.find(bench)
    with tempfile.TemporaryDirectory(prefix="boot-", dir=bench.scratch) as name:
        folder = Path(name)
        lay_image(bench, folder, files)
        console, log, records = folder / "console", folder / "qemu.log", folder / "evidence"
        console.touch()  # it becomes the sandbox's, as the rest of the folder does
        options = {"out": records, "refs": int(refs), "budget": budget, **kernel.options}
        settings = qemu.Settings(
            vm=vm,
            mem=mem,
            swap=swap,
            frames=str(frames),
            run=run,
            seed=str(seed),
            cmdline=cmdline,
            timeout=WALL_LIMIT_S,
            image=folder,
            prefix=tuple(bench.sandbox.prefix(folder, [folder], LIMIT_S)),
            qemu_flags=plugin.flags("evidence", store=qemu.size_bytes(mem, "mem"), **options),
        )
        with log.open("wb") as messages:
            code, status = qemu.unattended(settings, console, lambda: None, messages)
        evidence = read(records, kernel)
        said = log.read_text("utf-8", "replace").strip().splitlines()[-1:]
        how, why = ending(code, status, "".join(said), evidence)
        return Boot(how, why, console.read_text("ascii", "replace").replace("\r", ""), evidence)
