"""The field guide: each policy and guard of the reference has a page and a picture, which the script draws."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from figures import policies
from tidemark.strings import compare, vmsim, worst

ROOT = Path(__file__).resolve().parents[2]
PAGES, PICTURES = ROOT / "docs/guide/policies", ROOT / "docs/figures/policies"
REFERENCE = (ROOT / "docs/reference/policies.md").read_text()
LONGEST, LARGEST = 80, 40_000
CHEAP = "fifo"
YARDSTICKS = {"min", "vmin"}  # policies that a real kernel cannot have; min is in every picture


def section(title: str) -> str:
    return REFERENCE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def named_policies() -> set[str]:
    return set(re.findall(r"^\| `(\w+)` \|", section("The policies, all of them"), re.MULTILINE)) - YARDSTICKS


def named_guards() -> set[str]:
    names = re.findall(r"^\*\*(\w+)(?: … \w+)?\*\*\.", section("Guards"), re.MULTILINE)
    return {"mc" if name.startswith("mc") else name for name in names}


def test_names_are_found() -> None:
    assert {"2q", "fifo", "mglru"} <= named_policies() and {"token", "prefetch", "mc"} <= named_guards()


def test_each_has_its_page_and_its_picture() -> None:
    names = named_policies() | named_guards()
    assert names <= {path.stem for path in PAGES.glob("*.md")}
    assert names <= {path.stem for path in PICTURES.glob("*.svg")}
    for name in names:
        page = (PAGES / f"{name}.md").read_text()
        assert f"(../../figures/policies/{name}.svg)" in page and len(page.splitlines()) <= LONGEST, name
        assert (PICTURES / f"{name}.svg").stat().st_size < LARGEST, name


def test_index_lists_every_page() -> None:
    index = (PAGES / "README.md").read_text()
    assert [path.name for path in sorted(PAGES.glob("*.md")) if f"({path.name})" not in index] == ["README.md"]


def test_every_mc_guard_is_on_its_page() -> None:
    files = {path.stem for path in (ROOT / "kernel/mm/guard").glob("mc*.c") if not path.stem.endswith("_test")}
    page = (PAGES / "mc.md").read_text()
    assert files and {name for name in files if f"| `{name}` |" not in page} == set()


def test_picture_is_what_the_script_draws() -> None:
    assert (PICTURES / f"{CHEAP}.svg").read_text() == policies.drawn(CHEAP), (
        f"`make figures FIGURES=policy-{CHEAP}` draws it again"
    )


def test_row_is_what_the_simulator_counts() -> None:
    string = policies.dead_pages()
    counted = vmsim.run(vmsim.build(CHEAP, fast=True), string, policies.LONG["dead"]).faults
    assert re.search(rf"^\| `dead` \| 100 \| {counted:,} \|", (PAGES / f"{CHEAP}.md").read_text(), re.MULTILINE)


@pytest.mark.soak
def test_yardsticks_count_as_the_curves_do() -> None:
    pages = policies.short_string()
    known = compare.bounds(policies.Given("short", np.array(pages, np.uint32)), [policies.FRAMES])
    hits = policies.yardsticks(pages)
    assert {who: [len(pages) - sum(row)] for who, row in hits.items()} == known


@pytest.mark.parametrize(
    ("resident", "stays"),
    [
        ([{1}, {1, 2}, {2}], [(1, 0, 2), (2, 1, 3)]),
        ([{1}, set(), {1}], [(1, 0, 1), (1, 2, 3)]),
    ],
)
def test_stays_in_memory_are_told_apart(resident: list[set[int]], stays: list[tuple[int, int, int]]) -> None:
    assert sorted(policies.stays_of(resident)) == stays


def test_first_use_and_return_are_told_apart() -> None:
    results = ["fault", "hit", "fault", "fault"]
    assert policies.events_of([1, 1, 2, 1], results) == ["first", "hit", "first", "again"]


def failures() -> list[tuple[str, str, tuple[int, ...], int, int]]:
    """The table of strings on which one policy fails: A, B, string, faults of both."""
    text = (PAGES / "README.md").read_text()
    row = re.compile(r"^\| `(\w+)` \| `?(\w+)`? \| `([\d ]+)` \| (\d+), (\d+) \| \S.*\. \|$", re.M)
    return [(a, b, tuple(map(int, string.split())), int(x), int(y)) for a, b, string, x, y in row.findall(text)]


def test_ten_strings_on_which_a_policy_fails() -> None:
    assert len(failures()) == 10


@pytest.mark.parametrize("failure", failures(), ids=lambda failure: f"{failure[0]}-{failure[1]}")
def test_policies_fail_where_the_guide_says(failure: tuple[str, str, tuple[int, ...], int, int]) -> None:
    a, b, string, *faults = failure
    assert [worst.counter(name, 3, ())([string])[0] for name in (a, b)] == faults


@pytest.mark.soak
@pytest.mark.parametrize("failure", failures(), ids=lambda failure: f"{failure[0]}-{failure[1]}")
def test_the_search_finds_the_strings_of_the_guide(failure: tuple[str, str, tuple[int, ...], int, int]) -> None:
    a, b, string, *_ = failure
    assert worst.search(a, b, 3, 12000, longest=12).string == string
