"""The answer of a sweep: which policy, or guard, is quickest at each of its places, and by how much.

A place is what the contestants have in common: the workload, memory, and all other settings that differ in the sweep.
At each place they are ordered by the median time of their repetitions: over that of the ideal run, if the plan has one,
else the turnaround. Each is compared with the best of its place by pairs of repetitions. The statements about one
place hold together with 95 %, and allow for the best having been chosen by the same runs (tidemark.runs.claims).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from tidemark.report.arena import GUARD, NONE
from tidemark.report.cells import POLICY, Cell, command, repetition, sized
from tidemark.report.difference import BY_ITSELF, NOT_A_PLACE, amount, times
from tidemark.report.experiments import quantity, usable
from tidemark.report.figure import BLUE, GREY, VERMILION, WIDTH_IN, Figure, of_rows, whole_numbers
from tidemark.report.plots.sweeps import RANKING
from tidemark.report.text import short
from tidemark.runs import claims
from tidemark.runs.claims import Claim
from tidemark.runs.plan import arguments

FEWEST, MOST_PLACES, COLUMNS = 3, 12, 2
ROW_IN, STEEP = 0.17, 20


@dataclass(frozen=True)
class Row:
    """A contestant at a place: the values of its repetitions, and the claim against the best, which itself has none."""

    name: str
    values: tuple[float, ...]
    claim: Claim | None = None

    @property
    def verdict(self) -> str:
        """`best`, or that of the claim; one that is told apart by less than 10 % is level."""
        if self.claim is None:
            return "best"
        return claims.IS_LEVEL if self.claim.level else self.claim.verdict


@dataclass(frozen=True)
class Place:
    """The contestants at one place, the best first."""

    name: str
    rows: list[Row]

    def named(self, verdict: str) -> list[str]:
        """The contestants with this verdict."""
        return [row.name for row in self.rows if row.verdict == verdict]


def contestants(every: Sequence[Cell]) -> str:
    """The factor whose values are ranked: the policy, or the guard of a single policy. Empty unless one sweep has
    FEWEST of them; two are compared by tidemark.report.difference."""
    some = usable(every)
    for kind, default in ((POLICY, "?"), (GUARD, NONE)):
        count = len({cell.factors.get(kind, default) for cell in some})
        if count > 1:
            return kind if count >= FEWEST and len({cell.sweep for cell in some}) == 1 else ""
    return ""


def places(every: Sequence[Cell]) -> list[Place]:
    """The places at which at least two contestants have results."""
    some, kind = usable(every), contestants(every)
    if not kind:
        return []
    number, _ = quantity(some)
    # The command, which is shown, says what its arguments are.
    left_out = {*NOT_A_PLACE, "workload", kind, *arguments(cell.factors.get("workload", "") for cell in some)}
    names = dict.fromkeys(name for cell in some for name in cell.factors if name not in left_out)
    differ = ["workload", *(name for name in names if len({cell.factors.get(name, "") for cell in some}) > 1)]
    groups: dict[tuple[str, ...], dict[str, list[Cell]]] = {}
    for cell in some:
        if number in cell.numbers:
            at = tuple(command(cell) if name == "workload" else cell.factors.get(name, "") for name in differ)
            groups.setdefault(at, {}).setdefault(cell.factors.get(kind, NONE), []).append(cell)
    return [place(differ, at, group, number) for at, group in groups.items() if len(group) > 1]


def place(names: Sequence[str], at: Sequence[str], group: dict[str, list[Cell]], number: str) -> Place:
    """The contestants of one place in their order."""
    values = {name: {repetition(cell): cell.numbers[number] for cell in some} for name, some in group.items()}
    order = sorted(values, key=lambda name: median(values[name].values()))
    best, vary = order[0], any(sized(cell) for some in group.values() for cell in some)
    rows = [Row(best, tuple(sorted(values[best].values())))]
    for name in order[1:]:
        claim = claims.of(values[best], values[name], sized=vary, best_of=len(order))
        rows.append(Row(name, tuple(sorted(values[name].values())), claim))
    title = ", ".join(value if name in BY_ITSELF else f"{name} {value}" for name, value in zip(names, at))
    return Place(title, rows)


def answer(found: Sequence[Place], ideal: bool) -> str:
    """The whole sweep in words: who is best, or level with the best, at how many places; then a line for each place."""
    good = Counter(name for one in found for name in [one.rows[0].name, *one.named(claims.IS_LEVEL)])
    most = [f"{name} ({count})" for name, count in good.most_common(3)]
    said = (
        f"Of {len(found)} places, best or level with the best most often: {', '.join(most)}. " if len(found) > 1 else ""
    )
    few = next((row.claim.too_few for one in found for row in one.rows if row.claim and row.claim.too_few), "")
    said += f"There is {few}; the order is that of the medians. " if few else sure(found)
    left_out = [f"{len(found) - MOST_PLACES} more places are in ranking.csv."] if len(found) > MOST_PLACES else []
    return "\n".join([said.strip(), *(sentence(one, ideal) for one in found[:MOST_PLACES]), *left_out])


def sure(found: Sequence[Place]) -> str:
    """How sure the statements are, and of how many repetitions."""
    pairs = [row.claim.pairs for one in found for row in one.rows if row.claim]
    return f"By {min(pairs)} replicates; the statements about a place hold together with 95 %. " if pairs else ""


def sentence(one: Place, ideal: bool) -> str:
    """One place in words."""
    best = one.rows[0]
    took = median(best.values)
    said = f"{one.name}: {best.name} is quickest, {f'{took:.3g} times its ideal' if ideal else amount(took, 's')}"
    for verdict, text in ((claims.IS_LEVEL, "level with it"), (claims.NOT_KNOWN, "not known")):
        if names := one.named(verdict):
            said += f"; {text}: {', '.join(names[:5])}{' and others' if len(names) > 5 else ''}"
    slower = [row for row in one.rows if row.claim and row.verdict == claims.TOLD_APART]
    if slower:
        last = slower[-1].claim
        assert last
        said += f"; slower: {len(slower)}, most of all {slower[-1].name}, {times(last.ratio)}"
        said += f" ({times(last.low)} to {times(last.high)})"
    return said + "."


def figure(found: Sequence[Place], label: str) -> Figure:
    """A panel for each place, with a row for each contestant."""
    rows = [
        {"place": one.name, "rank": at, "contestant": row.name, "median": median(row.values)}
        | {"over_best": row.claim.ratio if row.claim else 1.0, "verdict": row.verdict}
        | {"claim": row.claim.told if row.claim else ""}
        for one in found
        for at, row in enumerate(one.rows, 1)
    ]
    return Figure(RANKING.name, RANKING.title, RANKING.caption, of_rows(rows), lambda: draw(found[:MOST_PLACES], label))


def draw(found: Sequence[Place], label: str) -> Canvas:
    """Draw the panels, two beside each other."""
    lines = -(-len(found) // COLUMNS)
    tallest = max(len(one.rows) for one in found)
    picture = Canvas(figsize=(WIDTH_IN, lines * (0.75 + ROW_IN * tallest)), layout="constrained")
    axes = picture.subplots(lines, min(COLUMNS, len(found)), squeeze=False).ravel()
    for at, one in zip(axes, found):
        panel(at, one, label)
    for at in axes[len(found) :]:
        at.set_visible(False)
    return picture


def panel(axes: Axes, one: Place, label: str) -> None:
    """Draw one place: medians, with lines from the least to the greatest repetition."""
    colours = {"best": BLUE, claims.IS_LEVEL: BLUE, claims.TOLD_APART: VERMILION, claims.NOT_KNOWN: GREY}
    for at, row in enumerate(one.rows):
        axes.plot([row.values[0], row.values[-1]], [at, at], color=colours[row.verdict], linewidth=2)
        axes.plot(median(row.values), at, "o", color=colours[row.verdict], markersize=4, clip_on=False)
    axes.set_yticks(range(len(one.rows)), [row.name for row in one.rows], fontsize=7)
    axes.set_ylim(len(one.rows) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)
    least, most = min(row.values[0] for row in one.rows), max(row.values[-1] for row in one.rows)
    if most > STEEP * least > 0:
        axes.set_xscale("log")
        whole_numbers(axes.xaxis)
    else:
        axes.set_xlim(left=0)
    axes.set_xlabel(label)
    axes.set_title(short(one.name, 44), fontsize=8)
