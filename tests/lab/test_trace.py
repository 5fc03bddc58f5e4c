"""The trace file: what was written can be read, in any language, and truncated or damaged files are refused."""

from __future__ import annotations

import json
import random
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from lab import tidemark
from tidemark import errors
from tidemark.machine import qemu
from tidemark.trace import ALL_KINDS, KINDS, MAX_COUNT, format, pages
from tidemark.trace.format import MAX_PAGE, Reader, TraceError, Writer

Columns = tuple[np.ndarray, ...]
NAMES = ("spaces", "pages", "kinds", "counts", "insns")
DTYPES = (np.uint16, np.uint64, np.uint8, np.uint32, np.uint32)


@pytest.fixture
def rng() -> np.random.Generator:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    return np.random.default_rng(seed)


def random_runs(rng: np.random.Generator, length: int, nr_pages: int) -> Columns:
    """Runs on `nr_pages` page numbers from the whole range, some of which occur in several spaces."""
    numbers = rng.integers(0, MAX_PAGE, nr_pages, np.uint64, endpoint=True)
    columns = (
        rng.choice([0, 1, 7, 65535], length),
        rng.choice(numbers, length),
        rng.integers(0, len(KINDS), length),
        rng.integers(1, 1 << rng.integers(1, 33, length)),
        rng.integers(0, 1 << rng.integers(1, 33, length)),
    )
    return tuple(column.astype(dtype) for column, dtype in zip(columns, DTYPES, strict=True))


def write(path: Path, columns: Columns, spaces: tuple[dict, ...] = ()) -> Path:
    with Writer(path, {"source": "test"}) as writer:
        writer.append(*columns)
        writer.close(spaces)
    return path


def read(path: Path) -> Columns:
    batches = list(Reader(path).runs())
    return tuple(np.concatenate(column) for column in zip(*batches, strict=True))


