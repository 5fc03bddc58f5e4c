"""Plans: descriptions of sweeps, in TOML.

A plan gives each variable a value or a list of values; its cells are the product of the lists, one run each. The order
of the cells is that of the file: the variable that is named last changes fastest.

    workload   the command line that the guest runs; {seed}, {size:N} and the names of axes in it are replaced; required
    processes  whole numbers, for {processes}
    any other name that a workload has in braces: an axis of the plan, whole numbers or words; `{kb}` is replaced by
               the values of `kb = [1024, 2048]`
    vm         replacement policies; the image must have them
    mem        sizes of the memory that the kernel manages, such as "24M"
    swap       swap devices, such as "sim:hdd" or "sim:ssd,size=64M"
    frames     caps on the page frames of user programs
    seed       seeds of the guest's random numbers
    jitter     numbers for the kernel's `jitter`: repeated runs with other timing, which show how much results scatter
    jitters    the number of such runs: `jitters = 5` is `jitter = [0, 1, 2, 3, 4]`
    replicate  numbers of replicates, each of which draws jitter, seed, layout of the disks, and sizes: without
               replicates {size:4096} is 4096, with them a number within 1 % of it (tidemark.runs.replicates)
    replicates the number of replicates: `replicates = 10` is `replicate = [1, 2, ..., 10]`
    cmdline    more kernel parameters, such as "sample_ms=1000"
    disk       a disk with files for each cell: "64M", an empty file system; a folder's files, or a copy of an image
    disk_kind  its kind: "sim:hdd" (the default), "sim:ssd", "sim:ram"; the guest calls it sda
    timeout    seconds of host time after which a cell is ended; one number for all cells

and, in a table [parameters] at the end, a value or a list for any parameter of the kernel: `"ws.tau_ms" = [10, 100]`.
The report draws its curves against every variable with several numbers.

Several products make one plan if each is a table [[part]], which has its own keys besides the common ones above it. A
cell of two parts runs once. `ideal = "256M"` adds a run of each command with memory enough that nothing is evicted: the
baseline of the report (tidemark.report.yardstick). Axes can be given on the command line, in place of the
plan's: then only those parts stay that name most of them.

A variable that is not named has the default of `tidemark run`. A cell's name has its main variables and ends in a hash
of everything that makes the run, but not of its timeout. So a cell keeps its name, and its result, if the rest of
the plan changes.
"""

from __future__ import annotations

import difflib
import hashlib
import itertools
import json
import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidemark.errors import LabError
from tidemark.machine import disk, parameters, qemu
from tidemark.runs import replicates
from tidemark.runs.replicates import DRAWN, REPLICATE, REPLICATES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

VARIABLES = (
    "workload", "processes", "vm", "mem", "swap", "frames", "seed", "jitter", REPLICATE, "cmdline", "disk", "disk_kind",
)  # fmt: skip
PARAMETERS = "parameters"
PARTS, IDEAL = "part", "ideal"
COUNTS = {"jitters": ("jitter", 0), REPLICATES: (REPLICATE, 1)}  # the variable that each counts, from its first number
KEYS = (*VARIABLES, *COUNTS, "timeout", IDEAL, PARTS, PARAMETERS)
OF_A_PART = (*VARIABLES, *COUNTS, PARAMETERS)
LEAST = {"processes": 1, "frames": 3, "seed": 0, "jitter": 0, "jitters": 1, REPLICATE: 1, REPLICATES: 1}
OF_SETTINGS = ("vm", "mem", "swap", "frames", "seed", "disk", "disk_kind")
FILLED_IN = ("processes", "seed")  # variables that a workload may have in braces, besides names of its own
# Values of these variables may contain commas.
WHOLE = ("workload", "swap", "cmdline", "disk", "disk_kind")
SHIPPED = Path(__file__).parents[1] / "plans"
MOST_CELLS = 10_000
MOST_U32 = (1 << 32) - 1
DEFAULT = qemu.Settings()

