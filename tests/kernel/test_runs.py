"""The runs of runs.toml: each boots a guest, and its console must show the lines that the file lists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from guest import Result, boot
from soak import soak_but
from tidemark.machine import qemu

try:
    import tomllib
except ModuleNotFoundError:
    import tomli as tomllib

RUNS = tomllib.loads(Path(__file__).with_name("runs.toml").read_text())["run"]
EXITS = {"ok": qemu.OK, "failed": qemu.FAILED, "panicked": qemu.PANICKED, "hung": qemu.HUNG, "refused": qemu.REFUSED}
OF_THE_TEST = ("name", "soak", "run", "exit", "expected", "absent")


def test_names_are_unique() -> None:
    names = [case["name"] for case in RUNS]
    assert sorted(names) == sorted(set(names))


def test_lines_of_a_run_that_did_not_end_do_not_count() -> None:
    """Otherwise a program in an endless loop passes, after the time limit."""
    with pytest.raises(AssertionError, match="did not end in time"):
        Result(qemu.TIMED_OUT, "hello\n").check_lines(["^hello$"])


@pytest.mark.parametrize(
    "case", soak_but(RUNS, *(case for case in RUNS if not case.get("soak"))), ids=[case["name"] for case in RUNS]
)
def test_run(case: dict) -> None:
    result = boot(case["run"], **{name: value for name, value in case.items() if name not in OF_THE_TEST})
    result.check_exit(EXITS[case.get("exit", "ok")]).check_lines(case["expected"])
    for pattern in case.get("absent", []):
        found = [line for line in result.console.splitlines() if re.search(pattern, line)]
        assert not found, f"{result.command}\nlines that match {pattern!r}: {found}"
