"""The labs in gdb: the five faults appear at the places in the key; keys of `follow` are those of the run itself."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from confined import NEEDS_SANDBOX
from debugger import marked, replayed
from gdbstub import Stub
from grading import starter
from lab import tidemark
from soak import soak_but
from tidemark.debug import replay
from tidemark.grade.build import machines
from tidemark.grade.intake import lab
from tidemark.grade.judge.kinds import fault_place
from tidemark.grade.judge.quiz import followed, personal, sheet
from tidemark.grade.model import Outcome, Personal, Verdict
from tidemark.machine import qemu
from tidemark.runs import results

pytestmark = pytest.mark.graded

HUNTED = {each.name: each for each in machines.listed(qemu.ROOT, "hunt")}
ANSWERS = "labs/hunt/answers.toml"
SECRET = b"a course's secret of 2027"
MIB = 1 << 20


def verdicts(folder: Path, text: str, release: Path = qemu.ROOT) -> list[Verdict]:
    """The verdicts on the lab's tests with these answers."""
    (folder / ANSWERS).parent.mkdir(parents=True, exist_ok=True)
    (folder / ANSWERS).write_text(text)
    hunt = lab.load(qemu.ROOT, "hunt")
    machine = SimpleNamespace(lab=hunt, tree=folder, release=release)
    return [fault_place.judge(test, machine) for test in hunt.tests]


def test_places_are_graded_by_function_and_line(tmp_path: Path) -> None:
    solution = (qemu.ROOT / ANSWERS).read_text()
    assert [one.fraction for one in verdicts(tmp_path, solution)] == [1] * 10
    assert not any(one.fraction for one in verdicts(tmp_path, solution, release=tmp_path))
    assert all("not answered yet" in one.message for one in verdicts(tmp_path, starter("hunt", ANSWERS)))
    elsewhere = re.sub(r"line = (\d+)", lambda match: f"line = {int(match[1]) + 40}", solution)
    assert [one.fraction for one in verdicts(tmp_path, elsewhere)] == [1, 0] * 5
    other = solution.replace("kernel/mm/space", "kernel/mm/frame")
    assert sum(one.fraction for one in verdicts(tmp_path, other)) == 2
    for broken in ("[hunt1", "hunt1 = 3", '[hunt1]\nfile = 1\nfunction = ""\nline = 0', "\0"):
        assert verdicts(tmp_path, broken)[0].outcome is Outcome.WRONG


@pytest.mark.parametrize("name", soak_but(HUNTED, "hunt4"))
def test_a_fault_shows_and_its_tree_is_right_without_it(name: str, tmp_path: Path) -> None:
    machine = HUNTED[name]
    faulty = machines.make(qemu.ROOT, machine)
    words = [str(faulty / machines.DISK) if word == "DISK" else word for word in machine.run]
    (right,) = machines.listed(qemu.ROOT, "follow")
    for image, shows in ((faulty, True), (machines.make(qemu.ROOT, right), False), (qemu.ROOT, False)):
        shutil.rmtree(tmp_path / str(shows), ignore_errors=True)
        ran = tidemark("run", "-q", "--image", str(image), "-o", str(tmp_path / str(shows)), *words, cwd=tmp_path)
        console = (tmp_path / str(shows) / results.CONSOLE).read_text()
        assert bool(ran.returncode) == bool(re.search(machine.says, console)) == shows, console[-2000:]
        assert "puts gdb there" in ran.stderr or not shows
    again = tidemark("rerun", str(tmp_path / "True"), "--image", str(faulty), cwd=tmp_path)
    assert not again.returncode, again.stderr


@pytest.mark.soak
def test_hunt4_can_be_walked_with_what_the_handout_says(tmp_path: Path) -> None:
    """From the word that must not be read to its page-table entry, and to the flush that comes too late."""
    machine = HUNTED["hunt4"]
    words = ("run", "-q", "--image", str(machines.make(qemu.ROOT, machine)), "-o", str(tmp_path / "run"), *machine.run)
    tidemark(*words, cwd=tmp_path)
    steps = ["tm-when &nr_corrupt", "print op->verb", "tm-why 0x60005000", "tm-when pte 0x60005000"]
    flush = ["break tlb_flush_all", "continue", *marked("flush", "bt")]
    session = replayed(tmp_path / "run", ["--event", "exit:1"], *steps, *flush)
    for said in ("written by do_op", "114 'r'", "reading  minor fault", "written by zap_table in zap_range"):
        assert said in session.output, session.output
    assert "mm_destroy" in session.answer("flush") and "zap_range" not in session.answer("flush")


def test_lists_of_machines_hold_nothing_that_moves_lines() -> None:
    for machine in HUNTED.values():
        source = (qemu.ROOT / machine.file).read_text()
        assert machine.changed(source).count("\n") == source.count("\n")
        assert any(f"{machine.function}(" in line for line in source.splitlines())


