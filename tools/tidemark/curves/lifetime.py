"""From faults by size to lifetime functions, their knees, and space-time products.

The lifetime function g(x) is the mean virtual time between faults if the mean resident set is x pages (Belady and
Kuehner, CACM 12(5), 1969): g = T / K, where K is all faults, first references included. x is the number of frames for a
memory of fixed size, and the mean working-set size for the working set.

A knee is where a ray from the origin touches the curve from above (Denning, IEEE Trans. Software Engineering SE-6(1),
1980): g(x) / x, the slope of the ray to x, is greater there than on both sides. The primary knee is the one with the
steepest ray. At the curve's end, where memory holds all pages, each fault is a first reference; there the ray is often
steeper than any other, but it does not touch the curve: the curve is only cut off, by the end of the trace. So the end
is not a knee, nor is the curve's first point, and a curve that is nowhere bent enough has none. A program cannot run in
less than one page, so only x >= 1 is considered. Rises and falls by less than DIP are taken for chance.

Localities within localities (a loop's few pages, a phase's many) give a curve several knees, and the primary one need
not be the one of interest.

Belady and Kuehner drew g = a x^k where memory is short; k is often between 1.5 and 3. Here it is fitted to the
logarithms, at sizes of equal ratios from one page to the last knee: beyond that the curve has another shape. A fit with
an R² below FITS says nothing. Where g = D, the mean delay of a fault, a program computes as long as it waits; below
that the disk is the bottleneck. In Denning's words L = S: the lifetime L equals the page service time S. A load control
may admit programs until the least size with L >= S (Denning, Kahn, Leroudier, Potier and Suri, Acta Informatica 7,
1976), here Curve.balance.

Space-time is what a run costs in memory held over time (same paper, and equation 4.3 of McMenamin's report): x * T
while the program runs and about x * D for each fault, so C = x * (T + D * K), where D is the mean delay of a fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SMALLEST_SIZE = 1.0
FITTED, FITS = 64, 0.8  # sizes; least R²
DIP = 0.1  # a peak is higher than the lowest value on each side by this share of itself


def peaks(values: Sequence[float]) -> list[int]:
    """The indices of the highest values between two dips. The first and the last value do not count."""
    found: list[int] = []
    at, rising = 0, False
    for place, value in enumerate(values):
        if rising and value < (1 - DIP) * values[at]:
            found.append(at)
            at, rising = place, False
        elif not rising and values[at] < (1 - DIP) * value:
            at, rising = place, True
        elif (value > values[at]) == rising and value != values[at]:
            at = place
    return found


@dataclass(frozen=True)
class Curve:
    """One policy over its parameter (window in units of time, or frames): `sizes` f64 mean resident set in pages,
    `faults` i64; all of equal length. `end` is T in units of time, `delay` D in the same unit.
    """

    policy: str
    parameters: np.ndarray
    sizes: np.ndarray
    faults: np.ndarray
    end: int
    delay: int

    @property
    def lifetimes(self) -> np.ndarray:
        """f64: g, in units of time."""
        return self.end / self.faults

    @property
    def spacetimes(self) -> np.ndarray:
        """f64: C, in pages times units of time."""
        return self.sizes * (self.end + self.delay * self.faults.astype(np.float64))

    def knees(self) -> list[int]:
        """The indices of all knees, the primary one first."""
        order = np.argsort(self.sizes, kind="stable")
        order = order[self.sizes[order] >= SMALLEST_SIZE]
        slopes = self.lifetimes[order] / self.sizes[order]
        found: list[int] = peaks(slopes.tolist())
        return [int(order[at]) for at in sorted(found, key=lambda at: -slopes[at])]

    def knee(self) -> int | None:
        """The index of the primary knee, None if there is none."""
        return next(iter(self.knees()), None)

    def other_knees(self) -> list[int]:
        """The indices of the other knees, in ascending order of their sizes."""
        return sorted(self.knees()[1:], key=lambda index: float(self.sizes[index]))

    def balance(self) -> int | None:
        """The index of the least size of at least one page with g >= D, where L = S; None if g is always below."""
        eligible = np.flatnonzero((self.sizes >= SMALLEST_SIZE) & (self.lifetimes >= self.delay))
        return int(eligible[np.argmin(self.sizes[eligible])]) if len(eligible) else None

    def cheapest(self) -> int | None:
        """The index of the least space-time among sizes of at least one page; None if there is no such size."""
        eligible = np.flatnonzero(self.sizes >= SMALLEST_SIZE)
        return int(eligible[np.argmin(self.spacetimes[eligible])]) if len(eligible) else None


@dataclass(frozen=True)
class PowerLaw:
    """g = factor * x ** exponent from the size `first` to `last`; `r2` is the R² of the fit to the logarithms."""

    factor: float
    exponent: float
    first: float
    last: float
    r2: float

    def at(self, sizes: np.ndarray) -> np.ndarray:
        """The law's g at these sizes."""
        lifetimes: np.ndarray = self.factor * sizes**self.exponent
        return lifetimes


def power_law(curve: Curve) -> PowerLaw | None:
    """The power law fitted to g from one page to the last knee. None if that range has fewer than three sizes of the
    curve, or if g is constant in it."""
    order = np.argsort(curve.sizes, kind="stable")
    order = order[curve.sizes[order] >= SMALLEST_SIZE]
    last = max((float(curve.sizes[knee]) for knee in curve.knees()), default=float(curve.sizes.max()))
    if np.count_nonzero(curve.sizes[order] <= last) < 3:
        return None
    known_x, known_y = np.log(curve.sizes[order]), np.log(curve.lifetimes[order])
    x = np.linspace(known_x[0], np.log(last), FITTED)
    y = np.interp(x, known_x, known_y)
    if np.ptp(y) == 0:
        return None
    exponent, level = np.polyfit(x, y, 1)
    r2 = 1 - float(((y - level - exponent * x) ** 2).sum() / ((y - y.mean()) ** 2).sum())
    return PowerLaw(float(np.exp(level)), float(exponent), float(np.exp(x[0])), last, r2)


def from_depths(policy: str, histogram: np.ndarray, end: int, delay: int) -> Curve:
    """The curve of a stack algorithm. histogram i64[pages + 1] has at c the references that hit from a memory of c
    pages on, and at 0 the first references. The curve has one point for each memory from 1 page to all.
    """
    hits = np.cumsum(histogram[1:])
    frames = np.arange(1, len(histogram), dtype=np.int64)
    return Curve(policy, frames, frames.astype(np.float64), histogram.sum() - hits, end, delay)
