"""The map of memory: each frame's owner as a colour over time, and the frames that processes took from each other.

Needs a run with `tidemark run --owners`. Colours are those of the overview. On the page the map is one image with a
point for each frame and sample, which readers can zoom; the picture shows as many of them as it has dots.
"""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Patch

from tidemark.report import overview
from tidemark.report.figure import GREY, WIDTH_IN, Figure, of_rows
from tidemark.report.plots.runs import FRAMES
from tidemark.report.sources import Run
from tidemark.report.text import printable, short
from tidemark.telemetry import owners
from tidemark.telemetry.owners import Owners

SYSTEM = {"free": "#ffffff", "kernel": "#c9c9c9", "files": "#8f8f8f", "read ahead, or left": "#3d3d3d"}
COLUMNS = 1500
SHOWN = 12


def read(run: Run) -> Owners | None:
    """The run's owners; None if it recorded none."""
    return owners.read(run.result.folder, run.data) if run.sampled else None


def colours(run: Run, names: Sequence[str]) -> list[str]:
    """A colour for each owner: its colour in the overview, or grey."""
    known = {name: look.colour for name, look in overview.looks(overview.stack(overview.columns(run))).items()}
    return [SYSTEM.get(name) or known.get(printable(name), GREY) for name in names]


def even(found: Owners, limit: int) -> np.ndarray:
    """The map at `limit` or fewer equidistant instants: uint8[frames, instants], of each the last sample up to
    then."""
    instants = np.linspace(found.times[0], found.times[-1], min(limit, 4 * len(found.times)))
    at = np.searchsorted(found.times, instants, "right") - 1
    return np.ascontiguousarray(found.map[:, np.maximum(at, 0)])


def thefts(found: Owners) -> list[dict[str, Any]]:
    """A row for each pair of processes of which one got frames that the other had at the sample before."""
    counts = owners.taken(found)
    first = len(owners.OTHERS)
    pairs = [(int(counts[a, b]), a, b) for a in range(first, len(counts)) for b in range(first, len(counts))]
    some = sorted((pair for pair in pairs if pair[0]), reverse=True)
    return [{"from": found.names[a], "to": found.names[b], "frames": count} for count, a, b in some]


def sentence(found: Owners) -> str:
    """Which processes took most frames from which, as a sentence."""
    rows = thefts(found)
    if not rows:
        return "No frame went from one process to another between two samples."
    top = "; ".join(f"{row['frames']:,} from {row['from']} to {row['to']}" for row in rows[:3])
    return f"{sum(row['frames'] for row in rows):,} frames went from one process to another: {top}."


def figure(run: Run, found: Owners, stem: str) -> Figure:
    """The figure of map and matrix; its table is that of the matrix."""
    caption = f"{sentence(found)} {FRAMES.caption}"
    table = of_rows(thefts(found) or [{"from": "", "to": "", "frames": 0}])
    return Figure(f"{FRAMES.name}-{stem}", f"{FRAMES.title}: {run.label}", caption, table, lambda: draw(run, found))


def draw(run: Run, found: Owners) -> Canvas:
    """Draw the picture."""
    picture = Canvas(figsize=(WIDTH_IN, 4.2), layout="constrained")
    rows = thefts(found)
    left, right = picture.subplots(1, 2, width_ratios=(3, 1)) if rows else (picture.subplots(), None)
    shades = colours(run, found.names)
    extent = (found.times[0], found.times[-1], 0, len(found.map))
    left.imshow(
        even(found, COLUMNS), cmap=ListedColormap(shades), vmin=-0.5, vmax=len(shades) - 0.5, aspect="auto",
        origin="lower", extent=extent, interpolation="nearest",
    )  # fmt: skip
    left.grid(visible=False)
    left.set(xlabel="time since boot, s", ylabel="frame")
    seen = np.unique(found.map)
    handles = [Patch(facecolor=shades[at], edgecolor="#bbbbbb", label=short(found.names[at], 22)) for at in seen]
    picture.legend(handles=handles[: 2 * SHOWN], loc="outside upper left", ncols=5, handlelength=1.2)
    if right is not None:
        matrix(right, found, rows)
    return picture


def matrix(axes: Axes, found: Owners, rows: Sequence[dict[str, Any]]) -> None:
    """Draw the matrix of frames: the process that lost them by the process that got them."""
    few = sum(row["frames"] for row in rows) / 200  # processes with fewer frames than this are left out
    shown = Counter[str]()
    for row in rows:
        shown.update({row["from"]: row["frames"], row["to"]: row["frames"]})
    names = [name for name in found.names if shown[name] > few][:SHOWN]
    counts = np.zeros((len(names), len(names)))
    for row in rows:
        if row["from"] in names and row["to"] in names:
            counts[names.index(row["from"]), names.index(row["to"])] = row["frames"]
    axes.imshow(counts, cmap="Blues", vmin=0, aspect="equal")
    for (y, x), count in np.ndenumerate(counts):
        if count and len(names) <= 6:
            dark = count > counts.max() / 2
            axes.text(x, y, f"{count:,.0f}", ha="center", va="center", fontsize=6, color="white" if dark else "black")
    axes.set_xticks(range(len(names)), names, rotation=90, fontsize=6)
    axes.set_yticks(range(len(names)), names, fontsize=6)
    axes.grid(visible=False)
    axes.set(xlabel="got them", ylabel="lost them")


def png(run: Run, found: Owners) -> bytes:
    """The map as an image with a palette: a point for each frame, the last at the top, and each instant."""
    points = even(found, COLUMNS)[::-1]
    palette = bytes.fromhex("".join(shade.removeprefix("#") for shade in colours(run, found.names)))
    height, width = points.shape
    rows = np.zeros((height, width + 1), np.uint8)
    rows[:, 1:] = points
    parts = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)), (b"PLTE", palette)]
    parts += [(b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )


def chart(run: Run, found: Owners) -> dict[str, Any]:
    """The data with which the page's script names the owner of a point."""
    names = [{"name": name, "colour": shade} for name, shade in zip(found.names, colours(run, found.names))]
    return {"owners": names, "from": float(found.times[0]), "to": float(found.times[-1]), "frames": len(found.map)}
