"""Eight questions of readers, whose answers are text on the first screen of a report, or on a phone on the first two.

Of a sweep of ten policies: which is quickest on a workload, by how much, and how sure is that? Which is best most
often? Did runs fail? With which memory and swap was it? Of a run: did it thrash, since when and why? Who was hit
hardest? How much longer did it take than with enough memory? Of two runs: which was quicker, and is that a claim?
"""

from __future__ import annotations

import random
from pathlib import Path
from statistics import median

import pytest
from lab import tidemark
from tidemark.report import folder, ranking, sources
from tidemark.report.cells import Cell
from tidemark.runs.plan import IDEAL

SIZES = {"desk": (1280, 800, 1), "phone": (390, 844, 2)}
POLICIES = ("2q", "ws", "clock", "fifo", "lru", "arc", "s3fifo", "random", "wsclock", "nru")
WORKLOADS = ("thrash 4 {size:4096} 2", "thrash 6 {size:4096} 2", "seqscan {size:20480} 3", "pattern zipf {size:2400} 9",
             "phase {size:24576} {size:4096} 10 500")  # fmt: skip


def sweep() -> list[Cell]:
    """Ten policies, five workloads, ten replicates. Policy p is p times as slow as the best, with 5 % of noise; which
    is the best differs among the workloads."""
    noise = random.Random(5)
    return [
        Cell(
            "x",
            {"vm": vm, "workload": workload, "run": workload, "mem": "16M", "swap": "sim:ssd", "replicate": str(at)},
            {"turnaround_s": 2 * (1 + (nr + shift) % 10) * noise.uniform(0.95, 1.05)},
        )
        for shift, workload in enumerate(WORKLOADS)
        for nr, vm in enumerate(POLICIES)
        for at in range(1, 11)
    ]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The reports of a sweep, of a run beside its ideal run, and of two policies."""
    place = tmp_path_factory.mktemp("readers")
    every = [*sweep(), Cell("f", {"vm": "2q"}, {}, "failed: the kernel hung")]
    folder.write(sources.Sources([], every), place / "sweep")
    for name, more in (("2q", ()), ("ws", ("--vm", "ws")), ("ideal", ("--mem", "64M"))):
        args = ("run", "thrash 6 2048 4 300", "--mem", "12M", "--swap", "sim:ssd", *more)
        assert tidemark(*args, "--cmdline", "sample_ms=20", "-o", place / f"run-{name}", cwd=place).returncode == 0
    for name, runs in {"run": ("2q", "ideal"), "two": ("2q", "ws")}.items():
        gathered = sources.gather(place / f"run-{one}" for one in runs)
        gathered.runs = gathered.runs[:1] if name == "run" else gathered.runs
        folder.write(gathered, place / name)
    return {name: place / name / "report.html" for name in ("sweep", "run", "two")}


def first_screens(browser: object, page: Path, size: str) -> str:
    """The text that can be read without scrolling further than the screens that the size allows."""
    width, height, screens = SIZES[size]
    tab = browser.new_context(viewport={"width": width, "height": height}).new_page()
    tab.goto(page.as_uri(), wait_until="load")
    texts = tab.evaluate(
        "most => [...document.querySelectorAll('h1, h2, p, li')].filter(one => one.offsetParent "
        "&& one.getBoundingClientRect().bottom <= most).map(one => one.textContent)",
        screens * height,
    )
    return "\n".join(texts)


@pytest.mark.parametrize("size", SIZES)
def test_questions_on_a_sweep(browser: object, pages: dict[str, Path], size: str) -> None:
    text = first_screens(browser, pages["sweep"], size)
    for one in ranking.places(sweep()):
        best, last = one.rows[0], one.rows[-1]
        said = f"{one.name}: {best.name} is quickest, {median(best.values):.3g} s"
        assert said.replace("2.0 s", "2.00 s")[:-4] in text, "which policy wins, in which time"
        assert f"most of all {last.name}, ×{last.claim.ratio:.3g} (×{last.claim.low:.3g} to" in text, "by how much"
    assert "By 10 replicates" in text and "hold together with 95 %" in text, "how sure"
    assert "best or level with the best most often: " in text, "which is best most often"
    assert "1 of 501 runs have no result" in text and "the kernel hung" in text, "did runs fail"
    assert "mem 16M" in text and "swap sim:ssd" in text, "with which memory and swap"


@pytest.mark.parametrize("size", SIZES)
def test_questions_on_a_run(browser: object, pages: dict[str, Path], size: str) -> None:
    text = first_screens(browser, pages["run"], size)
    assert "Thrashing from " in text and "six processes wanted 12 MiB of 8" in text, "since when, and why"
    assert "Hardest hit: thrash " in text and "major faults" in text, "who"
    assert "times as long as with enough memory" in text, "how much longer"
    assert "12M" in text and "sim:ssd" in text and "image " in text, "of what"


@pytest.mark.parametrize("size", SIZES)
def test_question_on_two_runs(browser: object, pages: dict[str, Path], size: str) -> None:
    text = first_screens(browser, pages["two"], size)
    assert "ws against 2q" in text and "time " in text and "There is no claim: 1 replicate, and 6 are needed" in text


def test_ranking_is_that_of_the_medians_and_of_all_ratios() -> None:
    """With ten of ten contestants a claim needs that all ten ratios are on one side of 1."""
    every = sweep()
    for one, workload in zip(ranking.places(every), WORKLOADS, strict=True):
        times: dict[str, list[float]] = {}
        for cell in every:
            if cell.factors["workload"] == workload:
                times.setdefault(cell.factors["vm"], []).append(cell.numbers["turnaround_s"])
        order = sorted(times, key=lambda vm: median(times[vm]))
        assert [row.name for row in one.rows] == order
        for row in one.rows[1:]:
            ratios = sorted(b / a for a, b in zip(times[order[0]], times[row.name]))
            assert (row.claim.low, row.claim.high) == (pytest.approx(ratios[0]), pytest.approx(ratios[-1]))
            assert row.claim.told_apart == (ratios[0] > 1)


# --- bad input


def test_one_replicate_is_no_claim_and_the_page_says_how_many_are_needed(browser: object, tmp_path: Path) -> None:
    folder.write(sources.Sources([], [one for one in sweep() if one.factors["replicate"] == "1"]), tmp_path / "out")
    text = first_screens(browser, tmp_path / "out/report.html", "desk")
    assert "There is no claim: 1 replicate, and 10 are needed; the order is that of the medians." in text


def test_fifty_policies_are_all_in_the_table_and_the_page(browser: object, tmp_path: Path) -> None:
    every = [
        Cell("x", {"vm": f"p{vm}", "run": "r", "processes": str(n), "replicate": "1"}, {"turnaround_s": 1.0 + vm * n})
        for vm in range(50)
        for n in (1, 2)
    ]
    folder.write(sources.Sources([], every), tmp_path / "out", highlight=["p7"])
    text = (tmp_path / "out/report.html").read_text()
    assert all(f"<td>p{vm}</td>" in text for vm in range(50))
    assert (tmp_path / "out/figures/ranking.csv").read_text().count("\n") == 1 + 100


def test_an_unknown_policy_to_highlight_is_named(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="no policy nosuch is in these results: they have 2q, arc"):
        folder.write(sources.Sources([], sweep()), tmp_path / "out", highlight=["nosuch"])
    assert not (tmp_path / "out").exists()


def test_two_sweeps_that_share_nothing(tmp_path: Path) -> None:
    a = [Cell("x", {"vm": "2q", "workload": "a", "run": "a"}, {"turnaround_s": 1.0}, sweep="a")]
    b = [Cell("x", {"vm": "ws", "workload": "b", "run": "b"}, {"turnaround_s": 1.0}, sweep="b")]
    folder.write(sources.Sources([], [*a, *b]), tmp_path / "out")
    assert "have no place in common" in (tmp_path / "out/report.html").read_text()


def test_only_ideal_runs(tmp_path: Path) -> None:
    folder.write(sources.Sources([], [Cell("x", {"vm": "2q", IDEAL: "yes"}, {"turnaround_s": 1.0})]), tmp_path / "out")
    assert (tmp_path / "out/report.html").exists()
