"""Figures of when a program uses which pages: by rank of the pages used, by address, and each kind of access apart.

The first and the third have a row for each page that is used; in the second addresses are on a linear axis, as in
Figures 2.1 and 2.2 of McMenamin's report. The third has the panels of his Figure A.1, in his order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Patch
from matplotlib.ticker import EngFormatter, FuncFormatter, MaxNLocator, MultipleLocator

from tidemark.curves.addresses import WHOLE, AddressMap
from tidemark.curves.refmap import ReferenceMap
from tidemark.report.figure import BLACK, BLUE, GREEN, ORANGE, VERMILION, Figure, Table, canvas
from tidemark.trace import ALL_KINDS, FILE_INDEX_BITS, FILE_PAGE, KINDS

UNUSED, INSTRUCTION, READ, WRITTEN, FILE_TEXT, FILE_READ, FILE_WRITTEN = range(7)
CELL_COLOURS = ("#ffffff", "#a9a9a9", BLUE, VERMILION, "#606060", GREEN, ORANGE)
CELL_NAMES = ("", "instructions only", "read", "written", "text of a file only", "file read", "file written")
GROUND_OF_FILES = "///"
PAGE_SHIFT = 12
SAME_REGION_PAGES = 16
LABEL_DISTANCE = 0.028

# Clockwise from top left: instructions, modifies, stores, loads.
PANELS = (("instruction", "modify"), ("load", "store"))
TICKS, MARGIN = 8, 0.015
KIND_COLOURS = {"instruction": BLACK, "modify": ORANGE, "load": BLUE, "store": VERMILION}


def cell_classes(counts: np.ndarray) -> np.ndarray:
    """u8[rows, slices] of counts [rows, slices, kinds]: the first of WRITTEN, READ, INSTRUCTION, UNUSED to apply."""
    used = counts > 0
    conditions = [used[..., 2] | used[..., 3] | used[..., 5], used[..., 1] | used[..., 4], used[..., 0]]
    return np.select(conditions, [WRITTEN, READ, INSTRUCTION], UNUSED).astype(np.uint8)


def map_classes(found: ReferenceMap) -> np.ndarray:
    """The cell classes of a map; its upper rows are pages of files."""
    classes = cell_classes(found.counts)
    of_files = classes[found.own_rows :]
    of_files[of_files > UNUSED] += FILE_TEXT - INSTRUCTION
    return classes


def region_starts(spaces: np.ndarray, pages: np.ndarray) -> np.ndarray:
    """The indices at which a new region begins: at another space, or after a gap of more than SAME_REGION_PAGES."""
    gaps = np.diff(pages.astype(np.int64)) > SAME_REGION_PAGES
    return np.flatnonzero(np.concatenate([[True], gaps | (np.diff(spaces.astype(np.int64)) != 0)]))


def map_table(found: ReferenceMap, unit: str) -> Table:
    """The cells with references. They share the objects of their row and slice to save memory."""
    rows, slices = np.nonzero(found.counts.any(axis=2))
    first, last = found.span(np.arange(len(found.counts)))
    kinds = KINDS if found.own == len(found.pages) else ALL_KINDS
    by_row = {
        "space": found.spaces[first].tolist(),
        "first_page": [page_name(found, place) for place in first.tolist()],
        "last_page": [page_name(found, place) for place in last.tolist()],
    }
    table: dict[str, list[Any]] = {f"until_{unit}": list(map(found.times.tolist().__getitem__, slices.tolist()))}
    table |= {name: list(map(column.__getitem__, rows.tolist())) for name, column in by_row.items()}
    return table | dict(zip(kinds, found.counts[rows, slices].T.tolist()))


def page_name(found: ReferenceMap, place: int) -> str:
    """A page's address, or for a page of a file its store and number."""
    page = int(found.pages[place])
    if place < found.own:
        return f"{page << PAGE_SHIFT:#010x}"
    return f"{(page - FILE_PAGE) >> FILE_INDEX_BITS}:{page & ((1 << FILE_INDEX_BITS) - 1)}"


