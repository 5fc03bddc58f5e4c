"""Turnaround against memory, T(M) = k / M^p + c, by least squares.

A. McMenamin ("Applying working set heuristics to the Linux kernel", 2011, equation 5.1) fitted p = 4 to compile times.
Here p = 4 is fitted beside a free p, whose interval says how well the data determine it.

For any p the model is linear in k and c, so that a linear fit leaves a function of p alone, S(p), the sum of squared
residuals; its least value is the fit (G. Golub, V. Pereyra, "The differentiation of pseudo-inverses and nonlinear
least squares problems whose variables separate", SIAM J. Numer. Anal. 10(2), 1973). The interval is that of the
profile likelihood (D. Bates, D. Watts, "Nonlinear Regression Analysis and Its Applications", 1988, chapter 6): all p
around the best with S(p) <= S_min (1 + t^2 / (n - 3)), t the 97.5 % quantile of Student's distribution with n - 3
degrees of freedom. It need not be symmetric, and is open on the side on which the data do not bound p.

Each memory size counts once, by the median over its runs: they may be equal to the last bit, and counting them as
independent would make the interval too narrow. If the exponent without some one size is quite another (more than OTHER
times), the fit is that size's, and is not drawn. The interval assumes independent errors of equal
variance. In exact runs the residuals are the model's misfit, not noise, so read the interval as a measure of how
sharply the data determine p.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

REPORTED = 4.0
LEAST_R2 = 0.8
OTHER = 1.5
EXPONENTS = np.geomspace(0.05, 64, 160)
CONFIDENCE = 0.95
PARAMETERS = 3


@dataclass(frozen=True)
class Fit:
    """T = k / M^exponent + c. `low` and `high` bound the exponent; None if the data do not, or it was given."""

    k: float
    c: float
    exponent: float
    r2: float
    nr: int
    low: float | None = None
    high: float | None = None
    hangs_on: tuple[float, float] | None = None  # a size, and the exponent without it, if that is quite another

    @property
    def empty(self) -> str:
        """Why the fit says nothing about the data; empty if it does."""
        if self.nr < PARAMETERS:
            return f"{self.nr} sizes can be fitted by any such curve"
        if self.r2 < LEAST_R2:
            return f"R² is {self.r2:.2f} only"
        if not EXPONENTS[1] < self.exponent < EXPONENTS[-2]:
            return f"p is at the end of the searched range, {self.exponent:.2g}"
        if self.hangs_on:
            size, without = self.hangs_on
            return f"p = {self.exponent:.1f} hangs on one size: without {size:g} MiB it is {without:.1f}"
        if self.c < 0:
            return "c is negative: with much memory the command would end before it begins"
        return ""

    def at(self, memory: np.ndarray) -> np.ndarray:
        """T at each M."""
        return self.k * np.asarray(memory, float) ** -self.exponent + self.c


def medians(memory: Sequence[float], turnaround: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """The distinct sizes, ascending, and the median turnaround at each: two float64[n]."""
    sizes, values = np.unique(np.asarray(memory, float)), np.asarray(turnaround, float)
    return sizes, np.array([np.median(values[np.asarray(memory, float) == size]) for size in sizes])


def fixed(memory: np.ndarray, turnaround: np.ndarray, exponent: float = REPORTED) -> Fit:
    """Least squares with a given exponent, over distinct sizes. Raises ValueError for fewer than two sizes."""
    if len(memory) < 2:
        raise ValueError("a fit of k and c takes at least two memory sizes")
    unit = memory.min()
    design = np.column_stack([(memory / unit) ** -exponent, np.ones(len(memory))])
    (k, c), *_ = np.linalg.lstsq(design, turnaround, rcond=None)
    left = float(np.sum((turnaround - design @ (k, c)) ** 2))
    total = float(np.sum((turnaround - turnaround.mean()) ** 2))
    return Fit(float(k * unit**exponent), float(c), exponent, 1 - left / total if total else 1.0, len(memory))


def residual(memory: np.ndarray, turnaround: np.ndarray, exponent: float) -> float:
    """S(p): the sum of squared residuals of the best k and c, in squared units of T."""
    fit = fixed(memory, turnaround, exponent)
    return float(np.sum((turnaround - fit.at(memory)) ** 2))


def student_quantile(probability: float, freedom: int) -> float:
    """Student's quantile for a probability above one half.

    With x = sqrt(freedom) tan(a) the density becomes a constant times cos(a)^(freedom - 1), integrated numerically.
    """
    angle = np.linspace(0, math.pi / 2, 20001)
    density = np.cos(angle) ** (freedom - 1)
    area = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2)])
    return math.sqrt(freedom) * math.tan(float(np.interp(2 * probability - 1, area / area[-1], angle)))


def crossing(memory: np.ndarray, turnaround: np.ndarray, limit: float, inside: float, outside: float) -> float:
    """The exponent at which S(p) passes `limit`, between `inside` (S <= limit) and `outside` (S > limit): bisection."""
    for _ in range(60):
        middle = math.sqrt(inside * outside)
        if residual(memory, turnaround, middle) <= limit:
            inside = middle
        else:
            outside = middle
    return inside


def least(memory: np.ndarray, turnaround: np.ndarray, low: float, high: float) -> float:
    """The exponent of the least S(p) in [low, high], where S has one minimum, by ternary search in log p."""
    for _ in range(100):
        third = (high / low) ** (1 / 3)
        left, right = low * third, high / third
        if residual(memory, turnaround, left) <= residual(memory, turnaround, right):
            high = right
        else:
            low = left
    return math.sqrt(low * high)


def without_one(memory: np.ndarray, turnaround: np.ndarray, exponent: float) -> tuple[float, float] | None:
    """The size without which the exponent changes most, and the exponent then, if it changes more than OTHER-fold."""
    rest = [(size, memory != size) for size in memory]
    found = [(float(size), best_exponent(memory[keep], turnaround[keep])) for size, keep in rest]
    size, other = max(found, key=lambda one: abs(math.log(one[1] / exponent)))
    return (size, other) if abs(math.log(other / exponent)) > math.log(OTHER) else None


def best_exponent(memory: np.ndarray, turnaround: np.ndarray) -> float:
    """The exponent of the least S(p)."""
    at = int(np.argmin([residual(memory, turnaround, p) for p in EXPONENTS]))
    return least(memory, turnaround, EXPONENTS[max(at - 1, 0)], EXPONENTS[min(at + 1, len(EXPONENTS) - 1)])


def free(memory: np.ndarray, turnaround: np.ndarray) -> Fit:
    """Least squares with a free exponent and its 95 % interval, over distinct sizes.

    Raises ValueError for fewer than four sizes, which a curve fits exactly, and for a turnaround that is the same
    everywhere, for which every exponent is equally good.
    """
    if len(memory) <= PARAMETERS:
        raise ValueError(f"a free exponent takes more than {PARAMETERS} memory sizes")
    if np.ptp(turnaround) <= 1e-9 * np.abs(turnaround).max():
        raise ValueError("the turnaround is the same at every memory size")
    profile = np.array([residual(memory, turnaround, p) for p in EXPONENTS])
    at, best = int(profile.argmin()), best_exponent(memory, turnaround)
    freedom = len(memory) - PARAMETERS
    t = student_quantile((1 + CONFIDENCE) / 2, freedom)
    limit = residual(memory, turnaround, best) * (1 + t * t / freedom)
    below = [p for p, s in zip(EXPONENTS[:at], profile[:at], strict=True) if s > limit and p < best]
    above = [p for p, s in zip(EXPONENTS[at + 1 :], profile[at + 1 :], strict=True) if s > limit and p > best]
    fit = fixed(memory, turnaround, best)
    return Fit(
        fit.k,
        fit.c,
        best,
        fit.r2,
        fit.nr,
        crossing(memory, turnaround, limit, best, below[-1]) if below else None,
        crossing(memory, turnaround, limit, best, above[0]) if above else None,
        without_one(memory, turnaround, best) if len(memory) > PARAMETERS + 1 else None,
    )
