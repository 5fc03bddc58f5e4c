"""Plans: what a sweep is made of, in TOML.

A plan gives each variable a value or a list of values; its cells are the product of the lists, one run each. The order
of the cells is that of the file: the variable that is named last changes fastest.

    workload   the command line that the guest runs; {processes} and {seed} in it are filled in; required
    processes  whole numbers, for {processes}
    vm         replacement policies; the image must have them
    mem        sizes of the memory that the kernel manages, such as "24M"
    swap       swap devices, such as "sim:hdd" or "sim:ssd,size=64M"
    frames     caps on the page frames of user programs
    seed       seeds of the guest's random numbers
    jitter     numbers for the kernel's `jitter`: other runs of the same kind, which show how far a result scatters
    jitters    how many such runs, one number: `jitters = 5` is `jitter = [0, 1, 2, 3, 4]`
    cmdline    more kernel parameters, such as "sample_ms=1000"
    disk       a disk with files for each cell: "64M", an empty file system; a folder's files, or a copy of an image
    disk_kind  what that is: "sim:hdd" (the default), "sim:ssd", "sim:ram"; the guest calls it sda
    timeout    seconds of host time after which a cell is ended; one number for all of them

and, in a table [parameters] at the end, a value or a list for any parameter of the kernel: `"ws.tau_ms" = [10, 100]`.
The report draws its curves against whatever has several numbers.

Several products make one plan when each is a table [[part]], which has what stands above it, and its own keys. A cell
of two parts runs once. `ideal = "256M"` adds a run of each command in so much memory that nothing has to go: what the
report measures the others by (tidemark.report.yardstick). Axes can be given from outside, in the place of the
plan's: then only those parts stay that name most of them.

What is not named has the value that `tidemark run` gives it. A cell's name shows its main variables and ends in a hash
of everything that makes the run, but not of its timeout: so a cell keeps its name, and its result, while the rest of
the plan changes.
"""

from __future__ import annotations

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

from tidemark import disk, parameters, qemu
from tidemark.errors import LabError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

VARIABLES = ("workload", "processes", "vm", "mem", "swap", "frames", "seed", "jitter", "cmdline", "disk", "disk_kind")
PARAMETERS = "parameters"
PARTS, IDEAL = "part", "ideal"
KEYS = (*VARIABLES, "jitters", "timeout", IDEAL, PARTS, PARAMETERS)
OF_A_PART = (*VARIABLES, "jitters", PARAMETERS)
LEAST = {"processes": 1, "frames": 3, "seed": 0, "jitter": 0, "jitters": 1}
OF_SETTINGS = ("vm", "mem", "swap", "frames", "seed", "disk", "disk_kind")
FILLED_IN = ("processes", "seed")
# A value of these may have commas.
WHOLE = ("workload", "swap", "cmdline", "disk", "disk_kind")
SHIPPED = Path(__file__).parent / "plans"
MOST_CELLS = 10_000
MOST_U32 = (1 << 32) - 1
DEFAULT = qemu.Settings()

Value = str | int
Axes = Mapping[str, list[Value]]


@dataclass(frozen=True)
class Cell:
    """One run of a plan. `variables`: those that the plan names, and the defaults of others that have one."""

    id: str
    variables: dict[str, Value]
    settings: qemu.Settings


@dataclass(frozen=True)
class Plan:
    """A plan that has been checked as far as it can be without the image. `text` is the file's."""

    text: str
    lists: dict[str, list[Value]]
    cells: list[Cell]

    def probes(self) -> list[qemu.Settings]:
        """Runs of `true` in which each value of every kernel parameter occurs: would the kernel refuse one?"""
        lists = {name: values for name, values in self.lists.items() if name not in ("workload", "processes", "seed")}
        most = max(map(len, lists.values()))
        chosen = [{name: values[at % len(values)] for name, values in lists.items()} for at in range(most)]
        return [settings(one | {"workload": "true"}, timeout=60) for one in chosen]


def place(name: Path) -> Path:
    """The file that `name` means: itself, or, of a bare word, a plan of this tree, such as `arena`."""
    shipped = SHIPPED / f"{name}.toml"
    return shipped if not name.is_file() and name.name == str(name) and shipped.exists() else name


def read(path: Path, most_cells: int = MOST_CELLS, axes: Axes | None = None) -> Plan:
    """The plan in a file, with `axes` in the place of its own. LabError names the file and what is wrong in it."""
    try:
        text = path.read_text(encoding="utf-8")
        return parse(text, most_cells, axes)
    except (OSError, UnicodeDecodeError) as error:
        raise LabError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    except tomllib.TOMLDecodeError as error:
        raise LabError(f"{path} is no TOML: {error}") from None
    except (LabError, qemu.BadSetting) as error:
        raise LabError(f"{path}: {error}") from None


