"""`tidemark contention`: the sections that are recorded, and the replay beside the machine-repairman model."""

from __future__ import annotations

import json
import re
from math import factorial
from pathlib import Path

import numpy as np
import pytest
from batches import fresh_seed
from lab import tidemark
from tidemark import errors
from tidemark.contention.record import Sections, sections
from tidemark.contention.replay import replay
from tidemark.errors import LabError

NR = 200_000
ERROR = 0.03  # the spread over seeds is at most 0.005


def repairman_wait(nr: int, think: float, hold: float) -> float:
    """The mean wait in M/M/1//n: from P0 the throughput, from that the response time (Jain 1991, 31)."""
    idle = 1 / sum(factorial(nr) / factorial(nr - k) * (hold / think) ** k for k in range(nr + 1))
    throughput = (1 - idle) / hold
    return nr / throughput - think - hold


@pytest.mark.parametrize(("nr", "think", "hold"), [(2, 1000, 500), (4, 1000, 200), (8, 5000, 500), (16, 1000, 100)])
def test_exponential_times_wait_as_in_the_closed_form(nr: int, think: int, hold: int) -> None:
    rng = np.random.default_rng(fresh_seed())
    drawn = Sections(*(np.rint(rng.exponential(mean, NR)).astype(np.int64) for mean in (think, hold)))
    found = replay(drawn, nr).per_section
    assert found == pytest.approx(repairman_wait(nr, think, hold), rel=ERROR)


def test_one_processor_never_waits() -> None:
    rng = np.random.default_rng(fresh_seed())
    drawn = Sections(rng.integers(0, 9, 1000), rng.integers(1, 9, 1000))
    found = replay(drawn, 1)
    assert (found.waited, found.sections) == (0, 1000)
    assert found.worked == drawn.thinks.sum() + drawn.holds.sum()


def test_waits_by_hand() -> None:
    """Two processors: one starts with think 1, hold 4, the other with think 2, hold 3; then each does the other's."""
    found = replay(Sections(np.array([1, 2]), np.array([4, 3])), 2)
    # 0 holds 1-5; 1 arrives at 2, waits 3, holds 5-8; 0 arrives at 7, waits 1, holds 8-11; 1 arrives at 9, waits 2
    assert (found.waited, found.sections, found.worked) == (6, 4, 20)


def test_calls_within_a_call_of_the_lists_are_one_section() -> None:
    text = "0 10 15\n1 40 45\n0 60 65\n0 70 75\n2 58 80\n3 90 95\nend 100\n"
    found = sections(text)
    assert found.thinks.tolist() == [25, 25, 15] and found.holds.tolist() == [5, 5, 15]


@pytest.mark.parametrize("text", ["", "0 10 15\n", "end 100\n"])
def test_a_file_cut_short_or_empty_is_refused(text: str) -> None:
    with pytest.raises(LabError):
        sections(text)


@pytest.mark.parametrize("given", ["0", "1,0", "-1", "two", ""])
def test_no_processors_are_refused_in_a_sentence(given: str, tmp_path: Path) -> None:
    result = tidemark("contention", f"--processors={given}", "true", cwd=tmp_path)
    assert result.returncode == errors.USAGE and result.stderr.count("\n") == 1
    assert "give numbers of at least 1" in result.stderr
    with pytest.raises(LabError, match="at least one"):
        replay(Sections(np.array([1]), np.array([1])), 0)


def test_a_run_is_recorded_without_and_with_lists(tmp_path: Path) -> None:
    """The kernel's own counts say how many blocks went through the buddy: without lists, each is a section."""
    guest = "sh -c 'cat /proc/vmstat; hog 4096 1; cat /proc/vmstat'"
    result = tidemark("contention", guest, "-n", "1,4", "--json", "-q", "-o", tmp_path / "out", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    plain, lists = json.loads(result.stdout)["recordings"]
    assert [one["replays"][0]["mean_wait"] for one in (plain, lists)] == [0, 0]
    assert plain["replays"][1]["mean_wait"] > 0
    console = (tmp_path / "out/without-lists/console.log").read_text()
    counts = [[int(nr) for nr in re.findall(rf"{name} (\d+)", console)] for name in ("pgalloc", "pgfree")]
    between, until = sum(after - before for before, after in counts), sum(after for _, after in counts)
    assert between > 2000
    lines = (tmp_path / "out/without-lists/holds.txt").read_text().splitlines()
    assert len(lines) - 1 == plain["sections"] and 0.9 * between < plain["sections"] < 1.1 * until
    assert lists["sections"] < plain["sections"] / 20
    assert (tmp_path / "out/contention.svg").exists()
