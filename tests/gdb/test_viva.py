"""A viva: what the key says of the drawn fault is what gdb shows there."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from debugger import NO_TRACEBACK, marked, replayed
from lab import tidemark
from tidemark.commands import viva
from tidemark.errors import BAD_INPUT, LabError
from tidemark.grade.hand_out import viva_paper
from tidemark.grade.intake import roster
from tidemark.grade.judge.quiz import personal
from tidemark.grade.judge.viva import moment
from tidemark.grade.judge.viva.moment import Moment
from tidemark.grade.model import Personal
from tidemark.telemetry import events
from tidemark.telemetry.events import SWAP, Kind

SECRET = b"a course's secret of 2027"
RUN = ("--vm", "clock", "--frames", "60", "--swap", "sim:ssd", "-q", "phase", "256", "128", "4", "2000")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with Ada's run, and a folder of Bob's that is not a result."""
    place = tmp_path_factory.mktemp("viva")
    ran = tidemark("run", "--events", "-o", "runs/ada", *RUN, cwd=place)
    assert ran.returncode == 0, ran.stderr
    (place / "runs/Bob").mkdir()
    (place / "key").write_bytes(SECRET)
    return place / "runs"


def drawn_for(name: str, folder: Path) -> Moment:
    found = events.read(folder)
    assert found
    return moment.drawn(found, personal.draw_for(Personal(name, SECRET), viva.SCHEMA, "").below)


def test_key_is_what_gdb_shows(runs: Path) -> None:
    asked = drawn_for("Ada", runs / "ada")
    fault, chosen, came = asked.fault, asked.chosen, asked.came
    steps = [
        *marked("fault", 'printf "%d %u\\n", current_task->pid, addr'),
        *marked("entry", "tm-pt current_task->pid addr"),
        "break policy_call_evicted",
        "continue",
        *marked("evicted", "tm-page page"),
        *marked("life", f"tm-history {chosen.pid} {chosen.page << 12:#x}"),
    ]
    session = replayed(runs / "ada", ("--at", f"{fault.ns}ns"), *steps)
    assert not NO_TRACEBACK.search(session.output), session.output
    pid, address = map(int, session.answer("fault").split())
    assert (pid, address >> 12) == (fault.pid, fault.page)
    assert f"swapped out, slot {asked.needed.number}," in session.answer("entry")
    page = session.answer("evicted")
    assert page.startswith(f"frame {chosen.frame:#x},") and f"page {chosen.page:#x}; " in page, page
    came_back = re.findall(r"(?:faulted in|back): frame (0x[0-9a-f]+)", session.answer("life"))
    assert came_back[-1] == f"{came.frame:#x}" == f"{chosen.frame:#x}"
    at = replayed(runs / "ada", ("--at", f"{came.ns}ns"), *marked("task", "print current_task->pid"))
    assert f"= {came.pid}" in at.answer("task")


def test_page_comes_back_when_the_key_says(runs: Path) -> None:
    asked = drawn_for("Ada", runs / "ada")
    assert asked.back and asked.chosen.store <= SWAP
    session = replayed(runs / "ada", ("--at", f"{asked.back.begin_ns}ns"), *marked("addr", 'printf "%u\\n", addr'))
    assert int(session.answer("addr")) >> 12 == asked.chosen.page == asked.back.page


def test_sheet_has_the_way_and_the_key_the_answers(runs: Path) -> None:
    asked = drawn_for("Ada", runs / "ada")
    sheet = "".join(viva_paper.printed("Ada", runs / "ada", asked, "clock").blocks)
    key = "".join(viva_paper.keys("Ada", runs / "ada", asked, "clock").blocks)
    assert f"--at {asked.fault.ns}ns" in sheet and "tm-lists" in sheet
    assert f"page {asked.chosen.page:#x}" in key.lower() and f"{asked.chosen.page:#x}" not in sheet
    assert "major fault" in key


