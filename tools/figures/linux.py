"""The benchmark programs compared with Linux: guest instructions of the same binaries on Tidemark and on Linux.

linux.toml has Linux's figures and their conditions. In an exact run an instruction is a nanosecond, so the times that
the programs print are numbers of instructions. The programs are not part of the project: their folder is build/bench.
"""

from __future__ import annotations

import itertools
import re
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tidemark.errors import FAILED, LabError
from tidemark.machine import qemu

from figures.common import in_parallel, measure, spread, table
from figures.entries import ROOT, Figure, tomllib

TOML, BENCH = Path(__file__).with_name("linux.toml"), ROOT / "build/bench"
PROGRAMS = ("micro", "thrash", "seqscan", "btree", "phase", "vmrun")
FOLDER = "bench"
AIM = 0.5
PAGING_SWAP = "sim:ram"
MICRO_MEM = "64M"
POLICIES = ("linux59", "mglru")
PAGE_KIB = 4
LEAST_READ = 1000  # pages: fewer say nothing of a policy
# A sample clears accessed bits and writes a line; one sample per second is enough here.
CMDLINE = "sample_ms=1000"
# Linux here looks at ticks of 4 ms (HZ=250) whether another process is to run; Tidemark's slices may be 0.75 ms long.
SLICES = "sched.min_granularity_ns=4000000 sched.latency_ns=4000000"


def initramfs(bin_folder: Path, out: Path) -> None:
    """Packs the project's programs and, in a folder of their own, those of the benchmark."""
    with tempfile.TemporaryDirectory(prefix="tidemark-figures-") as skeleton:
        folder = Path(skeleton, FOLDER)
        folder.mkdir()
        for name in PROGRAMS:
            (folder / name).write_bytes((bin_folder / name).read_bytes())
            (folder / name).chmod(0o755)
        sources = {source.stem for source in (ROOT / "user").glob("**/*.c")}  # build/user has programs of tests, too
        ours = [str(p) for p in sorted((ROOT / "build/user").iterdir()) if not p.suffix and p.name in sources]
        packer = ["python3", str(ROOT / "tools/mkinitramfs.py"), "--dir", skeleton, str(out), *ours]
        subprocess.run(packer, check=True)


def available_kib(mem: str, flags: str) -> int:
    """MemAvailable at the prompt of a machine of `mem`."""
    one = measure("cat /proc/meminfo", mem=mem, swap=PAGING_SWAP, qemu_flags=flags)
    return int(one.number(r"^MemAvailable: +(\d+)"))


def memory_for(available: int, flags: str) -> str:
    """The size of a machine in which programs have `available` KiB, within a few pages."""
    kib = available
    for _ in range(3):
        kib += available - available_kib(f"{kib}K", flags)
        kib -= kib % 4
    return f"{kib}K"


def micro_values(console: str) -> dict[str, float]:
    """The median of each line `R name n=... med=...`."""
    return {name: float(value) for name, value in re.findall(r"^R (\S+) .*? med=([\d.]+)", console, re.MULTILINE)}


def ratio_cells(ours: float, theirs: float) -> tuple[str, bool]:
    """(the ratio, is it above the aim)."""
    ratio = ours / theirs
    return (f"**{ratio:.2f}**" if ratio > AIM else f"{ratio:.2f}"), ratio > AIM


