"""Kind `cut`: the power fails at every write and every flush of a program, and what was synced must be on the disk.

The program does some steps on a small disk. All that the kernel writes is recorded, once, and what is on the medium
after a cut at each request is computed from that (tidemark.grade.judge.media), with several draws of what the disk's
cache loses. e2fsck repairs each medium, and then the names and the bytes that were synced must be there
(tidemark.grade.judge.promises). Options:

    steps      the steps, one per line; or `random`, their number, and `seed`
    size       of the disk, as for mke2fs ("256K"); its blocks have 1 KiB
    inodes     of the disk (32)
    inode_size bytes of an inode (256)
    draws      cuts at each request (4): cut_seed=1 and so on
    cmdline    more words on the kernel's command line
    times      of flushes, as in tidemark.grade.judge.budget; without it only right or wrong
    ours       flushes of the reference solution: up to the end of step 1, in each step, and after the last one
    hint       a hint for students who flush too often
"""

from __future__ import annotations

import errno
import hashlib
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import MappingProxyType

from tidemark.errors import BAD_INPUT, LabError
from tidemark.grade.build.workspace import make_trusted
from tidemark.grade.judge import budget, host_ext2, media, promises
from tidemark.grade.model import Outcome, Test, Verdict, right, scaled, wrong
from tidemark.grade.witness.boot import EITHER_KIND, Boot
from tidemark.grade.witness.evidence import REQUEST
from tidemark.grade.witness.machine import Machine, trouble
from tidemark.machine import ext2, qemu

PROGRAM = "build/user/fsops"
SIZE, INODES, INODE_SIZE, DRAWS = "256K", 32, 256, 4
CACHE = 1 << 20  # of the disk; larger than a test's disk
MARKS = 0x70000  # the first page that the program marks
BUDGET = 200_000_000  # instructions; the solutions need 8 million
STEPS_SHOWN = 8
MOST_REQUESTS, MOST_MIB = 2000, 64  # of a run; the solutions' have 140 requests at most
TOGETHER = 1000  # cuts that are judged at a time, each with a medium in memory


def history_of(test: Test, kind: type[promises.History] = promises.History) -> promises.History:
    """The steps of a test. Raises LabError if they cannot be done."""
    if ("steps" in test.options) == ("random" in test.options):
        raise LabError(f"{test.title}: it needs steps or random", BAD_INPUT)
    if "random" in test.options:
        made = promises.Random(int(test.options.get("seed", 1)))
        made.run(int(test.options["random"]))
        return made
    history = kind()
    for line in str(test.options["steps"]).strip().splitlines():
        try:
            history.perform(line)
        except (KeyError, ValueError, TypeError):
            raise LabError(f"{test.title}: the step {line!r} cannot be done", BAD_INPUT) from None
    return history


def disk_of(test: Test, files: Mapping[str, bytes] = MappingProxyType({})) -> bytes:
    """The disk before the run, with some files."""
    given = {"size": SIZE, "inodes": INODES, "inode_size": INODE_SIZE, **test.options}
    size, *inodes = str(given["size"]), "-N", str(given["inodes"]), "-I", str(given["inode_size"])
    with tempfile.TemporaryDirectory(prefix="tidemark-disk-") as folder:
        content = Path(folder, "content")
        content.mkdir()
        for name, data in files.items():
            (content / name).write_bytes(data)
        return ext2.make(Path(folder, "image"), size, "-b", "1024", *inodes, content=content).read_bytes()


def program(release: Path) -> bytes:
    """The program that does the steps. It is the release's own: `make grade-base` builds it."""
    if not (release / PROGRAM).is_file():
        make_trusted(release, PROGRAM)
    return (release / PROGRAM).read_bytes()


