"""Observations of a guest from outside: the string that a program refers to, the policy's decisions, forbidden
accesses; and that the guest does not notice them.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from soak import soak_but
from tidemark.errors import LabError
from tidemark.grade.build import elf
from tidemark.grade.judge import work
from tidemark.grade.model import Outcome
from tidemark.grade.model import Test as LabTest
from tidemark.grade.witness import evidence, kernel_map, kernel_size
from tidemark.grade.witness.boot import NO_REFS, Boot, Run, boot, ending
from tidemark.machine import plugin, qemu
from tidemark.strings import vmsim
from tidemark.strings.refstrings import Given
from trials import changed

pytestmark = pytest.mark.graded

FRAMES = 20
PREFIX = list(range(1000, 1000 + 3 * FRAMES))  # evicts the resident pages of other processes: see test_vmsim.py
PAGE = 4096
CHEAT = "kernel/mm/policy/cheat.c"


@dataclass(frozen=True)
class NoSandbox:
    """A sandbox without confinement: the code here is our own."""

    def prefix(self, cwd: Path, writable: Sequence[Path], limit_s: float) -> list[str]:
        return []

    def within_reach(self, path: Path) -> Path:
        return path


@dataclass(frozen=True)
class Machine:
    """The parts of a machine that a boot needs."""

    scratch: Path
    source: str  # the student's source file
    tree: Path = qemu.ROOT
    sandbox: NoSandbox = NoSandbox()
    may_store: tuple[str, ...] = ()
    keep: Path | None = None

    @property
    def objects(self) -> tuple[str, ...]:
        return ("build/" + self.source.replace(".c", ".o"),)

    @property
    def lab(self) -> SimpleNamespace:
        return SimpleNamespace(may_store=self.may_store)

    def run_on_host(self, *command: str, stdin: bytes = b"") -> SimpleNamespace:
        done = subprocess.run(command, cwd=self.tree, input=stdin, capture_output=True)
        return SimpleNamespace(status=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())

    def boot(self, command: str, files: dict[str, bytes] | None = None, **options: Any) -> Boot:
        return boot(self, Run(command, files or {}, **options))


def of_policy(policy: str, folder: Path) -> Machine:
    return Machine(folder, f"kernel/mm/policy/{policy}.c")


@pytest.fixture(scope="module")
def cheating(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """A copy of the tree with its build, whose kernel has one more policy."""
    tree = tmp_path_factory.mktemp("cheating")
    for name in ("boot", "kernel", "tools", "labs", "build/boot", "build/kernel"):
        shutil.copytree(qemu.ROOT / name, tree / name)
    for name in ("Makefile", "linker.ld", "build/flags", qemu.INITRD):
        shutil.copy2(qemu.ROOT / name, tree / name)
    shutil.copy2(qemu.ROOT / "tests/grade/evidence/cheat.c", tree / CHEAT)
    made = subprocess.run(["make", "--silent", qemu.KERNEL], cwd=tree, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return Machine(tmp_path_factory.mktemp("scratch"), CHEAT, tree)


# --- the string, and the policy's decisions ---


def refer(policy: str, pages: list[int], folder: Path) -> evidence.Evidence:
    text = " ".join(map(str, pages)).encode()
    made = of_policy(policy, folder).boot(
        "settle", {"string": text}, vm=policy, swap="sim:ram", frames=FRAMES, cmdline="sample_ms=0"
    )
    assert made.outcome is Outcome.RIGHT, made.reason
    return made.evidence


def simulated(policy: str, pages: list[int]) -> list[dict]:
    rows: list[dict] = []
    vmsim.run(vmsim.build(policy), Given("string", np.array(pages), step_ns=0), FRAMES, (), rows.append)
    return rows


def victims_of(rows: list[dict]) -> list[tuple[int, int]]:
    selects = [(row["ref"] - 1, hook) for row in rows for hook in row["hooks"] if hook["hook"] == "select"]
    return [(at, hook["gave"]) for at, hook in selects if hook["gave"] is not None]


@pytest.mark.parametrize("policy", soak_but(["fifo", "clock", "2q"], "clock"))
def test_decisions_seen_are_those_of_the_simulator(policy: str, tmp_path: Path) -> None:
    rng = random.Random(policy)
    pages = PREFIX + [rng.randrange(1, 12 if rng.random() < 0.3 else 40) for _ in range(600)]
    seen = refer(policy, pages, tmp_path)
    string, rows = seen.string(seen.main_space()), simulated(policy, pages)
    names = list(dict.fromkeys(pages))
    assert [names[page] for page in string.pages] == pages
    first = {page: pages.index(page) for page in names}
    faulted = [row["result"] == "fault" and at > first[page] for at, (row, page) in enumerate(zip(rows, pages))]
    assert string.swapped_in.tolist() == faulted and sum(faulted) > 100
    victims, expected = [(at, names[page]) for at, page in string.victims], victims_of(rows)
    assert [page for _, page in victims] == [page for _, page in expected]
    after_prefix = [victim for victim in expected if victim[0] >= len(PREFIX)]
    assert victims[-len(after_prefix) :] == after_prefix


def test_repeated_page_is_several_references_and_no_victim(tmp_path: Path) -> None:
    made = of_policy("fifo", tmp_path).boot("refstring 7 7 7 3r 7 3 3", vm="fifo", frames=64)
    string = made.evidence.string(made.evidence.main_space())
    assert string.pages.tolist() == [0, 0, 0, 1, 0, 1, 1]
    assert not string.swapped_in.any() and string.victims == []
    assert len(set(string.frames[string.pages == 0])) == 1
    assert string.frames[3] != string.frames[5] == string.frames[6]  # the zero page, then its own page


def test_belady_with_three_frames_on_the_pages_alone(tmp_path: Path) -> None:
    """The textbooks' counts for FIFO: 9 and 10 faults, of which 5 are first uses."""
    belady = "1 2 3 4 1 2 5 1 2 3 4 5"
    faults = {}
    for frames in (3, 4):
        made = of_policy("fifo", tmp_path).boot(f"refstring {belady}", vm="fifo", frames=frames)
        faults[frames] = 5 + int(made.evidence.string(made.evidence.main_space()).swapped_in.sum())
    assert faults == {3: 9, 4: 10}


