"""Figures with logic of their own: `by` names a function, MODULE.FUNCTION of this folder, which gets the figure and the
folder for its work. It returns the text of the figure's blocks by name (or the text alone, if there is one block), and
writes the files into the folder.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path

from figures.common import keep_runs_in
from figures.entries import Figure


def make(figure: Figure, work: Path) -> Mapping[str, str]:
    keep_runs_in(work)
    module, _, function = figure.settings["by"].partition(".")
    made = getattr(importlib.import_module(f"figures.{module}"), function)(figure, work)
    return {figure.blocks[0]: made} if isinstance(made, str) else made or {}
