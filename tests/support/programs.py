"""An image with additional programs, for tests whose programs are of no other use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tidemark.machine import qemu

FLAGS = ("-O1", "-march=i686", "-ffreestanding", "-fno-stack-protector", "-nostdlib", "-static", "-no-pie")


def compiled(source: Path, program: Path, *flags: str) -> Path:
    """The program, compiled by the compiler of the kernel."""
    compiler = subprocess.check_output(["tools/setup.sh", "all"], cwd=qemu.ROOT, text=True).split()
    subprocess.run([*compiler, *flags, "-o", program, source], check=True)
    return program


def image_of(folder: Path, *programs: Path) -> Path:
    """A folder to boot from: the kernel, and an initramfs that also contains these programs in /bin."""
    build = folder / "build"
    build.mkdir()
    (build / "tidemark.elf").symlink_to(qemu.ROOT / qemu.KERNEL)
    ours = sorted(path for path in (qemu.ROOT / "build/user").iterdir() if not path.suffix)
    pack = [sys.executable, qemu.ROOT / "tools/mkinitramfs.py", build / "initramfs.cpio", *ours, *programs]
    subprocess.run(pack, check=True)
    return folder


def image_with(source: Path, folder: Path) -> Path:
    """The folder of `image_of` with one program, built from NAME.c without a C library."""
    return image_of(folder, compiled(source, folder / source.stem, *FLAGS))
