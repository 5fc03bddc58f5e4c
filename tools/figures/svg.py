"""Pictures of the field guide that are written as SVG, in one look."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

STYLE = """
  text { font: 11px "DejaVu Sans", sans-serif; fill: #222 } .small { font-size: 10px; fill: #555 }
  .own { font-weight: bold } .right { text-anchor: end } .middle { text-anchor: middle }
  path { fill: none } .stay { stroke: #cfe2f1; stroke-width: 4 } .edge { stroke: #8a8a8a; stroke-dasharray: 2 2 }
"""


def text(x: float | str, y: float, words: object, kind: str = "") -> str:
    """A text element; `kind`: classes of the style."""
    attribute = f' class="{kind}"' if kind else ""
    return f'<text x="{x}" y="{y}"{attribute}>{escape(str(words))}</text>'


def svg(title: str, size: tuple[int, int], lines: Iterable[str], style: str = "") -> str:
    """A picture of `size` pixels; `style` adds to STYLE."""
    width, height = size
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        f"<title>{escape(title)}</title>",
        f"<style>{STYLE}{style}</style>",
        f'<rect width="{width}" height="{height}" style="fill:white"/>',
    ]
    return "\n".join([*head, *lines, "</svg>"]) + "\n"
