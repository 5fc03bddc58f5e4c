"""The processes of a moment as text: one row each, with a bar that says where its pages are. Pure.

The bars of all processes have one scale, which ends at the pages in memory and in swap of the largest process, so that
the largest is easy to see: `█` is the working set, `▄` the rest of the resident pages, `·` pages in swap. Every part
that is not empty has at least one cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from tidemark.watch import model
from tidemark.watch.draw import DIM, NUMBER, count, join, percent
from tidemark.watch.model import Moment

WORKING, RESIDENT, SWAPPED = "#7fdbff", "#2f7ed8", "#b0885a"
STATES = {0: "R", 1: "S", 2: "D", 3: "Z"}
WAITS = ("user", "kernel", "ready", "page", "admit", "sleep")
WAIT_STYLES = ("#57c785", "#ffb347", "#ffe082", "#ff6b5e", "#c792ea", "grey50")
NUMBERS = (("rss", "RSS"), ("wss", "WSS"), ("mad", "MAD"), ("swap", "SWAP"))
FIXED = 5 + 1 + 10 + 1 + 1 + 1 + 4 * 7 + 8
LEAST_BAR = 16
WIDE = FIXED + 6 * 7 + 30
CHOSEN = "on #3a4a5a"


def bar(process: Mapping[str, int], scale: int, width: int) -> Text:
    """One process's bar on a scale of `scale` pages."""
    working = min(process["wss"], process["rss"])
    parts = ((working, "█", WORKING), (process["rss"] - working, "▄", RESIDENT), (process["swap"], "·", SWAPPED))
    text, pages, used = Text(), 0, 0
    for size, character, style in parts:
        pages += size
        end = min(max(round(width * pages / scale), used + (size > 0)), width)
        text.append(character * (end - used), style)
        used = end
    return text.append(" " * (width - used))


def heading(width: int) -> Text:
    """The line with the names of the columns."""
    text = Text(f"{'PID':>5} {'COMMAND':<10} S ", DIM)
    room = bar_width(width)
    text.append("WSS█", WORKING).append(" RSS▄", RESIDENT).append(" SWAP·", SWAPPED)
    text.append(" " * (room - 15))
    text.append("".join(f"{name:>7}" for _, name in numbers(width)) + f"{'FLT/s':>8}", DIM)
    if width >= WIDE:
        for name, style in zip(WAITS, WAIT_STYLES):
            text.append(f"{name:>7}", style)
    return text


def bar_width(width: int) -> int:
    """The number of characters left for the bar."""
    left_out = 7 * (len(NUMBERS) - len(numbers(width)))
    return max(width - FIXED + left_out - (6 * 7 if width >= WIDE else 0), LEAST_BAR)


def numbers(width: int) -> Sequence[tuple[str, str]]:
    """The number columns that fit: on a narrow terminal only resident pages and working set."""
    return NUMBERS if width >= FIXED + LEAST_BAR else NUMBERS[:2]


def row(process: Mapping[str, Any], scale: int, width: int) -> Text:
    """The line of one process."""
    comm = process["comm"] if len(process["comm"]) <= 10 else process["comm"][:9] + "…"
    text = Text(f"{process['pid']:>5} {comm:<10} {STATES.get(process['state'], '?')} ")
    text.append_text(bar(process, scale, bar_width(width)))
    text.append("".join(f"{count(process[name]):>7}" for name, _ in numbers(width)))
    text.append(f"{process['faults_s']:>8,.1f}", NUMBER if process["faults_s"] else DIM)
    if width >= WIDE:
        for share, style in zip(process["shares"], WAIT_STYLES):
            text.append(f"{percent(share) if share else '·':>7}", style if share else DIM)
    return text


def window(total: int, height: int, chosen: int) -> int:
    """The first of the `height` rows to show out of `total`, such that row `chosen` is among them."""
    return min(max(0, chosen - height // 2), max(0, total - height))


def table(rows: Sequence[Mapping[str, Any]], width: int, height: int, chosen: int | None = None) -> Text:
    """The processes, one per line, under a heading, in `height` lines; `chosen` is the pid of the row to mark."""
    scale = max([process["rss"] + process["swap"] for process in rows], default=1) or 1
    at = next((nr for nr, process in enumerate(rows) if process["pid"] == chosen), None)
    first = window(len(rows), height - 1, at or 0)
    lines = [heading(width)]
    for nr, process in enumerate(rows[first : first + height - 1], first):
        line = row(process, scale, width)
        if nr == at:
            line.stylize(CHOSEN)
        lines.append(line)
    for line in lines:
        line.truncate(width)
    return join(lines)


def detail(process: Mapping[str, Any] | None, width: int) -> Text:
    """How the chosen process spent the last interval, and its faults since it was created."""
    if process is None:
        return Text("press up or down to choose a process", DIM)
    text = Text(f"{process['pid']} {process['comm']}  ", NUMBER)
    for name, share, style in zip(WAITS, process["shares"], WAIT_STYLES):
        if share:
            text.append(f"{name} {percent(share)}  ", style)
    text.append(f"faults {count(process['majflt'])} major {count(process.get('minflt', 0))} minor ", DIM)
    text.append(f"{count(process.get('refault', 0))} refaults", DIM)
    text.truncate(width, overflow="ellipsis")
    return text


def page(moment: Moment, width: int) -> Text:
    """A whole moment as one text, for scripts and for terminals that cannot show the view."""
    from tidemark.watch import draw

    rows = model.processes(moment)
    title = f"{moment.now['t_us'] / 1e6:,.3f} s   policy {moment.policy}   {moment.start.get('cmdline', '')}"
    blank = Text()
    parts = [Text(title, NUMBER, no_wrap=True), blank, draw.graphs(moment, width, 13), blank]
    parts += [draw.machine(moment, width), blank, draw.lists(moment, width), blank]
    return join([*parts, table(rows, width, len(rows) + 1)])
