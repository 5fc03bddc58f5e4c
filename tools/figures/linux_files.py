"""Files on ext2 compared with Linux: guest instructions of the same program and image on Tidemark and on Linux.

The program is user/workloads/files.c, the disk virtio. QEMU's plugin (tools/plugin/count.c) counts what the whole
machine executes between two marks. Time would be unsuitable: a host's disk answers at any time, and waiting is not
work.

The figures linux-ext4 and linux-ext2 measure Linux, and write their parts of linux.toml; linux-files measures Tidemark,
and compares. build/linux is the folder into which Debian's package linux-image was unpacked (dpkg -x); beside, in the
same folder, are `busybox`, the program of busybox-static for i386, and `ext2.ko`. Debian's Linux mounts ext2 with
ext4.ko. ext2.ko, built from Debian's linux-source and linux-headers, needs fewer instructions, and Tidemark is compared
with it.

The cost of copying is measured in each kernel: a read of a cached page minus a read of one byte of it, and the same for
writes. For each page that an operation copies in or out, this cost is subtracted.
"""

from __future__ import annotations

import re
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tidemark.errors import FAILED, LabError
from tidemark.machine import plugin, qemu
from tidemark.machine.qemu import mkinitramfs

from figures.common import measure, table
from figures.entries import ROOT, Figure, tomllib
from figures.ext2_image import make_image
from figures.linux import TOML, ratio_cells, shown

PROGRAM = ROOT / "build/user/files"
LINUX = ROOT / "build/linux"
BOOTS = 5
MIB = 256
NEAR = 0.05
TIMEOUT_S = 900
CLOCK = "-icount shift=0,sleep=off -rtc clock=vm,base=2024-01-01T00:00:00 -seed 1"
# The guest waits for the host's disk: idle time must pass at the host's speed, or timers would tick without end.
SLEEP = "-icount sleep=on"
FILES = "files all /mnt"
MODULES = [
    "drivers/virtio/virtio",
    "drivers/virtio/virtio_ring",
    "drivers/virtio/virtio_pci_modern_dev",
    "drivers/virtio/virtio_pci_legacy_dev",
    "drivers/virtio/virtio_pci",
    "drivers/block/virtio_blk",
]
EXT4 = ["lib/crc16", "crypto/crc32c_generic", "fs/mbcache", "fs/jbd2/jbd2", "fs/ext4/ext4"]
INIT = f"""#!/bin/busybox sh
export PATH=/bin
busybox mount -t proc proc /proc
busybox mount -t devtmpfs dev /dev
for m in $(busybox cat /lib/order); do busybox insmod /lib/$m.ko || echo "insmod $m failed"; done
until [ -b /dev/vda ]; do busybox sleep 0.1; done
busybox mount -t ext2 /dev/vda /mnt && {FILES}
busybox reboot -f
"""

# Pages that an operation copies to the program and from it; for untar the mean: 1,024 to 4,096 bytes.
COPIED = {
    "random_read_4K": (1, 0),
    "sequential_read_page": (1, 0),
    "open_read_4K_close": (1, 0),
    "write_4K_append": (0, 1),
    "write_4K_over": (0, 1),
    "pread_4096": (1, 0),
    "pwrite_4096": (0, 1),
    "untar_file": (0, 0.625),
}

Figures = dict[str, float]


def linux_initrd(tree: Path, busybox: Path, module: Path | None, out: Path) -> None:
    """Builds a first file system for Linux: busybox, the program, and the modules in the order of loading."""
    folder = next(tree.glob("lib/modules/*/kernel"))
    modules = [folder / f"{name}.ko" for name in (MODULES if module else MODULES + EXT4)]
    modules += [module] if module else []
    files = {f"lib/{file.name}": file.read_bytes() for file in modules}
    files["lib/order"] = "".join(f"{file.stem}\n" for file in modules).encode()
    files |= {"bin/busybox": busybox.read_bytes(), "bin/files": PROGRAM.read_bytes(), "init": INIT.encode()}
    entries = {name: mkinitramfs.Entry(0o040755) for name in ("bin", "dev", "lib", "mnt", "proc")}
    entries |= {name: mkinitramfs.Entry(0o100755, data) for name, data in files.items()}
    entries["dev/console"] = mkinitramfs.Entry(0o020600, rdev=(5, 1))
    out.write_bytes(mkinitramfs.archive(entries))


def devices(image: Path, counts: Path) -> str:
    """QEMU's flags for the disk, which discards writes, the clock and the plugin."""
    disk = f"file={image},if=virtio,format=raw,snapshot=on"
    return f"-drive {shlex.quote(disk)} {SLEEP}" + plugin.flags("count", out=counts)


def linux_console(kernel: Path, initrd: Path, flags: str) -> str:
    """Linux's output in one run."""
    words = [qemu.PROGRAM, "-accel", "tcg", "-cpu", "qemu32", "-m", str(MIB), "-nodefaults", "-display", "none"]
    words += ["-no-reboot", "-serial", "stdio", "-kernel", str(kernel), "-initrd", str(initrd)]
    words += ["-append", "console=ttyS0 quiet panic=-1", *shlex.split(f"{CLOCK} {flags}")]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S)
    return done.stdout.replace("\r", "") + done.stderr


