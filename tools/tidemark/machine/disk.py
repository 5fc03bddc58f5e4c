"""The disk with the guest's files: DISK=, an image, or a folder or a size that becomes one.

QEMU's own kinds (ide, virtio) get the image by its name. The disk that the guest models (sim:...) has its data in the
guest's memory, above what the kernel manages. So that memory is a file: the image is copied into it before the
machine starts, and changes are copied back after it has ended. The file has no name and vanishes with
this process. This module needs no other package. Runs side by side may share an image if none of them keeps changes.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tidemark import files, output
from tidemark.machine import access_times, host

MIB = 1 << 20
SECTOR = 512
CHUNK = MIB
ZEROS = bytes(CHUNK)
BLOCK = 4096
SMALL, SMALL_BLOCK = 512 * MIB, 1024  # a file system below SMALL, as in Debian's mke2fs.conf; Ubuntu's has BLOCK
LEAST = 64 << 10
MODELLED = "sim:"
REAL = {"ide": "hd", "virtio": "vd"}  # kinds that QEMU emulates, and what the guest calls their disks

# Of an image that is made from a folder: the same files give the same image.
UUID = "7469646d-6172-4b00-8000-000000000000"
BORN = "1704067200"  # 2024-01-01, when the guest's clock starts


class BadSetting(ValueError):
    """A setting that cannot be used; the text says which and why."""


def check(name: str, kind: str, variable: str = "DISK") -> None:
    """Raises BadSetting if the kind is not valid, or there is no such folder or image. An empty name: no disk."""
    if not name:
        return
    if kind not in REAL and not (kind.startswith(MODELLED) and kind != MODELLED):
        raise BadSetting(f"DISK_KIND={kind}: use {', '.join(REAL)}, or a kind as for SWAP: sim:hdd, sim:ssd,latency=50")
    if any(word.startswith(("at=", "size=")) for word in kind.split(",")) or any(c.isspace() for c in kind):
        raise BadSetting(f"DISK_KIND={kind}: at= and size= come from the image; blanks are not allowed")
    path = Path(name)
    if empty_bytes(name):
        return
    if not path.exists() and path.name == "image.ext2":
        raise BadSetting(f"{variable}={name}: there is no such image: `make image` makes it in build/")
    if not path.is_dir() and not path.is_file():
        raise BadSetting(f"{variable}={name}: it is not a folder, an image or a size such as 64M")
    if path.is_file() and path.stat().st_size < LEAST:
        raise BadSetting(f"{variable}={name}: an image must have at least {LEAST >> 10} KiB")


def empty_bytes(name: str) -> int:
    """Bytes of a disk given by its size, such as 64M: an empty file system. 0 for a folder or an image."""
    match = re.fullmatch(r"(\d+)([MG])", name)
    return int(match[1]) << {"M": 20, "G": 30}[match[2]] if match and not Path(name).exists() else 0


def absolute(name: str) -> str:
    """DISK=name with an absolute path; "" stays."""
    return os.path.abspath(name) if name and not empty_bytes(name) else name


def made_anew(name: str) -> bool:
    """Is the disk's image made for each run? Then it is always the same."""
    return bool(empty_bytes(name)) or Path(name).is_dir()


