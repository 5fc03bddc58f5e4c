"""An image with an additional program, for tests whose program is of no other use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tidemark.machine import qemu

FLAGS = ("-O1", "-march=i686", "-ffreestanding", "-fno-stack-protector", "-nostdlib", "-static", "-no-pie")


def image_with(source: Path, folder: Path) -> Path:
    """A folder to boot from: the kernel, and an initramfs that also contains /bin/NAME, built from NAME.c without a C
    library."""
    build = folder / "build"
    build.mkdir()
    (build / "tidemark.elf").symlink_to(qemu.ROOT / qemu.KERNEL)
    compiler = subprocess.check_output(["tools/setup.sh", "all"], cwd=qemu.ROOT, text=True).split()
    program = folder / source.stem
    subprocess.run([*compiler, *FLAGS, "-o", program, source], check=True)
    ours = sorted(path for path in (qemu.ROOT / "build/user").iterdir() if not path.suffix)
    pack = [sys.executable, qemu.ROOT / "tools/mkinitramfs.py", build / "initramfs.cpio", *ours, program]
    subprocess.run(pack, check=True)
    return folder
