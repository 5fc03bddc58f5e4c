"""The numbers of an evaluation: the least that a program needs, scores, their JSON and text, and the board."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tidemark.commands import board as board_command
from tidemark.errors import LabError
from tidemark.evaluate import board, booted, evaluation, least, score, simulated, text
from tidemark.evaluate.refusal import COMPILE, KERNEL, Refusal
from tidemark.runs import replicates
from tidemark.runs.bound import Disk

pytestmark = pytest.mark.unbuilt

DISK = Disk(page_s=0.001, move_s=0.01)


# --- the least ---


def test_least_of_a_circle_is_computed_by_hand() -> None:
    """1 2 3 1 2 3 in 2 frames: MIN misses 1, 2, 3 (evicts 2), hits 1, misses 2, and hits 3. So one page is read; and
    one of the first three, for which there is no frame, is written."""
    found = least.of_string(least.passes(3, 2), 2, DISK)
    assert found.reads == 1 and found.seconds == pytest.approx(0.002)


def test_phases_stay_in_a_window_and_fill_first() -> None:
    pages = least.phases(400, 20, 5, 1000, 77)
    assert pages[:400].tolist() == list(range(400)) and len(pages) == 5400
    firsts = [pages[400 + 1000 * at : 1400 + 1000 * at] for at in range(5)]
    assert all(len(np.unique(one)) < 60 for one in firsts)  # 20, and about 16 that stray
    assert np.median(firsts[0]) < 20 and len({np.median(one) for one in firsts}) == 5
    reads = least.of_command("phase 1600 80 5 1000 --seed 77", 50, DISK).reads
    assert reads == brute(pages.tolist(), 50) - 400


def brute(string: list[int], frames: int) -> int:
    """Faults of MIN by its definition: evicts the page whose next use is farthest away."""
    memory: set[int] = set()
    faults = 0
    for at, page in enumerate(string):
        if page in memory:
            continue
        faults += 1
        if len(memory) == frames:
            rest = string[at:]
            memory.remove(max(memory, key=lambda one: rest.index(one) if one in rest else len(string)))
        memory.add(page)
    return faults


def test_file_is_written_as_a_whole_and_read_beyond_what_fits() -> None:
    found = least.of_command("filemix /mnt/f 8 24 2 2 --seed 5", 4, DISK)  # 6 pages of a file
    assert found.reads == brute(list(range(6)) * 3, 4) - 6
    assert found.seconds == pytest.approx((6 + found.reads) * 0.001)


def test_overload_moves_what_does_not_fit_out_and_in() -> None:
    found = least.of_command("thrash 3 400 2 300", 200, DISK)  # 300 pages: see test_bound.py
    assert found.reads == 100 and found.seconds == pytest.approx(0.1 + 0.11)


def test_zipf_draws_popular_pages_and_fills_first() -> None:
    pages = least.zipf(100, 5000, 77)
    assert pages[:100].tolist() == list(range(100)) and len(pages) == 5100
    popular = np.bincount(pages[100:], minlength=100)
    assert popular.argmax() == 0 and popular[7919 % 100] > popular[7919 * 50 % 100]  # rank 0, 1, 50
    assert least.of_command("pattern zipf 400 5000 --seed 77", 50, DISK).reads == brute(pages.tolist(), 50) - 100


def test_every_program_of_the_set_has_a_least_above_zero() -> None:
    for cell in booted.CELLS:
        for number in (1, *evaluation.held_out_numbers(3)):
            run = booted.run_of(cell, "clock", number, Path("disk"))
            found = least.of_command(run.command, 8692 // least.PAGE_KIB, DISK)
            assert found.reads > 0 and found.seconds > 0, run.command


# --- draws ---


def test_halves_never_share_a_replicate() -> None:
    public, *others = (
        evaluation.numbers(half, seed) for half, seed in (("public", 1), ("held_out", 1), ("held_out", 2))
    )
    assert len({*public, *others[0], *others[1]}) == len(public) + len(others[0]) + len(others[1])


def test_draw_is_in_every_cell() -> None:
    drawn = replicates.draw(4)
    run = booted.run_of(booted.CELLS[1], "clock", 4, Path("disk"))
    assert f"--seed {drawn.seed}" in run.command and f"jitter={drawn.jitter} " in run.cmdline
    cell = next(one for one in simulated.cells() if one.name == "zipf")
    one, other = cell.string(4), cell.string(5)
    assert one.nr_references == simulated.REFERENCES and f"seed={drawn.seed}" in one.name and one.name != other.name


# --- scores ---


def counted(time_s: float, hooks: int) -> booted.Measured:
    """A run of 1,000 instructions, of which `hooks` in hooks; the least is 1 s and 10 pages."""
    return booted.Measured(booted.Counted(time_s, 20, 1000, hooks, 5, ""), least.Least(10, 1.0))


def half(strings: float = 2.0, time_s: float = 8.0, hooks: int = 500, numbers: range = range(1, 7)) -> score.Half:
    machine = {
        "loop": {n: counted(time_s, hooks) for n in numbers},
        "zipf": {n: counted(time_s, hooks) for n in numbers},
    }
    return score.Half({"scan": {n: strings * n / 3.5 for n in numbers}}, machine)


def test_score_is_the_geometric_mean_of_three_parts() -> None:
    made = half()
    assert score.parts(made)["hooks"] == {n: 2.0 for n in range(1, 7)}  # 1000 over 500
    assert score.scores(made)[6] == pytest.approx((2 * 6 / 3.5 * 8 * 2) ** (1 / 3))
    told = score.of_half(made)
    assert told["score"]["low"] == pytest.approx(min(score.scores(made).values()))
    assert told["parts"]["machine"] == {
        "ratio": pytest.approx(8),
        "low": pytest.approx(8),
        "high": pytest.approx(8),
    } | {"by_replicate": [pytest.approx(8)] * 6}
    assert told["machine"][0]["reads_over_least"]["ratio"] == pytest.approx(2)
    assert told["machine"][0]["hooks_percent"] == [50] * 6


def test_each_cost_makes_the_score_worse() -> None:
    good = score.of_half(half())["score"]["ratio"]
    for worse in (half(strings=2.2), half(time_s=9), half(hooks=600)):
        assert score.of_half(worse)["score"]["ratio"] > good


def test_too_few_replicates_have_no_interval() -> None:
    found = score.of_half(half(numbers=range(1, 4)))["score"]
    assert found["low"] is None and found["high"] is None and text.number(found) == f"{found['ratio']:.3g}"


# --- text and board ---


def told(policy: str, **numbers: float) -> dict[str, object]:
    one = score.of_half(half(**numbers))  # type: ignore[arg-type]
    cost = {"run": "seqscan", "hook_instructions_per_fault": 244.3, "hooks_percent": 7.31}
    return {
        "policy": policy,
        "verdict": "accepted",
        "seed": 9,
        "host_s": 30.0,
        "cost": cost,
        "public": one,
        "held_out": one,
    }


def test_text_has_each_cell_twice_and_the_command_that_repeats_it() -> None:
    said = text.of(told("mine"))
    row = next(line.split() for line in said.splitlines() if line.startswith("machine:"))
    assert row[-8:] == ["8", "(8", "to", "8)"] * 2
    assert "244 instructions per fault, 7.3 %" in said and "`tidemark evaluate mine.c --seed 9`" in said


def evaluated(request: evaluation.Request, box: object) -> evaluation.Evaluation:
    """A stand-in: `slow` and `fast` differ, `bad` breaks a rule, and all others are alike."""
    name = request.policy.stem
    assert request.halves == ("held_out",) and request.seed == 771
    if name == "bad":
        return evaluation.Evaluation({"held_out": None}, {}, Refusal(KERNEL, "count", "with seqscan 10311: no"))
    return evaluation.Evaluation(told(name, time_s={"slow": 20, "fast": 2}.get(name, 8)), {})


def test_board_orders_by_score_and_keeps_draws_to_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board, "evaluate", evaluated)
    files = [Path("slow.c"), Path("bad.c"), Path("fast.c")]
    lines = board.board(files, 771, (), {"fast": "Team <4>"}, None)  # type: ignore[arg-type]
    rows = board.as_rows(lines)
    assert [row["policy"] for row in rows] == ["Team <4>", "2q", "clock", "fifo", "slow", "bad"]
    assert rows[-1]["place"] == "" and rows[-1]["note"] == "broke the rule 'count' in the kernel"
    page = board.page(lines)
    assert "Team &lt;4&gt;" in page and "10311" not in page and "<table>" in page


def test_board_shows_why_a_file_does_not_compile() -> None:
    assert board.reason(Refusal(COMPILE, "compile", "x.c does not compile:\nerror")) == "x.c does not compile:"


@pytest.mark.parametrize(
    "content", ["", "seed = 0", 'strings = ["zipf:9"]', 'seed = 1\nstrings = "zipf:9"', "seed = 1\nx = 2"]
)
def test_board_file_of_another_form_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "board.toml"
    path.write_text(content)
    with pytest.raises(LabError, match="seed = N"):
        board_command.read(path)


def test_further_strings_are_not_drawn() -> None:
    (cell,) = simulated.given(["zipf:100,refs=500,seed=3"])
    assert cell.string(1).name == cell.string(2).name and cell.frames == cell.string(1).nr_pages // 2
    assert simulated.least(cell, 1) == simulated.least(replace(cell), 2) > cell.frames