def entry(folder: Path, image: Path, at: int, address: int, scratch: Path) -> int:
    """The page-table entry of an address in the current directory, read from memory without gdb."""
    run = replay.Places(results.load(folder), image, scratch)
    try:
        arrived = run.go(replay.Place("here", at=at))
        with Stub(arrived.gdb) as stub:
            stub.monitor(f'pmemsave 0 {8 * MIB} "{scratch / "memory"}"')
            stub.send("g")
            registers = stub.receive()
    finally:
        run.close()
    memory = np.fromfile(scratch / "memory", "<u4")
    # eax ... eip, eflags, six segments, three bases and k_gs_base, then cr0, cr2, cr3: 32 bits each
    words = np.frombuffer(bytes.fromhex(registers[: 24 * 8]), "<u4")
    directories = [int(word) for word in words if word and word % 4096 == 0 and word < 8 * MIB]
    for directory in directories:
        table = int(memory[directory // 4 + (address >> 22)]) & -4096
        if 0 < table < 8 * MIB:
            return int(memory[table // 4 + (address >> 12 & 1023)])
    raise AssertionError(registers)


@pytest.mark.soak
def test_keys_of_follow_are_those_of_the_run(tmp_path: Path) -> None:
    quiz = lab.load(qemu.ROOT, "follow").quiz
    assert quiz
    (machine,) = machines.listed(qemu.ROOT, "follow")
    image = machines.make(qemu.ROOT, machine)  # from today's kernel, so that no other test builds it meanwhile
    shutil.rmtree(qemu.ROOT / followed.KEPT, ignore_errors=True)
    ada = personal.drawn(qemu.ROOT, "follow", quiz, Personal("Ada", SECRET))
    keys = {each.name: each.key for each in ada.asked}
    assert list(keys) == list(quiz.questions) and len({each.text for each in ada.asked}) == 10
    assert keys["before"] >> 8 == keys["slot"] and keys["after"] >> 12 == keys["frame"]
    words = [str(word) for word in ada.string]
    ran = tidemark("run", "-q", "--image", str(image), "-o", str(tmp_path / "run"), *words[6:-1], cwd=tmp_path)
    assert not ran.returncode, ran.stderr
    (tmp_path / "places").mkdir()
    run = replay.Places(results.load(tmp_path / "run"), image, tmp_path / "places")
    try:
        nth = int(words[-1].split()[1])
        begun = run.go(replay.Place("fault", pc=replay.instructions(image, "do_page_fault"), nth=nth)).ns
    finally:
        run.close()
    written = begun + keys["waited"]
    found_there = [
        entry(tmp_path / "run", image, at, keys["page"], tmp_path / "places") for at in (begun, written, written + 1)
    ]
    assert found_there == [keys["before"], keys["before"], keys["after"]]
    bob = personal.drawn(qemu.ROOT, "follow", quiz, Personal("Bob", SECRET))
    assert bob.string != ada.string and [each.key for each in bob.asked] != [each.key for each in ada.asked]
    personal.drawn.cache_clear()
    shutil.rmtree(qemu.ROOT / followed.KEPT)
    assert personal.drawn(qemu.ROOT, "follow", quiz, Personal("ada", SECRET)) == ada


def test_a_sheet_of_follow_has_commands_and_takes_hexadecimal() -> None:
    quiz = lab.load(qemu.ROOT, "follow").quiz
    assert quiz
    string = ("tidemark", "run", "--image", "machines/follow", "thrash", "3", "--fault 7")
    asked = tuple(followed.Question(name, followed.TEXTS[name], 1) for name in quiz.questions)
    text = sheet.text_of("follow", "Ada", quiz, personal.Drawn(string, asked))
    assert "tidemark gdb results/follow --fault 7" in text and "key" not in text
    assert sheet.number("0x0005F302") == 0x5F302 and sheet.number("3068809216") == 3068809216
    assert sheet.number("0x") is None and sheet.number("-1") is None and sheet.number("9" * 14) is None


@NEEDS_SANDBOX
def test_follow_without_a_secret_says_so(tmp_path: Path) -> None:
    refused = tidemark("grade", "follow", "--submission", str(qemu.ROOT / "labs/follow"), cwd=tmp_path)
    assert refused.returncode and "grading it takes the course's secret" in refused.stderr


def test_a_students_tree_has_machines_but_neither_list_nor_keys() -> None:
    withheld = {file for name in ("follow", "hunt") for file in lab.load(qemu.ROOT, name).withholds}
    assert {
        "labs/hunt/machines.toml",
        "labs/follow/machines.toml",
        followed.__file__.split(f"{qemu.ROOT}/")[1],
    } == withheld
    with mock.patch.object(machines, "make", return_value=qemu.ROOT / "labs/hunt"):
        files = [place for _, place in machines.files(qemu.ROOT, "hunt", lambda text: None)]
    assert {path.parts[1] for path in files} == set(HUNTED) and Path("machines/hunt1/handout.md") in files