Value = str | int
Axes = Mapping[str, list[Value]]


@dataclass(frozen=True)
class Cell:
    """One run of a plan. `variables`: those that the plan names, and defaults of some others."""

    id: str
    variables: dict[str, Value]
    settings: qemu.Settings


@dataclass(frozen=True)
class Plan:
    """A plan that has been checked as far as it can be without the image. `text` is the file's text."""

    text: str
    lists: dict[str, list[Value]]
    cells: list[Cell]

    def probes(self) -> list[qemu.Settings]:
        """Runs of `true` in which each value of every kernel parameter occurs: would the kernel refuse one?"""
        left_out = {"workload", *FILLED_IN, *arguments(self.lists["workload"])}
        lists = {name: values for name, values in self.lists.items() if name not in left_out}
        lists |= {REPLICATE: lists[REPLICATE][:1]} if REPLICATE in lists else {}
        most = max(map(len, lists.values()))
        chosen = [{name: values[at % len(values)] for name, values in lists.items()} for at in range(most)]
        return [settings(one | {"workload": "true"}, timeout=60) for one in chosen]

    @property
    def remark(self) -> str:
        """A sentence on the workloads whose size the replicates do not vary; empty if there are none."""
        fixed = [str(one) for one in self.lists["workload"] if not replicates.varies(str(one))]
        if REPLICATE not in self.lists or not fixed:
            return ""
        which = f"of {fixed[0]!r}" + (f" and {len(fixed) - 1} more" if len(fixed) > 1 else "")
        return f"replicates do not vary the size {which}: {{size:N}} with an N of 100 or more would"


def arguments(workloads: Iterable[object]) -> list[str]:
    """The names that these command lines have in braces, in their order."""
    return list(dict.fromkeys(name for one in workloads for name in re.findall(r"\{(\w+)\}", str(one))))


def place(name: Path) -> Path:
    """The file that `name` means: itself, or, for a bare word such as `arena`, a plan of this tree."""
    shipped = SHIPPED / f"{name}.toml"
    return shipped if not name.is_file() and name.name == str(name) and shipped.exists() else name


def shipped() -> list[str]:
    """The names of this tree's plans."""
    return sorted(path.stem for path in SHIPPED.glob("*.toml"))


def read(path: Path, most_cells: int = MOST_CELLS, axes: Axes | None = None) -> Plan:
    """The plan in a file, with `axes` in place of its own. Raises LabError, which names the file and the error."""
    try:
        text = path.read_text(encoding="utf-8")
        return parse(text, most_cells, axes)
    except (OSError, UnicodeDecodeError) as error:
        plans = "" if len(path.parts) > 1 else f"; plans of this tree: {', '.join(shipped())}"
        raise LabError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}{plans}") from None
    except tomllib.TOMLDecodeError as error:
        raise LabError(f"{path} is not valid TOML: {error}") from None
    except (LabError, qemu.BadSetting) as error:
        raise LabError(f"{path}: {error}") from None


def parse(text: str, most_cells: int = MOST_CELLS, axes: Axes | None = None) -> Plan:
    """The plan in a text. Raises LabError, BadSetting or TOMLDecodeError, which say what is wrong."""
    table = tomllib.loads(text)
    names = arguments(workloads_in(table, axes or {}))
    check_keys(table, (*KEYS, *names))
    timeout = checked_timeout(table.pop("timeout", DEFAULT.timeout))
    ideal = table.pop(IDEAL, "")
    products = [lists_of(part, axes or {}) for part in parts_of(table, axes or {}, names)]
    check_count(products, most_cells)
    cells: dict[str, Cell] = {}
    for lists in products:
        check_workloads(lists, names)
        every = [cell(dict(zip(lists, values)), timeout) for values in itertools.product(*lists.values())]
        check_distinct(every)
        cells |= {one.id: one for one in every}
    if ideal:
        check_value("mem", ideal)
        cells |= {one.id: one for one in ideals(list(cells.values()), ideal, timeout)}
    return Plan("".join([text, *map(remark, (axes or {}).items())]), union(products), list(cells.values()))


