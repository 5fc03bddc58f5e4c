"""A viva in gdb on paper: the sheet, which the student gets in the room, and the examiner's key, with commands."""

from __future__ import annotations

from pathlib import Path

from tidemark.debug.evictions import time
from tidemark.grade.hand_out import paper
from tidemark.grade.judge.viva.moment import CAME, Moment
from tidemark.telemetry.events import SWAP, In, Row

TITLE = "Viva in gdb: ten minutes at your own run"
PAGE = 4096
CLOCK = "Times are those of the kernel's clock, the second of the two that gdb prints."
QUESTIONS = (
    "Go to the fault with the command above. Which process faults, on which page, and where is that page now?",
    "Which page will {policy} evict next? Say it first, and why; then show that it does.",
    "Go back to where this page came into memory. When was that, and how did it come?",
    "Is the page needed again? Show when it comes back, or that it does not.",
)
HINTS = (
    "print current_task->pid\ntm-why addr\ntm-pt current_task->pid addr",
    "tm-lists\nbreak policy_call_evicted\ncontinue\ntm-page page",
    "tm-history PID ADDRESS          with the number of a line after it: to go there",
    "tidemark gdb RESULT --end\ntm-history PID ADDRESS",
)


def page_of(row: Row) -> str:
    """A page and its process in words."""
    return f"page {row.page:#x} of process {row.pid} (address {row.page * PAGE:#x})"


def command(result: Path, ns: int) -> str:
    """The command that puts gdb at a time of the run."""
    return f"tidemark gdb {result} --at {ns}ns"


def printed(name: str, result: Path, moment: Moment, policy: str) -> paper.Sheet:
    """The student's sheet: the command, the questions, and commands that help."""
    blocks = [
        paper.text(f"The run is the one in {result}; its policy is {policy}. {CLOCK}"),
        paper.text("Commands that may help stand below each question."),
        paper.listing(command(result, moment.fault.ns)),
    ]
    for number, (words, hint) in enumerate(zip(QUESTIONS, HINTS), 1):
        blocks.append(paper.question(number, words.format(policy=policy), lines=2))
        blocks.append(paper.listing(hint))
    return paper.Sheet(TITLE, name, blocks)


def keys(name: str, result: Path, moment: Moment, policy: str) -> paper.Sheet:
    """The examiner's key."""
    fault, needed, chosen, came, back = moment.fault, moment.needed, moment.chosen, moment.came, moment.back
    source = f"read from slot {came.number} of the swap area" if came.store == SWAP else "a new page"
    if back:
        kind = "major" if back.major else "minor"
        returns = f"Yes: a {kind} fault of process {back.pid} on it begins at {time(back.begin_ns)}."
    else:
        returns = "No: no fault brings it back before the end of the run."
    why = f"tidemark why {result} --pid {chosen.pid} --page {chosen.page:#x} --at {chosen.ns}ns"
    answers = (
        f"Process {fault.pid} faults on {page_of(fault)}. It is in slot {needed.number} of the swap area.",
        f"{page_of(chosen).capitalize()}, in frame {chosen.frame:#x}, chosen at {time(chosen.ns)}.",
        f"At {time(came.ns)}, by {CAME.get(In(came.how), 'another way')}, {source}, into the same frame.",
        returns,
    )
    checks = (command(result, fault.ns), command(result, chosen.ns), command(result, came.ns), why)
    blocks = [paper.text(f"Policy {policy}. {CLOCK}")]
    for number, (words, key, check) in enumerate(zip(QUESTIONS, answers, checks), 1):
        blocks += [paper.answer(number, words.format(policy=policy), key), paper.listing(check)]
    return paper.Sheet(f"KEYS. {TITLE}", name, blocks)
