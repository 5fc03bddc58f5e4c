"""Tables of measured runs. runs.toml says which runs there are, what is measured, and how it is shown.

`rows` are tables of names with values; a list stands for a row for each of its values (several lists: for each
combination, the first changing slowest), `{ each = [...] }` for words as in a family. `columns` measure; they may have
names with values, too. `text` and the other keys of the entry hold for all. The names of qemu.Settings, and `run`, the
command, describe a machine. Texts may contain other names in braces: those that describe a machine any name, others
only names that come before them. Parameters of the kernel may follow the name of a policy.

A column's `value` is an expression in Python over the names and the run: the names of common.NUMBERS, number(pattern),
program(name, key), records and the others of Outcome. `show` is a format for the median over `replicates`, their number
(tidemark.runs.replicates; without it one run, as written), or "spread" (median and range) or "range". A column with
`label` is a text. `given` are values for `text`, measured in the same way, by one run. `order` sorts the rows by a
column; `draw` is for draw.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import median
from types import CodeType
from typing import Any

from tidemark.machine import qemu
from tidemark.runs import replicates

from figures import common, draw
from figures.entries import Figure, words

MACHINE = {field.name for field in fields(qemu.Settings)} - {"run", "telemetry"}
Names = dict[str, Any]


class Scope(dict):
    """The names of a cell and, only if an expression asks, the run."""

    def __init__(self, names: Names) -> None:
        super().__init__(names)

    def __missing__(self, name: str) -> Any:
        if name in common.NUMBERS:
            return outcome(self).named(name)
        if not hasattr(common.Outcome, name):
            raise KeyError(name)
        return getattr(outcome(self), name)


def filled(names: Names) -> Names:
    """The names, with those in braces replaced in texts; each text may use the names before it."""
    found: Names = {}
    for name, value in sorted(names.items(), key=lambda one: one[0] in MACHINE or one[0] == "run"):
        found[name] = value.format(**found) if isinstance(value, str) and name != "text" else value
    return found


def outcome(names: Mapping[str, Any]) -> common.Outcome:
    """The run that a cell's names describe."""
    policy, *parameters = names.get("vm", qemu.Settings().vm).split()
    drawn = [f"{name}={names[name]}" for name in replicates.DRAWN if name in names]
    machine = {name: names[name] for name in MACHINE & set(names) - set(replicates.DRAWN)} | {"vm": policy}
    machine["cmdline"] = " ".join([*parameters, names.get("cmdline", ""), *drawn]).strip()
    return common.measure(names["run"], telemetry=names.get("telemetry", False), **machine)


def nominal(names: Names) -> Names:
    """The names with the sizes that are written in texts."""
    return {name: replicates.nominal(value) if isinstance(value, str) else value for name, value in names.items()}


def replicate(names: Names, number: int) -> Names:
    """The names of a replicate, with what it draws."""
    one = replicates.draw(number)
    sized = {name: replicates.sized(value, one.place) for name, value in names.items() if isinstance(value, str)}
    return names | sized | {name: getattr(one, name) for name in replicates.DRAWN}


def axis(value: Any) -> list[Any]:
    """The values of a name of a row; `{ each = [...] }` are the words of a family (entries.py)."""
    if isinstance(value, dict):
        return words(value["each"])
    return value if isinstance(value, list) else [value]


def rows_of(parts: list[Names]) -> Iterator[Names]:
    """The rows that the parts describe."""
    for part in parts:
        axes = {name: axis(value) for name, value in part.items()}
        for values in itertools.product(*axes.values()):
            yield dict(zip(axes, values))


@dataclass(frozen=True)
class Column:
    """A column: its expressions, compiled; `names` are its own."""

    title: str
    value: CodeType | None
    label: str
    show: str
    names: Names

    @classmethod
    def of(cls, entry: Names) -> Column:
        own = dict(entry)
        title, label, show, value = (own.pop(key, "") for key in ("title", "label", "show", "value"))
        return cls(title, compile(value, title, "eval") if value else None, label, show, own)

    def cases(self, names: Names, nr_replicates: int = 0) -> list[Names]:
        """The names of each run of a cell; without replicates it has one run."""
        mine = names | self.names
        if not nr_replicates:
            return [filled(nominal(mine))]
        return [filled(replicate(mine, number)) for number in range(1, nr_replicates + 1)]

    def values(self, cases: list[Names]) -> list[Any]:
        """The measured value of each run; none for a label."""
        if not self.value:
            return []
        return [eval(self.value, {}, Scope(case)) for case in cases]

    def cell(self, names: Names, values: list[Any]) -> str:
        """What the table shows."""
        if self.label:
            return self.label.format(**filled(nominal(names | self.names)))
        if not values:
            return ""
        if self.show == "spread":
            return common.spread(values)
        if self.show == "range":
            return f"{min(values):.1f} to {max(values):.1f}"
        return (self.show or "{}").format(median(values) if len(values) > 1 else values[0])


def make(figure: Figure, work: Path) -> str:
    all_of = dict(figure.settings)
    parts, columns = all_of.pop("rows"), [Column.of(one) for one in all_of.pop("columns")]
    text, given, order, drawn, nr_replicates, blocks = (
        all_of.pop(key, None) for key in ("text", "given", "order", "draw", "replicates", "text_columns")
    )
    rows = [all_of | row for row in rows_of(parts)]
    cells = [(column, column.cases(row, nr_replicates or 0)) for row in rows for column in columns]
    found = iter(common.in_parallel(lambda cell: cell[0].values(cell[1]), cells))
    lines = [(row, [next(found) for _ in columns]) for row in rows]
    if order is not None:
        lines.sort(key=lambda line: median(line[1][order]))
    for one in drawn or []:
        draw.picture(one, columns, lines, work)
    shown = [[column.cell(row, values) for column, values in zip(columns, line)] for row, line in lines]
    labels = sum(bool(column.label) for column in columns)
    table = common.table([column.title for column in columns], shown, blocks if blocks is not None else labels)
    return f"{intro(text, all_of | {'replicates': nr_replicates}, given or {})}\n\n{table}"


def intro(text: str, names: Names, given: Mapping[str, Names]) -> str:
    """The text above the table."""
    values = {}
    for name, entry in given.items():
        column = Column.of(entry)
        cases = column.cases(names)
        values[name] = column.cell(names, column.values(cases))
    return text.format(**nominal(names) | {"host": common.host()} | values)
