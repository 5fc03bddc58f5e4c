"""The papers beside ours: the language of claims, what is declared, and verdicts that follow from stored results."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from lab import tidemark
from soak import soak_but
from tidemark.errors import LabError
from tidemark.machine import image, qemu
from tidemark.papers import declared, draw, numbers, page, predicate, stored, traces, verdict
from tidemark.papers.predicate import AGREES, DIFFERS, OPEN

PAPERS = declared.PAPERS
ALL = [(name, figure.id) for name in PAPERS for figure in declared.paper(name).figures]


def runs(**sides: list[float]) -> predicate.Look:
    """Values by side, whatever the number."""

    def look(number: str, side: str, chosen: Mapping[str, str]) -> predicate.Values:
        return {("", "", "", str(at)): value for at, value in enumerate(sides[side], 1)}

    return look


def judged(text: str, **sides: list[float]) -> str:
    return predicate.judged(text, runs(**sides))[0]


# --- the language


LOW, HIGH = [1.0, 1.1, 1.2, 1.0, 1.3, 1.1], [2.0, 2.1, 2.5, 2.2, 1.9, 3.0]
MIXED = [2.0, 0.5, 1.5, 0.9, 1.2, 0.8]


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("time(low) < time(high)", AGREES),
        ("time(low) > time(high)", DIFFERS),
        ("time(low) < time(mixed)", OPEN),
        ("time(low) == time(high)", DIFFERS),
        ("time(low) == time(low)", AGREES),
        ("time(low) == time(mixed)", OPEN),
        ("time(low) < 1.5", AGREES),
        ("2 > time(low)", AGREES),
        ("time(high) - time(low) > 0", AGREES),
        ("-time(high) < -time(low)", AGREES),
        ("time(high) / time(low) > 1.1", AGREES),
        ("time(low) * 3 > time(high)", AGREES),
    ],
)
def test_verdict_of_a_comparison(claim: str, expected: str) -> None:
    assert judged(claim, low=LOW, high=HIGH, mixed=MIXED) == expected


def test_a_claim_agrees_if_all_of_it_does_and_differs_if_a_part_does() -> None:
    seven = [*LOW, 1.2], [*HIGH, 2.0]
    assert judged("t(a) < t(b) and t(a) > 0.5", a=seven[0], b=seven[1]) == AGREES
    assert judged("t(a) < t(b) and t(a) > 5", a=seven[0], b=seven[1]) == DIFFERS
    assert judged("0.5 < t(a) < t(b)", a=seven[0], b=seven[1]) == AGREES


def test_more_comparisons_need_more_replicates() -> None:
    """Six pairs carry one comparison at 95 %, not two (Bonferroni)."""
    assert judged("t(a) < t(b)", a=LOW, b=HIGH) == AGREES
    assert judged("t(a) < t(b) and t(a) > 0.5", a=LOW, b=HIGH) == OPEN
    assert judged("t(a) < t(b)", a=LOW[:5], b=HIGH[:5]) == OPEN


def test_numbers_that_are_0_are_compared_without_a_ratio() -> None:
    assert judged("faults(a) < faults(b)", a=[0.0] * 6, b=[5.0] * 6) == AGREES
    assert judged("faults(a) > 0", a=[0.0] * 6) == OPEN


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true') < 1",
        "time(a).real < 1",
        "[x for x in (1,)] < [2]",
        "(lambda: 1)() < 2",
        "time(a, b) < 1",
        "time(*a) < 1",
        "time(a, **b) < 1",
        "time(a, mem=1.5) < 1",
        "time(a) ** 9 < 1",
        "time(a) != 1",
        "time(a) <= 1",
        "time(a) < 1 or time(a) > 2",
        "not time(a) < 1",
        "time(a)",
        "a < 1",
        "'a' < 1",
        "True < time(a)",
        "time(a) <",
        "time(global) < 1",
        "",
        "(" * 500 + "1" + ")" * 500,
    ],
)
def test_what_is_outside_the_language_is_refused(text: str) -> None:
    with pytest.raises(LabError):
        predicate.judged(text, runs(a=LOW, b=HIGH))


@pytest.mark.parametrize("text", ["1 < 2", "time(a) < 1 / 0"])
def test_a_claim_about_no_run_is_refused(text: str) -> None:
    with pytest.raises(LabError):
        predicate.judged(text, runs(a=LOW))


# --- what is declared


PAPER = """
title = "t"
authors = "a"
year = 2000
where = "w"
machine = "m"
[plans.one]
seconds = 1
scale = "none"
plan = '''
workload = "true"
vm = ["2q", "ws"]
replicates = 6
'''
[plans.one.sides]
twoq = { vm = "2q" }
ws = { vm = "ws" }
[plans.one.numbers]
time = "turnaround_s"
[[figure]]
id = "1"
title = "Figure 1"
section = "1"
quote = "q"
plan = "one"
claim = "time(ws) < time(twoq)"
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('claim = "time(ws) < time(twoq)"', 'claim = "time(ws) < time(lru)"', "lru is not declared"),
        ('claim = "time(ws) < time(twoq)"', 'claim = "faults(ws) < 1"', "faults is not declared"),
        ('plan = "one"', 'plan = "two"', "no plan two"),
        ('claim = "time(ws) < time(twoq)"', "", "give plan and claim"),
        ('quote = "q"', 'quote = "q"\ncolour = "red"', "unknown key colour"),
        ('quote = "q"', "", "quote"),
        ('title = "t"', "title = ", "not valid TOML"),
        ('workload = "true"', 'wirkload = "true"', "unknown key wirkload"),
        ('quote = "q"', 'quote = "q"\nwithout = "time(ws) < 1"', "say in `because`"),
        ('[[figure]]\nid = "1"', '[[figure]]\nid = "1"\ntitle = "x"\nsection = "1"\nquote = "q"\nnowhere = "n"\n'
         '[[figure]]\nid = "1"', "1 twice"),
    ],
)  # fmt: skip
def test_a_wrong_declaration_is_named(old: str, new: str, said: str) -> None:
    assert declared.parse("x", PAPER).figures[0].id == "1"
    with pytest.raises(LabError, match=re.escape(said)):
        declared.parse("x", PAPER.replace(old, new))