# --- transfers of pages, spaces, time ---


def test_every_page_of_the_kernels_own_count_is_seen_to_move(tmp_path: Path) -> None:
    made = of_policy("clock", tmp_path).boot("thrash 4 2560 2", vm="clock", mem="8M")
    seen = made.evidence
    console = made.console.replace(",", "")
    assert f"swap: {seen.count(evidence.READ)} pages in {seen.count(evidence.WRITE)} out" in console
    assert seen.virtual_ns > seen.instructions > seen.user_instructions.sum() > 10**5


def test_switches_share_the_instructions_out(tmp_path: Path) -> None:
    made = of_policy("clock", tmp_path).boot("thrash 3 64 200", refs=NO_REFS)
    seen = made.evidence
    assert seen.count(evidence.REF) == seen.count(evidence.STORE) == 0
    assert seen.user_instructions.sum() == seen.events["user"][-1]
    workers = np.sort(seen.user_instructions)[-3:]
    assert workers.min() > 0.9 * workers.max()
    assert seen.count(evidence.BIRTH) == seen.nr_spaces - 1 >= 4
    exits = seen.events["space"][seen.events["kind"] == evidence.EXIT]
    assert len(set(exits)) == len(exits) > 0


@pytest.mark.parametrize("refs", soak_but([0, 1], 1))
def test_guest_does_not_notice(refs: int, tmp_path: Path) -> None:
    made = []
    options = kernel_map.find(of_policy("clock", tmp_path)).options
    for name in ("without", "with"):
        folder = tmp_path / name
        folder.mkdir()
        flags = plugin.flags("evidence", out=folder / "evidence", store=10 << 20, refs=refs, **options)
        telemetry = folder / "telemetry"
        s = qemu.Settings(
            vm="clock", mem="10M", swap="sim:ssd", run="thrash 4 2048 2", telemetry=str(telemetry), timeout=100
        )
        code, _ = qemu.unattended(
            replace(s, qemu_flags=flags if name == "with" else ""), folder / "console", lambda: None
        )
        assert code == qemu.OK
        made.append((folder / "console").read_bytes() + telemetry.read_bytes())
    assert made[0] == made[1] and (tmp_path / "with/evidence").stat().st_size > 10**4


