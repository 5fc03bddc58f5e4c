"""The page of a paper: each figure as published on the left, ours on the right, with its verdict; and an index.

One HTML file for each paper, which works without a network and without scripts, in light, in dark and on paper. What
the paper does not give in numbers is a grey panel with its words: no point is drawn that its text does not have.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template

from tidemark.files import write_atomically
from tidemark.papers import declared, draw, stored, verdict
from tidemark.papers.declared import Figure, Paper
from tidemark.papers.predicate import Look, Outcome
from tidemark.papers.verdict import Judged
from tidemark.report.page import csp_hash
from tidemark.report.text import escape

SOURCES = Path(__file__).parent
COLOURS = {"agrees": "yes", "differs": "no", "cannot be told": "open"}
INDEX = "index.html"


def whole(title: str, links: str, body: str) -> str:
    """A page with its style; a browser runs and loads nothing."""
    style = (SOURCES / "page.css").read_text(encoding="utf-8")
    policy = f"default-src 'none'; img-src data:; style-src {csp_hash(style)}; base-uri 'none'; form-action 'none'"
    template = Template((SOURCES / "page.html").read_text(encoding="utf-8"))
    return template.substitute(title=escape(title), policy=policy, style=style, links=links, body=body)


def prose(text: str) -> str:
    """A text of a declaration as HTML, with what stands between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(" ".join(text.split())))


def badge(name: str) -> str:
    """A verdict as a coloured word."""
    return f'<b class="verdict {COLOURS.get(name, "none")}">{escape(name)}</b>'


def published_html(figure: Figure) -> str:
    """The left panel: the quotation, and the numbers with their sources."""
    rows = "".join(
        f"<tr><td>{escape(one.what)}<td class=number>{one.value:,g}<td>{escape(one.source)}" for one in figure.published
    )
    table = f"<table><tr><th>published<th>number<th>source{rows}</table>" if rows else ""
    known = "" if rows else "<p class=faint>No number in the text.</p>"
    kind = "known" if rows else "grey"
    if figure.statement:
        return f"<div class={kind}><p>{prose(figure.statement)}</p>{table}</div>"
    return f"<div class={kind}><blockquote>“{escape(figure.quote)}”</blockquote>{table}{known}</div>"


def outcome_html(one: Outcome) -> str:
    """A comparison with its verdict and interval."""
    told = f"right over left: {one.told}" if one.claim else one.told
    return (
        f"<li><code>{escape(one.comparison.text)}</code> {badge(one.verdict)} <span class=faint>{escape(told)}</span>"
    )


def numbers_html(figure: Figure, look: Look) -> str:
    """The numbers of the picture, for readers without it."""
    rows = []
    for label, ours, number in draw.rows_of(figure, look):
        ends = f"{ours.low:,.4g} to {ours.high:,.4g}" if ours.low is not None and ours.high is not None else "too few"
        known = "" if number is None else f"{number:,g}"
        rows.append(f"<tr><td>{escape(label)}<td class=number>{ours.middle:,.4g}<td class=number>{ends}<td>{known}")
    head = "<tr><th>ours<th>median<th>interval<th>published"
    return f"<details><summary>numbers</summary><table>{head}{''.join(rows)}</table></details>" if rows else ""


def ours_html(paper: Paper, judged: Judged, folder: Path) -> str:
    """The right panel: our pictures and their numbers, or why there are none."""
    figure = judged.figure
    if judged.why:
        return f"<div class=grey><p>{prose(judged.why)}</p></div>"
    found = stored.load(paper, figure.plan, folder)
    alt = escape(f"{figure.title}: " + "; ".join(one.comparison.text for one in judged.outcomes))
    pictures = "".join(
        f'<img alt="{alt}" src="data:image/svg+xml;base64,{base64.b64encode(one).decode()}">'
        for one in draw.panels(paper, figure, found)
    )
    return f"<div>{pictures}{numbers_html(figure, verdict.look_in(found, paper, figure.plan))}</div>"


def made_html(paper: Paper, figure: Figure, folder: Path) -> str:
    """What made our side: command, image, seconds of the host, scale."""
    found, sweep = stored.load(paper, figure.plan, folder), paper.plans[figure.plan]
    failed = f" {len(found.failed)} runs failed: {'; '.join(found.failed[:3])}." if found.failed else ""
    return (
        f"<p class=made><code>tidemark paper {escape(paper.name)} {escape(figure.id)} --image reference</code> · "
        f"{len(found.runs)} runs of the plan <i>{escape(sweep.name)}</i>, {found.wall_s:,.0f} s of the host in all "
        f"· {made_by(found)}.{escape(failed)}</p>"
        f"<p class=faint><b>Scale.</b> {prose(sweep.scale)}</p>"
        f"<details><summary>the plan{', and the kernel command line of its first run' if found.first else ''}</summary>"
        f"<pre>{escape_lines(sweep.text)}</pre><pre>{escape(found.first)}</pre></details>"
    )


