#!/usr/bin/env python3
"""Pack the first file system: mkinitramfs.py OUT [--dir SKELETON] [--names PROGRAM=NAME,...] PROGRAM...

The archive is an uncompressed newc cpio, byte for byte the same for the same input: owner 0, date 0, names
sorted. Each program becomes /bin/NAME, without its symbols; /init is a link to `init`. If two programs have
the same name, the later one is used. --names adds symbolic links to a program in /bin. SKELETON's files are
added to the standard directories and devices.
"""

from __future__ import annotations

import argparse
import os
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

TRAILER = "TRAILER!!!"
DIRECTORIES = ("bin", "dev", "etc", "proc", "root", "tmp")
DEVICES = {"dev/console": (5, 1), "dev/null": (1, 3), "dev/zero": (1, 5)}


@dataclass(frozen=True)
class Entry:
    """One member of the archive; `rdev` is (major, minor) of a device."""

    mode: int
    data: bytes = b""
    rdev: tuple[int, int] = (0, 0)


def pad(data: bytes) -> bytes:
    """Pads `data` with zeros to a multiple of 4 bytes."""
    return data + bytes(-len(data) % 4)


def member(ino: int, name: str, entry: Entry) -> bytes:
    """Header, name and data of one member, as in the kernel's buffer-format.txt (newc)."""
    encoded = name.encode() + b"\0"
    links = 2 if stat.S_ISDIR(entry.mode) else 1
    fields = (ino, entry.mode, 0, 0, links, 0, len(entry.data), 0, 0, *entry.rdev, len(encoded), 0)
    header = b"070701" + b"".join(b"%08x" % field for field in fields)
    return pad(header + encoded) + pad(entry.data)


def archive(entries: dict[str, Entry]) -> bytes:
    """The whole archive: members sorted by name (parents first), then the trailer, padded to a 512-byte block."""
    body = b"".join(member(ino, name, entries[name]) for ino, name in enumerate(sorted(entries), 1))
    body += member(0, TRAILER, Entry(0))
    return body + bytes(-len(body) % 512)


def with_file(packed: bytes, name: str, data: bytes) -> bytes:
    """Returns an archive of archive() with one more file at its end, readable by all."""
    end = packed.rindex(b"070701", 0, packed.rindex(TRAILER.encode()))
    body = packed[:end] + member(0, name, Entry(stat.S_IFREG | 0o644, data)) + member(0, TRAILER, Entry(0))
    return body + bytes(-len(body) % 512)


def entries_of(packed: bytes) -> dict[str, Entry]:
    """The members of an archive of archive(), by name."""
    found, at = {}, 0
    while True:
        fields = [int(packed[at + 6 + 8 * i : at + 14 + 8 * i], 16) for i in range(13)]
        begin, name_length, length = at + 110, fields[11], fields[6]
        name = packed[begin : begin + name_length - 1].decode()
        if name == TRAILER:
            return found
        data = (begin + name_length + 3) & ~3
        found[name] = Entry(fields[1], packed[data : data + length], (fields[9], fields[10]))
        at = (data + length + 3) & ~3


def skeleton(root: Path) -> dict[str, Entry]:
    """Files and directories below `root`; a file is executable if it is for its owner."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_dir():
            found[name] = Entry(stat.S_IFDIR | 0o755)
        else:
            executable = path.stat().st_mode & 0o100
            found[name] = Entry(stat.S_IFREG | (0o755 if executable else 0o644), path.read_bytes())
    return found


def stripped(program: Path) -> bytes:
    """The program without symbols, or unchanged if `strip` does not support it (a script, for example)."""
    if program.read_bytes()[:4] != b"\x7fELF":
        return program.read_bytes()
    with NamedTemporaryFile() as out:
        subprocess.run([os.environ.get("STRIP", "strip"), "-o", out.name, "--", str(program)], check=True)
        return Path(out.name).read_bytes()


def main() -> int:
    """Writes OUT. Returns 1 with a message if a file cannot be read."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--dir", type=Path)
    parser.add_argument("--names", action="append", default=[])
    parser.add_argument("programs", type=Path, nargs="*")
    args = parser.parse_args()

    entries = {name: Entry(stat.S_IFDIR | 0o755) for name in DIRECTORIES}
    for name, rdev in DEVICES.items():
        entries[name] = Entry(stat.S_IFCHR | 0o666, rdev=rdev)
    try:
        if args.dir:
            entries.update(skeleton(args.dir))
        for program in args.programs:
            entries[f"bin/{program.name}"] = Entry(stat.S_IFREG | 0o755, stripped(program))
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"mkinitramfs: {error}", file=sys.stderr)
        return 1
    for program, _, names in (text.partition("=") for text in args.names):
        entries.update({f"bin/{name}": Entry(stat.S_IFLNK | 0o777, program.encode()) for name in names.split(",")})
    if "bin/init" in entries:
        entries["init"] = Entry(stat.S_IFLNK | 0o777, b"bin/init")
    args.out.write_bytes(archive(entries))
    return 0


if __name__ == "__main__":
    sys.exit(main())
