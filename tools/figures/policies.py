"""The pictures and tables of the policies' pages of the field guide, docs/guide/policies.

Each policy's own file runs in the simulator. The picture is its reference map on the same short string for all
policies, so that pictures can be compared side by side. The tables count misses on long strings, with LRU and MIN
(computed).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tidemark.strings import compare, refstrings, vmsim
from tidemark.strings.refstrings import Given, References

from figures.common import table
from figures.entries import Figure, words
from figures.svg import svg, text

LRU, MIN = compare.LRU, compare.MIN

# --- the short string, and the policy's decisions on it ---

FRAMES, STEP_NS = 16, 5_000_000
HIT, MINOR, FIRST, AGAIN = "hit", "minor", "first", "again"


@dataclass(frozen=True)
class Part:
    """A part of the short string: its name and its references."""

    title: str
    pages: list[int]


def parts() -> list[Part]:
    """The short string: ten hot pages; a scan between uses of them; a loop one page larger than the number of frames;
    14 other pages; the first ten again.
    """
    draw = random.Random(1).random

    def some(pages: int, count: int) -> list[int]:
        """Random pages, low numbers more often."""
        return [int(pages * draw() ** 1.4) for _ in range(count)]

    scan = [page for pair in zip(some(10, 32), range(10, 42)) for page in pair]
    return [
        Part("ten hot pages", some(10, 50)),
        Part("a scan between uses", scan),
        Part("a loop of 17", list(range(42, 59)) * 6),
        Part("14 other pages", [60 + page for page in some(14, 70)]),
        Part("the first ten", some(10, 50)),
    ]


def short_string() -> list[int]:
    """The whole string."""
    return [page for part in parts() for page in part.pages]


@dataclass(frozen=True)
class Map:
    """The result of each reference (HIT, MINOR, FIRST or AGAIN), and the times in memory of pages: (page, from, to)."""

    events: list[str]
    stays: list[tuple[int, int, int]]

    @property
    def hits(self) -> list[bool]:
        """Was the page of each reference in memory?"""
        return [event in (HIT, MINOR) for event in self.events]


def stays_of(resident: Sequence[set[int]]) -> list[tuple[int, int, int]]:
    """(page, first reference, reference after the last) of each stay, given the resident pages after each reference."""
    since: dict[int, int] = {}
    found = []
    for at, pages in enumerate([*resident, set()]):
        for page in sorted(set(since) - pages):
            found.append((page, since.pop(page), at))
        for page in pages - set(since):
            since[page] = at
    return found


def events_of(pages: Sequence[int], results: Sequence[str]) -> list[str]:
    """The simulator's results, with two kinds of fault: the page's first use, or a page that was in memory before."""
    first = {page: at for at, page in reversed(list(enumerate(pages)))}
    return [
        result if result != "fault" else FIRST if first[page] == at else AGAIN
        for at, (page, result) in enumerate(zip(pages, results))
    ]


def followed(policy: str) -> Map:
    """Runs the short string, and records the frames after each reference."""
    rows: list[dict[str, Any]] = []
    pages = short_string()
    given = Given("short", np.array(pages, np.uint32), STEP_NS)
    vmsim.run(vmsim.build(policy, fast=True), given, FRAMES, explained=rows.append)
    resident = [{page for page in row["frames"] if page is not None} for row in rows]
    return Map(events_of(pages, [row["result"] for row in rows]), stays_of(resident))


def lru_hits(pages: Sequence[int], frames: int) -> list[bool]:
    """Was each reference a hit under LRU? `memory` has the least recently used page first."""
    memory: dict[int, None] = {}
    hits = []
    for page in pages:
        hits.append(page in memory)
        memory.pop(page, None)
        if len(memory) == frames:
            del memory[next(iter(memory))]
        memory[page] = None
    return hits


def yardsticks(pages: Sequence[int]) -> dict[str, list[bool]]:
    """Hits of LRU, and of MIN, which evicts the page whose next use is furthest away."""
    return {LRU: lru_hits(pages, FRAMES), MIN: followed("min").hits}


# --- the picture ---

LEFT, TOP, STEP, ROW, LINE, TOTALS = 62, 40, 2, 4, 15, 56
COLOURS = {HIT: "#0072b2", MINOR: "#009e73", FIRST: "#e69f00", AGAIN: "#d55e00"}
WORDS = {
    HIT: "hit",
    MINOR: "fault, but still in memory",
    FIRST: "miss: its first use",
    AGAIN: "miss: it had been evicted",
}


def x_of(reference: float) -> str:
    """The position of a reference, in pixels."""
    return f"{LEFT + STEP * reference:.1f}".removesuffix(".0")


def y_of(page: int) -> int:
    """The middle of a page's line; page 0 is at the bottom."""
    return TOP + ROW * (max(short_string()) - page) + ROW // 2


