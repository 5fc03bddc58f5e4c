"""Policies side by side on the standard strings: misses, and regret.

The policies of the tree run in the simulator (vmsim.py), each as its own C file. LRU and MIN are computed for all
sizes at once (tidemark.curves). MIN is the least number of misses of demand paging with a given number of frames: it
knows the future and evicts the page whose next use is farthest away (Belady, IBM Systems Journal 5(2), 1966). Regret
is a policy's misses beyond MIN, relative to MIN: (misses - MIN) / MIN; 0 is perfect, 1 twice as many.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tidemark.curves.belady import MinDistances
from tidemark.curves.lru import StackDistances
from tidemark.curves.runs import Batch
from tidemark.errors import USAGE, LabError
from tidemark.strings import refstrings, vmsim
from tidemark.strings.refstrings import References

REFERENCE_POLICIES = ("fifo", "clock", "2q")
LRU, MIN = "LRU", "MIN"


@dataclass(frozen=True)
class Cell:
    """One policy on one string with one number of frames."""

    string: str
    references: int
    pages: int
    frames: int
    policy: str
    misses: int
    regret: float


def batches(string: References) -> Iterator[Batch]:
    """The string as input of the curves: pages numbered in order of first appearance, time in references."""
    from tidemark.trace.pages import PageTable

    table, start = PageTable(), 0
    for names, counts in refstrings.names_and_counts(string.runs()):
        pages = table.number(np.zeros(len(names), np.uint16), names).astype(np.int32)
        starts = start + np.cumsum(counts, dtype=np.int64) - counts
        yield Batch(pages, np.ones(len(pages), np.uint8), counts, starts, counts, table.known)
        start += int(counts.sum())


def misses_by_size(histogram: np.ndarray, frames: Sequence[int]) -> list[int]:
    """Misses with each number of frames. Element c > 0 of the histogram counts the references that need c frames to
    hit, element 0 those that miss with any number.
    """
    return [int(histogram[0] + histogram[size + 1 :].sum()) for size in frames]


def bounds(string: References, frames: Sequence[int]) -> dict[str, list[int]]:
    """Misses of LRU and of MIN with each number of frames."""
    lru, optimal = StackDistances(), MinDistances()
    for batch in batches(string):
        lru.feed(batch)
        optimal.feed(batch)
    return {LRU: misses_by_size(lru.depths(), frames), MIN: misses_by_size(optimal.capacities(), frames)}


def simulated(program: Path, string: References, frames: int, parameters: Iterable[str]) -> int:
    """Misses of one policy. Raises BrokenRule, which names the string."""
    try:
        return vmsim.run(program, string, frames, parameters).faults
    except vmsim.BrokenRule as error:
        where = f"on the string {string.name} with {frames} frames: {error}"
        raise vmsim.BrokenRule(error.violation, where) from None


def cells_of(
    string: References, frames: Sequence[int], programs: dict[str, Path], parameters: dict[str, list[str]]
) -> list[Cell]:
    """Every policy with every number of frames, then LRU and MIN."""
    known = bounds(string, frames)
    jobs = [(policy, size) for policy in programs for size in frames]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counted = pool.map(lambda job: simulated(programs[job[0]], string, job[1], parameters.get(job[0], ())), jobs)
        misses = dict(zip(jobs, counted))
    for policy, row in known.items():
        misses |= {(policy, size): count for size, count in zip(frames, row)}
    least = dict(zip(frames, known[MIN]))
    return [
        Cell(string.name, string.nr_references, string.nr_pages, size, policy, count, count / least[size] - 1)
        for (policy, size), count in misses.items()
    ]


def parameters_of(given: Iterable[str], policies: Sequence[str]) -> dict[str, list[str]]:
    """Sorts parameters, POLICY.NAME=VALUE, by policy. Raises LabError for a policy that is not compared."""
    by_policy: dict[str, list[str]] = {}
    for text in given:
        policy = text.partition(".")[0]
        if policy not in policies:
            raise LabError(f"--set {text}: give POLICY.NAME=VALUE with a policy that is compared", USAGE)
        by_policy.setdefault(policy, []).append(text)
    return by_policy


def compare(
    wanted: Sequence[str],
    names: Sequence[str],
    parameters: Sequence[str] = (),
    progress: Callable[[int, int], None] = lambda done, total: None,
    others: Sequence[str] = (),
    frames: Sequence[int] = (),
) -> list[Cell]:
    """All cells: the policies `wanted` and the reference ones, LRU and MIN, on the standard strings `names` and on
    `others` (texts for strings.find), with each number of `frames`; by default, with a string's own numbers or quarters
    of its pages. Raises LabError if a policy does not compile or a string is unknown, BrokenRule if one breaks a rule.
    """
    unknown = [name for name in names if name not in refstrings.STANDARD]
    if unknown:
        raise LabError(f"{unknown[0]} is not a standard string; there are {', '.join(refstrings.STANDARD)}", USAGE)
    policies = list(dict.fromkeys([*wanted, *REFERENCE_POLICIES]))
    by_policy = parameters_of(parameters, policies)
    programs = {policy: vmsim.build(policy, fast=True) for policy in policies}
    cells: list[Cell] = []
    for done, name in enumerate([*names, *others]):
        progress(done, len(names) + len(others))
        string = refstrings.standard(name) if done < len(names) else refstrings.find(name)
        own = refstrings.STANDARD[name].frames if done < len(names) else vmsim.some_frames(string.nr_pages)[1:-1:2]
        sizes = [size for size in frames if size <= string.nr_pages] or own or [1]
        cells += cells_of(string, sizes, programs, by_policy)
    return cells


def median_regret(cells: Iterable[Cell]) -> dict[str, float]:
    """The median over strings and sizes, by policy. (The loop, on which nearly all do badly, dominates the mean.)"""
    regrets: dict[str, list[float]] = {}
    for cell in cells:
        regrets.setdefault(cell.policy, []).append(cell.regret)
    return {policy: float(np.median(values)) for policy, values in regrets.items()}
