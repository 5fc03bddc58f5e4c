"""Kind `faults`: the number of pages that had to be read again, against a budget.

There are many good policies. If no book prescribes the victims, what counts is how few pages come back that should
have stayed. The pages read from the disk are counted from outside. Options:

    policy    vm=
    string    as in the kind `victims`; or `run`, a command line of the guest
    again     with a string: it is repeated, shifted by each of these numbers of pages, such as [150]
    frames    frames=; with `run` also `mem` and `swap`, and `budget`, the instructions after which it counts as hung
    work          with `run`: as in tidemark.grade.judge.work
    jitters       with `run`: the number of runs, with jitter=1 to this number, whose pages are added (default: one run
                  without jitter). What several processes read depends on their turns, and so on chance
    disorder      with `run`: pages shall be written in the order in which they came in. Of two pages written one after
                  the other, the second may have come in first in at most this part of all cases (0.15: 15 %)
    set       parameters of the policy
    pages     with a string: count these pages only, such as "0-9"
    first     with a string: count from this reference on (1), to leave out the start
    full, none    all points up to `full` pages, none from `none` on; with `run`: times (tidemark.grade.judge.budget)
    hint      a hint for students without all points
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from tidemark.grade.judge import budget, expected, work
from tidemark.grade.model import Outcome, Test, Verdict, scaled, wrong
from tidemark.grade.witness import memory
from tidemark.grade.witness.boot import EITHER_KIND, Boot
from tidemark.grade.witness.evidence import COPY, READ, WRITE, ZERO, Evidence
from tidemark.grade.witness.machine import Machine, jitters
from tidemark.grade.witness.playback import Playback, incomplete, obstacle, pages_of, play
from tidemark.strings.refstrings import from_text

POINTS_OF_PLOT = 100


def counted_pages(test: Test) -> set[int]:
    """The pages of the option `pages`; without it, those of the string."""
    if "pages" not in test.options:
        return set(pages_of(test))
    return set(from_text(str(test.options["pages"]), f"pages of {test.title!r}").tolist())


def counted(test: Test, found: Sequence[int], playback: Playback) -> list[int]:
    """Those of the indices `found` of references that the test counts."""
    pages, first = counted_pages(test), int(test.options.get("first", 1)) - 1
    return [at for at in found if at >= first and playback.string[at] in pages]


def read_again_by_lru(pages: Sequence[int], frames: int) -> list[int]:
    """The indices of references at which LRU, which no kernel can afford, reads a page
    again."""
    stack: dict[int, None] = {}  # the page used last comes last
    known: set[int] = set()
    found = []
    for at, page in enumerate(pages):
        if page not in stack:
            found += [at] if page in known else []
            if len(stack) == frames:
                del stack[next(iter(stack))]
        stack.pop(page, None)
        stack[page] = None
        known.add(page)
    return found


def others(playback: Playback, test: Test, machine: Machine) -> dict[str, list[int]]:
    """The indices of references at which FIFO and LRU read a page again, for the same string."""
    frames, start = int(test.options["frames"]), len(playback.prefix)
    by_lru = read_again_by_lru((*playback.prefix, *playback.string), frames)
    return {"FIFO": expected.read_again_by_fifo(machine, test), "LRU": [at - start for at in by_lru]}


def left_at(playback: Playback, page: int, before: int) -> int:
    """The index of the reference at which a page was evicted that was read again at `before`; -1 if unknown."""
    return max((at for at, pages in playback.victims.items() if at < before and page in pages), default=-1)


def example(playback: Playback, at: int) -> str:
    """The story of one of the pages that were read again, in a sentence."""
    page = playback.string[at]
    left = left_at(playback, page, at)
    uses = Counter(playback.string[: max(left, 0)])
    said = f"page {page} was read again at reference {at + 1:,}"
    if left < 0:
        return said
    return f"{said}; evicted at reference {left + 1:,} for page {playback.string[left]} after {uses[page]:,} uses"


def picture(found: Mapping[str, list[int]], length: int) -> Mapping[str, object]:
    """The counts as they grow along the string, for the report's picture."""
    moments = np.linspace(0, length, POINTS_OF_PLOT).astype(int)
    lines = {name: np.column_stack([moments, np.searchsorted(each, moments)]).tolist() for name, each in found.items()}
    return {"title": "pages read again", "x": "references", "y": "pages", "lines": lines}


