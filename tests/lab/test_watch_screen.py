"""`tidemark watch` on a screen: the view at every size, its keys, and a real run on a terminal."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pexpect
import pytest
from lab import tidemark
from scenes import END, START, numbered, pressure, sample, written
from soak import soak_but
from tidemark import cli
from tidemark.errors import BAD_INPUT, INTERRUPTED, LabError
from tidemark.machine import qemu
from tidemark.runs import results
from tidemark.telemetry.stream import TelemetryError
from tidemark.watch.app import Help, Watch
from tidemark.watch.player import Player
from typer.testing import CliRunner

COMMAND = [sys.executable, "-m", "tidemark.cli", "watch"]


class Script:
    """A source that gives what it is told to; an exception in its list is raised."""

    def __init__(self, *batches: list[dict] | LabError, ended: str = "") -> None:
        self.name, self.ended, self.batches, self.closed = "a script", ended, list(batches), False

    def poll(self) -> list[dict]:
        batch = self.batches.pop(0) if self.batches else []
        if isinstance(batch, LabError):
            raise batch
        return batch

    def close(self) -> None:
        self.closed = True


def thrashing(nr: int) -> tuple[dict, dict]:
    """The records of tenth of a second `nr` of a machine that thrashes."""
    return pressure(100 * nr, 90_000 * nr, nr), sample(100 * nr, full_us=90_000 * nr, majflt=nr)


SCENE = numbered([START, *(record for nr in range(1, 41) for record in thrashing(nr))])


def seen(app: Watch) -> str:
    """What is on the screen."""
    lines = app.screen._compositor.render_strips()
    return "\n".join(strip.text for strip in lines)


def acted(app: Watch, act: Callable, size: tuple[int, int] = (80, 24)) -> Watch:
    """The view after `await act(pilot)`."""

    async def play() -> None:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            while not app._exit and "quit" not in seen(app):  # the last line is drawn last
                await pilot.pause(0.01)
            await act(pilot)

    with ThreadPoolExecutor(1) as thread:  # the main thread has the browser's event loop if another test used it
        thread.submit(asyncio.run, play()).result()
    return app


@pytest.mark.parametrize("size", [(80, 24), (80, 18), (60, 20), (119, 30), (200, 60)], ids=str)
def test_the_view_has_every_part_at_every_size(size: tuple[int, int]) -> None:
    texts = []

    async def look(pilot: object) -> None:
        texts.append(seen(pilot.app))

    acted(Watch(Script(SCENE), Player()), look, size)
    for part in ("2q  thrash 8", "4.00 s", "utilisation", "major faults", "THRASHING", "DMA", "disk", "prog3", "quit"):
        assert part in texts[0]
    if size[0] >= 80:
        assert "prog1" in texts[0]
    if size[0] >= 80 and size[1] >= 24:
        for part in ("Normal", "held 3", "waits 6", "guard: none", "queue 7", "inactive", "3,456", "live"):
            assert part in texts[0]


def test_the_view_follows_the_terminal_s_size() -> None:
    texts = []

    async def resize(pilot: object) -> None:
        for width, height in ((160, 50), (80, 24), (40, 10), (3, 2), (150, 24)):
            await pilot.resize_terminal(width, height)
            await pilot.pause()
            texts.append(seen(pilot.app))

    acted(Watch(Script(SCENE), Player()), resize)
    assert "admit" in texts[0] and "admit" not in texts[1] and "prog3" in texts[1] and "admit" in texts[4]


def test_keys_stop_step_choose_and_leave() -> None:
    shown = []

    async def press(pilot: object) -> None:
        await pilot.press("space", "left", "left", "down", "down", "z")
        await pilot.pause()
        shown.append((pilot.app.moment.now["t_us"], pilot.app.player.paused, pilot.app.chosen, pilot.app.window_s))
        shown.append(seen(pilot.app))
        await pilot.press("end")
        await pilot.pause()
        shown.append(pilot.app.moment.now["t_us"])
        await pilot.press("question_mark")
        await pilot.pause()
        pilot.app.tick()
        shown.append(isinstance(pilot.app.screen, Help))
        await pilot.press("x", "q")

    app = acted(Watch(Script(SCENE), Player()), press)
    assert shown[0] == (3_800_000, True, 2, 60) and "paused" in shown[1] and "2 prog2" in shown[1]
    assert shown[2:] == [4_000_000, True] and app.return_value == 0


@pytest.mark.parametrize("second", soak_but(["key", "click"], "key"))
def test_two_keys_before_help_is_gone_close_it_once(second: str) -> None:
    async def press(pilot: object) -> None:
        await pilot.press("question_mark")
        help_ = pilot.app.screen
        # Both keys are handled before the screen is closed, as when a terminal sends them in one piece.
        help_.on_key()
        help_.on_key() if second == "key" else help_.on_click()
        await pilot.pause()
        assert not isinstance(pilot.app.screen, Help)
        await pilot.press("q")

    assert acted(Watch(Script(SCENE), Player()), press).return_value == 0


def test_a_replay_begins_at_the_first_sample_and_ends_with_a_notice() -> None:
    shown = []

    async def wait(pilot: object) -> None:
        shown.append(pilot.app.moment.now["t_us"])
        await pilot.press("plus")
        shown.append(pilot.app.player.speed)
        await pilot.press("end")
        await pilot.pause()
        shown.append(seen(pilot.app))

    acted(Watch(Script(SCENE, ended="it ended well"), Player(live=False, speed=2**-6)), wait)
    assert shown[:2] == [100_000, 2**-5] and "The machine has ended: it ended well" in shown[2]


def test_a_machine_that_ended_before_its_first_sample_says_how() -> None:
    texts = []

    async def look(pilot: object) -> None:
        texts.append(seen(pilot.app))
        await pilot.press("space", "left", "home", "down", "q")

    why = "the kernel refused its command line: vm=nope is not known; valid are 2q, clock, fifo and ws, and more words"
    app = acted(Watch(Script([], ended=why), Player(live=False)), look)
    assert "ended" in texts[0].split("\n")[0] and f"has ended: {why}. q quits." in " ".join(texts[0].split())
    assert app.return_value == 0


def test_a_click_chooses_a_process() -> None:
    async def click(pilot: object) -> None:
        await pilot.click("#table", offset=(10, 2))

    assert acted(Watch(Script(SCENE), Player()), click).chosen == 2


def test_bad_telemetry_is_shown_and_is_the_exit_status() -> None:
    texts = []

    async def look(pilot: object) -> None:
        for _ in range(3):
            pilot.app.tick()
        await pilot.pause()
        texts.append(seen(pilot.app))
        await pilot.press("q")

    app = acted(Watch(Script(SCENE, TelemetryError("x.ndjson: records are missing")), Player()), look)
    assert "records are missing" in texts[0] and "prog3" in texts[0] and app.return_value == BAD_INPUT


def test_ctrl_c_leaves_as_an_interrupt() -> None:
    async def press(pilot: object) -> None:
        await pilot.press("ctrl+c")

    assert acted(Watch(Script(SCENE), Player()), press).return_value == INTERRUPTED


def test_once_and_json_print_a_moment(tmp_path: Path) -> None:
    path = str(written(tmp_path / "t.ndjson", [*SCENE, {**END}]))
    page = tidemark("watch", path, "--once", "--at", "2.05", cwd=tmp_path)
    assert page.returncode == 0 and "2.000 s   policy 2q" in page.stdout and "THRASHING" in page.stdout
    assert json.loads(CliRunner().invoke(cli.app, ["watch", path, "--json"]).stdout) == SCENE[-1]


def test_what_cannot_be_watched_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "t.ndjson", SCENE)
    written(tmp_path / "gap.ndjson", [START, sample(1)])
    written(tmp_path / "gap.ndjson", [sample(2)], 3)
    written(tmp_path / "other.ndjson", [{**START, "schema": 99}])
    written(tmp_path / "none.ndjson", [START])
    for words, code, said in (
        (("t.ndjson",), 2, "--once"),
        (("gap.ndjson", "--once"), 3, "gap.ndjson: line 3: seq 3 follows 1"),
        (("other.ndjson", "--json"), 3, "schema 99"),
        (("none.ndjson", "--once"), 3, "no sample yet"),
        (("nothing", "--once"), 3, "no such file"),
        (("--once",), 3, "no result"),
        (("--run", "ls", "--once"), 2, "--run needs the view"),
    ):
        done = CliRunner().invoke(cli.app, ["watch", *words])
        assert isinstance(done.exception, LabError) and done.stdout == ""
        assert done.exception.code == code and said in str(done.exception)


def test_without_a_terminal_it_ends_with_a_message(tmp_path: Path) -> None:
    done = tidemark("watch", str(written(tmp_path / "t.ndjson", SCENE)), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "") and "the view needs a terminal; --once" in done.stderr


def terminal(*words: str, cwd: Path) -> pexpect.spawn:
    """`tidemark watch` on a terminal of 80 by 24."""
    environment = {**os.environ, "TERM": "xterm-256color"}
    return pexpect.spawn(
        COMMAND[0], [*COMMAND[1:], *words], cwd=str(cwd), dimensions=(24, 80), timeout=60, env=environment
    )


KEYS = (
    *" z?+-=_aü1/:\t\r\x1b\x7f\x00\x01\x02\x0b\x0c\x0e\x10\x11\x12\x13\x15\x1c",
    *(f"\x1b[{key}" for key in ("A", "B", "C", "D", "H", "F", "Z", "I", "O", "", "3~", "5~", "6~", "1;5A")),
    *("\x1bO", "\x1bOP", "\x1b[<0;10;5M", "\x1b[<0;10;5m", "\x1b[<64;10;15M", "\x1b[<35;70;20M", "\x1b[200~x\x1b[201~"),
)


@pytest.mark.parametrize("number", soak_but(list(range(8)), 0))
def test_no_keys_but_q_end_it(tmp_path: Path, number: int) -> None:
    """Keys, parts of keys and the mouse in any order, in terminals of any size."""
    rng = random.Random(number)
    child = terminal(str(written(tmp_path / "t.ndjson", [*SCENE, {**END, "seq": len(SCENE)}])), cwd=tmp_path)
    child.expect("quit")
    for _ in range(50):
        child.send(rng.choice(KEYS))
        if rng.random() < 0.05:
            child.setwinsize(rng.randint(2, 60), rng.randint(3, 200))
        with contextlib.suppress(pexpect.TIMEOUT):
            child.read_nonblocking(1 << 20, 0)
    child.send("\x1b")
    for size in (25, 81), (24, 80):  # one of them is new, so everything is drawn again, including an open help
        child.setwinsize(*size)
    child.expect("\x1b")
    assert child.isalive()
    for _ in range(3):  # the first may close the help, or complete an unfinished key
        with contextlib.suppress(OSError):
            child.send("q")
    child.expect(pexpect.EOF)
    assert child.wait() == 0


def qemus_in(folder: Path) -> list[str]:
    """The command lines of the QEMUs that write into `folder`."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(path.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return [line for line in lines if qemu.PROGRAM in line.split(" ")[0] and str(folder) in line]


