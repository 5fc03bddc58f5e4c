"""Recording references: the plugin, and `tidemark trace record`. How its stream is packed: test_pack.py."""

from __future__ import annotations

import csv
import json
import re
import resource
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest
from lab import qemu_replaced, tidemark, tidemark_in_background
from tidemark import errors
from tidemark.errors import LabError
from tidemark.machine import plugin, qemu
from tidemark.runs import experiment, results
from tidemark.trace import INSTRUCTION, LOAD, STORE
from tidemark.trace.format import Reader, TraceError
from tidemark.trace.pack import (
    example,
)
from tidemark.trace.record import OF_FILES, TRACE, record

QUICK = ("--swap", "none")
SMALL = qemu.Settings(swap="none", timeout=120)
MMAP_AREA = range(0x40000, 0xB7000)

Run = tuple[int, int, int, int, int]  # space, page, kind, count, insns


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
    flags = f"-singlestep -d exec,nochain -dfilter 0x8000000..0x8ffffff,0xbfffd000..0xbfffdfff -D {log}"
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


def test_qemu_that_stops_executing_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in qemu_replaced(tmp_path / "bin", "exec sleep 60").items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(qemu.Stall, "LOOKS", 2)
    monkeypatch.setattr(qemu.Stall, "BETWEEN", 5)
    stuck = replace(SMALL, run="true", qemu_flags=" -plugin file")
    with pytest.raises(LabError, match=r"has stopped executing, .*: take another version"):
        qemu.unattended(stuck, tmp_path / "console", lambda: None)
