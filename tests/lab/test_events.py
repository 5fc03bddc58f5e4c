"""`tidemark run --events`: the event stream, judged by the kernel's own counters, and what is drawn and exported."""

from __future__ import annotations

import gzip
import json
import shutil
import time
from bisect import bisect_right
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from event_runs import read
from lab import tidemark
from tidemark.debug import evictions
from tidemark.errors import LabError
from tidemark.report import event_lanes, figure, sources
from tidemark.runs import recording, results
from tidemark.telemetry import event_tracks, events, tracks
from tidemark.telemetry.events import FAILED, MAJOR, MINOR, Account, Events, Kind, Why

MOST_BYTES, MANY, LIMIT_S = 32 << 20, 1_000_000, 2.0
# Under 2q a process fills memory while another runs, under ws one is held back, and fifo has a cap on frames.
RUNS = {
    "2q": ("run", "thrash 4 2048 2 300", "--mem", "9M", "--swap", "sim:hdd"),
    "ws": ("run", "thrash 6 2048 2 300", "--mem", "9M", "--vm", "ws", "--swap", "sim:ssd"),
    "cap": ("run", "phase 256 128 4 2000", "--vm", "fifo", "--frames", "60", "--swap", "sim:ssd"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each of RUNS, with events; and the first without."""
    parent = tmp_path_factory.mktemp("events")
    for name, words in RUNS.items():
        done = tidemark(*words, "--events", "--out", name, cwd=parent)
        assert done.returncode == 0, done.stderr
    done = tidemark(*RUNS["2q"], "--out", "plain", cwd=parent)
    assert done.returncode == 0, done.stderr
    return parent


def test_run_is_the_same_bytes_with_and_without_it(folder: Path) -> None:
    for name in results.RAW:
        assert (folder / "2q" / name).read_bytes() == (folder / "plain" / name).read_bytes()
    assert not (folder / "plain" / events.FILE).exists() and not list(folder.glob("*/events.raw*"))


def counted(found: Events) -> dict[str, np.ndarray]:
    """By the name of a counter of the telemetry, the ns of the events that it counts."""
    rows = found.rows
    kind, how, ns = rows["kind"], rows["how"], rows["ns"]
    reason, ends = how >> 8 & 3, kind == Kind.FAULT_END
    return {
        "switches": ns[kind == Kind.SWITCH],
        "pgfault": ns[ends & (how != FAILED)],
        "pgmajfault": ns[ends & (how == MAJOR)],
        "pgevict": ns[kind == Kind.EVICT],
        "pgtrim": ns[(kind == Kind.SELECT) & (reason == Why.TRIM)],
        "pgrescued": ns[(kind == Kind.PUTBACK) & (how == 1)],
        "admission_wait": ns[kind == Kind.HOLD],
    }


@pytest.mark.parametrize("name", RUNS)
def test_counts_are_the_kernel_s_at_each_sample(folder: Path, name: str) -> None:
    """A sample's time is cut to a microsecond, so events of that one may be before or after it."""
    found, data = read(folder / name)
    for counter, ns in counted(found).items():
        for sample in data.samples:
            least, most = np.searchsorted(ns, [1000 * sample["t_us"], 1000 * (sample["t_us"] + 1)])
            value = sample["switches"] if counter == "switches" else sample["vm"][counter]
            assert least <= value <= most, (counter, sample["t_us"])
    requests = found.rows[found.of(Kind.REQUEST)]
    assert requests["frame"][requests["how"] == 1].sum() == data.samples[-1]["vm"]["pswpout"]
    assert data.samples[-1]["vm"]["pgevict"] > 50 and bool(data.samples[-1]["vm"]["admission_wait"]) == (name == "ws")
    assert (np.diff(found.rows["ns"].astype("i8")) >= 0).all()


@pytest.mark.parametrize("name", RUNS)
def test_faults_and_their_waits_are_the_kernel_s_of_each_process(folder: Path, name: str) -> None:
    """The kernel's accounts tell how long faults waited; here switches and wake-ups do. Some instructions, a nanosecond
    each, are between the reading of the clock and the switch."""
    found, data = read(folder / name)
    counts, waits, since, open_ = Counter(), Counter(), {}, {}
    for row in found.each(found.of(Kind.FAULT, Kind.FAULT_END, Kind.SWITCH, Kind.WAKE)):
        if row.kind == Kind.FAULT:
            open_[row.pid] = 0
        elif row.kind == Kind.FAULT_END:
            counts[row.pid, row.how] += 1
            waits[row.pid, row.how == MAJOR] += open_.pop(row.pid)
        elif row.kind == Kind.SWITCH and row.how == Account.PAGEWAIT:
            since[row.other] = row.ns
        elif row.kind == Kind.WAKE and row.pid in since:
            waited = row.ns - since.pop(row.pid)
            if row.pid in open_:
                open_[row.pid] += waited
    assert data.exits
    for one in data.exits:
        pid = one["pid"]
        assert (counts[pid, MINOR], counts[pid, MAJOR]) == (one["minflt"], one["majflt"])
        for major, us in ((True, one["fault_delay_us"]), (False, one["minor_delay_us"])):
            assert waits[pid, major] / 1000 == pytest.approx(us, rel=1e-3, abs=50)
    longest = evictions.longest(found, 10)
    assert longest == sorted(longest, key=lambda one: -one.wait_ns)
    for one in longest:
        (end,) = np.flatnonzero((found.rows["ns"] == one.end_ns) & (found.rows["kind"] == Kind.FAULT_END))
        assert evictions.fault(found, int(end)) == one


def slices(every: list[dict]) -> dict[tuple[int, int], list[tuple[float, float, str]]]:
    """By process and track: begin, end and name of the slices, in order."""
    found = defaultdict(list)
    for one in every:
        if one["ph"] == "X":
            found[one["pid"], one["tid"]].append((one["ts"], one["ts"] + one["dur"], one["name"]))
    return {track: sorted(pieces) for track, pieces in found.items()}


def test_export_has_slices_that_do_not_overlap_and_arrows_between_them(folder: Path) -> None:
    """By the rules of the trace-event format: slices of a track do not cross, and an arrow begins and ends in one."""
    done = tidemark("export", "2q", "--to", "perfetto", cwd=folder)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    every = json.loads(gzip.decompress((folder / "2q.perfetto.json.gz").read_bytes()))["traceEvents"]
    of_track, found = slices(every), events.read(folder / "2q")
    for pieces in of_track.values():
        assert all(after[0] >= before[1] - 1e-6 for before, after in zip(pieces, pieces[1:]))
    count = Counter(int(kind) for kind in found.rows["kind"])
    names = Counter(name.split(" ")[0] for pieces in of_track.values() for _, _, name in pieces)
    assert names["evict"] == count[Kind.EVICT] and names["end"] == count[Kind.DONE]
    faults = sum(len(pieces) for (_, track), pieces in of_track.items() if track == event_tracks.FAULTS and _)
    assert faults == count[Kind.FAULT_END]
    arrows = defaultdict(list)
    for one in every:
        if one["ph"] in "stf":
            arrows[one["cat"], one["id"]].append(one)
            pieces = of_track[one["pid"], one["tid"]]
            at = bisect_right(pieces, (one["ts"] + 1e-6, 0.0, "")) - 1
            assert pieces[at][0] - 1e-6 <= one["ts"] <= pieces[at][1] + 1e-6, one
    shapes = Counter((what, "".join(one["ph"] for one in points)) for (what, _), points in arrows.items())
    assert set(shapes) <= {("request", "stf"), ("request", "sf"), ("refault", "sf")}
    assert shapes["request", "stf"] > 50 and shapes["refault", "sf"] > 50
    assert all(points[0]["ts"] <= points[-1]["ts"] for points in arrows.values())


def test_export_without_events_says_what_is_missing(folder: Path) -> None:
    done = tidemark("export", "plain", "--to", "perfetto", cwd=folder)
    assert done.returncode == 0 and "plain has no events, so single faults" in done.stderr
    assert "traceEvents" in json.loads((folder / "plain.perfetto.json").read_text())


def many(found: Events) -> Events:
    """A stream of MANY events: a real one again and again, each time later, with other numbers in it."""
    times = -(-MANY // len(found))
    rows = np.tile(found.rows, times)[:MANY]
    turn = np.repeat(np.arange(times), len(found))[:MANY]
    rows["ns"] += (turn * found.rows["ns"][-1]).astype("u8")
    rows["page"] += np.where(rows["kind"] != Kind.TASK, turn, 0).astype("u4")
    rows["ns"] += np.sort(np.random.default_rng(1).integers(0, 1000, MANY).astype("u8"))
    return Events(rows, True)


def test_a_million_events_are_small_and_drawn_at_once(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "2q", tmp_path / "run")
    path = tmp_path / "run" / events.FILE
    events.write(path, many(events.read(folder / "2q")))
    assert len(events.read(tmp_path / "run")) == MANY and path.stat().st_size <= MOST_BYTES
    run = sources.gather([tmp_path / "run"]).runs[0]
    begun = time.process_time()
    drawn = event_lanes.figure(run, events.read(run.result.folder), "x")
    figure.save(drawn, tmp_path)
    assert time.process_time() - begun <= LIMIT_S
    done = tidemark("export", "run", "--to", "perfetto", cwd=tmp_path)
    made = tmp_path / "run.perfetto.json.gz"
    assert done.returncode == 0 and made.stat().st_size <= MOST_BYTES, done.stderr
    with gzip.open(made) as file:
        first, last = file.readline(), b""
        for line in file:
            last = line
    assert first.startswith(b'{"displayTimeUnit"') and last.endswith(b"]}\n")


def test_lanes_have_the_time_of_the_kernel_s_accounts(folder: Path) -> None:
    """The shares of a process add up to its accounts."""
    found, data = read(folder / "2q")
    run = sources.gather([folder / "2q"]).runs[0]
    edges = np.linspace(0, float(found.rows["ns"][-1]), event_lanes.INTERVALS + 1)
    of_process = event_lanes.lanes(run, found, edges)
    for one in data.exits:
        spent = dict(zip(event_lanes.NAMES, of_process[f"{one['comm']} {one['pid']}"].sum(axis=1) / 1000))
        accounts = dict(zip(tracks.ACCOUNTS, one["us"]))
        assert spent["waiting for a page"] == pytest.approx(accounts["pagewait_us"], rel=1e-3, abs=100)
        assert spent["running"] == pytest.approx(accounts["user_us"] + accounts["kernel_us"], rel=0.05, abs=300)
    counts = event_lanes.evictions(found, edges)
    assert sum(count.sum() for count in counts.values()) == data.samples[-1]["vm"]["pgevict"]


def test_events_that_contradict_the_kernel_are_removed(folder: Path, tmp_path: Path) -> None:
    """As those of a plugin that reads another field would."""
    shutil.copytree(folder / "cap", tmp_path / "run")
    result = results.load(tmp_path / "run")
    recording.check(result)
    found = events.read(result.folder)
    rows = found.rows.copy()
    pid = result.telemetry().exits[0]["pid"]
    rows["how"][np.flatnonzero((rows["kind"] == Kind.FAULT_END) & (rows["pid"] == pid))[0]] ^= 1
    events.write(result.folder / events.FILE, Events(rows, True))
    with pytest.raises(LabError, match="of another version than the kernel"):
        recording.check(result)
    assert events.read(result.folder) is None


def test_bad_streams_get_a_sentence(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "2q", tmp_path / "run")
    path = tmp_path / "run" / events.FILE
    whole = path.read_bytes()
    columns = dict(np.load(path))

    def made(**more: object) -> bytes:
        np.savez(path, **(columns | {name: np.array(value) for name, value in more.items()}))
        return path.read_bytes()

    for data, said in (
        (whole[: len(whole) // 2], "is cut short or malformed"),
        (b"", "is cut short or malformed"),
        (made(version=events.VERSION - 1), f"is of version {events.VERSION - 1}, this program reads {events.VERSION}"),
        (made(whole=False), "the event stream was cut short"),
    ):
        path.write_bytes(data)
        done = tidemark("why", "run", "--pid", "5", "--page", "1", "-q", cwd=tmp_path)
        assert done.returncode == 3 and said in done.stderr and "Traceback" not in done.stderr, done.stderr
    for words in (("--real",), ("--owners",)):
        done = tidemark(*RUNS["cap"][:2], "--events", *words, cwd=tmp_path)
        assert done.returncode == 2 and "--events" in done.stderr, done.stderr


def test_an_interrupted_run_keeps_its_events(tmp_path: Path) -> None:
    done = tidemark("run", "thrash 8 4096 100", "--mem", "16M", "--events", "--timeout", "3", "-o", "x", cwd=tmp_path)
    assert done.returncode == 1
    found = events.read(tmp_path / "x")
    assert found and not found.whole and len(found) > 0
    assert tidemark("why", "x", "-q", cwd=tmp_path).returncode == 3
