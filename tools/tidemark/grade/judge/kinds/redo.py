"""Kind `redo`: the power fails while a program changes files of a disk with a redo log; after the next mount, e2fsck
finds nothing to repair, and what was synced is there.

The run is recorded, and the media after cuts are computed, as in the kind `cut`. Each medium is mounted by the
student's code, in a program on the host (tests/host/ext2), in the sandbox: this replays the log. The power fails again
at the end of the mount, and e2fsck examines the disk, in a sandbox of its own. Options, besides those of `cut`:

    log        blocks of /redo.log (64)
    case       what happens besides; none: only the cuts
                 replay   the power also fails during the replay
                 torn     the cuts are at each write of the log, of which one sector is not on the medium
                 stale    after the cut e2fsck repairs the disk, and a mount without redo changes it; and if this mount
                          does not end by an unmount, the next one with redo must not call the disk clean
"""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence

from tidemark.errors import BAD_INPUT, FAILED, LabError
from tidemark.grade.build.workspace import tail
from tidemark.grade.judge import host_ext2, media, promises
from tidemark.grade.judge.host_ext2 import EACH_S, Images
from tidemark.grade.judge.kinds import cut
from tidemark.grade.model import Outcome, Test, Verdict, wrong
from tidemark.grade.witness.machine import Machine, trouble
from tidemark.machine import ext2

LOG, LOG_BLOCKS, BLOCK = "redo.log", 64, 1024
DRAWS = 6
NO_END = f"the mount does not end within {EACH_S} s of processor time, or ended its shell"
CASES = ("", "replay", "torn", "stale")
SECOND_CUTS = 10  # writes of a replay, at one of which the power fails again
LATER = ("mkdir /later", "create /later/a", "write /later/a 0 9000 7", "sync")  # by the mount without redo
STATE, CLEAN = ext2.SUPER + 58, 1  # a field of the superblock, and its bit that an unmount sets
CALLED_CLEAN = "the disk is called clean, although the last mount, without redo, did not end by an unmount"
SHOWN = 160  # characters of what e2fsck says


def disk_of(test: Test) -> bytes:
    """The disk before the run. Its log is full of bytes that are not zero."""
    return cut.disk_of(test, {LOG: b"\xee" * (BLOCK * int(test.options.get("log", LOG_BLOCKS)))})


def recorded(test: Test, machine: Machine, history: promises.History, disk: bytes) -> media.Log | Verdict:
    """The log of all requests of a run; a verdict if the run went wrong."""
    run = cut.ran(test, machine, disk, history, "-o redo")
    if stopped := trouble(run) or cut.too_much(run):
        return stopped
    log = cut.log_of(run, history)
    if failed := cut.undone(history, log, run):
        return failed
    if run.outcome is not Outcome.RIGHT:
        return wrong(f"the disk cannot be unmounted: {run.reason}")
    return log


def mounted(machine: Machine, images: Images, cuts: Sequence[tuple[int, int]] = ()) -> list[bytes | str]:
    """The images after a mount with redo; why it failed. cuts: (writes, seed): first, the power fails in a mount."""
    found: list[bytes | str] = []
    for ran in host_ext2.mounted(machine, images, ["off"], "redo", cuts):
        answer = ran.said.split("\n", 1)[0]
        if ran.status == 128 + signal.SIGKILL:
            found.append(NO_END)
        elif ran.status:
            found.append(f"the mount does not end well:\n{tail(ran.said)}")
        else:
            found.append(ran.image if answer == "0" else f"the disk cannot be mounted any more (error {answer})")
    return found + [NO_END] * (len(images) - len(found))


def repairs(machine: Machine, images: Images) -> list[str]:
    """What e2fsck would repair in each image; empty if there is nothing."""
    return [first_fault(ran.out) if ran.status else "" for ran in host_ext2.checked(machine, images, "-fn")]


def first_fault(said: str) -> str:
    """The first fault that e2fsck has named for an image."""
    faults = [line for line in said.splitlines() if line and not line.startswith(("e2fsck", "Pass", "Fix", "/"))]
    return (faults or ["an inconsistency"])[0].split("  Fix")[0][:SHOWN]


# Cases.


