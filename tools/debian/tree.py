"""The folder whose content becomes the image: the packages' files, and the links, settings and programs that make a
system of them.

Packages are only unpacked. Their maintainer scripts, which on Debian would run as root in the system itself, do not
run: no users but root, no generated caches or configurations, no alternatives. The links that programs need all the
same are in links.txt; left_out.txt has the patterns of files that stay out, in tar's notation.

All programs are below usr, as on Debian: bin, sbin and lib are links. Tidemark's init and its workloads are beside
Debian's programs under their own names. If a package has a program of the same name, the package's program stays.
Tidemark's shell is tsh.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import mkinitramfs
from tidemark.errors import NO_SPACE, NO_TOOL, LabError

HERE = Path(__file__).parent
MERGED = ("bin", "sbin", "lib")
FOLDERS = (
    "dev",
    "proc",
    "sys",
    "tmp",
    "run",
    "root",
    "mnt",
    "home",
    "etc",
    "var/tmp",
    "usr/bin",
    "usr/sbin",
    "usr/lib",
)
OWN_NAMES = {"sh": "tsh"}
FILES = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/bash\n",
    "etc/group": "root:x:0:\n",
    "etc/hostname": "tidemark\n",
    "etc/gitconfig": "[user]\n\tname = root\n\temail = root@tidemark\n",
    "usr/bin/poweroff": '#!/usr/bin/tsh\npoweroff "$@"\n',
}


def unpack(archive: Path, tree: Path) -> None:
    """Unpack a package's files. Raises LabError if the archive is damaged or the tools are missing."""
    words = ["tar", "-x", "-C", str(tree), "--no-same-owner", "--keep-directory-symlink", "--warning=no-timestamp"]
    try:
        unpacking = ["dpkg-deb", "--fsys-tarfile", str(archive)]
        with subprocess.Popen(unpacking, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as whole:
            done = subprocess.run(
                [*words, f"--exclude-from={HERE / 'left_out.txt'}"],
                stdin=whole.stdout,
                stderr=subprocess.PIPE,
                text=True,
            )
            if whole.stdout:
                whole.stdout.close()
        if whole.returncode or done.returncode:
            why = done.stderr.partition("\n")[0] or "it is damaged"
            advice = f"if the disk is not full, remove {archive}; the next run downloads it again"
            raise LabError(f"{archive.name} cannot be unpacked: {why}: {advice}", NO_SPACE)
    except FileNotFoundError as error:
        raise LabError(f"{error.filename} is not installed; it is part of the package dpkg or tar", NO_TOOL) from None


def add_links(tree: Path, table: str) -> None:
    """Make the links of links.txt whose targets exist."""
    for line in table.splitlines():
        if not line or line.startswith("#"):
            continue
        link, *targets = line.split()
        found = [target for target in targets if os.path.lexists(tree / target)]
        if found and not os.path.lexists(tree / link):
            (tree / link).symlink_to(f"/{found[0]}")


def add_own(tree: Path, packed: bytes) -> None:
    """Add the programs of Tidemark's first file system that no package has."""
    for name, entry in mkinitramfs.entries_of(packed).items():
        folder, _, own = name.partition("/")
        path = tree / "usr/bin" / OWN_NAMES.get(own, own)
        if folder != "bin" or not own or os.path.lexists(path):
            continue
        if entry.mode & 0o170000 == 0o120000:
            path.symlink_to(entry.data.decode())
        else:
            path.write_bytes(entry.data)
            path.chmod(0o755)


def add_files(tree: Path) -> None:
    """Add the few files that a package's script would have written, or that belong to Tidemark."""
    for name, text in FILES.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_text(text)
        path.chmod(0o755 if text.startswith("#!") else 0o644)


def make(archives: Sequence[Path], initramfs: Path, tree: Path) -> None:
    """Make the folder anew."""
    shutil.rmtree(tree, ignore_errors=True)
    for name in FOLDERS:
        (tree / name).mkdir(parents=True)
    for name in MERGED:
        (tree / name).symlink_to(f"usr/{name}")
    for number, archive in enumerate(archives, 1):
        print(f"  DEB   {archive.name.split('_')[0]} ({number} of {len(archives)})", file=sys.stderr, flush=True)
        unpack(archive, tree)
    add_own(tree, initramfs.read_bytes())
    add_files(tree)
    add_links(tree, (HERE / "links.txt").read_text())
