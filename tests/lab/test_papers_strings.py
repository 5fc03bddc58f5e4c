"""Plans of strings in `tidemark paper classics`: exact claims, definitions carried out step by step, and that every
stored result comes out again."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb

import numpy as np
import pytest
from soak import soak_but
from tidemark.errors import LabError
from tidemark.papers import carry_out, declared, literal, on_strings, predicate, stored
from tidemark.papers.predicate import AGREES, DIFFERS, OPEN
from tidemark.strings import refstrings

BELADY = [1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5]
CLASSICS = declared.paper("classics")
PLANS = [sweep.name for sweep in CLASSICS.plans.values() if sweep.strings]


def runs(values: list[float]) -> predicate.Look:
    """The same values for each call, one a run."""

    def look(number: str, side: str, chosen: Mapping[str, str]) -> predicate.Values:
        return {(str(at),): value for at, value in enumerate(values)}

    return look


@pytest.mark.parametrize(
    ("claim", "values", "expected"),
    [
        ("f(a) == 9", [9.0], AGREES),
        ("f(a) == 9", [9.0, 9.0], AGREES),
        ("f(a) == 9", [9.0] * 99 + [9.1], DIFFERS),
        ("f(a) < 10", [9.0] * 99 + [10.0], DIFFERS),
        ("f(a) > 8", [9.0] * 99 + [8.0], DIFFERS),
        ("f(a) > 8 and f(a) < 10", [9.0], AGREES),
        ("f(a) > 8 and f(a) < 9", [9.0], DIFFERS),
        ("f(a) == 9", [], OPEN),
    ],
)
def test_an_exact_claim_holds_in_each_run(claim: str, values: list[float], expected: str) -> None:
    verdict, outcomes = predicate.judged(claim, runs(values), exact=True)
    assert verdict == expected
    assert all(one.claim is None and one.pairs == len(values) for one in outcomes)


def test_without_exact_one_run_is_too_few() -> None:
    assert predicate.judged("f(a) < 10", runs([9.0]))[0] == OPEN


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('string = "1 2"\npolicy = "LRU"\nsize = 3', "unknown key size"),
        ('string = "1 2"\npolicy = "lfu"\nframes = 3', "no policy lfu"),
        ('policy = "LRU"\nframes = 3', "give string and policy"),
        ('string = "1 2"\npolicy = "LRU"\nframes = 3\nseeds = "7"', "seeds as a number"),
        ("string = ", "not valid TOML"),
    ],
)
def test_a_wrong_plan_of_strings_is_named(text: str, said: str) -> None:
    with pytest.raises(LabError, match=said):
        on_strings.cells(text)


def test_a_plan_has_a_run_for_each_combination_and_seed() -> None:
    parts = '[[part]]\npolicy = ["LRU", "fifo"]\nframes = [3, 4]\n[[part]]\npolicy = "WS"\nwindow = 5'
    text = f'string = "zipf:9,seed={{seed}}"\nseeds = 2\n{parts}'
    found = on_strings.cells(text)
    assert len(found) == 2 * (2 * 2 + 1)
    assert found[0] == {"string": "zipf:9,seed={seed}", "policy": "LRU", "frames": "3", "seed": "1"}
    assert found[-1] == {"string": "zipf:9,seed={seed}", "policy": "WS", "window": "5", "seed": "2"}


def test_each_seed_is_another_string() -> None:
    cell = {"string": "zipf:50,refs=2000,seed={seed}", "policy": "LRU", "frames": "10"}
    assert len({on_strings.measured({**cell, "seed": str(seed)})[1]["faults"] for seed in range(1, 7)}) > 1


def test_a_figure_has_words_of_the_work_or_ours() -> None:
    for words in ("", 'quote = "q"\nstatement = "s"'):
        head = 'title="t"\nauthors="a"\nyear=1\nwhere="w"\nmachine="m"\n'
        text = f'{head}[[figure]]\nid="1"\ntitle="t"\nsection="s"\nnowhere="n"\n{words}'
        with pytest.raises(LabError, match="give quote, the words of the work, or statement, ours"):
            declared.parse("x", text)


# --- the definitions


def stirling(length: int, pages: int) -> int:
    """The partitions of `length` references into `pages` pages, by inclusion and exclusion."""
    signed = sum((-1) ** at * comb(pages, at) * (pages - at) ** length for at in range(pages + 1))
    return signed // int(np.prod(range(1, pages + 1)))


def test_every_string_is_there_once() -> None:
    found = list(literal.every(8, 4))
    assert len(found) == len(set(found)) == sum(stirling(8, pages) for pages in range(1, 5)) == 2795


def test_definitions_on_belady_s_string() -> None:
    assert [literal.lru(BELADY, frames)["faults"] for frames in range(1, 6)] == [12, 12, 10, 8, 5]
    assert [literal.search(BELADY, frames)["faults"] for frames in range(1, 6)] == [12, 9, 7, 6, 5]


def test_the_working_set_of_a_short_string() -> None:
    """Of a b a c with a window of 2: {a}, {a b}, {a b}, {a c}; the second a was used 2 references ago."""
    assert literal.working_set([1, 2, 1, 3], 2) == {"faults": 3, "space": 7, "last": 2}


def test_a0_keeps_the_most_probable_pages() -> None:
    """With 3 frames pages 0 and 1 stay; of the others the last one that was used does."""
    assert literal.most_probable([0, 1, 5, 5, 0, 6, 5, 1], 3) == {"faults": 5}


def plain_pff(string: list[int], threshold: int) -> tuple[int, int]:
    """Faults, and pages summed over the references, of PFF as its authors tell it."""
    memory: set[int] = set()
    used: set[int] = set()  # since the last fault, with the page that faulted
    faults, space, before = 0, 0, -len(string)
    for at, page in enumerate(string):
        if page not in memory:
            if at - before > threshold:
                memory &= used
            memory.add(page)
            faults, before, used = faults + 1, at, set()
        used.add(page)
        space += len(memory)
    return faults, space


def test_pff_s_anomaly_is_there_in_a_plain_simulation() -> None:
    string = on_strings.cells(CLASSICS.plans["pff"].text)[0]["string"]
    pages = refstrings.from_text(string, "").tolist()
    assert [plain_pff(pages, threshold) for threshold in (2, 3)] == [(7, 68), (8, 71)]


def test_fifo_s_faults_rise_once_on_belady_s_string() -> None:
    cell = {"string": " ".join(map(str, BELADY)), "policy": "fifo", "seed": "1"}
    assert on_strings.measured(cell)[1]["rises"] == 1
    assert on_strings.measured({**cell, "policy": "LRU-LITERAL"})[1]["rises"] == 0


# --- the results of the tree


@pytest.mark.parametrize("name", soak_but(PLANS, *(name for name in PLANS if name != "scan")))
def test_stored_results_of_strings_come_out_again(name: str) -> None:
    sweep = CLASSICS.plans[name]
    again, before = carry_out.of_strings(sweep), stored.load(CLASSICS, name)
    assert [run.variables for run in again.runs] == [run.variables for run in before.runs]
    for now, then in zip(again.runs, before.runs):
        assert {key: float(f"{value:.{stored.DIGITS}g}") for key, value in now.numbers.items()} == then.numbers