def test_a_run_on_a_terminal_is_shown_to_its_end_and_kept(tmp_path: Path) -> None:
    child = terminal("--run", "thrash 2 128 2 && true", "--mem", "16M", "-o", "out", cwd=tmp_path)
    child.expect("The machine has ended: it ended well")
    child.setwinsize(40, 150)
    child.send("q")
    child.expect(pexpect.EOF)
    assert b"out" in child.before and child.wait() == 0
    assert results.load(tmp_path / "out").meta["state"] == "done"


@pytest.mark.soak
def test_a_run_that_fails_is_the_exit_status(tmp_path: Path) -> None:
    child = terminal("--run", "false", "-o", "out", cwd=tmp_path)
    child.expect("The machine has ended: the command failed")
    child.send("q")
    child.expect("tidemark: the command failed")
    child.expect(pexpect.EOF)
    assert child.wait() == 1


@pytest.mark.parametrize("leave", soak_but(["q", "hang up", "the terminal is gone"], "q"))
def test_leaving_ends_qemu_and_keeps_the_result(tmp_path: Path, leave: str) -> None:
    child = terminal("--run", "thrash 8 8192 1000", "--mem", "24M", "-o", "out", cwd=tmp_path)
    child.expect("thrash")
    assert qemus_in(tmp_path)
    if leave == "the terminal is gone":
        os.close(child.child_fd)
        status = os.waitstatus_to_exitcode(os.waitpid(child.pid, 0)[1])
        child.child_fd, child.closed, child.ptyproc.closed = -1, True, True
    else:
        child.send("q") if leave == "q" else os.kill(child.pid, signal.SIGHUP)
        child.expect("out keeps the partial result")
        child.expect(pexpect.EOF)
        status = child.wait()
    assert status == (0 if leave == "q" else INTERRUPTED)
    assert results.load(tmp_path / "out").meta["state"] == "interrupted" and not qemus_in(tmp_path)
