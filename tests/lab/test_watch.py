"""`tidemark watch`: its numbers, its text, its clock, and the source of its records."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scenes import END, START, numbered, pressure, process, recorded, sample, written
from tidemark.errors import LabError
from tidemark.machine import qemu
from tidemark.runs import results
from tidemark.telemetry.stream import TelemetryError
from tidemark.watch import draw, model, sources, table
from tidemark.watch.model import Pressure, Recording
from tidemark.watch.player import Player


def test_the_lamp_is_the_share_of_full_in_the_last_second() -> None:
    samples = [sample(100 * nr, full_us=max(0, nr - 20) * 80_000) for nr in range(31)]
    recording = recorded(samples)
    assert recording.pressure(30) == Pressure(some=0.8, full=0.8, thrashes=False)
    assert recording.pressure(25) == Pressure(some=0.4, full=0.4)
    assert recording.pressure(20).full == 0


def test_the_lamp_takes_all_of_an_interval_longer_than_a_second() -> None:
    recording = recorded([sample(100), sample(4100, full_us=3_000_000)])
    assert recording.pressure(1).full == 0.75
    assert recorded([sample(500, full_us=100_000)]).pressure(0).full == 0.2


@pytest.mark.parametrize(
    ("pressure", "word"),
    [
        (Pressure(1, 0), "CALM"),
        (Pressure(1, 0.099), "CALM"),
        (Pressure(1, 0.1), "PRESSED"),
        (Pressure(1, 1), "PRESSED"),
        (Pressure(1, 0.5, thrashes=True), "THRASHING"),
    ],
)
def test_the_lamp_s_word(pressure: Pressure, word: str) -> None:
    assert draw.lamp(pressure).plain.split()[0] == word


def test_the_lamp_is_red_where_the_definition_says_so() -> None:
    """Equal waits: with pages exchanged, without, and before a second is over."""
    exchanging, waiting = (
        recorded(
            [
                one
                for nr in range(31)
                for one in (pressure(100 * nr, 90_000 * nr, moved * nr), sample(100 * nr, 90_000 * nr))
            ]
        )
        for moved in (9, 0)
    )
    assert exchanging.pressure(30).thrashes and not waiting.pressure(30).thrashes
    assert exchanging.pressure(30).full == waiting.pressure(30).full == 0.9
    assert not exchanging.pressure(5).thrashes


def test_without_psi_the_lamp_says_so() -> None:
    moment = recorded([sample(100, None), sample(200, None)]).moment(1)
    assert moment.pressure is None
    assert "no PSI in this telemetry" in draw.graphs(moment, 40, 12).plain


def test_the_graphs_bins_add_up_to_what_a_counter_has_grown() -> None:
    t = np.array([0.0, 70, 100, 400, 1000]) * 1e3
    counter = np.array([5.0, 10, 40, 40, 100])
    edges = model.edges(t, 0, 13)
    assert np.isclose(np.sum(model.rate(t, counter, edges) * np.diff(edges)), 95)
    edges = model.edges(t, 0.6, 6)
    assert (edges[0], edges[-1]) == (400e3, 1000e3)
    assert np.allclose(model.rate(t, counter, edges) * 1e6, 100)


def test_rates_are_of_the_last_interval() -> None:
    moment = recorded([sample(1000, majflt=10, idle_us=900_000), sample(1500, majflt=15, idle_us=1_300_000)]).moment(1)
    assert model.per_second(moment, "vm", "pgmajfault") == 10
    assert model.utilisation(moment) == pytest.approx(0.2)
    assert model.disk_service(moment) == pytest.approx((0.04, 4, 90))


def test_processes_come_by_size_with_what_they_did() -> None:
    before = [process(1, majflt=3), process(2, sleep_us=5)]
    after = [
        process(1, majflt=4, user_us=25_000, pagewait_us=75_000),
        process(2, rss=900, sleep_us=100_005),
        process(3),
    ]
    rows = model.processes(recorded([sample(100, procs=before), sample(200, procs=after)]).moment(1))
    assert [row["pid"] for row in rows] == [2, 3, 1]
    assert rows[2]["faults_s"] == 10 and rows[2]["shares"] == [0.25, 0, 0, 0.75, 0, 0]


def test_a_pid_used_again_has_no_negative_rates() -> None:
    before, after = process(5, majflt=50, user_us=9000), process(5, majflt=1, pagewait_us=10)
    row = model.processes(recorded([sample(100, procs=[before]), sample(200, procs=[after])]).moment(1))[0]
    assert row["faults_s"] == 0 and row["shares"] == [0, 0, 0, 1, 0, 0]


def test_the_policy_is_the_one_that_took_over_last() -> None:
    recording = Recording()
    taken = {"t_us": 150_000, "ev": "policy", "name": "ws"}
    other = {"t_us": 160_000, "ev": "mm", "pid": 9, "comm": "x"}
    records = numbered([START, sample(100), taken, other, sample(200)])
    recording.add(records[:3])
    assert recording.moment(0).policy == "ws", "what is known belongs to the latest sample"
    recording.add(records[3:])
    assert (recording.moment(0).policy, recording.moment(1).policy) == ("2q", "ws")
    assert recording.moment(1).event["ev"] == "policy"


@pytest.mark.parametrize("missing", ["procs", "vm", "lists", "free"])
def test_a_sample_that_lacks_a_member_is_refused(missing: str) -> None:
    broken = sample(100)
    del broken[missing]
    with pytest.raises(TelemetryError, match=f"seq 1 has no {missing}"):
        recorded([broken])


def test_a_recording_forgets_the_oldest() -> None:
    recording = recorded([sample(100 * nr) for nr in range(250)], keep=100)
    assert 90 <= len(recording.samples) <= 100
    assert recording.index_at(24_900_000) == len(recording.samples) - 1 and recording.index_at(0) == 0
    assert len(recording.moment(50).series["t"]) == 51


def test_bars_are_as_high_as_their_values() -> None:
    assert draw.bars(np.array([0, 0.5, 1, 2, np.nan]), 2, 1) == ["  ██ ", " ███ "]
    assert draw.bars(np.array([0.001, 0.25, 0.75]), 2, 1) == ["  ▄", "▁▄█"]
    assert [draw.top_of(np.array([value])) for value in (0, np.nan, 3, 20, 51)] == [1, 1, 5, 20, 100]


def test_a_zone_s_bar_has_its_marks() -> None:
    zone = {"min": 10, "low": 20, "high": 30}
    assert draw.zone_bar(15, zone, 60).plain == "█" * 10 + "┃" + "█" * 4 + "·" * 5 + "│" + "·" * 9 + "│" + "·" * 29
    assert draw.zone_bar(61, zone, 60).plain[-1] == "▶" and draw.zone_bar(60, zone, 60).plain[-1] == "█"
    colours = [draw.zone_bar(free, zone, 60).spans[0].style for free in (10, 20, 30, 31)]
    assert colours == [draw.MARKS["min"], draw.MARKS["low"], draw.MARKS["high"], draw.MARKS["high"]]


@pytest.mark.parametrize("width", [24, 46, 100])
def test_all_of_the_policy_s_lists_are_shown(width: int) -> None:
    lists = {f"list_{nr}": nr * 1111 for nr in range(15)}
    words = draw.lists(recorded([sample(100, lists=lists)]).moment(0), width).plain.split()
    assert {(words[at], words[at + 1]) for at in range(0, 30, 2)} == {(k, f"{v:,}") for k, v in lists.items()}
    assert "no lists" in draw.lists(recorded([sample(100, lists={})]).moment(0), width).plain


def test_the_guard_s_members_are_shown_when_there_are_any() -> None:
    def shown(**changes: object) -> str:
        return draw.machine(recorded([sample(100, **changes)]).moment(0), 60).plain

    assert "guard: none" in shown()
    assert "guard   state acute  suspended 2" in shown(guard={"state": "acute", "suspended": 2})
    assert (
        "disk    none"
        in draw.machine(recorded([{k: v for k, v in sample(1).items() if k != "disk"}]).moment(0), 60).plain
    )


@pytest.mark.parametrize("width", [40, 79, 80, 118, 119, 120, 200])
def test_no_line_is_wider_than_its_place(width: int) -> None:
    rows = [process(nr, rss=10**nr, comm="a-long-name-of-15") for nr in range(1, 8)]
    moment = recorded([sample(100, 5, 10**6), sample(200, 10**5, 2 * 10**6, procs=rows)]).moment(1)
    drawn = [draw.graphs(moment, width, 12), draw.machine(moment, width), draw.lists(moment, width)]
    found = model.processes(moment)
    drawn += [table.table(found, max(width, 78), 9, 3), table.detail(found[0], width)]
    too_wide = [line for text in drawn for line in text.plain.split("\n") if len(line) > max(width, 78)]
    assert not too_wide and all(len(line) <= width for text in drawn[:3] for line in text.plain.split("\n"))


def test_a_process_s_bar_shows_where_its_pages_are() -> None:
    def bar(**pages: int) -> str:
        return table.bar({"rss": 0, "wss": 0, "swap": 0, **pages}, 100, 20).plain

    assert bar(rss=50, wss=25, swap=50) == "█" * 5 + "▄" * 5 + "·" * 10
    assert bar(rss=50, wss=1, swap=1) == "█" + "▄" * 9 + "·" + " " * 9
    assert bar() == " " * 20 and bar(rss=100, wss=100, swap=5) == "█" * 20


def test_a_terminal_of_60_columns_has_a_whole_table() -> None:
    rows = model.processes(recorded([sample(100, procs=[process(nr, rss=99_999) for nr in range(1, 4)])]).moment(0))
    lines = table.table(rows, 60, 9).plain.split("\n")
    assert [line.split()[-3:] for line in lines[1:]] == [["99,999", str(wss), "0.0"] for wss in (10, 20, 30)]
    assert max(map(len, lines)) <= 60


def test_the_chosen_process_is_among_those_shown() -> None:
    rows = model.processes(recorded([sample(100, procs=[process(nr) for nr in range(1, 60)])]).moment(0))
    for chosen in (59, 30, 1):
        lines = table.table(rows, 80, 8, chosen).plain.split("\n")
        assert len(lines) == 8 and any(line.split()[0] == str(chosen) for line in lines[1:])


def test_the_clock_follows_replays_stops_and_steps() -> None:
    recording = recorded([sample(100 * nr) for nr in range(1, 101)])
    player = Player(speed=2)
    assert player.advance(recording, 0.1, running=True) == 99
    player.go(recording, to_end=False)
    assert player.advance(recording, 0, True) == 0 and not player.live
    assert player.advance(recording, 1, True) == 20
    player.step(recording, -1)
    assert player.paused and player.advance(recording, 9, True) == 19
    player.paused = False
    player.faster(4)
    assert player.advance(recording, 0.5, True) == 59
    assert player.advance(recording, 100, running=False) == 99 and not player.live
    assert player.advance(recording, 0.1, running=True) == 99 and player.live
    for _ in range(200):
        player.step(recording, 1)
    assert player.advance(recording, 0, True) == 99


def test_a_growing_file_is_followed_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "t.ndjson"
    source = sources.File(*sources.find(written(path, [START, sample(100)])))
    assert [record["ev"] for record in source.poll()] == ["start", "sample"]
    assert source.poll() == [] and source.ended == ""
    with path.open("a") as file:
        file.write('{"seq":2,"t_us":3,')
    assert source.poll() == []
    with path.open("a") as file:
        file.write('"ev":"exit"}\n')
    assert source.poll()[0]["ev"] == "exit"
    written(path, [{**END, "status": 2}], 3)
    assert source.poll()[0]["ev"] == "end" and "status 2" in source.ended


def test_a_gap_and_a_file_begun_anew_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "t.ndjson"
    source = sources.File(written(path, [START, sample(100)]))
    source.poll()
    written(path, [sample(200)], 3)
    with pytest.raises(TelemetryError, match=r"t\.ndjson: line 3: seq 3 follows 1"):
        source.poll()
    path.unlink()
    with pytest.raises(TelemetryError, match="begun anew"):
        source.poll()


def result(folder: Path, records: list[dict], **meta: object) -> Path:
    """A result's folder with this telemetry."""
    folder.mkdir(parents=True)
    written(folder / results.TELEMETRY, records)
    kept = {"schema": 1, "kind": "run", "state": "done", "exit": 0, "reason": "it ended well", "started": "1"}
    (folder / results.META).write_text(json.dumps({**kept, **meta}))
    return folder


