"""Pictures of one sample: the processes by memory, and the scheduler's run queue. Pure functions.

The processes are circles whose area is their memory, the largest first, after Memball of A. McMenamin ("Applying
working set heuristics to the Linux kernel", 2011, appendix C).

The tasks that wait for the processor are in a red-black tree by vruntime. It is drawn as it is in the kernel, with
the shape and the colours from the sample's `rq`: from left to right in the tree's order, each level on a line.
Between two nodes of one level there is always a node of another level, so no two touch. A red-black tree of the
processes by memory, Memball's other picture, is drawn in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as ET

from tidemark.errors import BAD_INPUT, USAGE, LabError
from tidemark.report.redblack import Tree
from tidemark.telemetry.stream import TelemetryError

Row = dict[str, Any]

PAGES = ("rss", "mad", "wss", "swap", "nap")
NAMES = {"rss": "RSS", "mad": "MAD", "wss": "WSS", "nap": "NAP"}
NOT_AMOUNTS = ("pid", "state", "comm")
PAGE_KIB = 4
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters that XML cannot have

PER_ROW = 8
ACROSS, ACROSS_TREE, DOWN, MARGIN, HEAD = 116, 58, 128, 64, 112
BOLD_WIDTH, PLAIN_WIDTH, TITLE_WIDTH = 8.2, 6.8, 10.8  # of a character, approximately, in the sizes used
LARGEST, SMALLEST = 40, 7
RED, BLACK, EDGE, TEXT, FAINT, NEXT = "#c62828", "#212121", "#9e9e9e", "#111111", "#616161", "#1565c0"
MEMORY = "#0072b2"


def choose(samples: Sequence[Any], at_s: float | None, live: bool, member: str = "procs") -> Any:
    """The sample to draw: the last up to `at_s` seconds; without `at_s`, the latest of a running machine (`live`), or
    else the last of those with the longest `member`."""
    if not samples:
        raise TelemetryError("it has no sample: with sample_ms=0, or before the first sample, there is nothing to draw")
    if at_s is not None:
        before = [sample for sample in samples if sample["t_us"] <= at_s * 1e6]
        if not before:
            first, last = samples[0]["t_us"] / 1e6, samples[-1]["t_us"] / 1e6
            raise LabError(f"there is no sample up to {at_s:g} s: they go from {first:.3f} to {last:.3f} s", USAGE)
        return before[-1]
    if live:
        return samples[-1]
    most = max(len(sample.get(member, ())) for sample in samples)
    return [sample for sample in samples if len(sample.get(member, ())) == most][-1]


def by_memory(sample: Row, by: str) -> list[Row]:
    """pid, comm and the amount `by`, such as rss, of the sample's processes, largest first. Raises LabError if there
    is no such amount."""
    for process in sample["procs"]:
        if by in NOT_AMOUNTS or by not in process:
            amounts = ", ".join(name for name in process if name not in NOT_AMOUNTS)
            raise LabError(f"--by {by}: a process has no such amount; it has {amounts}", USAGE)
    rows = [{name: process[name] for name in ("pid", "comm", by)} for process in sample["procs"]]
    return sorted(rows, key=lambda row: (-row[by], row["pid"]))


def memory_tree(sample: Row, by: str) -> list[Row]:
    """A red-black tree of the sample's processes by the amount `by`, inserted by number, in its order: pid, comm, the
    amount, colour, depth, parent (a pid; None for the root). Raises LabError if there is no such amount."""
    rows = {row["pid"]: row for row in by_memory(sample, by)}
    tree = Tree()
    for pid in sorted(rows):
        tree.insert((rows[pid][by], pid))
    return [
        {
            **rows[node.key[1]],
            "colour": "red" if node.red else "black",
            "depth": node.depth,
            "parent": node.parent.key[1] if node.parent else None,
        }
        for node in tree
    ]


def queue(sample: Row) -> list[Row]:
    """The scheduler's tree in its order: pid, comm, vruntime, colour, depth, parent (a pid; None for the root). Raises
    LabError if the sample has no tree, or TelemetryError if it is not a binary tree."""
    if "rq" not in sample:
        raise LabError(
            "the sample has no rq, the scheduler's tree: it is from an older kernel; run it again", BAD_INPUT
        )
    comms = {process["pid"]: process["comm"] for process in sample["procs"]}
    order = {pid: nr for nr, (pid, *_) in enumerate(sample["rq"])}
    parents = {pid: parent for pid, _, _, parent in sample["rq"]}
    children = [(parent, order[pid] < order.get(parent, -1)) for pid, parent in parents.items()]
    depths = {pid: depth(pid, parents) for pid in parents}
    if len(set(children)) < len(sample["rq"]) or None in depths.values():
        raise TelemetryError(f"the sample of seq {sample['seq']}: its rq is not a tree, {sample['rq']}")
    return [
        {
            "pid": pid,
            "comm": comms.get(pid, "kernel thread"),
            "vruntime": vruntime,
            "colour": "black" if black else "red",
            "depth": depths[pid],
            "parent": parent or None,
        }
        for pid, vruntime, black, parent in sample["rq"]
    ]


def depth(pid: int, parents: Mapping[int, int]) -> int | None:
    """A task's distance from the root, whose parent is 0; None if no path leads there."""
    for steps in range(len(parents)):
        pid = parents.get(pid, -1)
        if pid == 0:
            return steps
    return None


