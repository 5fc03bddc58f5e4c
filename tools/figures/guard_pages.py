"""The pictures of the guards' pages of the field guide, from runs of the machine.

The same work with and without a guard: how much memory each process has over time, and how long the work takes. The
table covers replicates, because under memory pressure small shifts are amplified; the pictures show one run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from figures.common import Outcome, in_parallel, measure
from figures.draw import Line
from figures.entries import Figure
from figures.svg import svg, text

MACHINE = {"vm": "2q", "mem": "16M", "swap": "sim:hdd"}
CHOSEN = {
    "token": "holder",
    "serialize": "runs",
    "tpf": "protected",
}  # the name that a sample has for the preferred process
FREE = "free"
SMALL_PAGES = 500  # a process with at most this many pages is not part of the work


def run(job: str, guard: str) -> Outcome:
    """One run, with its telemetry."""
    return measure(job, telemetry=True, cmdline=f"guard={guard}", timeout=1200, **MACHINE)


# --- memory of each process over time ---

LEFT, WIDTH, ROW, HEAD, GAP, POINTS = 34, 660, 16, 22, 30, 220


@dataclass(frozen=True)
class Life:
    """A row of the picture. `seen`: for each sample (microseconds, pages, does the guard prefer the process). A
    process's row has its resident pages, its end and its major faults.
    """

    name: str
    seen: list[tuple[int, int, bool]]
    end_us: int
    faults: int


def lives(found: Outcome, guard: str) -> list[Life]:
    """The processes that do the work, in order of pid."""
    ends = {one["pid"]: one for one in found.records("exit") if one["max_rss"] > SMALL_PAGES}
    seen: dict[int, list[tuple[int, int, bool]]] = {pid: [] for pid in ends}
    key = CHOSEN.get(guard.split()[0], "")
    for sample in found.records("sample"):
        preferred = sample.get("guard", {}).get(key, 0)
        for one in sample["procs"]:
            if one["pid"] in seen:
                seen[one["pid"]].append((sample["t_us"], one["rss"], one["pid"] == preferred))
    return [Life(str(pid), seen[pid], ends[pid]["t_us"], ends[pid]["majflt"]) for pid in sorted(ends)]


def free_memory(found: Outcome, end_us: int) -> Life:
    """The row of free pages."""
    return Life(FREE, [(one["t_us"], sum(one["free"]), False) for one in found.records("sample")], end_us, 0)


def rows_of(found: Outcome, guard: str) -> list[Life]:
    """The processes' rows; with at most two processes, also free memory."""
    every = lives(found, guard)
    return every if len(every) > 2 else [*every, free_memory(found, max(life.end_us for life in every))]


def heights(life: Life, total_us: int, most: int) -> list[tuple[float, bool]]:
    """The last sample before each of POINTS moments: the share of the row, and whether the process is preferred."""
    found = []
    for at in range(POINTS):
        now = total_us * (at + 1) / POINTS
        last = next((one for one in reversed(life.seen) if one[0] <= now), (0, 0, False))
        found.append((0.0 if now > life.end_us else last[1] / most, last[2]))
    return found


def area(values: Sequence[float], bottom: float) -> str:
    """The path of a row's area, in steps; equal neighbours form one step."""
    step, path = WIDTH / POINTS, ""
    for at, value in enumerate(values):
        if at == 0 or value != values[at - 1]:
            path += f"H{LEFT + at * step:.0f}V{bottom - (ROW - 3) * value:.1f}"
    return f"M{LEFT} {bottom}{path}H{LEFT + WIDTH}V{bottom}z"


