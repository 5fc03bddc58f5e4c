"""The vDSO and system calls by sysenter: what programs find, with and without the instruction."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import ext2
import pytest
from guest import Result, boot
from tidemark.machine import qemu

NO_SYSENTER = "-cpu qemu32,-sep"
SAMPLES_MS = (0, 1, 3)


def run_program(tmp_path: Path, command: str, **choices: str | bool) -> Result:
    """Runs one of the programs of tests/kernel/rare from a disk."""
    content = tmp_path / "content"
    content.mkdir(exist_ok=True)
    name = command.split()[0]
    (content / name).write_bytes((qemu.ROOT / "build/user" / name).read_bytes())
    (content / name).chmod(0o755)
    image = ext2.make(tmp_path / "image", "1M", content=content)
    line = f"mkdir /mnt /tmp; mount -t ext2 /dev/sda /mnt; /mnt/{command}; cat /proc/vm/check"
    return boot(line, disk=image, disk_kind="sim:ram", **choices)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "choices",
    [{}, {"qemu_flags": NO_SYSENTER}, {"exact": False}, {"mem": "96M", "cmdline": "lowmem=64M"}],
    ids=["exact", "without sysenter", "scaled time", "high memory"],
)
def test_library_is_as_on_linux(tmp_path: Path, choices: dict[str, str]) -> None:
    """Compares the library's symbols, clocks and pages. Unless time is exact, the TSC does not count nanoseconds."""
    run = run_program(tmp_path, "vdso", **choices).check_exit()
    run.check_lines([r"^R vdso checks=\d+ failures=0$", "^ok$"])


def test_library_passes_on_linux() -> None:
    linux = subprocess.run([qemu.ROOT / "build/user/vdso"], capture_output=True, text=True)
    assert re.fullmatch(r"R vdso checks=\d+ failures=0\n", linux.stdout), linux.stdout + linux.stderr


def test_sysenter_with_any_registers(tmp_path: Path) -> None:
    run = run_program(tmp_path, "sysenter").check_exit()
    run.check_lines([r"^R sysenter checks=\d+ failures=0$", "^ok$"])


def test_sysenter_is_invalid_where_the_processor_lacks_it(tmp_path: Path) -> None:
    run = run_program(tmp_path, "sysenter", qemu_flags=NO_SYSENTER)
    run.check_lines([r"^sysenter\[\d+\]: (SIGILL|SIGSEGV)", "^ok$"])


def test_readings_do_not_show_that_the_clock_was_stopped(tmp_path: Path) -> None:
    """Samples stop the clock at instants between any two instructions of a reading."""
    runs = [
        run_program(
            tmp_path, "vdso 20000000", cmdline=f"sample_ms={ms} sample_percent=100", telemetry=True
        ).check_exit()
        for ms in SAMPLES_MS
    ]
    digests = {re.search(r"(?m)^digest (\w+)$", run.console)[1] for run in runs}  # type: ignore[index]
    assert len(digests) == 1
    for run, ms in zip(runs, SAMPLES_MS):
        run.check_lines([r"^R vdso checks=\d+ failures=0$"])
        taken = [record for record in run.telemetry if record["ev"] == "sample"]
        assert len(taken) > (50 if ms else 0)


def test_readings_of_two_programs_do_not_show_it_either(tmp_path: Path) -> None:
    """One may be interrupted within a reading, and continue after samples that were taken while the other ran."""
    both = "vdso 20000000 & /mnt/vdso 20000000; wait"
    run = run_program(tmp_path, both, cmdline="sample_ms=1 sample_percent=100").check_exit()
    assert len(re.findall(r"(?m)^R vdso checks=\d+ failures=0\r?$", run.console)) == 2, run.console


def test_small_machine_has_the_library_in_no_frames_of_its_own() -> None:
    """All programs share two frames, in the page table of their stacks."""
    run = boot("cat /proc/self/maps; sleep 1 & sleep 1 & sleep 1 & cat /proc/self/maps; wait", mem="4608K").check_exit()
    run.check_lines([r"^bfffd000-bffff000 r-xp 0+ 00:00 0 +\[vdso\]$"])
