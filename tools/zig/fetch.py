#!/usr/bin/env python3
"""Fetches zig from PyPI into a folder, once per user, and links build/zig to it: tools/zig/fetch.py FOLDER.

A folder that has the program zig already is used as it is. requirements.txt has the version and the hash of each
platform's file. The sum of the program is kept beside it, so that a damaged folder is noticed. It needs none of
the lab's packages.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[2]
LINK = ROOT / "build/zig"
PIN = ROOT / "tools/zig/requirements.txt"
SUM = "zig.sha256"


def stop(text: str) -> NoReturn:
    """Ends this program with a sentence."""
    sys.exit("zig: " + text)


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def pip(scratch: Path) -> list[str]:
    """The command pip: python3's own, or that of a venv made for it."""
    own = [sys.executable, "-m", "pip"]
    if not subprocess.run([*own, "--version"], capture_output=True).returncode:
        return own
    if subprocess.call([sys.executable, "-m", "venv", str(scratch / "venv")], stdout=subprocess.DEVNULL):
        stop("python3 has neither pip nor venv, with which it would be fetched; install python3-pip")
    return [str(scratch / "venv/bin/python"), "-m", "pip"]


def fetch(folder: Path) -> None:
    """Makes the folder. An interrupted fetch leaves no folder of that name."""
    print(
        f"  ZIG   fetching ziglang 0.17.1 from PyPI into {folder}: 101 MB, 430 MB unpacked", file=sys.stderr, flush=True
    )
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=folder.name + ".", dir=str(folder.parent)))
    try:
        words = ["install", "--no-deps", "--no-compile", "--no-cache-dir", "--disable-pip-version-check"]
        words += ["--require-hashes", "--target", str(scratch / "new"), "-r", str(PIN)]
        done = subprocess.run(
            [*pip(scratch), *words], stdin=subprocess.DEVNULL, stdout=sys.stderr, stderr=subprocess.PIPE, text=True
        )
        said = done.stderr
        if "DO NOT MATCH THE HASHES" in said:
            stop(
                "the file does not have the hash in tools/zig/requirements.txt, so it is not used; try another network"
            )
        if done.returncode:
            print(said, end="", file=sys.stderr)
            stop("pip could not fetch it, see above. Is there a network? The next make tries again")
        made = scratch / "new/ziglang"
        (made / SUM).write_text(sha256(made / "zig") + "\n")
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
        if not folder.exists():
            made.rename(folder)
    finally:
        shutil.rmtree(str(scratch), ignore_errors=True)


def check(folder: Path) -> None:
    """Stops if the folder does not have a zig that runs and that is what was fetched."""
    zig = folder / "zig"
    if (folder / SUM).exists() and (folder / SUM).read_text().strip() != sha256(zig):
        stop(f"{zig} has another hash than when it was fetched; rm -r '{folder}', then make again")
    try:
        subprocess.check_output([str(zig), "version"], stderr=subprocess.STDOUT)
    except (OSError, subprocess.CalledProcessError) as error:
        stop(f"{zig} does not run ({error}); remove the folder, or choose another with ZIG=FOLDER")


def main() -> None:
    """Fetches it if necessary."""
    folder = Path(sys.argv[1]).absolute()
    try:
        if not (folder / "zig").exists():
            if folder.is_dir() and any(folder.iterdir()):
                stop(f"the folder {folder} has no program zig and is not empty; choose another with ZIG=FOLDER")
            fetch(folder)
        check(folder)
        LINK.parent.mkdir(exist_ok=True)
        if LINK.is_symlink():
            LINK.unlink()
        LINK.symlink_to(str(folder), target_is_directory=True)
    except OSError as error:
        stop(f"{error.filename or folder}: {error.strerror}; choose another folder with ZIG=FOLDER")


if __name__ == "__main__":
    main()