def ran(test: Test, machine: Machine, disk: bytes, history: promises.History, mount: str = "") -> Boot:
    """The run of the steps, with its writes recorded. mount: options of mount, which a mount at boot does not have."""
    at_boot = "mount=none" if mount else ""
    path = machine.scratch / f"disk-{hashlib.sha256(test.title.encode()).hexdigest()[:16]}"
    path.write_bytes(disk)
    script = "".join(f"{line}\n" for line in history.script).encode()
    try:
        return machine.boot(
            f"mkdir /mnt; mount -t ext2 {mount} /dev/sda /mnt; /fsops /mnt /script {MARKS << 12:#x}; umount /mnt",
            files={"fsops": program(machine.release), "script": script},
            disk=path,
            disk_kind=f"sim:ram,cache={CACHE >> 10}K",
            refs=EITHER_KIND,
            writes=True,
            budget=BUDGET,
            cmdline=f"sample_ms=0 {at_boot} {test.options.get('cmdline', '')}".strip(),
        )
    finally:
        path.unlink()


def log_of(run: Boot, history: promises.History) -> media.Log:
    """The log of a run. The program marks page 2n after its step n (0: the first) was answered as it must be, and page
    2n + 1 otherwise."""
    return media.log_of(run, range(MARKS, MARKS + 2 * len(history.script)))


def too_much(run: Boot) -> Verdict | None:
    """The verdict on a run with far more requests than its steps need. Each would be examined after several cuts."""
    nr, mib = run.evidence.count(REQUEST), len(run.writes) >> 20
    if nr <= MOST_REQUESTS and mib <= MOST_MIB:
        return None
    return wrong(
        f"the disk got {nr:,} requests and {mib:,} MiB; these steps need a tenth of {MOST_REQUESTS:,} requests"
    )


def some_at_a_time(cuts: Iterator[tuple[int, int, bytes]]) -> Iterator[list[tuple[int, int, bytes]]]:
    """The cuts in lists of TOGETHER."""
    while some := list(islice(cuts, TOGETHER)):
        yield some


def answer(number: int) -> str:
    """What a call returned: a number, or the name of an error."""
    return errno.errorcode.get(-number, str(number)) if number < 0 else str(number)


def answers_shown(run: Boot) -> list[int]:
    """The answers that the program printed. They are only shown: the student's kernel could print them, too."""
    printed = run.console.rpartition("answers:")[2]
    return [int(line) for line in printed.splitlines() if re.fullmatch(r"-?\d+", line)]


def undone(history: promises.History, log: media.Log, run: Boot) -> Verdict | None:
    """The verdict on a run in which a step failed; None if all were done."""
    shown = answers_shown(run)
    for number, line in enumerate(history.script):
        if number >= len(log.marks):
            return wrong(f"step {number + 1}, `{line}`, was never answered")
        if log.marks[number] != 2 * number:
            returned = f": it returned {answer(shown[number])}" if number < len(shown) else ""
            return wrong(f"step {number + 1}, `{line}`, failed{returned}")
    return None


def repaired(machine: Machine, images: Sequence[bytes]) -> list[bytes | None]:
    """The images after e2fsck, in the sandbox; None: it could not repair an image."""
    return [ran.image if ran.status in (0, 1) else None for ran in host_ext2.checked(machine, images, "-fy")]


def shown(history: promises.History, done: int) -> list[str]:
    """The last steps before the cut, and the one under way."""
    first = max(0, done + 1 - STEPS_SHOWN)
    lines = [f"    {at + 1}: {line}" for at, line in enumerate(history.script[first : done + 1], first)]
    if done < len(history.script):
        lines[-1] += "    (not answered yet)"
    return lines


def lost(history: promises.History, done: int, repaired_image: bytes | None) -> str:
    """What is wrong with a medium after `done` steps; empty if nothing is."""
    if repaired_image is None:
        return "e2fsck cannot repair the disk"
    try:
        history.judge(ext2.Image(repaired_image).files(), done)
    except ext2.BadImage as error:
        return f"the disk cannot be read: {error}"
    except promises.Lost as error:
        return str(error)
    return ""


def told(log: media.Log, history: promises.History, number: int, seed: int, said: str) -> str:
    """The message on a cut."""
    request = log.requests[number - 1]
    sectors = request.sectors
    what = f"a write of {len(sectors)} sectors from {sectors[0][0]} on" if sectors else "a flush"
    head = f"the power fails at request {number} of {len(log.requests)}, {what} (draw {seed}): {said}"
    return "\n".join([head, *shown(history, len(request.marks))])


