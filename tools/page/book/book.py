"""What the book adds to Sphinx: figures that run, pages for source files, the order of the chapters.

Figures: a comment in the Markdown, which other viewers do not show, becomes a part of the page (tools/page):

    <!-- step: clock, 1 2 3 4 1 2 5, 3 frames -->           the stepper
    <!-- step: clock lru, 1 2 3 4, 3 frames, 5 ms each -->  two policies side by side; references that take longer
    <!-- race: vm=2q,ws&mem=16M&run=thrash 8 4096 10 -->    two machines
    <!-- prompt -->                                         one machine, with a terminal
    <!-- open: #step=clock&frames=3&string=1+2+3 -->        a link that opens the page with this run

Source: where a page links to a file outside docs/, or a chapter of the guide names one in code, the link leads to a
page with the file's text. A link to anything else outside docs/ is an error.
"""

import os
import re
from html import escape
from importlib.metadata import files
from pathlib import Path
from urllib.parse import urlencode

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.osutil import relative_uri

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
PARTS = re.compile(r"^<!-- (step|race|prompt|open)(?:: (.*?))? -->$", re.MULTILINE)
STEP = re.compile(r"([\w ]+), ([^,]+), (\d+) frames(?:, (\d+) ms each)?")
LINK = re.compile(r"\[([^\]]*)\]\(((?:\.\./)+[^)\s#]+|[\w./-]+\.md)(#[^)\s]*)?\)")
RELEASE = ROOT / "labs/RELEASE"  # a student's tree, without solutions and without pages for instructors
NAMED = re.compile(r"(?:boot|kernel|labs|tests|tools|user)/[\w./-]+\.\w+")
PAGE_OF_SOURCE = "source/"

# The pages that a page lists in the margin, in this order. Sphinx reports pages not listed here as orphans.
CHAPTERS = {
    "guide/README": "0[1-9]-*\npage-tables\nallocators\ngallery\npolicies/README\nrecipes\n../reference/README",
    "guide/policies/README": "*",
    "guide/recipes": "add-*",
    "reference/README": "*",
}


def step_link(text: str) -> str:
    """Converts `clock lru, 1 2 3, 3 frames` to the stepper's link; "" if a student's tree lacks a policy.

    Raises ExtensionError if the text has another form.
    """
    found = STEP.fullmatch(text)
    if not found:
        raise ExtensionError(f"<!-- step: {text} -->: it is POLICY, STRING, N frames[, N ms each]")
    policies, string, frames, ms = found.groups()
    lacking = [name for name in policies.split() if not (ROOT / f"kernel/mm/policy/{name}.c").is_file()]
    if lacking and RELEASE.exists():
        return ""
    if lacking:
        raise ExtensionError(f"<!-- step: {text} -->: there is no policy {', '.join(lacking)}")
    words = {"vm": ",".join(policies.split()), "frames": frames, "string": string}
    return urlencode(words | ({"us": 1000 * int(ms)} if ms else {}))


def part(found: re.Match[str], docname: str) -> str:
    """The element for a comment of the page `docname`, if the comment names a part."""
    kind, text = found[1], found[2] or ""
    if kind == "open":
        home = "../" * (docname.count("/") + 1) + "index.html"
        return f'<p><a href="{home}{escape(text)}">Run it on the page</a></p>'
    link = step_link(text) if kind == "step" else text
    if kind == "step" and not link:
        return ""
    return f'<div class="part"><div data-tidemark="{kind}" data-link="{escape(link)}"></div></div>'


def source_link(docname: str, path: Path, text: str) -> str:
    """An HTML link to the page of a source file; `text` is Markdown."""
    to = relative_uri(f"{docname}.html", f"{PAGE_OF_SOURCE}{path}.html")
    return f'<a class="reference internal" href="{to}">{text}</a>'


def prepare(app: Sphinx, docname: str, content: list[str]) -> None:
    """Called by Sphinx before a page is parsed."""
    sources = app.env.metadata.setdefault("sources", {})  # kept with the environment, as text

    def leave(found: re.Match[str]) -> str:
        target = (DOCS / docname).parent / found[2]
        path = Path(os.path.normpath(target))
        if RELEASE.exists() and not path.exists():
            return found[1]
        if path.is_relative_to(DOCS):
            return found[0]
        if not path.is_file():
            raise ExtensionError(f"{docname}: {found[2]} leads nowhere")
        name = path.relative_to(ROOT)
        sources[str(name)] = docname
        return source_link(docname, name, found[1])

    text = PARTS.sub(lambda found: part(found, docname), LINK.sub(leave, content[0]))
    if docname in CHAPTERS:
        text += f"\n\n```{{toctree}}\n:hidden:\n:glob:\n\n{CHAPTERS[docname]}\n```\n"
    content[0] = text


class NamedFiles(SphinxPostTransform):
    """Links `kernel/mm/policy/clock.c` in a chapter of the guide to the page of that file."""

    default_priority = 200

    def run(self, **kwargs: object) -> None:
        """Called for each page, before it is written."""
        docname = self.env.docname
        for literal in list(self.document.findall(nodes.literal)):
            name = literal.astext()
            if not docname.startswith("guide/") or not NAMED.fullmatch(name) or not (ROOT / name).is_file():
                continue
            self.env.metadata.setdefault("sources", {})[name] = docname
            to = relative_uri(f"{docname}.html", f"{PAGE_OF_SOURCE}{name}.html")
            literal.replace_self(nodes.reference("", "", literal.deepcopy(), refuri=to, internal=True))


def source_pages(app: Sphinx) -> object:
    """(name, context, template) for each source file that has a link to it."""
    for name in sorted(app.env.metadata.get("sources", {})):
        text = (ROOT / name).read_text("utf-8", "replace")
        try:
            lexer = get_lexer_for_filename(name)
        except ClassNotFound:
            lexer = TextLexer()
        lines = highlight(text, lexer, HtmlFormatter(linenos="inline", lineanchors="L", wrapcode=True))
        body = f"<h1><code>{escape(name)}</code></h1>{lines}"
        yield PAGE_OF_SOURCE + name, {"title": name, "body": body}, "page.html"


def with_parts(app: Sphinx, pagename: str, template: str, context: dict, doctree: object) -> None:
    """Pages with running parts load the script, which lies beside the book. No page requests an icon from a server."""
    context["metatags"] = context.get("metatags", "") + '<link rel="icon" href="data:,">'
    if "data-tidemark=" not in context.get("body", ""):
        return
    up = relative_uri(f"{pagename}.html", "..") or "../"
    context["body"] += f'<link rel="stylesheet" href="{up}/book/parts.css"><script defer src="{up}/page.js"></script>'


def finish(app: Sphinx, error: Exception | None) -> None:
    """Writes index.html, which leads to the first chapter, and the licences of Sphinx's files in the folder."""
    if error:
        return
    out, there = Path(app.outdir), f"{app.config.root_doc}.html"
    text = f'<!doctype html><meta charset="utf-8"><title>Tidemark: the guide</title>\
<meta http-equiv="refresh" content="0; url={there}"><a href="{there}">The guide</a>\n'
    (out / "index.html").write_text(text)
    (out / "licences").mkdir(exist_ok=True)
    for name in ("sphinx", "furo"):
        terms = next(file for file in files(name) or [] if file.name.startswith("LICENSE"))
        (out / "licences" / f"{name}.txt").write_text(terms.read_text())


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", prepare)
    app.add_post_transform(NamedFiles)
    app.connect("html-collect-pages", source_pages)
    app.connect("html-page-context", with_parts)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": False, "parallel_write_safe": False}
