"""`tidemark why`: who took a page's frame, what its fault cost, and the resident page that is needed last, judged by a
naive look at a complete trace of references."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from event_runs import read
from lab import tidemark
from tidemark.debug import evictions, next_uses
from tidemark.machine import qemu
from tidemark.runs import results
from tidemark.telemetry import events
from tidemark.telemetry.events import Events, Kind
from tidemark.trace import record
from tidemark.trace.format import Reader
from tidemark.trace.pack import CAME

THRASH = ("run", "thrash 4 2048 2 300", "--mem", "9M", "--swap", "sim:hdd")
RUNS = {
    "2q": (*THRASH, "--events"),
    "plain": THRASH,
    "cap": ("run", "phase 256 128 4 2000", "--vm", "fifo", "--frames", "60", "--swap", "sim:ssd", "--events"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each of RUNS."""
    parent = tmp_path_factory.mktemp("why")
    for name, words in RUNS.items():
        done = tidemark(*words, "--out", name, cwd=parent)
        assert done.returncode == 0, done.stderr
    return parent


def settings_of(folder: Path) -> qemu.Settings:
    return replace(results.load(folder).settings(), image=qemu.ROOT)


def naive(found: Events, place: int, recording: record.Recording) -> dict[tuple[int, int], float]:
    """By pid and page, for each page that is resident at an event, the number of the run of references in which it is
    used next, or infinity. An INSERT follows each eviction here, before any program runs, and the recording has it."""
    rows = found.rows
    frames: dict[int, tuple[int, int]] = {}
    for row in rows[:place]:
        if row["kind"] == Kind.INSERT:
            frames[row["frame"]] = int(row["pid"]), int(row["page"])
        elif row["kind"] == Kind.EVICT or (row["kind"] == Kind.REMOVE and row["how"] == events.Out.FREED):
            del frames[row["frame"]]
    own = (rows["kind"] == Kind.INSERT) & (rows["how"] != events.In.PREFETCH) & (rows["store"] <= events.SWAP)
    came = [note for note in recording.notes if note.tag == CAME]
    assert len(came) == own.sum()
    begin, pids = came[int(own[:place].sum())].at, {row["space"]: row.get("pid", 0) for row in recording.spaces}
    uses: dict[tuple[int, int], float] = dict.fromkeys(frames.values(), float("inf"))
    number = 0
    for spaces, pages, *_ in Reader(recording.trace).runs():
        for space, page in zip(spaces.tolist(), pages.tolist()):
            key = pids[space], page
            if number >= begin and uses.get(key) == float("inf"):
                uses[key] = number
            number += 1
    return uses


