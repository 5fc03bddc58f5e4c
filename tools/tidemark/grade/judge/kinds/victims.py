"""Kind `victims`: at every reference the policy must evict the page that the textbook names.

The kernel plays a string of references, and the evicted pages are observed from outside. Options:

    policy    vm=
    like      the policy whose decisions are right (policy): the reference solution of that name, in the simulator
    string    in the notation of tidemark.strings.refstrings: page numbers, or KIND:PAGES,refs=N,seed=S
    frames    frames=, at least 3
    set       parameters, such as ["ws.tau_ms=5"]
    first     number of the first reference that is compared (1)

The student's lists in a message come from the simulator, which runs the student's code on the host. They are shown
if the simulator agrees with the kernel, and do not affect the verdict. Neither does the shorter string at the end of a
message, which the simulator finds and the kernel confirms (tidemark.grade.judge.shortest).
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from tidemark.errors import LabError
from tidemark.grade.judge import expected, host_runs, shorter
from tidemark.grade.judge.expected import Decision
from tidemark.grade.judge.shortest import Case
from tidemark.grade.model import Test, Verdict, right, wrong
from tidemark.grade.witness.machine import Machine
from tidemark.grade.witness.playback import Playback, incomplete, obstacle, pages_of, play
from tidemark.strings.refstrings import Given

SHOWN = 20  # references shown before the one in question
LONGEST_TRACE = 120
LIMIT_S = 1  # of processor time, for a string in the simulator, which needs a hundredth and runs a few hundred times
FILLED = 3  # after 3 references per frame the earlier pages have been evicted


def needs(test: Test) -> tuple[str, ...]:
    """The simulator of the student's policy."""
    return (f"build/vmsim/{test.options['policy']}.fast",)


def foresee(test: Test, machine: Machine) -> None:
    """Compute the expected decisions, which takes no kernel."""
    expected.decisions(machine, test, names=False)


def victims_of(decision: Decision) -> list[int]:
    """The victims of a decision, as a list like those of Playback."""
    return [] if decision.victim is None else [decision.victim]


def first_difference(playback: Playback, wanted: Sequence[Decision], first: int) -> int | None:
    """The index of the first reference, from `first` on, at which another page was evicted."""
    return next(
        (at for at in range(first, len(wanted)) if playback.victims.get(at, []) != victims_of(wanted[at])), None
    )


def pages_text(playback: Playback, pages: Sequence[int], used: frozenset[int] = frozenset()) -> str:
    """Pages as a message shows them; an asterisk marks an accessed bit that is set."""
    return " ".join(playback.named(page) + "*" * (page in used) for page in pages) or "none"


def lists_text(playback: Playback, decision: Decision) -> str:
    """All lists before a decision. A list that is known only as an offset in a variable (zone+36) has no name."""
    names = ("another list" if "+" in name else name for name in decision.lists)
    lists = (pages_text(playback, pages, decision.used) for pages in decision.lists.values())
    return "; ".join(map(": ".join, zip(names, lists)))


def what_differs(playback: Playback, wanted: Decision, at: int) -> str:
    """The difference at one reference, as a sentence."""
    got, due = playback.victims.get(at, []), victims_of(wanted)
    where = f"reference {at + 1}, to page {wanted.page}"
    if not due:
        why = "is a hit" if wanted.hit else "finds a free frame"
        return f"{where}, {why}, and no page should be evicted; yours evicted {pages_text(playback, got)}"
    if not got:
        return f"{where}: expected victim page {pages_text(playback, due)}; yours evicted none"
    return f"{where}: expected victim page {pages_text(playback, due)}, yours {pages_text(playback, got)}"


class Own:
    """The student's policy in the simulator."""

    def __init__(self, machine: Machine, test: Test) -> None:
        self.machine, (self.target,) = machine, needs(test)
        self.set = [word for parameter in expected.options_of(test)[2] for word in ("--set", parameter)]
        self.printed: dict[tuple[tuple[int, ...], int], str] = {}

    def ahead(self, cases: Sequence[Case]) -> None:
        """Run these strings now. For a string that fails, and those after it, nothing is known."""
        todo = [
            key for key in dict.fromkeys((tuple(pages), frames) for pages, frames in cases) if key not in self.printed
        ]
        if not todo or self.machine.build_results[self.target].status:
            return
        runs = [
            (
                (self.target, "--frames", str(frames), *self.set, "--explain"),
                b"".join(run.tobytes() for run in Given("", np.array(pages, np.uint32), 0).runs()),
            )
            for pages, frames in todo
        ]
        self.printed |= zip(todo, host_runs.run(self.machine, runs, LIMIT_S)[0])

    def decisions(self, pages: Sequence[int], frames: int, names: bool = False) -> list[Decision]:
        """Its decisions on a string; `names`: with the names of its lists. Empty if they are not known."""
        self.ahead([(pages, frames)])
        try:
            lines = self.printed.get((tuple(pages), frames), "").splitlines()
            rows = [row for row in map(json.loads, lines) if "ref" in row]
            return expected.decisions_of(rows, self.machine.tree / self.target if names else None)
        except (ValueError, KeyError, TypeError, IndexError, RecursionError):
            return []


