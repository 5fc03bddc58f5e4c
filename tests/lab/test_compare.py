"""The reference strings that the simulator accepts, and the commands `tidemark sim` and `tidemark compare`."""

from __future__ import annotations

import csv
import json
import re
import subprocess
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from lab import skip_8_2, tidemark
from tidemark.cli import app
from tidemark.commands.compare import fitting
from tidemark.curves.misses import miss_ratios
from tidemark.errors import BAD_INPUT, USAGE, LabError
from tidemark.machine import qemu
from tidemark.strings import accessed_bits, compare, refstrings, vmsim
from tidemark.trace.format import Writer
from tidemark.trace.record import record
from typer.testing import CliRunner

BELADY = "1 2 3 4 1 2 5 1 2 3 4 5"

# --- strings ---


@pytest.mark.parametrize("kind", refstrings.KINDS)
def test_generated_string_is_the_same_every_time(kind: str) -> None:
    text = f"{kind}:50,refs=1000,seed=3"
    pages = refstrings.generated(text)
    assert len(pages) == 1000 and pages.min() >= 0 and pages.max() < 50
    assert np.array_equal(pages, refstrings.generated(text))
    assert kind == "loop" or not np.array_equal(pages, refstrings.generated(f"{kind}:50,refs=1000,seed=4"))


@pytest.mark.parametrize("kind", refstrings.KINDS)
@pytest.mark.parametrize(("pages", "references"), [(1, 1), (1, 7), (3, 2)])
def test_smallest_strings(kind: str, pages: int, references: int) -> None:
    made = refstrings.generated(f"{kind}:{pages},refs={references}")
    assert len(made) == references


def test_numbers_ranges_and_comments() -> None:
    assert refstrings.from_text("1 2,3-5 # six\n\t7\r\n4294967295", "x").tolist() == [1, 2, 3, 4, 5, 7, 2**32 - 1]
    assert refstrings.from_text("12 1\n3", "x").tolist() == [12, 1, 3]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 2\n3 y4", "line 2: 'y4'"),
        ("5-4", "'5-4'"),
        ("4294967296", "'4294967296'"),
        ("-1", "'-1'"),
        ("# nothing", "no page number"),
    ],
)
def test_bad_text_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(LabError, match=re.escape(said)):
        refstrings.from_text(text, "file")


def test_mixed_string_is_of_the_process_and_of_a_file() -> None:
    """The write makes page 3 of the file dirty; a call that finds a mapped page does not fault; 1 and f1 are two
    pages."""
    string = refstrings.find("1 f1 r3 w3 1 f1-2 l1")
    assert (string.nr_pages, string.nr_references) == (4, 8)
    outcome = vmsim.run(vmsim.build("fifo"), string, 4)
    assert (outcome.faults, outcome.minor, outcome.hits) == (4, 0, 4)
    assert compare.bounds(string, [3])[compare.MIN] == [4]
    assert vmsim.run(vmsim.build("fifo"), refstrings.find("r3 f3 f3"), 4).minor == 1


def test_trace_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    bad = tmp_path / "bad.tmt"
    bad.write_bytes(b"\x89TMT\r\n\x1a\n\x01\0\0\0nothing more")
    with pytest.raises(LabError):
        refstrings.find(str(bad))


# --- the commands ---


def refusal(*words: str) -> LabError:
    """The error with which the command ends, run in this process."""
    error = CliRunner().invoke(app, words).exception
    assert isinstance(error, LabError), error
    return error


def test_make_sim_prints_faults_for_each_size() -> None:
    command = ["make", "--no-print-directory", "sim", "VM=fifo", f"TRACE={BELADY}", "FRAMES=3-4"]
    made = subprocess.run(command, cwd=qemu.ROOT, capture_output=True, text=True, timeout=100)
    assert made.returncode == 0, made.stderr
    table = [line.split() for line in made.stdout.splitlines() if "SIM" not in line]
    column = table[0].index("FAULTS")
    assert [(row[1], row[column]) for row in table[1:]] == [("3", "9"), ("4", "10")]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--vm", "nope", "1 2"], USAGE, "there is no kernel/mm/policy/nope.c"),
        ([], USAGE, "which string"),
        (["nofile"], BAD_INPUT, "no such file"),
        (["zipf:10,refs=-1"], USAGE, "is not a string"),
        (["1 2", "--frames", "0"], USAGE, "--frames 0"),
        (["1 2", "--frames", "4-3"], USAGE, "--frames 4-3"),
        (["1-9", "--explain"], USAGE, "--frames N"),
        pytest.param(["1 2", "--frames", "3", "--set", "nix=1"], USAGE, "no such parameter", marks=pytest.mark.soak),
        (["1 2", "--frames", "3", "--vm", "ws", "--set", "tau_ms=0"], USAGE, "from 1 to 60000"),
    ],
)
def test_bad_arguments_are_explained(words: list[str], code: int, said: str) -> None:
    error = refusal("sim", *words)
    assert error.code == code and said in str(error)


def test_explain_as_json_has_a_line_for_each_reference(tmp_path: Path) -> None:
    result = tidemark("sim", BELADY, "--vm", "fifo", "--frames", 3, "--explain", "--json", cwd=tmp_path)
    *rows, counts = map(json.loads, result.stdout.splitlines())
    assert len(rows) == 12 and counts["faults"] == 9
    assert rows[3]["hooks"][0]["gave"] == 1 and rows[3]["lists"] == {"queue": [2, 3, 4]}