@pytest.mark.soak
def test_same_boot_gives_the_same_bytes(tmp_path: Path) -> None:
    boots = [of_policy("2q", tmp_path).boot("thrash 2 1024 1", mem="8M", frames=300) for _ in range(2)]
    assert boots[0].console == boots[1].console
    assert np.array_equal(boots[0].evidence.events, boots[1].evidence.events)


# --- how it ends ---


def test_budget_ends_an_endless_loop(tmp_path: Path) -> None:
    made = of_policy("fifo", tmp_path).boot("thrash 1 64 100000000", refs=NO_REFS, budget=100_000_000)
    assert made.outcome is Outcome.HUNG and "instructions" in made.reason
    assert made.evidence.over_budget and made.evidence.whole
    assert 100_000_000 < made.evidence.instructions < 104_500_000  # checked at the next tick, after 4 ms


@pytest.mark.parametrize(
    ("run", "options", "outcome"),
    [
        ("true", {}, Outcome.RIGHT),
        ("false", {}, Outcome.WRONG),
        ("true", {"vm": "nosuch"}, Outcome.NO_BOOT),
        ("cat /string", {"mem": "8M", "frames": 3}, Outcome.RIGHT),
    ],
)
def test_outcome_is_how_the_run_ended(run: str, options: dict, outcome: Outcome, tmp_path: Path) -> None:
    made = of_policy("fifo", tmp_path).boot(run, {"string": b"a file of the test's\n"}, **options)
    assert made.outcome is outcome, made.reason
    assert ("a file of the test's" in made.console) == run.startswith("cat")


def test_panic_and_no_boot_are_told_apart(tmp_path: Path) -> None:
    none, some = (evidence.Evidence(np.zeros(nr, evidence.EVENT), [], 0, 0, False, True) for nr in (0, 2))
    some.events["kind"][0] = evidence.SWITCH
    some.events["user"][1] = 1
    assert ending(qemu.PANICKED, 37, "", none)[0] is Outcome.NO_BOOT
    assert ending(qemu.PANICKED, 37, "", some)[0] is Outcome.PANICKED
    assert ending(qemu.NO_QEMU, 0, "", some)[0] is Outcome.PANICKED
    assert ending(qemu.NO_QEMU, -6, "qemu: fatal", some) == (
        Outcome.PANICKED,
        "the machine came to a stop: qemu: fatal",
    )
    with pytest.raises(LabError, match="stops early"):
        ending(qemu.OK, 33, "", replace(some, whole=False))
    ran = replace(some, instructions=1)
    assert ending(qemu.NO_QEMU, 1, "", ran)[1] == "the kernel ended the machine itself, by machine_exit(0) or its like"
    for status in (1, 70, -9, 137):
        with pytest.raises(LabError, match="QEMU did not run"):
            ending(qemu.NO_QEMU, status, "", some)


def with_main_changed(cheating: Machine, old: str, new: str) -> Boot:
    """A run of `true` on a kernel whose main.c is changed, as a student's code can change it."""
    main = cheating.tree / "kernel/main.c"
    text = main.read_text()
    try:
        main.write_text(changed(text, old, new))
        subprocess.run(["make", "--silent", qemu.KERNEL], cwd=cheating.tree, check=True)
        return cheating.boot("true", vm="fifo")
    finally:
        main.write_text(text)
        subprocess.run(["make", "--silent", qemu.KERNEL], cwd=cheating.tree, check=True)