def of_string(test: Test, machine: Machine) -> Verdict:
    """The verdict on a string."""
    frames, parameters = int(test.options["frames"]), list(test.options.get("set", []))
    playback = play(machine, str(test.options["policy"]), pages_of(test), frames, parameters)
    if stopped := obstacle(playback.boot) or incomplete(playback, frames):
        return stopped
    own = counted(test, np.flatnonzero(playback.swapped_in).tolist(), playback)
    compared = {name: counted(test, found, playback) for name, found in others(playback, test, machine).items()}
    lines = [f"for instance, {example(playback, own[len(own) // 2])}"] if own else []
    lines.append("on this string " + ", ".join(f"{name} {len(found):,}" for name, found in compared.items()))
    limits = budget.limits(test, machine, figure)
    return replace(
        verdict(test, len(own), lines, limits), plot=picture({"yours": own, **compared}, len(playback.string))
    )


def runs(test: Test, machine: Machine) -> Iterator[Boot]:
    """The runs of the test's command, each made when it is asked for."""
    options = {name: test.options[name] for name in ("mem", "swap", "frames", "budget") if name in test.options}
    for jitter in jitters(test):
        words = " ".join(["sample_ms=0", *test.options.get("set", []), jitter])
        yield machine.boot(test.options["run"], vm=test.options["policy"], cmdline=words, refs=EITHER_KIND, **options)


def figure(test: Test, machine: Machine) -> float:
    """The number of pages that the reference solution reads."""
    test = budget.of_model(test, "policy")
    return float(sum(budget.ended_well(test, boot).evidence.count(READ) for boot in runs(test, machine)))


def disorder(seen: Evidence) -> float:
    """The part of pairs of pages, written one after the other, of which the second came into memory first."""
    filled: dict[int, int] = {}
    came = []
    moved = seen.events[np.isin(seen.events["kind"], (ZERO, COPY, READ, WRITE))]
    for at, (kind, frame) in enumerate(zip(moved["kind"].tolist(), moved["b"].tolist())):
        if kind != WRITE:
            filled[frame] = at
        elif frame in filled:
            came.append(filled[frame])
    return float((np.diff(came) < 0).mean()) if len(came) > 1 else 0.0


def of_run(test: Test, machine: Machine) -> Verdict:
    """The verdict on a command: all pages that were read count, for all processes."""
    count = 0
    for boot in runs(test, machine):
        if stopped := obstacle(boot) or work.undone(test, machine, boot, lambda ours: next(runs(test, ours))):
            return stopped
        if "frames" in test.options and (said := memory.too_many(boot.evidence, int(test.options["frames"]))):
            return wrong(said, Outcome.BROKE_RULE)
        if (found := disorder(boot.evidence)) > float(test.options.get("disorder", 1)):
            return wrong(f"of two pages written one after the other, the second had come in first in {found:.0%}")
        count += boot.evidence.count(READ)
    return verdict(test, count, [], budget.limits(test, machine, figure))


def verdict(test: Test, count: int, lines: list[str], limits: tuple[float, float]) -> Verdict:
    """The verdict on `count` pages read again."""
    what = f"pages {test.options['pages']} read again" if "pages" in test.options else "pages read again from the disk"
    what += f" in {len(jitters(test))} runs with other jitters" if "jitters" in test.options else ""
    made = scaled(count, round(limits[0]), round(limits[1]), what, figures={"swap_ins": count})
    if made.fraction == 1.0:
        return made
    lines += [str(test.options["hint"])] if "hint" in test.options else []
    return replace(made, message="\n".join([made.message, *lines]))


def judge(test: Test, machine: Machine) -> Verdict:
    """Give points for how few pages had to be read again."""
    return of_string(test, machine) if "string" in test.options else of_run(test, machine)
