"""Proofs by exhaustive trial (kernel/.../*_proof_test.c), with larger bounds than in `make check`."""

from __future__ import annotations

import os
import re
import subprocess

import pytest
from tidemark.machine import qemu


def prove(program: str, **bounds: str) -> list[int]:
    """Runs a proof with these bounds; returns the numbers in its note."""
    command = qemu.ROOT / "build/host/kernel/mm" / program
    ran = subprocess.run([command], env={**os.environ, **bounds}, capture_output=True, text=True, timeout=1700)
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr
    note = re.findall(r"^    # \d.*", ran.stdout, re.MULTILINE)[0]
    print(note)
    return [int(n) for n in re.findall(r"\d+", note)]


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_buddy_allocator_in_all_memories_of_8_frames() -> None:
    states, calls = prove("frame/buddy_proof_test", FRAMES="8")
    assert calls > states > 1_000_000


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_rules_of_the_seam_in_all_sequences_of_6_calls() -> None:
    sequences, broken = prove("seam/rules_proof_test", DEPTH="6")
    assert sequences > broken > 1_000_000
