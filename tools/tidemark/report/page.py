"""The page: one HTML file that works without a network.

Everything that comes from a file is text: it is escaped here for HTML, and as JSON it cannot end its script element.
In addition, a content security policy names the hashes of the page's own scripts and styles, so that a browser runs
and loads nothing else. The figures are images with embedded SVG, which browsers isolate from the page.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from string import Template
from typing import Any

from tidemark.report import maps
from tidemark.report.arena import Group
from tidemark.report.text import as_text, escape

ASSETS = resources.files("tidemark.report") / "assets"
STYLES = ("uPlot.min.css", "page.css")
LONG_CHARACTERS = 40
SCRIPTS = ("uPlot.iife.min.js", "page.js")


@dataclass(frozen=True)
class Shown:
    """A figure on the page: its texts, its SVG (empty if it was not drawn), and the kinds of its files, which `name` is
    the stem of."""

    name: str
    title: str
    caption: str
    svg: bytes
    kinds: tuple[str, ...] = ("png", "svg", "csv")


@dataclass
class Block:
    """One picture with its question (`title`) and how to read it (`reading`). If it has `charts` (see
    tidemark.report.charts), the figures are only linked; a page without script shows them unless `only_linked`. `wide`:
    charts under each other. `image`: a PNG that readers can zoom, in place of the figures, and the data with which the
    script names its points."""

    title: str
    reading: str = ""
    charts: list[dict[str, Any]] = field(default_factory=list)
    figures: list[Shown] = field(default_factory=list)
    wide: bool = False
    only_linked: bool = False
    image: tuple[bytes, dict[str, Any]] | None = None


@dataclass
class Section:
    """A part of the page: what sums it up (`story`, whose further lines are a list), pictures, and last tables.
    `folded`: the tables are closed until a reader opens them."""

    title: str
    story: str = ""
    text: str = ""
    blocks: list[Block] = field(default_factory=list)
    tables: list[tuple[str, Mapping[str, Sequence[Any]]]] = field(default_factory=list)
    folded: bool = False
    figures: list[Shown] = field(default_factory=list)
    arena: Group | None = None


def asset(name: str) -> str:
    """The text of a file in assets/."""
    return (ASSETS / name).read_text()


def csp_hash(text: str) -> str:
    """The name of an inline script or style in a content security policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def json_for_html(value: object) -> str:
    """JSON that cannot be mistaken for markup."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def shown(value: object) -> str:
    """A value in a table: at least four digits, with thousands separators; very large ones with an exponent."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(as_text(value))
    if value != value:
        return ""
    if isinstance(value, int) or 1000 <= abs(value) < 1e9:
        return f"{value:,.0f}"
    return f"{value:,.4g}"


def cell_html(value: object, label: str = "") -> str:
    """A table's cell; numbers are right-aligned, long texts are wrapped. `label` precedes it on a narrow screen."""
    numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
    text = shown(value)
    kind = " class=number" if numeric else " class=long" if len(text) > LONG_CHARACTERS else ""
    said = f' data-label="{escape(label)}"' if label else ""
    return f"<td{kind}{said}>{escape(text)}</td>"


def head_html(names: Iterable[str]) -> str:
    """The header row of a table."""
    cells = "".join(f"<th>{escape(name).replace('_', '_<wbr>')}</th>" for name in names)
    return f"<thead><tr>{cells}</tr></thead>"


def table_html(title: str, table: Mapping[str, Sequence[Any]]) -> str:
    """A table with its header row."""
    rows = "".join(f"<tr>{''.join(map(cell_html, row))}</tr>\n" for row in zip(*table.values()))
    caption = f"<caption>{escape(title)}</caption>" if title else ""
    return f"<div class=wide><table>{caption}{head_html(table)}\n<tbody>\n{rows}</tbody></table></div>"


def details_html(title: str, table: Mapping[str, Sequence[Any]], ids: Iterable[str]) -> str:
    """As table_html, for rows that links lead to, by `ids`. On a narrow screen a row is a list of its cells."""
    rows = "".join(
        f'<tr id="{escape(mark)}">{"".join(map(cell_html, row, table))}</tr>\n'
        for mark, row in zip(ids, zip(*table.values()))
    )
    caption = f"<caption>{escape(title)}</caption>"
    return f'<div class="wide details"><table>{caption}{head_html(table)}\n<tbody>\n{rows}</tbody></table></div>'


def files_html(figures: Iterable[Shown]) -> str:
    """The files of figures, as links that work in the report's folder."""

    def links(one: Shown) -> str:
        stem = escape(f"figures/{one.name}")
        kinds = ", ".join(f'<a href="{stem}.{kind}">{kind.upper()}</a>' for kind in one.kinds)
        return f"<span class=files>{stem}: {kinds}</span>"

    return " ".join(map(links, figures))


def image_html(figure: Shown) -> str:
    """The picture as an img element, with its caption as text for screen readers."""
    data = base64.b64encode(figure.svg).decode()
    alt = escape(f"{figure.title}. {figure.caption}")
    return f'<img alt="{alt}" src="data:image/svg+xml;base64,{data}">'


