"""The lab `thrashing`: full marks for the solution, and the messages about mistakes in the guard and in answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from grading import solution, starter
from soak import soak_but
from tidemark.grade import model
from tidemark.grade.judge.kinds import answers, guard
from tidemark.grade.model import Outcome, Verdict
from tidemark.grade.witness import boot_cache
from tidemark.grade.witness.boot import Boot
from tidemark.grade.witness.evidence import EVENT, READ, SWITCH, Evidence
from trials import Trial, changed, trial

pytestmark = pytest.mark.graded

TOKEN, ANSWERS = "kernel/mm/guard/token.c", "labs/thrashing/answers.toml"
FIVE, ALONE = (
    "five processes in 14 MiB: at most 0.6 of the time",
    "nor is one alone that is larger than memory",
)
KNEE, MEMORY, PAGES = (
    "answer knee: with how many processes it does not yet thrash",
    "answer memory_mib: with how much memory seven do not",
    "answer pages_read: how many pages five of them read in 14 MiB",
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    """A machine with the solution."""
    return trial("thrashing", tmp_path_factory.mktemp("thrashing"))


@pytest.fixture
def tried(lab: Trial) -> Trial:
    """The machine of `lab`, with solution and answers restored."""
    lab.lay(solution(TOKEN))
    (lab.machine.tree / ANSWERS).write_text(solution(ANSWERS))
    return lab


def judged(tried: Trial, title: str) -> Verdict:
    """The verdict of a test of the lab."""
    return tried.judge(tried.test(title))


def answered(tried: Trial, title: str, text: str) -> Verdict:
    """The verdict on an answers.toml with this text; nothing is built."""
    (tried.machine.tree / ANSWERS).write_text(text)
    return answers.judge(tried.test(title), tried.machine)


# --- the guard ---


@pytest.mark.soak
def test_token_that_the_first_keeps_for_ever_slows_down(tried: Trial) -> None:
    """Step 2 of the handout: a process larger than memory, and alone, spares its pages and must read them all again."""
    text = changed(
        starter("thrashing", TOKEN), "\tt->faults++;\n", "\tt->faults++;\n\tif (!holder)\n\t\tholder = mm;\n"
    )
    tried.lay(changed(text, "return false;", "return holder && owner == holder;"))
    verdict = judged(tried, ALONE)
    assert verdict.outcome is Outcome.OVER_BUDGET and verdict.fraction == 0, verdict.message


MISTAKES = {
    "goes_by_another_name": ('.name = "token"', '.name = "mine"'),
    "reads_more_at_a_time": (
        "\t++*faults_of(mm);",
        "\textern u32 page_cluster;\n\n\tpage_cluster = 5;\n\t++*faults_of(mm);",
    ),
    "lacks_a_hook": ("\t.spare = token_spare,\n", "\t.spare = 0 ? token_spare : NULL,\n"),
}
SAID = {
    "goes_by_another_name": (Outcome.NO_BOOT, "guard=token: no such guard; valid: none|"),
    "reads_more_at_a_time": (Outcome.BROKE_RULE, "token_fault() in kernel/mm/guard/token.c writes to page_cluster"),
    "lacks_a_hook": (Outcome.NO_BOOT, "guard=token rule=hooks: one of spare, may_run, pressure, tick must be there"),
}


@pytest.mark.parametrize("mistake", soak_but(MISTAKES, "lacks_a_hook"))
def test_mistake_is_named(tried: Trial, mistake: str) -> None:
    tried.lay(changed(solution(TOKEN), *MISTAKES[mistake]))
    verdict = judged(tried, FIVE)
    outcome, words = SAID[mistake]
    assert verdict.outcome is outcome and words in verdict.message, verdict.message


def computed(*instructions: int) -> Evidence:
    """Evidence of a run in which spaces 1, 2, ... executed these numbers of instructions of programs."""
    user = np.cumsum([0, *instructions])
    rows = [(SWITCH, 0, space, 0, 0, int(at), int(at)) for space, at in enumerate(user[:-1], start=1)]
    events = np.array([*rows, (READ, 0, len(rows), 0, 0, int(user[-1]), int(user[-1]))], EVENT)
    return Evidence(events, [], int(user[-1]), 1, False, True)


def measured(seen: Evidence) -> guard.Without:
    """What a run without a guard came to that left this evidence."""
    return guard.Without(seen.virtual_ns / 1e9, seen.instructions, guard.work(seen).tolist(), 1, [])


def test_work_left_undone_is_found() -> None:
    none = measured(computed(500, 9_000_000, 9_000_000))
    assert guard.shirked(none, computed(9_010_000, 300, 9_000_100)) == ""
    assert "executed 8,000,000 instructions, without it 9,000,000" in guard.shirked(
        none, computed(9_000_000, 8_000_000)
    )
    assert "1 processes computed, without it 2" in guard.shirked(none, computed(9_000_000))


@pytest.mark.parametrize(
    ("seconds", "made", "fraction"),
    [
        ((5, 5, 5, 99, 99), 3, 1),
        ((5, 99, 5, 99, 5), 5, 1),
        ((99, 5, 20, 20, 5), 4, 0),
        ((5, 20, 7, 7, 5), 5, 0.75),
        ((5, None), 2, 0),
    ],
)
def test_runs_that_decide_nothing_more_are_not_made(
    seconds: tuple[int | None, ...], made: int, fraction: float, tried: Trial, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a guard it takes 10 s; 6 s get full points, 10 s get none. None: the machine stops."""
    runs = iter(seconds)
    mine = []

    def run(*_: object) -> Boot:
        took = next(runs)
        seen = replace(computed(9_000_000), virtual_ns=(took or 0) * 10**9)
        mine.append(Boot(Outcome.RIGHT if took else Outcome.HUNG, "it stopped", "", seen))
        return mine[-1]

    none = measured(replace(computed(9_000_000), virtual_ns=10**10))
    monkeypatch.setattr(guard, "without", lambda *_: none)
    monkeypatch.setattr(guard, "with_guard", run)
    verdict = guard.judge(
        model.Test("share", 1, "guard", {"run": "true", "jitters": 5, "full": 0.6, "none": 1}), tried.machine
    )
    assert verdict.fraction == pytest.approx(fraction) and len(mine) == made, verdict.message


