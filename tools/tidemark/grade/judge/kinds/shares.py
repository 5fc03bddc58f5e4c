"""Kind `shares`: the processes' shares of the CPU, counted in instructions from outside.

The workload is `spin` (user/workloads/spin.c): processes with nice values that only compute, and their parent, which
sleeps. Some process can always run, so in an exact run an instruction is a nanosecond, and switches of address space
show which process ran at what time. What counts is the time from the parent's first sleep to its last wake-up, when
all processes have begun; nearly all of it must be theirs. A turn without instructions of a program does not count.

Options:
    nice       nice values of the processes
    ms, pulse  how long they compute, and the interval in ms at which the parent wakes and sleeps again (default: ms)
    late       ms for which the last process sleeps first
    last       what the last process does besides computing: "forks": has short-lived children compute; "naps": sleeps
               0.1 ms after each 2.5 ms; "yields": yields every 0.1 ms
    renice     true: all begin at nice 0, and get their nice values when they run
    measure    shares   of the CPU: right within `tolerance` percentage points of the share by weight. If the last
                        process forks or naps, only it counts, and half of its share is enough: a new process has to
                        wait its turn. If it yields, it must not have more than half of its share
               lag      the largest number of ms by which a process falls behind its share in any span of time
               wait     the longest wait of a process until it runs again, in ms (not of a late process)
               latency  the longest time from the due wake-up of the sleeper until it runs, in ms
    full, none for lag, wait and latency: full points up to `full`, none from `none` on
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tidemark.errors import BAD_INPUT, LabError
from tidemark.grade.model import Outcome, Test, Verdict, right, scaled, wrong
from tidemark.grade.witness.evidence import MMAP_PAGES, STORE, SWITCH, Evidence
from tidemark.grade.witness.machine import Machine, trouble

LAST = ("", "forks", "naps", "yields")
MEASURES = ("shares", "lag", "wait", "latency")
NS_PER_MS = 1_000_000
MOST_STARTING = 100_000_000  # instructions until all have begun, and from the last wake-up to the end
POINTS = 120  # of a line of the plot
BUSY = 0.9  # part of the time in which programs, not the kernel, must run
# Linux's sched_prio_to_weight, nice -20 to 19.
WEIGHTS = """
    88761 71755 56483 46273 36291 29154 23254 18705 14949 11916 9548 7620 6100 4904 3906 3121 2501 1991 1586 1277
    1024 820 655 526 423 335 272 215 172 137 110 87 70 56 45 36 29 23 18 15
"""


@dataclass(frozen=True)
class Options:
    """The options of a test, see above. Times are in ms."""

    nice: tuple[int, ...]
    ms: int
    pulse: int
    late: int
    last: str
    renice: bool
    measure: str

    @property
    def command(self) -> str:
        """The command to run in the guest."""
        words: list[object] = ["spin", self.ms, *self.nice, "--pulse", self.pulse]
        words += ["--late", self.late] * (self.late > 0) + [f"--{self.last}"] * bool(self.last)
        words += ["--renice"] * self.renice
        return " ".join(map(str, words))

    @property
    def expected(self) -> np.ndarray:
        """The share of each process."""
        weights = [int(WEIGHTS.split()[nice + 20]) for nice in self.nice]
        return np.array(weights, float) / sum(weights)

    def name(self, process: int) -> str:
        """A process (1, 2, ...) in words."""
        more = ""
        if process == len(self.nice):
            said = {"forks": ", with all its children", "naps": ", which naps", "yields": ", which yields"}
            more = ", which comes late" * (self.late > 0) + said.get(self.last, "")
        return f"process {process} (nice {self.nice[process - 1]}{more})"


def options_of(test: Test) -> Options:
    """The test's options. Raises LabError if one is missing or invalid."""
    given = test.options
    if given.get("measure") not in MEASURES:
        raise LabError(f"{test.title}: measure = {given.get('measure')!r}; there are {', '.join(MEASURES)}", BAD_INPUT)
    needed = ("nice", "ms", *(("tolerance",) if given["measure"] == "shares" else ("full", "none")))
    if missing := [name for name in needed if name not in given]:
        raise LabError(f"{test.title}: {', '.join(missing)}: missing", BAD_INPUT)
    ms, last = int(given["ms"]), "forks" if given.get("forks") else str(given.get("last", ""))
    if last not in LAST:
        raise LabError(f"{test.title}: last = {last!r}; there are {', '.join(filter(None, LAST))}", BAD_INPUT)
    return Options(
        nice=tuple(given["nice"]),
        ms=ms,
        pulse=int(given.get("pulse", ms)),
        late=int(given.get("late", 0)),
        last=last,
        renice=bool(given.get("renice", False)),
        measure=str(given["measure"]),
    )