def _label_regions(axes: Axes, found: ReferenceMap, names: Mapping[int, str]) -> None:
    """The address at which each region begins, if there is room; with several spaces, also where each begins."""
    several = len(np.unique(found.spaces[: found.own])) > 1
    rows = len(found.counts)
    places: list[float] = []
    labels: list[str] = []
    space = -1
    for start in region_starts(found.spaces, found.pages).tolist():
        row = found.row_of(start)
        axes.axhline(row - 0.5, color="#cccccc", linewidth=0.3, zorder=0.5)
        is_new = several and start < found.own and space != (space := int(found.spaces[start]))
        if places and row - places[-1] < LABEL_DISTANCE * rows and not is_new:
            continue
        address = page_name(found, start)
        if start >= found.own:
            address, is_new = f"file {address}", False
        places.append(row - 0.5)
        labels.append(f"{names.get(space, str(space))}  {address}" if is_new else address)
    places, labels = between(found, places, labels)
    axes.set_yticks(places, labels, fontsize=6)


def between(found: ReferenceMap, places: list[float], labels: list[str]) -> tuple[list[float], list[str]]:
    """The ticks, and more of them where a region is long: the addresses at equal distances within it."""
    rows = len(found.counts)
    more = {round(row * rows / TICKS) for row in range(TICKS + 1)}
    room = rows / TICKS / 2
    for row in sorted(more):
        if row < rows and all(abs(row - place) >= room for place in places):
            places.append(row - 0.5)
            labels.append(page_name(found, int(found.span(np.array([row]))[0][0])))
    order = sorted(range(len(places)), key=places.__getitem__)
    return [places[at] for at in order], [labels[at] for at in order]


def reference_map(found: ReferenceMap, names: Mapping[int, str], unit: str) -> Figure:
    """Pages over time, coloured by kind of access."""

    def draw() -> Canvas:
        picture, ((axes,),) = canvas(row_in=4.4)
        shape = (0, int(found.times[-1]), -0.5, len(found.counts) - 0.5)
        cells = np.ma.masked_equal(map_classes(found), UNUSED)
        shown = [INSTRUCTION, READ, WRITTEN]
        if found.own < len(found.pages):
            shown += [FILE_TEXT, FILE_READ, FILE_WRITTEN]
            axes.axhspan(
                found.own_rows - 0.5,
                shape[3],
                facecolor="none",
                edgecolor="#d0d0d0",
                hatch=GROUND_OF_FILES,
                linewidth=0,
            )
        axes.imshow(
            cells, ListedColormap(CELL_COLOURS[: shown[-1] + 1]), vmin=0, vmax=shown[-1], aspect="auto", origin="lower",
            extent=shape, interpolation="none", zorder=1,
        )  # fmt: skip
        _label_regions(axes, found, names)
        axes.grid(visible=False)
        axes.xaxis.set_major_formatter(EngFormatter())
        axes.set_xlabel(f"virtual time ({unit})")
        axes.set_ylabel("pages used, in order of address")
        handles = [
            Patch(color=CELL_COLOURS[code], label=CELL_NAMES[code])
            if code < FILE_TEXT
            else Patch(facecolor=CELL_COLOURS[code], edgecolor="white", hatch=GROUND_OF_FILES, label=CELL_NAMES[code])
            for code in shown
        ]
        picture.legend(handles=handles, loc="outside upper left", ncols=3)
        return picture

    per_row = f", {found.per_row} pages to a row" if found.per_row > 1 else ""
    caption = f"Rows are the {len(found.pages):,} pages used{per_row}; lines separate distant regions."
    if found.own < len(found.pages):
        caption += f" Above, hatched: {len(found.pages) - found.own:,} pages of files, by store and page of the file."
    return Figure("reference-map", "Reference map", caption, map_table(found, unit), draw)


def beside(low: float, high: float) -> tuple[float, float]:
    """The limits of an axis with a margin, so that the spines do not hide the outermost rows."""
    return low - MARGIN * (high - low), high + MARGIN * (high - low)


def address_table(maps: Sequence[AddressMap], unit: str) -> Table:
    """The cells with references of each map, which is named by the percentage of the range that it shows."""
    table: dict[str, list[Any]] = {
        name: [] for name in ("percent", f"until_{unit}", "first_address", "last_address", *KINDS)
    }
    for found in maps:
        rows, slices = np.nonzero(found.counts.any(axis=2))
        first = found.first + rows * found.per_row
        table["percent"] += [100 * found.share] * len(rows)
        table[f"until_{unit}"] += found.times[slices].tolist()
        table["first_address"] += [f"{page << PAGE_SHIFT:#010x}" for page in first.tolist()]
        table["last_address"] += [f"{(page << PAGE_SHIFT) - 1:#010x}" for page in (first + found.per_row).tolist()]
        for kind, name in enumerate(KINDS):
            table[name] += found.counts[rows, slices, kind].tolist()
    return table


