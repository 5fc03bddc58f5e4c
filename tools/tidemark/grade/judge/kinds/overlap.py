"""Kind `overlap`: while a flush of one program is under way, another program changes files, and the power fails.

The steps run in a program on the host (tests/host/ext2) with the student's file, in the sandbox: so the calls overlap
at exactly the place that a step names. The program prints all writes and flushes of its disk; the media after cuts are
computed and judged as in the kind `cut`. Further steps, besides those of `cut`:

    second now fsync PATH      another program calls fsync; its flush is under way until
    finish                     its flush and its call end
    second later fsync PATH    it calls fsync as soon as a call of the first program waits for memory (kmalloc)
    second N fsync PATH        it calls fsync when a call of the first program reads metadata for the Nth time
    refuse flush               the next flush fails; the next fsync must return EIO
    refuse write               the next writing of all dirty metadata fails; the same

What the other program's fsync promises is not judged. Options: steps, size, inodes, draws, as in `cut`.
"""

from __future__ import annotations

import errno
import re

from tidemark.grade.build.workspace import tail
from tidemark.grade.judge import host_ext2, media, promises
from tidemark.grade.judge.kinds import cut
from tidemark.grade.model import Test, Verdict, right, wrong
from tidemark.grade.witness.machine import Machine

ANSWER = re.compile(r"-?\d+")


class Steps(promises.History):
    """Also the steps of this kind."""

    refused = False  # is a flush or a write going to fail?

    def perform(self, line: str) -> None:
        """Adds the step of a line, as promises.History.perform."""
        word = line.split()[0]
        if word in ("second", "finish", "refuse"):
            self.step(line)
            self.refused |= word == "refuse"
        elif word == "fsync" and self.refused:
            self.step(line, -errno.EIO)
            self.refused = False
        else:
            super().perform(line)


def add_write(requests: list[media.Request], done: tuple[int, ...], first: int, data: bytes) -> None:
    """Adds a write to the requests. It is a part of the last one if it continues it, as in a kernel."""
    last = requests[-1] if requests else None
    if not last or not last.sectors or last.marks != done or last.sectors[-1][0] + 1 != first:
        last = media.Request(done)
        requests.append(last)
    parts = (data[at : at + media.SECTOR] for at in range(0, len(data), media.SECTOR))
    last.sectors.extend(enumerate(parts, first))


def log_of(printed: str) -> tuple[media.Log, list[str]]:
    """The log of a run, and the answers to its steps, from what the program printed; it answers to the mount first."""
    requests: list[media.Request] = []
    answers: list[str] = []
    for line in printed.splitlines():
        what, *rest = line.split() or [""]
        done = tuple(range(len(answers) - 1))
        if what == "write":
            add_write(requests, done, int(rest[0]), bytes.fromhex(rest[1]))
        elif what == "flush":
            requests.append(media.Request(done, later=int(rest[0])))
        elif ANSWER.fullmatch(line):
            answers.append(line)
    return media.Log(requests, tuple(range(len(answers) - 1))), answers[1:]


def undone(history: promises.History, answers: list[str]) -> str:
    """The message on the first step whose answer is wrong; empty if there is none."""
    for number, (line, wanted) in enumerate(zip(history.script, history.wanted)):
        if number >= len(answers):
            return f"step {number + 1}, `{line}`, was never answered"
        if answers[number] != wanted:
            shown = cut.answer(int(answers[number])), cut.answer(int(wanted))
            return f"step {number + 1}, `{line}`, failed: it returned {shown[0]}, and should return {shown[1]}"
    return ""


def needs(test: Test) -> tuple[str, ...]:
    """The make target of the program on the host, which contains the student's file."""
    return (host_ext2.program("crash"),)


def judge(test: Test, machine: Machine) -> Verdict:
    """Do the steps once, and cut the power at each request."""
    if unusable := host_ext2.unusable(machine):
        return unusable
    history, disk = cut.history_of(test, Steps), cut.disk_of(test)
    made = host_ext2.in_sandbox(machine, [disk], [host_ext2.script(machine, history.script, "record")])
    if not made or made[0].status:
        return wrong(f"the file system does not end well:\n{tail(made[0].errors if made else 'it never ended')}")
    log, answers = log_of(made[0].out)
    if said := undone(history, answers):
        return wrong(said)
    draws = int(test.options.get("draws", cut.DRAWS))
    if said := cut.first_loss(machine, history, log, disk, draws) or cut.never_written(history, log, disk):
        return wrong(said)
    return right(f"nothing is lost by a cut at any of {len(log.requests)} requests")
