"""Booting a kernel with a student's code, under the plugin that records the evidence.

It runs in the sandbox, on copies of the kernel and its first file system: all that a run can change is discarded.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import mkinitramfs

from tidemark.errors import FAILED, LabError
from tidemark.grade.build.sandbox import Sandbox
from tidemark.grade.build.workspace import Workspace
from tidemark.grade.model import Outcome
from tidemark.grade.witness import evidence, kernel_map, kernel_size, to_debug
from tidemark.grade.witness.evidence import Evidence
from tidemark.machine import plugin, qemu

MAX_RECORDS = 1 << 24  # of tools/plugin/evidence/record.c
GUESTS_FAULT = 72  # the plugin's exit status for QEMU if nothing can be recorded any more
MEMORY, EVIDENCE, WRITES = "memory", "evidence", "writes"
WENT_WRONG = (qemu.FAILED, qemu.PANICKED, qemu.HUNG)
LIMIT_S, WALL_LIMIT_S = 300, 3000  # processor time and wall clock: last resorts, long after the budget

# Recorded references: none; loads and stores; one record per run to a page (refs= of tools/plugin/evidence.c).
NO_REFS, EACH_KIND, EITHER_KIND = range(3)


@dataclass(frozen=True)
class Run:
    """A run: a command line of the guest, and options; vm, mem, swap, frames, cmdline and seed as in `make qemu`.

    `files` are added to the guest's first file system, in directories that it has. `refs`: which references are
    recorded; with NO_REFS neither they nor program pages that the student's code touches are known. `disk`:
    an image for a modelled disk, sda, of the kind `disk_kind`, which the run does not change; `writes`: all writes and
    flushes of a disk with a cache are recorded. `tables`: page tables are counted. `requests`: the ends of disk
    requests are recorded. `budget`: the number of instructions, of kernel and programs, after which the run is ended.
    """

    command: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    vm: str = "2q"
    mem: str = "16M"
    swap: str = "sim:ssd"
    frames: str | int = ""
    cmdline: str = ""
    refs: int = EACH_KIND
    tables: bool = False
    requests: bool = False
    disk: Path | None = None
    disk_kind: str = qemu.Settings.disk_kind
    writes: bool = False
    budget: int = 2_000_000_000
    seed: str | int = ""


@dataclass(frozen=True)
class Boot:
    """How a run ended: `reason` in a line, `console` for display only, and the evidence recorded from outside.
    `went_wrong`: by the guest's own account. `left`: the files of the run until its test is judged, if they may be
    wanted. `writes`: what was written to the disk, as tools/plugin/evidence/disk.c describes it."""

    outcome: Outcome
    reason: str
    console: str
    evidence: Evidence
    went_wrong: bool = False
    left: to_debug.Left | None = None
    writes: bytes = b""


def ending(code: int, status: int, said: str, seen: Evidence) -> tuple[Outcome, str]:
    """(outcome, reason) of a run, from the result of qemu.unattended and QEMU's last message. Raises LabError if the
    guest did not cause the end, or evidence is missing.
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
    if seen.over_budget and len(seen.events) >= MAX_RECORDS:
        found = Outcome.HUNG, f"it had not ended after {len(seen.events):,} recorded references"
    elif seen.over_budget:
        found = Outcome.HUNG, f"it had not ended after {seen.instructions:,} instructions"
    elif code in known:
        found = known[code]
    elif status == 0:
        found = Outcome.PANICKED, "the machine was reset by a triple fault"
    elif status % 2 and seen.whole and seen.instructions:  # by the exit device, with an unknown code
        found = Outcome.PANICKED, f"the kernel ended the machine itself, by machine_exit({status // 2}) or its like"
    elif status == GUESTS_FAULT:
        found = Outcome.PANICKED, f"the machine came to a stop: {said.removeprefix('tidemark plugin: ')}"
    elif number == signal.SIGXCPU:
        found = Outcome.HUNG, f"it had not ended after {LIMIT_S} s of the host's processor time"
    elif number and number != signal.SIGKILL:
        found = Outcome.PANICKED, f"the machine came to a stop: {said or f'signal {number}'}"
    else:
        raise LabError(f"QEMU did not run the kernel: {said or f'status {status}'}", FAILED)
    if not seen.whole and code in known and code != qemu.TIMED_OUT:
        raise LabError("the plugin's record stops early: is the disk full?", FAILED)
    if seen.whole and not seen.programs_ran:
        return Outcome.NO_BOOT, f"no program ever ran: {found[1]}"
    return found


