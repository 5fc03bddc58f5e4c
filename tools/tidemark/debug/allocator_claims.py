"""What section 2.5 of J. Tuček, "Linux Virtual Memory Manager" (2007), claims of allocators, beside made traffic.

Each claim is a comparison of numbers of the simulator, so its verdict is computed. Numbers within 10 % of each other
count as equal, as in the papers. The traffic is made from a fixed seed: the numbers are the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tidemark.debug import allocators
from tidemark.debug.allocators import Row, Series

NEAR = 0.1
FROM_SIZE = 64  # bytes; below, the unit of 16 bytes decides


@dataclass(frozen=True)
class Claim:
    """A claim, the numbers that judge it as text, and whether they agree."""

    claim: str
    numbers: str
    agrees: bool

    @property
    def verdict(self) -> str:
        """In a word."""
        return "agrees" if self.agrees else "differs"


def lost(row: Row, of: str) -> float:
    """The share that is wasted of the bytes in `of`: granted (blocks) or held (pages)."""
    return 1 - row["asked"] / row[of]


def outside(row: Row) -> float:
    """The share of the held bytes that no block in use has: external fragmentation."""
    return 1 - row["granted"] / row["held"]


def last(series: Series, name: str) -> Row:
    """The row with the most blocks."""
    return series[name][-1]


def mean(values: list[float]) -> float:
    """The arithmetic mean."""
    return sum(values) / len(values)


def traffic(rows: list[Row]) -> float:
    """Splits and merges of a pair, on average, while at least one other block is in use."""
    return mean([row["splits"] + row["merges"] for row in rows if row["held"]])


def of_lists(random: Series) -> Iterator[Claim]:
    """The resource map and its list."""
    few, many = random["resource map"][0], last(random, "resource map")
    length, steps = many["free"] / few["free"], many["steps"] / few["steps"]
    yield Claim(
        "a resource map's performance deteriorates significantly as its list grows",
        f"a list {length:.0f} times as long takes {steps:.0f} times the steps",
        steps > length / 2,
    )
    rows = [last(random, name) for name in ("resource map", "buddy")]
    mine, buddy = (outside(row) for row in rows)
    whole = [lost(row, "held") for row in rows]
    yield Claim(
        "resource maps suffer badly from external fragmentation",
        f"{100 * mine:.1f} % of the held memory lies between the blocks, {100 * buddy:.1f} % with the buddy; rounding "
        f"included, {100 * whole[0]:.0f} % and {100 * whole[1]:.0f} % are lost",
        mine > buddy * (1 + NEAR),
    )


def of_sizes(waste: Series) -> Iterator[Claim]:
    """Powers of two."""
    rows = [row for row in waste["power of two"] if row["size"] >= FROM_SIZE]
    most, average = max(lost(row, "granted") for row in rows), mean([lost(row, "granted") for row in rows])
    yield Claim(
        "with power-of-two lists up to 50 % of memory can be wasted",
        f"at most {100 * most:.1f} % of a block of {FROM_SIZE} bytes or more, on average {100 * average:.1f} %",
        abs(most / 0.5 - 1) <= NEAR,
    )
    (header,), (none,) = (
        [row for row in waste[name] if row["size"] == 1024] for name in ("power of two", "McKusick-Karels")
    )
    yield Claim(
        "McKusick-Karels avoids rounding a power of two to the next bigger size",
        f"1,024 bytes: {100 * lost(none, 'granted'):.0f} % lost instead of {100 * lost(header, 'granted'):.0f} %",
        lost(none, "granted") == 0 < lost(header, "granted"),
    )


def of_buddies(random: Series, alternating: Series) -> Iterator[Claim]:
    """The buddy, and the lazy one."""
    power, buddy = (lost(last(random, name), "held") for name in ("power of two", "buddy"))
    yield Claim(
        "the buddy utilises memory much more efficiently than power-of-two lists",
        f"{100 * buddy:.0f} % of the held memory is lost instead of {100 * power:.0f} %",
        buddy < power * (1 - NEAR),
    )
    plain, lazy = (traffic(alternating[name]) for name in ("buddy", "lazy buddy"))
    yield Claim(
        "a lazy buddy avoids the splits and merges of a block that is allocated and freed again and again",
        f"{lazy:.2f} splits and merges of a pair instead of {plain:.2f}",
        lazy < plain / 2,
    )
    alone = [alternating[name][0]["merges"] for name in ("buddy", "lazy buddy")]
    yield Claim(
        "it does so for a block that is split off a bigger one and freed shortly afterwards",
        f"{alone[1]:.0f} merges of a pair if no other block of its size is in use; the buddy: {alone[0]:.0f}",
        alone[1] < alone[0] / 2,
    )


def claims() -> list[Claim]:
    """All claims, with their verdicts; takes some seconds."""
    waste, random, alternating = (allocators.simulated(mode) for mode in ("waste", "random", "alternating"))
    return [*of_lists(random), *of_sizes(waste), *of_buddies(random, alternating)]
