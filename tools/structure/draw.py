#!/usr/bin/env python3
"""Draw arrows.toml: docs/figures/arrows-kernel.svg and arrows-tools.svg.

The rooms stand from top to bottom, and each may use all below it. Uses that the table allows upwards are drawn on
the right; on the left, everything that a room with `only` may use.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from structure.source import ROOT, table

FIGURES = ROOT / "docs/figures"
ROW, HEIGHT, LEFT, WIDTH, STEP = 34, 26, 150, 420, 13
STYLE = """
  text { font: 13px "DejaVu Sans", sans-serif; fill: #222 } .what { fill: #666; font-size: 11px }
  rect { fill: #f4f4f4; stroke: #999 } .only rect { fill: #fdf3e7; stroke: #d55e00 }
  path { fill: none; stroke: #0072b2; stroke-width: 1.2 } .held { stroke: #d55e00 }
"""


def middle(row: int) -> int:
    """The vertical centre of a room's box."""
    return ROW * row + ROW // 2 + 4


def box(row: int, one: dict) -> str:
    """A room."""
    y = middle(row)
    return (
        f'<g class="{"only" if "only" in one else "room"}">'
        f'<rect x="{LEFT}" y="{y - HEIGHT // 2}" width="{WIDTH}" height="{HEIGHT}" rx="4"/>'
        f'<text x="{LEFT + 10}" y="{y + 4}">{escape(one["room"])}</text>'
        f'<text class="what" x="{LEFT + 110}" y="{y + 4}">{escape(one["what"])}</text></g>'
    )


def arrow(start: int, end: int, lane: int, left: bool) -> str:
    """An arrow from one row to another, around the boxes; lanes are numbered outwards."""
    side, sign = (LEFT, -1) if left else (LEFT + WIDTH, 1)
    out = side + sign * (14 + STEP * lane)
    y1, y2 = middle(start) + (0 if left else -4), middle(end) + (0 if left else 5)
    return (
        f'<path class="{"held" if left else "up"}" marker-end="url(#{"held" if left else "up"})" '
        f'd="M{side} {y1} H{out - sign * 6} Q{out} {y1} {out} {y1 + (6 if y2 > y1 else -6)} '
        f'V{y2 - (6 if y2 > y1 else -6)} Q{out} {y2} {out - sign * 6} {y2} H{side + sign * 2}"/>'
    )


def marker(name: str, colour: str) -> str:
    """An arrowhead."""
    return (
        f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0 L8 4 L0 8 z" style="fill:{colour};stroke:none"/></marker>'
    )


def drawn(part: str) -> str:
    """The picture of a part of the table, as SVG."""
    rooms = table()[part]
    row = {one["room"]: at for at, one in enumerate(rooms)}
    ups = [(row[one["room"]], row[to]) for one in rooms for to in one.get("up", [])]
    helds = [(row[one["room"]], row[to]) for one in rooms for to in one.get("only", [])]
    paths = [
        arrow(start, end, lane, left=False) for lane, (start, end) in enumerate(sorted(ups, key=lambda a: a[0] - a[1]))
    ]
    paths += [
        arrow(start, end, lane, left=True) for lane, (start, end) in enumerate(sorted(helds, key=lambda a: a[1] - a[0]))
    ]
    width, height = LEFT + WIDTH + 30 + STEP * len(ups), ROW * len(rooms) + 8
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        f"<title>The rooms of {part}/: each may use those below it, and upwards only along an arrow</title>",
        f"<style>{STYLE}</style>",
        f"<defs>{marker('up', '#0072b2')}{marker('held', '#d55e00')}</defs>",
        f'<rect width="{width}" height="{height}" style="fill:white;stroke:none"/>',
        *paths,
        *(box(at, one) for at, one in enumerate(rooms)),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Writes both pictures."""
    for part in ("kernel", "tools"):
        path = FIGURES / f"arrows-{part}.svg"
        path.write_text(drawn(part))
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