@dataclass(frozen=True)
class Turns:
    """What happened while the parent slept, from instruction `begin` to `end`. For every turn: the
    process (0: the parent), its first instruction, the one after the last, and how many of them were the program's.
    `late`: by how many instructions the parent ran late, for each of its wake-ups.
    """

    begin: int
    end: int
    process: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    user: np.ndarray
    late: np.ndarray

    def used(self, nr: int) -> np.ndarray:
        """Instructions of processes 1 to nr, a column each: a row for the beginning, and for the end of each turn."""
        by = np.where(self.process[:, None] == np.arange(1, nr + 1), self.user[:, None], 0)
        return np.vstack([np.zeros((1, nr), np.int64), np.cumsum(by, axis=0)])

    def waits(self, process: int) -> tuple[int, int]:
        """(longest time without a turn of the process, when it began)."""
        mine = (self.process == process) & (self.user > 0)
        starts = np.append(self.start[mine], self.end)
        stops = np.insert(self.stop[mine], 0, self.begin)
        longest = int(np.argmax(starts - stops))
        return int(starts[longest] - stops[longest]), int(stops[longest])


def processes(evidence: Evidence, nr: int) -> tuple[np.ndarray, int]:
    """(process of each address space, -1 if not spin's; index of the event with which the parent lets them begin).
    A process is known by the page of spin's array that it stores into first. A later process that stores
    into none is a child of the last one. The index is -1 if the processes have not begun.
    """
    events = evidence.events
    stores = np.flatnonzero((events["kind"] == STORE) & (events["a"] >= MMAP_PAGES.start))
    stores = stores[events["a"][stores] < MMAP_PAGES.stop]
    process = np.full(evidence.nr_spaces, -1)
    if not len(stores):
        return process, -1
    base = int(events["a"][stores].min())
    begin = int(stores[events["a"][stores] == base][0])
    parent = int(events["space"][begin])
    process[parent:] = nr
    process[parent] = 0
    for at in reversed(stores.tolist()):
        space, number = int(events["space"][at]), int(events["a"][at]) - base
        if space > parent and 1 <= number <= nr:
            process[space] = number
    return process, begin