def test_a_result_must_be_whole_unless_its_run_was_cut_off(tmp_path: Path) -> None:
    records = [START, sample(100)]
    with pytest.raises(TelemetryError, match="no end record"):
        sources.File(*sources.find(result(tmp_path / "done", records))).poll()
    for name, meta in (("stopped", {"state": "interrupted", "exit": None}), ("panic", {"exit": qemu.PANICKED})):
        source = sources.File(*sources.find(result(tmp_path / name, records, reason=name, **meta)))
        assert len(source.poll()) == 2 and source.ended == name


def test_a_running_result_ends_when_its_meta_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "META_EVERY_S", 0)
    folder = result(tmp_path / "a", [START, sample(100)], state="running")
    source = sources.File(*sources.find(folder))
    source.poll()
    assert source.ended == ""
    meta = json.loads((folder / results.META).read_text())
    (folder / results.META).write_text(json.dumps({**meta, "state": "interrupted", "reason": "stopped"}))
    source.poll()
    assert source.ended == "stopped"


def test_without_a_target_it_is_the_newest_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LabError, match="--run"):
        sources.find(None)
    for name, started in (("b", "2026-01-02"), ("a/2", "2026-01-03"), ("c", "2026-01-01")):
        result(Path("results", name), [START], started=started)
    Path("results/broken").mkdir()
    Path("results/broken/meta.json").write_text("{")
    assert sources.find(None)[1].folder == Path("results/a/2")
