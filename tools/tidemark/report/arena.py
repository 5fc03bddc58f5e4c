"""The arena: how well each policy, or guard, does on each workload. Cells of a sweep with ideal cells, as maps.

A map has a row for each contestant and a column for each command. A spot is the median of its repetitions, with the
least and the greatest. Its step, 0 to 6, is its colour: it says how many times the best of its column the value is (for
the cost: how large it is). Each spot has a claim against the best of its column (tidemark.runs.claims): the statements
about one column hold together. All maps of a group have the same rows in the same order: by the geometric mean, over
the commands, of time over the best time. If no command has a MIN, as with several processes, the first map has faults
over those of the ideal cell instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from tidemark.report.cells import MEMORY, POLICY, Cell, command, repetition, sized
from tidemark.report.plots.plot import Line
from tidemark.report.plots.sweeps import ARENA
from tidemark.runs import claims
from tidemark.runs.claims import Claim
from tidemark.runs.plan import IDEAL, arguments
from tidemark.runs.replicates import REPETITION

GUARD, NONE = "guard", "none"
RATIO_STEPS = (1.1, 1.25, 1.5, 2, 4, 10)
PERCENT_STEPS = (5, 10, 20, 30, 45, 60)
NO_TIME = 1e9
OF_SOME = ("worst_over_mean", "wake_p99_ms")  # a group has these maps only if a command has the number
NO_VALUE = {
    "faults_over_min": "no MIN: several processes, or not recorded",
    "worst_over_mean": "a single job",
    "wake_p99_ms": "no interactive process",
}
# (upper limit of the number, digits behind the point, suffix, divisor) of `number`.
WRITTEN = (
    (9.995, 2, "", 1), (99.95, 1, "", 1), (999.5, 0, "", 1), (9.95e3, 1, "k", 1e3), (999.5e3, 0, "k", 1e3),
    (99.5e6, 1, "M", 1e6),
)  # fmt: skip
NOT_THE_CONTESTANT = {"workload", "processes", "run", "timeout", "exact", "cmdline", IDEAL, *REPETITION}

Runs = dict[tuple[str, str], list[Cell]]


@dataclass(frozen=True)
class Spot:
    """One place of a map: the value of each repetition; why values are missing; a command that makes a run; and whether
    the repetitions differ in the size of the workload."""

    by_repetition: claims.Values
    why: str
    again: str
    sized: bool = False

    @property
    def values(self) -> tuple[float, ...]:
        """The values, ascending."""
        return tuple(sorted(self.by_repetition.values()))

    @property
    def middle(self) -> float | None:
        """The median; None without values."""
        return median(self.values) if self.values else None

    @property
    def shown(self) -> str:
        """The median in a few characters; with a ! if a value is missing or a rule was broken."""
        return number(self.middle) + ("!" if self.values and self.why else "")


@dataclass(frozen=True)
class Map:
    """One quantity of a group: `spots` by row and column."""

    line: Line
    spots: dict[tuple[str, str], Spot]

    def best(self, column: str) -> Spot | None:
        """The spot with the least median of a column; None if it has none."""
        found = [spot for (_, at), spot in self.spots.items() if at == column and spot.values]
        return min(found, key=lambda spot: median(spot.values), default=None)

    def step(self, row: str, column: str) -> int | None:
        """0 to 6: the distance from the best; None for a spot without a value."""
        value, best = self.spots[row, column].middle, self.best(column)
        if value is None or best is None or best.middle is None:
            return None
        if self.line.unit == "%":
            return sum(value >= limit for limit in PERCENT_STEPS)
        return sum(value >= limit * best.middle for limit in RATIO_STEPS) if best.middle else 0

    @property
    def compares(self) -> bool:
        """Are its numbers compared with the best? Costs are not."""
        return self.line.unit != "%"

    def claim(self, row: str, column: str) -> Claim | None:
        """The spot's claim against the best of its column; None for the best itself, for a cost, and without values."""
        spot, best = self.spots[row, column], self.best(column)
        if best is None or spot is best or not self.compares:
            return None
        rivals = sum(at == column and bool(other.by_repetition) for (_, at), other in self.spots.items())
        return claims.of(best.by_repetition, spot.by_repetition, sized=spot.sized, best_of=rivals)

    def level(self, row: str, column: str) -> bool:
        """Is this spot the best of its column, or level with it?"""
        claim, spot = self.claim(row, column), self.spots[row, column]
        best = bool(spot.values) and spot is self.best(column)
        return self.compares and (best or (claim is not None and claim.level))

    def doubt(self, row: str, column: str) -> str:
        """What stands behind a number: ? if it is not known whether it differs from the best, ± if that turns round
        within the drawn sizes."""
        claim = self.claim(row, column)
        return ("?" if claim.verdict == claims.NOT_KNOWN else "") + ("±" if claim.turns else "") if claim else ""


@dataclass
class Group:
    """Contestants of one kind. `name` begins the names of files, `of` is the heading of the rows; `runs` are by row and
    column.
    """

    name: str
    title: str
    of: str
    rows: list[str] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    maps: list[Map] = field(default_factory=list)
    runs: Runs = field(default_factory=dict)


def number(value: float | None) -> str:
    """A number in four characters, to two or three digits; a dash for None."""
    if value is None:
        return "–"
    for limit, digits, unit, divisor in WRITTEN:
        if value < limit:
            return f"{value / divisor:.{digits}f}{unit}"
    return f"{value:.0e}"