def test_a_run_that_is_missing_costs_one_line(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (runs.parent / "names").write_text("Ada\nBob\nEve\n")
    (runs / "mallory").mkdir(exist_ok=True)
    out, keys = runs.parent / "viva.html", runs.parent / "keys.html"
    with pytest.raises(LabError, match="3 could not be: the lines above say why"):
        viva.viva(runs, runs.parent / "key", out, keys, runs.parent / "names", quiet=True)
    said = capsys.readouterr().err
    assert "Bob: was never run: " in said and "Eve: was never run: " in said
    assert "'mallory' is not on the roster names" in said
    assert out.read_text().count("<article>") == keys.read_text().count("<article>") == 1


def test_two_runs_of_one_name_are_told(tmp_path: Path) -> None:
    for name in ("Ada", "ada", "Bob"):
        (tmp_path / "runs" / name).mkdir(parents=True)
    folders, said = viva.names_of(tmp_path / "runs", None)
    assert list(folders) == ["Bob"] and said == ["'Ada' and 'ada' are one name to the draw: change one"]
    (tmp_path / "names").write_text("Ada\nBob\n")
    folders, again = viva.names_of(tmp_path / "runs", roster.read(tmp_path / "names"))
    assert folders == {"Bob": tmp_path / "runs/Bob"} and again == said


PAGE, NEEDED, FRAME, SLOT = 0xB6000, 0xB6001, 7, 3
Event = dict[str, int]
STORY: dict[str, Event] = {
    "name": {"kind": Kind.TASK, "pid": 4},
    "came": {"kind": Kind.INSERT, "pid": 4, "page": PAGE, "frame": FRAME},
    "fault": {"kind": Kind.FAULT, "pid": 4, "page": NEEDED},
    "chosen": {"kind": Kind.SELECT, "pid": 4, "page": PAGE, "frame": FRAME, "other": 4},
    "gone": {"kind": Kind.EVICT, "pid": 4, "page": PAGE, "frame": FRAME, "other": 4, "store": SWAP, "number": 9},
    "needed": {"kind": Kind.INSERT, "pid": 4, "page": NEEDED, "frame": FRAME, "store": SWAP, "number": SLOT},
    "end": {"kind": Kind.FAULT_END, "pid": 4, "page": NEEDED, "how": events.MAJOR},
}
SWITCH: Event = {"kind": Kind.SWITCH, "pid": 5, "other": 4}
EARLIER: Event = {"kind": Kind.EVICT, "pid": 4, "page": 0xB6009, "frame": 8, "store": SWAP, "number": 8}
INEXACT: dict[str, tuple[str, Event]] = {
    "another task runs before": ("chosen", SWITCH),
    "the write of an earlier page ends first": ("chosen", EARLIER),
    "kswapd asks": ("", {"other": 2}),
    "it has no owner": ("", {"pid": 0}),
    "it is only written": ("", {"how": 2}),
}


def story(before: str = "", more: Event | None = None, change: Event | None = None) -> events.Events:
    """A run's events, 100 ns apart. `more`: one more event before that of this name; `change`: of the
    SELECT."""
    told = []
    for name, event in STORY.items():
        told += [more] if more and name == before else []
        told.append(event | (change or {}) if name == "chosen" else event)
    rows = np.zeros(len(told), events.RECORD)
    for at, event in enumerate(told):
        rows["ns"][at] = 100 * at
        for column, value in event.items():
            rows[column][at] = value
    return events.Events(rows, True)


def test_a_fault_is_taken_if_all_of_it_is_known() -> None:
    found = moment.drawn(story(), lambda limit: 0)
    assert (found.fault.page, found.needed.number, found.chosen.page) == (NEEDED, SLOT, PAGE)
    assert (found.came.ns, found.back) == (100, None)
    with pytest.raises(LabError, match="it has only 1 major fault"):
        moment.drawn(story(), lambda limit: 0, 2)


@pytest.mark.parametrize("case", INEXACT)
def test_a_fault_is_not_taken_if_it_cannot_be_said_exactly(case: str) -> None:
    before, event = INEXACT[case]
    made = story(before, event) if before else story(change=event)
    with pytest.raises(LabError, match="no major fault in which the process itself evicts"):
        moment.drawn(made, lambda limit: 0)


def test_a_run_without_such_a_fault_is_told(tmp_path: Path) -> None:
    found = events.Events(events.rows_of(Path("/dev/null")), True)
    with pytest.raises(LabError, match="no major fault in which the process itself evicts") as error:
        moment.drawn(found, lambda limit: 0)
    assert error.value.code == BAD_INPUT