def tidemark_console(flags: str) -> str:
    """Tidemark's output in one run."""
    command = f"{FILES}"
    return measure(
        command,
        keep=False,
        mem=f"{MIB}M",
        swap="none",
        cmdline="disk=virtio mount=vda",
        qemu_flags=flags,
        timeout=TIMEOUT_S,
    ).console


def figures(console: str, counts: str) -> Figures:
    """Instructions per call, by measurement: the program prints the number of pairs of marks of each."""
    if "corrupt=0" not in console:
        raise LabError(f"the program did not end successfully:\n{console[-4000:]}", FAILED)
    names = re.findall(r"^R (\S+) +n=(\d+) min=", console, re.MULTILINE)
    lines = [[int(word) for word in line.split()] for line in counts.splitlines()]
    if len(lines) != sum(int(nr) for _, nr in names):
        raise LabError(
            f"{len(lines)} pairs of marks were counted, the program reports others:\n{console[-4000:]}", FAILED
        )
    found = {}
    for name, nr in names:
        ours, lines = lines[: int(nr)], lines[int(nr) :]
        found[name] = statistics.median((kernel + user) / calls for kernel, user, calls in ours)
    return found


def several(console: Callable[[str], str], image: Path) -> list[Figures]:
    """The figures of several runs, made one after another."""
    found = []
    with tempfile.TemporaryDirectory(prefix="tidemark-figures-") as folder:
        for _ in range(BOOTS):
            counts = Path(folder, "counts")
            text = console(devices(image, counts))
            found.append(figures(text, counts.read_text()))
            print(found[-1], file=sys.stderr, flush=True)
    return found


def medians(runs: list[Figures]) -> Figures:
    """The median over the runs of each figure."""
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def spread(runs: list[Figures]) -> str:
    """The number of runs, and the figures that differ by more than NEAR, relative to the least."""
    apart = {name: max(r[name] for r in runs) / min(r[name] for r in runs) - 1 for name in runs[0]}
    far = [f"{name} by {part:.0%}" for name, part in apart.items() if part > NEAR]
    return f"{len(runs)} runs, less than {NEAR:.0%} apart" + (f", but {', '.join(far)}" if far else "")


def copying(name: str, found: Figures) -> float:
    """The instructions that one operation spends on copying data."""
    out, into = COPIED.get(name, (0, 0))
    return out * (found["pread_4096"] - found["pread_1"]) + into * (found["pwrite_4096"] - found["pwrite_1"])


def replace_section(text: str, name: str, body: str) -> str:
    """linux.toml with the section `name` replaced, or added at its end."""
    section = f"[{name}]\n{body}\n"
    pattern = re.compile(rf"^\[{re.escape(name)}\]\n.*?(?=^\[|\Z)", re.MULTILINE | re.DOTALL)
    if pattern.search(text):
        return pattern.sub(lambda _: section + "\n", text).rstrip("\n") + "\n"
    return f"{text.rstrip()}\n\n{section}"


def linux_counts(figure: Figure, work: Path) -> None:
    """Boots Linux, and writes its figures into linux.toml: `system` is ext4, or ext2 with the module for it."""
    name, driver = figure.settings["system"], figure.settings["driver"]
    kernel = next(LINUX.glob("boot/vmlinuz-*"))
    make_image(work / "image")
    linux_initrd(LINUX, LINUX / "busybox", LINUX / "ext2.ko" if name == "ext2" else None, work / "initrd")
    runs = several(lambda flags: linux_console(kernel, work / "initrd", flags), work / "image")
    lines = [f'conditions = "{kernel.name}, {driver}, `-m {MIB}`, `-cpu qemu32`, `{CLOCK} {SLEEP}`; {spread(runs)}"']
    lines += [f"{name} = {value:.1f}" for name, value in medians(runs).items()]
    TOML.write_text(replace_section(TOML.read_text(), f"files_{name}", "\n".join(lines)))


def row(name: str, ext2: Figures, ext4: Figures, ours: Figures) -> list[object]:
    """A row: without copying, except in the last two columns."""
    peer, other, mine = (found[name] - copying(name, found) for found in (ext2, ext4, ours))
    ratio, _ = ratio_cells(mine, peer)
    return [name, shown(peer), shown(mine), ratio, shown(other), shown(ext2[name]), shown(ours[name])]


def make(figure: Figure, work: Path) -> str:
    """The table of both systems."""
    linux = tomllib.loads(TOML.read_text())
    ext2, ext4 = linux["files_ext2"], linux["files_ext4"]
    make_image(work / "image")
    runs = several(tidemark_console, work / "image")
    ours = medians(runs)
    titles = ["operation", "Linux, ext2", "Tidemark", "ratio", "Linux, ext4 for ext2", "ext2, all", "Tidemark, all"]
    rows = [row(name, ext2, ext4, ours) for name in ours]
    return (
        f"The same program and image, files of ext2 on virtio. Linux: {ext2['conditions']}. Tidemark: "
        f"`MEM={MIB}M SWAP=none`, {spread(runs)}.\n\nGuest instructions for one call (page, file), without those "
        f"that copy data; in the last two columns with them.\n\n{table(titles, rows)}"
    )
