"""References to pages of files: in the plugin's stream, in traces, in strings, in curves, and in a recorded run."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from ext2 import make
from lab import tidemark
from tidemark.curves import analyse, map_figures
from tidemark.curves.analyse import Plan
from tidemark.curves.runs import Choice, Selection
from tidemark.machine import qemu
from tidemark.runs import results
from tidemark.strings import compare, refstrings, vmsim
from tidemark.trace import ALL_KINDS, FILE_PAGE, INSTRUCTION, KINDS, LOAD, READ, STORE, WRITE, pack
from tidemark.trace.format import Reader, TraceError, Writer
from tidemark.trace.pack import FILE_READ, FILE_SHIFT, FILE_WRITE, INDEX, NONE, PAGE, tagged

Run = tuple[int, int, int, int, int]  # space, page, kind, count, insns
PAGES = 64
VDSO = 0xBFFFD  # its text belongs to the kernel


class Sink:
    def __init__(self) -> None:
        self.runs: list[Run] = []

    def append(self, *columns: np.ndarray) -> None:
        self.runs += zip(*(column.tolist() for column in columns))


def packed(*words: int, fetches_too: bool = True) -> tuple[list[Run], set[int]]:
    """Runs and stores of a stream of these words."""
    sink = Sink()
    packer = pack.Packer(sink, fetches_too)
    whole = (tagged(pack.BEGIN, pack.STREAM_VERSION), *words)
    packer.feed(np.array([*whole, tagged(pack.END, len(whole))], pack.WORD).tobytes())
    packer.finish()
    return sink.runs, packer.files


def access(page: int, store: bool = False, fetches: int = 0) -> int:
    return page << 12 | store << 11 | fetches


def of_file(what: int, number: int) -> int:
    return tagged(pack.FILE, what << FILE_SHIFT | number)


def file_page(store: int, index: int) -> int:
    return FILE_PAGE | store << 20 | index


def write_trace(path: Path, rows: list[Run], stores: tuple[int, ...] = (300,)) -> Reader:
    with Writer(path, {"source": "test"}) as writer:
        writer.append(*(np.array(column, dtype) for column, dtype in zip(zip(*rows), ("u2", "u8", "u1", "u4", "u4"))))
        writer.close([{"space": space, "name": f"p{space}"} for space in (0, 1)], [{"store": one} for one in stores])
    return Reader(path)


# Some of everything: own pages 1 and 2, pages 3 and 4 of a file used by two processes.
ROWS: list[Run] = [
    (0, 1, STORE, 1, 1),
    (0, file_page(300, 3), INSTRUCTION, 2, 2),
    (0, file_page(300, 4), LOAD, 1, 1),
    (0, file_page(300, 4), STORE, 1, 1),
    (1, 1, STORE, 3, 3),
    (1, file_page(300, 3), READ, 1, 1),
    (0, 2, LOAD, 1, 1),
    (0, file_page(300, 3), READ, 1, 0),
    (0, file_page(300, 5), WRITE, 1, 0),
    (0, 1, LOAD, 1, 1),
    (0, file_page(300, 4), READ, 1, 0),
]
STRING = "1 x3 x3 f4 F4 2 r3 w5 1 r4"  # the references of space 0


# --- the stream ---


def test_page_of_a_space_shows_a_file_s_until_it_does_not() -> None:
    runs, stores = packed(
        tagged(pack.SPACE, 7),
        access(9),
        *(tagged(pack.STORE, 300), of_file(INDEX, 3), of_file(PAGE, 9), access(9), access(8), access(9, store=True)),
        *(of_file(NONE, 9), access(9)),
        *(tagged(pack.SPACE, 8), access(9)),
    )
    assert [run[:3] for run in runs] == [
        (0, 9, LOAD),
        (0, file_page(300, 3), LOAD),
        (0, 8, LOAD),
        (0, file_page(300, 3), STORE),
        (0, 9, LOAD),
        (1, 9, LOAD),
    ]
    assert stores == {300}


def test_text_of_a_file_is_fetched_from_it_and_a_space_that_ends_keeps_its_runs() -> None:
    runs, _ = packed(
        tagged(pack.SPACE, 7),
        *(tagged(pack.STORE, 300), of_file(INDEX, 1), of_file(PAGE, 5), tagged(pack.CODE, 5), tagged(pack.FETCHES, 4)),
        tagged(pack.DEATH, 7),
        *(tagged(pack.SPACE, 7), tagged(pack.FETCHES, 2)),
    )
    assert runs == [(0, file_page(300, 1), INSTRUCTION, 4, 4), (1, 5, INSTRUCTION, 2, 2)]


def test_notes_say_which_pages_came_and_which_are_gone() -> None:
    sink = Sink()
    packer = pack.Packer(sink)
    words = [tagged(pack.BEGIN, pack.STREAM_VERSION), tagged(pack.SPACE, 7), access(9), tagged(pack.STORE, 300)]
    words += [of_file(pack.FILE_CAME, 3), access(9), of_file(INDEX, 4), of_file(pack.FILE_GONE, 8)]
    packer.feed(np.array([*words, tagged(pack.END, len(words))], pack.WORD).tobytes())
    packer.finish()
    came, gone = packer.notes
    assert came == (1, pack.STORE, (7 << 12, 0), 3) and gone == (2, pack.FILE, (300, 4), 8)


@pytest.mark.parametrize("fetches_too", [True, False])
def test_calls_are_runs_of_their_own_and_no_instructions_are_lost(fetches_too: bool) -> None:
    runs, _ = packed(
        *(tagged(pack.SPACE, 7), tagged(pack.CODE, 2), tagged(pack.FETCHES, 10), tagged(pack.STORE, 300)),
        *(of_file(FILE_READ, 3), of_file(FILE_WRITE, 3), tagged(pack.FETCHES, 5), access(9)),
        fetches_too=fetches_too,
    )
    calls = [run[1:4] for run in runs if run[2] >= READ]
    assert calls == [(file_page(300, 3), READ, 1), (file_page(300, 3), WRITE, 1)]
    assert sum(run[4] for run in runs) == 15
    assert any(run[2] == INSTRUCTION for run in runs) == fetches_too


# --- the file ---


def test_trace_with_files_is_of_version_2_and_others_stay_as_they_are(tmp_path: Path) -> None:
    with_files = write_trace(tmp_path / "f.tmt", ROWS)
    assert [tuple(row) for row in zip(*(np.concatenate(c).tolist() for c in zip(*with_files.runs())))] == ROWS
    assert with_files.files == [{"store": 300}]
    assert with_files.totals["kinds"] == dict(zip(ALL_KINDS, (2, 3, 5, 0, 3, 1)))
    own = write_trace(tmp_path / "o.tmt", [row for row in ROWS if row[1] < FILE_PAGE], stores=())
    assert [path.read_bytes()[8] for path in (with_files.path, own.path)] == [2, 1]
    assert tuple(own.totals["kinds"]) == KINDS and own.files == []


def test_calls_need_files(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="without files"):
        write_trace(tmp_path / "t.tmt", ROWS, stores=())
    reader = write_trace(tmp_path / "f.tmt", ROWS)
    data = bytearray(reader.path.read_bytes())
    data[8] = 1
    reader.path.write_bytes(data)
    with pytest.raises(TraceError, match="unknown page or kind"):
        list(Reader(reader.path))


def test_lackeyml_has_no_place_for_them_and_csv_has(tmp_path: Path) -> None:
    write_trace(tmp_path / "t.tmt", ROWS)
    assert "no pages of files" in tidemark("trace", "export", "t.tmt", "-o", "t.xml", cwd=tmp_path).stderr
    assert tidemark("trace", "export", "t.tmt", "-o", "t.csv", cwd=tmp_path).returncode == 0
    assert f"0,{file_page(300, 5)},write,1,0" in (tmp_path / "t.csv").read_text()


# --- strings and curves ---


@pytest.mark.parametrize("policy", ["fifo", "linux24", "2q"])
def test_simulator_and_bounds_take_it_for_the_string_that_it_is(tmp_path: Path, policy: str) -> None:
    """Each run of the trace counts once, as in the text: the fetches are two references there, too."""
    traced = refstrings.find(str(write_trace(tmp_path / "t.tmt", ROWS).path), space="0")
    spelled = refstrings.find(STRING)
    program = vmsim.build(policy)
    for frames in (1, 2, 3, 5):
        one, other = (vmsim.run(program, string, frames) for string in (traced, spelled))
        assert (one.references, one.pages, one.faults) == (other.references, other.pages, other.faults)
    assert compare.bounds(traced, (1, 2, 3)) == compare.bounds(spelled, (1, 2, 3))


def test_file_s_page_is_one_page_in_all_spaces_and_others_are_not(tmp_path: Path) -> None:
    reader = write_trace(tmp_path / "t.tmt", ROWS)
    selection = Selection(Choice(), files=True)
    pages = [page for batch in selection.batches(iter(reader)) for page in batch.pages.tolist()]
    assert pages == [0, 1, 2, 2, 3, 1, 4, 1, 5, 0, 2]
    assert selection.pages()[1].tolist() == [1, file_page(300, 3), file_page(300, 4), 1, 2, file_page(300, 5)]
    for space, number in ((0, 5), (1, 2)):
        one = Selection(Choice(space), files=True)
        list(one.batches(iter(reader)))
        assert one.totals.pages == number


def test_reference_map_shows_files_above_and_by_other_colours(tmp_path: Path) -> None:
    found = analyse.analyse(write_trace(tmp_path / "t.tmt", ROWS), Plan(Choice(), True, 10))
    assert (found.map.own, found.map.own_rows) == (3, 3)
    names = [map_figures.page_name(found.map, place) for place in range(6)]
    assert names == ["0x00001000", "0x00002000", "0x00001000", "300:3", "300:4", "300:5"]
    classes = map_figures.map_classes(found.map)
    assert set(classes[:3].ravel()) == {map_figures.UNUSED, map_figures.READ, map_figures.WRITTEN}
    assert set(classes[3].ravel()) == {map_figures.UNUSED, map_figures.FILE_TEXT, map_figures.FILE_READ}
    assert set(classes[5].ravel()) == {map_figures.UNUSED, map_figures.FILE_WRITTEN}
    table = map_figures.map_table(found.map, "references")
    assert sum(sum(table[kind]) for kind in ("read", "write")) == 4


def test_rows_of_several_pages_do_not_mix_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidemark.curves.refmap.MAX_ROWS", 3)
    shown = analyse.analyse(write_trace(tmp_path / "t.tmt", ROWS), Plan(Choice(), True, 10)).map
    first, last = shown.span(np.arange(len(shown.counts)))
    assert (first.tolist(), last.tolist()) == ([0, 2, 3, 5], [1, 2, 4, 5])
    assert [shown.row_of(place) for place in range(6)] == [0, 0, 1, 2, 2, 3]
    assert shown.counts.sum(axis=(1, 2)).tolist() == [3, 3, 7, 1]


# --- a recorded run ---


def references(trace: Path, name: str, own: bool = False) -> dict[str, Counter]:
    """References by page of a file, for each kind, of the space with that name; `own`: by its own pages instead."""
    reader = Reader(trace)
    (space,) = (row["space"] for row in reader.spaces if row["name"] == name)
    found = {kind: Counter[int]() for kind in ALL_KINDS}
    for columns in reader.runs():
        for where, page, kind, count, _ in zip(*(column.tolist() for column in columns)):
            if where == space and (page < FILE_PAGE) == own:
                found[ALL_KINDS[kind]][page % FILE_PAGE] += count
    return found


def recorded(folder: Path, command: str, disk: Path) -> Path:
    """The trace of a command with that disk."""
    done = tidemark("trace", "record", command, "--disk", disk, "--swap", "none", "-o", folder, cwd=disk.parent)
    assert done.returncode == 0, done.stderr
    return folder / "trace.tmt"


def test_calls_and_mappings_of_a_file_are_recorded_page_by_page(tmp_path: Path) -> None:
    """filescan writes each page once with write(2), then reads each twice; through a mapping it loads and stores
    each."""
    image = tmp_path / "disk.img"
    image.write_bytes(bytes(PAGES << 12))
    trace = recorded(tmp_path / "calls", "filescan /dev/sda 2 read fill", image)
    found = references(trace, "filescan")
    assert Counter(found["write"].values()) == {1: PAGES} and Counter(found["read"].values()) == {2: PAGES}
    assert {page & 0xFFFFF for page in found["read"]} == set(range(PAGES))
    assert not found["load"] and not found["store"]
    found = references(recorded(tmp_path / "map", "filescan /dev/sda 1 mmap write", image), "filescan")
    assert len(found["load"]) == len(found["store"]) == PAGES
    assert min(found["load"].values()) >= 1024  # each word of a page
    assert not found["read"] and not found["write"]


def test_text_of_a_program_on_a_disk_is_the_file_s_and_nothing_changes(tmp_path: Path) -> None:
    """The program's data, when written, are a private copy of the file's page."""
    (tmp_path / "files").mkdir()
    (tmp_path / "files/cat2").write_bytes((qemu.ROOT / "build/user/cat").read_bytes())
    (tmp_path / "files/cat2").chmod(0o755)
    image = make(tmp_path / "disk.img", "1M", content=tmp_path / "files")
    before, command = image.read_bytes(), "/mnt/cat2 /proc/version"
    trace = recorded(tmp_path / "run", command, image)
    found, own = references(trace, "cat2"), references(trace, "cat2", own=True)
    assert found["instruction"] and not found["store"]
    assert own["store"] and set(own["instruction"]) <= {VDSO}
    image.write_bytes(before)
    plain = tidemark("run", command, "--disk", image, "--swap", "none", "-o", "plain", cwd=tmp_path)
    assert plain.returncode == 0, plain.stderr
    one, other = ((tmp_path / name / results.TELEMETRY).read_bytes() for name in ("run", "plain"))
    assert one == other
