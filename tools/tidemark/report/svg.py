"""Pictures as small SVG files that can be read and searched: matplotlib's, with less in them.

Text stays text, in a generic font: the reader's own sans serif. Pictures are laid out by DejaVu Sans, which is wider
than most, so that labels have room. Coordinates are rounded to a tenth of a point, paths of straight lines have steps
instead of places, each element is one line, and neighbours of one kind are in a group with the style that they share.
"""

from __future__ import annotations

import io
import re
from itertools import groupby

from matplotlib.figure import Figure

FONTS = re.compile(r"(font: (?:[\w.]+ )*[\d.]+px|font-family:) [^;\"]*")  # before and from matplotlib 3.11 on
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
COORDINATES = re.compile(r'\b(d|x|y|width|height|transform|points)="([^"]*)"')
NOT_NEEDED = re.compile(
    r"<\?xml.*?\?>\s*|<!DOCTYPE.*?>\s*|<metadata>.*?</metadata>|<!--.*?-->|^ +|(?<=<g) id=\"[^\"]*\"",
    re.DOTALL | re.MULTILINE,
)
EMPTY = re.compile(r"<g/>\n|<g>\n</g>\n")
STRAIGHT = re.compile(r"(?:[ML]-?[\d.]+ -?[\d.]+|z)+")
POINT = re.compile(r"([ML])(-?[\d.]+) (-?[\d.]+)|z")
SAME_POINT = re.compile(r"(L[-\d. ]+)\1+(?=[A-Za-z]|$)")
NOT_TURNED = re.compile(r' transform="rotate\(-?0 [^"]*\)"')
KIND = re.compile(r"<(path|use|text)\b[^\n]*(?:/>|</text>)")
STYLE = re.compile(r' style="([^"]*)"')
FOR_ALL = re.compile(r'<svg([^>]*)>\s*<defs>\s*<style type="text/css">\*\{[^}]*\}</style>\s*</defs>')
EACH_FONT = re.compile(r"font-family:sans-serif(?:;|(?=\"))|;font-family:sans-serif(?=\")")
USED = re.compile(r'<path id="([^"]*)"[^>]* style="([^"]*)"')
USE = re.compile(r'<use xlink:href="#([^"]*)"[^>]*>')
CLIP = re.compile(r' clip-path="[^"]*"')
SHORT_COLOUR = re.compile(r"#([0-9a-f])\1([0-9a-f])\2([0-9a-f])\3\b")
NESTED = 6  # groups in groups
LONE = re.compile(r"<g>\n(<(?:path|use|text)[^\n]*>)\n</g>")


def rounded(number: re.Match[str]) -> str:
    """A number to one decimal."""
    return f"{round(float(number[0]), 1) + 0.0:.1f}".removesuffix(".0")


def tenths(number: int) -> str:
    """A number of tenths as a decimal number, without the zero before or after the point."""
    whole, tenth = divmod(abs(number), 10)
    return "-" * (number < 0) + (f"{whole or ''}.{tenth}" if tenth else str(whole))


def steps(path: str) -> str:
    """A path of straight lines between points of one decimal, by the steps from point to point: h and v are level and
    upright ones.
    """
    x = y = 0
    begin, parts, last = (0, 0), [], ""
    for point in POINT.finditer(path):
        if point[0] == "z":
            (x, y), last = begin, "z"
            parts.append("z")
            continue
        to = round(float(point[2]) * 10), round(float(point[3]) * 10)
        right, down = to[0] - x, to[1] - y
        x, y = to
        if point[1] == "M":
            begin, letter, numbers = to, "M", [x, y]
        elif not down:
            letter, numbers = "h", [right]
        elif not right:
            letter, numbers = "v", [down]
        else:
            letter, numbers = "l", [right, down]
        said = " ".join(map(tenths, numbers)).replace(" -", "-")
        if letter != last or letter == "M":
            said = letter + said
        elif not said.startswith("-"):
            said = " " + said
        parts.append(said)
        last = letter
    return "".join(parts)


def shorter(attribute: re.Match[str]) -> str:
    """An attribute with coordinates, on one line. Scales are not rounded, nor is a matrix, which has some."""
    name, value = attribute[1], " ".join(attribute[2].split())
    if "scale" not in value and "matrix" not in value:
        value = NUMBER.sub(rounded, value)
    if name == "d":
        value = SAME_POINT.sub(r"\1", re.sub(r" ?([A-Za-z]) ?", r"\1", value))
        value = steps(value) if STRAIGHT.fullmatch(value) else value
    return f'{name}="{value}"'


def declarations(line: str) -> list[str]:
    """The declarations in the style of an element."""
    found = STYLE.search(line)
    return found[1].split(";") if found else []


def together(lines: list[str]) -> list[str]:
    """Elements of one kind, in a group with the clip path and all of the style that they share, if that is shorter."""
    styles = [declarations(line) for line in lines]
    shared = [one for one in styles[0] if not one.startswith("opacity") and all(one in style for style in styles[1:])]
    clips = {(CLIP.search(line) or [""])[0] for line in lines}
    clip = clips.pop() if len(clips) == 1 else ""
    made = [f'<g{clip} style="{";".join(shared)}">' if shared else f"<g{clip}>"]
    for line, style in zip(lines, styles):
        rest = (one.split(":", 1) for one in style if one not in shared)
        line = STYLE.sub("".join(f' {name}="{value}"' for name, value in rest), line, count=1)
        made.append(CLIP.sub("", line) if clip else line)
    made.append("</g>")
    return min(lines, made, key=lambda some: sum(map(len, some)))


def unstyled(text: str) -> str:
    """An SVG whose marks do not repeat the style of the path that they use: that path's own style counts anyway."""
    of = {path[1]: path[2].split(";") for path in USED.finditer(text)}

    def without(use: re.Match[str]) -> str:
        rest = ";".join(one for one in declarations(use[0]) if one not in of.get(use[1], ()))
        return STYLE.sub(f' style="{rest}"' if rest else "", use[0])

    return USE.sub(without, text)


def inherited(text: str) -> str:
    """An SVG that has once what a rule says of each element (its joins of strokes), or each text (its font)."""
    text = EACH_FONT.sub("", text).replace(' style=""', "")
    return FOR_ALL.sub(r'<svg\1 style="stroke-linejoin:round;font-family:sans-serif">', text, count=1)


def grouped(text: str) -> str:
    """An SVG with an element on each line, and neighbours of one kind together."""

    def kind(line: str) -> str:
        found = KIND.fullmatch(line)
        return found[1] if found else ""

    runs = ((name, list(lines)) for name, lines in groupby(text.split("\n"), kind))
    return "\n".join(line for name, lines in runs for line in (together(lines) if name else lines))


def slim(text: str) -> str:
    """An SVG of matplotlib's (`svg.fonttype`: none) that looks the same."""
    text = re.sub(r"\n+", "\n", NOT_NEEDED.sub("", text))
    text = FONTS.sub(r"\1 sans-serif", text)
    text = COORDINATES.sub(shorter, text)
    text = re.sub(r'style="[^"]*"', lambda one: re.sub(r"([:;]) ", r"\1", one[0]), text)
    for _ in range(NESTED):
        text = LONE.sub(r"\1", EMPTY.sub("", text))
    text = unstyled(inherited(text))
    return grouped(SHORT_COLOUR.sub(r"#\1\2\3", NOT_TURNED.sub("", text)))


def drawn(figure: Figure) -> bytes:
    """A figure as such a file; the same bytes each time."""
    data = io.BytesIO()
    figure.savefig(data, format="svg", metadata={"Date": None})
    return slim(data.getvalue().decode()).encode()