def figure_html(figure: Shown, before: Shown | None = None) -> str:
    """A figure with its caption, if that differs from the caption of the figure before, and its files."""
    caption = figure.caption if before is None or before.caption != figure.caption else "As above."
    return (
        f'<figure id="{escape(figure.name)}"><h3>{escape(figure.title)}</h3>'
        f"<div class=picture>{image_html(figure)}</div>"
        f"<figcaption>{escape(caption)} {files_html([figure])}</figcaption></figure>"
    )


def chart_html(chart: Mapping[str, Any], at: int) -> str:
    """A box that the script fills; it contains the chart in words."""
    title = escape(str(chart["title"]))
    return (
        f'<div class="chart{" tall" if chart.get("tall") else ""}" role=group aria-label="{title}" data-chart="{at}">'
        f"<p class=said>{escape(str(chart.get('said', '')))}</p></div>"
    )


def block_html(block: Block, first_chart: int) -> str:
    """One block: the question, the picture, how to read it, its files."""
    if block.image:
        return map_html(block, *block.image)
    if not block.charts:
        return "\n".join(map(figure_html, block.figures, [None, *block.figures]))
    boxes = "".join(chart_html(chart, first_chart + at) for at, chart in enumerate(block.charts))
    drawn = [] if block.only_linked else [one for one in block.figures if one.svg]
    pictures = "".join(map(image_html, drawn))
    heading = f"<h3>{escape(block.title)}</h3>" if block.title else ""
    return (
        f'<div class=block>{heading}<div class="charts{" wide-charts" if block.wide else ""}">{boxes}</div>'
        + (f"<noscript>{pictures}</noscript>" if pictures else "")
        + f"<p class=reading>{escape(block.reading)} {files_html(block.figures)}</p></div>"
    )


def map_html(block: Block, png: bytes, about: dict[str, Any]) -> str:
    """The HTML of an image that can be zoomed, with its buttons and its legend."""
    data = base64.b64encode(png).decode()
    extent = f"from {about['from']:.3g} s to {about['to']:.3g} s; frame 0 is the lowest of {about['frames']:,}"
    names = "".join(
        f'<span><i data-colour="{escape(one["colour"])}"></i>{escape(one["name"])}</span> ' for one in about["owners"]
    )
    return (
        f"<div class=block><h3>{escape(block.title)}</h3><p class=zoom><button type=button>wider</button> "
        f"<button type=button>narrower</button> <button type=button>higher</button> <button type=button>lower</button> "
        f"<output>{escape(extent)}</output></p>"
        f'<div class=owners tabindex=0 role=group aria-label="{escape(block.title)} Arrow keys name owners." '
        f"data-owners='{escape(json.dumps(about))}'><img alt=\"{escape(block.reading)}\" "
        f'src="data:image/png;base64,{data}"></div><p class=legend>{names}</p>'
        f"<p class=reading>{escape(block.reading)} {files_html(block.figures)}</p></div>"
    )


def tables_html(section: Section) -> list[str]:
    """The tables, folded if the section says so."""
    tables = [table_html(title, table) for title, table in section.tables]
    if not section.folded:
        return tables
    heads = [escape(title) or "Table" for title, _ in section.tables]
    return [f"<details><summary>{head}</summary>{table}</details>" for head, table in zip(heads, tables)]


def section_html(section: Section, anchor: str, first_chart: int) -> str:
    """One part of the page."""
    parts = [f'<section id="{anchor}"><h2>{escape(section.title)}</h2>']
    first, *more = section.story.split("\n")
    parts += [f"<p class=story>{escape(first)}</p>"] if first else []
    parts += [f"<ul class=story>{''.join(f'<li>{escape(line)}</li>' for line in more)}</ul>"] if more else []
    parts += [f"<p>{escape(section.text)}</p>"] if section.text else []
    if section.arena:
        parts += [maps.html(section.arena, files_html(section.figures))]
        parts += [details_html("Every number, and what makes it", maps.details(section.arena), maps.ids(section.arena))]
    for block in section.blocks:
        parts.append(block_html(block, first_chart))
        first_chart += len(block.charts)
    parts += [figure_html(figure) for figure in section.figures if not section.arena]
    return "\n".join([*parts, *tables_html(section), "</section>"])


def page(title: str, facts: str, notes: Iterable[str], sections: Sequence[Section]) -> str:
    """The whole page as HTML."""
    charts: list[dict[str, Any]] = []
    bodies, links = [], []
    for at, section in enumerate(sections):
        bodies.append(section_html(section, f"section-{at}", len(charts)))
        links.append(f'<a href="#section-{at}">{escape(section.title)}</a>')
        charts += [chart for block in section.blocks for chart in block.charts]
    styles, scripts = [asset(name) for name in STYLES], [asset(name) for name in SCRIPTS]
    policy = (
        f"default-src 'none'; img-src data:; style-src {' '.join(map(csp_hash, styles))}; "
        f"script-src {' '.join(map(csp_hash, scripts))}; base-uri 'none'; form-action 'none'"
    )
    return Template(asset("page.html")).substitute(
        title=escape(title),
        policy=policy,
        styles="\n".join(f"<style>{style}</style>" for style in styles),
        scripts="\n".join(f"<script>{script}</script>" for script in scripts),
        links=" ".join(links),
        facts=f"<p class=facts>{escape(facts)}</p>" if facts else "",
        notes="".join(f"<p class=note>{escape(note)}</p>" for note in notes),
        body="\n".join(bodies),
        data=json_for_html(charts),
    )
