"""Claims: what repeated runs of two sides, A and B, say about the ratio of B over A. All reports use this definition.

The sides are compared pair by pair: repetition r of A with repetition r of B, which had the same draw
(tidemark.runs.replicates), so that what the draw does to both cancels. The estimate is the median of the ratios of the
pairs. Its interval goes from the k-th least to the k-th greatest ratio. Each ratio is as often below the true median as
above it, so the number below has a binomial distribution, and k follows from it alone: the interval of the sign test
(W. R. Thompson, "On confidence ranges for the median", Annals of Mathematical Statistics 7(3), 1936). It supposes
nothing about the distribution. A machine that pages needs that: it falls into one of a few courses of events, the
ratios have several humps, and there the intervals of the signed-rank test, of Student's t and of the bootstrap are too
narrow (the table in docs/reference/measuring.md). The price is a greater number of pairs.

    told apart   the interval excludes 1
    level        it lies within 0.9 to 1.1; a ratio can be told apart and level, if the difference is small
    not known    neither

All intervals of one statement hold together with 95 %: with m comparisons each has an error of 5 % / m (Bonferroni's
inequality, which needs no independence). Two-sided, n pairs cannot have an error below 2 / 2^n: with fewer than
`needed` there is no claim.

If contestants are compared with the best of them, the same runs choose the best: it was lucky, and the others look
slower than they are. Corrections for the number of comparisons alone (Bonferroni's, or Holm's) then err too often: with
25 equal contestants and 14 pairs in 14 % of columns. Corrections for all pairs of contestants err too seldom, and need
more replicates. So k comes from a simulation of equal contestants (`rank_of_best`): the narrowest intervals with which
at most 5 % of columns have any contestant told apart from the best. As it counts signs, it hardly depends on the
distribution of times; it is drawn from one with long tails, with which errors are most frequent.

A result turns round within the sizes if the median of the smaller half of the drawn sizes and that of the larger half
lie on different sides of 1, and either the claim is told apart, or the sign depends on the half by Fisher's exact test
(5 %).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from tidemark.runs import replicates

ERROR = 0.05
SEED, DRAWS, BLOCKS = 1, 8_000, 16
LEVEL = (0.9, 1.1)
TOLD_APART, IS_LEVEL, NOT_KNOWN = "told apart", "level", "not known"

Values = Mapping[tuple[str, ...], float]  # by the values of replicates.REPETITION


@dataclass(frozen=True)
class Claim:
    """What the pairs say about B over A. `low` and `high` are 0 and infinity if there are fewer pairs than `needed`;
    `turns`: the result turns round within the drawn sizes."""

    ratio: float
    low: float
    high: float
    pairs: int
    needed: int
    turns: bool = False

    @property
    def told_apart(self) -> bool:
        """Does the interval exclude 1?"""
        return not self.low <= 1 <= self.high

    @property
    def level(self) -> bool:
        """Does the interval lie within LEVEL?"""
        return LEVEL[0] <= self.low and self.high <= LEVEL[1]

    @property
    def verdict(self) -> str:
        """One of the three."""
        return TOLD_APART if self.told_apart else IS_LEVEL if self.level else NOT_KNOWN

    @property
    def too_few(self) -> str:
        """Why there is no claim, with the number of pairs that it needs; empty if there are enough."""
        have = "1 replicate" if self.pairs == 1 else f"{self.pairs} replicates"
        return f"no claim: {have}, and {self.needed} are needed" if self.pairs < self.needed else ""

    @property
    def told(self) -> str:
        """The claim in words: `told apart, ×1.321 (×1.1 to ×1.604)`."""
        small = " by less than 10 %" if self.told_apart and self.level else ""
        said = self.too_few or f"{self.verdict}{small}, ×{self.ratio:.4g} (×{self.low:.4g} to ×{self.high:.4g})"
        return said + (", turns round within ±1 % of size" if self.turns else "")


def needed(comparisons: int) -> int:
    """The least number of pairs with which anything can be told apart: 2 / 2^n ≤ ERROR / comparisons."""
    return math.ceil(1 + math.log2(comparisons / ERROR))


@cache
def rank(pairs: int, comparisons: int) -> int:
    """The interval goes from this rank to the same rank from above; 0: not even the extremes are far enough apart."""
    from scipy.stats import binom  # type: ignore[import-untyped]  # it has no types

    return int(np.sum(binom.cdf(np.arange(pairs // 2), pairs, 0.5) <= ERROR / 2 / comparisons))


def errors_of_best(contestants: int, pairs: int) -> np.ndarray:
    """By simulation, float64[pairs // 2]: how often, among equal contestants, any is told apart from the one with the
    least median, with intervals from rank 1, 2, ... on."""
    rng, counts = np.random.default_rng(SEED), np.zeros(pairs // 2)
    for _ in range(BLOCKS):
        logs = rng.standard_t(2, size=(DRAWS // BLOCKS, contestants, pairs))
        best = np.argmin(np.median(logs, axis=-1), axis=-1)[:, None, None]
        above = np.sum(logs > np.take_along_axis(logs, best, axis=1), axis=-1)
        rarer = np.minimum(above, pairs - above)
        np.put_along_axis(rarer, best[..., 0], pairs, axis=1)
        counts += [np.sum(rarer.min(axis=-1) < at) for at in range(1, pairs // 2 + 1)]
    return counts / DRAWS


@cache
def rank_of_best(contestants: int, pairs: int) -> int:
    """As `rank`, for the comparisons of contestants with the best of them."""
    if contestants < 2 or not rank(pairs, contestants - 1):
        return 0
    return int(np.sum(errors_of_best(contestants, pairs) <= ERROR))


@cache
def needed_of_best(contestants: int) -> int:
    """As `needed`, for the comparisons of contestants with the best of them."""
    pairs = needed(max(contestants - 1, 1))
    while not rank_of_best(contestants, pairs):
        pairs += 1
    return pairs


def interval(logs: np.ndarray, comparisons: int = 1, best_of: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the interval for the median of logs of ratios, float64[..., pairs]: two float64[...]. It is one of
    some `comparisons`; or, with `best_of`, one with the best of this number of contestants."""
    pairs = logs.shape[-1]
    at = rank_of_best(best_of, pairs) if best_of else rank(pairs, comparisons)
    if not at:
        return np.full(logs.shape[:-1], -np.inf), np.full(logs.shape[:-1], np.inf)
    ascending = np.sort(logs, axis=-1)
    return ascending[..., at - 1], ascending[..., -at]


def turns_round(logs: np.ndarray, places: np.ndarray, told_apart: bool) -> bool:
    """Does the sign depend on the size? `places` are those of the sizes (replicates.Draw)."""
    from scipy.stats import fisher_exact

    order = np.argsort(places, kind="stable")
    halves = logs[order[: len(order) // 2]], logs[order[-(len(order) // 2) :]]
    if len(logs) < 2 or np.median(halves[0]) * np.median(halves[1]) >= 0:
        return False
    return told_apart or fisher_exact([[np.sum(half > 0), np.sum(half < 0)] for half in halves]).pvalue <= ERROR


def of(a: Values, b: Values, comparisons: int = 1, sized: bool = False, best_of: int = 0) -> Claim | None:
    """The claim about B over A, one of several `comparisons`; or, with `best_of`, over A as the best of this number of
    contestants. `sized`: the replicates vary the size of the workload. None without pairs, or if a value is not
    positive, so that there is no ratio."""
    both = [key for key in a if key in b]
    if not both or min(min(a[key], b[key]) for key in both) <= 0:
        return None
    logs = np.log([b[key] / a[key] for key in both])
    low, high = interval(logs, comparisons, best_of)
    turns, least = False, needed_of_best(best_of) if best_of else needed(comparisons)
    if sized and all(key[-1] for key in both):
        places = np.array([replicates.draw(int(key[-1])).place for key in both])
        turns = turns_round(logs, places, not low <= 0 <= high)
    return Claim(math.exp(np.median(logs)), math.exp(low), math.exp(high), len(both), least, turns)
