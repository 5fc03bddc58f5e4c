"""What a random run can be made of: the policies, the guards, their parameters."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cache
from random import Random

from tidemark.machine import qemu
from tidemark.strings import vmsim

MAX_JOBS = 5
LONGEST_MS = 20000  # for parameters that are times: waiting for hours is not a failure, but takes too long here


@dataclass(frozen=True)
class Item:
    """`kind` says what `text` is: a setting (vm, mem in MiB, swap, frames, seed, disk, kind), a `word` of the command
    line, an `area` for swapping, a `job` that runs beside others, a `dynamic` program (a job with a dynamic linker and
    a library), an `act` during the jobs. Without text: `watch` ends
    the run after a limit of virtual time; `again` makes the run a second time."""

    kind: str
    text: str


def commands(items: list[Item]) -> list[str]:
    """What runs beside each other, in the order of the items."""
    return [item.text for item in items if item.kind in ("job", "dynamic")]


def logarithmic(rng: Random, low: int, high: int) -> int:
    """A number from low to high; as likely below the geometric mean as above."""
    return (
        low if low >= high else max(low, min(high, round(math.exp(rng.uniform(math.log(max(low, 1)), math.log(high))))))
    )


def files(folder: str) -> list[str]:
    """The existing policies or guards."""
    found = sorted(path.stem for path in (qemu.ROOT / folder).glob("*.c"))
    return [name for name in found if not name.endswith(("_test", "TEMPLATE")) and name not in vmsim.WITH_FUTURE]


POLICIES, GUARDS = files("kernel/mm/policy"), files("kernel/mm/guard")


@cache
def parameters(owner: str) -> list[tuple[str, int, int]]:
    """Name, least and most of the parameters of a policy or guard."""
    text = (qemu.ROOT / "docs/reference/parameters.md").read_text()
    found = re.findall(rf"^({re.escape(owner)}\.\w+)=\S*\t(\d+)\.\.(\d+)", text, re.MULTILINE)
    return [(name, int(low), min(int(high), LONGEST_MS) if "_ms" in name else int(high)) for name, low, high in found]


def parameter(rng: Random, owner: str) -> list[str]:
    """One of its parameters as name=value, or none."""
    known = parameters(owner)
    if not known or rng.random() < 0.5:
        return []
    name, low, high = rng.choice(known)
    return [f"{name}={rng.choice((low, high)) if rng.random() < 0.3 else logarithmic(rng, low, high)}"]