def remark(axis: tuple[str, list[Value]]) -> str:
    """A comment for the copy of a plan on an axis from the command line."""
    return f"\n# with {axis[0]} = {json.dumps(axis[1])}"


def workloads_in(table: Mapping[str, Any], axes: Axes) -> list[object]:
    """The command lines of a plan and its parts, and those of the command line; not yet checked."""
    parts = table.get(PARTS)
    found: list[object] = list(axes.get("workload", []))
    for one in [table, *(part for part in (parts if isinstance(parts, list) else []) if isinstance(part, dict))]:
        given = one.get("workload", [])
        found += given if isinstance(given, list) else [given]
    return found


def check_keys(table: Mapping[str, object], keys: Sequence[str]) -> None:
    """Raises LabError for an unknown key."""
    unknown = [key for key in table if key not in keys]
    if unknown:
        near = difflib.get_close_matches(unknown[0], keys, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise LabError(
            f"unknown key {', '.join(unknown)}; {hint}there are: {', '.join(dict.fromkeys(keys))}, and each NAME "
            "that a workload has as {NAME}"
        )


def parts_of(table: dict[str, Any], axes: Axes, names: Sequence[str]) -> list[dict[str, Any]]:
    """The tables of the parts, each with the common keys; a plan without parts is its only part. Of several parts, only
    those that name most of `axes`.
    """
    parts = table.pop(PARTS, [{}])
    if not isinstance(parts, list) or not parts or not all(isinstance(part, dict) for part in parts):
        raise LabError("a part must be an entry of a list of tables: [[part]], and under it NAME = VALUE")
    for part in parts:
        check_keys(part, (*OF_A_PART, *names))
    named = [len(set(axes) & {*part, *dict(flat(parameters_in(part)))}) for part in parts]
    common = dict(flat(parameters_in(table)))
    return [
        {**table, **part, PARAMETERS: common | dict(flat(parameters_in(part)))}
        for part, count in zip(parts, named)
        if count == max(named)
    ]


def parameters_in(table: Mapping[str, Any]) -> dict[str, Any]:
    """The table [parameters] of a plan or a part."""
    given = table.get(PARAMETERS, {})
    if not isinstance(given, dict):
        raise LabError('parameters must be a table: [parameters], and under it "NAME" = VALUE')
    return given


def lists_of(table: dict[str, Any], axes: Axes) -> dict[str, list[Value]]:
    """The values of each variable and of each kernel parameter, checked."""
    given, counts = table.pop(PARAMETERS), {name: table.pop(name) for name in COUNTS if name in table}
    lists = {name: checked_list(name, value) for name, value in table.items()}
    for count, nr in counts.items():
        check_value(count, nr)
        name, first = COUNTS[count]
        if name in lists:
            raise LabError(f"it has both {name} and {count}: give only one")
        lists[name] = list(range(first, first + nr))
    for name, value in given.items():
        check_parameter(name)
        if name in lists:
            raise LabError(f"{name} is an argument of a workload, and stands under [parameters] as well")
        lists[name] = checked_list(name, value)
    lists |= axes
    drawn = [name for name in DRAWN if name in lists]
    if REPLICATE in lists and drawn:
        raise LabError(
            f"it has replicates and {' and '.join(drawn)}, which each replicate draws: give only one of them"
        )
    if "workload" not in lists:
        raise LabError('it has no workload, the command line to run: workload = "thrash {processes} 8192 10"')
    return lists | {name: [getattr(DEFAULT, name)] for name in ("vm", "mem", "swap") if name not in lists}


def check_parameter(name: str) -> None:
    """Raises LabError if the name cannot be a kernel parameter's, or is a key of the plan."""
    if name in KEYS or name == "run" or not re.fullmatch(r"[\w.]+", name):
        raise LabError(f"{name} under [parameters] is not a kernel parameter: it is a key of the plan, or not a name")


def axis(name: str, texts: Sequence[str]) -> list[Value]:
    """The values of an axis that the command line gives. Each text is a list of values separated by commas; if the name
    is in WHOLE, a text is a single value, commas included. Raises LabError if a value is invalid."""
    words = [word for text in texts for word in ([text] if name in WHOLE else text.split(","))]
    if name not in VARIABLES:
        check_parameter(name)
    number = name in LEAST or name not in VARIABLES
    return checked_list(name, [int(word) if number and re.fullmatch(r"\d+", word) else word for word in words])


def union(products: Iterable[dict[str, list[Value]]]) -> dict[str, list[Value]]:
    """Every value that a variable has in any of the products."""
    together: dict[str, list[Value]] = {}
    for lists in products:
        for name, values in lists.items():
            together[name] = list(dict.fromkeys([*together.get(name, ()), *values]))
    return together


def flat(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """A table's members. Members of nested tables, which TOML makes of ws.tau_ms, have their full names."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def checked_timeout(value: object) -> float:
    """The value as seconds. Raises LabError unless it is a positive, finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise LabError(f"timeout = {json.dumps(value, default=str)}: it must be one positive number of seconds")
    return float(value)


def checked_list(name: str, value: object) -> list[Value]:
    """The values of one variable. Raises LabError if one has the wrong type or occurs twice."""
    values: list[Any] = value if isinstance(value, list) else [value]
    if not values:
        raise LabError(f"{name} = []: the product is empty, there is no cell to run")
    for one in values:
        check_value(name, one)
    twice = [one for at, one in enumerate(values) if one in values[:at]]
    if twice:
        raise LabError(f"{name} has {json.dumps(twice[0])} twice")
    return values


def check_value(name: str, value: object) -> None:
    """Raises LabError for a value of the wrong type or out of range."""
    shown = f"{name} = {json.dumps(value, default=str)}"
    if name in LEAST:
        if isinstance(value, bool) or not isinstance(value, int) or not LEAST[name] <= value <= MOST_U32:
            raise LabError(f"{shown}: it must be a whole number, {LEAST[name]} or more")
    elif name not in VARIABLES:
        if isinstance(value, bool) or not isinstance(value, int | str) or not re.fullmatch(r"[^\s\"]+", str(value)):
            raise LabError(
                f"{shown}: a kernel parameter or an argument must be a whole number, or text without blanks and quotes"
            )
    elif not isinstance(value, str):
        raise LabError(f'{shown}: it must be text, in quotes: {name} = "…"')
    elif name != "cmdline" and not value.strip():
        raise LabError(f"{shown}: it is empty")
    elif not value.isprintable():
        raise LabError(f"{shown}: it must be one line of printable text")


def check_count(products: Sequence[dict[str, list[Value]]], most: int) -> None:
    """Raises LabError if the products have more cells than `most`, probably by accident."""
    count = sum(math.prod(map(len, lists.values())) for lists in products)
    if count > most:
        factors = " and ".join(
            " × ".join(f"{len(values)} {name}" for name, values in lists.items() if len(values) > 1)
            for lists in products
        )
        raise LabError(f"{factors} are {count:,} cells, more than {most:,}; --max-cells {count} allows them")


def check_workloads(lists: dict[str, list[Value]], names: Sequence[str]) -> None:
    """Raises LabError if a placeholder has no values, or values of one of `names` have no placeholder."""
    for workload in map(str, lists["workload"]):
        named = re.findall(r"\{(\w+(?::[^{}]*)?)\}", replicates.nominal(workload))
        for name in named:
            if ":" in name or name == "size" or (name in KEYS and name not in FILLED_IN):
                raise LabError(
                    f"workload {workload!r}: {{{name}}} cannot be replaced, only {{processes}}, {{seed}}, names of "
                    "your own, and {size:N}, N a whole number, can"
                )
            if name not in lists and not (name in DRAWN and REPLICATE in lists):
                raise LabError(f"workload {workload!r} has {{{name}}}, but the plan has no {name} = [...]")
        for name in ("processes", *names):
            if name in lists and name not in (*named, "seed"):
                raise LabError(f"workload {workload!r} has no {{{name}}}, which the plan lists")


def filled(variables: Mapping[str, Value]) -> str:
    """The workload, with the values of those variables that it names."""
    run = str(variables["workload"])
    for name in arguments([run]):
        run = run.replace(f"{{{name}}}", str(variables.get(name, f"{{{name}}}")))
    return run


def settings(variables: dict[str, Value], timeout: float) -> qemu.Settings:
    """The settings of a cell. Raises BadSetting if one cannot be used."""
    variables = replicates.expanded(variables)
    run = filled(variables)
    given: dict[str, Any] = {name: str(variables[name]) for name in OF_SETTINGS if name in variables}
    own = (*VARIABLES, IDEAL, *arguments([variables["workload"]]))
    more = {name: value for name, value in variables.items() if name == parameters.JITTER or name not in own}
    cmdline = str(variables.get("cmdline", ""))
    twice = [name for name in more if name in parameters.split(cmdline)[0]]
    if twice:
        raise LabError(f"cmdline = {cmdline!r}: the plan gives {twice[0]} already")
    if "disk" in given:
        given["disk"] = disk.absolute(given["disk"])
    chosen = qemu.Settings(run=run, timeout=timeout, cmdline=parameters.joined(cmdline, more), disk_kept=False, **given)
    disk.check(chosen.disk, chosen.disk_kind)
    qemu.command_line(chosen)
    qemu.machine_mib(chosen)
    if chosen.disk and chosen.disk_kind in disk.REAL:
        raise LabError(f"disk_kind = {chosen.disk_kind!r}: a cell is an exact run, which cannot use an emulated disk")
    if qemu.real_disk(chosen)[0]:
        raise LabError(
            f"swap = {chosen.swap!r}: cells that run side by side would share that disk; see `tidemark run --help`"
        )
    return chosen


def cell(variables: dict[str, Value], timeout: float) -> Cell:
    """The cell with these variables; see above for its name."""
    s = settings(variables, timeout)
    disks = [str(variables["disk"]), s.disk_kind] if s.disk else []
    made_of = json.dumps([s.run, s.vm, s.mem, s.swap, s.frames, s.seed, s.cmdline, *disks])
    letters = (("s", "seed"), ("j", "jitter"), ("r", REPLICATE))
    marks = [f"{letter}{variables[name]}" for letter, name in letters if name in variables]
    words = [s.run.split()[0], variables.get("processes", ""), s.vm, s.mem, *marks]
    shown = "-".join(re.sub(r"[^\w.]+", "-", str(word)).strip("-.") for word in words if word != "")
    return Cell(f"{shown[:60]}-{hashlib.sha256(made_of.encode()).hexdigest()[:8]}", variables, s)


def ideals(cells: Sequence[Cell], mem: str, timeout: float) -> list[Cell]:
    """A run of each command of these cells with memory `mem`, and otherwise the defaults of `tidemark run`. A
    replicate has one of its own, with the same draw."""
    kept = ("workload", *FILLED_IN, REPLICATE, "cmdline", "disk", "disk_kind")
    same = (
        {
            name: one.variables[name]
            for name in (*kept, *arguments([one.variables["workload"]]))
            if name in one.variables
        }
        for one in cells
    )
    return [cell(one | {"vm": DEFAULT.vm, "mem": mem, "swap": DEFAULT.swap, IDEAL: "yes"}, timeout) for one in same]


def check_distinct(cells: list[Cell]) -> None:
    """Raises LabError if two cells would be the same run."""
    seen: dict[str, Cell] = {}
    for one in cells:
        other = seen.setdefault(one.id, one)
        if other is not one:
            raise LabError(
                f"two cells would be the same run, {one.settings.run!r}: {other.variables} and {one.variables}"
            )
