"""Claims about repeated runs: pairs, intervals, the number of replicates, and how often they err."""

from __future__ import annotations

import numpy as np
import pytest
from figures import claim_rates
from scipy import stats
from tidemark.runs import claims, replicates

pytestmark = pytest.mark.unbuilt


def runs(values: dict[int, float] | list[float]) -> dict[tuple[str, ...], float]:
    """Values of replicates 1, 2, ... or of those numbers, as a report has them."""
    numbered = values if isinstance(values, dict) else dict(enumerate(values, 1))
    return {("", "", "", str(number)): value for number, value in numbered.items()}


# --- one claim


def test_ratio_is_the_median_of_the_pairs_between_their_ranks() -> None:
    """Ten pairs: from the second least ratio to the second greatest, of 97.9 %."""
    claim = claims.of(runs([2.0] * 10), runs([2 * (1 + at / 10) for at in range(10)]))
    assert (claim.ratio, claim.low, claim.high) == pytest.approx(((1.4 * 1.5) ** 0.5, 1.1, 1.8))
    assert claim.told_apart and claim.told == "told apart, ×1.449 (×1.1 to ×1.8)"


def test_sides_are_compared_pair_by_pair() -> None:
    """What the draw does to both sides cancels: the ranges of these sides overlap almost entirely."""
    a = runs([10.0**at for at in range(7)])
    claim = claims.of(a, {key: 1.2 * value for key, value in reversed(a.items())})
    assert claim.told_apart and claim.low == pytest.approx(1.2) == claim.high


def test_runs_without_a_partner_are_left_out() -> None:
    a, b = runs({at: 1.0 for at in range(1, 9)}), runs({at: 2.0 for at in range(2, 12)})
    assert claims.of(a, b).pairs == 7
    assert claims.of(runs({1: 1.0}), runs({2: 1.0})) is None


@pytest.mark.parametrize("value", [0.0, -1.0])
def test_what_is_not_positive_has_no_ratio(value: float) -> None:
    assert claims.of(runs([1.0] * 9 + [value]), runs([1.0] * 10)) is None


@pytest.mark.parametrize(
    ("factor", "scatter", "verdict", "level"),
    [
        (1.0, 0.0, claims.IS_LEVEL, True),
        (1.05, 0.0, claims.TOLD_APART, True),
        (1.5, 0.3, claims.TOLD_APART, False),
        (1.0, 0.05, claims.IS_LEVEL, True),
        (1.0, 0.3, claims.NOT_KNOWN, False),
    ],
)
def test_verdicts(factor: float, scatter: float, verdict: str, level: bool) -> None:
    ratios = [factor * (1 + scatter * (-1) ** at) for at in range(10)]
    claim = claims.of(runs([1.0] * 10), runs(ratios))
    assert (claim.verdict, claim.level) == (verdict, level)
    assert (" by less than 10 %," in claim.told) == (verdict == claims.TOLD_APART and level)


def test_two_sides_change_places() -> None:
    a, b = runs([1.0, 2, 3, 4, 5, 6, 7]), runs([2.0, 3, 9, 5, 8, 9, 10])
    there, back = claims.of(a, b), claims.of(b, a)
    assert (1 / back.ratio, 1 / back.high, 1 / back.low) == pytest.approx((there.ratio, there.low, there.high))


# --- the number of replicates


@pytest.mark.parametrize(
    ("comparisons", "needed"), [(1, 6), (2, 7), (10, 9), (91, 12), (300, 14), (406, 14), (435, 15)]
)
def test_needed_is_the_least_number_that_can_tell_apart(comparisons: int, needed: int) -> None:
    assert claims.needed(comparisons) == needed
    assert claims.rank(needed, comparisons) == 1 and claims.rank(needed - 1, comparisons) == 0


@pytest.mark.parametrize("pairs", [1, 3, 5])
def test_too_few_make_no_claim_and_say_how_many_are_needed(pairs: int) -> None:
    claim = claims.of(runs([1.0] * pairs), runs([9.0] * pairs))
    assert claim.verdict == claims.NOT_KNOWN and claim.ratio == pytest.approx(9)
    assert claim.told == f"no claim: {pairs} replicate{'s' * (pairs > 1)}, and 6 are needed"


def test_more_comparisons_widen_the_interval() -> None:
    """An agreement that tells one pair apart does not among ten."""
    a, b = runs([1.0] * 9), runs([0.9, *[1.5] * 8])
    assert claims.of(a, b).told_apart and not claims.of(a, b, comparisons=10).told_apart


@pytest.mark.parametrize("pairs", [6, 7, 10, 15, 20, 31])
def test_interval_is_scipys_of_the_sign_test(pairs: int) -> None:
    logs = np.random.default_rng(3).normal(size=pairs)
    wanted = stats.quantile_test(logs, q=0, p=0.5).confidence_interval(0.95)
    assert claims.interval(logs) == (wanted.low, wanted.high)


# --- results that turn round


