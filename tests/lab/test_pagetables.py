"""`tidemark pagetables`: TLBs beside LRU curves and simulations, tables beside the kernel's count and plain walks."""

from __future__ import annotations

import csv
import json
import re
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest
from batches import batches, fed, fresh_seed, in_order
from lab import skip_8_2, tidemark
from tidemark import errors
from tidemark.curves.lru import StackDistances
from tidemark.pagetables import chains
from tidemark.pagetables.structures import all_tables
from tidemark.pagetables.tlb import Tlb
from tidemark.trace import FILE_PAGE
from tidemark.trace.format import Writer

LOAD = 1
Pair = tuple[int, int]  # space and page


def told(trace: Path, *options: object, cwd: Path) -> dict:
    """What the command prints as JSON."""
    result = tidemark("pagetables", trace, "--json", "-q", *options, cwd=cwd)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def size_of(found: dict, name: str) -> int:
    """Bytes of one structure of a result."""
    return next(row["size"] for row in found["tables"] if row["name"] == name)


def write_trace(path: Path, pages: list[int], stores: tuple[int, ...] = ()) -> Path:
    """A trace of one load of each page."""
    with Writer(path, {"source": "test"}) as writer:
        columns = ([0] * len(pages), pages, [LOAD] * len(pages), [1] * len(pages), [1] * len(pages))
        writer.append(*(np.array(column, dtype) for column, dtype in zip(columns, ("u2", "u8", "u1", "u4", "u4"))))
        writer.close([{"space": 0, "name": "only"}], [{"store": one} for one in stores])
    return path


def drawn_pages(rng: np.random.Generator) -> list[Pair]:
    """Distinct pages of three spaces, in clusters of a 32-bit address space."""
    clusters = rng.integers(0, 1 << 20, 6)
    numbers = (rng.choice(clusters, 400) + rng.geometric(0.02, 400)) % (1 << 20)
    return list(dict.fromkeys(zip(rng.integers(0, 3, 400).tolist(), numbers.tolist())))


def columns(pairs: list[Pair]) -> tuple[np.ndarray, np.ndarray]:
    """The pages as the structures receive them."""
    spaces, pages = zip(*pairs)
    return np.array(spaces, np.uint16), np.array(pages, np.uint64)


# --- TLBs


def test_fully_associative_tlb_has_the_misses_of_lru() -> None:
    pages = np.minimum(np.random.default_rng(fresh_seed()).geometric(0.02, 20_000), 300)
    numbered = in_order(pages.tolist())
    tlb = Tlb(np.unique(numbered).astype(np.uint64), 1, 128)
    tlb.feed(numbered)
    depths = fed(StackDistances(), batches(pages.tolist())).depths()
    faults = depths.sum() - np.cumsum(depths[1:])
    assert [tlb.misses_with(ways) for ways in range(1, 129)] == faults[:128].tolist()


@pytest.mark.parametrize(("sets", "ways"), [(1, 1), (1, 7), (2, 3), (3, 4), (8, 2), (64, 1)])
def test_tlb_equals_plain_simulation(sets: int, ways: int) -> None:
    pages = np.minimum(np.random.default_rng(fresh_seed()).geometric(0.05, 5_000), 90)
    stacks: list[OrderedDict[int, None]] = [OrderedDict() for _ in range(sets)]
    misses = np.zeros(91, np.int64)
    for page in pages.tolist():
        held = stacks[page % sets]
        misses[page] += page not in held
        held[page] = None
        held.move_to_end(page)
        if len(held) > ways:
            held.popitem(last=False)
    tlb = Tlb(np.arange(91, dtype=np.uint64), sets, ways)
    for piece in np.array_split(pages.astype(np.int32), 7):
        tlb.feed(piece)
    assert np.array_equal(tlb.misses, misses) and tlb.misses_with(ways) == misses.sum()


# --- structures


def walk_of_levels(pairs: list[Pair], widths: tuple[int, ...]) -> int:
    """The number of tables of each level, times their entries, of nested dictionaries."""
    root: dict = {}
    for space, page in pairs:
        node, left = root.setdefault(space, {}), sum(widths)
        for width in widths[:-1]:
            left -= width
            node = node.setdefault(page >> left & (1 << width) - 1, {})

    def entries(node: dict, level: int) -> int:
        below = sum(entries(one, level + 1) for one in node.values())
        return (1 << widths[level]) + below

    return sum(entries(node, 0) for node in root.values())