# --- the answers ---

MEASURED = ("knee = 5", "pages_read = 23_000")  # the other answers are recognized as wrong before anything is booted


@pytest.mark.parametrize(
    ("title", "text", "words"),
    [
        pytest.param(KNEE, "knee = 5", "with 5 it takes", marks=pytest.mark.soak),
        (KNEE, "knee = 10", "a whole number from 2 to 9"),
        (KNEE, "knee = 5.5", "a whole number from 2 to 9"),
        (PAGES, "pages_read = 23_000", "differs by more than 5 %"),
        (PAGES, "pages_read = 0", "not answered yet"),
        (PAGES, "pages_read = true", "not a number"),
        (PAGES, "pages_read = nan", "not a number"),
        (PAGES, "pages_read = " + "9" * 5000, "cannot be read"),
        (PAGES, "pages_read = " + "9" * 400, "far too large"),
        (PAGES, "pages = 1", "not a number"),
        (PAGES, "pages_read", "cannot be read"),
        (PAGES, "\x00", "cannot be read"),
    ],
)
def test_wrong_answer(tried: Trial, title: str, text: str, words: str) -> None:
    if text in MEASURED:
        tried.machine.make("build/tidemark.elf", "build/initramfs.cpio")
    verdict = answered(tried, title, text)
    assert verdict.outcome is Outcome.WRONG and verdict.fraction == 0 and words in verdict.message, verdict.message
    assert "21385" not in verdict.message


@pytest.mark.parametrize(("number", "right"), [(4, False), (5, True), (6, True), (7, True), (8, False)])
def test_limit_has_a_tolerance(number: int, right: bool, tried: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    """The true limit is 6: from 7 on the run takes too long."""

    def run(test: object, machine: object, command: str) -> guard.Without:
        return measured(replace(computed(9_000_000), virtual_ns=int(command) * 10**9))

    monkeypatch.setattr(guard, "without", run)
    options = {"answer": "n", "run": "{n}", "range": [1, 20], "step": 1, "within_s": 6, "tolerance": 1}
    verdict = answers.limit(model.Test("limit", 1, "answers", options), tried.machine, number)
    assert (verdict.outcome is Outcome.RIGHT) is right, verdict.message


# --- runs that are shared ---


def test_a_run_is_made_once_for_a_kernel(tried: Trial, tmp_path: Path) -> None:
    made = []

    class Counting:
        lab, tree, boots = tried.machine.lab, tmp_path, made

        def boot(self, run: str, **options: object) -> Boot:
            made.append(Boot(Outcome.RIGHT, f"{run} {options}", str(len(made)), computed(1)))
            return made[-1]

    (tmp_path / "build").mkdir()
    for name in ("tidemark.elf", "initramfs.cpio"):
        (tmp_path / "build" / name).write_text(str(tmp_path))
    first, again, other = (boot_cache.boot(Counting(), "true", mem=mem) for mem in ("8M", "8M", "16M"))
    assert first is again and other is not first and made == [first, again, other]
    (tmp_path / "build/tidemark.elf").write_text("another kernel")
    assert boot_cache.boot(Counting(), "true", mem="8M") is not first
    for at in range(2 * boot_cache.MOST):
        boot_cache.boot(Counting(), f"echo {at}", mem="8M")
    assert len(boot_cache.known) <= boot_cache.MOST and boot_cache.turns.keys() == boot_cache.known.keys()
