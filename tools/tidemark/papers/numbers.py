"""What is measured of a run: the numbers that a plan of a paper declares.

    "turnaround_s"                              a number of the whole run (tidemark.runs.summary.measured)
    { process = "grow", nth = 2, of = NAME }    of the second process with that name, by number: a column of the
                                                processes' table (summary.process), or one of OVER_TIME
    { largest = 2, of = "rss" }                 of the process with the second most, in the last sample with the most
                                                processes
    { console = "REGEX" }                       the number that the first group finds in the console
    { listed = [NAME, ...] }                    how many of these words the console has
    { total = NAME }                            of all processes together: gamma_us, or a sum of a column
    { sample = "vm.pswpin" }                    a member of the last sample
    { share = "guard.protected" }               the share of samples in which this member is not 0
    { together = ["a", "b"], of = NAME }        of the system while both processes live: one of TOGETHER
    { curve = "lru", of = NAME }                of a trace: one of OF_CURVES
    { trace = NAME }                            of a trace: one of OF_TRACES

Each may have `times = N`, which the number is multiplied by. across.py has those of several runs together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tidemark.errors import FAILED, LabError
from tidemark.papers import across
from tidemark.report import procs
from tidemark.runs import results, summary
from tidemark.telemetry.stream import Telemetry

POINTS = 120  # of a drawn curve of memory
FALL = 0.25  # a fall of the resident set by more than this share of its peak, without a rise between, counts as one
Lines = Sequence[dict[str, Any]]  # a process's entries of the samples


def pid_of(data: Telemetry, name: str, nth: int) -> int:
    """The number of the nth process of this name, by number, among those that ended. Of a process and the child that
    does its work under the same name, the one with more memory counts."""
    ended = {record["pid"]: record for record in data.exits if record["comm"] == name}
    most = max((record["max_rss"] for record in ended.values()), default=0)
    worked = sorted(pid for pid, record in ended.items() if record["max_rss"] * 10 >= most)
    if len(worked) < nth:
        raise LabError(f"the run has {len(worked)} processes {name}, and number {nth} is asked for", FAILED)
    return worked[nth - 1]


def lines_of(data: Telemetry, pid: int) -> Lines:
    """A process's entries of all samples, with their time as `t_us`."""
    return [{**one, "t_us": sample["t_us"]} for sample in data.samples for one in sample["procs"] if one["pid"] == pid]


def falls(values: Sequence[float]) -> int:
    """How often the values fall by more than FALL of their peak before they rise again by as much."""
    if not values:
        return 0
    least = FALL * max(values)
    count, top, bottom = 0, values[0], None
    for value in values:
        if bottom is None:
            top = max(top, value)
            if top - value > least:
                count, bottom = count + 1, value
        else:
            bottom = min(bottom, value)
            if value - bottom > least:
                top, bottom = value, None
    return count


def of_lines(name: str) -> Callable[[Lines], Sequence[float]]:
    """The values of a member of a process's entries."""
    return lambda lines: [one[name] for one in lines]


OVER_TIME: dict[str, Callable[[Lines], float]] = {
    "max_mad": lambda lines: max(of_lines("mad")(lines)),
    "max_rss": lambda lines: max(of_lines("rss")(lines)),
    "max_swap": lambda lines: max(of_lines("swap")(lines)),
    "mean_rss": lambda lines: float(np.mean(of_lines("rss")(lines))),
    "mean_nap": lambda lines: float(np.mean(of_lines("nap")(lines))),
    "mean_mad": lambda lines: float(np.mean(of_lines("mad")(lines))),
    "falls_of_rss": lambda lines: falls(of_lines("rss")(lines)),
    "falls_of_mad": lambda lines: falls(of_lines("mad")(lines)),
    "last_rss": lambda lines: lines[-1]["rss"],
    # The share of samples in which less than nine tenths of what the process demands is resident.
    "short": lambda lines: float(np.mean([one["rss"] < 0.9 * one["mad"] for one in lines])),
}


def of_process(data: Telemetry, name: str, nth: int, of: str) -> float:
    """A number of one process."""
    pid = pid_of(data, name, nth)
    if of in OVER_TIME:
        lines = lines_of(data, pid)
        if not lines:
            raise LabError(f"no sample has process {pid}, {name}: sample more often", FAILED)
        return OVER_TIME[of](lines)
    numbers = summary.process(next(record for record in data.exits if record["pid"] == pid))
    if numbers.get(of) is None:
        raise LabError(f"a process has no {of}; there are {', '.join([*numbers, *OVER_TIME])}")
    return float(numbers[of])


