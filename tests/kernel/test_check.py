"""`make check TESTS=...` builds only what the chosen tests need: tools/check.sh, with stand-ins for all it starts."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from making import environment
from tidemark.machine import qemu

PURE = "tests/lab/test_fit.py"


@pytest.mark.parametrize(
    ("tests", "targets"),
    [
        (PURE, None),
        (f"{PURE}::test_fit_recovers_a_free_exponent -x", None),
        ("kernel/lib/rbtree_test.c", "build/host/kernel/lib/rbtree_test"),
        (f"{PURE} kernel/lib/rbtree_test", "build/host/kernel/lib/rbtree_test"),
        (f"{PURE} tests/docs", "all"),
        ("tests/grade/test_labs.py", "test-base"),
        ("tests/lab", "grade-base"),
        ("tests/kernel/test_runs.py -k echo", "test-base"),
        ("-k echo", "check-base"),
        ("tests", "check-base"),
    ],
)
def test_only_what_the_chosen_tests_need_is_built(tmp_path: Path, tests: str, targets: str | None) -> None:
    for name in ("tools/check.sh", "tools/locked.sh", PURE):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(qemu.ROOT / name, tmp_path / name)
    programs = tmp_path / "build/venv/bin"
    programs.mkdir(parents=True)
    for name in ("python", "ruff", "mypy", "clang-format"):
        (programs / name).symlink_to(shutil.which("true"))
    made = tmp_path / "made"
    make = ["sh", "-c", 'printf "%s\\n" "$@" >made', "make"]
    subprocess.run(
        [tmp_path / "tools/check.sh", "check", *make], env=environment(TESTS=tests), capture_output=True, timeout=60
    )
    assert (made.read_text().split()[1:] if made.exists() else None) == (targets and [targets])
