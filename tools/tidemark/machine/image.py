"""The image: kernel and first file system in a folder's build/, identified by the SHA-256 of their bytes."""

from __future__ import annotations

import hashlib
import re
import subprocess
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

from tidemark.errors import BAD_INPUT, FAILED, NO_TOOL, LabError
from tidemark.files import sha256
from tidemark.machine import home, qemu, reference_image

LEAST_QEMU = (6, 2)


def describe(folder: Path) -> dict[str, str]:
    """{"sha256": of both, "kernel": …, "initramfs": …, "commit": of the tree, or empty} of the image in `folder`."""
    try:
        kernel, initramfs = hashes(folder)
    except OSError as error:
        raise LabError(
            f"there is no image to run: {error.filename}: {error.strerror}; `make` builds it, and "
            "--image reference takes the release's",
            BAD_INPUT,
        ) from None
    both = hashlib.sha256((kernel + initramfs).encode()).hexdigest()
    return {"sha256": both, "kernel": kernel, "initramfs": initramfs, "commit": commit(folder)}


Stamp = tuple[tuple[int, int, int], ...]


def stamp(folder: Path) -> Stamp:
    """A value that changes if a file of the image is written again; empty if there is no image."""
    try:
        found = [(folder / file).stat() for file in (qemu.KERNEL, qemu.INITRD)]
    except OSError:
        return ()
    return tuple((one.st_ino, one.st_size, one.st_mtime_ns) for one in found)


def hashes(folder: Path) -> tuple[str, str]:
    """The SHA-256 of the kernel and of the first file system in `folder`. Raises OSError if one is missing."""
    return hashes_of(folder, stamp(folder))


@cache
def hashes_of(folder: Path, _: Stamp) -> tuple[str, str]:
    """See `hashes`: computed once for each stamp, since a sweep asks before each of thousands of runs."""
    return sha256(folder / qemu.KERNEL), sha256(folder / qemu.INITRD)


def check_unchanged(folder: Path, before: Stamp) -> None:
    """Raises LabError if the image is no longer the one that had the stamp `before`."""
    if stamp(folder) != before:
        raise LabError(
            f"the image in {folder} changed while the run started (does `make` run?): run it again", BAD_INPUT
        )


def commit(folder: Path) -> str:
    """git's name for the tree's state, with `-dirty` if there are changes; empty if there is no git. The reference
    image knows its commit."""
    if folder == qemu.ROOT / reference_image.UNPACKED or home.INSTALLED:
        return reference_image.about(qemu.ROOT).get("commit", "")[:12]
    try:
        command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=12"]
        return subprocess.run(command, capture_output=True, text=True, timeout=20).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


@cache
def qemu_version() -> str:
    """QEMU's version, such as 7.2.22. Raises LabError if it is missing or too old."""
    try:
        text = subprocess.run(
            [qemu.PROGRAM, "--version"], capture_output=True, text=True, timeout=60, check=True
        ).stdout
    except FileNotFoundError:
        raise LabError(f"{qemu.PROGRAM} is not installed; `make doctor` says how to get it", NO_TOOL) from None
    except (OSError, subprocess.SubprocessError) as error:
        raise LabError(f"{qemu.PROGRAM} --version: {error}; `make doctor` says how to get another", NO_TOOL) from None
    found = re.search(r"version (\d+)\.(\d+)(\.\d+)?", text)
    if not found:
        raise LabError(f"{qemu.PROGRAM} --version says {text[:80]!r}, which is not a version of QEMU", NO_TOOL)
    if (int(found[1]), int(found[2])) < LEAST_QEMU:
        least = ".".join(map(str, LEAST_QEMU))
        raise LabError(
            f"QEMU {found[0][8:]} is too old, at least {least} is needed; `make doctor` says how to get it", NO_TOOL
        )
    return found[0][8:]


@cache
def policies(folder: Path) -> tuple[str, ...]:
    """The replacement policies in the image, which is booted to ask it. Raises LabError if it does not answer."""
    with tempfile.TemporaryDirectory(prefix="tidemark-") as scratch:
        console = Path(scratch, "console")
        s = replace(qemu.Settings(), run="cat /proc/sys/vm/policy", swap="none", image=folder, timeout=60)
        code, _ = qemu.unattended(s, console, lambda: None)
        found = re.search(r"^((?:\S+ )*\[\S+\](?: \S+)*)\s*$", console.read_text("ascii", "replace"), re.MULTILINE)
    if code != qemu.OK or not found:
        raise LabError(f"the image in {folder} does not say which policies it has: {reason(code)}", FAILED)
    return tuple(sorted(found[1].replace("[", "").replace("]", "").split()))


def reason(code: int) -> str:
    """Why a run ended, in a few words."""
    return {
        qemu.OK: "it ended well",
        qemu.FAILED: "the command failed",
        qemu.PANICKED: "the kernel panicked",
        qemu.HUNG: "the kernel hung",
        qemu.TIMED_OUT: "it did not end in time",
        qemu.NO_QEMU: "QEMU ended by itself",
        qemu.REFUSED: "the kernel refused its command line",
    }[code]