@pytest.mark.parametrize(
    ("name", "widths", "entry"),
    [("two levels", (10, 10), 4), ("three levels", (2, 9, 9), 8), ("four levels", (9, 9, 9, 9), 8)],
)
def test_levels_equal_nested_dictionaries(name: str, widths: tuple[int, ...], entry: int) -> None:
    pairs = drawn_pages(np.random.default_rng(fresh_seed()))
    table = all_tables()[name](*columns(pairs))
    assert table.size == entry * walk_of_levels(pairs, widths)
    assert set(table.accesses.tolist()) == {len(widths)}


def test_hashed_walks_equal_linked_lists() -> None:
    """The cost of a walk is the page's place in its list; the inverted table adds its anchor."""
    pairs = drawn_pages(np.random.default_rng(fresh_seed()))
    spaces, pages = columns(pairs)
    bits = (len(pairs) - 1).bit_length()
    lists: dict[int, list[Pair]] = {}
    for pair in pairs:
        lists.setdefault(int(chains.slots(*columns([pair]), bits)[0]), []).append(pair)
    place = {pair: at for chain in lists.values() for at, pair in enumerate(chain, 1)}
    hashed, inverted = all_tables()["hashed"](spaces, pages), all_tables()["inverted"](spaces, pages)
    assert hashed.accesses.tolist() == [place[pair] for pair in pairs]
    assert inverted.accesses.tolist() == [1 + place[pair] for pair in pairs]
    assert hashed.size == 16 * ((1 << bits) + len(pairs) - len(lists)) and inverted.size == 20 << bits


@pytest.mark.parametrize(
    ("pages", "entries", "accesses"),
    [
        ([7], 1, [1]),  # a table of one entry
        ([0, 1, 2, 3], 4, [1] * 4),
        ([0, 1, 2, 3, 1 << 19], 4 + 4, [2] * 4 + [1]),  # two of four entries are used; a lonely page ends at the top
        ([0x80000, 0x80001, 0x80002], 4, [1] * 3),  # equal upper bits are skipped
        ([0, 1, 2, 3, 4, 5, 6, 7, 64], 4 + 8, [2] * 8 + [1]),
    ],
)
def test_variable_radix_fits_the_pages(pages: list[int], entries: int, accesses: list[int]) -> None:
    table = all_tables()["variable radix"](*columns([(0, page) for page in pages]))
    assert (table.size, table.accesses.tolist()) == (8 * entries, accesses)


def test_variable_radix_has_one_top_table_for_each_space() -> None:
    table = all_tables()["variable radix"](*columns([(1, 5), (0, 3), (1, 4), (0, 2)]))
    assert (table.size, table.accesses.tolist()) == (8 * 4, [1] * 4)


def test_large_pages_need_only_the_directory(tmp_path: Path) -> None:
    found = told(write_trace(tmp_path / "t.tmt", [0, 1, 1023, 1024]), cwd=tmp_path)
    row = next(row for row in found["tables"] if row["name"] == "4 MiB pages")
    assert (row["size"], row["hold"], row["misses"], row["accesses"]) == (4096, 8 << 20, 2, 2)


def test_cycles_are_those_of_the_formula(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "t.tmt", [0, 1, 0, 1])
    found = told(trace, "--entries", 1, "--ways", 1, "--access", 7, "--trap", 1000, cwd=tmp_path)
    row = next(row for row in found["tables"] if row["name"] == "three levels")
    assert (row["misses"], row["accesses"], row["hardware_cycles"], row["software_cycles"]) == (4, 12, 84, 4084)