def log_sectors(test: Test, disk: bytes) -> range:
    """The sectors of the log. It is in one piece, but for a block of addresses in it, which a run does not write."""
    first = disk.index(b"\xee" * BLOCK) // media.SECTOR
    return range(first, first + (int(test.options.get("log", LOG_BLOCKS)) + 1) * BLOCK // media.SECTOR)


def cuts_of(test: Test, log: media.Log, disk: bytes) -> Iterator[tuple[int, int, bytes]]:
    """(request, draw or sector, medium) of a test."""
    if test.options.get("case") != "torn":
        yield from media.all_cuts(disk, log.requests, cut.CACHE, int(test.options.get("draws", DRAWS)))
        return
    room = log_sectors(test, disk)
    for number, sector, medium in media.all_but_one(disk, log.requests):
        if sector in room:
            yield number, sector, medium


def changed_later(machine: Machine, images: Images) -> list[bytes]:
    """The images after e2fsck, and after a mount without redo that has changed them."""
    clean = [image or b"" for image in cut.repaired(machine, images)]
    made = [ran.image for ran in host_ext2.mounted(machine, clean, LATER, "")]
    return made + [b""] * (len(images) - len(made))


def called_clean(machine: Machine, image: bytes) -> bool:
    """Does a mount with redo call a disk clean that a mount without redo has changed, and not unmounted?"""
    for steps, options in (((*LATER, "off"), ()), ((), ("redo",))):
        made = host_ext2.in_sandbox(machine, [image], [host_ext2.script(machine, steps, *options)])
        image = made[0].image if made else b""
    return bool(image[STATE : STATE + 1]) and bool(image[STATE] & CLEAN)


def files_of(image: bytes) -> promises.Found:
    """The files of an image without the log. Raises ext2.BadImage."""
    files = ext2.Image(image).files()
    files.pop(f"/{LOG}", None)
    return files


def lost(history: promises.History, done: int, image: bytes, before: bytes | None) -> str:
    """What is missing on a consistent disk after `done` steps; before: it must have the files of this image."""
    try:
        if before is None:
            history.judge(files_of(image), done)
        elif files_of(before) != files_of(image):
            return "the replay has changed files that a later mount, without redo, had written"
    except ext2.BadImage as error:
        return f"the disk cannot be read: {error}"
    except promises.Lost as error:
        return str(error)
    return ""


def told(test: Test, log: media.Log, history: promises.History, number: int, which: int, said: str) -> str:
    """The message on a cut."""
    message = cut.told(log, history, number, which, said)
    if test.options.get("case") == "torn":
        message = message.replace(f"(draw {which})", f"(all is on the medium but sector {which})")
    return message


def first_loss(test: Test, machine: Machine, history: promises.History, log: media.Log, disk: bytes) -> str:
    """The message on the first cut after which something is wrong; empty if there is none."""
    losses = (loss_of(test, machine, history, log, cuts) for cuts in cut.some_at_a_time(cuts_of(test, log, disk)))
    return next(filter(None, losses), "")


def loss_of(
    test: Test, machine: Machine, history: promises.History, log: media.Log, cuts: Sequence[tuple[int, int, bytes]]
) -> str:
    """The message on the first of some cuts after which something is wrong; empty if there is none."""
    images = list(dict.fromkeys(medium for _, _, medium in cuts))
    case, given = test.options.get("case", ""), images
    second = [(n % SECOND_CUTS, n) for n in range(len(given))] if case == "replay" else ()
    if case == "stale":
        given = changed_later(machine, given)
    after = dict(zip(images, mounted(machine, given, second)))
    if case == "stale" and called_clean(machine, given[-1]):
        return CALLED_CLEAN
    ready = [image for image in after.values() if isinstance(image, bytes)]
    faults = dict(zip(ready, repairs(machine, ready)))
    before = dict(zip(images, given)) if case == "stale" else {}
    for number, which, medium in cuts:
        image, done = after[medium], len(log.requests[number - 1].marks)
        if isinstance(image, str):
            said = image
        elif faults[image]:
            said = f"after the next mount e2fsck finds: {faults[image]}"
        else:
            said = lost(history, done, image, before.get(medium))
        if said:
            return told(test, log, history, number, which, said) + cut.kept(machine, medium)
    return ""


def needs(test: Test) -> tuple[str, ...]:
    """The make target of the program on the host, which contains the student's file."""
    return (host_ext2.program("redo"),)


def figure(test: Test, machine: Machine) -> float:
    """The number of flushes with the reference solution."""
    log = recorded(test, machine, cut.history_of(test), disk_of(test))
    if isinstance(log, Verdict):
        raise LabError(f"{test.title}: the reference solution's run: {log.message}", FAILED)
    return float(log.flushes)


def judge(test: Test, machine: Machine) -> Verdict:
    """Record one run, cut the power at each of its requests, and mount what is left."""
    if test.options.get("case", "") not in CASES:
        raise LabError(f"{test.title}: there is no case {test.options['case']!r}", BAD_INPUT)
    history, disk = cut.history_of(test), disk_of(test)
    if unusable := host_ext2.unusable(machine):
        return unusable
    log = recorded(test, machine, history, disk)
    if isinstance(log, Verdict):
        return log
    if not any(sector in log_sectors(test, disk) for request in log.requests for sector, _ in request.sectors):
        return wrong("the log was never written")
    if said := first_loss(test, machine, history, log, disk) or cut.never_written(history, log, disk):
        return wrong(said)
    return cut.by_flushes(test, machine, history, log, figure)
