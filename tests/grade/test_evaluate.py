"""`tidemark evaluate` on files: what is refused and why, and what a good policy's numbers are.

Few cells and replicates, so that each case takes seconds. The numbers themselves are in tests/lab/test_score.py.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from grading import solution
from lab import skip_8_2
from tidemark.curves.runs import Choice, Selection
from tidemark.errors import BAD_INPUT, FAILED, INTERRUPTED
from tidemark.evaluate import booted, evaluation, least, simulated, workshop
from tidemark.evaluate.evaluation import Evaluation, Request, evaluate
from tidemark.grade.build.sandbox import Sandbox, best
from tidemark.machine import qemu
from tidemark.trace.format import Reader
from tidemark.trace.record import record

pytestmark = pytest.mark.graded

CLOCK = solution("kernel/mm/policy/clock.c")
SELECT = "static struct page *clock_select(struct vm_scan *scan)\n{\n"


@pytest.fixture(scope="module")
def box() -> Sandbox:
    return best()


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """One replicate of a string, of an overload, and of the cell with a disk; and a short run for the cost."""
    monkeypatch.setattr(evaluation, "numbers", lambda half, seed: [1] if half == "public" else [seed * 1000 + 1])
    small = (booted.CELLS[3], booted.Booted("file", "filemix /mnt/f {size:1024} {size:10240} 1 2", has_disk=True))
    monkeypatch.setattr(booted, "CELLS", small)
    zipf = [cell for cell in simulated.cells() if cell.name == "zipf"]
    monkeypatch.setattr(simulated, "cells", lambda: zipf)
    monkeypatch.setattr(booted, "COST_RUN", "seqscan 10240 1")
    monkeypatch.setattr(booted, "COST_MEM", "12M")


def policy(folder: Path, name: str, text: str = CLOCK) -> Path:
    """A file of that name; in the text, the policy `clock` gets the name."""
    path = folder / f"{name}.c"
    path.write_text(text.replace('.name = "clock"', f'.name = "{name}"'))
    return path


def with_select(code: str) -> str:
    """CLOCK with these statements at the beginning of select."""
    assert SELECT in CLOCK
    return CLOCK.replace(SELECT, f"{SELECT}\t{code}\n")


def refused(path: Path, box: Sandbox) -> tuple[str, str, str, int]:
    """(stage, rule, sentence, exit status) of a refused policy."""
    made = evaluate(Request(path, 7), box)
    assert made.refusal and made.told["verdict"] == "refused" and made.told["public"] is None
    return made.refusal.stage, made.refusal.rule, made.refusal.said, made.refusal.status


# --- files that cannot be policies ---


@pytest.mark.parametrize(
    ("name", "content", "rule", "said"),
    [
        ("mine.c", None, "file", "cannot be read: No such file"),
        ("mine.c", " \n", "file", "is empty"),
        ("mine.c", "x" * (workshop.MOST_SOURCE + 1), "file", "more than 1 MiB"),
        ("clock.c", CLOCK, "name", "the tree has a kernel/mm/policy/clock.c already"),
        ("My.c", CLOCK, "name", "not the name of a policy's file"),
        ("mine.txt", CLOCK, "name", "not the name of a policy's file"),
        ("min.c", CLOCK, "name", "needs the future"),
    ],
)
def test_file_that_cannot_be_a_policy(
    tmp_path: Path, box: Sandbox, name: str, content: str | None, rule: str, said: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    found = refused(tmp_path / name, box)
    assert found[:2] == ("file", rule) and said in found[2] and "\n" not in found[2] and found[3] == BAD_INPUT


def test_folder_and_terminal_are_not_files(tmp_path: Path, box: Sandbox) -> None:
    for path in (tmp_path, Path("/dev/ptmx")):
        assert refused(path, box)[1] == "file"


# --- policies that are refused ---


@pytest.mark.parametrize(
    ("text", "stage", "rule", "said"),
    [
        (CLOCK.replace(SELECT, "int x = ;\n" + SELECT), "compile", "compile", "error: expected expression"),
        ('#include "mm/policy.h"\n', "object", "policy", "it has no line VM_POLICY"),
        (CLOCK.replace('"clock"', '"fifo"'), "object", "policy", "it must be the file's name, 'mine'"),
        (with_select('asm volatile("cli");'), "object", "plain-c", "`asm` is refused"),
        (with_select("while (1) ;"), "simulator", "time", "select has not returned"),
        (with_select("*(volatile u32 *)0xc0105000 = 1;"), "simulator", "memory", "SEGV in clock_select() at kernel"),
        (with_select("if (scan) return NULL;"), "simulator", "none", "3 pages are eligible"),
        # Good in the simulator, which has fewer frames.
        (
            with_select("if (vm_frames() > 1500) max_pfn = 5;").replace(
                '#include "mm/policy.h"', '#include "mm/policy.h"\n#include "mm/page.h"'
            ),
            "kernel",
            "memory",
            "writes to max_pfn, which is not its own",
        ),
        (with_select("if (vm_frames() > 1500) return NULL;"), "kernel", "none", "rule=none"),
    ],
    ids=["syntax", "no-policy", "name", "assembly", "endless", "wild", "null", "wild-in-kernel", "null-in-kernel"],
)
def test_policy_that_is_refused(
    tmp_path: Path, box: Sandbox, few: None, text: str, stage: str, rule: str, said: str
) -> None:
    found = refused(policy(tmp_path, "mine", text), box)
    assert found[:2] == (stage, rule) and said in found[2] and found[3] == FAILED
    if stage != "compile":
        assert "\n" not in found[2].strip() or rule == "plain-c"


def test_fewer_faults_than_min_are_not_believed(
    tmp_path: Path, box: Sandbox, few: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulated, "least", lambda cell, replicate: 10**6)
    assert refused(policy(tmp_path, "mine"), box)[:2] == ("simulator", "min")


# --- a policy that is accepted ---


def ratios(made: Evaluation) -> np.ndarray:
    """The values of all parts, public and held out."""
    return np.array(
        [
            made.told[half]["parts"][part]["ratio"]
            for half in evaluation.HALVES
            for part in ("strings", "machine", "hooks")
        ]
    )


def test_copy_of_clock_is_as_good_as_clock(tmp_path: Path, box: Sandbox, few: None) -> None:
    """The kernel with both is larger by a page or two; so the copy's numbers differ a little from the original's."""
    own = evaluate(Request(qemu.ROOT / "kernel/mm/policy/clock.c", 7), box)
    copy = evaluate(Request(policy(tmp_path, "mine"), 7), box)
    assert own.told["verdict"] == copy.told["verdict"] == "accepted", (own.refusal, copy.refusal)
    assert own.told["policy"] == "clock" and own.told["file_sha256"] and own.told["kernel_sha256"]
    assert (ratios(own) >= 1).all() and np.allclose(ratios(own), ratios(copy), rtol=0.1)
    strings = [made.told["public"]["strings"] for made in (own, copy)]
    assert strings[0] == strings[1]  # the simulator has no other policy
    assert json.loads(json.dumps(own.told)) == own.told
    assert own.told["cost"]["hook_instructions_per_fault"] > 10
    public, held_out = (own.told[half]["machine"][0]["time_s"] for half in evaluation.HALVES)
    assert public != held_out


# --- the least, and Ctrl-C ---


@pytest.mark.parametrize(
    ("run", "wanted"),
    [
        ("pattern zipf 400 300 --seed 77", least.zipf(100, 300, 77)),
        ("phase 400 80 3 100 --seed 77", least.phases(100, 20, 3, 100, 77)),
    ],
)
def test_program_refers_to_the_pages_that_are_computed(tmp_path: Path, run: str, wanted: np.ndarray) -> None:
    skip_8_2()
    made = record(qemu.Settings(run=run, mem="16M"), tmp_path / "run")
    reader, pieces = Reader(made.trace), []
    selection = Selection(Choice(next(row["space"] for row in reader.spaces if row["name"] == run.split()[0])))
    for batch in selection.batches(iter(reader)):
        pieces.append(selection.pages()[1][batch.pages])
    pages = np.concatenate(pieces).astype(np.int64)

    def without_repetitions(string: np.ndarray) -> list[int]:
        return string[np.diff(string, prepend=-1) != 0].tolist()

    starts, nr_pages = np.unique(pages), int(wanted.max()) + 1
    found = [pages[(pages >= start) & (pages < start + nr_pages)] - start for start in starts]
    assert without_repetitions(wanted.astype(np.int64)) in [without_repetitions(one) for one in found]


def test_ctrl_c_leaves_nothing_behind(tmp_path: Path) -> None:
    path = policy(tmp_path, "mine")
    env = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(qemu.ROOT / "tools")}
    command = [sys.executable, "-m", "tidemark.cli", "evaluate", str(path), "-q", "--seed", "7"]
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 200
    while not list(tmp_path.glob("tidemark-evaluate-*/runs/*/evidence")) and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED and not out
    assert err.splitlines()[-1] == "tidemark: stopped; there is no result"
    assert [one.name for one in tmp_path.iterdir()] == ["mine.c"]