def lay_image(workspace: Workspace, folder: Path, files: Mapping[str, bytes]) -> None:
    """Copy into a folder all that a run sees: the tree's kernel, and its first file system with `files` added."""
    (folder / "build").mkdir()
    shutil.copyfile(workspace.tree / qemu.KERNEL, folder / qemu.KERNEL)
    archive = (workspace.tree / qemu.INITRD).read_bytes()
    archive = archive[: archive.rindex(b"070701", 0, archive.rindex(b"TRAILER!!!"))]
    members = {name: mkinitramfs.Entry(0o100755, data) for name, data in files.items()}
    (folder / qemu.INITRD).write_bytes(archive + mkinitramfs.archive(members))


def settings_of(run: Run, folder: Path, options: Mapping[str, str], box: Sandbox, told: bool) -> qemu.Settings:
    """QEMU's settings in the sandbox: the image is in the folder; `options` are the plugin's; `told`: telemetry is
    wanted."""
    plain = qemu.Settings(
        vm=run.vm,
        mem=run.mem,
        swap=run.swap,
        frames=str(run.frames),
        run=run.command,
        seed=str(run.seed),
        cmdline=run.cmdline,
        timeout=WALL_LIMIT_S,
        image=folder,
        prefix=tuple(box.prefix(folder, [folder], LIMIT_S)),
        disk=str(run.disk or ""),
        disk_kind=run.disk_kind,
        disk_kept=False,
        memory=str(folder / MEMORY) if run.disk else "",
        telemetry=str(folder / "telemetry") if told else "",
    )
    places = {"store": str(qemu.size_bytes(run.mem, "mem"))} | (
        {"files": str(qemu.image_at(plain))} if run.disk else {}
    )
    return replace(plain, qemu_flags=plugin.flags("evidence", box.within_reach, **places, **options))


def boot(workspace: Workspace, run: Run) -> Boot:
    """Boot the workspace's kernel. Raises LabError if it could not be run and the student is not the cause."""
    large = kernel_size.too_large(workspace.tree / qemu.KERNEL, qemu.size_bytes(run.mem, "mem"))
    if large:
        return Boot(Outcome.NO_BOOT, large, "", evidence.NOTHING)
    with contextlib.ExitStack() as held:
        folder = Path(tempfile.mkdtemp(prefix="boot-", dir=workspace.scratch))
        held.callback(shutil.rmtree, folder, ignore_errors=True)
        made = observed(workspace, run, folder, bool(workspace.keep))
        if not workspace.keep:
            return replace(made, left=None)
        held.pop_all()
        return made


def observed(workspace: Workspace, run: Run, folder: Path, told: bool, look: Callable[[], None] = lambda: None) -> Boot:
    """Boot the workspace's kernel in an empty folder, whose files are left. `told`: with telemetry; `look` is called
    often meanwhile, and may end the run by an exception. Raises LabError as `boot` does."""
    kernel = kernel_map.find(workspace)
    lay_image(workspace, folder, run.files)
    if run.disk:
        (folder / MEMORY).touch()
    console, log, records = folder / "console", folder / "qemu.log", folder / EVIDENCE
    console.touch()  # it becomes the sandbox's, as the rest of the folder does
    options = {
        "out": str(records),
        "refs": str(run.refs),
        "tables": str(int(run.tables)),
        "requests": str(int(run.requests)),
        "budget": str(run.budget),
        **({"writes": str(folder / WRITES)} if run.writes else {}),
        **kernel.options,
    }
    with log.open("wb") as messages:
        settings = settings_of(run, folder, options, workspace.sandbox, told)
        code, status = qemu.unattended(settings, console, look, messages)
    seen = evidence.read(records, kernel)
    said = log.read_text("utf-8", "replace").strip().splitlines()[-1:]
    outcome, reason = ending(code, status, "".join(said), seen)
    text = console.read_text("ascii", "replace").replace("\r", "")
    left = to_debug.Left(settings, console, code, reason)
    written = (folder / WRITES).read_bytes() if run.writes and (folder / WRITES).exists() else b""
    return Boot(outcome, reason, text, seen, code in WENT_WRONG, left, written)
