"""tools/cover/reasons.toml gives reasons for lines that never run, and the functions that it names exist."""

from __future__ import annotations

import pytest
from cover import reasons
from tidemark.machine import qemu

ROWS = sorted(reasons.explained())


@pytest.mark.parametrize("file", sorted({file for file, _ in ROWS}))
def test_functions_with_a_reason_exist(file: str) -> None:
    there = set(reasons.functions((qemu.ROOT / file).read_text()).values())
    assert [name for of, name in ROWS if of == file and name not in there] == []


def test_rows_are_found() -> None:
    assert len(ROWS) > 10


def test_functions_are_found_by_line() -> None:
    assert reasons.functions("static __attribute__((noinline)) int g(int a)\n{\n}\n")[1] == "g"
    assert reasons.functions("static int f(int a)\n{\n\treturn a;\n}\nint x = g(1);\n") == {
        1: "f",
        2: "f",
        3: "f",
        4: "f",
    }
