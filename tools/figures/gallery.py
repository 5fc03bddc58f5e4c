"""The gallery: a picture and a part of a chapter for each entry of tools/page/gallery/gallery.json.

An entry's link is the only definition of its case. A link to the stepper is a string of references, which the
simulator runs under both policies; a link to the race is two machines, which QEMU runs with the page's parameters.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from tidemark.strings import explain, refstrings, vmsim

from figures.common import measure
from figures.entries import ROOT, Figure
from figures.page import PARAMETERS, SWAP
from figures.policies import stays_of
from figures.svg import text

ENTRIES = ROOT / "tools/page/gallery/gallery.json"
WIDTH, LEFT, RIGHT = 560, 56, 12
COLOURS = ("#0072b2", "#d55e00")
STYLE = """svg{background:#fff}text{font:13px "DejaVu Sans",sans-serif;fill:#222}
.small,.small text{font-size:12px;fill:#555}
.own{font-weight:bold}.right,.right text{text-anchor:end}"""
RACE_STYLE = """.middle text{text-anchor:middle}path{fill:none}.grid{stroke:#ddd}.first{stroke:#0072b2;stroke-width:2}
.second{stroke:#d55e00;stroke-width:2;stroke-dasharray:7 4}"""


def sheet(title: str, height: int, lines: Iterable[str], style: str = "") -> str:
    """A picture, with a style of its own: there are ten, and all pictures together have a limit."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}">'
    return "\n".join([head, f"<title>{escape(title)}</title><style>{STYLE}{style}</style>", *lines, "</svg>"]) + "\n"


def group(kind: str, lines: Iterable[str]) -> str:
    """Elements of one kind."""
    return f'<g class="{kind}">{"".join(lines)}</g>'


@dataclass(frozen=True)
class Panel:
    """One policy on a string: its name, the pages in order of reference, which were faults, their stays in memory."""

    name: str
    pages: list[int]
    faults: list[bool]
    stays: list[tuple[int, int, int]]


@dataclass(frozen=True)
class Machine:
    """One machine of a race: `at`: (seconds, value) of the line; `end_s`; major faults in total."""

    name: str
    at: list[tuple[float, float]]
    end_s: float
    majors: int


def words_of(link: str) -> dict[str, list[str]]:
    """The words of a link. Those that may differ between both sides have a value for each."""
    return parse_qs(link[1:])


# --- strings ---


def panels(link: str) -> list[Panel]:
    """Runs the string of a link to the stepper under its two policies."""
    words = words_of(link)
    policies, frames = words["step"][0].split(","), words["frames"][0].split(",")
    string = refstrings.find(words["string"][0], step_ns=1000 * int(words["us"][0]))
    found = []
    for nr, policy in enumerate(policies):
        own = {name.partition(".")[2]: values[nr] for name, values in words.items() if name.startswith(f"{policy}.")}
        rows: list[dict[str, Any]] = []
        parameters = [f"{name}={value}" for name, value in own.items()]
        vmsim.run(vmsim.build(policy), string, int(frames[nr % len(frames)]), parameters, rows.append)
        resident = [{page for page in row["frames"] if page is not None} for row in rows]
        name = ", ".join([policy, *([f"{frames[nr]} frames"] if len(frames) > 1 else []), *parameters])
        pages = [row["page"] for row in rows]
        found.append(Panel(name, pages, [row["result"] == "fault" for row in rows], stays_of(resident)))
    return found


STEP_HEAD, ROW = 30, 15


def drawn_panel(panel: Panel, top: int) -> Iterator[str]:
    """A map of pages over references: in memory, hit, fault."""
    order = sorted(set(panel.pages), key=lambda page: (page < 0, abs(page)))
    line = {page: top + STEP_HEAD + ROW * nr + ROW // 2 for nr, page in enumerate(order)}
    step = (WIDTH - LEFT - RIGHT) / len(panel.pages)

    def x(at: float) -> str:
        return f"{LEFT + step * at:.0f}"

    held = sum(end - start for _, start, end in panel.stays) / len(panel.pages)
    yield text(LEFT, top + 18, panel.name, "own")
    count = f"{sum(panel.faults)} faults in {len(panel.pages)} references, {held:.1f} pages held"
    yield text(WIDTH - RIGHT, top + 18, count, "right")
    yield group("small right", (text(LEFT - 8, y + 4, explain.page_name(page)) for page, y in line.items()))
    stays = "".join(f"M{x(start)} {line[page]}H{x(end)}" for page, start, end in panel.stays)
    yield f'<path stroke="#cfe2f1" stroke-width="{ROW - 3}" d="{stays}"/>'
    for fault, colour, wide in ((False, "#0072b2", 6), (True, "#d55e00", 12)):
        marks = [(at, page) for at, (page, missed) in enumerate(zip(panel.pages, panel.faults)) if missed == fault]
        d = "".join(f"M{int(x(at + 0.5)) - wide // 2} {line[page]}h{wide}" for at, page in marks)
        yield f'<path stroke="{colour}" stroke-width="{wide}" d="{d}"/>'


def drawn_string(title: str, both: Sequence[Panel]) -> str:
    """The picture of an entry of the stepper."""
    height = [STEP_HEAD + ROW * len(set(panel.pages)) + 8 for panel in both]
    tops = [sum(height[:nr]) for nr in range(len(both))]
    lines = [line for panel, top in zip(both, tops) for line in drawn_panel(panel, top)]
    return sheet(title, sum(height) + 26, [*lines, *legend(sum(height) + 14)])


def legend(y: int) -> Iterator[str]:
    """Explains the marks of a map of pages."""
    looks = [(LEFT, "#d55e00", 12, "fault"), (LEFT + 70, "#0072b2", 6, "hit"), (LEFT + 130, "#cfe2f1", 12, "in memory")]
    for x, colour, size, _ in looks:
        yield f'<path stroke="{colour}" stroke-width="{size}" d="M{x} {y - 4}h{size}"/>'
    yield group("small", (text(x + 17, y, name) for x, *_, name in looks))
    yield text(WIDTH - RIGHT, y, "pages (vertical) at each reference", "small right")


# --- races ---

TOP, HEIGHT, FROM_S, CLOSE = 62, 170, 0.02, 0.06


def machines(link: str, shows: str) -> list[Machine]:
    """Runs the machines of a link to the race; `shows` is one of SHOWN."""
    words = words_of(link)
    found = []
    for nr, policy in enumerate(words["vm"][0].split(",")):
        own = words.get(("first", "second")[nr], [""])[0]
        settings = {"vm": policy, "mem": words["mem"][0], "swap": SWAP, "seed": words["seed"][0]}
        done = measure(words["run"][0], telemetry=True, cmdline=f"{PARAMETERS} {own}".strip(), **settings)
        samples, end_s = list(done.records("sample")), done.every_record[-1]["t_us"] / 1e6
        line = SHOWN[shows][1](done.every_record)
        total = samples[-1]["vm"]["pgmajfault"]
        found.append(Machine(f"{policy} {own}".strip(), [*line, (end_s, line[-1][1])], end_s, total))
    return found


def apart(records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Samples that are so far apart that the picture shows them apart, on its logarithmic axis; and the last one."""
    samples = [one for one in records if one["ev"] == "sample"]
    kept = samples[:1]
    for one in samples:
        if math.log(one["t_us"] / kept[-1]["t_us"]) >= CLOSE:
            kept.append(one)
    return [*kept[:-1], samples[-1]]


def utilisation(records: Sequence[dict[str, Any]]) -> list[tuple[float, float]]:
    """(seconds, % of the time since the previous point in which the processor was not idle)."""
    some = apart(records)
    busy = [(a, b, 100 * (1 - (b["idle_us"] - a["idle_us"]) / (b["t_us"] - a["t_us"]))) for a, b in zip(some, some[1:])]
    return [(one["t_us"] / 1e6, value) for a, b, value in busy for one in (a, b)]


def majors(records: Sequence[dict[str, Any]]) -> list[tuple[float, float]]:
    """(seconds, major faults so far)."""
    return [(one["t_us"] / 1e6, one["vm"]["pgmajfault"]) for one in apart(records)]


def work(records: Sequence[dict[str, Any]]) -> list[tuple[float, float]]:
    """(seconds, % of the work done), as workUntil of tools/page/lib/telemetry.js measures it: time in which programs
    ran their own code, of the processes that run and of those that have ended."""
    ended, done = 0, []
    for one in records:
        if one["ev"] == "exit":
            ended += one["us"][0]
        elif one["ev"] == "sample":
            alive = sum(proc["user_us"] for proc in one["procs"] if proc["pid"] != INIT and proc["state"] != ZOMBIE)
            done.append({"ev": "sample", "t_us": one["t_us"], "work": ended + alive})
    return [(one["t_us"] / 1e6, 100 * one["work"] / done[-1]["work"]) for one in apart(done)]


INIT, ZOMBIE = 1, 3
SHOWN = {
    "utilisation": ("processor utilisation", utilisation),
    "work": ("work done", work),
    "majors": ("major faults so far", majors),
}


def seconds(s: float) -> str:
    """A time with three digits."""
    return f"{s:.3g} s"


def said(machine: Machine, other: Machine, shows: str) -> str:
    """What the picture says about a machine."""
    ratio = machine.end_s / other.end_s
    longer = f", {ratio:.0f} times as long" if ratio >= 1.95 else ""
    faults = f"; {machine.majors:,} major faults" if shows == "majors" else ""
    return f"{machine.name}: done after {seconds(machine.end_s)}{longer}{faults}"


def steps(points: Sequence[tuple[str, str]]) -> str:
    """A line through points, as short as SVG allows: horizontal and vertical pieces are one piece and one number."""
    kept: list[tuple[str, str]] = []
    for to in points:
        if len(kept) > 1 and any(kept[-1][i] == kept[-2][i] == to[i] for i in (0, 1)):
            kept.pop()
        kept.append(to)
    d = f"M{' '.join(kept[0])}"
    for at, to in zip(kept, kept[1:]):
        d += f"H{to[0]}" if to[1] == at[1] else f"V{to[1]}" if to[0] == at[0] else f"L{' '.join(to)}"
    return d


def drawn_race(title: str, both: Sequence[Machine], shows: str) -> str:
    """The picture of an entry of the race."""
    end = max(machine.end_s for machine in both) * 1.05
    share = shows != "majors"
    most = 100 if share else max(machine.majors for machine in both)

    def x(s: float) -> str:
        return f"{LEFT + (WIDTH - LEFT - RIGHT) * math.log(max(s, FROM_S) / FROM_S) / math.log(end / FROM_S):.0f}"

    def y(value: float) -> str:
        return f"{TOP + HEIGHT * (1 - value / most):.0f}"

    lines, marks = [], []
    grid = "".join(f"M{LEFT} {y(most * part)}H{WIDTH - RIGHT}" for part in (0, 0.5, 1))
    lines.append(f'<path class="grid" d="{grid}"/>')
    for part, name in ((0, "0"), (0.5, f"{most / 2:,.0f}"), (1, f"{most:,.0f}")):
        lines += [text(LEFT - 6, int(y(most * part)) + 4, f"{name} %" if share else name, "small right")]
    for mark in (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100):
        if mark < end * 0.93:
            marks.append(text(x(mark), TOP + HEIGHT + 18, f"{mark:g}"))
    lines.append(group("small middle", marks))
    lines.append(text(WIDTH - RIGHT, TOP + HEIGHT + 36, "seconds of the machine's time, logarithmic", "small right"))
    lines.append(text(LEFT, TOP + HEIGHT + 36, SHOWN[shows][0], "small"))
    for nr, machine in enumerate(both):
        kind, at = ("first", "second")[nr], 18 + 20 * nr
        lines.append(f'<path class="{kind}" d="M{LEFT} {at - 4}h28"/>')
        lines.append(text(LEFT + 36, at, said(machine, both[1 - nr], shows), "own"))
        lines.append(f'<path class="{kind}" d="{steps([(x(s), y(value)) for s, value in machine.at])}"/>')
        end_x, end_y = int(x(machine.end_s)), y(machine.at[-1][1])
        lines.append(f'<path style="stroke:{COLOURS[nr]};stroke-width:9" d="M{end_x - 4} {end_y}h9"/>')
    return sheet(title, TOP + HEIGHT + 44, lines, RACE_STYLE)


# --- the figure ---


def drawn(entry: dict[str, str]) -> str:
    """The picture of an entry."""
    title = entry["title"]
    if entry["link"].startswith("#step="):
        return drawn_string(title, panels(entry["link"]))
    shows = entry.get("shows", "utilisation")
    return drawn_race(title, machines(entry["link"], shows), shows)


def make(figure: Figure, work: Path) -> str:
    """All pictures, and the chapter's text."""
    parts = []
    for entry in json.loads(ENTRIES.read_text()):
        (work / f"{entry['name']}.svg").write_text(drawn(entry))
        parts += [
            f"## {entry['title']}",
            f"**{entry['question']}** {entry['answer']}",
            f"![{entry['title']}: what the runs came to](../figures/gallery/{entry['name']}.svg)",
            f"<!-- open: {entry['link']} -->",
        ]
    return "\n\n".join(parts)