def kept(machine: Machine, medium: bytes) -> str:
    """Keeps a medium that a cut has left. Returns the line that names its file; empty if no runs are kept."""
    if not machine.keep:
        return ""
    machine.keep.mkdir(parents=True, exist_ok=True)
    path = machine.keep / "disk"
    path.write_bytes(medium)
    place = path.relative_to(qemu.ROOT) if path.is_relative_to(qemu.ROOT) else path
    return f"\nthis disk is {place}: `e2fsck -fn {place}` says what is wrong with it"


def first_loss(machine: Machine, history: promises.History, log: media.Log, disk: bytes, draws: int) -> str:
    """The message on the first cut that loses something; empty if there is none."""
    for cuts in some_at_a_time(media.all_cuts(disk, log.requests, CACHE, draws)):
        images = list(dict.fromkeys(medium for _, _, medium in cuts))
        after = dict(zip(images, repaired(machine, images)))
        for number, seed, medium in cuts:
            if said := lost(history, len(log.requests[number - 1].marks), after[medium]):
                return told(log, history, number, seed, said) + kept(machine, medium)
    return ""


def never_written(history: promises.History, log: media.Log, disk: bytes) -> str:
    """What is not on the disk after the run; empty if all is. No cut shows what was never requested, as by code that
    gives the file system another disk."""
    said = lost(history, len(history.script), media.at_end(disk, log.requests))
    return f"after the last of {len(log.requests)} requests: {said}" if said else ""


def figure(test: Test, machine: Machine) -> float:
    """The number of flushes with the reference solution."""
    history = history_of(test)
    return float(log_of(budget.ended_well(test, ran(test, machine, disk_of(test), history)), history).flushes)


def flushes_by_step(history: promises.History, log: media.Log) -> list[int]:
    """The numbers of flushes, as in the option `ours`."""
    counts = [0] * (len(history.script) + 1)
    for request in log.requests:
        counts[min(len(request.marks), len(history.script))] += not request.sectors
    return counts


def needless(test: Test, history: promises.History, log: media.Log) -> str:
    """A line on the steps in which there are more flushes than with the reference solution; empty if none are known."""
    steps = [*(f"step {number}, `{line}`" for number, line in enumerate(history.script, 1)), "the unmount"]
    rows = zip(steps, flushes_by_step(history, log), test.options.get("ours", ()))
    more = [f"{step}: {count} (ours {ours})" for step, count, ours in rows if count > ours]
    rest = f"; and {len(more) - STEPS_SHOWN} more" if len(more) > STEPS_SHOWN else ""
    return f"\nmore flushes than ours in {'; '.join(more[:STEPS_SHOWN])}{rest}" if more else ""


def by_flushes(
    test: Test, machine: Machine, history: promises.History, log: media.Log, figure_of: budget.Figure
) -> Verdict:
    """The verdict on a run of which no cut loses anything: right, or by the flushes against `figure_of` the reference
    solution."""
    figures = {"requests": float(len(log.requests)), "flushes": float(log.flushes)}
    if not budget.is_relative(test):
        return right(f"nothing is lost by a cut at any of {len(log.requests)} requests", figures=figures)
    full, none = budget.limits(test, machine, figure_of)
    made = scaled(log.flushes, full, none, "flushes of the disk", figures=figures)
    if made.fraction == 1:
        return made
    hint = f"\n{test.options['hint']}" if "hint" in test.options else ""
    return replace(made, message=made.message + needless(test, history, log) + hint)


def judge(test: Test, machine: Machine) -> Verdict:
    """Record one run, and cut the power at each of its requests."""
    history, disk = history_of(test), disk_of(test)
    run = ran(test, machine, disk, history)
    if stopped := trouble(run) or too_much(run):
        return stopped
    log = log_of(run, history)
    if failed := undone(history, log, run):
        return failed
    if run.outcome is not Outcome.RIGHT:
        return wrong(f"the disk cannot be unmounted: {run.reason}")
    draws = int(test.options.get("draws", DRAWS))
    if said := first_loss(machine, history, log, disk, draws) or never_written(history, log, disk):
        return wrong(said)
    return by_flushes(test, machine, history, log, figure)
