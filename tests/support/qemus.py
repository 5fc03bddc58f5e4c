"""Runs the same things with different QEMUs: `python -m qemus FOLDER` prints a digest of everything that must be equal
with every version, with the QEMU in PATH, and leaves in FOLDER the files that `differing` compares with another QEMU's.

QEMU's own differences are allowed. Newer ones set RF (bit 16) in the eflags that a fault pushes, as processors do.
Each has its own BIOS, and the machine's clock runs from its first instruction. An instruction that QEMU must begin
twice, because it reads the clock in the middle of a block, counts twice. And a machine that was told to end does so a
little later.
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
from tidemark.debug import replay
from tidemark.grade import grading
from tidemark.grade.build import sandbox
from tidemark.grade.witness import evidence
from tidemark.machine import plugin, qemu
from tidemark.runs import results

FETCHED = qemu.ROOT / "build/qemus"  # from tools/qemus.sh: a folder for each suite, with bin/qemu-system-i386
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
TWICE = 16  # instructions that may have begun twice, of millions
ENDING = 8  # instructions that may still be executed after the machine was told to end
EVIDENCE, PROFILE, COVER = "evidence", "profile", "cover"
SHARES = (0.2, 0.4, 0.6, 0.8)  # fractions of a run's instructions at which gdb inspects it


def version(folder: Path | None) -> str:
    """The version of the QEMU in a folder of FETCHED, or of the one in PATH."""
    program = folder / "bin" / qemu.PROGRAM if folder else qemu.PROGRAM
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    return said.split()[3]


def fetched() -> list[Path]:
    """The QEMUs that tools/qemus.sh has fetched."""
    return sorted(path.parents[1] for path in FETCHED.glob(f"*/bin/{qemu.PROGRAM}"))


def digest(*parts: bytes) -> str:
    """One digest for all parts."""
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def tidemark(*words: str) -> None:
    """Runs a command of the lab; its status is ignored, because a guest may have panicked."""
    subprocess.run([sys.executable, "-m", "tidemark.cli", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def runs(scratch: Path) -> Iterator[tuple[str, str]]:
    """Digests of consoles and telemetry."""
    for name, words in RUNS.items():
        folder = scratch / name.replace(" ", "-")
        tidemark("run", "-q", "-o", str(folder), *words)
        for file in (results.CONSOLE, results.TELEMETRY):
            text = re.sub(rb"eflags=0001", b"eflags=0000", (folder / file).read_bytes())
            yield f"{name}: {file}", digest(text)


def traces(scratch: Path) -> Iterator[tuple[str, str]]:
    """Digests of every reference, without and with files."""
    for name, words in (("trace", RUNS["ws"]), ("trace of files", FILES)):
        folder = scratch / name.replace(" ", "-")
        tidemark("trace", "record", "-o", str(folder), *words)
        yield name, digest((folder / "trace.tmt").read_bytes())


def modes(scratch: Path) -> Iterator[tuple[str, str]]:
    """Digests of the output of the plugin's other modes."""
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
        if mode not in (EVIDENCE, PROFILE, COVER):
            yield f"mode={mode}", digest(out.read_bytes())


def state(stub: Stub, file: Path) -> None:
    """The general registers, eip, eflags, and all memory above the BIOS, as words, without RF."""
    stub.monitor(f'pmemsave {MIB} {SIZE - MIB} "{file}"')
    registers = bytes.fromhex(stub.registers()[: 10 * 8])
    words = np.frombuffer(registers + file.read_bytes(), "<u4").copy()
    words[words < LIKE_EFLAGS] &= ~np.uint32(RF)
    words.tofile(file)


def states_differ(one: Path, other: Path) -> bool:
    """Is there a difference other than in times that are all later by the same amount?"""
    a, b = (np.fromfile(path, "<u4") for path in (one, other))
    return len(a) != len(b) or len(np.unique((a - b)[a != b])) > 1


def evidence_differs(one: Path, other: Path) -> bool:
    """Is there a difference other than in the BIOS's instructions, and in QEMU's clock at the end?"""
    a, b = (np.fromfile(path, evidence.EVENT) for path in (one, other))
    if len(a) != len(b) or any(
        (a[:-1][name] != b[:-1][name]).any() for name in ("kind", "rule", "space", "a", "b", "user")
    ):
        return True
    later = a["all"].astype(int) - b["all"].astype(int)
    return bool(np.abs(later - later[0]).max() > TWICE)


def profiles_differ(one: Path, other: Path) -> bool:
    """Is there a difference other than in the row of the BIOS?"""
    a, b = (dict(line.rsplit(",", 1) for line in path.read_text().splitlines()[1:]) for path in (one, other))
    names = (a.keys() | b.keys()) - {"(boot)"}
    return sum(abs(int(a.get(name, 0)) - int(b.get(name, 0))) for name in names) > TWICE


def covers_differ(one: Path, other: Path) -> bool:
    """Has one machine executed an instruction that the other has not, except at the end?"""
    return len(np.setxor1d(*(np.fromfile(path, "<u4") for path in (one, other)))) > ENDING


def differing(one: Path, other: Path) -> list[str]:
    """The files that differ between two such folders by more than is allowed."""
    found = [path.name for path in sorted(one.glob("place-*")) if states_differ(path, other / path.name)]
    found += [EVIDENCE] * evidence_differs(one / EVIDENCE, other / EVIDENCE)
    found += [COVER] * covers_differ(one / COVER, other / COVER)
    return found + [PROFILE] * profiles_differ(one / PROFILE, other / PROFILE)


def going_back(scratch: Path) -> Iterator[tuple[str, str]]:
    """The places of a run, their states in files, and what happened before them."""
    run = replay.Places(results.load(scratch / "2q-on-a-slow-disk"), qemu.ROOT, scratch)
    insert = replay.instructions(qemu.ROOT, "policy_call_insert")
    try:
        events = run.past(pcs=insert)
        yield "past", digest(json.dumps(events).encode())
        for nth in (int(share * len(events)) for share in SHARES):
            arrived = run.go(replay.Place("here", pc=insert, nth=nth))
            with Stub(arrived.gdb) as stub:
                state(stub, scratch / f"place-{nth}")
            yield f"place {nth}", f"{arrived.ns} ns"
    finally:
        run.close()


def grades(scratch: Path) -> Iterator[tuple[str, str]]:
    """Digests of the gradings of one solution and of two starters: outcomes, points and messages."""
    for name, files in (("clock", ()), ("clock", ("kernel/mm/policy/clock.c",)), ("cfs", ("kernel/sched/fair.c",))):
        place = scratch / f"{name}-{len(files)}"
        handed_in = submission(place / "handed-in", name, {file: starter(name, file) for file in files})
        # No sandbox: it would hide this QEMU, and the code is our own.
        host = grading.Host(place / "work", sandbox.find("none"))
        made = grading.grade(grading.Request(qemu.ROOT, handed_in, name), host)
        said = [(one.test.title, one.verdict.outcome.name, one.points, one.verdict.message) for one in made.tests]
        yield f"{name}, {'starter' if files else 'solution'}: {made.score:g}", digest(json.dumps(said).encode())


def digests(scratch: Path) -> dict[str, str]:
    """All digests, by name."""
    return dict(pair for part in (runs, traces, modes, going_back, grades) for pair in part(scratch))


def of(folder: Path | None, scratch: Path) -> dict[str, str]:
    """The digests with a fetched QEMU or, for None, with the one in PATH: computed in a process of its own."""
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
