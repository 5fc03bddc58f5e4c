"""Replicates: runs of one experiment that differ in what ought not to matter.

One exact run is one sample: if memory is short, another position of the disk or one page more gives another run. A
replicate varies all of that together. Its number r is printed with every result and says everything:

    jitter  the kernel's jitter=, small shifts of time
    seed    the kernel's seed=, and {seed} in the workload
    layout  the kernel's layout=, where the extents of the modelled disks end
    size    each {size:N} in the workload is a whole number within 1 % of N, all of them equally probable; memory and
            everything else keep their sizes

They are the first four little-endian words of 32 bits of the SHA-256 of the text "replicate r": 1 + word modulo 999,999
for the first three, so that no number is 0, which would vary nothing; the fourth, over 2^32, is the place between the
least and the greatest size, the same place for every {size:N} of a command. So the same r is the same draw in every
sweep, and the two sides of a comparison, whatever they compare, get the same draws.
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass

REPLICATE, REPLICATES = "replicate", "replicates"
DRAWN = ("jitter", "seed", "layout")  # what a plan with replicates cannot give
REPETITION = ("seed", "jitter", "layout", REPLICATE)  # runs that differ only in these are repetitions of one another
SIZE = re.compile(r"\{size:(\d+)\}")
MOST_DRAWN = 999_999
SIZE_PERCENT = 1


@dataclass(frozen=True)
class Draw:
    """What replicate r varies. `place`: where its sizes lie between the least, 0, and the greatest, below 1."""

    jitter: int
    seed: int
    layout: int
    place: float


def draw(number: int) -> Draw:
    """The draw of replicate `number`."""
    *words, last = struct.unpack_from("<4I", hashlib.sha256(f"replicate {number}".encode()).digest())
    jitter, seed, layout = (1 + word % MOST_DRAWN for word in words)
    return Draw(jitter, seed, layout, last / 2**32)


def size(nominal: int, place: float) -> int:
    """The size at a place: a whole number from 99 % to 101 % of `nominal`."""
    spread = nominal * SIZE_PERCENT // 100
    return nominal - spread + int(place * (2 * spread + 1))


def varies(workload: str) -> bool:
    """Does a replicate vary the size of this workload? Within 1 % of a number below 100 there is no other one."""
    return any(int(nominal) * SIZE_PERCENT >= 100 for nominal in SIZE.findall(workload))


def nominal(workload: str) -> str:
    """The workload with the sizes that are written in it."""
    return SIZE.sub(r"\1", workload)


def sized(workload: str, place: float) -> str:
    """The workload with the sizes that a replicate draws."""
    return SIZE.sub(lambda found: str(size(int(found[1]), place)), workload)


def expanded(variables: Mapping[str, str | int]) -> dict[str, str | int]:
    """The variables of a cell with what its replicate draws in place of the number, and with sizes in the workload."""
    rest = {name: value for name, value in variables.items() if name != REPLICATE}
    workload = str(variables["workload"])
    if REPLICATE not in variables:
        return rest | {"workload": nominal(workload)}
    one = draw(int(variables[REPLICATE]))
    return rest | {"workload": sized(workload, one.place)} | {name: getattr(one, name) for name in DRAWN}
