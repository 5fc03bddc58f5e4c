"""Shared by long proofs: a failure is shortened, and what has passed is not tried again."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from progress import Tried
from shrink import shrink, smaller
from tidemark.machine import qemu

PATHS = {**os.environ, "PYTHONPATH": f"{qemu.ROOT}/tools:{qemu.ROOT}/tests/support"}


def test_one_culprit_is_found_in_few_trials() -> None:
    tried: list[list[int]] = []

    def fails(items: list[int]) -> bool:
        tried.append(items)
        return 700 in items

    assert shrink(list(range(1000)), fails) == [700]
    assert len(tried) < 40


@pytest.mark.parametrize("seed", range(5))
def test_no_item_of_what_is_left_can_go(seed: int) -> None:
    """A list fails if it contains any of some sets, so that there are several answers; the order is kept."""
    rng = random.Random(seed)
    culprits = [set(rng.sample(range(60), rng.randint(1, 6))) for _ in range(4)]

    def fails(items: list[int]) -> bool:
        return any(some <= set(items) for some in culprits)

    left = shrink(list(range(60)), fails)
    assert left == sorted(left) and fails(left)
    assert not any(fails(list(fewer)) for fewer in itertools.combinations(left, len(left) - 1))


def test_what_fails_without_anything() -> None:
    assert shrink([1, 2, 3], lambda items: True) == []
    assert shrink([1], lambda items: bool(items)) == [1]


def test_all_are_needed() -> None:
    assert shrink([3, 1, 2], lambda items: items == [3, 1, 2]) == [3, 1, 2]


@pytest.mark.parametrize("least", [0, 1, 63, 64, 100])
def test_smallest_number(least: int) -> None:
    tried: list[int] = []

    def fails(value: int) -> bool:
        tried.append(value)
        return value >= least

    assert smaller(100, fails, low=0) == least
    assert smaller(100, fails, low=least) == least
    assert min(tried, default=0) >= 0 and 100 not in tried


def test_goes_on_where_it_was(tmp_path: Path) -> None:
    first = Tried("proof", "image 1", tmp_path / "soak")
    assert not first.done("a b")
    first.add("a b")
    first.add(7)
    again = Tried("proof", "image 1", tmp_path / "soak")
    assert again.done("a b") and again.done(7) and not again.done("a")


def test_another_image_begins_anew(tmp_path: Path) -> None:
    Tried("proof", "image 1", tmp_path).add("a")
    other = Tried("proof", "image 2", tmp_path)
    assert not other.done("a")
    other.add("b")
    assert Tried("proof", "image 2", tmp_path).passed == {"b"}
    assert not Tried("proof", "image 1", tmp_path).passed


def test_two_at_a_time(tmp_path: Path) -> None:
    one, two = Tried("proof", "image 1", tmp_path), Tried("proof", "image 1", tmp_path)
    one.add("a")
    two.add("b")
    assert Tried("proof", "image 1", tmp_path).passed == {"a", "b"}


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    """A file may not grow beyond a limit: of a line that does not fit, nothing is written."""
    script = (
        "import resource, signal, sys; from pathlib import Path; from progress import Tried\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))\n"
        "tried = Tried('proof', 'image 1', Path(sys.argv[1])); tried.add('a'); tried.add('x' * 20)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], env=PATHS, capture_output=True, text=True)
    assert "OSError" in done.stderr
    assert (tmp_path / "proof").read_text() == "image 1\na\n"