def panel(title: str, found: Outcome, guard: str, y: int) -> Iterator[str]:
    """One run: a row for each process, a title, and a time axis below."""
    every = rows_of(found, guard)
    total_us, most = max(life.end_us for life in every), max(pages for life in every for _, pages, _ in life.seen)
    faults = sum(life.faults for life in every)
    yield text(LEFT, y + 12, f"{title}: {total_us / 1e6:.1f} s, {faults:,} major faults", "own")
    for nr, life in enumerate(every):
        bottom = y + HEAD + ROW * (nr + 1)
        row = heights(life, total_us, most)
        end = LEFT + WIDTH * life.end_us / total_us
        yield f'<path class="has" d="{area([value for value, _ in row], bottom)}"/>'
        if any(preferred for _, preferred in row):
            yield f'<path class="preferred" d="{area([v if preferred else 0 for v, preferred in row], bottom)}"/>'
        if life.name != FREE:
            yield f'<path class="ends" d="M{end:.1f} {bottom - ROW + 2}V{bottom}"/>'
        yield text(LEFT - 6, bottom - 3, life.name, "small right")
    bottom = y + HEAD + ROW * len(every)
    yield f'<path class="axis" d="M{LEFT} {bottom}H{LEFT + WIDTH}"/>'
    yield text(LEFT, bottom + 13, "0 s", "small")
    yield text(LEFT + WIDTH, bottom + 13, f"{total_us / 1e6:.1f} s", "small right")


ROWS_STYLE = """  .has { fill: #9cc7e4 } .preferred { fill: #0072b2 } .ends { stroke: #d55e00; stroke-width: 2 }
  .axis { stroke: #8a8a8a }
"""


def rows_picture(job: str, guard: str) -> str:
    """The work without the guard and with it, one above the other, each with its own time axis."""
    without, with_it = in_parallel(lambda one: run(job, one), ["none", guard])
    height = HEAD + ROW * len(rows_of(without, "none")) + GAP
    words = [
        "resident pages of each process",
        *(["the preferred process"] if guard.split()[0] in CHOSEN else []),
        "its end",
    ]
    colours = ["#9cc7e4", *(["#0072b2"] if len(words) == 3 else []), "#d55e00"]
    legend = []
    for nr, (word, colour) in enumerate(zip(words, colours)):
        legend.append(f'<rect x="{LEFT + 230 * nr}" y="6" width="10" height="8" style="fill:{colour}"/>')
        legend.append(text(LEFT + 14 + 230 * nr, 14, word))
    lines = [
        *legend,
        *panel("2q, no guard", without, "none", 22),
        *panel(f"2q, guard={guard}", with_it, guard, 22 + height),
    ]
    return svg(f"{job} with and without guard={guard}", (LEFT + WIDTH + 40, 22 + 2 * height), lines, ROWS_STYLE)


# --- how long it takes ---


def bars(_: Mapping[str, str], names: Sequence[str], lines: Sequence[Line], path: Path) -> None:
    """The picture of mc62 to mc75, from the rows of the table of guards, whose first number is seconds: a mark for each
    run and a bar for the median."""
    named = [(row["guard"].format_map(row).split()[0], values) for row, (_, values, *_) in lines]
    found = {name: values for name, values in named if name.startswith(("none", "mc"))}
    longest, left = max(map(max, found.values())), 130
    scale = (LEFT + WIDTH - left) / longest
    drawn = [text(left, 14, "seconds until all have ended; bar: median, marks: each run", "small")]
    for nr, (guard, times) in enumerate(found.items()):
        y = 22 + 20 * nr
        fill = "#8a8a8a" if guard == "none" else "#9cc7e4"
        drawn.append(text(left - 6, y + 12, "no guard" if guard == "none" else guard, "right"))
        drawn.append(f'<rect x="{left}" y="{y}" width="{scale * median(times):.1f}" height="15" style="fill:{fill}"/>')
        drawn += [f'<path class="run" d="M{left + scale * one:.1f} {y + 1}v13"/>' for one in times]
        drawn.append(text(f"{left + 6}", y + 12, f"{median(times):.0f} s"))
    size = LEFT + WIDTH + 40, 30 + 20 * len(found)
    style = "  .run { stroke: #d55e00; stroke-width: 2 }\n"
    path.write_text(svg("mc62 to mc75: how long the work takes", size, drawn, style))


def make(figure: Figure, work: Path) -> None:
    """`guard`: its name and parameters; `job`: the command."""
    guard, job = figure.settings["guard"], figure.settings["job"]
    (work / Path(figure.files[0]).name).write_text(rows_picture(job, guard))
