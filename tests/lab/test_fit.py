"""The fit of turnaround against memory, T = k / M^p + c."""

from __future__ import annotations

import numpy as np
import pytest
from tidemark.report import fit

pytestmark = pytest.mark.unbuilt

SIZES = np.array([16, 18, 20, 22, 24, 28, 32, 40], float)


def test_fit_recovers_k_and_c_of_the_fourth_power() -> None:
    found = fit.fixed(SIZES, 3e5 / SIZES**4 + 2)
    assert (found.k, found.c, found.r2) == (pytest.approx(3e5), pytest.approx(2), pytest.approx(1))


def test_fit_recovers_a_free_exponent() -> None:
    found = fit.free(SIZES, 700 / SIZES**2.5 + 1)
    assert (found.exponent, found.k, found.c) == (pytest.approx(2.5), pytest.approx(700), pytest.approx(1))
    assert found.low <= found.exponent <= found.high


@pytest.mark.soak
def test_interval_holds_the_true_exponent_as_often_as_it_says() -> None:
    random = np.random.default_rng(4)
    held = 0
    for _ in range(80):
        found = fit.free(SIZES, 2e5 / SIZES**4 + 3 + random.normal(0, 0.05, len(SIZES)))
        held += (found.low or 0) <= 4 <= (found.high or np.inf)
    assert held >= 71


def test_interval_ends_where_the_sum_of_squares_passes_its_limit() -> None:
    turnaround = 2e5 / SIZES**4 + 3 + 0.05 * np.cos(np.arange(len(SIZES)))
    found = fit.free(SIZES, turnaround)
    limit = fit.residual(SIZES, turnaround, found.exponent) * (1 + 2.570582**2 / 5)
    for end in (found.low, found.high):
        assert fit.residual(SIZES, turnaround, end) == pytest.approx(limit, rel=1e-6)


def test_interval_is_open_where_the_data_do_not_bound_it() -> None:
    """The whole decrease is before the second size: any steeper curve fits as well."""
    found = fit.free(SIZES, np.array([5, 1, 1, 1, 1, 1.01, 0.99, 1]))
    assert found.high is None and found.low is not None


@pytest.mark.parametrize("freedom, quantile", [(1, 12.7062), (2, 4.30265), (5, 2.57058), (30, 2.04227)])
def test_students_quantiles_are_those_of_the_tables(freedom: int, quantile: float) -> None:
    assert fit.student_quantile(0.975, freedom) == pytest.approx(quantile, rel=1e-5)


def test_repetitions_count_once() -> None:
    sizes, medians = fit.medians([16, 24, 16, 24, 24], [1, 5, 3, 6, 70])
    assert sizes.tolist() == [16, 24] and medians.tolist() == [2, 6]


@pytest.mark.parametrize(
    "turnaround, said", [([3, 2, 1], "more than 3 memory sizes"), ([2, 2, 2, 2], "is the same at every")]
)
def test_no_exponent_is_made_up(turnaround: list[float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        fit.free(SIZES[: len(turnaround)], np.array(turnaround, float))
