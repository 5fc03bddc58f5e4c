"""What a QEMU makes of the same runs: `python -m qemus FOLDER` prints a digest of everything that must be the same with
every version, with the QEMU that PATH has. FOLDER is empty, for scratch.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from gdbstub import Stub
from grading import starter, submission
from guest import boot
from tidemark import places, plugin, qemu, results
from tidemark.grade import grading
from tidemark.grade.build import sandbox
from tidemark.grade.witness import evidence

FETCHED = qemu.ROOT / "build/qemus"  # tools/qemus.sh: a folder for each suite, with bin/qemu-system-i386
RUNS = {
    "2q on a slow disk": ("--mem", "8M", "--swap", "sim:hdd", "thrash", "3", "2048", "2"),
    "ws": ("--vm", "ws", "--mem", "8M", "thrash", "4", "2048", "2"),
    "failing disk": ("--mem", "8M", "--cmdline", "fail=read:3", "thrash", "3", "2048", "2"),
    "panic": ("--cmdline", "crash=null", "true"),
}
FILES = ("--mem", "8M", "--disk", "16M", "--", "filescan", "/mnt/a", "0", "fill", "--kb", "8192")
MIB, SIZE = 1 << 20, 8 << 20
RF = 1 << 16
LIKE_EFLAGS = 1 << 17  # words below this may be eflags
SHARES = (0.2, 0.4, 0.6, 0.8)  # of a run's instructions: where gdb looks


def version(folder: Path | None) -> str:
    """QEMU's version: that of a folder of FETCHED, or the one in PATH."""
    program = folder / "bin" / qemu.PROGRAM if folder else qemu.PROGRAM
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    return said.split()[3]


def fetched() -> list[Path]:
    """The QEMUs that tools/qemus.sh has fetched."""
    return sorted(path.parents[1] for path in FETCHED.glob(f"*/bin/{qemu.PROGRAM}"))


def digest(*parts: bytes) -> str:
    """One for all of them."""
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def tidemark(*words: str) -> None:
    """A command of the lab; its status is of no interest, since a guest may have panicked."""
    subprocess.run([sys.executable, "-m", "tidemark.cli", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def runs(scratch: Path) -> Iterator[tuple[str, str]]:
    """Consoles and telemetry."""
    for name, words in RUNS.items():
        folder = scratch / name.replace(" ", "-")
        tidemark("run", "-q", "-o", str(folder), *words)
        for file in (results.CONSOLE, results.TELEMETRY):
            text = re.sub(rb"eflags=0001", b"eflags=0000", (folder / file).read_bytes())
            yield f"{name}: {file}", digest(text)


def traces(scratch: Path) -> Iterator[tuple[str, str]]:
    """Every reference, without and with files."""
    for name, words in (("trace", RUNS["ws"]), ("trace of files", FILES)):
        folder = scratch / name.replace(" ", "-")
        tidemark("trace", "record", "-o", str(folder), *words)
        yield name, digest((folder / "trace.tmt").read_bytes())


def modes(scratch: Path) -> Iterator[tuple[str, str]]:
    """What the plugin's other modes write."""
    functions = ("kernel_pgdir", "copy_page", "copy_sectors", "clear_page", "pgd_destroy")
    names = dict(zip(("directory", "copy", "sectors", "clear", "death"), plugin.addresses(qemu.ROOT, *functions)))
    options = {
        "count": {},
        "cover": {},
        "profile": {"symbols": str(plugin.symbols(qemu.ROOT))},
        "evidence": {"store": str(SIZE), **{name: hex(at) for name, at in names.items()}},
    }
    for mode, more in options.items():
        out = scratch / mode
        command = "files copy /tmp 1" if mode == "count" else "thrash 3 2048 1"
        boot(command, mem="8M", swap="sim:ssd", qemu_flags=plugin.flags(mode, out=out, **more)).check_exit()
        yield f"mode={mode}", digest(without_bios(out.read_bytes()) if mode == "evidence" else out.read_bytes())


def without_bios(data: bytes) -> bytes:
    """Evidence whose instructions count from its first record on, without QEMU's clock at the end."""
    records = np.frombuffer(data, evidence.EVENT).copy()
    records["all"] -= records["all"][0]
    records[["a", "b"]][-1] = 0, 0
    return records.tobytes()


def memory(stub: Stub, scratch: Path) -> bytes:
    """What lies above the BIOS, without RF."""
    file = scratch / "memory"
    stub.monitor(f'pmemsave {MIB} {SIZE - MIB} "{file}"')
    words = np.fromfile(file, "<u4")
    words[words < LIKE_EFLAGS] &= ~np.uint32(RF)
    return words.tobytes()


def going_back(scratch: Path) -> Iterator[tuple[str, str]]:
    """Registers and memory at places of a run, and what happened before them."""
    run = places.Places(results.load(scratch / "2q-on-a-slow-disk"), qemu.ROOT, scratch)
    insert = places.instructions(qemu.ROOT, "policy_call_insert")
    try:
        events = run.past(pcs=insert)
        yield "past", digest(json.dumps(events).encode())
        for nth in (int(share * len(events)) for share in SHARES):
            arrived = run.go(places.Place("here", pc=insert, nth=nth))
            with Stub(arrived.gdb) as stub:
                # The general registers, eip and eflags: what QEMU tells gdb besides grows with its versions.
                words = f"{arrived.ns} {stub.registers()[: 10 * 8]}"
                yield f"place {nth}", digest(words.encode(), memory(stub, scratch))
    finally:
        run.close()


def grades(scratch: Path) -> Iterator[tuple[str, str]]:
    """What a solution and two starters come to, in words."""
    for name, files in (("clock", ()), ("clock", ("kernel/mm/policy/clock.c",)), ("cfs", ("kernel/sched/fair.c",))):
        place = scratch / f"{name}-{len(files)}"
        handed_in = submission(place / "handed-in", name, {file: starter(name, file) for file in files})
        # No sandbox: it would hide this QEMU, and the code is ours.
        made = grading.grade(qemu.ROOT, handed_in, name, None, place / "work", sandbox.find("none"), jobs=1)
        said = [(one.test.title, one.verdict.outcome.name, one.points, one.verdict.message) for one in made.tests]
        yield f"{name}, {'starter' if files else 'solution'}: {made.score:g}", digest(json.dumps(said).encode())


def digests(scratch: Path) -> dict[str, str]:
    """All of them, by name."""
    return dict(pair for part in (runs, traces, modes, going_back, grades) for pair in part(scratch))


def of(folder: Path | None, scratch: Path) -> dict[str, str]:
    """The digests with a fetched QEMU, or, None, the one in PATH: in a process of its own."""
    path = os.environ["PATH"]
    env = os.environ | {"PATH": f"{folder / 'bin'}:{path}" if folder else path}
    env["PYTHONPATH"] = os.pathsep.join((str(qemu.ROOT / "tools"), str(Path(__file__).parent)))
    made = subprocess.run([sys.executable, "-m", "qemus", str(scratch)], env=env, capture_output=True, text=True)
    if made.returncode:
        raise RuntimeError(made.stderr[-3000:])
    found: dict[str, str] = json.loads(made.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    print(json.dumps(digests(Path(sys.argv[1]))))
