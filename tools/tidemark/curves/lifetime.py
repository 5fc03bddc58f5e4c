"""From faults by size to lifetime functions, their knees, and space-time products.

The lifetime function g(x) is the mean virtual time between faults when the mean resident set is x pages (Belady and
Kuehner, CACM 12(5), 1969): g = T / K, with K all faults, first references included. x is the frames given for a memory
of fixed size, and the mean working-set size for the working set.

The primary knee is where g(x) / x is greatest (Denning, IEEE Trans. Software Engineering SE-6(1), 1980): there the ray
from the origin touches the curve. Of equal ones the smallest x counts. Less than one page is no place to run a
program, so only x >= 1 is looked at; if the very first of these points is the greatest, the curve has no knee.
Localities within localities (a loop's few pages, a phase's many) give a curve several knees, and the primary one need
not be the one of interest; the others are the local maxima of the same ratio.

Space-time, what a run costs in memory held over time (same paper, and equation 4.3 of McMenamin's report): x * T while
the program runs and about x * D for each fault, so C = x * (T + D * K), with the mean delay D of a fault.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SMALLEST_SIZE = 1.0
STEPS = 8


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

    def knee(self) -> int | None:
        """The index of the primary knee, None if there is none."""
        eligible = np.flatnonzero(self.sizes >= SMALLEST_SIZE)
        if len(eligible) < 2:
            return None
        best = int(np.argmax(self.lifetimes[eligible] / self.sizes[eligible]))
        return int(eligible[best]) if best else None

    def other_knees(self) -> list[int]:
        """The indices of further knees in ascending order: points inside the curve at which g(x) / x is greatest among
        all sizes up to a factor of about two from there. Sizes are compared in steps of 1 / STEPS of an octave.
        """
        eligible = np.flatnonzero(self.sizes >= SMALLEST_SIZE)
        ratios = self.lifetimes[eligible] / self.sizes[eligible]
        steps = np.floor(STEPS * np.log2(self.sizes[eligible])).astype(np.int64)
        best = [here[np.argmax(ratios[here])] for here in map(np.flatnonzero, np.unique(steps)[:, None] == steps)]
        peaks = [at for at in best if all(ratios[at] >= ratios[b] for b in best if abs(steps[b] - steps[at]) <= STEPS)]
        inside = [int(eligible[at]) for at in peaks if 0 < at < len(eligible) - 1]
        return [index for index in inside if index != self.knee()]

    def cheapest(self) -> int | None:
        """The index of the least space-time, of sizes from one page on; None if there is no such size."""
        eligible = np.flatnonzero(self.sizes >= SMALLEST_SIZE)
        return int(eligible[np.argmin(self.spacetimes[eligible])]) if len(eligible) else None


def from_depths(policy: str, histogram: np.ndarray, end: int, delay: int) -> Curve:
    """The curve of a stack algorithm: histogram i64[pages + 1] of the smallest memory in which a reference hits, and at
    0 the first references. One point for each memory from 1 page to all.
    """
    hits = np.cumsum(histogram[1:])
    frames = np.arange(1, len(histogram), dtype=np.int64)
    return Curve(policy, frames, frames.astype(np.float64), histogram.sum() - hits, end, delay)
