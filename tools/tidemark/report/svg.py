"""Pictures as small SVG files that can be read and searched: matplotlib's, with less in them.

Text stays text, in a generic font: the reader's own sans serif. Pictures are laid out by DejaVu Sans, which is wider
than most, so that labels have room. Coordinates are rounded to a tenth of a point, and each element is one line.
"""

from __future__ import annotations

import io
import re

from matplotlib.figure import Figure

FONTS = re.compile(r"(font: (?:[\w.]+ )*[\d.]+px|font-family:) [^;\"]*")  # before and from matplotlib 3.11 on
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
COORDINATES = re.compile(r'\b(d|x|y|width|height|transform|points)="([^"]*)"')
NOT_NEEDED = re.compile(
    r"<!DOCTYPE.*?>\s*|<metadata>.*?</metadata>|<!--.*?-->|^ +|(?<=<g) id=\"[^\"]*\"|<g/>", re.DOTALL | re.MULTILINE
)
SAME_POINT = re.compile(r"(L[-\d. ]+)\1+(?=[A-Za-z]|$)")
LONE = re.compile(r"<g>\n(<(?:path|use|text)[^\n]*>)\n</g>")


def rounded(number: re.Match[str]) -> str:
    """A number to one decimal."""
    return f"{round(float(number[0]), 1) + 0.0:.1f}".removesuffix(".0")


def shorter(attribute: re.Match[str]) -> str:
    """An attribute with coordinates, on one line. Scales are not rounded."""
    name, value = attribute[1], " ".join(attribute[2].split())
    if "scale" not in value:
        value = NUMBER.sub(rounded, value)
    if name == "d":
        value = SAME_POINT.sub(r"\1", re.sub(r" ?([A-Za-z]) ?", r"\1", value))
    return f'{name}="{value}"'


def slim(text: str) -> str:
    """An SVG of matplotlib's (`svg.fonttype`: none) that looks the same."""
    text = re.sub(r"\n+", "\n", NOT_NEEDED.sub("", text))
    text = FONTS.sub(r"\1 sans-serif", text)
    text = COORDINATES.sub(shorter, text)
    text = re.sub(r'style="[^"]*"', lambda one: re.sub(r"([:;]) ", r"\1", one[0]), text)
    return LONE.sub(r"\1", LONE.sub(r"\1", text))


def drawn(figure: Figure) -> bytes:
    """A figure as such a file; the same bytes each time."""
    data = io.BytesIO()
    figure.savefig(data, format="svg", metadata={"Date": None})
    return slim(data.getvalue().decode()).encode()