def marks(kind: str, pages: Sequence[int], events: Sequence[str]) -> str:
    """All references of a kind; misses are drawn wider, to be visible."""
    wide = 0 if kind == HIT else 0.5
    at = [(x_of(i - wide), y_of(page)) for i, (page, event) in enumerate(zip(pages, events)) if event == kind]
    d = "".join(f"M{x} {y}h{STEP * (1 + 2 * wide):.1f}" for x, y in at)
    return f'<path style="stroke:{COLOURS[kind]};stroke-width:{ROW if wide else ROW - 1}" d="{d}"/>' if at else ""


def legend(kinds: Iterable[str]) -> Iterator[str]:
    """The meaning of the colours, in one line."""
    x = LEFT
    for name, colour in [("in memory", "#cfe2f1"), *((WORDS[kind], COLOURS[kind]) for kind in kinds)]:
        yield f'<rect x="{x}" y="6" width="10" height="8" style="fill:{colour}"/>'
        yield text(x + 14, 14, name)
        x += 34 + 6 * len(name)


def counted(name: str, hits: Sequence[bool], y: float, kind: str) -> Iterator[str]:
    """A row of the table below the map: hits in each part, and in total."""
    yield text(LEFT - 6, y, name, f"right {kind}") if len(name) < 8 else text(2, y, name, kind)
    start = 0
    for part in parts():
        end = start + len(part.pages)
        yield text(x_of((start + end) / 2), y, sum(hits[start:end]), f"middle {kind}")
        start = end
    yield text(float(x_of(start)) + TOTALS - 4, y, sum(hits), f"right {kind}")


def edges(bottom: int) -> Iterator[str]:
    """The names of the parts and the lines between them."""
    start = 0
    for part in parts():
        if start:
            yield f'<path class="edge" d="M{x_of(start)} {TOP - 14}V{bottom}"/>'
        yield text(x_of(start + len(part.pages) / 2), TOP - 6, part.title, "small middle")
        start += len(part.pages)


def drawn(policy: str) -> str:
    """The picture of a policy, as SVG."""
    pages, found = short_string(), followed(policy)
    bottom = y_of(0) + ROW // 2
    width, height = int(float(x_of(len(pages)))) + TOTALS, bottom + 5 * LINE - 4
    kinds = [kind for kind in WORDS if kind in found.events]
    hits = {policy: found.hits, **yardsticks(pages)}
    stays = "".join(f"M{x_of(start)} {y_of(page)}H{x_of(end)}" for page, start, end in found.stays)
    lines = [
        *legend(kinds),
        f'<path class="stay" d="{stays}"/>',
        *(marks(kind, pages, found.events) for kind in kinds),
        *edges(bottom + 4 * LINE),
        *(text(LEFT - 6, y_of(page) + 4, page, "small right") for page in range(0, max(pages) + 1, 10)),
        text(6, y_of(35) + 4, "page", "small"),
        text(LEFT - 6, bottom + LINE, "hits of", "small right"),
        *(
            line
            for nr, (name, row) in enumerate(hits.items())
            for line in counted(name, row, bottom + LINE * (nr + 2), "own" if name == policy else "")
        ),
        text(width - 4, bottom + LINE, "all", "small right"),
    ]
    title = f"{policy}: which pages are in memory at which reference, {FRAMES} frames"
    return svg(title, (width, height), filter(None, lines))


