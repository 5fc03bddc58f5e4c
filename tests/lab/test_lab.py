"""`tidemark run` and `tidemark rerun`, and their results."""

from __future__ import annotations

import csv
import json
import random
import re
import shutil
import signal
import statistics
import sys
from pathlib import Path

import pytest
from lab import qemu_replaced, tidemark, tidemark_in_background
from tidemark import cli, errors
from tidemark.commands import options, run
from tidemark.machine import image, qemu
from tidemark.runs import quartiles, repeat, results, summary
from tidemark.telemetry import live, stream

QUICK = ("--swap", "sim:ram", "--mem", "16M", "--cmdline", "sample_ms=1")
START = '{"seq":0,"t_us":0,"ev":"start","schema":2}\n'


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished result; tests that change it use a copy."""
    folder = tmp_path_factory.mktemp("whole") / "result"
    done = tidemark("run", "thrash 2 512 3; false || true", *QUICK, "--vm", "clock", "--out", folder, cwd=folder.parent)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "copy"))


def test_a_result_says_what_was_run_with_what(whole: Path) -> None:
    meta = results.load(whole).meta
    assert meta["state"] == "done" and meta["exit"] == 0
    assert meta["settings"]["vm"] == "clock" and meta["settings"]["run"] == "thrash 2 512 3; false || true"
    assert "vm=clock" in meta["kernel_command_line"] and "-icount" in meta["qemu"]["command"]
    assert meta["image"] == image.describe(qemu.ROOT)
    assert meta["qemu"]["version"] == image.qemu_version()
    results.check_files(results.load(whole))


def test_tables_hold_what_the_telemetry_says(whole: Path) -> None:
    data = results.load(whole).telemetry()
    with (whole / "processes.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["pid"]) for row in rows] == [record["pid"] for record in data.exits]
    assert [int(row["c_b"]) for row in rows] == [record["c_b"] for record in data.exits]
    with (whole / "samples.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["vm.pgfault"]) for row in rows] == [sample["vm"]["pgfault"] for sample in data.samples]
    assert [int(row["free.0"]) for row in rows] == [sample["free"][0] for sample in data.samples]


def test_summary_agrees_with_the_kernels_own(whole: Path) -> None:
    result = results.load(whole)
    numbers = summary.of_result(result)
    console = result.console_path.read_text()
    assert f"faults: {numbers['system']['faults']}, {numbers['system']['major_faults']} of them major" in console
    for row in numbers["processes"]:
        assert any(line.split()[:2] == [str(row["pid"]), row["command"]] for line in console.splitlines())


@pytest.mark.parametrize("width", [80, 120, 200])
def test_no_head_and_no_number_is_cut_on_a_terminal(
    whole: Path, width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    numbers = summary.of_result(results.load(whole))
    for row in numbers["processes"]:
        row["turnaround_ms"] += 76_000
    run.show(numbers, "")
    said = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert "…" not in said and "turnaround" in said and max(map(len, said.splitlines())) <= width
    assert ("gamma" in said) and ("no room for" in said) == (width == 80)


def test_a_half_is_rounded_up_as_in_the_kernel() -> None:
    assert run.half_up(1.0005, 3) == "1.001" and run.half_up(1234.0004999, 3) == "1,234.000"
    assert [run.percent(share) for share in (0.4225, 0.42249, 0.0125, 1 - 0.5775, 1.0, 0)] == [
        "42.3%",
        "42.2%",
        "1.3%",
        "42.3%",
        "100.0%",
        "0.0%",
    ]


def test_rerun_finds_every_byte_the_same(whole: Path) -> None:
    again = tidemark("rerun", whole, cwd=whole.parent)
    assert again.returncode == 0, again.stderr
    assert "the same: telemetry.ndjson" in again.stdout


def test_a_run_with_a_disk_repeats(tmp_path: Path) -> None:
    """The folder becomes a new image each time; the guest writes to it, because its swap area is there."""
    (tmp_path / "files").mkdir()
    (tmp_path / "files/large").write_bytes(b"x" * (8 << 20))
    options = ("--disk", tmp_path / "files", "--swap", "sda", "--mem", "12M", "--out", tmp_path / "result")
    done = tidemark("run", "thrash 3 4096 1", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    again = tidemark("rerun", tmp_path / "result", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert results.load(tmp_path / "result").telemetry().samples[-1]["disk"]["writes"] > 0
    (tmp_path / "files").rename(tmp_path / "others")
    with pytest.raises(errors.LabError, match="only one from a folder"):
        repeat.check_repeatable(results.load(tmp_path / "result"), {})
    (tmp_path / "others").rename(tmp_path / "files")
    refused = tidemark("run", "true", "--disk", tmp_path / "files", "--disk-kind", "ide", cwd=tmp_path)
    assert refused.returncode == errors.USAGE and "add --real" in refused.stderr


def test_rerun_refuses_a_result_that_was_changed(copy: Path) -> None:
    with (copy / "telemetry.ndjson").open("a") as file:
        file.write("{}\n")
    again = tidemark("rerun", copy, cwd=copy.parent)
    assert again.returncode == errors.BAD_INPUT and "changed after the run" in again.stderr


def test_rerun_names_the_first_difference(copy: Path) -> None:
    """As if the machine had counted one more fault, in a result with correct checksums."""
    path = copy / "telemetry.ndjson"
    lines = path.read_text().splitlines(keepends=True)
    at = next(at for at, line in enumerate(lines) if '"sample"' in line)
    record = json.loads(lines[at])
    record["vm"]["pgfault"] += 1
    lines[at] = json.dumps(record, separators=(",", ":")) + "\n"
    path.write_text("".join(lines))
    result = results.load(copy)
    results.finish(result, "done", 0, "", 1.0)
    again = tidemark("rerun", copy, "--json", cwd=copy.parent)
    assert again.returncode == errors.FAILED
    expected = f"vm.pgfault {record['vm']['pgfault']} then, {record['vm']['pgfault'] - 1} now"
    assert expected in again.stderr and f"line {at + 1}:" in again.stderr
    assert json.loads(again.stdout)["same"] is False


def test_rerun_with_another_image_is_refused(whole: Path, tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    for name in (qemu.KERNEL, qemu.INITRD):
        shutil.copy(qemu.ROOT / name, tmp_path / name)
    with (tmp_path / qemu.INITRD).open("ab") as file:
        file.write(b"\0")
    again = tidemark("rerun", whole, "--image", tmp_path, cwd=tmp_path)
    assert again.returncode == errors.BAD_INPUT and "the image differs" in again.stderr


@pytest.mark.parametrize(
    "spoil, said",
    [
        (lambda folder: (folder / "meta.json").unlink(), "is not a result"),
        (lambda folder: (folder / "meta.json").write_text('{"kind": "run", "schema": 999}'), "schema 999"),
        pytest.param(
            lambda folder: (folder / "meta.json").write_text('{"kind": "ru'), "cannot be read", marks=pytest.mark.soak
        ),
        pytest.param(
            lambda folder: (folder / "meta.json").write_text("[]"), "not a run's result", marks=pytest.mark.soak
        ),
        (
            lambda folder: (folder / "meta.json").write_text('{"kind": "run", "schema": 1, "state": "running"}'),
            "not finished",
        ),
    ],
    ids=["no_meta", "another_schema", "half_a_meta", "no_object", "cut_off"],
)
def test_rerun_of_no_result_is_explained(copy: Path, spoil: object, said: str) -> None:
    spoil(copy)
    again = tidemark("rerun", copy, cwd=copy.parent)
    assert again.returncode == errors.BAD_INPUT and said in again.stderr


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "empty"),
        ("GARBAGE\n", "line 1 is not JSON"),
        ("[]\n", "not a JSON object"),
        ('{"seq":0,"ev":"sample","t_us":1}\n', "not a start record"),
        ('{"seq":0,"t_us":0,"ev":"start","schema":999}\n', "schema 999"),
        (START + '{"seq":2,"t_us":9,"ev":"end"}\n', "seq 2 follows 0"),
        (START + '{"seq":1,"t_us":9000,"ev":"sample"}\n', "cut off after 0.009 s"),
        (START + '{"seq":1,"t_us":9,"ev":"end"}\n{"seq"', "last line is cut off"),
    ],
)
def test_telemetry_that_is_not_whole_says_where(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "telemetry.ndjson"
    path.write_text(text)
    with pytest.raises(stream.TelemetryError, match=said):
        stream.read(path)


def test_follower_reads_a_stream_in_any_pieces(tmp_path: Path, whole: Path) -> None:
    text = (whole / "telemetry.ndjson").read_text()
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    source, path, records = random.Random(seed), tmp_path / "stream", []
    follower = stream.Follower(path)
    assert follower.poll() == []
    with path.open("w") as file:
        while text:
            cut = source.randrange(1, 700)
            file.write(text[:cut])
            file.flush()
            text = text[cut:]
            records += follower.poll()
    assert [record["seq"] for record in records] == list(range(len(records)))
    assert records == stream.parse((whole / "telemetry.ndjson").read_text())


@pytest.mark.parametrize(
    "args, said",
    [
        (("run", "false"), "the command failed"),
        (("run", "true", "--cmdline", "crash=null"), "the kernel panicked: panic: page fault in the kernel"),
        pytest.param(("run", "cat"), "the kernel hung", marks=pytest.mark.soak),
        pytest.param(
            ("run", "thrash 1 512 1000000 1000", "--timeout", "1"), "--timeout changes it", marks=pytest.mark.soak
        ),
    ],
    ids=["fails", "panics", "hangs", "never_ends"],
)
def test_a_run_that_goes_wrong_is_a_result_and_a_failure(tmp_path: Path, args: tuple, said: str) -> None:
    done = tidemark(*args, "--out", "result", cwd=tmp_path)
    assert done.returncode == errors.FAILED and said in done.stderr, done.stderr
    meta = results.load(tmp_path / "result").meta
    assert meta["state"] == "done" and meta["exit"] not in (None, qemu.OK)


@pytest.mark.parametrize(
    "command", [("run",), pytest.param(("run", "--real"), marks=pytest.mark.soak), ("trace", "record")], ids=" ".join
)
def test_what_the_kernel_refuses_leaves_no_folder(tmp_path: Path, command: tuple) -> None:
    done = tidemark(*command, "true", "--vm", "nosuch", "--out", "result", cwd=tmp_path)
    assert done.returncode == errors.USAGE and "no such policy; valid: 2q" in done.stderr, done.stderr
    assert not (tmp_path / "result/meta.json").exists() and not list(tmp_path.glob("result/*"))


def test_interrupt_keeps_what_came_and_ends_qemu(tmp_path: Path) -> None:
    process = tidemark_in_background("run", "thrash 8 4096 100", "--mem", "16M", "--out", "result", cwd=tmp_path)
    stream = tmp_path / "result/telemetry.ndjson"
    while process.poll() is None and not (stream.exists() and stream.read_text().count('"sample"') > 1):
        pass
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == errors.INTERRUPTED and "keeps the partial result" in said, said
    result = results.load(tmp_path / "result")
    assert result.meta["state"] == "interrupted" and result.meta["exit"] is None
    assert result.telemetry(partial=True).samples
    again = tidemark("run", "true", "--out", "result", cwd=tmp_path)
    assert again.returncode == 0, "a run that was cut off may be replaced"
    assert not results.load(tmp_path / "result").telemetry().samples[0]["vm"]["pswpout"]


def test_a_result_is_never_overwritten(copy: Path) -> None:
    before = (copy / "meta.json").read_bytes()
    done = tidemark("run", "true", "--out", copy, cwd=copy.parent)
    assert done.returncode == errors.USAGE and "holds a result already" in done.stderr
    (copy.parent / "mine").mkdir()
    (copy.parent / "mine/thesis.txt").write_text("text")
    done = tidemark("run", "true", "--out", "mine", cwd=copy.parent)
    assert done.returncode == errors.USAGE and "something else" in done.stderr
    assert (copy / "meta.json").read_bytes() == before


@pytest.mark.parametrize(
    "script, code, said",
    [
        ("echo QEMU emulator version 4.2.1", errors.NO_TOOL, "too old"),
        pytest.param("echo something else", errors.NO_TOOL, "not a version of QEMU", marks=pytest.mark.soak),
        pytest.param("exit 1", errors.NO_TOOL, "make doctor", marks=pytest.mark.soak),
        (
            'case $1 in --version) exec $QEMU "$@" ;; esac; echo no memory for you >&2; exit 1',
            errors.FAILED,
            "QEMU ended by itself: no memory for you",
        ),
        pytest.param(
            'case $1 in --version) exec $QEMU "$@" ;; esac; kill -9 $$',
            errors.FAILED,
            "QEMU ended by itself",
            marks=pytest.mark.soak,
        ),
        ("trap '' XFSZ; ulimit -f 1; exec $QEMU \"$@\"", errors.NO_SPACE, "is the disk full?"),
    ],
    ids=["too_old", "not_qemu", "broken", "dies_with_a_message", "is_killed", "disk_full"],
)
def test_trouble_with_qemu_is_explained(tmp_path: Path, script: str, code: int, said: str) -> None:
    env = qemu_replaced(tmp_path / "bin", script)
    done = tidemark("run", "thrash 2 512 3", *QUICK, "--out", "result", cwd=tmp_path, env=env)
    assert done.returncode == code and said in done.stderr, done.stderr
    if (tmp_path / "result").exists():
        result = results.load(tmp_path / "result")
        assert (result.meta["state"], result.meta["exit"]) != ("done", qemu.OK)


def test_missing_qemu_and_missing_image_are_explained(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    done = tidemark("run", "true", cwd=tmp_path, env={"PATH": str(tmp_path / "bin")})
    assert done.returncode == errors.NO_TOOL and "make doctor" in done.stderr
    done = tidemark("run", "true", "--image", tmp_path, cwd=tmp_path)
    assert done.returncode == errors.BAD_INPUT and "`make` builds it" in done.stderr


@pytest.mark.parametrize(
    "args, said",
    [
        (("run", 'echo "x"'), "double quote"),
        (("run", "true", "--mem", "lots"), "MEM=lots is not a size"),
        (("run", "true", "--swap", "hda"), "add --real"),
        pytest.param(("run", "true", "--nosuch"), "No such option", marks=pytest.mark.soak),
        pytest.param(("run",), "Missing argument", marks=pytest.mark.soak),
        (("nosuch",), "No such command"),
    ],
)
def test_wrong_usage_is_explained(tmp_path: Path, args: tuple, said: str) -> None:
    done = tidemark(*args, cwd=tmp_path)
    assert done.returncode == errors.USAGE and said in done.stderr
    assert not (tmp_path / "results").exists()


def test_realistic_runs_give_median_and_spread(tmp_path: Path) -> None:
    args = ("run", "thrash 2 512 3", "--real", "--repeats", 3, *QUICK, "--out", "result", "--json")
    done = tidemark(*args, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    turnarounds = [row["mean_turnaround_ms"] for row in shown["runs"]]
    row = next(row for row in shown["spread"] if row["quantity"] == "mean_turnaround_ms")
    assert row["median"] == statistics.median(turnarounds) and row["max"] == max(turnarounds)
    assert [results.load(tmp_path / f"result/{nr}").meta["settings"]["exact"] for nr in (1, 2, 3)] == [False] * 3
    with (tmp_path / "result/runs.csv").open() as file:
        assert [float(row["mean_turnaround_ms"]) for row in csv.DictReader(file)] == turnarounds


def test_quartiles_are_those_of_spreadsheets() -> None:
    assert quartiles.spread([4, 1, 3, 2]) == {"min": 1, "q1": 1.75, "median": 2.5, "q3": 3.25, "max": 4}
    assert quartiles.spread([7]) == {"min": 7, "q1": 7, "median": 7, "q3": 7, "max": 7}


def test_live_line_shows_the_interval_between_two_samples() -> None:
    before = {"t_us": 1_000_000, "idle_us": 0, "vm": {"pgmajfault": 10}, "free": [1, 2, 3]}
    after = {"t_us": 3_000_000, "idle_us": 500_000, "vm": {"pgmajfault": 30}, "free": [1000, 0, 7]}
    line = live.described(before, after)
    assert "3.0 s" in line and "75.0 %" in line and "10.0/s" in line and "1,007 pages" in line


def test_jitter_is_on_the_kernels_command_line_and_in_the_result(tmp_path: Path) -> None:
    settings = options.settings(["true"], cmdline="sample_ms=9", jitter=3)
    assert qemu.command_line(settings).endswith("sample_ms=9 jitter=3")
    assert results.create(tmp_path / "new", settings, "", {}, "", []).meta["jitter"] == "3"
    with pytest.raises(errors.LabError, match="both give a jitter"):
        options.settings(["true"], cmdline="jitter=1", jitter=3)


def test_difference_in_length_is_told() -> None:
    assert repeat.in_lines([b"a"], [b"a", b"b"]) == "1 lines then, 2 now; all lines that both have agree"
    assert "line 2: 'b' then, 'c' now" in repeat.in_lines([b"a", b"b"], [b"a", b"c"])


def test_policies_are_asked_of_the_image() -> None:
    names = {path.stem for path in qemu.ROOT.glob("kernel/mm/policy/*.c") if not path.stem.endswith("test")}
    assert set(image.policies(qemu.ROOT)) == names - {"TEMPLATE"}


def test_help_of_every_command_has_an_example(tmp_path: Path) -> None:
    for command in cli.Modules().values():
        for one in getattr(command, "commands", {"": command}).values():
            assert re.search("Examples?:", one.help), one.name
    assert tidemark("--help", cwd=tmp_path).returncode == 0
