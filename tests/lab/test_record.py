"""Recording references: the plugin, the packing of its stream, and `tidemark trace record`."""

from __future__ import annotations

import csv
import json
import random
import re
import resource
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import groupby, pairwise
from pathlib import Path

import numpy as np
import pytest
from lab import qemu_replaced, tidemark, tidemark_in_background
from soak import soak_but
from tidemark import errors
from tidemark.errors import LabError
from tidemark.machine import plugin, qemu
from tidemark.runs import experiment, results
from tidemark.trace import INSTRUCTION, LOAD, MAX_COUNT, STORE
from tidemark.trace.format import Reader, TraceError
from tidemark.trace.pack import (
    BEGIN,
    BIRTH,
    CAME,
    CODE,
    DEATH,
    END,
    FETCHES,
    FILE,
    FILE_SHIFT,
    OF,
    SPACE,
    SPACES,
    STREAM_VERSION,
    TAIL,
    WORD,
    Packer,
    StreamError,
    example,
    tagged,
)
from tidemark.trace.record import OF_FILES, TRACE, record

QUICK = ("--swap", "none")
SMALL = qemu.Settings(swap="none", timeout=120)
MMAP_AREA = range(0x40000, 0xB7000)

Run = tuple[int, int, int, int, int]  # space, page, kind, count, insns


class Sink:
    """Receives runs like a trace's writer, into a list."""

    def __init__(self) -> None:
        self.runs: list[Run] = []

    def append(self, *columns: np.ndarray) -> None:
        self.runs += zip(*(column.tolist() for column in columns))


def access(page: int, store: bool = False, fetches: int = 0) -> int:
    """The plugin's word for a load or store."""
    return page << 12 | store << 11 | fetches


def stream(*words: int) -> bytes:
    """A whole stream that contains these words."""
    words = (tagged(BEGIN, STREAM_VERSION), *words)
    return np.array([*words, tagged(END, len(words))], WORD).tobytes()


def packed(data: bytes, fetches_too: bool = True, piece: int = 1 << 20) -> list[Run]:
    """The runs of a whole stream that arrives in pieces."""
    sink = Sink()
    packer = Packer(sink, fetches_too)
    for at in range(0, len(data), piece):
        packer.feed(data[at : at + piece])
    packer.finish()
    return sink.runs


def runs_of(trace: Path) -> list[Run]:
    """All runs of a trace's file."""
    return [run for columns in Reader(trace).runs() for run in zip(*(column.tolist() for column in columns))]


