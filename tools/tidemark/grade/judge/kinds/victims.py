"""Kind `victims`: the same page leaves, at every reference, as by the book.

The kernel plays a string of references, and which pages leave it is seen from outside. Options:

    policy    vm=
    like      the policy whose decisions are right (policy): fifo and clock by a textbook's model, others by the
              reference solution in the simulator
    string    as tidemark.strings has it: page numbers, or KIND:PAGES,refs=N,seed=S
    frames    frames=, at least 3
    set       parameters, such as ["ws.tau_ms=5"]
    first     number of the reference with which comparing begins (1)

The student's lists in a message come from the simulator, which runs the student's code on the host. They are shown
where it agrees with what was seen, and decide nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from tidemark.errors import LabError
from tidemark.grade.build.workspace import Bench
from tidemark.grade.judge import expected
from tidemark.grade.judge.oracle import Decision
from tidemark.grade.model import Test, Verdict, right, wrong
from tidemark.grade.witness.playback import Played, incomplete, obstacle, pages_of, play
from tidemark.strings import Given

SHOWN = 20  # references before the one in question
LONGEST_TRACE = 120


def needs(test: Test) -> tuple[str, ...]:
    """The simulator of the student's policy."""
    return (f"build/vmsim/{test.options['policy']}.fast",)


def victims_of(decision: Decision) -> list[int]:
    """The victims of a decision, as Played has them."""
    return [] if decision.victim is None else [decision.victim]


def first_difference(seen: Played, wanted: Sequence[Decision], first: int) -> int | None:
    """The index of the first reference, from `first` on, at which another page left."""
    return next((at for at in range(first, len(wanted)) if seen.victims.get(at, []) != victims_of(wanted[at])), None)


def pages_text(seen: Played, pages: Sequence[int], used: frozenset[int] = frozenset()) -> str:
    """Pages as a message shows them; an asterisk marks an accessed bit that is set."""
    return " ".join(seen.named(page) + "*" * (page in used) for page in pages) or "none"


def lists_text(seen: Played, decision: Decision) -> str:
    """All lists before a decision; one that only has an address in a variable (zone+36) has no name."""
    names = ("another list" if "+" in name else name for name in decision.lists)
    lists = (pages_text(seen, pages, decision.used) for pages in decision.lists.values())
    return "; ".join(map(": ".join, zip(names, lists)))


def what_differs(seen: Played, wanted: Decision, at: int) -> str:
    """The sentence about one reference."""
    got, due = seen.victims.get(at, []), victims_of(wanted)
    where = f"reference {at + 1}, to page {wanted.page}"
    if not due:
        why = "is a hit" if wanted.hit else "finds a free frame"
        return f"{where}, {why}, and no page should leave; yours sent away {pages_text(seen, got)}"
    if not got:
        return f"{where}: expected victim page {pages_text(seen, due)}; with yours no page left"
    return f"{where}: expected victim page {pages_text(seen, due)}, yours {pages_text(seen, got)}"


def own_decisions(bench: Bench, test: Test, seen: Played, last: int) -> list[Decision]:
    """What the student's policy decides in the simulator up to a reference: nothing when it cannot be said."""
    _, frames, parameters = expected.options_of(test)
    (target,) = needs(test)
    if bench.made[target].status:
        return []
    pages = np.array([*seen.prefix, *seen.string[: last + 1]], np.uint32)
    words = [word for parameter in parameters for word in ("--set", parameter)]
    runs = b"".join(run.tobytes() for run in Given("", pages, 0).runs())
    ran = bench.host(target, "--frames", str(frames), *words, "--explain", stdin=runs)
    try:
        rows = [row for row in map(json.loads, ran.out.splitlines()) if "ref" in row]
        return expected.decisions_of(rows, bench.tree / target)[len(seen.prefix) :]
    except (ValueError, KeyError, TypeError, IndexError):
        return []


def own_lists(bench: Bench, test: Test, seen: Played, at: int) -> str:
    """The student's lists before a reference, if the simulator saw the same victims as were seen in the kernel."""
    own = own_decisions(bench, test, seen, at)
    if len(own) != at + 1 or first_difference(seen, own, 0) is not None:
        return ""
    return lists_text(seen, own[at])


def command(test: Test) -> str:
    """How the student can see every decision."""
    policy, frames, _ = expected.options_of(test)
    string = " ".join(str(test.options["string"]).split())
    made = f"make sim VM={policy} FRAMES={frames} EXPLAIN=1 TRACE="
    return made + (f'"{string}"' if len(string) <= LONGEST_TRACE else "FILE, with the string of lab.toml in FILE")


def explained(bench: Bench, test: Test, seen: Played, wanted: Sequence[Decision], at: int) -> str:
    """The message about the first difference."""
    begin = max(0, at - SHOWN)
    string = " ".join(map(str, seen.string[begin:at]))
    lines = [what_differs(seen, wanted[at], at)]
    lines += [f"the string before it: {'... ' if begin else ''}{string}"] if at else []
    lines += [f"as it should be then  {lists_text(seen, wanted[at])}"]
    if own := own_lists(bench, test, seen, at):
        lines += [f"as yours is           {own}"]
    if " x" in "".join(lines):
        lines += [f"(x1 to x{len(seen.prefix)} were used once each, in this order, before the string began)"]
    return "\n".join([*lines, command(test)])


def judge(test: Test, bench: Bench) -> Verdict:
    """All points when every victim is right."""
    policy, frames, parameters = expected.options_of(test)
    wanted = expected.decisions(bench, test)
    seen = play(bench, policy, pages_of(test), frames, parameters)
    if stopped := obstacle(seen.boot) or incomplete(seen, frames):
        return stopped
    if len(wanted) != len(seen.string):
        raise LabError(f"{test.title}: {len(wanted)} decisions for {len(seen.string)} references")
    at = first_difference(seen, wanted, int(test.options.get("first", 1)) - 1)
    figures = {"references": len(seen.string), "victims": sum(map(len, seen.victims.values()))}
    if at is not None:
        return wrong(explained(bench, test, seen, wanted, at), figures=figures)
    faults = sum(not decision.hit for decision in wanted)
    return right(f"{len(seen.string):,} references, {faults:,} faults, every victim is right", figures=figures)
