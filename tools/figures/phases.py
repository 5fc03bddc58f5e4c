"""Changes of phase, as each sample detects them, against the changes that a program really makes.

`phase` moves its window after equal numbers of references, so the moments of its changes follow from its end, to within
a millisecond. The first move is left out, because all pages were used shortly before, when the array was filled. A
change is found if `phases` grows in one of the first two samples after it; any other growth is false, except that of
the first sample. The rival is a detector by the size of the working set, as A. McMenamin proposes (Applying Working Set
Heuristics to the Linux Kernel, 8.3): a change is a sample in which `wss` grows by more than a share, for which the
value is taken that is best on these very runs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from figures.common import Outcome, host, in_parallel, measure, table
from figures.draw import COLOURS, canvas, save
from figures.entries import Figure

SAMPLING = "sample_ms=5 sample_percent=100 wss_tau_ms=40"
PHASES, SEEDS = 12, range(1, 6)
PROGRAM = f"phase 32768 2048 {PHASES} 1000000"
STRAYS = {0: "none", 4096: "one in 4,096", 1024: "one in 1,024", 256: "one in 256", 64: "one in 64"}
LACKING = ("12M", "none, in 12 MiB")
WITH_SEEDS = tuple(f" --seed {seed}" for seed in SEEDS)
STEADY = {"pattern zipf 8192 400000": WITH_SEEDS, "seqscan 8192 4000": ("",), "btree 2048 200000": WITH_SEEDS}
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9)
WITHIN_US = 1000
FILE = "phases.svg"


@dataclass(frozen=True)
class Series:
    """A process's samples: times in µs, pages used, pages in the working set, fresh pages, phases begun."""

    t_us: tuple[int, ...]
    nap: tuple[int, ...]
    wss: tuple[int, ...]
    fresh: tuple[int, ...]
    phases: tuple[int, ...]
    changes_us: tuple[float, ...]  # of the program's window; empty: it has none


def run_of(case: tuple[str, str]) -> Series:
    """Runs a command line, `case`: it and the size of memory."""
    command, mem = case
    run: Outcome = measure(command, True, mem=mem, swap="sim:ssd", cmdline=SAMPLING)
    name = command.split()[0]
    samples = [(s["t_us"], p) for s in run.records("sample") for p in s["procs"] if p["comm"] == name]
    ((ended_us,),) = [(r["t_us"],) for r in run.records("exit") if r["comm"] == name]
    columns = (tuple(p[key] for _, p in samples) for key in ("nap", "wss", "fresh", "phases"))
    ran = re.search(r"run_us=(\d+)", run.console) if name == "phase" else None
    each = int(ran[1]) / PHASES if ran else 0.0
    changes = tuple(ended_us - each * left for left in range(PHASES - 2, 0, -1)) if ran else ()
    return Series(tuple(t for t, _ in samples), *columns, changes)


def by_fresh(s: Series) -> list[int]:
    """The samples, by number, in which the kernel's detector saw a change."""
    return [at for at in range(1, len(s.t_us)) if s.phases[at] > s.phases[at - 1]]


def by_size(s: Series, share: float) -> list[int]:
    """The same, of a detector that looks at the size of the working set."""
    grows = [b > a * (1 + share) for a, b in zip(s.wss, s.wss[1:])]
    return [at + 1 for at, grown in enumerate(grows) if grown and not (at and grows[at - 1])]


def score(s: Series, seen: Sequence[int]) -> tuple[int, int]:
    """How many of the changes were found, and how many others were seen."""
    first = [
        next((at for at, t in enumerate(s.t_us) if t > change - WITHIN_US), len(s.t_us)) for change in s.changes_us
    ]
    found = sum(any(at in seen for at in (start, start + 1)) for start in first)
    near = {at + later for at in first for later in (0, 1)}
    return found, sum(at not in near for at in seen)


def totals(runs: Sequence[Series], share: float | None = None) -> tuple[float, float]:
    """Found and false changes for each run, on average; `share`: by size."""
    scores = [score(s, by_fresh(s) if share is None else by_size(s, share)) for s in runs]
    return mean(found for found, _ in scores), mean(false for _, false in scores)


def best_share(runs: Sequence[Series]) -> float:
    """The share with which the detector by size finds most, less what is false."""

    def worth(share: float) -> float:
        found, false = totals(runs, share)
        return found - false

    return max(SHARES, key=worth)


def draw(s: Series, path: Path) -> None:
    """Pages over time, with the changes that were found."""
    figure, axes = canvas(7, 2.6)
    times = [t / 1000 for t in s.t_us]
    for name, colour in zip(("wss", "nap", "fresh"), COLOURS):
        axes.plot(times, getattr(s, name), color=colour, lw=1.2, label=name)
    for change in s.changes_us:
        axes.axvline(change / 1000, color="#bbbbbb", lw=0.8, zorder=0)
    start = s.changes_us[0] - 15_000
    top = 1.12 * max(wss for t, wss in zip(s.t_us, s.wss) if t > start)
    axes.plot([times[at] for at in by_fresh(s)], [top] * len(by_fresh(s)), "v", color=COLOURS[1], ms=5, label="found")
    axes.set_ylim(0, top * 1.08)
    axes.set_xlim(start / 1000, times[-1])
    axes.set_xlabel("ms; grey: the program's window moves")
    axes.set_ylabel("pages")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, frameon=False, fontsize=7)
    save(figure, path)


def make(figure: Figure, work: Path) -> dict[str, str]:
    cases = {name: [(f"{PROGRAM} --stray {n} --seed {s}", "64M") for s in SEEDS] for n, name in STRAYS.items()}
    cases[LACKING[1]] = [(f"{PROGRAM} --stray 0 --seed {s}", LACKING[0]) for s in SEEDS]
    cases |= {command: [(f"{command}{seed}", "64M") for seed in seeds] for command, seeds in STEADY.items()}
    flat = [case for those in cases.values() for case in those]
    found = dict(zip(flat, in_parallel(run_of, flat)))
    runs = {name: [found[case] for case in those] for name, those in cases.items()}
    share = best_share([s for those in runs.values() for s in those])
    draw(runs[STRAYS[4096]][0], work / FILE)
    rows = []
    for name, those in runs.items():
        label = f"`{name}`" if name in STEADY else f"`phase`, strays: {name}"
        (hits, false), (sized, false_sized) = totals(those), totals(those, share)
        real = len(those[0].changes_us)
        rows.append((label, str(real), f"{hits:.1f}", f"{false:.1f}", f"{sized:.1f}", f"{false_sized:.1f}"))
    head = ("program", "changes", "found", "false", f"by size: found ({share:.0%} more)", "false")
    text = f"Means of {len(SEEDS)} seeds (`seqscan` has none); `{SAMPLING}`; {host()}."
    return {"phases": f"{text}\n\n{table(head, rows)}"}
