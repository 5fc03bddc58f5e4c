"""The pictures of the documents, as a reader's browser shows them: text is text, whole, and apart from other text.

Two fonts stand for those that readers have. Both are wider than most; a label that has room in them has room.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from pathlib import Path

import matplotlib
import matplotlib.image
import pytest
from tidemark.machine import qemu
from tidemark.report import figure as figure_module
from tidemark.report import svg

PICTURES = sorted([*qemu.ROOT.glob("docs/figures/**/*.svg"), *qemu.ROOT.glob("labs/*/*.svg")])
FONTS = ("DejaVuSans", "DejaVuSerif")
MOST_BYTES = 1_500_000  # of all
BY_RICH = ("watch-map.svg",)  # a terminal, whose font has a fixed width
TOLERANCE = 1.0  # CSS pixels; the box of a text is that of its line, which is higher than its letters
BOXES = """() => {
    const all = document.querySelector("svg").getBoundingClientRect();
    const boxes = [...document.querySelectorAll("text")].map((text) => {
        const { left, top, right, bottom } = text.getBoundingClientRect();
        return [text.textContent.trim(), left - all.left, top - all.top, right - all.left, bottom - all.top];
    });
    return { width: all.width, height: all.height, boxes: boxes.filter((one) => one[0]) };
}"""


def font_face(name: str) -> str:
    """CSS by which the generic sans serif is this font of matplotlib's."""
    data = (Path(matplotlib.get_data_path()) / f"fonts/ttf/{name}.ttf").read_bytes()
    source = f"url(data:font/ttf;base64,{base64.b64encode(data).decode()})"
    return f"@font-face {{ font-family: given; src: {source} }} text, text * {{ font-family: given !important }}"


def overlaps(one: list, other: list) -> bool:
    """Do two boxes [text, left, top, right, bottom] overlap by more than their lines' spare height?"""
    wide = min(one[3], other[3]) - max(one[1], other[1])
    high = min(one[4], other[4]) - max(one[2], other[2])
    spare = 0.35 * min(one[4] - one[2], other[4] - other[2], one[3] - one[1], other[3] - other[1])
    return wide > max(TOLERANCE, spare) and high > max(TOLERANCE, spare)


def troubles(shown: dict) -> Iterator[str]:
    """What is wrong with the labels of a picture, each in words."""
    boxes = shown["boxes"]
    for text, left, top, right, bottom in boxes:
        cut = max(-left, -top, right - shown["width"], bottom - shown["height"])
        if cut > TOLERANCE:
            yield f"{text!r} is cut by {cut:.1f} px"
    for at, one in enumerate(boxes):
        yield from (f"{one[0]!r} overlaps {other[0]!r}" for other in boxes[at + 1 :] if overlaps(one, other))


@pytest.mark.parametrize("font", FONTS)
def test_no_label_is_cut_or_overlaps_another(font: str, browser_page: object) -> None:
    page, face, found = browser_page, font_face(font), []
    for path in PICTURES:
        if path.name in BY_RICH:
            continue
        page.set_content(f"<style>body {{ margin: 40px }} {face}</style>{path.read_text()}")
        page.evaluate("document.fonts.ready")
        found += [f"{path.relative_to(qemu.ROOT)}: {trouble}" for trouble in troubles(page.evaluate(BOXES))]
    assert found == []


def test_text_is_text_and_all_is_small() -> None:
    texts = {path: path.read_text() for path in PICTURES}
    assert len(texts) > 60 and all("<text" in text and "DejaVuSans-" not in text for text in texts.values())
    assert sum(len(text.encode()) for text in texts.values()) <= MOST_BYTES


def test_slim_pictures_look_the_same(browser_page: object) -> None:
    figure, axes = figure_module.canvas()
    axes[0, 0].plot([1, 2.345678, 3], [0.5, -0.04, 2])
    axes[0, 0].pcolor([[1, 2, 2], [3, 1, 1]], edgecolor="white", alpha=0.5)
    axes[0, 0].set_title("a title, bold")
    plain = io.BytesIO()
    with matplotlib.rc_context(figure_module.STYLE):
        figure.savefig(plain, format="svg", metadata={"Date": None})
        small = svg.drawn(figure).decode()
    assert len(small) < 0.8 * len(plain.getvalue()) and "DejaVu" not in small
    shots = []
    for text in (plain.getvalue().decode(), small):
        browser_page.set_content(f"<style>text {{ font-family: sans-serif !important }}</style>{text}")
        shots.append(matplotlib.image.imread(io.BytesIO(browser_page.screenshot())))
    assert abs(shots[0] - shots[1]).mean() < 0.001


def test_paths_are_written_by_steps_and_matrices_stay_whole() -> None:
    lines = '<path d="M 1.04 2 \nL 3.5 2 \nL 3.5 -0.26 \nL 3 0 \nz\nM 7 7 \nL 8 9.1 \n" />\n'
    image = '<image width="800" transform="matrix(0.5505 0 0 -0.5828 59.91 3)"/>\n'
    assert svg.slim(lines) == '<path d="M1 2h2.5v-2.3l-.5 .3zM7 7l1 2.1" />\n'
    assert svg.slim(image) == image and svg.slim(svg.slim(lines)) == svg.slim(lines)
    assert svg.slim("<g>\n<g>\n<g/>\n</g>\n</g>\n") == ""


def test_labels_that_overlap_or_are_cut_are_found(browser_page: object) -> None:
    text = '<svg width="100" height="50"><text x="5" y="20">alpha</text><text x="9" y="22">beta</text>'
    browser_page.set_content(f"{text}<text x='90' y='45'>gamma</text></svg>")
    assert [one.split(" by ")[0] for one in troubles(browser_page.evaluate(BOXES))] == [
        "'gamma' is cut",
        "'alpha' overlaps 'beta'",
    ]
