"""mode=count of QEMU's plugin: the instructions between two marks of a program, compared with the clock of an exact
run."""

from __future__ import annotations

import re
from pathlib import Path

from guest import boot
from tidemark.machine import plugin

CALLS, PASSES = 256, 3
NAMES = ("pread_4096", "pread_1", "pwrite_4096", "pwrite_1")
CLOCK_CALL = range(40, 300)  # instructions between a mark and the reading of the clock


def test_marks_count_what_the_clock_counts(tmp_path: Path) -> None:
    """In an exact run an instruction takes a nanosecond. The program takes the time outside its marks."""
    flags = plugin.flags("count", out=tmp_path / "counts")
    ran = boot(f"files copy /tmp {PASSES}", swap="none", qemu_flags=flags).check_exit()
    pairs = [[int(word) for word in line.split()] for line in (tmp_path / "counts").read_text().splitlines()]
    assert [calls for _, _, calls in pairs] == [CALLS] * PASSES * len(NAMES)
    for at, name in enumerate(NAMES):
        found = re.search(rf"^R {name} .* med=([\d.]+)", ran.console, re.MULTILINE)
        assert found
        counted = sorted(kernel + user for kernel, user, _ in pairs[at * PASSES :][:PASSES])[PASSES // 2]
        assert round(float(found[1]) * CALLS) - counted in CLOCK_CALL, name


def test_what_the_program_does_itself_is_apart(tmp_path: Path) -> None:
    """Copying one more page is the kernel's work: it costs the program nothing."""
    flags = plugin.flags("count", out=tmp_path / "counts")
    boot("files copy /tmp 1", swap="none", qemu_flags=flags).check_exit()
    page, byte = ([int(word) for word in line.split()] for line in (tmp_path / "counts").read_text().splitlines()[:2])
    assert page[1] == byte[1] > CALLS
    assert page[0] - byte[0] > CALLS * 500