def by_size(smaller: float, larger: float, count: int = 10) -> dict[tuple[str, ...], float]:
    """Values of replicates: one for the smaller half of their sizes, another for the larger half."""
    numbers = sorted(range(1, count + 1), key=lambda number: replicates.draw(number).place)
    return runs({number: smaller if at < count // 2 else larger for at, number in enumerate(numbers)})


def test_result_whose_sign_follows_the_size_is_marked() -> None:
    claim = claims.of(runs([1.0] * 10), by_size(0.8, 1.3), sized=True)
    assert claim.turns and claim.told.endswith(", turns round within ±1 % of size")
    assert not claims.of(runs([1.0] * 10), by_size(0.8, 1.3)).turns, "the workload has no size that varies"
    assert not claims.of(runs([1.0] * 10), by_size(1.1, 1.3), sized=True).turns


def test_chance_marks_2_percent_of_ten_equal_pairs() -> None:
    """All 1,024 patterns of signs."""
    places = np.arange(10) / 10
    signs = [np.array([1 if pattern >> at & 1 else -1 for at in range(10)]) for pattern in range(1024)]
    marked = sum(claims.turns_round(one, places, bool(claim_rates.apart(one))) for one in signs)
    assert marked == 22


def test_claim_against_one_half_of_the_sizes_is_marked() -> None:
    """Of 30 pairs, 21 are larger: told apart. Among the smaller sizes most are not."""
    numbers = sorted(range(1, 31), key=lambda number: replicates.draw(number).place)
    b = runs({number: 0.9 if at < 9 else 1.4 for at, number in enumerate(numbers)})
    claim = claims.of(runs([1.0] * 30), b, sized=True)
    assert claim.told_apart and claim.turns


def test_results_of_old_sweeps_are_paired_by_jitter() -> None:
    a = {("", str(jitter), "", ""): 1.0 + jitter for jitter in range(6)}
    claim = claims.of(a, {key: 2 * value for key, value in a.items()}, sized=True)
    assert claim.told_apart and claim.pairs == 6 and not claim.turns


# --- how often they err; docs/reference/measuring.md has the numbers

DRAWS = [2_000, pytest.param(20_000, marks=pytest.mark.soak)]


def rng() -> np.random.Generator:
    return np.random.default_rng(claim_rates.SEED)


@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize("shape", claim_rates.SHAPES)
def test_equal_pairs_are_told_apart_in_at_most_5_percent(shape: str, draws: int) -> None:
    rates = [claim_rates.of_equal_pairs(rng(), shape, pairs, draws) for pairs in claim_rates.PAIRS]
    assert max(rates) <= claims.ERROR


@pytest.mark.parametrize(("contestants", "pairs"), [(2, 10), (5, 10), (10, 10), (14, 14), (25, 14)])
@pytest.mark.parametrize("draws", DRAWS)
def test_of_equal_contestants_any_is_told_apart_from_the_best_in_5_percent(
    contestants: int, pairs: int, draws: int
) -> None:
    """The limit of the sample is that of three standard deviations."""
    most = claims.ERROR + 3 * (claims.ERROR * (1 - claims.ERROR) / draws) ** 0.5
    for shape in claim_rates.SHAPES:
        assert claim_rates.of_equal_columns(rng(), shape, contestants, pairs, draws) <= most


def test_corrections_for_the_number_of_comparisons_alone_err_when_the_data_choose_the_best() -> None:
    assert claim_rates.of_equal_columns(rng(), "one hump", 25, 14, 1_000, only_counted=True) > 2 * claims.ERROR


def test_comparisons_with_the_best_need_fewer_replicates_than_all_pairs_and_more_than_they_count() -> None:
    for contestants in (3, 10, 25, 37):
        needed = claims.needed_of_best(contestants)
        assert claims.needed(contestants - 1) <= needed <= claims.needed(contestants * (contestants - 1) // 2)
        assert claims.rank_of_best(contestants, needed) and not claims.rank_of_best(contestants, needed - 1)


def test_simulated_errors_of_two_are_those_of_the_sign_test() -> None:
    """Which of two equal contestants is called the best changes no two-sided error."""
    errors = claims.errors_of_best(2, 10)
    assert errors == pytest.approx([2 * stats.binom.cdf(at, 10, 0.5) for at in range(5)], abs=0.02)


@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize("shape", claim_rates.SHAPES)
def test_interval_holds_the_true_median_in_at_least_93_percent(shape: str, draws: int) -> None:
    for pairs in (10, 20):
        assert claim_rates.coverage(rng(), "sign test", shape, pairs, draws) >= 0.93


def test_power_grows_with_the_difference_and_the_number_of_pairs() -> None:
    found = [[claim_rates.power(rng(), shift, pairs, 1, 2_000) for shift in (0.5, 1, 2)] for pairs in (6, 10, 20)]
    assert found == [sorted(row) for row in found] and found[1][2] > 0.9
    assert all(a < b for a, b in zip(found[0], found[2]))
