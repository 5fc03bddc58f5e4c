"""The lab `readahead`: what is counted of a disk, and the grader's messages about read-ahead with one mistake each."""

from __future__ import annotations

import numpy as np
import pytest
from grading import solution
from soak import soak_but
from tidemark.errors import LabError
from tidemark.grade import model
from tidemark.grade.intake import lab
from tidemark.grade.judge.kinds import reading
from tidemark.grade.model import Outcome
from tidemark.grade.witness.evidence import ENDED, EVENT, FILE_READ, REF, SWITCH, Evidence
from tidemark.machine import qemu
from trials import Trial, changed, trial

AHEAD = solution("kernel/mm/cache/ahead.c")
SEQUENCE = "in sequence, page by page"
RUNS = "short runs at random places"
RANDOM = "a random reader gets what it asks for"
CALLS = "calls that ask for 16 pages at random places"
TWO = "two readers, each with an open file of its own"
COMPUTES = "the disk works while the program computes"
MAPPED = "a mapped file: the window after the one that was read around"
SAYS_RANDOM = "advice: a reader that says it is random"
NONE = "the parameter at 0: each page alone"
ONE_FOR_ALL = AHEAD.replace("ahead->start", "all.start").replace("ahead->next", "all.next")


def options(**given: object) -> model.Test:
    """A test of the kind."""
    return model.Test("a test", 1, "reading", {"readers": ["1-3"], "measure": "pages", **given})


def evidence(*events: tuple[int, int, int], kernel: int = 0) -> Evidence:
    """Evidence of events (kind, a, instructions of programs before it). `kernel`: its instructions before each."""
    rows = np.zeros(len(events), EVENT)
    for number, (row, (kind, a, user)) in enumerate(zip(rows, events)):
        row["kind"], row["a"], row["user"], row["all"] = kind, a, user, user + kernel * number
    return Evidence(rows, [], 4_000_000, 10_000_000, over_budget=False, whole=True)


def test_requests_are_counted_with_their_pages() -> None:
    seen = evidence(
        (FILE_READ, 0, 0),  # by the kernel, before any program ran
        (ENDED, 0, 0),
        (SWITCH, 0, 5),
        (FILE_READ, 7, 9),
        (FILE_READ, 8, 9),
        (ENDED, 0, 9),
        (REF, 7, 10),
        (ENDED, 0, 11),  # of the swap area
        (FILE_READ, 20, 12),
        (ENDED, 0, 12),
    )
    work = reading.work_of(seen)
    assert work.pages.tolist() == [7, 8, 20] and work.sizes.tolist() == [2, 1]
    found = {measure: work.by(measure) for measure in reading.MEASURES}
    assert found == {"requests": 2, "pages": 3, "cost": 19, "largest": 2, "wait": 6.0}


def test_instructions_of_the_kernel_count_as_waiting() -> None:
    """From the first event on before which a program ran."""
    seen = evidence((SWITCH, 0, 0), (FILE_READ, 7, 9), (ENDED, 0, 9), (REF, 7, 10), kernel=500_000)
    assert reading.work_of(seen).wait_ms == 7.0


def test_strings_stand_for_pages() -> None:
    assert reading.strings(options(readers=["1-3", "9"])) == [[1, 2, 3], [9]]
    assert reading.strings(options(readers=["1-3", "9"], turns=True)) == [[1, 9, 2, 3]]
    assert reading.strings(options(readers=["1-2"], stride=10, run=3)) == [[10, 11, 12, 20, 21, 22]]
    assert reading.used(options(readers=["4 1"], stride=16, nr=2)) == {64, 65, 16, 17}


def test_commands_of_one_and_of_several_readers() -> None:
    assert reading.command(options(words="mmap")) == "reader /dev/sda check --nr 1 --work 0 mmap @/pages0"
    two = reading.command(options(readers=["1", "2"], work=5))
    assert two.startswith("sh -c 'reader /dev/sda check --nr 1 --work 5 @/pages0 & reader ") and two.endswith("& wait'")


def test_page_beyond_the_disk_and_unknown_measure_are_named() -> None:
    with pytest.raises(LabError, match="page 4096 is not on the disk of 4096 pages"):
        reading.strings(options(readers=["4096"]))
    with pytest.raises(LabError, match="measure = 'speed'; there are requests, pages"):
        reading.measure_of(options(measure="speed"))


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return trial("readahead", tmp_path_factory.mktemp("readahead"))


MISTAKES = {
    "ends nothing": (RUNS, "\t\tahead->size = 0;\n", "", "cost in pages: full points up to"),
    "never ahead": (COMPUTES, "\tahead->start += ahead->size;\n", "\treturn false;\n", "ms of waiting"),
    "guesses always": (RANDOM, "index == ahead->next && ", "", "pages read from the disk: full points up to"),
    "forgets want": (CALLS, "\twant = MIN(want, most_ahead());\n", "\twant = 1;\n", "want is the number of pages"),
    "no growth": (SEQUENCE, "MIN(2 * ahead->size,", "MIN(ahead->size,", "684 pages; the disk read 685 in 172 requests"),
    "no mark": (MAPPED, "\tahead->start += ahead->size;\n", "\treturn false;\n", "readaround_miss leaves a window"),
    "deaf": (SAYS_RANDOM, "ahead->advice != READ_RANDOM && ", "", "READ_RANDOM: nothing is read ahead"),
    "at least four": (NONE, "want = MIN(want, most_ahead())", "want = MIN(want, 4u)", "yours 4"),
}


@pytest.mark.graded
@pytest.mark.parametrize("mistake", soak_but(list(MISTAKES), "guesses always", "no growth"))
def test_mistake_costs_points_in_its_test(mistake: str, tried: Trial) -> None:
    title, old, new, said = MISTAKES[mistake]
    tried.lay(changed(AHEAD, old, new))
    verdict = tried.judge(tried.test(title))
    assert verdict.fraction < 1 and verdict.outcome is Outcome.OVER_BUDGET, verdict.message
    assert said in verdict.message


@pytest.mark.graded
@pytest.mark.soak
def test_one_state_for_all_readers_is_seen(tried: Trial) -> None:
    start = "u32 readahead_miss("
    tried.lay(changed(ONE_FOR_ALL, start, f"static struct readahead all;\n\n{start}"))
    verdict = tried.judge(tried.test(TWO))
    assert verdict.fraction < 1 and "struct readahead" in verdict.message, verdict.message


@pytest.mark.graded
def test_kernel_that_reads_too_many_pages_at_once_panics(tried: Trial) -> None:
    tried.lay(changed(AHEAD, "\treturn ahead->size;\n", "\treturn 65;\n"))
    verdict = tried.judge(tried.test(SEQUENCE))
    assert verdict.outcome is Outcome.PANICKED and "read_window" in verdict.message, verdict.message


@pytest.mark.graded
def test_measures_are_figures_of_the_verdict(tried: Trial) -> None:
    tried.lay(AHEAD)
    verdict = tried.judge(tried.test(RANDOM))
    assert verdict.fraction == 1 and set(verdict.figures) == set(reading.MEASURES)
    assert verdict.figures["pages"] == verdict.figures["requests"] == 119
    assert "the programs use 119 pages; the disk read 119 in 119 requests, 0 of them for nothing" in verdict.message


def test_every_test_of_the_lab_has_pages_on_the_disk_and_a_measure() -> None:
    for test in lab.load(qemu.ROOT, "readahead").tests:
        assert reading.strings(test) and reading.measure_of(test) in reading.MEASURES