@pytest.mark.soak
def test_kernel_that_ends_the_machine_is_told(cheating: Machine) -> None:
    """The student's code causes it, not QEMU."""
    made = with_main_changed(cheating, "machine_exit(*status ? EXIT_FAILED : EXIT_OK)", "machine_exit(0)")
    assert (made.outcome, made.reason) == (
        Outcome.PANICKED,
        "the kernel ended the machine itself, by machine_exit(0) or its like",
    )


@pytest.mark.soak
def test_kernel_that_runs_no_program_ends_early(cheating: Machine) -> None:
    made = with_main_changed(cheating, "proc_start_init();", "for (;;) {}")
    assert made.outcome is Outcome.NO_BOOT and made.evidence.over_budget, made.reason
    assert 100_000_000 < made.evidence.instructions < 110_000_000


def test_kernel_that_does_not_fit_is_told(tmp_path: Path) -> None:
    image = bytearray((qemu.ROOT / qemu.KERNEL).read_bytes()[: 64 << 10])
    assert kernel_size.end(image) < 8 << 20
    at = kernel_size.HEADER.unpack_from(image)[0]
    image[at + 20 : at + 24] = (900 << 20).to_bytes(4, "little")  # memory size of the first segment in bytes
    tree = tmp_path / "tree"
    (tree / qemu.KERNEL).parent.mkdir(parents=True)
    (tree / qemu.KERNEL).write_bytes(image)
    made = replace(of_policy("fifo", tmp_path), tree=tree).boot("true", mem="16M")
    assert made.outcome is Outcome.NO_BOOT and not made.evidence.programs_ran
    assert made.reason.endswith(" but this machine has 16 MiB: a static array in your files is too large")


# --- breaches ---


@pytest.mark.parametrize("policy", soak_but(["fifo", "clock", "2q", "ws", "mglru", "s3fifo"], "clock", "ws", "2q"))
def test_honest_policy_breaks_nothing(policy: str, tmp_path: Path) -> None:
    made = of_policy(policy, tmp_path).boot("thrash 4 2048 3", vm=policy, mem="10M")
    assert made.outcome is Outcome.RIGHT and made.evidence.breaches == []
    assert made.evidence.count(evidence.WRITE) > 100


