"""Δ as a sum, Γ and γ: the printed text, and the parts of the bars."""

from __future__ import annotations

import pytest
from tidemark.report import quantities
from tidemark.report.plots.runs import SPACE_TIME
from tidemark.runs import summary
from tidemark.telemetry.stream import Telemetry

pytestmark = pytest.mark.unbuilt


def ended() -> dict:
    """An exit record in which everything is 0."""
    names = ("status", "turnaround_us", "minflt", "majflt", "mean_rss", "max_rss", "c_b", "c_d", "delta", "fault_rss")
    lists = {"us": [0] * 6, "page_ms": [0] * 6, "delta_terms": dict.fromkeys(summary.TERMS, 0)}
    return {"pid": 5, "comm": "x", "housekeeping": 0, **dict.fromkeys(names, 0), **lists}


def test_gamma_is_given_from_thirty_major_faults_on_and_the_sum_always() -> None:
    of = {majflt: ended() | {"majflt": majflt, "housekeeping": 70_000, "fault_rss": 100} for majflt in (29, 30)}
    assert summary.gamma_us(of[29]) is None and summary.gamma_us(of[30]) == 700
    assert summary.gamma([of[29]]) == "Γ 0.070 page-s; γ: too few major faults (29; 30 are needed)"
    assert summary.gamma([of[30], of[29]]) == "Γ 0.140 page-s; γ 700.0 µs, of 59 major faults"


def test_delta_is_told_as_a_sum_that_adds_up() -> None:
    terms = {"housekeeping": 1_000, "ready": 0, "minor_wait": 2_500, "admission": 40, "sleep": 7, "rss_change": -9_000}
    one = ended() | {"delta": sum(terms.values()), "delta_terms": dict.fromkeys(summary.TERMS, 0) | terms}
    said = (
        "Δ −10.906 page-s = housekeeping Γ 2.000 + waits of minor faults 5.000 + admission 0.080 + other sleep 0.014 "
        "− change of RSS in waits of major faults 18.000"
    )
    assert summary.delta([one, one]) == said
    assert summary.delta([]) == "Δ 0.000 page-s = 0"


def test_waits_of_minor_faults_have_a_part_of_the_bar() -> None:
    record = ended() | {"c_b": 60, "page_ms": [10, 10, 10, 10, 10, 10]}
    record["delta_terms"] |= {"minor_wait": 4}
    [row] = quantities.space_time(Telemetry({"ev": "start", "t_us": 0}, exits=[record]))
    assert (row["pagewait_page_s"], row["minor_wait_page_s"]) == (0.006, 0.004)
    assert sum(row[line.column] for line in SPACE_TIME.lines) == pytest.approx(row["c_b_page_s"])