def amount(number: float, by: str) -> str:
    """A process's amount with its unit."""
    if by in PAGES:
        kib = number * PAGE_KIB
        size, unit = next(
            ((kib / k, unit) for k, unit in ((1 << 20, "GiB"), (1 << 10, "MiB")) if kib >= k), (kib, "KiB")
        )
        return f"{size:,.0f} {unit}" if unit == "KiB" else f"{size:,.1f} {unit}"
    if by.endswith("_us"):
        return f"{number / 1e6:,.2f} s" if number >= 1e6 else f"{number / 1e3:,.2f} ms"
    return f"{number:,}"


def element(parent: ET.Element, name: str, text: str = "", **attributes: object) -> ET.Element:
    """A new element under `parent`; `font_size` is font-size. Characters that XML forbids are replaced."""
    made = ET.SubElement(parent, name, {key.replace("_", "-"): str(value) for key, value in attributes.items()})
    made.text = FORBIDDEN.sub("\ufffd", text) or None
    return made


def sheet(title: str, says: str, wide: float, high: float) -> ET.Element:
    """An empty drawing with room for `wide` by `high` under two lines of text, and wide enough for both."""
    width = round(max(wide, TITLE_WIDTH * len(title) + 32, PLAIN_WIDTH * 1.08 * len(says) + 32))
    height = round(HEAD + high)
    svg = ET.Element("svg", xmlns="http://www.w3.org/2000/svg", width=str(width), height=str(height))
    svg.set("viewBox", f"0 0 {width} {height}")
    svg.set("font-family", "Helvetica, Arial, sans-serif")
    element(svg, "title", title)
    element(svg, "rect", width="100%", height="100%", fill="white")
    element(svg, "text", title, x=16, y=28, font_size=18, font_weight="bold", fill=TEXT)
    element(svg, "text", says, x=16, y=50, font_size=13, fill=FAINT)
    return svg


def circle(svg: ET.Element, row: Row, centre: tuple[float, float], radius: float, label: str, colour: str) -> None:
    """Draw one process or task, with its name and amount below."""
    x, y = centre
    group = element(svg, "g")
    element(group, "title", f"{row['comm']} (pid {row['pid']}): {label}")
    element(group, "circle", cx=x, cy=y, r=round(radius, 2), fill=colour)
    second, below = f"{row['pid']} · {label}", round(y + radius + 20, 2)
    wide = max(len(row["comm"]) * BOLD_WIDTH, len(second) * PLAIN_WIDTH)
    element(group, "rect", x=x - wide / 2, y=below - 12, width=wide, height=31, fill="white", opacity=0.9)
    middle = {"x": x, "text_anchor": "middle"}
    element(group, "text", row["comm"], y=below, font_size=13, font_weight="bold", fill=TEXT, **middle)
    element(group, "text", second, y=below + 15, font_size=12, fill=FAINT, **middle)


def draw_memory(rows: Sequence[Row], by: str, title: str) -> str:
    """The processes of `by_memory` as SVG; `title` is written over it."""
    says = f"area is {NAMES.get(by, by)}, the largest first"
    if len(rows) > 1 and rows[0][by] >= 1.1 * rows[1][by] > 0:
        says += f". {rows[0]['comm']} ({rows[0]['pid']}) has {rows[0][by] / rows[1][by]:.1f} times as much as the next"
    lines = -(-len(rows) // PER_ROW)
    svg = sheet(title, says, min(len(rows), PER_ROW) * ACROSS + MARGIN, lines * DOWN)
    for at, row in enumerate(rows):
        centre = (MARGIN / 2 + (at % PER_ROW + 0.5) * ACROSS, HEAD + at // PER_ROW * DOWN)
        radius = max(LARGEST * (max(row[by], 0) / (rows[0][by] or 1)) ** 0.5, SMALLEST)
        circle(svg, row, centre, radius, amount(row[by], by), MEMORY)
    return xml_text(svg)


def draw_queue(rows: Sequence[Row], title: str) -> str:
    """The tree of `queue` as SVG; the first of the rows runs next, and has a ring."""
    labels = [f"+{(row['vruntime'] - rows[0]['vruntime']) / 1e6:,.3f} ms" for row in rows]
    return draw_tree(rows, labels, title, "from left to right vruntime grows; the ringed task is next", ringed=True)


def draw_memory_tree(rows: Sequence[Row], by: str, title: str) -> str:
    """The tree of `memory_tree` as SVG."""
    labels = [amount(row[by], by) for row in rows]
    return draw_tree(rows, labels, title, f"from left to right {NAMES.get(by, by)} grows")


def draw_tree(rows: Sequence[Row], labels: Sequence[str], title: str, says: str, ringed: bool = False) -> str:
    """A tree in its order as SVG, with a label for each node; `ringed`: the first has a ring."""
    levels = 1 + max(row["depth"] for row in rows)
    svg = sheet(title, says, (len(rows) - 1) * ACROSS_TREE + 2 * MARGIN, levels * DOWN)
    at = {row["pid"]: (MARGIN + nr * ACROSS_TREE, HEAD + row["depth"] * DOWN) for nr, row in enumerate(rows)}
    for row in rows:
        if row["parent"] is not None:
            (x1, y1), (x2, y2) = at[row["parent"]], at[row["pid"]]
            element(svg, "line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=EDGE, stroke_width=1.5)
    if ringed:
        x, y = at[rows[0]["pid"]]
        element(svg, "circle", cx=x, cy=y, r=29, fill="none", stroke=NEXT, stroke_width=3)
    for row, label in zip(rows, labels, strict=True):
        circle(svg, row, at[row["pid"]], 24, label, RED if row["colour"] == "red" else BLACK)
    return xml_text(svg)


def xml_text(document: ET.Element) -> str:
    """A document as text, indented."""
    ET.indent(document)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(document, encoding="unicode") + "\n"