def room_for(folder: Path) -> int:
    """Bytes of an image with room for 1.5 times the folder and 4 MiB more, in whole MiB."""
    used = 0
    for path in (folder, *folder.rglob("*")):
        size = path.lstat().st_size if path.is_file() and not path.is_symlink() else 0
        used += -(-size // BLOCK) * BLOCK + BLOCK
    return -(-(used * 3 // 2 + 4 * MIB) // MIB) * MIB


def make_image(name: str, image: Path) -> None:
    """Make an ext2 image with a folder's files, or empty, which appears when complete. Raises FileNotFoundError without
    mke2fs, BadSetting if that fails, LabError if the image cannot be written.
    """
    places = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"
    tool = shutil.which("mke2fs", path=places)
    if not tool:
        raise FileNotFoundError(2, "", "mke2fs")
    image.parent.mkdir(parents=True, exist_ok=True)
    words = [tool, "-q", "-F", "-t", "ext2", "-U", UUID, "-E", f"root_owner=0:0,hash_seed={UUID}"]
    if empty_bytes(name):
        words += ["-b", str(BLOCK)]
    else:
        words += ["-b", str(SMALL_BLOCK if size_of(name) < SMALL else BLOCK), "-d", name]
    with output.written(image, files.suffix()) as out:
        made = subprocess.run(
            [*words, str(out.partial), f"{size_of(name) >> 10}k"],
            env={**os.environ, "E2FSPROGS_FAKE_TIME": BORN},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        if made.returncode:
            raise BadSetting(f"DISK={name}: mke2fs could not make an image of it: {made.stderr.strip()}")
        access_times.forget(out.partial)


def image_of(name: str, folder: Path) -> str:
    """The absolute path of the image that DISK=name means. An image that must be made is made in `folder`."""
    if not made_anew(name):
        return os.path.abspath(name)
    image = folder / f"{Path(os.path.abspath(name)).name or 'root'}.img"
    make_image(name, image)
    return str(image)


def size_of(name: str) -> int:
    """Bytes of the image that DISK=name is or becomes, in whole sectors."""
    if made_anew(name):
        return empty_bytes(name) or room_for(Path(name))
    return Path(name).stat().st_size // SECTOR * SECTOR


def quoted(path: str) -> str:
    """A path, escaped as a value in QEMU's lists of options."""
    return path.replace(",", ",,")


def drive(image: str, kind: str, index: int) -> list[str]:
    """QEMU's arguments for a disk that it emulates. Writes stay in the host's cache, which survives
    QEMU; the guest gets the host's errors: otherwise QEMU would stop it when the host's disk is full."""
    options = f"file={quoted(image)},format=raw,cache=unsafe,werror=report,rerror=report"
    return ["-drive", f"if={kind},index={index},{options}"]


def memory_arguments(path: str, mib: int) -> list[str]:
    """QEMU's arguments for a guest whose memory is the file."""
    backend = f"memory-backend-file,id=ram,size={mib}M,mem-path={quoted(path)},share=on"
    return ["-object", backend, "-machine", "memory-backend=ram"]


def parts(size: int) -> Iterator[tuple[int, int]]:
    """(offset, length) of each piece of `size` bytes."""
    for at in range(0, size, CHUNK):
        yield at, min(CHUNK, size - at)


def put(memory: int, image: int, at: int, size: int) -> None:
    """Copy the image into the guest's memory; pieces that are all zero stay untouched."""
    for offset, length in parts(size):
        data = os.pread(image, length, offset)
        if data != ZEROS[:length]:
            os.pwrite(memory, data, at + offset)


def take_back(memory: int, image: int, at: int, size: int) -> None:
    """Copy the pieces that have changed back into the image."""
    for offset, length in parts(size):
        data = os.pread(memory, length, at + offset)
        if data != os.pread(image, length, offset):
            os.pwrite(image, data, offset)


@contextlib.contextmanager
def placed(ram: int, image: str, at: int, keep: bool) -> Iterator[None]:
    """The image is in the guest's memory at byte `at`. With `keep`, changes go back into it at the end. Raises
    BadSetting if the image cannot be used so, or another run, or another disk of this one, uses it."""
    try:
        disk = os.open(image, os.O_RDWR if keep else os.O_RDONLY)
    except OSError as error:
        raise BadSetting(f"DISK={image} cannot be {'written' if keep else 'read'}: {error.strerror}") from None
    try:
        try:
            fcntl.flock(disk, (fcntl.LOCK_EX if keep else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadSetting(f"DISK={image}: another run uses it") from None
        put(ram, disk, at, size_of(image))
        try:
            yield
        finally:
            if keep:
                take_back(ram, disk, at, size_of(image))
    finally:
        os.close(disk)


@contextlib.contextmanager
def opened(file: str) -> Iterator[tuple[int, str]]:
    """A file that may be written: its descriptor, and its name."""
    fd = os.open(file, os.O_RDWR)
    try:
        yield fd, file
    finally:
        os.close(fd)


@contextlib.contextmanager
def memory(images: Mapping[int, str], mib: int, keep: bool = True, file: str = "") -> Iterator[str]:
    """A file of `mib` MiB for the guest's memory, with each image at the byte that is its key; see `placed`. It has no
    name, unless an existing `file` is given: a QEMU in a sandbox does not see our descriptors."""
    with contextlib.ExitStack() as stack:
        ram, path = stack.enter_context(opened(file) if file else host.unnamed_file("tidemark-memory"))
        os.ftruncate(ram, mib * MIB)
        for at, image in images.items():
            stack.enter_context(placed(ram, image, at, keep))
        yield path


def without_cache(kind: str) -> str:
    """The kind of a second modelled disk: only the first can have a cache."""
    return ",".join(word for word in kind.split(",") if not word.startswith("cache="))


def parameters(image: str, kind: str, at: int) -> Sequence[str]:
    """The words on the kernel's command line for the disk."""
    if kind in REAL:
        return [f"disk={kind}"]
    return [f"disk={kind},at={at},size={size_of(image)}"]


def with_root(given: Mapping[str, str]) -> str:
    """CMDLINE, and with ROOT=1 the word that mounts DISK on /. Raises BadSetting if there is no disk."""
    if given["ROOT"] not in ("", "0", "1"):
        raise BadSetting(f"ROOT={given['ROOT']}: it is 1, the disk becomes /; or 0 or nothing, the disk is on /mnt")
    if given["ROOT"] != "1":
        return given["CMDLINE"]
    if not given["DISK"]:
        raise BadSetting("ROOT=1 needs a disk: make image, then DISK=build/image.ext2")
    kind = given["DISK_KIND"]
    unit = "b" if kind == "ide" and given["SWAP"].startswith("hda") else "a"
    return f"root={REAL.get(kind, 'sd')}{unit} {given['CMDLINE']}".strip()


def mounted(kind: str, index: int, others: str) -> Sequence[str]:
    """The word on the kernel's command line that mounts the disk on /mnt; none if other words give its root or mount.
    `index`: is it the first or the second disk of its kind?"""
    if re.search(r"(^|\s)(root|mount)=", others):
        return []
    return [f"mount={REAL.get(kind, 'sd')}{'ab'[index]}"]
