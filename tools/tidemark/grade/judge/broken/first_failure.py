"""The first test that a file fails, found in the simulator on the host, which makes the kernel's decisions in a
hundredth of its time.

Asked about are the lab's visible tests of the kind `victims` with strings that can be followed on paper. A failure is
visible if both the right policy and the changed one evict a page there, but different pages. Pages that filled memory
before the string are called x1, x2 and so on, as in the grader's messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.grade.judge import expected
from tidemark.grade.judge.expected import Decision
from tidemark.grade.judge.kinds import victims
from tidemark.grade.model import Test
from tidemark.grade.witness.machine import Machine
from tidemark.grade.witness.playback import pages_of, prefix_of

LONGEST = 100  # references of a string that is asked about


@dataclass(frozen=True)
class Failure:
    """The first difference: in `test`, at the reference with this number, from 1 on, to `page`: the names of the page
    that is evicted there, and of the page that should be."""

    test: Test
    reference: int
    page: int
    evicted: str
    right: str


def can_be_asked(test: Test) -> bool:
    """Can a student find out on paper whether a policy passes the test?"""
    return test.kind == expected.VICTIMS and not test.hidden and len(pages_of(test)) <= LONGEST


def prefix_for(test: Test) -> tuple[int, ...]:
    """The pages that are used once each before the string."""
    return prefix_of(pages_of(test), expected.options_of(test)[1])


def named(test: Test, page: int) -> str:
    """A page as the grader's messages call it."""
    first = prefix_for(test)[0]
    return str(page) if page < first else f"x{page - first + 1}"


def build(machine: Machine, test: Test) -> bool:
    """Build the simulator of a test's policy from the file as it is now. Returns False if the file does not compile."""
    (target,) = victims.needs(test)
    machine.build_results[target] = machine.make(target)
    return machine.build_results[target].status == 0


def decisions(machine: Machine, test: Test) -> list[Decision]:
    """What the file decides in a test; shorter than the string if it broke a rule, crashed or did not end."""
    prefix, frames = prefix_for(test), expected.options_of(test)[1]
    return victims.Own(machine, test).decisions((*prefix, *pages_of(test)), frames)[len(prefix) :]


def differing(made: Sequence[Decision], wanted: Sequence[Decision], test: Test) -> int | None:
    """The index of the first reference that the test compares at which another page is evicted; None if there is none,
    or if decisions are missing."""
    first = int(test.options.get("first", 1)) - 1
    if len(made) != len(wanted):
        return None
    return next((at for at in range(first, len(wanted)) if made[at].victim != wanted[at].victim), None)


def passed(machine: Machine, tests: Sequence[Test]) -> list[Test]:
    """Those of the tests that the file, whose simulator is built, passes as it is."""
    found = []
    for test in tests:
        made, wanted = decisions(machine, test), expected.decisions(machine, test, names=False)
        if len(made) == len(wanted) and differing(made, wanted, test) is None:
            found.append(test)
    return found


def of(machine: Machine, tests: Sequence[Test]) -> Failure | None:
    """The first visible failure of the file, whose simulator is built, in the tests in their order. None if it passes
    all, or if what it does first cannot be seen as an evicted page."""
    for test in tests:
        made, wanted = decisions(machine, test), expected.decisions(machine, test, names=False)
        if len(made) != len(wanted):
            return None
        at = differing(made, wanted, test)
        if at is None:
            continue
        evicted, right = made[at].victim, wanted[at].victim
        if evicted is None or right is None:
            return None
        return Failure(test, at + 1, wanted[at].page, named(test, evicted), named(test, right))
    return None
