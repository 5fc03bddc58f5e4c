"""Allocators: the plugin's log against the kernel's own counts, and the simulator against what theory says.

Judges: the kernel's /proc/buddyinfo and /proc/slabinfo of the same run; the mean waste of rounding, derived here; the
fifty-per-cent rule of Knuth, The Art of Computer Programming 1, 2.5; the slack of Barkley and Lee.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from lab import tidemark
from tidemark import errors
from tidemark.debug import allocator_claims, allocators
from tidemark.errors import LabError
from tidemark.machine.qemu import ROOT

MERGING = ("buddy", "Fibonacci buddy", "lazy buddy", "resource map")
OTHERS = ("McKusick-Karels", "Mach zones", "power of two", "slab")
UNIT, HEADER = 16, 4
RUN = ("--mem", "16M", "--swap", "sim:ssd")
SHELL = "thrash 6 2048 2 2000; cat /proc/buddyinfo /proc/slabinfo"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Contains the results `plain` and `logged` of the same run, the second with its allocations recorded."""
    place = tmp_path_factory.mktemp("alloc")
    ran = tidemark("run", *RUN, "-o", "plain", SHELL, cwd=place)
    logged = tidemark("alloc", "--record", *RUN, "-o", "logged", "--json", "--", SHELL, cwd=place)
    assert (ran.returncode, logged.returncode) == (errors.OK, errors.OK), ran.stderr + logged.stderr
    (place / "shown.json").write_text(logged.stdout)
    return place


@cache
def made(mode: str) -> allocators.Series:
    """The rows of a mode that needs no log."""
    return allocators.simulated(mode)


def table(text: str, first: str) -> list[list[str]]:
    """The words of the lines that begin with `first` or, if it is empty, of all lines."""
    return [line.split() for line in text.replace("\r", "").splitlines() if line.startswith(first)]


# --- the log, and the kernel's own counts ---


def test_recording_leaves_the_run_as_it_is(folder: Path) -> None:
    plain, logged = (folder / name / "telemetry.ndjson" for name in ("plain", "logged"))
    assert plain.read_bytes() == logged.read_bytes()


def test_replayed_buddy_and_slab_have_the_counts_of_the_kernel(folder: Path) -> None:
    """The run is short of memory, so slabs are reaped; each frame that the buddy returns has been compared, too."""
    console = (folder / "logged/console.log").read_text()
    replayed = allocators.output("check", folder / "logged" / allocators.LOG)
    zones = [words[4:] for words in table(console, "Node 0, zone")]
    assert zones == table(replayed.split("buddyinfo\n")[-1].split("slabinfo\n")[0], "")
    caches, computed = (text.split("slabinfo - version")[-1] for text in (console, replayed))
    assert "kmalloc-32" in caches
    of_kernel = [words for words in table(caches, "") if "slabdata" in words and words[0] != "#"]
    assert of_kernel == [words for words in table(computed, "") if "slabdata" in words and words[0] != "#"]


def test_frames_come_from_where_they_are_used(folder: Path) -> None:
    log = folder / "logged" / allocators.LOG
    assert "fault_anon" in [caller.name for caller in allocators.callers(log, "frames")]
    assert "vma_new" in [caller.name for caller in allocators.callers(log, "objects")]


def test_every_allocator_serves_the_whole_log(folder: Path) -> None:
    shown = json.loads((folder / "shown.json").read_text())
    for kind in allocators.KINDS:
        rows = shown[kind]
        assert {*MERGING, *OTHERS} <= rows.keys()
        assert {row["failed"] for row in rows.values()} == {0}
        assert len({row["asked"] for row in rows.values()}) == 1
        assert all(row["held"] >= row["asked"] for row in rows.values())


# --- closed forms of waste ---


def mean_waste(name: str, low: int, high: int, extra: int = 0) -> float:
    """The mean share of their blocks that requests with low < size + extra <= high waste."""
    rows = [row for row in made("waste")[name] if low < row["size"] + extra <= high]
    assert len(rows) == high - low
    return sum(1 - row["asked"] / row["granted"] for row in rows) / len(rows)


@pytest.mark.parametrize("k", range(5, 12))
@pytest.mark.parametrize("name", ["buddy", "lazy buddy", "McKusick-Karels"])
def test_rounding_up_to_powers_of_two_wastes_a_quarter(name: str, k: int) -> None:
    """Sizes uniform over (2^(k-1), 2^k] have the mean 3/4 2^k + 1/2: 1/4 - 2^-(k+1) of the block is lost."""
    assert mean_waste(name, 2 ** (k - 1), 2**k) == pytest.approx(1 / 4 - 2 ** -(k + 1), abs=1e-9)


@pytest.mark.parametrize("k", range(5, 12))
def test_header_costs_its_bytes_and_doubles_a_power_of_two(k: int) -> None:
    wasted = mean_waste("power of two", 2 ** (k - 1), 2**k, HEADER)
    assert wasted == pytest.approx(1 / 4 - 2 ** -(k + 1) + HEADER / 2**k, abs=1e-9)
    (row,) = (row for row in made("waste")["power of two"] if row["size"] == 2**k)
    assert row["granted"] == 2 * row["asked"]


