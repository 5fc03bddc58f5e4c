"""What differs between two runs, or two sweeps: in words, and as one picture of ratios.

At a place of two sweeps, the ratio of B over A is a claim (tidemark.runs.claims): the median over the pairs of
repetitions, in an interval of 95 % for all places together. Two single runs have no interval: their ratio holds for
these two runs only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from tidemark.report.arena import GUARD, NONE, number
from tidemark.report.cells import POLICY, Cell, command, repetition, sized
from tidemark.report.figure import BLUE, GREY, VERMILION, WIDTH_IN, Figure, of_rows
from tidemark.report.plots.runs import DIFFERENCE
from tidemark.report.sources import Run
from tidemark.report.text import short
from tidemark.runs import claims, summary
from tidemark.runs.claims import Claim
from tidemark.runs.plan import IDEAL
from tidemark.runs.replicates import REPETITION

FAR = 30  # from this ratio on, ticks at decades suffice
SHORT_S = 0.1  # shorter times are shown in milliseconds
SAME = 1.02  # of two single runs, ratios nearer to 1 than this count as equal
NO_PLACE = "{} and {} have no place in common: no setting has the same value in both, so that nothing is compared."
MOST_ROWS, ROW_IN, NAME = 40, 0.2, 60
TIME = "turnaround_s"
QUANTITIES = {
    "turnaround_s": ("time", "s"),
    "mean_turnaround_s": ("mean time of a job", "s"),
    "thrashing_s": ("thrashing", "s"),
    "utilisation_percent": ("the processor worked", "%"),
    "major_faults": ("major faults", ""),
    "pages_in": ("pages read from swap", ""),
    "pages_out": ("pages written to swap", ""),
    "admission_waits": ("waits for admission", ""),
}
BY_ITSELF = ("workload", "vm", "mem")  # factors whose values are shown without the factor's name
NOT_A_PLACE = {"run", "timeout", "exact", "cmdline", *REPETITION}


@dataclass(frozen=True)
class Change:
    """One quantity of two runs, or one place of two sweeps: its values in A and in B, and for a place its claim."""

    name: str
    a: tuple[float, ...]
    b: tuple[float, ...]
    unit: str = ""
    claim: Claim | None = None

    @property
    def ratio(self) -> float | None:
        """B over A; None if one is 0."""
        if self.claim:
            return self.claim.ratio
        before, after = median(self.a), median(self.b)
        return after / before if before > 0 and after > 0 else None

    @property
    def band(self) -> tuple[float, float] | None:
        """The interval of the ratio; None if there is none."""
        return (self.claim.low, self.claim.high) if self.claim and not self.claim.too_few else None

    @property
    def same(self) -> bool:
        """Are A and B not told apart?"""
        if self.claim:
            return not self.claim.told_apart
        return median(self.a) == median(self.b) if self.ratio is None else 1 / SAME <= self.ratio <= SAME

    @property
    def from_or_to_nothing(self) -> bool:
        """Is one of A and B 0, and the other not? Then there is a difference, but no ratio."""
        return (median(self.a) > 0) != (median(self.b) > 0)

    @property
    def amounts(self) -> tuple[str, str]:
        """A and B with their unit: `358 s`, `1.64 s`."""
        return amount(median(self.a), self.unit), amount(median(self.b), self.unit)

    @property
    def told(self) -> str:
        """`time 1.64 s against 358 s (1/218)`."""
        before, after = self.amounts
        return f"{self.name} {after} against {before}" + (f" ({times(self.ratio)})" if self.ratio else "")


def amount(value: float, unit: str) -> str:
    """A measured number in few characters, with its unit; a count, which has no unit, in full."""
    if unit == "s" and 0 < value < SHORT_S:
        value, unit = 1000 * value, "ms"
    return f"{number(value) if unit and value else f'{value:,.0f}'} {unit}".strip()


def times(ratio: float) -> str:
    """A ratio as text: ×2.3 or 1/4.5."""
    return f"×{ratio:.3g}" if ratio >= 1 else f"1/{1 / ratio:.3g}"


def of_runs(a: Run, b: Run) -> list[Change]:
    """The quantities that both runs have."""
    before, after = summary.measured(a.data), summary.measured(b.data)
    both = [name for name in QUANTITIES if name in before and name in after and (before[name] or after[name])]
    return [
        Change(QUANTITIES[name][0], (float(before[name]),), (float(after[name]),), QUANTITIES[name][1]) for name in both
    ]


def sentence(a: str, b: str, changes: Sequence[Change]) -> str:
    """The quantities that differ, in their order, then those that do not, of two single runs."""
    differ = [change.told for change in changes if not change.same]
    same = [change.name for change in changes if change.same]
    parts = [f"{b} against {a}: {'; '.join(differ)}."] if differ else [f"{b} and {a} are told apart by nothing here."]
    parts += [f"The same: {'; '.join(same)}."] if differ and same else []
    return " ".join([*parts, f"There is no claim: 1 replicate, and {claims.needed(1)} are needed."])


def common(a: Sequence[Cell], b: Sequence[Cell]) -> list[str]:
    """The settings that define a place: those with some values in common between both sweeps."""
    names = dict.fromkeys(name for cell in (*a, *b) for name in cell.factors if name not in NOT_A_PLACE)
    values = {name: [{cell.factors.get(name) for cell in some} for some in (a, b)] for name in names}
    return [name for name, (one, two) in values.items() if one & two]


def sides(every: Sequence[Cell]) -> tuple[list[str], dict[str, list[Cell]]]:
    """What is compared, by name: two sweeps; or the two policies, or guards of one policy, of a sweep. Only one name if
    there is nothing to compare; more than two are ranked (tidemark.report.ranking)."""
    groups: dict[str, dict[str, list[Cell]]] = {"sweep": {}, POLICY: {}, GUARD: {}}
    for cell in every:
        if IDEAL not in cell.factors:
            own = {"sweep": cell.sweep, POLICY: cell.factors.get(POLICY, "?"), GUARD: cell.factors.get(GUARD, NONE)}
            for kind, found in groups.items():
                found.setdefault(own[kind], []).append(cell)
    several = [found for found in groups.values() if len(found) > 1]
    chosen = several[0] if several and len(several[0]) == 2 else {}
    return list(chosen) or [""], chosen


def places(cells: Sequence[Cell], names: Sequence[str]) -> Mapping[tuple[str, ...], list[Cell]]:
    """The cells with a turnaround at each place."""
    found: dict[tuple[str, ...], list[Cell]] = {}
    for cell in cells:
        if TIME in cell.numbers:
            found.setdefault(tuple(cell.factors.get(name, "") for name in names), []).append(cell)
    return found


def compared(name: str, a: Sequence[Cell], b: Sequence[Cell], comparisons: int) -> Change:
    """The change of turnaround at one place."""
    before, after = ({repetition(cell): cell.numbers[TIME] for cell in some} for some in (a, b))
    claim = claims.of(before, after, comparisons, any(map(sized, a)))
    return Change(name, tuple(before.values()), tuple(after.values()), "s", claim)


def of_sweeps(a: Sequence[Cell], b: Sequence[Cell]) -> list[Change]:
    """Turnaround at the places that both sides have, in the order of the ratios. Ideal cells are not compared, since
    other cells are measured by them."""
    a, b = ([cell for cell in some if IDEAL not in cell.factors] for some in (a, b))
    names = common(a, b)
    if not names:
        return []
    before, after = places(a, names), places(b, names)
    shown = [at for at, name in enumerate(names) if len({key[at] for key in before}) > 1] or [0]
    both = [key for key in before if key in after]

    def place(key: tuple[str, ...]) -> str:
        own = {name: command(before[key][0]) if name == "workload" else value for name, value in zip(names, key)}
        return ", ".join(own[n] if n in BY_ITSELF else f"{n} {own[n]}" for n in (names[at] for at in shown))

    changes = [compared(place(key), before[key], after[key], len(both)) for key in both]
    return sorted(changes, key=lambda change: change.ratio or 1)


def sentence_of_sweeps(a: str, b: str, changes: Sequence[Change]) -> str:
    """The number of places at which one is quicker, and by how much at most."""
    if not changes:
        return NO_PLACE.format(a, b)
    quicker = [change for change in changes if not change.same and (change.ratio or 1) < 1]
    slower = [change for change in changes if not change.same and (change.ratio or 1) > 1]
    rest = [change for change in changes if change.same]
    level = sum(change.claim is not None and change.claim.level for change in rest)
    shared = "the one place" if len(changes) == 1 else f"{len(changes)} places"
    parts = [f"{b} against {a}, at {shared} that both have: quicker at {len(quicker)}"]
    if quicker:
        parts[-1] += f" (at most {times(quicker[0].ratio or 1)} of the time: {quicker[0].name})"
    parts.append(f"slower at {len(slower)}")
    if slower:
        parts[-1] += f" (at most {times(slower[-1].ratio or 1)}: {slower[-1].name})"
    said = ", ".join(parts) + f", level at {level}, not known at {len(rest) - level}."
    few = [change.claim.too_few for change in rest if change.claim and change.claim.too_few]
    said += f" At {len(few)} there is {few[0]}." if few else ""
    turning = [change.name for change in changes if change.claim and change.claim.turns]
    where = f"{len(turning)}: {'; '.join(turning[:3])}"
    return said + (f" The result turns round within ±1 % of size at {where}." if turning else "")


def far(change: Change) -> float:
    """How many times one is the other, in either direction."""
    ratio = change.ratio or 1.0
    return max(ratio, 1 / ratio)


def figure(a: str, b: str, changes: Sequence[Change], what: str) -> Figure | None:
    """Ratios as dots with their intervals, and both values; None if there is nothing to draw."""
    drawn = [change for change in changes if change.ratio or change.from_or_to_nothing]
    if not drawn:
        return None
    rows = [
        {what: change.name, "a": median(change.a), "b": median(change.b), "b_over_a": change.ratio}
        | {"low": change.band[0] if change.band else None, "high": change.band[1] if change.band else None}
        | {"claim": change.claim.told if change.claim else ""}
        for change in changes
    ]
    some = drawn if len(drawn) <= MOST_ROWS else [*drawn[: MOST_ROWS // 2], *drawn[-MOST_ROWS // 2 :]]
    left_out = f" Drawn are the {MOST_ROWS} that differ most." if len(some) < len(drawn) else ""
    title = DIFFERENCE.title.format(a=a, b=b)
    return Figure(DIFFERENCE.name, title, DIFFERENCE.caption + left_out, of_rows(rows), lambda: draw(a, b, some))


def draw(a: str, b: str, changes: Sequence[Change]) -> Canvas:
    """Draw the picture."""
    picture = Canvas(figsize=(WIDTH_IN, 0.9 + ROW_IN * len(changes)), layout="constrained")
    axes = picture.subplots()
    axes.axvline(1, color=GREY, linewidth=1)
    for at, change in enumerate(changes):
        if change.ratio:
            dot(axes, at, change, change.ratio)
        axes.annotate(" → ".join(change.amounts), (1, at), xycoords=("axes fraction", "data"), xytext=(6, 0),
                      textcoords="offset points", va="center", fontsize=7)  # fmt: skip
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1,) if max(far(c) for c in changes) > FAR else (1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: times(value)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.margins(x=0.15)
    if not any(change.ratio for change in changes):
        axes.set_xlim(0.5, 2)
    for at, change in enumerate(changes):
        if change.from_or_to_nothing:
            arrow(axes, at, change)
    axes.set_yticks(range(len(changes)), [short(change.name, NAME) for change in changes])
    axes.set_ylim(len(changes) - 0.4, -0.6)
    axes.set_xlabel(short(f"{b} over {a}: left of 1 is less, right of it more", 90))
    axes.set_title(short(f"{a} → {b}", NAME), loc="right", fontsize=7)
    return picture


def dot(axes: Axes, at: int, change: Change, ratio: float) -> None:
    """Draw a ratio in line `at`, with its interval."""
    colour = GREY if change.same else BLUE if ratio < 1 else VERMILION
    low, high = change.band or (ratio, ratio)
    axes.plot([1, ratio], [at, at], color=colour, linewidth=1, alpha=0.4)
    axes.plot([low, high], [at, at], color=colour, linewidth=3, alpha=0.6)
    axes.plot([ratio], [at], "o", color=colour, markersize=5)
    axes.annotate(times(ratio), (high if ratio >= 1 else low, at), xytext=(7 if ratio >= 1 else -7, 0), va="center",
                  textcoords="offset points", ha="left" if ratio >= 1 else "right", fontsize=7)  # fmt: skip


def arrow(axes: Axes, at: int, change: Change) -> None:
    """Draw an arrow to the edge of the picture for a quantity that fell to 0, or rose from it."""
    low, high = axes.get_xlim()
    less = not median(change.b) > 0
    end, colour = (low, BLUE) if less else (high, VERMILION)
    axes.plot([1, end], [at, at], color=colour, linewidth=1, alpha=0.4)
    axes.plot([end], [at], "<" if less else ">", color=colour, markersize=6, clip_on=False)
    axes.set_xlim(low, high)