def made_by(found: stored.Stored) -> str:
    """The image that made the results, or that none did."""
    if not found.image:
        return "strings of references on the host, without a machine"
    return f"image {escape(found.image[:12])}, commit {escape(found.commit)}"


def escape_lines(text: str) -> str:
    """Several lines escaped for HTML."""
    return "\n".join(escape(line) for line in text.strip().splitlines())


def figure_html(paper: Paper, judged: Judged, folder: Path) -> str:
    """One figure."""
    figure = judged.figure
    parts = [
        f'<section id="{escape(figure.id)}"><h2>{escape(figure.title)} {badge(judged.verdict)}</h2>',
        f"<p class=faint>{'Section ' if figure.quote else ''}{escape(figure.section)}</p>",
        f"<div class=pair>{published_html(figure)}{ours_html(paper, judged, folder)}</div>",
    ]
    if judged.outcomes:
        parts.append(f"<ul class=claim>{''.join(map(outcome_html, judged.outcomes))}</ul>")
    if figure.because:
        parts.append(f"<p><b>Because:</b> {prose(figure.because)}.</p>")
    if judged.without:
        shown = "".join(map(outcome_html, judged.without_outcomes))
        parts.append(f"<p>Without that cause: {badge(judged.without)}</p><ul class=claim>{shown}</ul>")
    if not judged.why:
        parts.append(made_html(paper, figure, folder))
    return "\n".join([*parts, "</section>"])


def ledger_html(counts: Mapping[str, int]) -> str:
    """The counts of verdicts in a line."""
    return " ".join(f"{badge(name)} {count}" for name, count in counts.items() if count)


def errata_html(paper: Paper) -> str:
    """The errors that were found in the paper, with the arithmetic."""
    rows = "".join(
        f"<li><b>{escape(one.where)}</b>: {escape(one.says)}<br>{escape(one.arithmetic)}" for one in paper.errata
    )
    return f"<section id=errata><h2>Errata found</h2><ul>{rows}</ul></section>" if rows else ""


def page(paper: Paper, judged: Sequence[Judged], folder: Path) -> str:
    """The page of a paper as HTML."""
    rows = "".join(
        f'<tr><td><a href="#{escape(one.figure.id)}">{escape(one.figure.title)}</a><td>{badge(one.verdict)}'
        for one in judged
    )
    note = f"<p>{prose(paper.note)}</p>" if paper.note else ""
    head = (
        f"<p>{escape(paper.authors)}, {paper.year}; {escape(paper.where)}. "
        f"Measured there on {prose(paper.machine)}.</p>{note}"
        f"<p class=ledger>{ledger_html(verdict.ledger(judged))}</p>"
        "<p>Left what the paper says, right what runs of this kernel say: the median over replicates, and the interval "
        "of the sign test. A verdict follows from the claim under the pictures, a comparison of numbers, and from "
        "nothing else.</p>"
        f"<details open><summary>all figures</summary><table>{rows}</table></details>"
    )
    body = "\n".join([head, *(figure_html(paper, one, folder) for one in judged), errata_html(paper)])
    links = " ".join(
        f'<a href="{name}">{text}</a>'
        for name, text in ((INDEX, "all papers"), *((f"{one}.html", one) for one in declared.PAPERS))
    )
    return whole(f"{paper.title}: the figures beside ours", links, body)


def index(folder: Path) -> str:
    """The index page, from stored results."""
    parts = []
    for name in declared.PAPERS:
        paper = declared.paper(name)
        counts = verdict.ledger([verdict.judge(paper, one, folder) for one in paper.figures])
        parts.append(
            f'<section><h2><a href="{name}.html">{escape(paper.title)}</a></h2>'
            f"<p>{escape(paper.authors)}, {paper.year}; {escape(paper.where)}</p>"
            f"<p class=ledger>{ledger_html(counts)}</p></section>"
        )
    text = "<p>Three works and the classics, what they claim, and what runs of this kernel say about each claim.</p>"
    return whole("The papers, reproduced", "", text + "".join(parts))


def write(paper: Paper, judged: Sequence[Judged], out: Path, folder: Path) -> Path:
    """Write the paper's page into the folder `out`; returns its file."""
    out.mkdir(parents=True, exist_ok=True)
    file = out / f"{paper.name}.html"
    write_atomically(file, page(paper, judged, folder))
    return file


def write_index(out: Path, folder: Path) -> None:
    """Write the index of all papers."""
    write_atomically(out / INDEX, index(folder))