def test_regret_is_what_was_missed_beyond_min() -> None:
    """Belady's string: MIN misses 7 and 6 times, LRU 10 and 8, FIFO 9 and 10."""
    cells = {(cell.policy, cell.frames): cell for cell in compare.compare(["ws"], ["belady"])}
    assert [cells[policy, 3].misses for policy in ("MIN", "LRU", "fifo")] == [7, 10, 9]
    assert [cells[policy, 4].misses for policy in ("MIN", "LRU", "fifo")] == [6, 8, 10]
    assert cells["fifo", 4].regret == pytest.approx(4 / 6) and cells["MIN", 4].regret == 0


def test_compare_takes_a_string_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text(BELADY)
    cells = {(cell.policy, cell.frames): cell for cell in compare.compare(["ws"], [], others=[f"{tmp_path}/mine.txt"])}
    assert [cells[policy, 4].misses for policy in ("MIN", "LRU", "fifo")] == [6, 8, 10]
    assert {cell.string for cell in cells.values()} == {"mine.txt"}
    assert "no such file" in str(refusal("compare", "--vm", "ws", "--trace", str(tmp_path / "nope.tmt")))


def test_compare_writes_every_cell(tmp_path: Path) -> None:
    command = ["compare", "--vm", "ws", "--string", "belady", "--string", "loop", "--set", "ws.tau_ms=50"]
    result = tidemark(*command, "--csv", "c.csv", "--figure", "f", "--json", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    with (tmp_path / "f/miss-ratio.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert all(float(row["miss_ratio"]) * int(row["references"]) == pytest.approx(int(row["misses"])) for row in rows)
    assert {path.suffix for path in (tmp_path / "f").iterdir()} == {".csv", ".png", ".svg"}
    cells = json.loads(result.stdout)["cells"]
    assert len(cells) == (2 + 3) * 6 == len((tmp_path / "c.csv").read_text().splitlines()) - 1
    assert {cell["policy"] for cell in cells} == {"ws", "fifo", "clock", "2q", "LRU", "MIN"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--vm", "ws", "--string", "nope"], "not a standard string"),
        (["--vm", "nope"], "there is no kernel/mm/policy/nope.c"),
        (["--vm", "ws", "--set", "tau_ms=5"], "POLICY.NAME=VALUE"),
    ],
)
def test_compare_explains_bad_arguments(words: list[str], said: str) -> None:
    error = refusal("compare", *words)
    assert error.code == USAGE and said in str(error)


def test_compare_takes_any_numbers_of_frames_and_folders_of_traces(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with Writer(tmp_path / "run" / refstrings.TRACE, {"source": "test"}) as writer:
        pages = np.array([1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5])
        writer.append(0 * pages, pages, 0 * pages + 1, 0 * pages + 1, 0 * pages)
        writer.close([{"space": 0, "name": "belady"}])
    cells = compare.compare(["ws"], [], others=[str(tmp_path / "run")], frames=[3, 4, 99])
    assert [(cell.frames, cell.misses) for cell in cells if cell.policy == "fifo"] == [(3, 9), (4, 10)]


def test_policies_stand_side_by_side_as_far_as_there_is_room() -> None:
    assert fitting(list("abcdefghi"), 80) == [list("abcd"), list("efgh"), ["i"]]
    assert fitting(["a", "b"], 20) == [["a"], ["b"]]


def test_misses_are_drawn_as_they_were_counted() -> None:
    cells = [asdict(cell) for cell in compare.compare(["ws"], ["belady"])]
    (axes,) = miss_ratios(cells).draw().axes
    drawn = {tuple(line.get_ydata() * 12) for line in axes.get_lines()}
    assert {(9, 10), (7, 6)} <= {tuple(round(value) for value in line) for line in drawn}


@pytest.mark.soak
def test_program_in_qemu_is_a_standard_string() -> None:
    cells = {(cell.policy, cell.frames): cell for cell in compare.compare(["ws"], ["btree"])}
    assert cells["MIN", 32].references > cells["MIN", 32].misses > 0
    assert all(cell.misses >= cells["MIN", cell.frames].misses for cell in cells.values())


def test_accessed_bits_show_all_pages_while_memory_suffices(tmp_path: Path) -> None:
    """Two independent observers, kernel and plugin, find the same number of pages in every interval."""
    skip_8_2()
    folder = tmp_path / "run"
    record(qemu.Settings(run="thrash 2 512 10 3000", cmdline="sample_ms=10 sample_percent=100"), folder)
    intervals = [
        interval
        for interval in accessed_bits.intervals(folder)
        if interval.name == "thrash" and interval.user_us > 2000
    ]
    assert len(intervals) > 2
    assert [interval.accessed for interval in intervals] == [interval.referenced for interval in intervals]
    assert min(interval.referenced for interval in intervals) > 64


@pytest.mark.soak
def test_accessed_bits_miss_what_was_evicted_meanwhile(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    command = ["record", "thrash", 3, 256, 4, 3000, "--vm", "fifo", "--frames", 60, "--swap", "sim:ssd", "-o", folder]
    assert tidemark("trace", *command, "-q", cwd=tmp_path).returncode == 0
    result = tidemark("compare", "--accessed", folder, "--json", "--csv", "accessed.csv", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    told = json.loads(result.stdout)
    own = [row for row in told["intervals"] if row["name"] == "thrash" and row["user_us"] > 200]
    assert own and any(row["accessed"] < 0.9 * row["referenced"] for row in own), own
    assert len((tmp_path / "accessed.csv").read_text().splitlines()) == len(told["intervals"]) + 1


def test_result_without_a_trace_is_refused(tmp_path: Path) -> None:
    assert "trace record" in str(refusal("compare", "--accessed", str(tmp_path)))
    assert "give --vm POLICY, or --accessed" in str(refusal("compare"))
