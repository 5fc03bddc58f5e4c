"""The parts `machine` and `hooks`: the policy in the kernel, in the sandbox, watched by the grader's plugin.

Time, instructions and moved pages are what QEMU and its plugin count from outside. The time in hooks and the faults are
the kernel's own counts, which a policy cannot change without an access that the plugin reports.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tidemark.errors import FAILED, LabError
from tidemark.evaluate import least
from tidemark.evaluate.refusal import KERNEL, Refused
from tidemark.grade.model import Outcome
from tidemark.grade.witness import boot, evidence
from tidemark.grade.witness.machine import Machine
from tidemark.machine import disk
from tidemark.runs import bound, replicates
from tidemark.telemetry import stream

MEM, SWAP, DISK = "12M", "sim:hdd", "24M"
COST_RUN, COST_MEM = "seqscan 38912 5", "42176K"  # those of the figure `hooks`
BUDGET = 1_000_000_000  # instructions of one run; the largest of the set has a fifth of that under `2q`
SAMPLES = "sample_ms=1000"
FREE = re.compile(r"^memory: .* (\d+) KiB free", re.MULTILINE)
RULE = re.compile(r"the rule '([\w-]+)'")  # in a breach's text
VIOLATION = re.compile(r"policy violation: \S+ (rule=.*)")  # on the console

Look = Callable[[], None]


@dataclass(frozen=True)
class Booted:
    """A cell: a program in the kernel, with a guard or without."""

    name: str
    run: str
    swap: str = SWAP
    guard: str = "none"
    has_disk: bool = False


CELLS = (
    Booted("phases", "phase {size:16384} {size:4096} 8 2500 --seed {seed}"),
    Booted("zipf", "pattern zipf {size:16384} 20000 --seed {seed}", swap="sim:ssd"),
    Booted("overload", "thrash 6 {size:3072} 2 300"),
    Booted("overload-guarded", "thrash 6 {size:3072} 2 300", guard="serialize"),
    Booted("file-and-hot-set", "filemix /mnt/f {size:3072} {size:10240} 2 2 --seed {seed}", has_disk=True),
)


@dataclass(frozen=True)
class Counted:
    """One run: seconds of virtual time, pages read, instructions of all and of the hooks, faults; and its least."""

    time_s: float
    reads: int
    instructions: int
    hook_instructions: int
    faults: int
    console: str


@dataclass(frozen=True)
class Measured:
    """A run of a cell, and the least that it needs."""

    counted: Counted
    least: least.Least

    @property
    def time_over_least(self) -> float:
        """Virtual time over that of the disk alone."""
        return self.counted.time_s / self.least.seconds

    @property
    def reads_over_least(self) -> float:
        """Pages read over the least."""
        return self.counted.reads / self.least.reads


def disk_image(folder: Path) -> Path:
    """The empty disk of the cells that have one, made in a folder unless it exists."""
    image = folder / f"{DISK}.img"
    return image if image.exists() else Path(disk.image_of(DISK, folder))


def refused(run: boot.Boot, where: str) -> Refused | None:
    """Why a run refuses the policy; None if it does not."""
    for breach in run.evidence.breaches:
        if breach.what == "policy interface":
            found = RULE.search(breach.text)
            said = VIOLATION.search(run.console)
            return Refused(KERNEL, found[1] if found else "policy", f"{where}: {said[1] if said else breach.text}")
        return Refused(KERNEL, "memory", f"{where}: {breach.text}")
    if run.outcome is Outcome.RIGHT:
        return None
    rule = "time" if run.outcome is Outcome.HUNG else "run"
    last = [line for line in run.console.splitlines() if line.strip()][-1:]
    return Refused(KERNEL, rule, f"{where}: {run.reason}" + (f"; the console ends: {last[0].strip()}" if last else ""))


def count(machine: Machine, run: boot.Run, where: str, look: Look) -> Counted:
    """Boot, and count. Raises Refused if the policy breaks a rule or the run fails."""
    folder = Path(tempfile.mkdtemp(prefix="boot-", dir=machine.scratch))

    def look_at_qemu() -> None:
        if (folder / boot.EVIDENCE).exists():  # before QEMU runs, an ended sandbox could leave a process behind
            look()

    try:
        made = boot.observed(machine, run, folder, told=True, look=look_at_qemu)
        if reason := refused(made, where):
            raise reason
        assert made.left
        last = stream.read(Path(made.left.settings.telemetry)).samples[-1]
    except stream.TelemetryError as error:
        raise LabError(f"{where}: the kernel's telemetry is incomplete: {error}", FAILED) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    seen = made.evidence
    reads = seen.count(evidence.READ) + seen.count(evidence.FILE_READ)
    spent = seen.instructions - 1000 * last["cost_us"]  # an instruction takes a nanosecond; samples are not counted
    hooks = 1000 * last["policy_us"]
    return Counted(seen.virtual_ns / 1e9, reads, spent, hooks, last["vm"]["pgfault"], made.console)


def run_of(cell: Booted, policy: str, replicate: int, image: Path) -> boot.Run:
    """The run of a cell with what a replicate draws; `image`: the empty disk, for cells that have one."""
    one = replicates.expanded({"workload": cell.run, replicates.REPLICATE: replicate})
    words = [f"guard={cell.guard}", SAMPLES, *(f"{name}={one[name]}" for name in replicates.DRAWN)]
    return boot.Run(
        str(one["workload"]).replace("{seed}", str(one["seed"])),
        vm=policy,
        mem=MEM,
        swap=cell.swap,
        cmdline=" ".join(words),
        refs=boot.NO_REFS,
        disk=image if cell.has_disk else None,
        budget=BUDGET,
    )


def measure(machine: Machine, cell: Booted, replicate: int, look: Look) -> Measured:
    """One run of a cell. Raises Refused."""
    run = run_of(cell, machine.lab.title, replicate, disk_image(machine.scratch))
    counted = count(machine, run, f"in the kernel, `{run.command}`, guard {cell.guard}", look)
    free = FREE.search(counted.console)
    if not free:
        raise LabError(f"`{run.command}`: the console does not say how much memory is free", FAILED)
    needed = least.of_command(run.command, int(free[1]) // least.PAGE_KIB, bound.disk_of(counted.console))
    return Measured(counted, needed)


def cost(machine: Machine, look: Look) -> Counted:
    """The run of the figure `hooks`. Raises Refused."""
    run = boot.Run(COST_RUN, vm=machine.lab.title, mem=COST_MEM, swap=SWAP, refs=boot.NO_REFS, budget=BUDGET)
    return count(machine, run, f"in the kernel, `{COST_RUN}`", look)