# --- the tables: misses on long strings ---

LONG = {"loop": 100, "scan": 110, "zipf": 200, "phases": 150, "correlated": 200, "dead": 100}


def dead_pages() -> Given:
    """Forty pages are hot while a thousand others pass, one after two uses of hot ones. Then eighty others are used
    cyclically, and the forty never again. The forty should be evicted; then all eighty fit.
    """
    draw = random.Random(1).random
    first = [page for nr in range(1000) for page in (int(40 * draw()), int(40 * draw()), 1000 + nr)]
    return Given("dead", np.array(first + list(range(100, 180)) * 100, np.uint32))


def long_strings() -> list[References]:
    """The strings of LONG; all except the last belong to the standard set."""
    return [dead_pages() if name == "dead" else refstrings.standard(name) for name in LONG]


def misses(policies: Sequence[str]) -> dict[tuple[str, str], int]:
    """The misses by (string, policy), including LRU and MIN."""
    programs = {policy: vmsim.build(policy, fast=True) for policy in policies}
    cells = [cell for string in long_strings() for cell in compare.cells_of(string, [LONG[string.name]], programs, {})]
    return {(cell.string, cell.policy): cell.misses for cell in cells}


def beside(count: int, yardstick: int) -> str:
    """The percentage by which a count exceeds the yardstick."""
    return f"{100 * count / yardstick - 100:+.0f} %".replace("-", "−").replace("+0 %", "0 %").replace("−0 %", "0 %")


def own_table(policy: str, counts: dict[tuple[str, str], int]) -> str:
    """A policy's misses compared with those of LRU and MIN."""
    rows = []
    for string, frames in LONG.items():
        own, *others = (counts[string, who] for who in (policy, LRU, MIN))
        rows.append((f"`{string}`", frames, *(f"{n:,}" for n in (own, *others)), beside(own, others[0])))
    return table(["string", "frames", f"`{policy}`", LRU, MIN, f"`{policy}` to LRU"], rows)


def table_of_all(policies: Sequence[str], counts: dict[tuple[str, str], int]) -> str:
    """Every policy's misses, and hits on the short string; the best of each column except MIN's is bold."""
    short = {who: sum(hits) for who, hits in yardsticks(short_string()).items()}
    short |= {policy: sum(followed(policy).hits) for policy in policies}
    least = {string: min(counts[string, policy] for policy in policies) for string in LONG}
    rows = []
    for who in (MIN, LRU, *policies):
        cells = [
            f"**{n:,}**" if n == least[s] and who in policies else f"{n:,}" for s in LONG for n in (counts[s, who],)
        ]
        rows.append((f"[`{who}`]({who}.md)" if who in policies else who, *cells, short[who]))
    return table(["misses", *(f"`{name}`, {frames}" for name, frames in LONG.items()), "hits, short"], rows)


# --- the figures ---


def page(figure: Figure, work: Path) -> str:
    """The picture and the table of one policy's page."""
    (work / f"{figure.word}.svg").write_text(drawn(figure.word))
    return own_table(figure.word, misses([figure.word]))


def every(figure: Figure, work: Path) -> str:
    """The table of all policies that have a page."""
    there = words(figure.settings["policies"])
    return table_of_all(there, misses(there))


def write_strings(figure: Figure, work: Path) -> None:
    """short.txt and dead.txt, for `make sim TRACE=`."""
    for name, pages in (("short", short_string()), ("dead", dead_pages().pages)):
        (work / f"{name}.txt").write_text(" ".join(map(str, pages)) + "\n")
