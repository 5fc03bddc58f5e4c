"""Processes as a tree: which are the large ones, seen at a glance. Pure functions of one sample.

After Memball and Treedraw of A. McMenamin ("Applying working set heuristics to the Linux kernel", 2011, appendix C):
the processes are put into a red-black tree by the memory they use, which keeps the picture low and wide whatever order
they come in, and the tree is drawn by the algorithm of Reingold and Tilford. From left to right memory grows; the area
of a circle is the memory of its process.

The scheduler keeps those who wait for the processor in a red-black tree too, by vruntime. That tree is drawn as it is
in the kernel, with the shape and the colours that the sample's `rq` tells, not as one that has been built anew.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from tidemark import redblack, tidytree
from tidemark.errors import BAD_INPUT, USAGE, LabError
from tidemark.redblack import Node
from tidemark.telemetry import TelemetryError

PAGES = ("rss", "mad", "wss", "swap", "nap")
NAMES = {"rss": "RSS", "mad": "MAD", "wss": "WSS", "nap": "NAP"}
NOT_AMOUNTS = ("pid", "state", "comm")
PAGE_KIB = 4
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters that XML cannot have

ACROSS, DOWN, MARGIN, HEAD = 112, 128, 64, 112
BOLD_WIDTH, PLAIN_WIDTH = 8.2, 6.8  # of a character, about, in the sizes used
LARGEST, SMALLEST = 40, 7
RED, BLACK, EDGE, TEXT, FAINT, NEXT = "#c62828", "#212121", "#9e9e9e", "#111111", "#616161", "#1565c0"


def choose(samples: Sequence[dict], at_s: float | None, live: bool, member: str = "procs") -> dict:
    """The sample to draw: the last until `at_s` seconds; without it, the latest of a machine that runs (`live`), or
    else, of those with the longest `member`, the last."""
    if not samples:
        raise TelemetryError(
            "there is no sample in it: with sample_ms=0, or before the first, there is nothing to draw"
        )
    if at_s is not None:
        before = [sample for sample in samples if sample["t_us"] <= at_s * 1e6]
        if not before:
            first, last = samples[0]["t_us"] / 1e6, samples[-1]["t_us"] / 1e6
            raise LabError(f"there is no sample until {at_s:g} s: they go from {first:.3f} to {last:.3f} s", USAGE)
        return before[-1]
    if live:
        return samples[-1]
    most = max(len(sample.get(member, ())) for sample in samples)
    return [sample for sample in samples if len(sample.get(member, ())) == most][-1]


def by_memory(sample: dict, by: str) -> Node | None:
    """The sample's processes as a red-black tree by member `by`, such as rss; equal ones by pid. A node's value is the
    process. LabError when there is no such member."""
    tree = redblack.Tree()
    for process in sample["procs"]:
        if by in NOT_AMOUNTS or by not in process:
            amounts = ", ".join(name for name in process if name not in NOT_AMOUNTS)
            raise LabError(f"--by {by}: a process has no such amount; it has {amounts}", USAGE)
        tree.insert((process[by], process["pid"]), process)
    return tree.root


def by_vruntime(sample: dict) -> Node | None:
    """The scheduler's tree as it stood in the kernel: its shape, and its colours. LabError when the sample does not
    tell, or tells what is no binary tree."""
    if "rq" not in sample:
        raise LabError(
            "the sample has no rq, the scheduler's tree: it is from an older kernel; run it again", BAD_INPUT
        )
    comms = {process["pid"]: process["comm"] for process in sample["procs"]}
    nodes, order, root = {}, {}, None
    for nr, (pid, vruntime, black, _) in enumerate(sample["rq"]):
        value = {"pid": pid, "comm": comms.get(pid, "kernel thread"), "vruntime": vruntime}
        nodes[pid], order[pid] = Node((vruntime, nr), value, red=not black), nr
    for pid, _, _, parent in sample["rq"]:
        side = "left" if order[pid] < order.get(parent, 0) else "right"
        if not parent and root is None:
            root = nodes[pid]
        elif parent in nodes and parent != pid and getattr(nodes[parent], side) is None:
            setattr(nodes[parent], side, nodes[pid])
            nodes[pid].parent = nodes[parent]
        else:
            raise TelemetryError(f"the sample of seq {sample['seq']}: task {pid} has no place under {parent} in rq")
    if len(list(redblack.from_above(root))) != len(nodes):
        raise TelemetryError(f"the sample of seq {sample['seq']}: not all of rq hangs together")
    return root


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


def table(root: Node | None, by: str) -> list[dict]:
    """The nodes with their places, parents first: pid, comm, `by`, colour, depth, x, parent (a pid; the root: None)."""
    return [
        {
            "pid": place.node.value["pid"],
            "comm": place.node.value["comm"],
            by: place.node.value[by],
            "colour": "red" if place.node.red else "black",
            "depth": place.depth,
            "x": place.x,
            "parent": place.node.parent.value["pid"] if place.node.parent else None,
        }
        for place in tidytree.layout(root)
    ]


def memory_labels(rows: Sequence[dict], by: str) -> tuple[str, list[str], list[float]]:
    """(what the picture says of itself, each node's amount as text, each node's radius) of a tree by memory."""
    most = max((row[by] for row in rows), default=0) or 1
    radii = [max(LARGEST * (max(row[by], 0) / most) ** 0.5, SMALLEST) for row in rows]
    first, *rest = sorted(rows, key=lambda row: -row[by])
    says = f"area is {NAMES.get(by, by)}, growing from left to right; colours are those of the red-black tree"
    if rest and first[by] >= 1.1 * rest[0][by] > 0:
        says += f". The largest, {first['comm']} ({first['pid']}), has {first[by] / rest[0][by]:.1f} times the next"
    return says, [amount(row[by], by) for row in rows], radii


def scheduler_labels(rows: Sequence[dict]) -> tuple[str, list[str], list[float]]:
    """The same of the scheduler's tree; vruntime is told against the least one's."""
    least = min((row["vruntime"] for row in rows), default=0)
    labels = [f"+{(row['vruntime'] - least) / 1e6:,.3f} ms" for row in rows]
    return "from left to right vruntime grows; the ringed task is next", labels, [LARGEST * 0.6 for _ in rows]


def element(parent: ET.Element, name: str, text: str = "", **attributes: object) -> ET.Element:
    """A new element under `parent`; `font_size` is font-size. What XML cannot have in a text is replaced."""
    names = {key.rstrip("_").replace("_", "-"): str(value) for key, value in attributes.items()}
    made = ET.SubElement(parent, name, names)
    made.text = FORBIDDEN.sub("\ufffd", text) or None
    return made


def circle(svg: ET.Element, row: dict, centre: tuple[float, float], radius: float, label: str, ringed: bool) -> None:
    """One node, and under it who it is and how much it has."""
    x, y = centre
    group = element(svg, "g")
    element(group, "title", f"{row['comm']} (pid {row['pid']}): {label}, {row['colour']}")
    if ringed:
        element(group, "circle", cx=x, cy=y, r=radius + 5, fill="none", stroke=NEXT, stroke_width=3)
    element(group, "circle", cx=x, cy=y, r=round(radius, 2), fill=RED if row["colour"] == "red" else BLACK)
    amount_line, below = f"{row['pid']} · {label}", round(y + radius + (20 if ringed else 16), 2)
    wide = max(len(row["comm"]) * BOLD_WIDTH, len(amount_line) * PLAIN_WIDTH)
    element(group, "rect", x=x - wide / 2, y=below - 12, width=wide, height=31, fill="white", opacity=0.9)
    middle = {"x": x, "text_anchor": "middle"}
    element(group, "text", row["comm"], y=below, font_size=13, font_weight="bold", fill=TEXT, **middle)
    element(group, "text", amount_line, y=below + 15, font_size=12, fill=FAINT, **middle)


def svg(root: Node | None, by: str, title: str, scheduler: bool = False) -> str:
    """The drawing of a tree by member `by` as SVG; `title` is written over it."""
    rows = table(root, by)
    says, labels, radii = scheduler_labels(rows) if scheduler else memory_labels(rows, by)
    width = max(max(row["x"] for row in rows) * ACROSS + 2 * MARGIN, 7.2 * max(len(says), len(title)) + 32)
    left = (width - max(row["x"] for row in rows) * ACROSS) / 2
    height = HEAD + max(row["depth"] for row in rows) * DOWN + LARGEST + 44
    drawing = ET.Element("svg", xmlns="http://www.w3.org/2000/svg", width=f"{width:g}", height=f"{height:g}")
    drawing.set("viewBox", f"0 0 {width:g} {height:g}")
    drawing.set("font-family", "Helvetica, Arial, sans-serif")
    element(drawing, "title", title)
    element(drawing, "rect", width="100%", height="100%", fill="white")
    element(drawing, "text", title, x=16, y=28, font_size=18, font_weight="bold", fill=TEXT)
    element(drawing, "text", says, x=16, y=50, font_size=13, fill=FAINT)
    at = {row["pid"]: (left + row["x"] * ACROSS, HEAD + row["depth"] * DOWN) for row in rows}
    for row in rows:
        if row["parent"] is not None:
            (x1, y1), (x2, y2) = at[row["parent"]], at[row["pid"]]
            element(drawing, "line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=EDGE, stroke_width=1.5)
    least = min(rows, key=lambda row: row["x"])
    for row, label, radius in zip(rows, labels, radii):
        circle(drawing, row, at[row["pid"]], radius, label, scheduler and row is least)
    return xml_text(drawing)


def graphml(root: Node | None, by: str) -> str:
    """The tree as GraphML: nodes with comm, `by` and colour; edges with side, left or right."""
    document = ET.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    for name, of, kind in (("comm", "node", "string"), (by, "node", "long"), ("colour", "node", "string")):
        element(document, "key", id=name, for_=of, **{"attr.name": name, "attr.type": kind})
    element(document, "key", id="side", for_="edge", **{"attr.name": "side", "attr.type": "string"})
    graph = element(document, "graph", id="processes", edgedefault="directed")
    for row in table(root, by):
        node = element(graph, "node", id=f"pid{row['pid']}")
        for name in ("comm", by, "colour"):
            element(node, "data", str(row[name]), key=name)
    for node in redblack.from_above(root):
        for side in ("left", "right"):
            child = getattr(node, side)
            if child:
                ends = {"source": f"pid{node.value['pid']}", "target": f"pid{child.value['pid']}"}
                element(element(graph, "edge", **ends), "data", side, key="side")
    return xml_text(document)


def xml_text(document: ET.Element) -> str:
    """A document as text, indented."""
    ET.indent(document)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(document, encoding="unicode") + "\n"
