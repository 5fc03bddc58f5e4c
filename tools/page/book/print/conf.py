"""The guide as the commentary on the printed source, by Sphinx (commentary.py, print.mk)."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

project = "Tidemark"
html_title = "Tidemark: commentary on the core"
html_show_copyright = False
root_doc = "guide/README"
include_patterns = ["guide/README.md", "guide/0*.md", "figures/*"]
extensions = ["myst_parser", "commentary"]
myst_heading_anchors = 6
html_theme = "basic"
html_show_sphinx = False
html_copy_source = False
html_static_path = ["."]
html_css_files = ["commentary.css"]
suppress_warnings = ["myst.header", "misc.highlighting_failure", "myst.xref_missing"]
pygments_style = "bw"