def turns(evidence: Evidence, options: Options) -> Turns | None:
    """The turns while the parent slept; None if the processes have not begun."""
    process, begin = processes(evidence, len(options.nice))
    if begin < 0:
        return None
    switches = evidence.events[np.flatnonzero(evidence.events["kind"][begin:] == SWITCH) + begin]
    start = switches["all"].astype(np.int64)
    stop = np.append(start[1:], evidence.instructions)
    user = np.diff(np.append(switches["user"], evidence.events["user"][-1]).astype(np.int64))
    runner = process[switches["space"]]
    parents = np.flatnonzero((runner == 0) & (user > 0))
    slept = np.append(start[parents], evidence.instructions) - np.append(start[:1], stop[parents])
    pulses = np.flatnonzero(slept > options.pulse * NS_PER_MS // 2)
    if not len(pulses):
        return None
    wakings = np.append(start[parents], evidence.instructions)
    first, last = int((wakings - slept)[pulses[0]]), int(wakings[pulses[-1]])
    inside = (start >= first) & (stop <= last)
    late = slept[pulses] - options.pulse * NS_PER_MS
    return Turns(first, last, runner[inside], start[inside], stop[inside], user[inside], late)


def plot(options: Options, seen: Turns) -> dict[str, object]:
    """CPU time of each process over time, ms."""
    used = seen.used(len(options.nice)) / NS_PER_MS
    times = (np.append(seen.begin, seen.stop) - seen.begin) / NS_PER_MS
    chosen = np.unique(np.linspace(0, len(times) - 1, POINTS).astype(int))
    lines = {
        f"{number + 1}: nice {nice}": [[round(float(times[k]), 3), round(float(used[k, number]), 3)] for k in chosen]
        for number, nice in enumerate(options.nice)
    }
    return {"title": options.command, "x": "time, ms", "y": "CPU time, ms", "lines": lines}


def judge_shares(test: Test, options: Options, seen: Turns) -> Verdict:
    """The verdict on the processes' shares."""
    used = seen.used(len(options.nice))[-1]
    got, expected, tolerance = used / max(used.sum(), 1), options.expected, float(test.options["tolerance"])
    off = np.abs(got - expected) * 100
    if options.last:
        least, most = (0, expected[-1] / 2) if options.last == "yields" else (expected[-1] / 2, expected[-1])
        off[:-1] = 0
        off[-1] = max(got[-1] - most, least - got[-1], 0) * 100
    worst = len(off) - 1 if options.last else int(np.argmax(off))
    said = f"{options.name(worst + 1)} got {got[worst]:.1%} of the CPU; its weight says {expected[worst]:.1%}"
    figures = {f"share {k + 1}, nice {nice}": round(float(got[k]), 4) for k, nice in enumerate(options.nice)}
    picture = plot(options, seen)
    if off[worst] > tolerance:
        return wrong(said, figures=figures, plot=picture)
    return right(said if options.last else f"furthest off: {said}", figures=figures, plot=picture)


def lag(options: Options, seen: Turns) -> tuple[float, str]:
    """(the largest lag of a process behind its share, in ms; a sentence)."""
    used = seen.used(len(options.nice))
    owed = options.expected * used.sum(axis=1, keepdims=True) - used
    behind = owed - np.minimum.accumulate(owed, axis=0)
    at, worst = np.unravel_index(np.argmax(behind), behind.shape)
    value = float(behind[at, worst]) / NS_PER_MS
    times = np.append(seen.begin, seen.stop)
    since = int(np.argmin(owed[: at + 1, worst]))
    ms = (times[at] - times[since]) / NS_PER_MS
    return value, f"in {ms:.0f} ms, {options.name(int(worst) + 1)} got {value:.1f} ms of CPU time less than its share"


def longest_wait(options: Options, seen: Turns) -> tuple[float, str]:
    """(the longest wait of a process, in ms; a sentence)."""
    waiting = range(1, len(options.nice) + (not options.late))
    worst = max(waiting, key=lambda process: seen.waits(process)[0])
    length, since = seen.waits(worst)
    value, after = length / NS_PER_MS, (since - seen.begin) / NS_PER_MS
    return value, f"{options.name(worst)} waited {value:.1f} ms for a turn, {after:.0f} ms after the beginning"


def latency(options: Options, seen: Turns) -> tuple[float, str]:
    """(the largest delay of the sleeper, in ms; a sentence)."""
    value = float(seen.late.max()) / NS_PER_MS
    return value, f"of {len(seen.late)} wake-ups, the latest came {value:.2f} ms after its time"


def judge(test: Test, machine: Machine) -> Verdict:
    """Run spin, and measure."""
    options = options_of(test)
    budget = MOST_STARTING + options.ms * NS_PER_MS * 3 // 2
    run = machine.boot(options.command, mem="16M", swap="none", budget=budget)
    seen = turns(run.evidence, options)
    if run.outcome is Outcome.HUNG and seen:
        return wrong(f"{run.reason}: {longest_wait(options, seen)[1]}", Outcome.HUNG, plot=plot(options, seen))
    failed = trouble(run)
    if failed or run.outcome is not Outcome.RIGHT or not seen:
        return failed or wrong(f"{options.command}: {run.reason}, or its processes did not compute")
    busy = seen.used(len(options.nice))[-1].sum() / (seen.end - seen.begin)
    if busy < BUSY:
        return wrong(f"the processes had the CPU for {busy:.1%} of the time: the kernel ran, or no process did")
    if options.measure == "shares":
        return judge_shares(test, options, seen)
    value, said = {"lag": lag, "wait": longest_wait, "latency": latency}[options.measure](options, seen)
    full, none = float(test.options["full"]), float(test.options["none"])
    return scaled(round(value, 3), full, none, f"{said}; in ms", plot=plot(options, seen))