def parse(text: str, most_cells: int = MOST_CELLS, axes: Axes | None = None) -> Plan:
    """The plan in a text. LabError, BadSetting or TOMLDecodeError say what is wrong."""
    table = tomllib.loads(text)
    check_keys(table, KEYS)
    timeout = checked_timeout(table.pop("timeout", DEFAULT.timeout))
    ideal = table.pop(IDEAL, "")
    products = [lists_of(part, axes or {}) for part in parts_of(table, axes or {})]
    check_count(products, most_cells)
    cells: dict[str, Cell] = {}
    for lists in products:
        check_workloads(lists)
        every = [cell(dict(zip(lists, values)), timeout) for values in itertools.product(*lists.values())]
        check_distinct(every)
        cells |= {one.id: one for one in every}
    if ideal:
        check_value("mem", ideal)
        cells |= {one.id: one for one in ideals(list(cells.values()), ideal, timeout)}
    return Plan("".join([text, *map(remark, (axes or {}).items())]), union(products), list(cells.values()))


def remark(axis: tuple[str, list[Value]]) -> str:
    """A comment for the copy of a plan: which axis was given from outside."""
    return f"\n# with {axis[0]} = {json.dumps(axis[1])}"


def check_keys(table: Mapping[str, object], keys: Sequence[str]) -> None:
    """LabError for a key that is none."""
    unknown = [key for key in table if key not in keys]
    if unknown:
        raise LabError(f"unknown key {', '.join(unknown)}; there are: {', '.join(keys)}")


def parts_of(table: dict[str, Any], axes: Axes) -> list[dict[str, Any]]:
    """The tables of the parts, each with what is common to all; one without parts is its only one. Of several those
    that name most of `axes`.
    """
    parts = table.pop(PARTS, [{}])
    if not isinstance(parts, list) or not parts or not all(isinstance(part, dict) for part in parts):
        raise LabError("a part is a table of a list: [[part]], and under it NAME = VALUE")
    for part in parts:
        check_keys(part, OF_A_PART)
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
        raise LabError('parameters is a table: [parameters], and under it "NAME" = VALUE')
    return given


def lists_of(table: dict[str, Any], axes: Axes) -> dict[str, list[Value]]:
    """The values of each variable and of each kernel parameter, checked."""
    given, nr_jitters = table.pop(PARAMETERS), table.pop("jitters", None)
    lists = {name: checked_list(name, value) for name, value in table.items()}
    if nr_jitters is not None:
        check_value("jitters", nr_jitters)
        if "jitter" in lists:
            raise LabError("it has both jitter and jitters: give one")
        lists["jitter"] = list(range(nr_jitters))
    for name, value in given.items():
        check_parameter(name)
        lists[name] = checked_list(name, value)
    lists |= axes
    if "workload" not in lists:
        raise LabError('it has no workload, the command line to run: workload = "thrash {processes} 8192 10"')
    return lists | {name: [getattr(DEFAULT, name)] for name in ("vm", "mem", "swap") if name not in lists}


def check_parameter(name: str) -> None:
    """LabError for a name that is no kernel parameter's, or one that the plan has a key for."""
    if name in KEYS or name == "run" or not re.fullmatch(r"[\w.]+", name):
        raise LabError(f"{name} under [parameters] is no parameter of its own: it is a key of the plan, or no name")


def axis(name: str, texts: Sequence[str]) -> list[Value]:
    """The values of an axis that is given in words; LabError when they are none. Each text is a list with commas, but
    of a name in WHOLE one value."""
    words = [word for text in texts for word in ([text] if name in WHOLE else text.split(","))]
    if name not in VARIABLES:
        check_parameter(name)
    number = name in LEAST or name not in VARIABLES
    return checked_list(name, [int(word) if number and re.fullmatch(r"\d+", word) else word for word in words])


def union(products: Iterable[dict[str, list[Value]]]) -> dict[str, list[Value]]:
    """Every value that a variable has in any of them."""
    together: dict[str, list[Value]] = {}
    for lists in products:
        for name, values in lists.items():
            together[name] = list(dict.fromkeys([*together.get(name, ()), *values]))
    return together


