"""`tidemark gdb`: places of a run are reproduced bit for bit, and the commands that go back."""

from __future__ import annotations

import json
import random
import re
import shutil
from pathlib import Path

import pytest
from debugger import NO_TRACEBACK, Session, marked, replayed
from gdbstub import Stub
from lab import tidemark
from tidemark import errors
from tidemark.debug import replay
from tidemark.machine import plugin, qemu
from tidemark.runs import result_image, results

SIZE = 8 << 20
RUN = ("--mem", "8M", "--swap", "sim:ssd", "-q")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result of a short run that swaps."""
    place = tmp_path_factory.mktemp("back")
    ran = tidemark("run", *RUN, "-o", "run", "thrash", "3", "2048", "2", cwd=place)
    assert ran.returncode == errors.OK, ran.stderr
    return place / "run"


def debug(folder: Path, *steps: str, place: tuple[str, ...]) -> Session:
    """Takes the steps in gdb at a place of the run, without a traceback."""
    session = replayed(folder, place, *steps)
    assert not NO_TRACEBACK.search(session.output), session.output
    return session


def where(text: str) -> int:
    """The place to which a command went, in ns."""
    (found,) = re.findall(r"^at (\d+)\.(\d{9}) s, ", text, re.MULTILINE)
    return int(found[0] + found[1])


def state(run: replay.Places, at: int, scratch: Path) -> tuple[int, str, str]:
    """The state of the machine at a place: its time, its registers, its memory."""
    arrived = run.go(replay.Place("here", at=at))
    with Stub(arrived.gdb) as stub:
        return arrived.ns, stub.registers(), stub.memory(SIZE, scratch)


def some_places(run: replay.Places, nr: int) -> list[int]:
    """Places around faults, while the machine is busy, in any order."""
    rng = random.Random(1)
    (fault,) = plugin.addresses(qemu.ROOT, "do_page_fault")
    faults = [event[1] for event in run.past(pcs=str(fault))]
    return [rng.choice(faults) + rng.randrange(20000) for _ in range(nr)]


@pytest.mark.parametrize("time", ["15ms", "0.02"])
def test_time_is_that_of_the_kernels_clock_which_stands_for_samples(folder: Path, time: str) -> None:
    said = debug(folder, place=("--at", time)).output
    (found,) = re.findall(r"^at (\d+\.\d{9}) s, (\d+\.\d{9}) s by the kernel's clock$", said, re.MULTILINE)
    place, clock = (int(one.replace(".", "")) for one in found)
    assert clock == replay.time_of(time) and clock + 50_000 < place < clock + 1_000_000


@pytest.mark.parametrize("nr", [4, pytest.param(500, marks=[pytest.mark.soak, pytest.mark.timeout(3600)])])
def test_places_are_found_again_to_the_bit(folder: Path, tmp_path: Path, nr: int) -> None:
    run = replay.Places(results.load(folder), qemu.ROOT, tmp_path)
    try:
        at = some_places(run, nr)
        first = {ns: state(run, ns, tmp_path) for ns in at}
        again = {ns: state(run, ns, tmp_path) for ns in reversed(at)}
    finally:
        run.close()
    assert [ns for ns in at if first[ns] != again[ns]] == []
    assert all(first[ns][0] == ns for ns in at)
    assert len({found[1:] for found in first.values()}) > nr // 2


def test_an_instruction_counted_and_one_waited_for_are_at_the_same_place(folder: Path, tmp_path: Path) -> None:
    run = replay.Places(results.load(folder), qemu.ROOT, tmp_path)
    (insert,) = plugin.addresses(qemu.ROOT, "policy_call_insert")
    try:
        events = run.past(pcs=str(insert))
        nth = random.Random(2).randrange(len(events) // 2, len(events))
        assert run.go(replay.Place("here", pc=str(insert), nth=nth)).ns == events[nth - 1][1]
    finally:
        run.close()


def test_gdb_goes_back_by_steps_calls_and_breakpoints(folder: Path) -> None:
    steps = [
        *marked("eip", "p/x $eip"),
        *marked("call", "tm-back call"),
        *marked("insn", "x/i $pc"),
        *marked("step", "tm-back"),
        "break policy_call_insert",
        *marked("break", "tm-back break"),
        *marked("forth", "continue"),
        *marked("again", "tm-back break"),
        "delete",
        *marked("none", "tm-back break"),
    ]
    session = debug(folder, *steps, place=("--fault", "700"))
    call = where(session.answer("call"))
    assert "call" in session.answer("insn") and "<do_page_fault>" in session.answer("insn")
    assert where(session.answer("step")) == call - 1
    assert "policy_call_insert (" in session.answer("break") and where(session.answer("break")) < call
    assert "Breakpoint 1, " in session.answer("forth")  # clang begins the function with one that it inlines
    assert where(session.answer("again")) == where(session.answer("break")), session.output
    assert "no breakpoint is enabled" in session.answer("none")


def test_gdb_finds_who_wrote_last_and_the_life_of_a_page(folder: Path) -> None:
    steps = [
        *marked("when", "tm-when &current_task"),
        *marked("before", "tm-when &current_task"),
        *marked("life", "tm-history 5 0xb6e01000"),
    ]
    session = debug(folder, *steps, place=("--event", "exit:1"))
    last, before = (where(session.answer(name)) for name in ("when", "before"))
    assert "written by" in session.answer("when") and "schedule" in session.answer("when"), session.output
    assert before < last
    life = session.answer("life")
    words = re.findall(r"faulted in|taken from the process|evicted", life)
    assert words[:3] == ["faulted in", "taken from the process", "evicted"], life
    times = [float(found) for found in re.findall(r"^ *\d+ +([\d.]+) s", life, re.MULTILINE)]
    assert times == sorted(times)


def test_a_panic_says_how_to_come_to_its_cause(tmp_path: Path) -> None:
    ran = tidemark("run", "-q", "-o", "run", "--cmdline", "crash=null", "true", cwd=tmp_path)
    (event,) = re.findall(r"`tidemark gdb run --event (\S+)` puts gdb there", ran.stderr)
    session = debug(tmp_path / "run", *marked("fault", "tm-back fault"), place=("--event", event))
    assert "crash_null ()" in session.answer("fault"), session.output


def test_what_cannot_be_is_refused_in_a_line(folder: Path, tmp_path: Path) -> None:
    def refusal(*words: str, code: int = errors.USAGE, env: dict[str, str] | None = None) -> str:
        done = tidemark("gdb", *words, cwd=tmp_path, env=env)
        assert done.returncode == code and len(done.stderr.splitlines()) == 1, done.stderr
        return done.stderr

    run = str(folder)
    assert "is not a result" in refusal("nowhere", "--end", code=errors.BAD_INPUT)
    assert "say where" in refusal(run)
    assert "say where" in refusal(run, "--end", "--at", "1")
    assert "is not a time" in refusal(run, "--at", "soon")
    assert "it has fault, panic" in refusal(run, "--event", "nothing")
    assert re.search(r"beyond the end of the run, at \d", refusal(run, "--at", "1000", code=errors.BAD_INPUT))
    assert "gdb is not installed" in refusal(run, "--end", code=errors.NO_TOOL, env={"PATH": "/nowhere"})


def changed(folder: Path, copy: Path, **settings: object) -> Path:
    """A copy of a result without its image, with changes in meta.json."""
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("image"))
    meta = json.loads((copy / results.META).read_text())
    meta["settings"] |= settings
    meta["image"]["sha256"] = "0" * 64
    (copy / results.META).write_text(json.dumps(meta))
    return copy


def test_runs_that_do_not_repeat_are_refused(folder: Path, tmp_path: Path) -> None:
    real = tidemark("gdb", changed(folder, tmp_path / "real", exact=False), "--end", cwd=tmp_path)
    assert (real.returncode, "only exact runs are reproducible" in real.stderr) == (errors.USAGE, True), real.stderr
    other = tidemark("gdb", changed(folder, tmp_path / "other"), "--end", cwd=tmp_path)
    assert (other.returncode, "the image differs" in other.stderr) == (errors.BAD_INPUT, True), other.stderr


def test_a_result_keeps_its_image_once_for_all(folder: Path) -> None:
    image = folder / result_image.FOLDER
    kernel = image / qemu.KERNEL
    assert kernel.read_bytes() == (qemu.ROOT / qemu.KERNEL).read_bytes()
    assert (image / "build/user/thrash").exists()
    copy = result_image.STORE / results.load(folder).meta["image"]["sha256"][:16] / qemu.KERNEL
    assert copy.stat().st_ino == kernel.stat().st_ino or copy.stat().st_dev != kernel.stat().st_dev