def merged(runs: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """(space, page, kind, references), with adjacent entries of one kind and page merged."""
    out: list[list[int]] = []
    for *key, count, _ in runs:
        if out and out[-1][:3] == key:
            out[-1][3] += count
        else:
            out.append([*key, count])
    return [tuple(run) for run in out]


# The stream.


def test_what_the_policy_is_told_stands_between_the_runs() -> None:
    """Also between two runs that would otherwise be merged; and a reused page directory is another space."""
    words = [tagged(SPACES, 7), tagged(SPACE, 7), access(9), tagged(OF, 7), tagged(CAME, 0x1000009), access(9)]
    words += [tagged(DEATH, 7), tagged(SPACES, 7)]
    sink = Sink()
    packer = Packer(sink)
    packer.feed(stream(*words))
    packer.finish()
    assert sink.runs == [(0, 9, LOAD, 1, 0), (0, 9, LOAD, 1, 0)]
    first, again = (7 << 12, 0), (7 << 12, 1)
    assert packer.notes == [(0, SPACES, first, 7), (1, CAME, first, 0x1000009), (2, SPACES, again, 7)]
    assert packer.spaces.numbers == {first: 0}


def test_fetches_come_before_the_access_and_runs_are_merged() -> None:
    words = [tagged(SPACE, 7), tagged(CODE, 0x8048), access(0x9000, fetches=2), access(0x9000), access(0x9000, True, 1)]
    words += [tagged(FETCHES, 5), tagged(CODE, 0x8049), tagged(FETCHES, 1)]
    assert packed(stream(*words)) == [
        (0, 0x8048, INSTRUCTION, 2, 2),
        (0, 0x9000, LOAD, 2, 0),
        (0, 0x8048, INSTRUCTION, 1, 1),
        (0, 0x9000, STORE, 1, 0),
        (0, 0x8048, INSTRUCTION, 5, 5),
        (0, 0x8049, INSTRUCTION, 1, 1),
    ]


def test_without_fetches_they_are_virtual_time_of_their_own_space() -> None:
    words = [tagged(SPACE, 1), access(5, fetches=3), tagged(FETCHES, 100), access(5, fetches=1), tagged(FETCHES, 7)]
    words += [tagged(SPACE, 2), access(5, fetches=2), tagged(SPACE, 1), access(5, True)]
    assert packed(stream(*words), fetches_too=False) == [(0, 5, LOAD, 2, 104), (1, 5, LOAD, 1, 2), (0, 5, STORE, 1, 7)]


def test_an_instruction_in_two_pages_refers_to_both_and_counts_once() -> None:
    words = [tagged(SPACE, 1), tagged(CODE, 8), tagged(FETCHES, 4), tagged(TAIL, 9), tagged(CODE, 9), access(3)]
    assert packed(stream(*words)) == [(0, 8, INSTRUCTION, 4, 4), (0, 9, INSTRUCTION, 1, 0), (0, 3, LOAD, 1, 0)]


def test_a_run_goes_on_after_another_space_that_referred_to_nothing() -> None:
    words = [tagged(SPACE, 1), access(5), tagged(SPACE, 2), tagged(SPACE, 1), access(5)]
    assert packed(stream(*words)) == [(0, 5, LOAD, 2, 0)]


def test_a_run_longer_than_a_count_is_two() -> None:
    most = (1 << 26) - 1
    words = [tagged(SPACE, 1), tagged(CODE, 8), *[tagged(FETCHES, most)] * 65]
    runs = packed(stream(*words))
    assert sum(count for *_, count, _ in runs) == sum(insns for *_, insns in runs) == 65 * most
    assert [run[:3] for run in runs] == [(0, 8, INSTRUCTION)] * 2 and all(run[3] <= MAX_COUNT for run in runs)


def one_by_one(words: list[int]) -> list[tuple[int, int, int]]:
    """Every reference (cr3, page, kind) of a stream, computed from the definition."""
    out, code, cr3 = [], 0, 0
    for word in words:
        tag, value = word >> 26 & 15, word & (1 << 26) - 1
        if word < 3 << 30:
            out += [(cr3, code, INSTRUCTION)] * (word & 2047) + [(cr3, word >> 12, LOAD + (word >> 11 & 1))]
        elif tag == FETCHES:
            out += [(cr3, code, INSTRUCTION)] * value
        elif tag == TAIL:
            out.append((cr3, value, INSTRUCTION))
        elif tag == CODE:
            code = value
        elif tag == SPACE:
            cr3 = value
    return out


@pytest.mark.parametrize("seed", soak_but(range(5), 0))
def test_random_streams_in_random_pieces_mean_what_their_definition_says(seed: int) -> None:
    chance = random.Random(seed)
    choices = [
        lambda: access(chance.randrange(4), chance.random() < 0.5, chance.choice((0, 0, 1, 5, 2047))),
        lambda: tagged(chance.choice((CODE, TAIL)), chance.randrange(4)),
        lambda: tagged(FETCHES, chance.randrange(3000)),
        lambda: tagged(SPACE, chance.randrange(3)),
    ]
    words = [tagged(SPACE, 0), *(choices[min(chance.randrange(20) // 8, 3)]() for _ in range(3000))]
    order: dict[int, int] = {}
    expected = [(order.setdefault(cr3, len(order)), page, kind) for cr3, page, kind in one_by_one(words)]
    runs = packed(stream(*words), piece=chance.choice((3, 1000, 1 << 20)))
    assert [run[:3] for run in runs for _ in range(run[3])] == expected, f"seed {seed}"
    assert all(before[:3] != after[:3] for before, after in pairwise(runs)), f"seed {seed}"


def test_a_page_directory_is_another_space_after_its_death() -> None:
    words = [tagged(BIRTH), tagged(SPACE, 1), access(5), tagged(SPACE, 2), tagged(DEATH, 1), access(5)]
    words += [tagged(SPACE, 1), access(6), tagged(BIRTH), tagged(SPACE, 2), tagged(DEATH, 1)]
    packer = Packer(Sink())
    packer.feed(stream(*words))
    events = [{"pid": pid, "comm": name, "cr3": 0x1000, "t_us": pid * 10} for pid, name in ((4, "old"), (9, "new"))]
    rows = packer.spaces.table(events, whole=True)
    assert [(row["space"], row["name"], row.get("pid"), row.get("since_us")) for row in rows] == [
        (0, "old", 4, 40),
        (1, "cr3 0x2000", None, None),
        (2, "new", 9, 90),
    ]
    with pytest.raises(StreamError, match="1 mm events, the plugin saw 2"):
        packer.spaces.table(events[:1], whole=True)
    assert [row["name"] for row in packer.spaces.table(events[:1], whole=False)] == ["old", "cr3 0x2000", "cr3 0x1000"]


@pytest.mark.parametrize("cut", [1, 4, 8, 12])
def test_a_stream_that_was_cut_off_is_refused(cut: int) -> None:
    with pytest.raises(StreamError, match="cut off"):
        packed(stream(tagged(SPACE, 1), access(5))[:-cut])


@pytest.mark.parametrize(
    "words, said",
    [
        ((tagged(BEGIN, 99),), "make lab"),
        ((access(5),), "make lab"),
        ((tagged(BEGIN, STREAM_VERSION), access(5), tagged(END, 1)), "damaged at word 2"),
        ((tagged(BEGIN, STREAM_VERSION), tagged(FILE, 7 << FILE_SHIFT)), "damaged: a word about files"),
        ((tagged(BEGIN, STREAM_VERSION), access(5), tagged(BEGIN, STREAM_VERSION)), "damaged at word 2"),
        ((tagged(BEGIN, STREAM_VERSION), tagged(END, 1), access(5)), "goes on after its end"),
    ],
    ids=["version", "foreign", "words_missing", "unknown_tag", "second_begin", "after_the_end"],
)
def test_a_damaged_stream_is_refused(words: tuple[int, ...], said: str) -> None:
    with pytest.raises(StreamError, match=said):
        packed(np.array(words, WORD).tobytes())


def test_more_spaces_than_a_trace_holds_are_refused() -> None:
    words = [word for cr3 in range(65537) for word in (tagged(SPACE, cr3), access(5))]
    with pytest.raises(StreamError, match="at most 65536 address spaces"):
        packed(stream(*words))


# The plugin.


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recorded run with little memory, swapping and several processes, and its result."""
    folder = tmp_path_factory.mktemp("busy") / "result"
    record(replace(SMALL, run="thrash 3 2048 2 20", vm="ws", mem="8M", swap="sim:ssd"), folder)
    return folder


@pytest.mark.parametrize("kinds", ["all", "data"])
def test_the_trace_of_refstring_is_the_string(tmp_path: Path, kinds: str) -> None:
    string = "1 2 3 4 1r 2 5 1 2r 3 4 5"
    made = record(replace(SMALL, run=f"refstring {string}"), tmp_path / "result", kinds=kinds)
    space = next(row["space"] for row in made.spaces if row["name"] == "refstring")
    data = [run for run in runs_of(made.trace) if run[0] == space and run[2] != INSTRUCTION]
    array = min(page for _, page, *_ in data if page in MMAP_AREA)
    mine = [(page - array + 1, kind, count) for _, page, kind, count, _ in data if array <= page < array + 5]
    found = []
    for number, runs in groupby(mine, key=lambda run: run[0]):
        counts = [0, 0, 0]
        for _, kind, count in runs:
            counts[kind] += count
        found.append(f"{number}{'' if counts[STORE] else 'r'}")
        assert counts[STORE] <= 1 <= counts[LOAD] <= 2, "an exchange loads twice when its store faults"
    assert " ".join(found) == string


def test_recording_leaves_telemetry_and_console_as_they_are(busy: Path, tmp_path: Path) -> None:
    plain = experiment.run(results.load(busy).settings(), tmp_path / "plain")
    assert plain.telemetry().samples[-1]["vm"]["pswpin"], "nothing was swapped in: this compares too little"
    for name in (results.TELEMETRY, results.CONSOLE):
        assert (plain.folder / name).read_bytes() == (busy / name).read_bytes(), name


def check_user_time(exits: list[dict], spaces: list[dict]) -> None:
    """Each process's instructions equal its user time: a nanosecond each, and entering the kernel counts as user
    time."""
    for exit_ in exits:
        instructions = sum(row["instructions"] for row in spaces if row["pid"] == exit_["pid"])
        entries = exit_["minflt"] + exit_["majflt"] + 100
        assert -1000 < exit_["us"][0] * 1000 - instructions < 80 * entries, exit_


def test_instructions_are_the_user_time_of_the_telemetry(busy: Path) -> None:
    exits = results.load(busy).telemetry().exits
    assert len(exits) == 4
    check_user_time(exits, Reader(busy / TRACE).spaces)


def test_fetches_are_the_instructions_that_qemu_logs(tmp_path: Path) -> None:
    if "-singlestep" not in subprocess.run([qemu.PROGRAM, "-help"], capture_output=True, text=True).stdout:
        pytest.skip("this QEMU cannot log every instruction by an option of its own")
    log = tmp_path / "log"
    settings = replace(SMALL, run="sh -c 'true; echo a | wc'")
    flags = f"-singlestep -d exec,nochain -dfilter 0x8000000..0x8ffffff -D {log}"
    experiment.run(replace(settings, qemu_flags=flags), tmp_path / "logged")
    logged: list[int] = []
    for line in log.read_text().splitlines():
        if found := re.match(r"Trace \d+: \S+ \[\w+/(\w+)/", line):
            logged.append(int(found[1], 16) >> 12)
        elif line.startswith("Stopped execution"):  # an interrupt came first
            logged.pop()
    runs = runs_of(record(settings, tmp_path / "result").trace)
    begun = [page for _, page, kind, _, insns in runs if kind == INSTRUCTION for _ in range(insns)]
    assert len(set(begun)) > 5 and begun == logged


def test_counting_by_function_and_recording_agree_on_instructions(busy: Path, tmp_path: Path) -> None:
    symbols = plugin.symbols(qemu.ROOT)
    flags = plugin.flags("profile", out=tmp_path / "profile.csv", symbols=symbols)
    experiment.run(replace(results.load(busy).settings(), qemu_flags=flags), tmp_path / "result")
    with (tmp_path / "profile.csv").open(newline="") as file:
        counted = {row["function"]: int(row["instructions"]) for row in csv.DictReader(file)}
    by_cr3: dict[str, int] = {}
    for row in Reader(busy / TRACE).spaces:
        name = f"(user {row['cr3']:08x})"
        by_cr3[name] = by_cr3.get(name, 0) + row["instructions"]
    assert {name: count for name, count in counted.items() if name.startswith("(user")} == by_cr3
    functions = {line.split()[2] for line in symbols.read_text().splitlines()}
    assert {name for name in counted if not name.startswith("(")} <= functions
    assert counted["trap_page_fault"] > 0 and counted["(boot)"] > 0


@pytest.mark.soak
def test_without_fetches_the_loads_and_stores_are_the_same(busy: Path, tmp_path: Path) -> None:
    made = record(results.load(busy).settings(), tmp_path / "result", kinds="data")
    everything = runs_of(busy / TRACE)
    assert merged(runs_of(made.trace)) == merged([run for run in everything if run[2] != INSTRUCTION])
    last = {run[0]: i for i, run in enumerate(everything) if run[2] != INSTRUCTION}
    after = sum(run[4] for i, run in enumerate(everything) if i > last[run[0]])
    assert Reader(busy / TRACE).totals["instructions"] - made.totals["instructions"] == after


def test_spaces_are_told_apart_though_page_directories_are_used_again(tmp_path: Path) -> None:
    command = "sh -c 'true; echo a; true; ls / | wc; forkbomb 3; echo b'"
    made = record(replace(SMALL, run=command), tmp_path / "result")
    by_cr3: dict[int, set[int]] = {}
    for row in made.spaces:
        by_cr3.setdefault(row["cr3"], set()).add(row["pid"])
    assert any(len(pids) > 1 for pids in by_cr3.values()), "no page directory was used again: this tests nothing"
    data = made.result.telemetry()
    events = [event for event in data.events if event["ev"] == "mm"]
    key = ("pid", "comm", "cr3", "t_us")
    rows = [(row["pid"], row["name"], row["cr3"], row["since_us"]) for row in made.spaces]
    assert sorted(rows) == sorted(tuple(event[name] for name in key) for event in events)
    names = {row["pid"]: row["name"] for row in made.spaces}  # the last space of a process is its final program
    assert [names[exit_["pid"]] for exit_ in data.exits] == [exit_["comm"] for exit_ in data.exits]
    check_user_time(data.exits, made.spaces)


def test_without_telemetry_spaces_have_no_names(tmp_path: Path) -> None:
    made = record(replace(SMALL, run="true", cmdline="telemetry=off"), tmp_path / "result")
    assert len(made.spaces) == 3 and all(row["name"] == f"cr3 {row['cr3']:#x}" for row in made.spaces)


def test_the_plugin_ends_qemu_when_it_cannot_write(tmp_path: Path) -> None:
    names = {"birth": "telemetry_mm", "death": "pgd_destroy"} | OF_FILES
    places = dict(zip(names, map(hex, plugin.addresses(qemu.ROOT, *names.values()))))
    flags = plugin.flags("trace", out="/dev/full", **places)
    settings = replace(SMALL, run="thrash 2 512 3", qemu_flags=flags)
    result = experiment.run(settings, tmp_path / "result")
    assert result.meta["exit"] == qemu.NO_QEMU
    assert (
        plugin.complaint(result.folder / results.QEMU_LOG)
        == "the trace is lost, /dev/full cannot be written: No space left on device"
    )


@pytest.mark.parametrize(
    "options",
    ["mode=nosuch", "out=x", "mode=trace", "mode=profile", "mode=trace,kinds=some", "mode=profile,out=x,symbols=/"],
)
def test_the_plugin_refuses_bad_options(tmp_path: Path, options: str) -> None:
    result = experiment.run(replace(SMALL, qemu_flags=f"-plugin {plugin.PLUGIN},{options}"), tmp_path / "result")
    assert result.meta["exit"] == qemu.NO_QEMU and plugin.complaint(result.folder / results.QEMU_LOG)


# The command.


def refused(done: subprocess.CompletedProcess, folder: Path, code: int, said: str) -> None:
    """Checks that the command failed in this way, and left nothing that looks like a trace."""
    assert done.returncode == code and said in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
    assert not list(folder.parent.rglob(f"{TRACE}*"))


@pytest.mark.parametrize(
    "script, code, said",
    [
        ('case $1 in -help) exit ;; esac; exec $QEMU "$@"', errors.NO_TOOL, "--enable-plugins"),
        (
            'case $1 in -help|--version) exec $QEMU "$@" ;; esac; echo no memory for you >&2; exit 1',
            errors.FAILED,
            "QEMU ended by itself: no memory for you; there is no trace",
        ),
        pytest.param(
            'case $1 in -help|--version) exec $QEMU "$@" ;; esac; exec timeout -s KILL 1 $QEMU "$@"',
            errors.FAILED,
            "QEMU ended by itself",
            marks=pytest.mark.soak,
        ),
    ],
    ids=["no_plugins", "never_starts", "is_killed"],
)
def test_trouble_with_qemu_leaves_no_trace(tmp_path: Path, script: str, code: int, said: str) -> None:
    env = qemu_replaced(tmp_path / "bin", script)
    command = ("trace", "record", "thrash 2 512 1000000", *QUICK, "--out", "result")
    refused(tidemark(*command, cwd=tmp_path, env=env), tmp_path / "result", code, said)


def test_a_panic_leaves_no_trace(tmp_path: Path) -> None:
    done = tidemark("trace", "record", "true", "--cmdline", "crash=null", "--out", "result", cwd=tmp_path)
    refused(done, tmp_path / "result", errors.FAILED, "the kernel panicked: panic: page fault in the kernel")


@pytest.mark.soak
def test_a_full_disk_leaves_no_trace(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tidemark.cli", "trace", "record", "ls /", *QUICK, "--out", "result"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)),
    )
    refused(done, tmp_path / "result", errors.NO_SPACE, "cannot write the trace")


@pytest.mark.soak
def test_a_command_that_fails_has_been_recorded(tmp_path: Path) -> None:
    done = tidemark("trace", "record", "false", *QUICK, "--out", "result", "--json", cwd=tmp_path)
    assert done.returncode == errors.FAILED and "the command failed" in done.stderr
    assert json.loads(done.stdout)["totals"] == Reader(tmp_path / "result" / TRACE).totals


@pytest.mark.soak
def test_a_run_that_takes_too_long_keeps_what_came(tmp_path: Path) -> None:
    done = tidemark("trace", "record", "thrash 2 512 1000000", *QUICK, "--timeout", 2, "--out", "result", cwd=tmp_path)
    assert done.returncode == errors.FAILED and "did not end in time" in done.stderr
    trace = Reader(tmp_path / "result" / TRACE)
    assert {row["whole"] for row in trace.spaces} == {False}
    assert sum(int(columns[3].sum()) for columns in trace.runs()) == trace.totals["references"] > 0


@pytest.mark.soak
def test_ctrl_c_keeps_what_came(tmp_path: Path) -> None:
    process = tidemark_in_background("trace", "record", "thrash 2 512 1000000", *QUICK, "--out", "result", cwd=tmp_path)
    partial = tmp_path / "result" / f"{TRACE}.partial"
    deadline = time.monotonic() + 60
    while not (partial.exists() and partial.stat().st_size > 1000) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == errors.INTERRUPTED and "Traceback" not in said, said
    trace = Reader(tmp_path / "result" / TRACE)
    assert {row["whole"] for row in trace.spaces} == {False}
    assert "thrash" in {row["name"] for row in trace.spaces}
    assert sum(int(columns[3].sum()) for columns in trace.runs()) == trace.totals["references"] > 0
    assert results.load(tmp_path / "result").meta["state"] == "interrupted"


def test_an_interrupted_trace_that_was_not_closed_is_no_trace(tmp_path: Path) -> None:
    partial = tmp_path / "x.tmt.partial"
    partial.write_bytes(example())
    with pytest.raises(TraceError):
        Reader(partial)


def test_an_image_without_symbols_is_refused(tmp_path: Path) -> None:
    for name in (qemu.KERNEL, qemu.INITRD):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).symlink_to(qemu.ROOT / name)
    with pytest.raises(LabError, match=r"\.nm does not exist; `make` writes it"):
        record(replace(SMALL, run="true", image=tmp_path), tmp_path / "result")
    (tmp_path / plugin.SYMBOLS).write_text("c0100000 T something_else\n")
    with pytest.raises(LabError, match="this kernel has no telemetry_mm"):
        record(replace(SMALL, run="true", image=tmp_path), tmp_path / "result")


@pytest.mark.soak
def test_out_may_be_the_trace_itself(tmp_path: Path) -> None:
    done = tidemark("trace", "record", "refstring 1 2 3", *QUICK, "-o", "x.tmt", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "x.tmt").is_file() and json.loads(done.stdout)["trace"] == "x.tmt"
    assert [path.name for path in tmp_path.glob("results/*/meta.json")] == ["meta.json"]


def test_a_trace_cannot_go_where_there_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="nowhere is not a folder"):
        record(replace(SMALL, run="true"), tmp_path / "result", out=tmp_path / "nowhere" / "t.tmt")
    assert not (tmp_path / "result").exists()