def of_console(text: str, pattern: str) -> float:
    """The number that a pattern finds."""
    found = re.search(pattern, text, re.MULTILINE)
    if not found:
        raise LabError(f"no line of the console matches {pattern!r}", FAILED)
    return float(found[1])


def of_sample(data: Telemetry, path: str) -> float:
    """A member of the last sample, by its path; a list's members are added."""
    at: Any = data.samples[-1]
    for name in path.split("."):
        at = at.get(name, 0) if isinstance(at, dict) else 0
    return float(sum(at) if isinstance(at, list) else at)


def share_of(data: Telemetry, name: str) -> float:
    """Samples in which the member is not 0, over all."""
    *path, last = name.split(".")
    count = 0
    for sample in data.samples:
        at: Any = sample
        for part in path:
            at = at.get(part, {})
        count += bool(at.get(last, 0))
    return count / len(data.samples)


def of_both(data: Telemetry, names: Sequence[str], of: str) -> float:
    """A number of the time in which the processes live together. Two equal names are two processes."""
    pids = [pid_of(data, name, 1 + names[:at].count(name)) for at, name in enumerate(names)]
    there = [one for one in data.samples if set(pids) <= {process["pid"] for process in one["procs"]}]
    if len(there) < 2:
        raise LabError(f"no two samples have {' and '.join(names)}", FAILED)
    return TOGETHER[of](there[0], there[-1])


def seconds(first: Any, last: Any) -> float:
    """The time between two samples."""
    return float(last["t_us"] - first["t_us"]) / 1e6


TOGETHER: dict[str, Callable[[Any, Any], float]] = {
    "busy_percent": lambda a, b: 100 - (b["idle_us"] - a["idle_us"]) / 1e4 / seconds(a, b),
    "faults_per_s": lambda a, b: (b["vm"]["pgmajfault"] - a["vm"]["pgmajfault"]) / seconds(a, b),
}


def of_largest(data: Telemetry, nth: int, of: str) -> float:
    """The amount `of` of the process that has the nth most of it, in the last sample with the most processes."""
    rows = procs.by_memory(procs.choose(data.samples, None, False), of)
    if len(rows) < nth:
        raise LabError(f"the sample has {len(rows)} processes, and the {nth}th largest is asked for", FAILED)
    return float(rows[nth - 1][of])


def of_all(data: Telemetry, of: str) -> float:
    """A number of all processes. γ is the kernel's space-time over the pages that waited, of all faults."""
    if of == "gamma_us":
        pages = sum(record["fault_rss"] for record in data.exits)
        return sum(record["housekeeping"] for record in data.exits) / max(pages, 1)
    return float(sum(summary.process(record)[of] for record in data.exits))


def one_number(result: results.Result, data: Telemetry, how: Any) -> float:
    """One declared number of a run."""
    if isinstance(how, str):
        every = summary.measured(data)
        if how not in every:
            raise LabError(f"a run has no number {how}; there are {', '.join(every)}")
        return every[how]
    times = float(how.get("times", 1))
    if "console" in how or "listed" in how:
        text = result.console_path.read_text("ascii", "replace").replace("\r", "")
        if "listed" in how:
            return float(len(set(how["listed"]) & set(text.split())))
        return times * of_console(text, how["console"])
    if "total" in how:
        return times * of_all(data, how["total"])
    if "largest" in how:
        return times * of_largest(data, how["largest"], how["of"])
    if "share" in how:
        return times * share_of(data, how["share"])
    if "together" in how:
        return times * of_both(data, how["together"], how["of"])
    if "sample" in how:
        return times * of_sample(data, how["sample"])
    return times * of_process(data, how["process"], how.get("nth", 1), how["of"])


def of_result(result: results.Result, declared: Mapping[str, Any]) -> dict[str, float]:
    """All declared numbers of a run; those that it does not have, such as a process's of another workload, are left
    out, and a claim that needs one says so."""
    data, found = result.telemetry(), {}
    for name, how in declared.items():
        if across.kind(how):
            continue
        try:
            found[name] = one_number(result, data, how)
        except LabError as error:
            if error.code != FAILED:
                raise LabError(f"number {name}: {error}") from None
    return found


def memory_of(result: results.Result, name: str, nth: int) -> dict[str, list[float]]:
    """Seconds, demand (MAD), resident pages (RSS) and pages accessed (NAP) of a process over time, thinned."""
    data = result.telemetry()
    lines = lines_of(data, pid_of(data, name, nth))
    lines = lines[:: max(len(lines) // POINTS, 1)]
    seconds = [round(one["t_us"] / 1e6, 3) for one in lines]
    return {"s": seconds} | {name: [one[name] for one in lines] for name in ("mad", "rss", "nap")}
