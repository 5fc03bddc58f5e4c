"""`tidemark race`: its clock, its ranking, its picture at every size, and real races with and without a terminal."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pexpect
import pytest
from lab import tidemark
from scenes import END, START, numbered, sample
from soak import soak_but
from tidemark.errors import INTERRUPTED, USAGE
from tidemark.runs import results
from tidemark.watch import race
from tidemark.watch.race import Lane, Race
from tidemark.watch.sources import WELL


class Script:
    """A source that gives its batches one by one, and then ends."""

    def __init__(self, *batches: list[dict], ended: str = WELL) -> None:
        self.name, self.batches, self.ended, self._end = "a script", list(batches), "", ended

    def poll(self) -> list[dict]:
        batch = self.batches.pop(0) if self.batches else []
        self.ended = "" if self.batches else self._end
        return batch

    def close(self) -> None:
        pass


def ends_at(t_ms: int, *cuts: int) -> Script:
    """A machine with a sample every 100 ms that finishes at `t_ms`, and whose records arrive in pieces."""
    records = numbered([START, *(sample(t) for t in range(100, t_ms, 100)), {**END, "t_us": 1000 * t_ms}])
    places = [0, *cuts, len(records)]
    return Script(*(records[a:b] for a, b in zip(places, places[1:])))


def test_the_clock_waits_for_the_slowest_simulation() -> None:
    """The second machine needs more virtual time, but all of its records are available at once."""
    shown = Race([Lane("2q", ends_at(2000, 4, 11)), Lane("ws", ends_at(5000))], speed=0)
    shown.poll()
    shown.advance(0)
    assert shown.clock_us == 300_000 and not shown.over
    shown.poll()
    shown.advance(0)
    assert shown.clock_us == 1_000_000
    shown.poll()
    shown.advance(0)
    assert shown.clock_us == 5_000_000 and shown.over
    assert [shown.place(lane) for lane in shown.lanes] == [1, 2]
    assert race.verdict(shown) == "2q is first: 2.000 s; ws 5.000 s, 2.50 times as long"


def test_the_clock_goes_no_faster_than_one_can_follow() -> None:
    shown = Race([Lane("2q", ends_at(90_000)), Lane("ws", ends_at(3000))], speed=1)
    shown.poll()
    shown.advance(2)
    assert shown.clock_us == 2_000_000 and not shown.done(shown.lanes[1])
    shown.advance(2)
    assert shown.clock_us == 4_000_000 and race.state(shown, shown.lanes[1]) == "first, done at 3.000 s"
    shown.clock_us = 40e6
    shown.advance(1)
    assert shown.clock_us == 50_000_000


def test_equal_machines_share_the_first_place() -> None:
    shown = Race([Lane("ws-1", ends_at(2000)), Lane("ws-2", ends_at(2000))], speed=0)
    shown.poll()
    shown.advance(0)
    assert [race.state(shown, lane).split(",")[0] for lane in shown.lanes] == ["first", "first"]
    assert race.folders(["ws", "2q", "ws"]) == ["ws-1", "2q", "ws-2"]


def test_a_machine_that_fails_is_never_first() -> None:
    """The machine panics early: its telemetry has no end."""
    broken = Script(numbered([START, sample(100)]), ended="the kernel panicked")
    shown = Race([Lane("mine", broken), Lane("ws", ends_at(3000))], speed=0)
    shown.poll()
    shown.advance(0)
    assert shown.over and race.state(shown, shown.lanes[0]) == "the kernel panicked"
    assert race.verdict(shown) == "ws is first: 3.000 s; mine failed: the kernel panicked"
    assert race.verdict(Race([shown.lanes[0]], 0)) == "no machine is first; mine failed: the kernel panicked"


def test_processes_are_counted_once() -> None:
    """One process ends between two samples: the last sample still contains it."""
    gone = {"t_us": 250_000, "ev": "exit", "pid": 2, "comm": "prog2"}
    lane = Lane("ws", Script(numbered([START, sample(100), sample(200), gone, sample(300)])))
    lane.poll()
    assert [lane.ended(t_us) for t_us in (150_000, 260_000)] == [(0, 3), (1, 3)]


@pytest.mark.parametrize("nr", [2, 4])
@pytest.mark.parametrize("size", [(60, 20), (80, 24), (200, 50), (30, 9), (3, 2), (1, 1)], ids=str)
def test_the_picture_fits_at_every_size(size: tuple[int, int], nr: int) -> None:
    shown = Race([Lane(f"policy{at}", ends_at(2000 + 500 * at)) for at in range(nr)], speed=0)
    for clock_us in (0, 1_000_000, 2_100_000, 9_000_000):
        if clock_us:
            shown.poll()
        shown.clock_us = clock_us
        lines = race.screen(shown, "thrash 8", *size).plain.split("\n")
        assert len(lines) <= size[1] and max(map(len, lines)) <= size[0]
    if size >= (60, 20) and nr == 2:
        assert "policy0  first, done" in lines[1] and "policy1" in lines[1] and "9.000 s" in lines[0]


def test_without_a_terminal_it_prints_who_was_first(tmp_path: Path) -> None:
    done = tidemark("race", "--vm", "fifo", "--vm", "ws", "--run", "thrash 2 128 2", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    *_, verdict, folder = done.stdout.splitlines()
    times = {name: results.load(tmp_path / "out" / name).telemetry().end["t_us"] for name in ("fifo", "ws")}
    first = min(times, key=times.get)
    assert verdict.startswith(f"{first} is first: {times[first] / 1e6:,.3f} s") and folder == "out"


@pytest.mark.parametrize(
    ("words", "said"), [(("--vm", "ws"), "two to four"), (("--vm", "ws", "--vm", "2q", "--run", " "), "command line")]
)
def test_bad_use_gets_a_message(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    refused = tidemark("race", *words, cwd=tmp_path)
    assert refused.returncode == USAGE and said in refused.stderr and not list(tmp_path.iterdir())


def racing(folder: Path) -> pexpect.spawn:
    """A long race on a terminal, which has begun."""
    words = ["-m", "tidemark.cli", "race", "--vm", "2q", "--vm", "ws", "--run", "thrash 8 8192 1000", "-o", "out"]
    environment = {**os.environ, "TERM": "xterm-256color"}
    child = pexpect.spawn(sys.executable, words, cwd=str(folder), dimensions=(24, 80), timeout=60, env=environment)
    child.expect("THRASHING|CALM|PRESSED")
    return child


def hang_up(child: pexpect.spawn) -> None:
    os.kill(child.pid, signal.SIGHUP)


def resize_and_stop(child: pexpect.spawn) -> None:
    for size in ((20, 60), (2, 3), (60, 200)):
        child.setwinsize(*size)
        child.expect("\x1b")
    child.sendcontrol("c")


@pytest.mark.soak
def test_a_terminal_that_goes_away_takes_the_machines_with_it(tmp_path: Path) -> None:
    child = racing(tmp_path)
    os.close(child.child_fd)
    status = os.waitstatus_to_exitcode(os.waitpid(child.pid, 0)[1])
    child.child_fd, child.closed, child.ptyproc.closed = -1, True, True
    assert status == INTERRUPTED
    assert [results.load(tmp_path / "out" / name).meta["state"] for name in ("2q", "ws")] == ["interrupted"] * 2


WAYS = [lambda child: child.sendcontrol("c"), hang_up, resize_and_stop]


@pytest.mark.parametrize("leave", soak_but(WAYS, WAYS[2]), ids=lambda way: getattr(way, "__name__", "way"))
def test_a_race_ends_at_once_with_its_machines(tmp_path: Path, leave: Callable[[pexpect.spawn], None]) -> None:
    child = racing(tmp_path)
    leave(child)
    child.expect("out keeps the partial result")
    child.expect(pexpect.EOF)
    assert child.wait() == INTERRUPTED
    assert [results.load(tmp_path / "out" / name).meta["state"] for name in ("2q", "ws")] == ["interrupted"] * 2
