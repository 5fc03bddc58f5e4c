"""The guide and the reference as a book of HTML pages, by Sphinx: build/page/book (tools/page/book/book.mk).

Neither the build nor a reader fetches anything. The book can be read from a web server or as files; the search works
in both, because Sphinx's index is a script. book.py makes figures run, and generates the pages of source files.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "Tidemark"
html_title = "Tidemark: the guide"
author = "Tidemark's authors"
html_show_copyright = False
root_doc = "guide/README"
exclude_patterns = ["README.md", "figures"]
extensions = ["myst_parser", "book"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 6
html_theme = "furo"
html_show_sphinx = False
html_copy_source = False
html_show_search_summary = False  # otherwise it would fetch the pages found
html_theme_options = {"navigation_with_keys": False}  # the arrow keys belong to the stepper
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
pygments_style = "default"
pygments_dark_style = "github-dark"
html_static_path = ["static"]
html_css_files = ["theme.css"]