def flat(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """A table's members; those of a table in it, which TOML makes of ws.tau_ms, by their full names."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def checked_timeout(value: object) -> float:
    """A positive, finite number of seconds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise LabError(f"timeout = {json.dumps(value, default=str)}: it is one positive number of seconds")
    return float(value)


def checked_list(name: str, value: object) -> list[Value]:
    """The values of one variable, each of the right type, none twice."""
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
    """LabError for a value of the wrong type or out of range."""
    shown = f"{name} = {json.dumps(value, default=str)}"
    if name in LEAST:
        if isinstance(value, bool) or not isinstance(value, int) or not LEAST[name] <= value <= MOST_U32:
            raise LabError(f"{shown}: it is a whole number, {LEAST[name]} or more")
    elif name not in VARIABLES:
        if isinstance(value, bool) or not isinstance(value, int | str) or not re.fullmatch(r"[^\s\"]+", str(value)):
            raise LabError(f"{shown}: a kernel parameter is a whole number, or text without blanks and quotes")
    elif not isinstance(value, str):
        raise LabError(f'{shown}: it is text, in quotes: {name} = "…"')
    elif name != "cmdline" and not value.strip():
        raise LabError(f"{shown}: it is empty")
    elif not value.isprintable():
        raise LabError(f"{shown}: it is one line of printable text")


def check_count(products: Sequence[dict[str, list[Value]]], most: int) -> None:
    """LabError when the products are larger than anybody wants by accident."""
    count = sum(math.prod(map(len, lists.values())) for lists in products)
    if count > most:
        factors = " and ".join(
            " × ".join(f"{len(values)} {name}" for name, values in lists.items() if len(values) > 1)
            for lists in products
        )
        raise LabError(f"{factors} are {count:,} cells, more than {most:,}; --max-cells {count} allows them")


def check_workloads(lists: dict[str, list[Value]]) -> None:
    """LabError when a placeholder has no values, or values have no placeholder."""
    for workload in map(str, lists["workload"]):
        named = re.findall(r"\{(\w+)\}", workload)
        for name in named:
            if name not in FILLED_IN:
                raise LabError(
                    f"workload {workload!r}: {{{name}}} is nothing to fill in, only {{processes}} and {{seed}} are"
                )
            if name not in lists:
                raise LabError(f"workload {workload!r} has {{{name}}}, and the plan no {name} = [...]")
        if "processes" in lists and "processes" not in named:
            raise LabError(f"workload {workload!r} has no {{processes}}, which the plan lists")


def settings(variables: dict[str, Value], timeout: float) -> qemu.Settings:
    """The settings of a cell. BadSetting for one that cannot be used."""
    run = str(variables["workload"])
    for name in FILLED_IN:
        run = run.replace(f"{{{name}}}", str(variables.get(name, "")))
    given: dict[str, Any] = {name: str(variables[name]) for name in OF_SETTINGS if name in variables}
    own = (*VARIABLES, IDEAL)
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
        raise LabError(f"disk_kind = {chosen.disk_kind!r}: a cell is an exact run, which no emulated disk can have")
    if qemu.real_disk(chosen)[0]:
        raise LabError(
            f"swap = {chosen.swap!r}: cells that run side by side would share that disk; see `tidemark run --help`"
        )
    return chosen


def cell(variables: dict[str, Value], timeout: float) -> Cell:
    """The cell with these variables; for its name see above."""
    s = settings(variables, timeout)
    disks = [str(variables["disk"]), s.disk_kind] if s.disk else []
    made_of = json.dumps([s.run, s.vm, s.mem, s.swap, s.frames, s.seed, s.cmdline, *disks])
    marks = [f"{letter}{variables[name]}" for letter, name in (("s", "seed"), ("j", "jitter")) if name in variables]
    words = [s.run.split()[0], variables.get("processes", ""), s.vm, s.mem, *marks]
    shown = "-".join(re.sub(r"[^\w.]+", "-", str(word)).strip("-.") for word in words if word != "")
    return Cell(f"{shown[:60]}-{hashlib.sha256(made_of.encode()).hexdigest()[:8]}", variables, s)


def ideals(cells: Sequence[Cell], mem: str, timeout: float) -> list[Cell]:
    """A run of each command of these cells in a memory of `mem`, under what `tidemark run` gives it otherwise."""
    kept = ("workload", *FILLED_IN, "cmdline", "disk", "disk_kind")
    same = ({name: value for name, value in one.variables.items() if name in kept} for one in cells)
    return [cell(one | {"vm": DEFAULT.vm, "mem": mem, "swap": DEFAULT.swap, IDEAL: "yes"}, timeout) for one in same]


def check_distinct(cells: list[Cell]) -> None:
    """LabError when two cells would be the same run."""
    seen: dict[str, Cell] = {}
    for one in cells:
        other = seen.setdefault(one.id, one)
        if other is not one:
            raise LabError(
                f"two cells would be the same run, {one.settings.run!r}: {other.variables} and {one.variables}"
            )
