"""The import graph of modules, read from the sources; imports in functions and imports only for types count, too."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

Graph = Mapping[str, set[str]]


def modules(root: Path) -> dict[str, Path]:
    """All modules below a folder that is on the path, by their dotted names."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path: Path, known: Iterable[str]) -> set[str]:
    """The known modules that a file imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names.intersection(known)


def graph(known: Mapping[str, Path]) -> dict[str, set[str]]:
    """For each module, the modules that it imports. A package is not charged with imports of its modules."""
    found = {}
    for name, path in known.items():
        names = imported(path, known)
        packages = {other.rpartition(".")[0] for other in names}
        found[name] = {other for other in names if other not in packages or has_names(known[other])} - {name}
    return found


def has_names(path: Path) -> bool:
    """Does a module contain more than its docstring?"""
    return len(ast.parse(path.read_text()).body) > 1


def reachable(start: Iterable[str], edges: Graph) -> set[str]:
    """These modules, and all modules that can be reached from them."""
    found: set[str] = set()
    todo = list(start)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += edges[name]
    return found


def circles(edges: Graph) -> list[set[str]]:
    """Groups of modules that can all reach one another."""
    leads_to = {name: reachable(edges[name], edges) for name in edges}
    groups = {frozenset(other for other in leads_to[name] if name in leads_to[other]) for name in edges}
    return [set(group) for group in groups if group]