def own_before(machine: Machine, test: Test, playback: Playback, at: int) -> Decision | None:
    """The student's lists before a reference, if simulator and kernel had the same victims. None if not."""
    pages, frames = (*playback.prefix, *playback.string[: at + 1]), expected.options_of(test)[1]
    own = Own(machine, test).decisions(pages, frames, names=True)[len(playback.prefix) :]
    same = len(own) == at + 1 and first_difference(playback, own, 0) is None
    return own[at] if same else None


def command(policy: str, frames: int, string: str) -> str:
    """The command that shows every decision."""
    text = " ".join(string.split())
    made = f"make sim VM={policy} FRAMES={frames} EXPLAIN=1 TRACE="
    return made + (f'"{text}"' if len(text) <= LONGEST_TRACE else "FILE, with the string of lab.toml in FILE")


def explained(machine: Machine, test: Test, playback: Playback, wanted: Sequence[Decision], at: int) -> list[str]:
    """The lines of the message about the first difference."""
    begin = max(0, at - SHOWN)
    string = " ".join(map(str, playback.string[begin:at]))
    lines = [what_differs(playback, wanted[at], at)]
    lines += [f"the string before it: {'... ' if begin else ''}{string}"] if at else []
    lines += [f"as it should be then  {lists_text(playback, wanted[at])}"]
    if own := own_before(machine, test, playback, at):
        lines += [f"as yours is           {lists_text(playback, own)}"]
        if bits := own.used - wanted[at].used:
            lines += [f"the accessed bit of {pages_text(playback, sorted(bits))} was not cleared when it was passed"]
    if " x" in "".join(lines):
        lines += [f"(x1 to x{len(playback.prefix)} were used once each, in this order, before the string began)"]
    return lines


def how_to_see_it(machine: Machine, test: Test, playback: Playback, at: int) -> list[str]:
    """Lines with the shortest string that shows it, and the command; or the command for the whole string."""
    policy, frames, _ = expected.options_of(test)
    own = Own(machine, test)
    short = shorter.find(machine, test, playback, at, own.decisions, own.ahead)
    if short:
        said = f"the shortest string that shows it, with {short.frames} frames: {' '.join(map(str, short.pages))}"
        return [said, short.says, command(policy, short.frames, " ".join(map(str, short.pages)))]
    string = str(test.options["string"])
    if at < FILLED * frames:
        string = f"{playback.prefix[0]}-{playback.prefix[-1]} {' '.join(map(str, playback.string[: at + 1]))}"
    return [command(policy, frames, string)]


def judge(test: Test, machine: Machine) -> Verdict:
    """All points if every victim is right."""
    policy, frames, parameters = expected.options_of(test)
    wanted = expected.decisions(machine, test, names=False)
    playback = play(machine, policy, pages_of(test), frames, parameters)
    if stopped := obstacle(playback.boot) or incomplete(playback, frames):
        return stopped
    if len(wanted) != len(playback.string):
        raise LabError(f"{test.title}: {len(wanted)} decisions for {len(playback.string)} references")
    at = first_difference(playback, wanted, int(test.options.get("first", 1)) - 1)
    figures = {"references": len(playback.string), "victims": sum(map(len, playback.victims.values()))}
    if at is not None:
        wanted = expected.decisions(machine, test)
        lines = explained(machine, test, playback, wanted, at) + how_to_see_it(machine, test, playback, at)
        place = f"--event evict:{playback.eviction(at)}" if playback.victims.get(at) else ""
        return wrong("\n".join(lines), figures=figures, place=place)
    faults = sum(not decision.hit for decision in wanted)
    return right(f"{len(playback.string):,} references, {faults:,} faults, every victim is right", figures=figures)
