"""A compiler as the workload: `make -j3` with Debian's gcc compiles Tidemark's user programs and Lua, in the guest.

The image has the packages of `make image` and, in /root/work, the sources and a Makefile. The same files are compiled
on the host first, by the same i386 programs of the same packages: bwrap runs them with the image's content as /. The
guest's objects, read back from the disk, must be equal to those bit by bit; then no page of the compiler, its libraries
or the sources was damaged on the way to memory and back. Each run starts with a copy of the same image. A run of more
than LIMIT_S of host time is stopped; its row says how far its virtual time was then.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from itertools import product
from pathlib import Path

from debian import __main__ as command
from debian import fetch, image, packages, tree
from tidemark import files
from tidemark.errors import FAILED, LabError
from tidemark.machine import qemu

from figures import common, documents
from figures.entries import Figure

WORK = "root/work"
LUA = packages.Package(
    "lua5.4-source",
    "5.4.4",
    1400,
    360876,
    "164c7849653b80ae67bec4b7473b884bf5cc8d2dca05653475ec2ed27b9ebf61",
    "pool/main/l/lua5.4/lua5.4_5.4.4.orig.tar.gz",
    (),
)
MAKEFILE = """OBJECTS := $(patsubst %.c,%.o,$(wildcard user/*.c lua/*.c))
lua.out: $(OBJECTS)
\tgcc -o $@ $(filter-out lua/luac.o,$(filter lua/%,$^)) -lm
%.o: %.c
\tgcc -O1 -Iuser/lib -c -o $@ $<
"""
LINKED = "lua.out"
RUN = f"make -j3 -C /{WORK} >/dev/null && /{WORK}/{LINKED} -v"
LIMIT_S = 3300


def add_sources(folder: Path, lua: Path) -> None:
    """Put the sources and the Makefile into the folder of the image."""
    work = folder / WORK
    shutil.copytree(qemu.ROOT / "user/lib", work / "user/lib", ignore=shutil.ignore_patterns("*.c"))
    for file in sorted((qemu.ROOT / "user").glob("*.c")):
        shutil.copyfile(file, work / "user" / file.name)
    (work / "lua").mkdir()
    words = ["--strip-components=2", "--no-same-owner", "lua-5.4.4/src"]
    subprocess.run(["tar", "-xf", lua, "-C", work / "lua", *words], check=True)
    (work / "Makefile").write_text(MAKEFILE)


def digests(work: Path) -> dict[str, str]:
    """The hash of everything that was compiled or linked, by name."""
    made = [*work.rglob("*.o"), work / LINKED]
    return {str(file.relative_to(work)): files.sha256(file) for file in made if file.is_file()}


def on_host(folder: Path) -> dict[str, str]:
    """Compile with the image's programs on the host; the hashes."""
    words = ["bwrap", "--unshare-all", "--bind", str(folder), "/", "--dev", "/dev", "--proc", "/proc"]
    words += ["--setenv", "PATH", "/bin", "make", "-j3", "-C", f"/{WORK}"]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise LabError(f"the host could not compile:\n{done.stderr[-2000:]}", FAILED)
    return digests(folder / WORK)


def in_guest(disk: Path, vm: str, mem: str, kind: str) -> tuple[common.Outcome, dict[str, str]]:
    """One run on a copy of the image: its console and telemetry, and the hashes. The console of a run that was stopped
    is empty."""
    with tempfile.TemporaryDirectory(prefix="tidemark-compile-", dir=disk.parent) as name:
        copy, out, telemetry = Path(name, "disk"), Path(name, "out"), Path(name, "telemetry")
        shutil.copyfile(disk, copy)
        out.mkdir()
        s = qemu.Settings(
            vm=vm,
            mem=mem,
            swap=kind,
            disk=str(copy),
            disk_kind=kind,
            cmdline="root=sda",
            run=RUN,
            timeout=LIMIT_S,
            telemetry=str(telemetry),
        )
        console = Path(name, "console")
        with console.open("wb") as file:
            code, _ = qemu.run_command(s, file)
        text = console.read_text("ascii", "replace").replace("\r", "")
        if code == qemu.TIMED_OUT:
            return common.Outcome(LIMIT_S, "", telemetry.read_text("ascii")), {}
        if code != qemu.OK:
            raise LabError(f"{qemu.command_line(s)}\nended with {code}:\n{text[-2000:]}", FAILED)
        dump = [image.tool("debugfs"), "-R", f"rdump /{WORK} {out}", str(copy)]
        subprocess.run(dump, check=True, capture_output=True)
        return common.Outcome(0, text, ""), digests(out / "work")


def prepare(work: Path) -> tuple[Path, dict[str, str]]:
    """The image, and the hashes of what the host compiled from it."""
    listing = packages.read()
    where = fetch.places(listing)
    archives = fetch.fetch(packages.needed(listing, command.USUAL.split()), where)
    lua = fetch.fetch([LUA], where)[0]
    folder, disk = work / "tree", work / "compile.ext2"
    tree.make(archives, qemu.ROOT / qemu.INITRD, folder)
    add_sources(folder, lua)
    image.make(folder, disk, "")
    expected = on_host(folder)
    shutil.rmtree(folder)
    return disk, expected


def virtual_s(telemetry: str) -> int:
    """The virtual time of the last complete sample, whole seconds. The last line of the telemetry may be cut."""
    samples = [line for line in telemetry.splitlines(keepends=True) if '"ev":"sample"' in line and line.endswith("\n")]
    return json.loads(samples[-1])["t_us"] // 10**6 if samples else 0


def row(run: common.Outcome, made: Mapping[str, str], expected: Mapping[str, str]) -> str:
    """The cells of one run after its policy and memory."""
    if not run.console:
        return f"not finished after {virtual_s(run.telemetry):,} | | | | | |"
    equal = sum(made.get(name) == digest for name, digest in expected.items())
    swap = re.search(r"swap: (\d+) pages in, (\d+) out", run.console)
    into, out = (int(text) for text in swap.groups()) if swap else (0, 0)
    total, busy, major = (run.named(name) for name in ("total_s", "utilisation", "major_faults"))
    numbers = f"{total:.1f} | {busy:.0f} % | {major:,} | {into:,} | {out:,}"
    return f"{numbers} | {equal} of {len(expected)} |"


def make(figure: Figure, work: Path) -> str:
    """The table: each policy of `policies` in each memory of `mems`. The figure's folder keeps the rows of finished
    runs for the next command."""
    disk, expected = prepare(work)

    def made(case: tuple[str, str]) -> str:
        mem, vm = case
        kept = work / f"{vm}-{mem}.row"
        if not kept.exists():
            cells = row(*in_guest(disk, vm, mem, figure.settings["disk"]), expected)
            documents.write(kept, f"| `{vm}` | {mem} | {cells}")
        return kept.read_text()

    lines = [
        "| policy | MEM | virtual s | utilisation | major faults | pages swapped in | out | files equal |",
        "|---|---|---|---|---|---|---|---|",
    ]
    cases = product(figure.settings["mems"], figure.settings["policies"])
    return "\n".join([*lines, *common.in_parallel(made, cases)])