def test_a_paper_in_several_files_is_one() -> None:
    more = PAPER[PAPER.index("[plans.one]") :].replace("one", "two").replace('"1"', '"2"') + "[[errata]]\n"
    more += 'where = "w"\nsays = "s"\narithmetic = "a"\n'
    paper = declared.parse("x", PAPER, more)
    assert [one.id for one in paper.figures] == ["1", "2"] and list(paper.plans) == ["one", "two"]
    assert len(paper.errata) == 1
    with pytest.raises(LabError, match="x, part 2 declares the plan one again"):
        declared.parse("x", PAPER, more.replace("two", "one"))
    with pytest.raises(LabError, match="x, part 2 is not valid TOML"):
        declared.parse("x", PAPER, "title = ")


def test_an_unknown_figure_lists_what_there_is(tmp_path: Path) -> None:
    found = tidemark("paper", "tpf", "8c", "--stored", cwd=tmp_path)
    assert found.returncode == 2 and "tpf has no figure 8c: " in found.stderr and "12-ideal" in found.stderr
    found = tidemark("paper", "denning", "--stored", cwd=tmp_path)
    assert found.returncode == 2 and "mcmenamin, tucek, tpf" in found.stderr
    assert tidemark("paper", cwd=tmp_path).returncode == 2


@pytest.mark.parametrize("name", PAPERS)
def test_a_published_number_has_a_source(name: str) -> None:
    for figure in declared.paper(name).figures:
        assert (figure.quote or figure.statement) and figure.section
        assert all(re.search(r"text, §|[Tt]able|counted in §", point.source) for point in figure.published), figure.id


def test_a_file_that_is_missing_is_named_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = declared.paper("mcmenamin").plans["patches"]
    missing = replace(sweep, needs="build/no-such-image")
    assert "not run: build/no-such-image does not exist; `make image" in missing.not_run


# --- stored results


@pytest.fixture
def small(tmp_path: Path) -> tuple[declared.Paper, Path]:
    """A paper with stored results in a folder: ws takes half of the time of 2q."""
    paper = declared.parse("x", PAPER)
    sweep = paper.plans["one"]
    found = [
        stored.Run({"vm": vm, "replicate": str(at), "workload": "true"}, 1.0, {"time": at * factor})
        for at in range(1, 7)
        for vm, factor in (("2q", 2.0), ("ws", 1.0))
    ]
    stored.save(paper, sweep, stored.Stored("abc", "def", stored.declared_as(sweep), found), tmp_path)
    return paper, tmp_path


def test_stored_results_are_read_as_they_were_written(small: tuple[declared.Paper, Path]) -> None:
    paper, folder = small
    found = stored.load(paper, "one", folder)
    assert len(found.runs) == 12 and found.wall_s == 12 and found.image == "abc"
    assert dict(found.runs[0].numbers) == {"time": 2.0}
    result = verdict.judge(paper, paper.figures[0], folder)
    assert result.verdict == AGREES and result.outcomes[0].claim and result.outcomes[0].claim.ratio == pytest.approx(2)


