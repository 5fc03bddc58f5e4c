"""A board of policies: which is best on draws that the students have not seen.

Known workloads can be learned by heart, so the board uses the held-out half of an evaluation (tidemark.evaluate). A
file with a secret seed numbers its replicates, and may name further strings, such as recorded traces, which count like
the others. The order is by the score: faults on strings, time of programs under memory pressure with a guard and
without, and the cost of the hooks. A refused policy is last, with the reason. FIFO, CLOCK and 2Q are listed among the
others for comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from tidemark.evaluate import score, text
from tidemark.evaluate.evaluation import HELD_OUT, Request, evaluate
from tidemark.evaluate.refusal import KERNEL, SIMULATOR, Refusal
from tidemark.grade.build.sandbox import Sandbox
from tidemark.machine import qemu
from tidemark.strings import compare, vmsim

MOST_REASON = 120
PARTS = {score.STRINGS: "faults / MIN", score.MACHINE: "time / least", score.HOOKS: "with / without hooks"}


@dataclass(frozen=True)
class Line:
    """A policy's line: the held-out half of its evaluation, or the reason why there is none."""

    name: str
    half: Mapping[str, Any] | None
    reason: str = ""

    @property
    def score(self) -> float:
        """The median over replicates; infinite for a refused policy."""
        return float(self.half["score"]["ratio"]) if self.half else float("inf")


def path_of(policy: str) -> Path:
    """The file of a policy of this tree."""
    return qemu.ROOT / vmsim.POLICIES / f"{policy}.c"


def reason(refusal: Refusal) -> str:
    """Why a policy is refused, in a line that says nothing about the held-out draws."""
    if refusal.stage in (SIMULATOR, KERNEL):
        return f"broke the rule '{refusal.rule}' in the {refusal.stage}"
    return refusal.said.splitlines()[0][:MOST_REASON]


def line(request: Request, name: str, box: Sandbox) -> Line:
    """The line of one policy."""
    made = evaluate(request, box)
    return Line(name, made.told[HELD_OUT], reason(made.refusal) if made.refusal else "")


def board(
    policies: Sequence[Path],
    seed: int,
    more: Sequence[str],
    names: Mapping[str, str],
    box: Sandbox,
    jobs: int = 2,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Line]:
    """All lines, the best first. Raises LabError as `evaluate` does."""
    everybody = list(dict.fromkeys([*policies, *map(path_of, compare.REFERENCE_POLICIES)]))
    lines = []
    for done, policy in enumerate(everybody):
        progress(done, len(everybody))
        request = Request(policy, seed, halves=(HELD_OUT,), more=more, jobs=jobs)
        lines.append(line(request, names.get(policy.stem, policy.stem), box))
    return sorted(lines, key=lambda each: (each.score, each.name))


def as_rows(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """The board as a table's rows."""
    rows = []
    for place, each in enumerate(lines, 1):
        half = each.half
        columns = {"score": text.number(half["score"]) if half else ""}
        columns |= {said: text.number(half["parts"][part]) if half else "" for part, said in PARTS.items()}
        rows.append({"place": place if half else "", "policy": each.name, **columns, "note": each.reason})
    return rows


def page(lines: Sequence[Line]) -> str:
    """The board as an HTML page that needs no network."""
    rows = as_rows(lines)
    head = "".join(f"<th>{escape(name)}" for name in rows[0])
    body = "\n".join("<tr>" + "".join(f"<td>{escape(str(value))}" for value in row.values()) for row in rows)
    style = "body{font:1em sans-serif}td,th{padding:.2em .8em;text-align:right}td:nth-child(2){text-align:left}"
    return (
        '<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>Policies by score</title>'
        f"<style>{style}</style>\n"
        "<h1>Policies by score</h1>\n<p>The score is the geometric mean of three ratios to the best possible, on draws "
        "that were held out:\nfaults over MIN, time over the least time, and instructions with hooks over those "
        "without. 1 is the best possible. In brackets:\nan interval of 95 % for the median.\n"
        f"<table>\n<tr>{head}\n{body}\n</table>\n</html>\n"
    )