DEEDS = {
    1: ("user memory", r"cheat_select\(\) in kernel/mm/policy/cheat.c accesses a program's memory, at 0x8048000"),
    2: (
        "page of a program",
        r"cheat_select\(\) in kernel/mm/policy/cheat.c accesses a page of a program through its frame",
    ),
    3: ("kernel data", r"cheat_select\(\) in kernel/mm/policy/cheat.c writes to max_pfn, which is not its own"),
    4: ("kernel data", r"cheat_select\(\) in kernel/mm/policy/cheat.c writes to a field of a struct page that is not"),
    5: ("policy interface", "the policy broke the rule 'none' of mm/policy.h"),
    6: ("code control", "(the kernel executes, at 0x|jumps or returns to 0x).*"),
    7: ("control", "in kernel/mm/policy/cheat.c jumps or returns to 0x"),
    8: ("kernel data", "in kernel/mm/policy/cheat.c writes to max_pfn, which is not its own"),
    9: ("control", "in kernel/mm/policy/cheat.c jumps or returns to 0x"),
    10: ("instruction", "in kernel/mm/policy/cheat.c executes, at 0x"),
    11: ("control", "in kernel/mm/policy/cheat.c jumps or returns to 0x"),
    12: ("memory", "in kernel/mm/policy/cheat.c accesses memory that is not its own, at 0x"),
    13: ("memory", "in kernel/mm/policy/cheat.c accesses memory that is not its own, at 0x"),
    14: ("argument", r"in kernel/mm/policy/cheat.c hands mm_rss\(\) what the kernel has not given it"),
    15: ("stack", "in kernel/mm/policy/cheat.c has its stack elsewhere, at 0x"),
    16: ("memory", "in kernel/mm/policy/cheat.c accesses memory that is not its own, at 0x"),
    17: ("control", "in kernel/mm/policy/cheat.c jumps or returns to 0x"),
    18: ("kernel data", "in kernel/mm/policy/cheat.c writes to max_pfn, which is not its own"),
    19: ("control", "in kernel/mm/policy/cheat.c jumps or returns to 0x"),
    20: (
        "page of a program",
        r"cheat_select\(\) in kernel/mm/policy/cheat.c accesses a page of a program through its frame",
    ),
    21: ("argument", r"in kernel/mm/policy/cheat.c hands seq_puts\(\) what the kernel has not given it"),
    22: ("memory", r"cheat_show\(\) in kernel/mm/policy/cheat.c accesses memory that is not its own, at 0x"),
    23: ("argument", r"in kernel/mm/policy/cheat.c hands vm_eligible\(\) what the kernel has not given it"),
    24: ("argument", r"in kernel/mm/policy/cheat.c hands seq_printf\(\) what the kernel has not given it"),
    25: ("memory", "in kernel/mm/policy/cheat.c accesses memory that is not its own, at 0x"),
    26: ("registers", r"cheat_mm_init\(\) in kernel/mm/policy/cheat.c returns with other registers than those"),
    27: ("memory", r"in kernel/mm/policy/cheat.c accesses memory that is not its own, at 0x"),
}
LONGER = {9, 10, 11, 13, 14, 15, 16, 18, 19}
SHOWING, LOSING, HONEST = (22, 24), 26, 28


@pytest.mark.parametrize("deed", soak_but(DEEDS, *set(DEEDS) - LONGER))
def test_each_deed_is_seen(deed: int, cheating: Machine) -> None:
    command = "cat /proc/vm/policy" if deed in SHOWING else "refstring 1-60"
    made = cheating.boot(command, vm="cheat", frames=40, cmdline=f"cheat.deed={deed}")
    assert made.outcome is Outcome.RIGHT or deed == LOSING, made.reason + made.console
    what, said = DEEDS[deed]
    found = made.evidence.breaches
    assert {breach.what for breach in found} in ({what}, set(what.split()))
    texts = [breach.text for breach in found]
    assert all(re.search(said, text) for text in texts), texts
    assert len(found) < 5


def test_program_that_is_killed_for_memory_is_seen(tmp_path: Path) -> None:
    """A program in the background may have been killed although the command ended successfully."""
    made = of_policy("fifo", tmp_path).boot("sh -c 'thrash 1 32768 1; true'", vm="fifo", mem="16M", swap="none")
    assert made.outcome is Outcome.RIGHT and made.evidence.count(evidence.KILLED) == 1
    verdict = work.undone(LabTest("a run", 1, "runs"), Mock(), made, Mock())
    assert verdict and "the kernel killed 1 of the programs" in verdict.message


def test_may_store_allows_what_it_names(cheating: Machine) -> None:
    allowed = replace(cheating, may_store=("max_pfn",))
    made = allowed.boot("refstring 1-60", vm="cheat", frames=40, cmdline="cheat.deed=3")
    assert made.evidence.breaches == [] and made.evidence.count(evidence.WRITE) > 10
    with pytest.raises(LabError, match="the kernel has 0 variables nosuch"):
        replace(cheating, may_store=("nosuch",)).boot("true")


def test_the_same_policy_is_honest_without_its_deed(cheating: Machine) -> None:
    run = "sh -c 'thrash 2 4096 2; cat /proc/vm/policy'"
    assert cheating.boot(run, vm="cheat", mem="10M").evidence.breaches == []


