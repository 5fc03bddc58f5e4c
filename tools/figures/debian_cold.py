"""Cold starts of Debian's programs on an image of `make image`, without and with read-around: major faults, what is
read, and virtual time.

Nothing of the program is in memory before. Without read-around (vm.readaround_kb=0) faults read ahead as reads do: only
in sequence.
"""

from __future__ import annotations

from pathlib import Path

from tidemark.machine import qemu

from figures import common
from figures.entries import Figure

IMAGE = qemu.ROOT / "build/image.ext2"
WINDOWS_KB = (0, 128)


def cells(command: str, disk: str, window_kb: int) -> list[str]:
    """Major faults, MiB read and virtual seconds of a run."""
    cmdline = f"root=sda vm.readaround_kb={window_kb}"
    run = common.measure(command, True, mem="64M", swap=disk, disk=str(IMAGE), disk_kind=disk, cmdline=cmdline)
    read_mib = run.last["vm"]["pgpgin"] / 1024
    return [f"{run.named('major_faults'):,}", f"{read_mib:.1f}", common.digits(run.named("total_s"))]


def make(figure: Figure, work: Path) -> str:
    """The table of the figure's `programs` on its `disks`."""
    titles = ["command", "disk", "faults, 0", "MiB, 0", "s, 0", "faults, 128", "MiB, 128", "s, 128"]
    rows = [
        [f"`{command}`", f"`{disk}`", *(cell for window in WINDOWS_KB for cell in cells(command, disk, window))]
        for command in figure.settings["programs"]
        for disk in figure.settings["disks"]
    ]
    return common.table(titles, rows, text_columns=2)