# --- beside what the kernel counts, and `tidemark curves`


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording while whose hog sleeps the kernel shows its counts."""
    folder = tmp_path_factory.mktemp("recorded")
    guest = "sh -c 'hog 9000 5 & sleep 2; cat /proc/meminfo; cat /proc/6/status; wait'"
    result = tidemark("trace", "record", "-q", "-o", folder / "run", guest, cwd=folder)
    assert result.returncode == 0, result.stderr
    return folder / "run"


def counted(recorded: Path, name: str) -> int:
    """A number of bytes on the console."""
    return 1024 * int(re.findall(rf"{name}:\s*(\d+) kB", (recorded / "console.log").read_text())[-1])


def test_two_levels_are_the_kernel_s_page_tables(recorded: Path) -> None:
    """VmPTE leaves out the directory. PageTables is the sum over the processes alive when `cat` reads it."""
    skip_8_2()
    found = told(recorded / "trace.tmt", "--space", "hog", cwd=recorded)
    assert size_of(found, "two levels") - 4096 == counted(recorded, "VmPTE")

    spaces = tidemark("trace", "info", recorded / "trace.tmt", "--json", cwd=recorded)
    rows = json.loads(spaces.stdout)["spaces"]
    last = {row["pid"]: row["space"] for row in rows}
    cat = next(row["pid"] for row in rows if row["name"] == "cat")
    alive = [last[pid] for pid in (1, 4, 5, 6, cat)]
    sizes = [size_of(told(recorded / "trace.tmt", "--space", space, cwd=recorded), "two levels") for space in alive]
    assert sum(sizes) == counted(recorded, "PageTables")


def test_fully_associative_tlb_is_the_lru_curve(recorded: Path) -> None:
    options = ("--space", "hog")
    found = told(recorded / "trace.tmt", *options, cwd=recorded)
    drawn = tidemark("curves", recorded / "trace.tmt", *options, "-q", "-o", recorded / "curves", cwd=recorded)
    assert drawn.returncode == 0, drawn.stderr
    with open(recorded / "curves/curve-lru.csv") as file:
        faults = {int(float(row["mean_resident_pages"])): int(row["faults"]) for row in csv.DictReader(file)}
    full = {
        row["entries"]: row["misses"]
        for row in found["tlb"]
        if row["page_bytes"] == 4096 and row["ways"] == row["entries"]
    }
    assert len(full) == 7 and full == {entries: faults[entries] for entries in full}


def test_figures_are_written(recorded: Path) -> None:
    result = tidemark("pagetables", recorded / "trace.tmt", "-q", "-o", recorded / "figures", cwd=recorded)
    assert "two levels" in result.stdout and "4 MiB pages" in result.stdout
    names = {path.name for path in (recorded / "figures").iterdir()}
    assert names == {f"{name}.{suffix}" for name in ("tlb-misses", "page-tables") for suffix in ("svg", "png", "csv")}


# --- bad input


def test_tlbs_that_cannot_be_are_refused_in_a_sentence(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "t.tmt", [1])
    for options, said in (
        (("--entries", 0), "a TLB has at least one entry and one way"),
        (("--ways", 0), "a TLB has at least one entry and one way"),
        (("--entries", 10, "--ways", 4), "the entries must be a multiple of the ways"),
    ):
        result = tidemark("pagetables", trace, *options, cwd=tmp_path)
        assert result.returncode == errors.USAGE and result.stderr.strip().endswith(said)
        assert result.stderr.count("\n") == 1


def test_pages_of_files_have_no_address(tmp_path: Path) -> None:
    mixed = write_trace(tmp_path / "mixed.tmt", [1, FILE_PAGE | 300 << 20, 2], (300,))
    assert told(mixed, cwd=tmp_path)["pages"] == 2
    only = write_trace(tmp_path / "only.tmt", [FILE_PAGE | 300 << 20], (300,))
    result = tidemark("pagetables", only, cwd=tmp_path)
    assert result.returncode == errors.USAGE and "no reference has an address" in result.stderr
    assert result.stderr.count("\n") == 1


def test_structures_with_short_addresses_are_named(tmp_path: Path) -> None:
    found = told(write_trace(tmp_path / "t.tmt", [1, 1 << 30]), cwd=tmp_path)
    assert found["too_short"] == ["two levels", "three levels", "4 MiB pages"]
    assert [row["name"] for row in found["tables"]] == ["hashed", "inverted", "four levels", "variable radix"]
