"""The grader's wings, and every module of the lab: what imports what goes in one direction."""

from __future__ import annotations

import imports
from tidemark import qemu

ORDER = ("model", "build", "witness", "judge", "intake", "hand_out", "hand_back", "grading", "isolation", "class_run")


def test_no_module_imports_what_leads_back_to_it() -> None:
    found = imports.circles(imports.graph(imports.modules(qemu.ROOT / "tools")))
    assert not found, "\n".join(", ".join(sorted(group)) for group in found)


def test_wings_of_the_grader_import_those_before_them() -> None:
    known = imports.graph(imports.modules(qemu.ROOT / "tools"))
    prefix = "tidemark.grade."
    wrong = [
        f"{name} imports {other}"
        for name in known
        for other in known[name]
        if name.startswith(prefix) and other.startswith(prefix)
        if ORDER.index(other.split(".")[2]) > ORDER.index(name.split(".")[2])
    ]
    assert not wrong, "\n".join(wrong)


def test_a_circle_is_found() -> None:
    assert imports.circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [{"a", "b", "c"}]
    assert imports.circles({"a": {"b"}, "b": set()}) == []
