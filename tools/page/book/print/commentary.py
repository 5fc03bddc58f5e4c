"""The guide's chapters as one page, which Chromium prints beside the source: what this adds to Sphinx.

Where a chapter names a file of the printed source, the number of the file's first line there follows. Links that lead
out of the chapters become text, and figures that run only in a browser are left out.
"""

import re

import listing
from book import LINK, PARTS
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform


def prepare(app: Sphinx, docname: str, content: list[str]) -> None:
    """Before a page is parsed."""

    def keep(found: re.Match[str]) -> str:
        picture = found.string[: found.start()].endswith("!")
        return found[0] if picture or re.fullmatch(r"0\d-[\w-]+\.md", found[2]) else found[1]

    text = PARTS.sub("", LINK.sub(keep, content[0]))
    if docname == app.config.root_doc:
        text += "\n\n```{toctree}\n:hidden:\n:glob:\n\n0[1-9]-*\n```\n"
    content[0] = text


class Numbers(SphinxPostTransform):
    """`kernel/mm/policy/clock.c` is followed by the number of its first line in the printed source."""

    default_priority = 200

    def run(self, **kwargs: object) -> None:
        """Called for the page, before it is written."""
        first = {str(file): number for file, number in listing.core().first.items()}
        for literal in list(self.document.findall(nodes.literal)):
            if literal.astext() in first:
                number = nodes.inline("", f" ({first[literal.astext()]:04})", classes=["number"])
                literal.parent.insert(literal.parent.index(literal) + 1, number)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", prepare)
    app.add_post_transform(Numbers)
    return {"parallel_read_safe": False, "parallel_write_safe": False}
