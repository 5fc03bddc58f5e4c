"""A board of policies: which comes nearest to MIN on strings that the students have not seen.

Known strings can be learned by heart, so the board's strings are held out: a file names them, and the board shows
them by number. Regret is as in compare.py: (misses - MIN) / MIN; for a string, the median over quarters of its
pages as frames. The order is by the median over strings, so that one string more or less has little weight. A policy
that breaks a rule, does not compile, or misses less than MIN has no regret, and is last, with the reason. FIFO,
CLOCK, 2Q and LRU are listed among the others for comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from statistics import median
from typing import Any

from tidemark.errors import LabError
from tidemark.strings import compare, refstrings, vmsim
from tidemark.strings.refstrings import References

MOST_REASON = 120


@dataclass(frozen=True)
class Line:
    """A policy's line: the regret on each string, or the reason why there are none."""

    name: str
    regrets: tuple[float, ...]
    reason: str = ""

    @property
    def regret(self) -> float:
        """The median over strings; infinite without strings."""
        return median(self.regrets) if self.regrets else float("inf")


def sizes_of(string: References) -> list[int]:
    """Numbers of frames: one, two and three quarters of the pages."""
    return vmsim.some_frames(string.nr_pages)[1:-1:2]


def regrets(misses: Sequence[int], least: Sequence[int]) -> float:
    """The regret on one string: the median over numbers of frames. Raises LabError if a policy misses less than MIN."""
    if any(got < best for got, best in zip(misses, least)):
        raise LabError("fewer misses than MIN: it writes into the simulator's memory")
    return median(got / best - 1 for got, best in zip(misses, least))


def reason(error: LabError) -> str:
    """The first line of an error, truncated."""
    return str(error).splitlines()[0][:MOST_REASON]


def line(policy: str, name: str, held_out: Sequence[References], least: Sequence[Sequence[int]]) -> Line:
    """The line of one policy, run on all strings."""
    try:
        program = vmsim.build(policy, fast=True)
        made = [
            regrets([vmsim.run(program, string, size).faults for size in sizes_of(string)], best)
            for string, best in zip(held_out, least)
        ]
    except LabError as error:
        return Line(name, (), reason(error))
    return Line(name, tuple(made))


def board(
    policies: Sequence[str],
    held_out: Sequence[str],
    names: Mapping[str, str],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Line]:
    """All lines, the best first."""
    found = [refstrings.find(text) for text in held_out]
    bounds = [compare.bounds(string, sizes_of(string)) for string in found]
    least = [known[compare.MIN] for known in bounds]
    lines = [Line(compare.LRU, tuple(regrets(known[compare.LRU], best) for known, best in zip(bounds, least)))]
    everybody = list(dict.fromkeys([*policies, *compare.REFERENCE_POLICIES]))
    for done, policy in enumerate(everybody):
        progress(done, len(everybody))
        lines.append(line(policy, names.get(policy, policy), found, least))
    return sorted(lines, key=lambda each: (each.regret, each.name))


def as_rows(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """The board as a table's rows."""
    number = max((len(each.regrets) for each in lines), default=0)
    rows = []
    for place, each in enumerate(lines, 1):
        shown = [f"{regret:.1%}" for regret in (each.regret, *each.regrets)] if each.regrets else [""] * (number + 1)
        columns = ("regret", *(f"string {at}" for at in range(1, number + 1)))
        rows.append({"place": place if each.regrets else "", "policy": each.name, **dict(zip(columns, shown))})
        rows[-1]["note"] = each.reason
    return rows


def page(lines: Sequence[Line]) -> str:
    """The board as an HTML page that needs no network."""
    rows = as_rows(lines)
    head = "".join(f"<th>{escape(name)}" for name in rows[0])
    body = "\n".join("<tr>" + "".join(f"<td>{escape(str(value))}" for value in row.values()) for row in rows)
    style = "body{font:1em sans-serif}td,th{padding:.2em .8em;text-align:right}td:nth-child(2){text-align:left}"
    return (
        '<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>Policies by regret</title>'
        f"<style>{style}</style>\n"
        "<h1>Policies by regret</h1>\n<p>Misses beyond MIN, in percent of it, on strings that were held out.\n"
        f"<table>\n<tr>{head}\n{body}\n</table>\n</html>\n"
    )
