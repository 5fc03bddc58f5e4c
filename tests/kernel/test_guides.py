"""The examples of docs/guide, applied to a copy of the tree as a reader would, and run."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from guest import boot
from test_runs import EXITS, OF_THE_TEST, tomllib
from tidemark.grade.build.tree import copy_built
from tidemark.machine import qemu

GUIDES = qemu.ROOT / "docs/guide"


def blocks(guide: str) -> list[str]:
    """The code blocks of a guide that have a language, in order."""
    return re.findall(r"(?ms)^```\w+\n(.*?)^```$", (GUIDES / guide).read_text())


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1, f"{path}: {old!r} is there {text.count(old)} times"
    path.write_text(text.replace(old, new))


def add_what_the_guides_say(copy: Path) -> None:
    (copy / "user/workloads/zigzag.c").write_text(blocks("add-a-workload.md")[0])
    line, function, program, demand, _ = blocks("add-a-system-call.md")
    replace(copy / "kernel/syscall/list.h", "NONE(222, unused)\n", line)
    with (copy / "kernel/syscall/info.c").open("a") as calls:
        calls.write("\n" + function)
    (copy / "user/resident.c").write_text(program)
    replace(copy / "user/conformance/wild.c", '\t{ "set_thread_area"', demand + '\t{ "set_thread_area"')

    (copy / "kernel/mm/policy/myaging.c").write_text(blocks("add-a-policy.md")[0])
    (copy / "kernel/mm/guard/elder.c").write_text(blocks("add-a-guard.md")[0])


def run_of(guide: str, tree: Path) -> None:
    """Runs the entry of runs.toml that a guide adds."""
    block = next(text for text in blocks(guide) if text.startswith("[[run]]"))
    (case,) = tomllib.loads(block)["run"]
    result = boot(case["run"], image=tree, **{name: value for name, value in case.items() if name not in OF_THE_TEST})
    result.check_exit(EXITS[case.get("exit", "ok")]).check_lines(case["expected"])


@pytest.mark.soak
def test_examples_work(tmp_path: Path) -> None:
    """All in one tree, because building it takes long."""
    tree = tmp_path / "tree"
    copy_built(qemu.ROOT, tree)
    add_what_the_guides_say(tree)
    env = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    make = ["make", "--no-print-directory", "WERROR=1"]
    made = subprocess.run(make, cwd=tree, env=env, capture_output=True, text=True, timeout=200, check=False)
    assert made.returncode == 0, made.stderr
    run_of("add-a-workload.md", tree)
    run_of("add-a-system-call.md", tree)
    boot("wild 222", image=tree).check_exit().check_lines(["^R wild calls=7 efault=6 failures=0$"])
    show = "cat /proc/vm/policy /proc/vm/guard /proc/vm/check"
    run = f"seqscan 24576 2 w; {show}"
    result = boot(run, vm="myaging", mem="16M", swap="sim:ssd", cmdline="guard=elder", image=tree)
    expected = [
        "corrupt=0$",
        "^policy: myaging$",
        "^violations: 0$",
        r"^ticks: [1-9]\d*$",
        r"^spared: [1-9]\d*$",
        "^ok$",
    ]
    result.check_exit().check_lines(expected)
