"""Kind `residence`: which pages a process has in memory, in process time, compared with Denning's working set.

The workload pace references pages in rounds. In each round it then computes for some time, and sleeps past the
policy's next tick, so that a tick corresponds to a round. Process time is counted from outside, in its instructions:
1,000 are 1 us, as in the kernel. There are enough frames, unless `frames` says otherwise, so pages are evicted only
after they have left the working set. Options:

    rounds       [[10, "1-8"], [6, "1-3"]]: ten rounds that reference pages 1 to 8, then six. Or `string` and `every`: a
                 round for each `every` references of the string
    work_us, sleep_ms    of each round (1000, 60); a third and fourth element in `rounds` override them
    vm           the policy (ws), and tau_ms its parameter of that name
    frames, set  as in the kind `victims`

By default the definition is judged. A page used within tau is not evicted; with `strict` (default true) a page that was
not used for tau and two ticks more is evicted. With `windows` = [1, 2] a page has a window of its own instead of tau:
as many tau, the first until it is used again after it came in, the second from then on. With `times` (as in
tidemark.grade.judge.budget) the price is judged: the space-time product, which is the mean number of pages in memory
times process time, where a page that is read again adds `cost_ms` (10) of process time with that many pages in memory
(P. Denning, CACM 11(5), 1968).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from tidemark.grade.judge import budget
from tidemark.grade.model import Test, Verdict, right, scaled, wrong
from tidemark.grade.witness.boot import Boot
from tidemark.grade.witness.evidence import WRITE, Evidence, References
from tidemark.grade.witness.machine import Machine
from tidemark.grade.witness.playback import most_instructions, obstacle, pages_of, words
from tidemark.strings.refstrings import from_text

NS_PER_MS = 1_000_000
TICKS_LATE = 2
TOLERANCE = 0.05  # of tau: the kernel counts part of the entry and exit code as process time
COST_MS = 10
POINTS_OF_PLOT = 200


@dataclass(frozen=True)
class Round:
    """One reference to each page, then work and sleep."""

    pages: tuple[int, ...]
    work_us: int
    sleep_ms: int

    def __str__(self) -> str:
        """The round in the notation of pace."""
        times = [f"{letter}{number}" for letter, number in (("w", self.work_us), ("z", self.sleep_ms)) if number]
        return " ".join(filter(None, [words(self.pages), *times]))


@dataclass
class Stay:
    """A page's stay in memory, in ns of process time: its uses in order, the first of which
    brought it in, and the time of its eviction (None if it stayed to the end).
    """

    page: int
    uses: list[int]
    left: int | None = None


def rounds_of(test: Test) -> list[Round]:
    """The rounds of a test."""
    times = (int(test.options.get("work_us", 1000)), int(test.options.get("sleep_ms", 60)))
    if "rounds" not in test.options:
        pages, every = pages_of(test), int(test.options["every"])
        return [Round(pages[at : at + every], *times) for at in range(0, len(pages), every)]
    made = []
    for count, text, *own in test.options["rounds"]:
        pages = tuple(from_text(text, test.title).tolist()) if text else ()
        made += [Round(pages, *(own or times))] * count
    return made


def own_time(evidence: Evidence, space: int) -> np.ndarray:
    """For each event, the number of instructions that the space had executed: ns of process time."""
    events = evidence.events
    steps = np.diff(events["user"].astype(np.int64), prepend=0)
    running = np.concatenate([[False], events["space"][:-1] == space])
    return np.cumsum(np.where(running, steps, 0))


def departures(evidence: Evidence, seen: References) -> list[tuple[int, int]]:
    """(index of the event, page) for each eviction of a page of the string: the write of its frame."""
    at, pages = seen.at.tolist(), seen.pages.tolist()
    frames, written = evidence.events["b"], np.flatnonzero(evidence.events["kind"] == WRITE)
    uses: dict[int, list[int]] = {}
    for ordinal, page in enumerate(pages):
        uses.setdefault(page, []).append(ordinal)
    made = []
    for ordinal, page in seen.victims:
        last = uses[page][bisect_left(uses[page], ordinal) - 1]
        later = written[np.searchsorted(written, at[last]) :]
        made.append((int(later[frames[later] == seen.frames[last]][0]), page))
    return made


def stays_of(evidence: Evidence, number: Sequence[int]) -> tuple[list[Stay], int]:
    """(stays of the workload's pages, process time at the end). `number`: the pages' numbers, in order of first use."""
    space = evidence.main_space()
    seen, time = evidence.string(space), own_time(evidence, space)
    moments = [(at, True, page) for at, page in zip(seen.at.tolist(), seen.pages.tolist())]
    moments += [(at, False, page) for at, page in departures(evidence, seen)]
    inside: dict[int, Stay] = {}
    made: list[Stay] = []
    for at, is_use, page in sorted(moments):
        now = int(time[at])
        if is_use and page in inside:
            inside[page].uses.append(now)
        elif is_use:
            made.append(Stay(number[page], [now]))
            inside[page] = made[-1]
        elif page in inside:
            inside.pop(page).left = now
    return made, int(time[-1])


def windows_of(test: Test) -> tuple[int, int]:
    """The window of a page until it is used again, and from then on, in ns."""
    tau_ns = int(test.options["tau_ms"]) * NS_PER_MS
    first, later = test.options.get("windows", (1, 1))
    return int(first * tau_ns), int(later * tau_ns)


def called(test: Test, window_ns: int) -> str:
    """The words for a page's window."""
    return f"{'its window' if 'windows' in test.options else 'tau'} is {window_ns / NS_PER_MS:g} ms"


def wrongly_left(test: Test, stays: Sequence[Stay]) -> str:
    """The first page that was evicted too early, in words; empty if there is none."""
    windows = windows_of(test)
    for stay in stays:
        window = windows[len(stay.uses) > 1]
        if stay.left is not None and stay.left - stay.uses[-1] < (1 - TOLERANCE) * window:
            ago = (stay.left - stay.uses[-1]) / NS_PER_MS
            return (
                f"page {stay.page} left memory {ago:.1f} ms after its last use, in its process's own time: "
                f"{called(test, window)}, so it was in the working set"
            )
    return ""


def wrongly_kept(test: Test, stays: Sequence[Stay], tick_ns: int, end: int) -> str:
    """The first page that stayed too long, in words; empty if there is none."""
    first, later = windows_of(test)
    for stay in stays:
        moments = [*stay.uses, end if stay.left is None else stay.left]
        ages = [(then - use, later if at else first) for at, (use, then) in enumerate(pairwise(moments))]
        age, window = max(ages, key=lambda pair: pair[0] - pair[1])
        if age > window + TICKS_LATE * tick_ns:
            return (
                f"page {stay.page} was still in memory {age / NS_PER_MS:.1f} ms after a use, in its process's "
                f"own time: {called(test, window)} and a tick came every {tick_ns / NS_PER_MS:g} ms, so it "
                "should have gone"
            )
    return ""


def by_definition(test: Test, stays: Sequence[Stay], rounds: Sequence[Round], end: int) -> Verdict:
    """The verdict by the definition: are the pages in memory the working set?"""
    tick_ns = max(each.work_us for each in rounds) * 1000
    said = wrongly_left(test, stays)
    if not said and test.options.get("strict", True):
        said = wrongly_kept(test, stays, tick_ns, end)
    if said:
        return wrong(said)
    return right(f"{len(stays)} stays of pages in memory, none too short or too long")


def mean_resident(stays: Sequence[Stay], end: int) -> float:
    """Pages in memory, on average over process time since the first reference."""
    start = min(stay.uses[0] for stay in stays)
    held = sum((end if stay.left is None else stay.left) - stay.uses[0] for stay in stays)
    return held / (end - start)


def course(stays: Sequence[Stay], end: int) -> list[list[float]]:
    """[ms of process time, pages in memory] for the report's picture."""
    start = min(stay.uses[0] for stay in stays)
    came = np.sort([stay.uses[0] for stay in stays])
    left = np.sort([stay.left for stay in stays if stay.left is not None])
    moments = np.linspace(start, end, POINTS_OF_PLOT)
    pages = np.searchsorted(came, moments, "right") - np.searchsorted(left, moments, "right")
    return [[round((at - start) / NS_PER_MS, 3), int(n)] for at, n in zip(moments, pages)]


def again_and_price(test: Test, stays: Sequence[Stay], end: int) -> tuple[int, float]:
    """(pages read again, space-time product in page-seconds)."""
    again = len(stays) - len({stay.page for stay in stays})
    own_ms = (end - min(stay.uses[0] for stay in stays)) / NS_PER_MS
    return again, mean_resident(stays, end) * (own_ms + again * float(test.options.get("cost_ms", COST_MS))) / 1000


def by_price(test: Test, stays: Sequence[Stay], end: int, limits: tuple[float, float]) -> Verdict:
    """The verdict by the space-time product and its budget."""
    again, price = again_and_price(test, stays, end)
    resident = mean_resident(stays, end)
    what = f"{resident:.1f} pages in memory on average, {again:,} read again; space-time product in page-seconds"
    picture = {
        "title": "pages in memory",
        "x": "own time, ms",
        "y": "pages",
        "lines": {"resident": course(stays, end)},
    }
    figures = {"mean_resident": round(resident, 2), "read_again": again, "space_time": round(price, 3)}
    made = scaled(round(price, 3), *limits, what, figures=figures, plot=picture)
    if made.fraction < 1 and "hint" in test.options:
        return replace(made, message=f"{made.message}\n{test.options['hint']}")
    return made


def ran(test: Test, machine: Machine, rounds: Sequence[Round]) -> Boot:
    """The run of the rounds."""
    policy = str(test.options.get("vm", "ws"))
    parameters = [f"{policy}.tau_ms={test.options['tau_ms']}", *test.options.get("set", ())]
    text = " ".join(map(str, rounds)).encode()
    options = {"frames": test.options["frames"]} if "frames" in test.options else {}
    command = " ".join(["sample_ms=0", *parameters])
    limit, files = most_instructions(len(pages_used(rounds))), {"string": text}
    return machine.boot("pace @/string", files, vm=policy, swap="sim:ram", cmdline=command, budget=limit, **options)


def pages_used(rounds: Sequence[Round]) -> list[int]:
    """All references of the rounds."""
    return [page for each in rounds for page in each.pages]


def figure(test: Test, machine: Machine) -> float:
    """The reference solution's space-time product."""
    test = budget.of_model(test, "vm") if "like" in test.options else test
    rounds = rounds_of(test)
    boot = budget.ended_well(test, ran(test, machine, rounds))
    return again_and_price(test, *stays_of(boot.evidence, list(dict.fromkeys(pages_used(rounds)))))[1]


def judge(test: Test, machine: Machine) -> Verdict:
    """Play the rounds, and judge when each page was in memory."""
    rounds = rounds_of(test)
    boot = ran(test, machine, rounds)
    if stopped := obstacle(boot):
        return stopped
    pages = pages_used(rounds)
    made = boot.evidence.string(boot.evidence.main_space()).pages
    if len(made) != len(pages):
        return wrong(f"the workload made {len(made):,} of {len(pages):,} references: the kernel prevented the others")
    stays, end = stays_of(boot.evidence, list(dict.fromkeys(pages)))
    if not budget.is_relative(test):
        return by_definition(test, stays, rounds, end)
    return by_price(test, stays, end, budget.limits(test, machine, figure))
