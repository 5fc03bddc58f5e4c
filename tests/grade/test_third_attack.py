"""Findings of a third attack on the grader: a test for each hole that was closed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tidemark.errors import LabError
from tidemark.runs import repeat, results

ORDER, CREATE = "kernel/fs/ext2/order.c", "create: a name that was synced has its file"


def result_with(tmp_path: Path, **settings: Any) -> results.Result:
    """A result that says that it was made with these settings."""
    meta = {"schema": 1, "kind": "run", "state": "done", "settings": {"exact": True, "cmdline": "", **settings}}
    (tmp_path / results.META).write_text(json.dumps(meta))
    return results.load(tmp_path)


@pytest.mark.parametrize("name", ["prefix", "qemu_flags"])
def test_result_of_a_student_starts_no_program(name: str, tmp_path: Path) -> None:
    """A viva repeats a student's run."""
    made = result_with(tmp_path, **{name: ["touch", "/tmp/it-was-here"]}).settings()
    assert not getattr(made, name)


def test_second_disk_of_a_result_is_no_file_of_the_reader(tmp_path: Path) -> None:
    """The run that is repeated could write to it."""
    other = tmp_path / "other.img"
    other.write_bytes(bytes(1 << 16))
    with pytest.raises(LabError, match="may have written to its disk"):
        repeat.check_repeatable(result_with(tmp_path, disk="1M", disk2=str(other)), {})