def band(spot: Spot) -> str:
    """`median (least..greatest)`, followed by the reason why values are missing; the reason alone if there are none."""
    if not spot.values:
        return spot.why or "–"
    middle, least, greatest = map(number, (spot.middle, spot.values[0], spot.values[-1]))
    shown = middle if least == greatest else f"{middle} ({least}..{greatest})"
    return shown + (f"! {spot.why}" if spot.why else "")


def contestant(cell: Cell) -> tuple[tuple[str, str], ...]:
    """The settings that define a cell's row: all but the command and those in which repetitions differ."""
    left_out = {*NOT_THE_CONTESTANT, *arguments([cell.factors.get("workload", "")])}
    kept = {name: value for name, value in cell.factors.items() if name not in left_out}
    return tuple(sorted(kept.items()))


def labels(keys: Sequence[tuple[tuple[str, str], ...]], first: str) -> dict[tuple[tuple[str, str], ...], str]:
    """A name for each row: `first`, the policy or the guard, and the settings in which such rows differ."""
    differ = {name for key in keys for name, value in key if any(dict(other).get(name) != value for other in keys)}
    shown = [name for name in dict.fromkeys(name for key in keys for name, _ in key) if name in differ - {first}]
    return {
        key: ", ".join(
            [dict(key)[first]]
            + [value if name == MEMORY else f"{name} {value}" for name in shown if (value := dict(key).get(name))]
        )
        for key in keys
    }


def why(runs: Sequence[Cell], name: str) -> str:
    """Why a spot lacks some or all of its values."""
    told = [run.why for run in runs if run.why]
    told += ["a rule was broken, and the policy replaced" for run in runs if run.numbers.get("policy_violations")]
    if not told and not any(name in run.numbers for run in runs):
        told = [NO_VALUE.get(name, "no ideal cell")]
    return next(iter(told), "")


def mapped(line: Line, runs: Runs) -> Map:
    """The map of one quantity."""
    return Map(
        line,
        {
            place: Spot(
                {repetition(cell): cell.numbers[line.column] for cell in some if line.column in cell.numbers},
                why(some, line.column) if some else "it has not been run",
                next((cell.again for cell in some if cell.again), ""),
                any(map(sized, some)),
            )
            for place, some in runs.items()
        },
    )


def in_order(rows: Iterable[str], time: Map, columns: Sequence[str]) -> list[str]:
    """The rows, the quickest first."""

    def slowness(row: str) -> float:
        found = []
        for column in columns:
            value, best = time.spots[row, column].middle, time.best(column)
            if best is not None and best.middle:
                found.append(math.log((NO_TIME if value is None else value) / best.middle))
        return sum(found)

    return sorted(rows, key=slowness)


def shared(cells: Sequence[Cell]) -> list[Cell]:
    """The cells whose command several contestants have run; all cells if there is no such command."""
    by_run: dict[str, set[tuple[tuple[str, str], ...]]] = {}
    for cell in cells:
        by_run.setdefault(command(cell), set()).add(contestant(cell))
    return [cell for cell in cells if len(by_run[command(cell)]) > 1] or list(cells)


def group(name: str, title: str, of: str, first: str, cells: Sequence[Cell]) -> Group:
    """The maps of these cells. `first` is the setting that names a row. Equal runs count once."""
    columns = list(dict.fromkeys(map(command, cells)))
    named = labels(list(dict.fromkeys(map(contestant, cells))), first)
    distinct = {(named[contestant(c)], command(c), *repetition(c)): c for c in cells}
    runs: Runs = {(row, column): [] for row in named.values() for column in columns}
    for (row, column, *_), cell in distinct.items():
        runs[str(row), str(column)].append(cell)
    bounded = any("faults_over_min" in cell.numbers for cell in cells)
    left_out = "faults_over_ideal" if bounded else "faults_over_min"
    absent = {left_out} | {name for name in OF_SOME if not any(name in cell.numbers for cell in cells)}
    maps = [mapped(line, runs) for line in ARENA.lines if line.column not in absent]
    return Group(name, title, of, in_order(named.values(), maps[1], columns), columns, maps, runs)


def groups(cells: Sequence[Cell]) -> list[Group]:
    """The arenas that the cells allow: of policies, except a policy that runs only with guards, and of guards over
    each policy that has some. Only commands with an ideal cell count."""
    ideal = {command(cell) for cell in cells if IDEAL in cell.factors}
    inside = [with_guard(cell) for cell in cells if IDEAL not in cell.factors and command(cell) in ideal]
    plain = [cell for cell in inside if cell.factors[GUARD] == NONE]
    alone = len(set(map(contestant, plain))) < (2 if len(plain) < len(inside) else 1)
    found = [] if alone else [group("arena", "policies", "policy", POLICY, shared(plain))]
    for policy in dict.fromkeys(cell.factors.get(POLICY, "?") for cell in inside if cell.factors[GUARD] != NONE):
        some = shared([cell for cell in inside if cell.factors.get(POLICY, "?") == policy])
        found.append(group(f"arena-guards-{policy}", f"guards over {policy}", "guard", GUARD, some))
    return found


def remark(group: Group) -> str:
    """A sentence on the places without a claim about time for want of replicates; empty if there are none."""
    claims_of = [group.maps[1].claim(row, column) for row in group.rows for column in group.columns]
    few = [claim.too_few for claim in claims_of if claim and claim.too_few]
    return f"Against the best of a column, {few[0]} ({len(few)} of {len(claims_of)} places)." if few else ""


def with_guard(cell: Cell) -> Cell:
    """A copy of the cell with a guard among its settings, `none` if it has no guard."""
    return replace(cell, factors={GUARD: NONE} | cell.factors)
