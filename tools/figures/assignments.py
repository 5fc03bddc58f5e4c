"""Draw the pictures of the replacement assignments, from new runs of this tree's policies.

Fault curves come from the simulator. Resident pages and running processes come from the kernel, as the grader sees it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from tidemark.grade.build import object_rules
from tidemark.grade.build.sandbox import best
from tidemark.grade.intake import lab
from tidemark.grade.judge.kinds import admission, residence
from tidemark.grade.witness.machine import Machine
from tidemark.grade.witness.playback import pages_of
from tidemark.report import svg
from tidemark.report.figure import BLACK, BLUE, OF_POLICY, ORANGE, STYLE, VERMILION, Look, canvas, heading, legend
from tidemark.strings import compare, refstrings, vmsim

from figures.entries import ROOT, Figure

LABELS = {"fifo": "FIFO", "clock": "CLOCK", "useonce": "2Q", compare.LRU: "LRU", compare.MIN: "MIN"}
LOOKS = {"fifo": Look(OF_POLICY["fifo"]), "clock": Look(OF_POLICY["clock"]), "useonce": Look(BLUE)}
LOOKS |= {compare.LRU: Look(ORANGE, "--"), compare.MIN: Look(BLACK, ":")}
TAU_MS = (2, 8)
WINDOW = 500_000  # instructions


def faults(text: str, sizes: Sequence[int], policies: Sequence[str]) -> dict[str, list[int]]:
    """Faults of policies, LRU and MIN on a string, by number of frames."""
    string = refstrings.find(text)
    made = {name: [vmsim.run(vmsim.build(name, True), string, size).faults for size in sizes] for name in policies}
    return made | compare.bounds(string, sizes)


def draw(axes: Axes, sizes: Sequence[int], curves: Mapping[str, Sequence[int]], title: str) -> None:
    """Draws fault curves."""
    for name, values in curves.items():
        axes.plot(sizes, values, color=LOOKS[name].colour, linestyle=LOOKS[name].dash)
    axes.set_xlabel("frames")
    axes.set_ylabel("faults")
    axes.set_ylim(bottom=0)
    heading(axes, title, wide=False)


def curves(figure: Figure, work: Path) -> None:
    """Draws fault curves side by side: `policies`, on `strings`, which have numbers of frames [first, last, step]."""
    matplotlib.rcParams.update(STYLE)
    policies = figure.settings["policies"]
    texts = {text: range(first, last + 1, step) for text, (first, last, step) in figure.settings["strings"].items()}
    picture, axes = canvas(1, len(texts), row_in=2.2)
    for each, (text, sizes) in zip(axes[0], texts.items()):
        draw(each, sizes, faults(text, sizes, policies), text)
    legend(picture, {LABELS[name]: LOOKS[name] for name in (*policies, compare.LRU, compare.MIN)}, columns=5)
    (work / "curve.svg").write_bytes(svg.drawn(picture))


def machine(folder: Path) -> Machine:
    """This tree as a machine, with its own solutions."""
    assignment = lab.load(ROOT, "workingset")
    return Machine(assignment, ROOT, ROOT, folder, best(), object_rules.objects(assignment))


def in_memory(place: Path, made: Machine) -> None:
    """Draws the resident pages over a process's own time, for the test about localities."""
    test = next(test for test in made.lab.tests if "every" in test.options)
    rounds = residence.rounds_of(test)
    text = " ".join(map(str, rounds)).encode()
    picture, axes = canvas(1, 1, row_in=1.9)
    entries = {}
    for tau_ms, colour in zip(TAU_MS, (VERMILION, BLUE)):
        boot = made.boot("pace @/string", {"string": text}, vm="ws", swap="sim:ram", cmdline=f"ws.tau_ms={tau_ms}")
        stays, end = residence.stays_of(boot.evidence, list(dict.fromkeys(pages_of(test))))
        axes[0, 0].plot(*zip(*residence.course(stays, end)), color=colour)
        again = len(stays) - len({stay.page for stay in stays})
        mean = residence.mean_resident(stays, end)
        entries[f"tau {tau_ms} ms: mean {mean:.0f}, {again} read again"] = Look(colour)
    axes[0, 0].set_xlabel("the process's own time, ms")
    axes[0, 0].set_ylabel("pages in memory")
    axes[0, 0].set_ylim(bottom=0)
    legend(picture, entries)
    place.write_bytes(svg.drawn(picture))


def who_runs(place: Path, made: Machine) -> None:
    """Draws which of four thrashing processes executes instructions, under 2q and under ws."""
    test = next(test for test in made.lab.tests if test.kind == "admission")
    picture, axes = canvas(1, 2, row_in=1.5, sharey=True)
    for each, policy in zip(axes[0], ("2q", "ws")):
        boot = made.boot(str(test.options["run"]), vm=policy, frames=test.options["frames"], refs=False)
        evidence = boot.evidence
        spaces = admission.workers(evidence, 4)
        parts = admission.shares(evidence, spaces, WINDOW)
        for at, part in enumerate(parts.T):
            moments = range(0, len(part) * WINDOW, WINDOW)
            each.fill_between(moments, at, at + 0.8 * part, step="post", color=OF_POLICY[policy], linewidth=0)
        together = admission.at_once(evidence, spaces)
        reads = int((evidence.events["kind"] == admission.READ).sum())
        heading(each, f"{policy}: {together:.1f} at a time, {reads:,} pages read again", wide=False)
        each.xaxis.set_major_formatter(lambda value, _: f"{value / 1e6:.0f}")
        each.set_xlabel("millions of instructions of programs")
        each.set_yticks(range(4), [f"process {at + 1}" for at in range(4)], verticalalignment="bottom")
    place.write_bytes(svg.drawn(picture))


def course(figure: Figure, work: Path) -> None:
    """The pictures of the lab about working sets."""
    matplotlib.rcParams.update(STYLE)
    with tempfile.TemporaryDirectory() as folder:
        made = machine(Path(folder))
        in_memory(work / "in-memory.svg", made)
        who_runs(work / "who-runs.svg", made)
