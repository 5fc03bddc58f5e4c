"""The structures of page tables, one file each. A file registers itself by its TABLES."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from tidemark.pagetables.table import Build


def all_tables() -> dict[str, Build]:
    """Every variant of every structure by its name, in order of the files' names."""
    found: dict[str, Build] = {}
    for module in sorted(one.name for one in pkgutil.iter_modules(__path__)):
        found |= import_module(f"{__name__}.{module}").TABLES
    return found