def test_next_uses_are_those_of_a_complete_trace(folder: Path, tmp_path: Path) -> None:
    result = results.load(folder / "cap")
    found, _ = read(folder / "cap")
    recording = record.record(settings_of(folder / "cap"), tmp_path / "trace", notes=True)
    assert recording.result.telemetry_path.read_bytes() == result.telemetry_path.read_bytes()
    chosen = found.of(Kind.SELECT)
    for place in chosen[[0, len(chosen) // 2, -1]].tolist():
        again = next_uses.repeated(result, qemu.ROOT, tmp_path, place, lambda records: None)
        next_uses.check_same(found, again)
        mine, others = next_uses.after(again, place)
        expected, row = naive(found, place, recording), found.row(place)
        assert (mine.page.pid, mine.page.page) == (row.pid, row.page)
        uses = {(use.page.pid, use.page.page): use.ns for use in (mine, *others)}
        assert uses.keys() == expected.keys() and len(uses) > 20
        assert {page for page, ns in uses.items() if ns is None} == {
            p for p, n in expected.items() if n == float("inf")
        }
        in_order = [uses[page] for page in sorted(expected, key=lambda page: expected[page]) if uses[page] is not None]
        assert in_order == sorted(in_order) and len(in_order) > 5


def test_why_tells_what_the_events_say(folder: Path) -> None:
    """Of the fault that waited longest, found as a reader finds it: from the list."""
    found, data = read(folder / "2q")
    listed = tidemark("why", "2q", "-q", cwd=folder)
    assert listed.returncode == 0, listed.stderr
    words = listed.stdout.splitlines()[1].split("tidemark why ")[1].split()
    longest = evictions.longest(found, 1)[0]
    assert words[:5] == ["2q", "--pid", str(longest.pid), "--page", hex(longest.page)]
    done = tidemark("why", *words, "-q", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["policy"] == data.start["policy"] and said["fault"]["wait_ns"] == longest.wait_ns
    assert said["next_use_ns"] == said["fault"]["begin_ns"] == longest.begin_ns < said["back"]["ns"]
    chosen, freed = said["chosen_ns"], said["freed_ns"]
    assert chosen <= freed <= said["taken"]["ns"] and said["farthest"]["page"] != longest.page
    rows = found.rows
    (gone,) = np.flatnonzero((rows["ns"] == freed) & (rows["kind"] == Kind.EVICT))
    assert (rows["pid"][gone], rows["page"][gone], rows["frame"][gone]) == (longest.pid, longest.page, said["frame"])
    assert rows["other"][gone] != 0 and said["reason"] in ("kswapd", "direct")
    shown = tidemark("why", *words, "-q", cwd=folder)
    assert f"Page {longest.page:#x} of thrash {longest.pid} was chosen by 2q at" in shown.stdout
    assert f"waited {longest.wait_ns / 1e6:,.3f} ms of" in shown.stdout and "pages were resident" in shown.stdout


def test_taker_that_is_read_ahead_is_the_page_that_is_claimed(folder: Path) -> None:
    found, _ = read(folder / "2q")
    rows, seen = found.rows, 0
    for gone in found.of(Kind.EVICT):
        took = evictions.taker(found, evictions.Eviction(1, 1, 0, int(gone)))
        if took and took.how == events.In.PREFETCH:
            comes = rows[(rows["kind"] == Kind.INSERT) & (rows["frame"] == took.frame) & (rows["ns"] > took.ns)]
            if len(comes) and comes[0]["how"] == events.In.CLAIM:
                assert (took.pid, took.page) == (comes[0]["pid"], comes[0]["page"])
                seen += 1
    assert seen > 20


def test_why_records_the_events_of_a_run_without(folder: Path) -> None:
    done = tidemark("why", "plain", "-q", cwd=folder)
    assert done.returncode == 0 and "plain has no events: repeating the run" in done.stderr
    assert (events.read(folder / "plain").rows == events.read(folder / "2q").rows).all()
    (folder / "plain" / events.FILE).unlink()


def test_why_says_what_it_cannot_answer(folder: Path) -> None:
    found, _ = read(folder / "2q")
    rows = found.rows
    evicted = {(row.pid, row.page) for row in found.each(found.of(Kind.EVICT))}
    pid, page = next(iter(evicted))
    kept = next((row.pid, row.page) for row in found.each(found.of(Kind.FAULT)) if (row.pid, row.page) not in evicted)
    first = rows["ns"][np.flatnonzero((rows["kind"] == Kind.SELECT) & (rows["pid"] == pid) & (rows["page"] == page))[0]]
    for words, said in (
        (("--pid", 9999, "--page", "1"), "no process with pid 9999 ran; the run has 1 init"),
        (("--pid", pid, "--page", "0x1"), "never had a page 0x1"),
        (("--pid", pid, "--page", hex(page << 12)), "is not the number of a page"),
        (("--pid", kept[0], "--page", hex(kept[1])), "was never evicted"),
        (("--pid", pid, "--page", hex(page), "--at", "4000"), "--at: the run ended at"),
        (("--pid", pid, "--page", hex(page), "--at", f"{first - 1}ns"), "after --at"),
        (("--pid", pid, "--page", "x"), "--page x is not a number"),
        (("--pid", pid), "give both --pid and --page"),
    ):
        done = tidemark("why", "2q", *words, "-q", cwd=folder)
        assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1, done.stderr