def test_fibonacci_blocks_waste_what_their_ratio_says() -> None:
    """Sizes uniform over (F(k-1), F(k)] units of u bytes have the mean (F(k-1) + F(k) + 1 / u) u / 2."""
    for below, block in ((8, 13), (13, 21), (21, 34), (34, 55), (55, 89), (89, 144)):
        expected = 1 - (below + block + 1 / UNIT) / 2 / block
        assert mean_waste("Fibonacci buddy", below * UNIT, block * UNIT) == pytest.approx(expected, abs=1e-9)
    golden = (1 + 5**0.5) / 2
    assert expected == pytest.approx(1 / (2 * golden**2), abs=0.001)


@pytest.mark.parametrize("name", ["resource map", "Mach zones", "slab"])
def test_blocks_of_any_size_waste_less_than_a_unit(name: str) -> None:
    """On average (u - 1) / 2 bytes are lost in a block."""
    for row in made("waste")[name]:
        number = row["granted"] / (-(-row["size"] // UNIT) * UNIT)
        assert row["asked"] == row["size"] * number
    sizes = range(1, 4097)
    lost = [row["granted"] / (row["asked"] / row["size"]) - row["size"] for row in made("waste")[name]]
    assert len(lost) == len(sizes)
    assert sum(lost) / len(lost) == (UNIT - 1) / 2


# --- lists ---


def test_fifty_per_cent_rule_holds_for_first_fit() -> None:
    """With N blocks in use, a share p of which was not an exact fit, the list has p N / 2 areas in equilibrium."""
    for row in made("random")["resource map"]:
        if row["blocks"] >= 256:
            assert row["free"] / row["blocks"] == pytest.approx(row["split_share"] / 2, rel=0.03)


def test_only_the_resource_map_searches() -> None:
    rows = made("random")
    few, many = (rows["resource map"][at] for at in (0, -1))
    assert many["steps"] / few["steps"] > 0.5 * many["free"] / few["free"]
    for name in ("buddy", "Fibonacci buddy", "lazy buddy", "McKusick-Karels", "Mach zones", "power of two"):
        assert max(row["steps"] for row in rows[name]) < 2


# --- splits and merges ---


def test_binary_buddy_splits_by_the_zeros_of_the_number_of_blocks_held() -> None:
    """With n > 0 blocks in use, the lowest free block after them has 2^z blocks, z the zeros at the end of n: z splits
    and z merges for each pair."""
    for row in made("alternating")["buddy"][1:]:
        held = int(row["held"])
        zeros = (held & -held).bit_length() - 1
        assert (row["splits"], row["merges"]) == (zeros, zeros)


def test_lazy_buddy_neither_splits_nor_merges_on_alternating_traffic() -> None:
    """One block in use besides makes slack 2 when the pair's block is freed, so that it stays unmerged."""
    for row in made("alternating")["lazy buddy"][1:]:
        assert row["merges"] == 0
        assert row["splits"] < 0.01


# --- the claims on the guide's page ---


def test_page_has_the_computed_verdicts() -> None:
    page = (ROOT / "docs/guide/allocators.md").read_text()
    claims = allocator_claims.claims()
    assert {one.verdict for one in claims} == {"agrees", "differs"}
    for one in claims:
        assert f"| {one.claim} | {one.numbers} | **{one.verdict}** |" in page


# --- logs that cannot be used ---


GOOD = ["tidemark-alloc 1", "c 64 0 x", "a c0001000 40 0 f", "f c0001000 f"]


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([*GOOD], "is cut short after line 4"),
        ([*GOOD, "end 9"], "has 4 lines, and says it has 9"),
        (["tidemark-alloc 2", "end 1"], "is of version 2, this program reads version 1"),
        (["hello"], "is not a log of allocations"),
        ([*GOOD, "f c0001000 f", "end 5"], "line 5: c0001000 is freed, but was not allocated"),
        ([*GOOD[:3], GOOD[2], "end 4"], "line 4: c0001000 is allocated twice"),
        ([*GOOD[:2], "a c0001000 0 0 f", "end 3"], "line 3: an allocation of size 0"),
        ([*GOOD[:2], "b c0001000", "end 3"], "line 3 is not an event: b c0001000"),
    ],
)
def test_bad_log_is_named_in_a_sentence(tmp_path: Path, lines: list[str], says: str) -> None:
    log = tmp_path / allocators.LOG
    log.write_text("\n".join(lines) + "\n")
    with pytest.raises(LabError) as error:
        allocators.simulated("objects", log)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_result_without_a_log_is_refused(tmp_path: Path) -> None:
    refused = tidemark("alloc", "nothing", cwd=tmp_path)
    assert refused.returncode == errors.BAD_INPUT
    assert "has no alloc.log" in refused.stderr
