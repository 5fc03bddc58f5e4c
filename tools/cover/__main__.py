"""make coverage: runs tests, and lists the lines of the kernel that none of them ran.

The table has, by folder, the number of lines with code, of those that ran in a guest, and of those that ran there or in
a host test. Below it stand the lines that never ran and have no reason in reasons.toml. build/coverage keeps what was
gathered: --report prints it again, --add runs more tests of the same kernel.

A line counts if `.debug_line` of build/tidemark.elf gives code for it, and if it contains more than a brace; the tests
that are linked into the kernel (x_ktest.c) do not count. The kernel is the ordinary one, compiled with -O2: a line
whose code the compiler has merged with another line's does not count. A line has run if an instruction of its code was
executed in a guest: every QEMU that the tests start has the plugin (tools/plugin/cover.c), which records each executed
address once and changes nothing. It has also run if a test on the host ran it: those tests are built again with
--coverage and read by gcov. Runs under gdb, kernels of other trees, the simulator, and runs that use the plugin for
something else are left out.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Set
from pathlib import Path, PurePosixPath

import numpy as np
import numpy.typing as npt
from tidemark.grade.witness import lines
from tidemark.grade.witness.lines import Line
from tidemark.machine import coverage, qemu

from cover import host, reasons

FOLDER = qemu.ROOT / "build/coverage"
RUNS, HOST, KERNEL = FOLDER / "runs", FOLDER / "host.json", FOLDER / "kernel"
USUAL = ["tests/kernel", "tests/lab"]  # the other tests run kernels of other trees, or run under gdb


def executed(*folders: Path) -> npt.NDArray[np.uint32]:
    """The addresses, in order, that tests executed; each folder is one of RUNS."""
    files = [path for folder in folders for path in folder.glob(f"*{coverage.SUFFIX}")]
    found = np.zeros(0, dtype=np.uint32)
    for path in files:
        found = np.union1d(found, np.fromfile(path, dtype=np.uint32))
    return found


def begin(add: bool) -> None:
    """Deletes what was gathered, unless `add`; then exits if it belongs to another kernel."""
    kernel = hashlib.sha256((qemu.ROOT / qemu.KERNEL).read_bytes()).hexdigest()
    if not add:
        shutil.rmtree(FOLDER, ignore_errors=True)
        RUNS.mkdir(parents=True)
        KERNEL.write_text(kernel)
    elif not KERNEL.exists() or KERNEL.read_text() != kernel:
        sys.exit("coverage: the gathered data belong to another kernel; without --add they are gathered again")


def gather(arguments: list[str]) -> int:
    """Runs pytest, with every QEMU watched, then the host tests. Returns pytest's status."""
    times = f"--junitxml={FOLDER}/times-{os.getpid()}.xml"
    watched = {**os.environ, coverage.FOLDER: str(RUNS)}
    status = subprocess.run([sys.executable, "-m", "pytest", times, *arguments], cwd=qemu.ROOT, env=watched).returncode
    if not HOST.exists():
        print("== the tests on the host, built with gcov", flush=True)
        HOST.write_text(json.dumps(sorted(host.run(qemu.ROOT))))
    return status


def table(all_lines: Set[Line], guest: Set[Line], either: Set[Line]) -> Iterator[str]:
    """A row for each folder, and one for the sum."""
    rows: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for line in all_lines:
        for name in (str(PurePosixPath(line[0]).parent), "all"):
            for column, lines_there in enumerate((all_lines, guest, either)):
                rows[name][column] += line in lines_there
    yield f"{'folder':28} {'lines':>6} {'guest':>6} {'+ host':>6} {'never':>6} {'run':>7}"
    for name, (total, in_guest, ran) in sorted(rows.items(), key=lambda row: (row[0] == "all", row[0])):
        yield f"{name:28} {total:6} {in_guest:6} {ran:6} {total - ran:6} {ran / total:7.1%}"


def listed(never: Iterable[Line]) -> Iterator[str]:
    """The lines themselves, by file; the file with the most lines first."""
    by_file: dict[str, list[int]] = defaultdict(list)
    for file, number in sorted(never):
        by_file[file].append(number)
    for file, numbers in sorted(by_file.items(), key=lambda item: -len(item[1])):
        source = (qemu.ROOT / file).read_text().splitlines()
        yield ""
        yield from (f"{file}:{number}: {source[number - 1].strip()}" for number in numbers)


def report() -> None:
    """Prints the table and the list of what was gathered."""
    code = lines.ranges(qemu.ROOT, qemu.ROOT / qemu.KERNEL)
    guest = lines.run(code, executed(*RUNS.iterdir()))
    on_host = {(file, number) for file, number in json.loads(HOST.read_text())} if HOST.exists() else set()
    either = guest | (on_host & code.keys())
    print(*table(code.keys(), guest, either), sep="\n")
    never = code.keys() - either
    unexplained = reasons.without(qemu.ROOT, never)
    print(f"\n{len(never)} lines never ran; {reasons.TABLE.name} explains {len(never) - len(unexplained)}. The others:")
    print(*listed(unexplained), sep="\n")


def main() -> int:
    """Gathers, unless --report; then prints."""
    parser = argparse.ArgumentParser(
        usage="python -m cover [--report | --add] [PYTEST-ARGUMENT...]", description=__doc__
    )
    parser.add_argument("--report", action="store_true", help="print again what the last run gathered")
    parser.add_argument("--add", action="store_true", help="add to what was gathered for the same kernel")
    args, tests = parser.parse_known_args()
    status = 0
    if not args.report:
        begin(args.add)
        status = gather(tests or USUAL)
    report()
    return status


if __name__ == "__main__":
    sys.exit(main())