def shown(value: float) -> str:
    """Shows tenths only for small numbers."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:,.1f}"


def line(name: str, ours: float, theirs: float, why: str, extra: tuple[object, ...] = ()) -> list[object]:
    """A row: name, Linux, Tidemark, ratio, more columns, and the reason if the ratio is above AIM."""
    ratio, above = ratio_cells(ours, theirs)
    return [name, shown(theirs), shown(ours), ratio, *extra, (why or "?") if above else ""]


def why_of(name: str, reasons: Mapping[str, str]) -> str:
    """The reason whose pattern matches the whole name."""
    return next((text for pattern, text in reasons.items() if re.fullmatch(pattern, name)), "")


def micro_table(linux: dict, flags: str) -> str:
    """The rows of micro. For a sleep, the time beyond what was asked for."""
    ours = micro_values(
        measure(f"/{FOLDER}/micro", mem=MICRO_MEM, swap="none", qemu_flags=flags, cmdline=CMDLINE).console
    )
    missing = sorted(set(linux["micro"]) - set(ours))
    if missing:
        raise LabError(f"micro did not print {missing}", FAILED)
    rows = []
    for name, value in linux["micro"].items():
        asked = linux["sleeps"].get(name, 0)
        label = f"{name}, beyond {asked / 1e6:g} ms" if asked else name
        rows.append(line(label, ours[name] - asked, value - asked, why_of(name, linux["why"])))
    return table(["operation", "Linux", "Tidemark", "ratio", "why more than half"], rows)


@dataclass(frozen=True)
class Paged:
    """The cost of a paging workload: millions of instructions, of them in its own code (if known), pages in and out."""

    minsn: float
    own: float | None
    pages_in: int
    pages_out: int


def paging_run(case: tuple[str, str, str, str, str]) -> Paged:
    """Runs (command, memory, QEMU's flags, policy, more of the command line)."""
    command, mem, flags, vm, more = case
    one = measure(
        f"/{FOLDER}/vmrun /{FOLDER}/{command}",
        telemetry=True,
        mem=mem,
        swap=PAGING_SWAP,
        qemu_flags=flags,
        cmdline=f"{CMDLINE} {more}",
        vm=vm,
    )
    if not re.search(r"corrupt=0\b", one.console):
        raise LabError(f"{command}:\n{one.console}", FAILED)
    us = one.number(r"^R .*?(?:total|scan|lookup|run)_us=(\d+)")
    own_us = sum(r["us"][0] for r in one.records("exit") if r["comm"] == command.split()[0])
    whole = "total_us=" in one.console  # the others do not time the filling
    pages_in, pages_out = (int(one.number(rf"^V .*{counter}=(\d+)")) for counter in ("pswpin", "pswpout"))
    return Paged(us / 1000, own_us / 1000 if whole else None, pages_in, pages_out)


def paging_why(ours: Paged, theirs: float, told: str) -> str:
    """The programs and the instructions of their own code are the same: says what is left for the two kernels."""
    if ours.own is None or theirs <= ours.own:
        return told
    rest = (ours.minsn - ours.own) / (theirs - ours.own)
    return f"{ours.own:.1f} on both are the program's own; the rest: {rest:.2f}"


def paging_table(linux: dict, mem: str, flags: str) -> str:
    """The paging workloads, with the numbers of pages moved."""
    commands = list(linux["paging"])
    rows = []
    cases = [(command, mem, flags, qemu.Settings().vm, "") for command in commands]
    for command, ours in zip(commands, in_parallel(paging_run, cases)):
        minsn, pages_in, pages_out = linux["paging"][command]
        moved = (f"{pages_in:,}", f"{ours.pages_in:,}", f"{pages_out:,}", f"{ours.pages_out:,}")
        why = paging_why(ours, minsn, why_of(command, linux["why"]))
        rows.append(line(f"`{command}`", ours.minsn, minsn, why, moved))
    moved_titles = ["in: Linux", "in: Tidemark", "out: Linux", "out: Tidemark"]
    return table(["run", "Linux Minsn", "Tidemark Minsn", "ratio", *moved_titles, "why more than half"], rows)


def sized(command: str, factor: float) -> str:
    """The command with its KiB, its largest number, times a factor, in whole pages."""
    kib = max(map(int, re.findall(r"\d+", command)))
    return command.replace(str(kib), str(PAGE_KIB * round(kib * factor / PAGE_KIB)))


def policies_table(linux: dict, mem: str, flags: str) -> str:
    """The pages that Linux's present policies read on Tidemark beside those that Linux reads.

    One run is one sample where processes compete: there both have the same ten sizes. Tidemark's runs have jitter.
    """
    factors, competing = linux["draws"]["factors"], linux["draws"]["read"]
    single = {c: [read] for c, (_, read, _) in linux["paging"].items() if read >= LEAST_READ and c not in competing}
    linux_read = {**competing, **single}
    cells = list(itertools.product(linux_read, POLICIES))
    runs = [
        (sized(command, factor) if command in competing else command, mem, flags, vm, f"{SLICES} jitter={jitter}")
        for command, vm in cells
        for jitter, factor in enumerate(factors, 1)
    ]
    found = iter(in_parallel(paging_run, runs))
    read = {cell: [next(found).pages_in for _ in factors] for cell in cells}
    rows: list[list[object]] = []
    for command, theirs in linux_read.items():
        rows.append([f"`{command}`", spread(theirs)])
        for vm in POLICIES:
            own = read[command, vm]
            rows[-1] += [spread(own) if any(own) else "0", f"{median(own) / median(theirs):.2f}"]
    return table(["pages in", "Linux", *(title for vm in POLICIES for title in (f"`{vm}`", "ratio"))], rows)


def swap_table(linux: dict, mem: str, flags: str) -> str:
    """micro's swap mode."""
    case = f"/{FOLDER}/micro swap {linux['swap_mib']}"
    ours = micro_values(measure(case, mem=mem, swap=PAGING_SWAP, qemu_flags=flags, cmdline=CMDLINE).console)
    rows = [line(name, ours[name], value, why_of(name, linux["why"])) for name, value in linux["swap"].items()]
    return table(["micro swap", "Linux", "Tidemark", "ratio", "why more than half"], rows)


def make(figure: Figure, work: Path) -> str:
    linux = tomllib.loads(TOML.read_text())
    initrd = work / "initramfs.cpio"
    initramfs(BENCH, initrd)
    flags = f"-initrd {initrd}"
    mem = memory_for(linux["available_kib"], flags)
    micro, swap, paging = micro_table(linux, flags), swap_table(linux, mem, flags), paging_table(linux, mem, flags)
    policies = policies_table(linux, mem, flags)
    return (
        f"The benchmark programs micro, thrash, seqscan, btree and phase, unchanged. Linux: {linux['conditions']} "
        f"Tidemark: exact runs.\n\nGuest instructions for one operation (or page, KiB, region), median; no "
        f"swap; Tidemark `MEM={MICRO_MEM} SWAP=none`.\n\n{micro}\n\n"
        f"Paging. {linux['paging_conditions']} Tidemark `VM={qemu.Settings().vm} MEM={mem} SWAP={PAGING_SWAP}`, which "
        f"leaves programs as much. Instructions a page, then millions a run and pages moved.\n\n{swap}\n\n{paging}\n\n"
        f"Pages read under Linux's present policies: medians, with the range; `{SLICES}`, as Linux's ticks. "
        f"{linux['draws']['conditions']}"
        f"\n\n{policies}"
    )
