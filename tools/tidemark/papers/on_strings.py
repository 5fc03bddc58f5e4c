"""Plans of strings: what policies do on strings of references, computed on the host. No machine runs.

    string      a string, or a list of them (tidemark.strings.refstrings.SYNTAX), in which {seed} becomes the seed;
                or every:LENGTH,PAGES (tidemark.papers.literal), of which each number is the sum over all strings
    seeds       the number of seeds, from 1 on (default 1): its runs are replicates of one another
    policy      a policy of this tree, which runs in the simulator, or one of COMPUTED; one, or a list
    frames      the size of memory in pages, or `window`, the working set's in references; one, or a list
    parameters  of the simulated policies, such as ["lruk.correlated_ms=0"]
    [[part]]    tables with these keys, besides the common ones above them: each makes its own combinations

The numbers of a run are those of `measured`: references, faults, and lifetime, the references per fault; space, the
pages in memory summed over the references; last, the pages in memory after the last reference. A run without frames or
window has instead: rises, how often one page of memory more means more faults.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Mapping

import numpy as np

from tidemark.curves.belady import MinDistances
from tidemark.curves.lru import StackDistances
from tidemark.curves.pff import PageFaultFrequency
from tidemark.curves.working_set import Intervals
from tidemark.errors import LabError
from tidemark.papers import literal
from tidemark.strings import refstrings, vmsim
from tidemark.strings.compare import batches, misses_by_size
from tidemark.strings.refstrings import References

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

KEYS = ("string", "policy", "frames", "window")
Numbers = dict[str, float]
Variables = Mapping[str, str]


def cells(text: str) -> list[dict[str, str]]:
    """The runs of a plan: the variables of each. Raises LabError, which names what is wrong."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise LabError(f"the plan is not valid TOML: {error}") from None
    parts = table.pop("part", [{}])
    return [cell for part in parts for cell in combinations({**table, **part})]


def combinations(table: dict[str, object]) -> list[dict[str, str]]:
    """The combinations of a table's lists, for each seed."""
    seeds, more = table.pop("seeds", 1), table.pop("parameters", [])
    unknown = [key for key in table if key not in KEYS]
    if unknown:
        raise LabError(f"unknown key {', '.join(unknown)}; there are: {', '.join([*KEYS, 'seeds', 'parameters'])}")
    if "string" not in table or "policy" not in table or not isinstance(seeds, int) or not isinstance(more, list):
        raise LabError("give string and policy, seeds as a number, and parameters as a list")
    lists = [value if isinstance(value, list) else [value] for value in table.values()]
    found = [dict(zip(table, map(str, chosen))) for chosen in itertools.product(*lists)]
    for policy in {one["policy"] for one in found}:
        if policy not in COMPUTED and policy not in vmsim.policies():
            raise LabError(f"there is no policy {policy}, only those of this tree and {', '.join(COMPUTED)}")
    extra = {"parameters": " ".join(more)} if more else {}
    return [{**one, **extra, "seed": str(seed)} for one in found for seed in range(1, seeds + 1)]


def measured(cell: Variables) -> tuple[float, Numbers]:
    """Seconds of the host, and the numbers of a run."""
    begun, total = time.monotonic(), Numbers()
    for string in strings(cell["string"].replace("{seed}", cell["seed"])):
        found = of_string(string, cell) | {"references": float(string.nr_references)}
        for name, value in found.items():
            total[name] = total.get(name, 0) + value
    if total.get("faults"):
        total["lifetime"] = total["references"] / total["faults"]
    return time.monotonic() - begun, total


def of_string(string: References, cell: Variables) -> Numbers:
    """The numbers of one string, without its length."""
    policy = COMPUTED.get(cell["policy"], simulated)
    if "frames" in cell or "window" in cell:
        return policy(string, cell)
    faults = [policy(string, {**cell, "frames": str(one)})["faults"] for one in range(1, string.nr_pages + 1)]
    return {"rises": float(sum(larger > smaller for smaller, larger in zip(faults, faults[1:])))}


def strings(text: str) -> list[References]:
    """One string, or every string."""
    if not text.startswith("every:"):
        return [refstrings.find(text)]
    length, pages = map(int, text.removeprefix("every:").split(","))
    return [refstrings.Given(text, np.array(one, np.uint32)) for one in literal.every(length, pages)]


def simulated(string: References, cell: Variables) -> Numbers:
    """The policy's own file in the simulator."""
    program = vmsim.build(cell["policy"], fast=True)
    found = vmsim.run(program, string, int(cell["frames"]), cell.get("parameters", "").split())
    return {"faults": float(found.faults)}


def lru(string: References, cell: Variables) -> Numbers:
    """All sizes of memory in one pass (Mattson and others, 1970)."""
    distances = StackDistances()
    for batch in batches(string):
        distances.feed(batch)
    return {"faults": float(misses_by_size(distances.depths(), [int(cell["frames"])])[0])}


def optimal(string: References, cell: Variables) -> Numbers:
    """MIN, all sizes of memory in one pass."""
    distances = MinDistances()
    for batch in batches(string):
        distances.feed(batch)
    return {"faults": float(misses_by_size(distances.capacities(), [int(cell["frames"])])[0])}


def working_set(string: References, cell: Variables) -> Numbers:
    """WS and VMIN, all windows in one pass (Denning and Slutz, 1978)."""
    intervals, end = Intervals(), string.nr_references
    for batch in batches(string):
        intervals.feed(batch)
    found = intervals.curve(end)
    sizes = found.sizes if cell["policy"] == "WS" else found.least
    at = np.flatnonzero(found.thetas == int(cell["window"]))
    if not len(at):
        raise LabError(f"a window of {cell['window']} references is not a point of the curve")
    return {"faults": float(found.faults[at[0]]), "space": round(sizes[at[0]] * end)}


def fault_frequency(string: References, cell: Variables) -> Numbers:
    """PFF; the window is its threshold."""
    policy, end = PageFaultFrequency(np.array([int(cell["window"])]), string.nr_pages), string.nr_references
    for batch in batches(string):
        policy.feed(batch)
    faults, pages = policy.result(end)
    return {"faults": float(faults[0]), "space": round(pages[0] * end)}


def literally(function: Callable[[list[int], int], Numbers]) -> Callable[[References, Variables], Numbers]:
    """A definition that is carried out step by step, as a policy of a plan."""

    def found(string: References, cell: Variables) -> Numbers:
        pages = np.concatenate([piece[:, 0] for piece in string.runs()]).tolist()
        return function(pages, int(cell["frames"] if "frames" in cell else cell["window"]))

    return found


COMPUTED: dict[str, Callable[[References, Variables], Numbers]] = {
    "LRU": lru,
    "MIN": optimal,
    "WS": working_set,
    "VMIN": working_set,
    "PFF": fault_frequency,
    "LRU-LITERAL": literally(literal.lru),
    "WS-LITERAL": literally(literal.working_set),
    "SEARCH": literally(literal.search),
    "A0": literally(literal.most_probable),
}