def test_interrupt_between_a_call_and_the_function_is_nobodys_fault(cheating: Machine) -> None:
    """Twenty pages are evicted, and for each it calls functions 400,000 times: at least two instructions."""
    made, plain = (
        cheating.boot("refstring 1-60", vm="cheat", frames=40, cmdline=cmdline)
        for cmdline in (f"cheat.deed={HONEST}", "")
    )
    assert made.evidence.instructions - plain.evidence.instructions > 20 * 400_000 * 2
    assert made.outcome is Outcome.RIGHT and made.evidence.breaches == []


# --- the student's part of the kernel ---


def test_objects_are_found_where_the_linker_put_them() -> None:
    kernel = elf.Elf(qemu.ROOT / qemu.KERNEL)
    names = [line.split() for line in (qemu.ROOT / (qemu.KERNEL + ".nm")).read_text().splitlines()]
    addresses = {row[2]: int(row[0], 16) for row in names}
    for policy in ("fifo", "clock", "2q", "ws"):
        part = elf.place(kernel, elf.Elf(qemu.ROOT / f"build/kernel/mm/policy/{policy}.o"))
        functions = dict((name, address) for address, name in part.functions)
        prefix = "twoq" if policy == "2q" else policy
        assert functions[f"{prefix}_select"] == addresses[f"{prefix}_select"]
        (low, high), *more = part.code
        assert low <= min(functions.values()) and max(functions.values()) < high and not more
    everything = [elf.place(kernel, elf.Elf(path)) for path in linked_objects()]
    spans = sorted(span for part in everything for span in (*part.code, *part.data))
    assert all(before[1] <= after[0] for before, after in zip(spans, spans[1:])) and len(spans) > 150


def linked_objects() -> list[Path]:
    sources = (qemu.ROOT / "build/sources").read_text().split()
    return [(qemu.ROOT / "build" / source).with_suffix(".o") for source in sources]


def test_object_that_is_not_in_the_kernel_is_refused(cheating: Machine) -> None:
    with pytest.raises(LabError, match="run `make`"):
        elf.place(elf.Elf(qemu.ROOT / qemu.KERNEL), elf.Elf(cheating.tree / cheating.objects[0]))
    with pytest.raises(LabError, match="is not an object file"):
        elf.Elf(qemu.ROOT / qemu.INITRD)


def test_layout_of_struct_page_is_the_compilers(tmp_path: Path) -> None:
    size, low, high, *_ = kernel_map.layout(of_policy("fifo", tmp_path))
    assert 0 < low < high <= size and size % 4 == 0 and high - low >= 8


# --- a disk for files ---


def test_files_on_a_disk_are_not_taken_for_swap(tmp_path: Path) -> None:
    """filescan writes 64 pages of the disk and reads them twice; 20 frames are not enough for the array in addition."""
    image = tmp_path / "disk.img"
    image.write_bytes(bytes(64 * PAGE))
    run = "filescan /dev/sda 1 read fill; refstring 1-60 1-60; cat /dev/sda > /dev/null"
    made = of_policy("fifo", tmp_path).boot(run, vm="fifo", frames=FRAMES, swap="sim:ram", disk=image)
    assert made.outcome is Outcome.RIGHT, made.reason
    seen = made.evidence
    pages = {kind: seen.events["a"][seen.events["kind"] == kind] for kind in (evidence.FILE_READ, evidence.FILE_WRITE)}
    assert set(pages[evidence.FILE_WRITE].tolist()) == set(range(64))
    assert set(pages[evidence.FILE_READ].tolist()) <= set(range(64))
    alone = of_policy("fifo", tmp_path).boot("refstring 1-60 1-60", vm="fifo", frames=FRAMES, swap="sim:ram").evidence
    for one in (evidence.READ, evidence.WRITE):
        assert seen.count(one) > 0 and abs(seen.count(one) - alone.count(one)) < 40, one
    found = seen.string(seen.main_space())
    assert np.array_equal(found.pages, alone.string(alone.main_space()).pages)
    assert image.read_bytes() == bytes(64 * PAGE)  # the run had a copy