def test_results_of_another_declaration_do_not_count(small: tuple[declared.Paper, Path]) -> None:
    _, folder = small
    changed = declared.parse("x", PAPER.replace('workload = "true"', 'workload = "false"'))
    result = verdict.judge(changed, changed.figures[0], folder)
    assert result.verdict == verdict.NOT_RUN and "has changed since" in result.why


def test_a_claim_over_a_missing_run_is_an_error_that_names_it(small: tuple[declared.Paper, Path]) -> None:
    paper, folder = small
    path = stored.path_of(paper, "one", folder)
    path.write_text(path.read_text().replace('"ws"', '"lru"'))
    with pytest.raises(LabError, match=r"figure 1: there is no run for time\(ws\)"):
        verdict.judge(paper, paper.figures[0], folder)
    path.write_text(path.read_text().replace('"2q"', '"ws"').replace('"lru"', '"ws"'))
    with pytest.raises(LabError, match="not one run for each replicate"):
        verdict.judge(paper, paper.figures[0], folder)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"schema": 99}', "not json"])
def test_damaged_results_are_an_error(small: tuple[declared.Paper, Path], text: str) -> None:
    paper, folder = small
    stored.path_of(paper, "one", folder).write_text(text)
    with pytest.raises(LabError):
        verdict.judge(paper, paper.figures[0], folder)


def test_a_changed_verdict_is_named(small: tuple[declared.Paper, Path]) -> None:
    paper, folder = small
    result = [verdict.judge(paper, paper.figures[0], folder)]
    (folder / "x" / stored.VERDICTS).write_text(json.dumps({"1": "differs"}))
    assert verdict.changed(paper, result, folder) == ["x 1: stored differs, computed agrees"]


def test_a_page_shows_what_a_file_says_as_text(small: tuple[declared.Paper, Path], tmp_path: Path) -> None:
    paper, folder = small
    bad = replace(paper.figures[0], quote="<script>alert(1)</script>", shows={"<b>": "time(ws)"})
    text = page.page(replace(paper, figures=(bad,)), [verdict.judge(paper, bad, folder)], folder)
    assert "<script" not in text and "&lt;script&gt;" in text and "No number in the text." in text
    assert "tidemark paper x 1 --image reference" in text


# --- numbers


def of_compile() -> tuple[declared.Paper, list[stored.Run]]:
    """Runs that take 8 / M² + 1 seconds in the middle, with 10 % more and less."""
    text = PAPER.replace('vm = ["2q", "ws"]', 'vm = "2q"\nmem = ["8M", "10M", "12M", "16M", "32M", "64M"]')
    text = text.replace('ws = { vm = "ws" }', "").replace("time(ws) < time(twoq)", "p(twoq) == 2 and wide(twoq) > 1.1")
    text = text.replace('time = "turn', 'p = { exponent = "time", over = "mem" }\n'
                        'wide = { spread = "time", over = "mem" }\ntime = "turn')  # fmt: skip
    text = text.replace("replicates = 6", "replicates = 7")
    found = [
        stored.Run({"vm": "2q", "replicate": str(at), "workload": "true", "mem": f"{mem}M"}, 1.0,
                   {"time": (8 / mem**2 + 1) * (1 + 0.05 * (at % 3 - 1))})
        for at in range(1, 8) for mem in (8, 10, 12, 16, 32, 64)
    ]  # fmt: skip
    return declared.parse("x", text), found


def test_numbers_of_several_runs_together() -> None:
    paper, found = of_compile()
    sweep, all_of = paper.plans["one"], stored.Stored("abc", "def", "", found)
    exponents = stored.values(all_of, sweep, "p", "twoq", {})
    assert len(exponents) == 7 and all(p == pytest.approx(2, abs=1e-3) for p in exponents.values())
    spreads = stored.values(all_of, sweep, "wide", "twoq", {})
    assert len(spreads) == 6 and all(one == pytest.approx(1.05 / 0.95) for one in spreads.values())
    with pytest.raises(LabError, match="more than 3 memory sizes"):
        stored.values(all_of, sweep, "p", "twoq", {"mem": "8M"})


def test_boxes_are_drawn_with_both_fits(tmp_path: Path) -> None:
    paper, found = of_compile()
    stored.save(paper, paper.plans["one"], stored.Stored("a", "b", "", found), tmp_path)
    figure = replace(paper.figures[0], along="mem", boxes=True, unit="s", shows={"all": "time(twoq)"})
    *_, drawn = draw.panels(paper, figure, stored.load(paper, "one", tmp_path))
    assert b"p = 4, R" in drawn and b"p = 2.0 [2.0, 2.0], R" in drawn