def _draw_addresses(axes: Axes, found: AddressMap) -> None:
    """One map. Its cells are patches of a mesh, since an image in this size would lose rows."""
    edges = (found.first + np.arange(len(found.counts) + 1) * found.per_row).astype(np.float64) * (1 << PAGE_SHIFT)
    classes = np.ma.masked_equal(cell_classes(found.counts), UNUSED)
    starts = np.concatenate([[0], found.times])
    colours = ListedColormap(CELL_COLOURS[: WRITTEN + 1])
    axes.pcolormesh(starts, edges, classes, cmap=colours, vmin=0, vmax=WRITTEN, rasterized=True)
    axes.set(xlim=(0, starts[-1]), ylim=beside(edges[0], edges[-1]))
    span = float(edges[-1] - edges[0])
    axes.yaxis.set_major_locator(MultipleLocator(2.0 ** np.ceil(np.log2(span / TICKS))))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda address, _: f"{round(address):#010x}"))
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(EngFormatter())
    axes.set_title("whole range" if found.share == WHOLE else f"lowest {100 * found.share:g} %")
    axes.grid(visible=False)


def address_maps(maps: Sequence[AddressMap], unit: str) -> Figure:
    """Addresses over time on a linear axis, coloured by kind of access: a panel for each map."""

    def draw() -> Canvas:
        picture, (panels,) = canvas(columns=len(maps), row_in=3.6)
        for axes, found in zip(panels, maps, strict=True):
            _draw_addresses(axes, found)
            axes.set_xlabel(f"virtual time ({unit})")
        panels[0].set_ylabel("address")
        handles = [Patch(color=CELL_COLOURS[code], label=CELL_NAMES[code]) for code in (INSTRUCTION, READ, WRITTEN)]
        picture.legend(handles=handles, loc="outside upper left", ncols=3)
        return picture

    sizes = " and ".join(f"{found.per_row:,}" for found in maps)
    caption = f"From the lowest to the highest address used; a row is {sizes} pages."
    return Figure("address-map", "References by address", caption, address_table(maps, unit), draw)


def kind_table(found: ReferenceMap) -> Table:
    """References of each kind, and rows of the map that have any."""
    columns = [found.counts[..., kind] for kind in range(len(KINDS))]
    return {
        "kind": list(KINDS),
        "references": [int(counts.sum()) for counts in columns],
        "rows": [int(counts.any(axis=1).sum()) for counts in columns],
    }


def kinds(found: ReferenceMap, unit: str) -> Figure:
    """Pages over time, a panel for each kind of access."""
    table = kind_table(found)

    def draw() -> Canvas:
        picture, panels = canvas(rows=2, columns=2, row_in=2.3, sharex=True, sharey=True)
        shape = (0, int(found.times[-1]), -0.5, len(found.counts) - 0.5)
        for axes, name in zip(panels.flat, (name for row in PANELS for name in row), strict=True):
            kind = KINDS.index(name)
            cells = np.ma.masked_equal(found.counts[..., kind] > 0, False)
            axes.imshow(
                cells, ListedColormap([KIND_COLOURS[name]]), aspect="auto", origin="lower", extent=shape,
                interpolation="none",
            )  # fmt: skip
            axes.set_ylim(*beside(shape[2], shape[3]))
            axes.set_title(f"{name}: {table['references'][kind]:,} references")
            axes.xaxis.set_major_formatter(EngFormatter())
            axes.grid(visible=False)
        picture.supxlabel(f"virtual time ({unit})", fontsize=8)
        picture.supylabel("pages used, in order of address", fontsize=8)
        return picture

    caption = "Rows are those of the reference map. A modify is a load and a store by one instruction; only imported "
    caption += "traces have modifies, in recorded ones they are a load and a store."
    return Figure("kinds", "References by kind", caption, table, draw)
