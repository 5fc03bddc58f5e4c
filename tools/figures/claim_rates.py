"""How often claims (tidemark.runs.claims) err, and what they find, by simulation.

Logarithms of times are drawn from distributions as paging machines have them: with one hump, with two (it thrashes, or
not), with a long tail, and with rare outliers. Everything follows from the seed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import stats
from tidemark.runs import claims

from figures.common import table
from figures.entries import Figure

SEED, DRAWS, FEW_DRAWS = 1, 20_000, 1_000
PAIRS = (6, 8, 10, 14, 20)
COLUMNS, COLUMN_DRAWS = ((10, 10), (25, 14)), 4_000
SHIFTS = (0.5, 1.0, 1.5, 2.0, 3.0)
ERROR = claims.ERROR

Rng = np.random.Generator
SHAPES: dict[str, Callable[[Rng, tuple[int, ...]], np.ndarray]] = {
    "one hump": lambda rng, size: rng.normal(size=size),
    "two humps": lambda rng, size: np.where(rng.random(size) < 0.3, 2.5, 0) + 0.2 * rng.normal(size=size),
    "long tail": lambda rng, size: rng.exponential(size=size),
    "outliers": lambda rng, size: rng.standard_t(2, size=size),
}


def apart(logs: np.ndarray, comparisons: int = 1, best_of: int = 0) -> np.ndarray:
    """Are these told apart? bool[...] for float64[..., pairs]."""
    low, high = claims.interval(logs, comparisons, best_of)
    return (low > 0) | (high < 0)


def of_equal_pairs(rng: Rng, shape: str, pairs: int, draws: int) -> float:
    """The share of pairs of equal sides that are told apart."""
    draw = SHAPES[shape]
    return float(np.mean(apart(draw(rng, (draws, pairs)) - draw(rng, (draws, pairs)))))


def of_equal_columns(
    rng: Rng, shape: str, contestants: int, pairs: int, draws: int, only_counted: bool = False
) -> float:
    """The share of columns of equal contestants in which any is told apart from the best of the data. `only_counted`:
    corrected for the number of comparisons alone. The first step of Holm's procedure decides whether it finds any."""
    found = 0
    for _ in range(draws):
        column = SHAPES[shape](rng, (contestants, pairs))
        best = column[np.argmin(np.median(column, axis=-1))]
        how = {"comparisons": contestants - 1} if only_counted else {"best_of": contestants}
        found += bool(np.any(apart(column - best, **how)))
    return found / draws


def signed_rank(logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The interval of the signed-rank test for one comparison: from the means of all pairs of values."""
    n = logs.shape[-1]
    counts = np.array([1.0])
    for rank in range(1, n + 1):
        counts = np.convolve(counts, np.r_[1, np.zeros(rank - 1), 1])
    at = int(np.sum(np.cumsum(counts) / 2**n <= ERROR / 2))
    one, two = np.triu_indices(n)
    means = np.sort((logs[..., one] + logs[..., two]) / 2, axis=-1)
    return means[..., at - 1], means[..., -at]


def student(logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Student's interval, of the mean."""
    n = logs.shape[-1]
    half = logs.std(axis=-1, ddof=1) / n**0.5 * stats.t.ppf(1 - ERROR / 2, n - 1)
    return logs.mean(axis=-1) - half, logs.mean(axis=-1) + half


def bootstrap(logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """BCa, the corrected bootstrap of the median."""
    with np.errstate(all="ignore"):
        found = stats.bootstrap((logs,), np.median, axis=-1, n_resamples=999, batch=50, rng=SEED).confidence_interval
    return found.low, found.high


METHODS = {"sign test": claims.interval, "signed rank": signed_rank, "Student's t": student, "BCa": bootstrap}


def coverage(rng: Rng, method: str, shape: str, pairs: int, draws: int) -> float:
    """The share of intervals that hold the true median of the log ratio. A side with little scatter is compared with
    one of this shape, so that the ratios have it, too."""

    def ratios(size: tuple[int, ...]) -> np.ndarray:
        return SHAPES[shape](rng, size) - 0.1 * rng.normal(size=size)

    truth = np.median(ratios((1_000_000,)))
    low, high = METHODS[method](ratios((draws, pairs)))
    return float(np.mean((low <= truth) & (truth <= high)))


def power(rng: Rng, shift: float, pairs: int, comparisons: int, draws: int) -> float:
    """The share told apart of pairs whose log ratio has one hump and this median, in standard deviations."""
    return float(np.mean(apart(rng.normal(shift, 1, (draws, pairs)), comparisons)))


def percent(share: float) -> str:
    """A share as text."""
    return f"{100 * share:.1f} %"


def make(figure: Figure, work: object) -> dict[str, str]:
    rng = np.random.default_rng(SEED)
    draws = {one: FEW_DRAWS if one == "BCa" else DRAWS for one in METHODS}
    covered = [
        (shape, pairs, *(percent(coverage(rng, one, shape, pairs, draws[one])) for one in METHODS))
        for shape in SHAPES
        for pairs in (10, 20)
    ]  # fmt: skip
    equal = [
        (shape, *(percent(of_equal_pairs(rng, shape, pairs, DRAWS)) for pairs in PAIRS),
         *(percent(of_equal_columns(rng, shape, *one, COLUMN_DRAWS, only))
           for one in COLUMNS for only in (False, True)))
        for shape in SHAPES
    ]  # fmt: skip
    powers = [
        (many, pairs, *(percent(power(rng, shift, pairs, many, DRAWS)) for shift in SHIFTS))
        for many in (1, 10, 300)
        for pairs in PAIRS
        if pairs >= claims.needed(many)
    ]
    columns = [f"{text} of {many}, {pairs} pairs" for many, pairs in COLUMNS for text in ("any", "Holm: any")]
    return {
        "claims-coverage": table(("log ratios", "pairs", *METHODS), covered),
        "claims-equal": table(("log times", *(f"{pairs} pairs" for pairs in PAIRS), *columns), equal),
        "claims-power": table(("comparisons", "pairs", *(f"{shift:g} σ" for shift in SHIFTS)), powers),
    }