def test_falls_count_a_sawtooth() -> None:
    assert numbers.falls([0, 5, 10, 2, 9, 1, 10, 10, 0]) == 3
    assert numbers.falls([1, 2, 3]) == 0 and numbers.falls([]) == 0 and numbers.falls([10, 9, 10, 9]) == 0


def test_humps_of_a_distribution() -> None:
    import numpy as np

    one = np.exp(-(((np.arange(120) - 60) / 20.0) ** 2))
    two = np.exp(-(((np.arange(120) - 25) / 9.0) ** 2)) + np.exp(-(((np.arange(120) - 95) / 9.0) ** 2))
    assert traces.humps(one / one.sum()) == 1
    assert traces.humps(two / two.sum()) == 2


def test_the_nth_largest_process_is_that_of_the_fullest_sample() -> None:
    """Of the last sample with the most processes, whatever a shorter one has."""
    samples = [
        {"t_us": at, "procs": [{"pid": pid, "comm": "p", "rss": rss} for pid, rss in enumerate(sizes, 1)]}
        for at, sizes in enumerate(([90, 80, 70], [5, 40, 10], [99, 98]))
    ]
    data = SimpleNamespace(samples=samples)
    assert [numbers.of_largest(data, nth, "rss") for nth in (1, 2, 3)] == [40, 10, 5]  # type: ignore[arg-type]
    with pytest.raises(LabError, match="the sample has 3 processes"):
        numbers.of_largest(data, 4, "rss")  # type: ignore[arg-type]


def test_shares_of_the_linear_map() -> None:
    import numpy as np

    linear = np.zeros((10, 2, 6), np.int64)
    linear[0, 0, 0] = linear[9, 1, 3] = 1  # an instruction in the lowest row, a modify in the stack's
    assert {name: of(linear) for name, of in traces.OF_MAPS.items()} == {"filled": 0.2, "stack": 0.5}


# --- the verdicts of the tree


@pytest.mark.parametrize("name", PAPERS)
def test_every_stored_verdict_follows_from_stored_results(name: str) -> None:
    paper = declared.paper(name)
    every = [verdict.judge(paper, figure) for figure in paper.figures]
    assert verdict.changed(paper, every) == [], f"`tidemark paper {name} --stored` shows them"
    assert len(every) == len(stored.verdicts(paper))


def test_results_of_another_image_are_named(tmp_path: Path) -> None:
    found = tidemark("paper", "tucek", "tunables", "--stored", cwd=tmp_path)
    other = stored.load(declared.paper("tucek"), "tunables").image != image.describe(qemu.ROOT)["sha256"]
    assert found.returncode == 0, found.stderr
    assert ("the results of tunables are of another image" in found.stderr) == other


@pytest.mark.parametrize("name", PAPERS)
def test_the_documents_count_the_verdicts(name: str) -> None:
    counts = [list(stored.verdicts(declared.paper(name)).values()).count(one) for one in verdict.VERDICTS]
    text = (qemu.ROOT / "docs/reference/papers.md").read_text()
    row = re.search(rf"^\| `{name}` \|.*?\|((?: \d+ \|)+)$", text, re.MULTILINE)
    assert row and [int(one) for one in re.findall(r"\d+", row[1])] == counts


@pytest.mark.parametrize(("name", "figure"), ALL)
def test_everything_shown_of_a_figure_has_runs(name: str, figure: str) -> None:
    paper = declared.paper(name)
    one = paper.figure(figure)
    if verdict.judge(paper, one).verdict in verdict.AFTER_RUNS:
        assert draw.panels(paper, one, stored.load(paper, one.plan)), "no picture"


@pytest.mark.parametrize("name", PAPERS)
def test_no_stored_result_knows_this_machine(name: str) -> None:
    for path in (stored.RESULTS / name).glob("*.json"):
        assert str(qemu.ROOT) not in path.read_text()


QUICK = [(name, sweep.name) for name in PAPERS for sweep in declared.paper(name).plans.values() if sweep.quick]


@pytest.mark.parametrize(("name", "plan"), soak_but(QUICK, ("tucek", "tunables")))
def test_quick_figures_have_the_same_verdicts_again(name: str, plan: str, tmp_path: Path) -> None:
    """With the reference image the numbers are equal, too."""
    paper = declared.paper(name)
    figures = [one.id for one in paper.figures if one.plan == plan]
    words = ["paper", name, *figures, "--image", "reference", "-q"]
    found = subprocess.run([sys.executable, "-m", "tidemark.cli", *words], cwd=tmp_path, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    again = stored.load(paper, plan, tmp_path / "results/papers/results")
    before = stored.load(paper, plan)
    if again.image == before.image:
        assert [run.numbers for run in again.runs] == [
            {key: float(f"{value:.{stored.DIGITS}g}") for key, value in run.numbers.items()} for run in before.runs
        ]
