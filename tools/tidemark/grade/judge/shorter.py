"""A first difference made short: the string and the frames that remain when nothing more can be left out, confirmed in
the simulator and then in the kernel. The reference solution, or in a student's release the textbook, decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tidemark.grade.judge import expected, textbook
from tidemark.grade.judge.expected import Decision
from tidemark.grade.judge.shortest import Ahead, Case, shortest, without_preparing
from tidemark.grade.model import Outcome, Test
from tidemark.grade.witness.machine import Machine
from tidemark.grade.witness.playback import Playback, play, prefix_of

Decides = Callable[[Sequence[int], int], list[Decision]]


@dataclass(frozen=True)
class Shorter:
    """A string, the number of initially empty frames, and a sentence about its last reference."""

    pages: list[int]
    frames: int
    says: str


def model_of(machine: Machine, test: Test) -> Decides | None:
    """A function that says what is right for any string; None if neither a textbook model nor a solution is at hand."""
    name, parameters = expected.model_of(test), expected.options_of(test)[2]
    has_rule = machine.lab.rule is not None and machine.lab.rule.policy == name
    if name in textbook.MODELS and not has_rule:
        return textbook.MODELS[name]
    if not machine.has_solutions:
        return None
    program = expected.simulator(machine.reference, name)
    return lambda pages, frames: expected.simulated(program, pages, frames, parameters, names=False)


def difference(own: Sequence[Decision], right: Sequence[Decision]) -> int | None:
    """The index of the first reference with another victim; None if there is none, or not all could be compared."""
    pairs = enumerate(zip(own, right))
    at = next((at for at, (mine, due) in pairs if mine.victim != due.victim), None)
    return at if len(own) == len(right) else None


def in_kernel(machine: Machine, test: Test, pages: Sequence[int], frames: int, own: Decision) -> bool:
    """Does the kernel evict the same page at the last reference as the simulator does?"""
    policy, _, parameters = expected.options_of(test)
    played = play(machine, policy, pages, frames, parameters)
    if played.boot.outcome is not Outcome.RIGHT:
        return False
    return played.victims.get(len(pages) - 1, []) == ([] if own.victim is None else [own.victim])


def sentence(page: int, at: int, due: Decision, mine: Decision) -> str:
    """The difference at one reference, as a sentence."""
    yours = "yours evicted none" if mine.victim is None else f"yours {mine.victim}"
    wanted = "none" if due.victim is None else f"victim page {due.victim}"
    return f"there, at reference {at + 1}, to page {page}: expected {wanted}, {yours}"


def find(
    machine: Machine, test: Test, playback: Playback, at: int, own: Decides, ahead: Ahead = without_preparing
) -> Shorter | None:
    """A shorter string on which the policy `own` goes wrong as it did in the playback, at the reference `at`; None if
    there is none, or the kernel does not confirm it. `ahead` is told which strings `own` will be asked about next.
    """
    right, frames = model_of(machine, test), int(test.options["frames"])
    if not right:
        return None

    silent = False  # it once did not answer in time, and would not the next hundred times

    def goes_wrong(pages: Sequence[int], few: int) -> bool:
        nonlocal silent
        decisions = [] if silent else own(pages, few)
        silent = not decisions
        return difference(decisions, right(pages, few)) is not None

    def prepare(cases: Sequence[Case]) -> None:
        if not silent:
            ahead(cases)

    string = playback.string[: at + 1]
    strings = (string, (*playback.prefix, *string))
    found = next(filter(None, (shortest(each, frames, goes_wrong, prepare) for each in strings)), None)
    if not found:
        return None
    pages, few = found
    mine, due = own(pages, few), right(pages, few)
    last = difference(mine, due)
    if last is None or last != len(pages) - 1:
        return None
    played = own((*prefix_of(pages, few), *pages), few)  # the string that the kernel will play, which takes longer
    if not played or played[-1].victim != mine[last].victim or not in_kernel(machine, test, pages, few, mine[last]):
        return None
    return Shorter(pages, few, sentence(pages[last], last, due[last], mine[last]))