def assert_equal(got: Columns, expected: Columns) -> None:
    for name, a, b in zip(NAMES, got, expected, strict=True):
        assert a.dtype == b.dtype and np.array_equal(a, b), name


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A trace of five runs, on three pages of two spaces."""
    columns = ([0, 0, 1, 0, 1], [5, 6, 5, 5, 5], [0, 1, 2, 0, 3], [3, 1, 1, 9, 2], [3, 0, 1, 9, 1])
    return write(tmp_path / "small.tmt", tuple(np.array(c, d) for c, d in zip(columns, DTYPES, strict=True)))


# --- what was written can be read ---


def test_runs_come_back_in_order_whatever_the_pieces(tmp_path: Path, rng: np.random.Generator) -> None:
    columns = random_runs(rng, 3 * format.BLOCK_RUNS + 17, 5000)
    cuts = np.sort(rng.integers(0, len(columns[0]), 20))
    with Writer(tmp_path / "t.tmt", {"source": "test", "seed": 7}) as writer:
        for piece in zip(*(np.split(column, cuts) for column in columns), strict=True):
            writer.append(*piece)
        writer.close()
    assert_equal(read(tmp_path / "t.tmt"), columns)
    assert Reader(tmp_path / "t.tmt").meta == {"source": "test", "seed": 7}
    assert [path.name for path in tmp_path.iterdir()] == ["t.tmt"]


def test_ids_number_the_pages_in_order_of_first_appearance(tmp_path: Path, rng: np.random.Generator) -> None:
    columns = random_runs(rng, 2 * format.BLOCK_RUNS, 30000)
    numbers: dict[tuple[int, int], int] = {}
    expected = [numbers.setdefault(pair, len(numbers)) for pair in zip(*map(np.ndarray.tolist, columns[:2]))]
    blocks = list(Reader(write(tmp_path / "t.tmt", columns)))
    assert np.concatenate([block.ids for block in blocks]).tolist() == expected
    new = [pair for block in blocks for pair in zip(block.new_spaces.tolist(), block.new_pages.tolist(), strict=True)]
    assert new == list(numbers)


def test_totals_and_spaces_are_the_sums_of_the_runs(tmp_path: Path, rng: np.random.Generator) -> None:
    columns = random_runs(rng, 1000, 50)
    spaces, numbers, kinds, counts, insns = (column.astype(object) for column in columns)
    reader = Reader(write(tmp_path / "t.tmt", columns, ({"space": 7, "name": "seven"}, {"space": 9})))
    assert reader.totals == {
        "runs": 1000,
        "references": counts.sum(),
        "instructions": insns.sum(),
        "pages": len(set(zip(spaces, numbers, strict=True))),
        "kinds": {name: int(counts[kinds == kind].sum()) for kind, name in enumerate(KINDS)},
    }
    assert [row["space"] for row in reader.spaces] == [0, 1, 7, 9, 65535]
    mine = spaces == 7
    shares = {"runs": int(mine.sum()), "references": counts[mine].sum(), "instructions": insns[mine].sum()}
    assert reader.spaces[2] == {"space": 7, "name": "seven", **shares, "pages": len(set(numbers[mine]))}
    assert reader.spaces[3] == {"space": 9, "runs": 0, "references": 0, "instructions": 0, "pages": 0}


def test_extremes_and_nothing_at_all_come_back(tmp_path: Path) -> None:
    values = ((65535, 0), (MAX_PAGE, 0), (3, 0), (MAX_COUNT, 1), (MAX_COUNT, 0))
    extremes = tuple(np.array(c, d) for c, d in zip(values, DTYPES, strict=True))
    assert_equal(read(write(tmp_path / "extremes.tmt", extremes)), extremes)
    empty = Reader(write(tmp_path / "empty.tmt", tuple(np.array([], dtype) for dtype in DTYPES)))
    assert list(empty) == [] and empty.totals["references"] == 0 and empty.spaces == []


def test_the_reader_in_the_document_reads_a_trace(tmp_path: Path, rng: np.random.Generator) -> None:
    columns = random_runs(rng, format.BLOCK_RUNS + 5, 300)
    path = write(tmp_path / "t.tmt", columns, ({"space": 1, "name": "one"},))
    text = (qemu.ROOT / "docs/reference/trace-format.md").read_text()
    names: dict = {}
    exec(re.search(r"```python\n(.*?)```", text, re.DOTALL)[1], names)
    *got, tail = names["read_trace"](path)
    assert_equal(tuple(got), columns)
    assert tail == {"spaces": Reader(path).spaces, "totals": Reader(path).totals}


def test_page_numbers_agree_with_a_dictionary_while_the_table_grows(rng: np.random.Generator) -> None:
    table, known = pages.PageTable(), {}
    for size in (1, 10, 1000, 100000):
        spaces = rng.integers(0, 3, size).astype(np.uint16)
        numbers = rng.integers(0, size, size).astype(np.uint64) << np.uint64(rng.integers(0, 35))
        expected = [known.setdefault(pair, len(known)) for pair in zip(spaces.tolist(), numbers.tolist(), strict=True)]
        assert table.number(spaces, numbers).tolist() == expected
    assert table.known == len(known)


# --- what must not be written ---


@pytest.mark.parametrize(
    "run",
    [(0, MAX_PAGE + 1, 0, 1, 0), (0, 1, len(ALL_KINDS), 1, 0), (0, 1, 0, 0, 0)],
    ids=["page above 2^52", "unknown kind", "no references"],
)
def test_a_run_out_of_range_is_refused(tmp_path: Path, run: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"2\^52"), Writer(tmp_path / "t.tmt", {}) as writer:
        writer.append(*([value] for value in run))


def test_columns_of_different_length_and_two_rows_for_a_space_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="length"), Writer(tmp_path / "t.tmt", {}) as writer:
        writer.append([0, 0], [1], [0], [1], [0])
    with pytest.raises(ValueError, match="two rows"), Writer(tmp_path / "t.tmt", {}) as writer:
        writer.close([{"space": 1}, {"space": 1}])


def test_an_unfinished_trace_keeps_its_partial_name_and_is_refused(tmp_path: Path, small: Path) -> None:
    path = tmp_path / "t.tmt"
    with pytest.raises(KeyboardInterrupt), Writer(path, {}) as writer:
        writer.append(*read(small))
        raise KeyboardInterrupt
    assert not path.exists()
    with pytest.raises(TraceError, match="without its end record"):
        Reader(tmp_path / "t.tmt.partial")
    with pytest.raises(RuntimeError), Writer(path, {}):
        pass
    assert not path.exists()


def test_a_full_disk_is_said_and_leaves_no_trace(tmp_path: Path, small: Path) -> None:
    (tmp_path / "t.tmt.partial").symlink_to("/dev/full")
    with pytest.raises(errors.LabError, match=r"t\.tmt.*No space left") as caught:
        write(tmp_path / "t.tmt", read(small))
    assert caught.value.code == errors.NO_SPACE and not (tmp_path / "t.tmt").exists()


# --- what must not be read ---


def consume(path: Path) -> None:
    for _ in Reader(path):
        pass


def test_a_trace_cut_off_at_any_byte_is_refused(tmp_path: Path, small: Path) -> None:
    data, cut = small.read_bytes(), tmp_path / "cut.tmt"
    for length in range(len(data)):
        cut.write_bytes(data[:length])
        with pytest.raises(TraceError, match=r"cut\.tmt"):
            consume(cut)


def test_a_trace_with_a_bit_flipped_in_any_byte_is_refused(
    tmp_path: Path, small: Path, rng: np.random.Generator
) -> None:
    data, flipped = bytearray(small.read_bytes()), tmp_path / "flipped.tmt"
    for at, bit in enumerate(rng.integers(0, 8, len(data)).tolist()):
        data[at] ^= 1 << bit
        flipped.write_bytes(data)
        with pytest.raises(TraceError, match=r"flipped\.tmt"):
            consume(flipped)
        data[at] ^= 1 << bit


def test_a_trace_with_more_behind_its_end_is_refused(small: Path) -> None:
    small.write_bytes(small.read_bytes() + b"\n")
    with pytest.raises(TraceError, match="without its end record"):
        consume(small)


def test_damage_is_said_with_its_place(tmp_path: Path, rng: np.random.Generator) -> None:
    path = write(tmp_path / "t.tmt", random_runs(rng, 2 * format.BLOCK_RUNS, 100))
    data = bytearray(path.read_bytes())
    second = data.index(b"BLCK", data.index(b"BLCK") + 1)
    data[second + 1000] ^= 1
    path.write_bytes(data)
    blocks = iter(Reader(path))
    next(blocks)
    with pytest.raises(TraceError, match=f"damaged at byte {second}: .*checksum"):
        next(blocks)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"I  0401ab70,3\n", "not a Tidemark trace"),
        (format.START.pack(format.MAGIC, 3) + bytes(100), "version 3.*reads up to 2"),
        (format.START.pack(format.MAGIC, 1), "ends at byte 12"),
    ],
    ids=["empty", "text", "version 3", "start only"],
)
def test_what_is_no_trace_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "t.tmt"
    path.write_bytes(content)
    with pytest.raises(TraceError, match=said) as caught:
        Reader(path)
    assert caught.value.code == errors.BAD_INPUT


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"ids": np.array([0, 1, 2, 0, 3], np.uint32)}, "unknown page"),
        ({"kinds": np.array([0, 1, 2, 0, 4], np.uint8)}, "unknown page or kind"),
        ({"counts": np.array([1, 1, 1, 1, 0], np.uint32)}, "no references"),
        ({"counts": np.array([1, 1, 1, 1, 1], np.uint32)}, "totals"),
        ({"insns": np.array([1, 1, 1], np.uint32)}, "sizes contradict"),
    ],
    ids=["id", "kind", "count 0", "count", "length"],
)
def test_a_wrong_writer_is_found_out(
    tmp_path: Path, small: Path, monkeypatch: pytest.MonkeyPatch, change: dict, said: str
) -> None:
    columns, true_encode = read(small), format.encode_block
    monkeypatch.setattr(format, "encode_block", lambda block: true_encode(block._replace(**change)))
    with pytest.raises(TraceError, match=said):
        consume(write(tmp_path / "wrong.tmt", columns))


# --- the command ---


def test_info_shows_what_the_trace_holds(small: Path) -> None:
    about = json.loads(tidemark("trace", "info", small, "--json", cwd=small.parent).stdout)
    reader = Reader(small)
    assert about == {
        "file": str(small),
        "bytes": small.stat().st_size,
        "meta": reader.meta,
        "totals": reader.totals,
        "spaces": reader.spaces,
    }
    text = tidemark("trace", "info", small, cwd=small.parent).stdout
    assert "16 references in 5 runs, 3 pages, 14 instructions; 12 instruction, 1 load, 1 store, 2 modify" in text


def test_info_refuses_a_damaged_trace(tmp_path: Path, small: Path) -> None:
    damaged = Path(shutil.copy(small, tmp_path / "damaged.tmt"))
    data = bytearray(damaged.read_bytes())
    data[data.index(b"BLCK") + 30] ^= 4
    damaged.write_bytes(data)
    done = tidemark("trace", "info", damaged, cwd=tmp_path)
    assert done.returncode == errors.BAD_INPUT and "damaged at byte" in done.stderr and not done.stdout
