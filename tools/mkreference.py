#!/usr/bin/env python3
"""Rebuild the reference image: mkreference.py [--renew] -- COMPILER... (`make reference`, `make reference RENEW=1`).

Builds the commit that reference/build.txt names, in a fresh folder, without ccache and without the caller's
environment, and compares the result with reference/SHA256SUMS bit for bit. --renew builds the last commit of this tree
instead, and replaces the stored image if it differs. Only the compiler, linker and C library that build.txt names give
equal bytes, so any others are refused.

The kernel is stored without its debug information, which would take a megabyte more and is never loaded.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import lzma
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tidemark.errors import BAD_INPUT, FAILED, NO_TOOL, USAGE, LabError
from tidemark.files import sha256, write_atomically
from tidemark.machine import image, qemu
from tidemark.machine import reference_image as stored

MOST = 1_000_000  # bytes of the compressed files together
STORE = qemu.ROOT / stored.STORE
TOOLS = ("compiler", "linker", "C library")  # their versions must equal those in build.txt
SOURCES = ("boot", "kernel", "user", "linker.ld", "tools/build.mk")
MUSL, LIBRARY = "build/musl", "usr/lib/i386-linux-musl/libc.a"


def output(*words: str, folder: Path = qemu.ROOT) -> bytes:
    """The standard output of a command. Raises LabError, with its last message, if it fails."""
    try:
        done = subprocess.run(words, cwd=folder, env=environment(), stdin=subprocess.DEVNULL, capture_output=True)
    except FileNotFoundError:
        raise LabError(f"{words[0]} is not installed; `make doctor` says how to get it", NO_TOOL) from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise LabError(f"{words[0]} failed: {said[-1] if said else done.returncode}", FAILED)
    return done.stdout


def environment() -> dict[str, str]:
    """The environment of every command: nothing in it changes what a compiler writes."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return {**kept, "LC_ALL": "C"}


def first_line(*words: str) -> str:
    """The first line that a command prints."""
    return output(*words).decode(errors="replace").split("\n")[0].strip()


def c_library() -> str:
    """The version of musl and the SHA-256 of its libc.a."""
    top = next((top for top in (qemu.ROOT / MUSL, Path("/")) if (top / LIBRARY).exists()), None)
    if not top:
        raise LabError(f"{MUSL} has no C library; `make` installs it", NO_TOOL)
    changes = top / "usr/share/doc/musl-dev/changelog.Debian.gz"
    version = first_line("zcat", str(changes)).partition("(")[2].partition(")")[0] if changes.exists() else "?"
    return f"musl {version}, libc.a {sha256(top / LIBRARY)}"


def tools(compiler: Sequence[str]) -> dict[str, str]:
    """What this machine would build with, under the names of build.txt."""
    linker = first_line(*compiler, "-print-prog-name=ld")
    found = (first_line(*compiler, "--version"), first_line(linker, "--version"), c_library())
    return dict(zip(TOOLS, found))


def check_tools(here: Mapping[str, str], then: Mapping[str, str]) -> None:
    """Raises LabError if this machine's tools cannot give the bytes of the stored image."""
    for name in TOOLS:
        if then.get(name, here[name]) != here[name]:
            raise LabError(
                f"the {name} here is {here[name]}, and the reference image was built with {then[name]}: only that "
                "gives the same bytes (`rm reference/build.txt`, then RENEW=1, begins anew with other tools)",
                NO_TOOL,
            )


def in_history(commit: str) -> bool:
    """Is the commit the last one of this tree, or an ancestor of it?"""
    try:
        output("git", "merge-base", "--is-ancestor", commit, "HEAD")
    except LabError:
        return False
    return True


def commit_to_build(renew: bool, then: Mapping[str, str]) -> str:
    """The commit whose sources are built. Raises LabError if it cannot be told."""
    last = first_line("git", "rev-parse", "HEAD")
    if renew:
        if output("git", "status", "--porcelain", "--", *SOURCES):
            raise LabError(f"RENEW=1: commit your changes in {', '.join(SOURCES)} first: a commit is built", USAGE)
        return last
    if "commit" not in then:
        raise LabError(f"{STORE / stored.ABOUT} names no commit; {stored.RESTORE}", BAD_INPUT)
    if in_history(then["commit"]):
        return then["commit"]
    print(f"The reference image's commit {then['commit'][:12]} is not in this clone: the last commit is built instead.")
    return last


def built(commit: str, compiler: Sequence[str], folder: Path) -> tuple[dict[str, bytes], dict[str, str]]:
    """The files of the image of a commit, built in an empty folder, and lines for build.txt about the build."""
    with tarfile.open(fileobj=io.BytesIO(output("git", "archive", "--format=tar", commit))) as sources:
        sources.extractall(folder)
    if (qemu.ROOT / MUSL / LIBRARY).exists():
        (folder / "build").mkdir()
        (folder / MUSL).symlink_to(qemu.ROOT / MUSL)
    words = ["make", "-s", f"-j{os.cpu_count()}", "-f", "tools/build.mk", f"CC={' '.join(compiler)}", "CCACHE="]
    output(*words, "all", folder=folder)
    strip = first_line(*compiler, "-print-prog-name=strip")
    output(strip, "--strip-debug", "-o", "stripped.elf", qemu.KERNEL, folder=folder)
    names = ("stripped.elf", f"build/{stored.SYMBOLS}", qemu.INITRD)
    flags = (folder / "build/flags").read_text().split()[len(compiler) + 1 :]
    files = {name: (folder / file).read_bytes() for name, file in zip(stored.FILES, names)}
    return files, {stored.AS_BUILT: sha256(folder / qemu.KERNEL), "flags": " ".join(flags)}


def compared(new: Mapping[str, bytes]) -> bool:
    """Prints each file's old and new sum; returns whether all are the same."""
    old = stored.sums(qemu.ROOT) if (STORE / stored.SUMS).exists() else {}
    for name in stored.FILES:
        now = hashlib.sha256(new[name]).hexdigest()
        then = old.get(name, "nothing")
        print(f"{name:17} {len(new[name]):>9,} bytes  " + (now if now == then else f"{now}, stored: {then}"))
    return all(old.get(name) == hashlib.sha256(new[name]).hexdigest() for name in stored.FILES)


def write(new: Mapping[str, bytes], about: Mapping[str, str]) -> None:
    """Replaces the stored image. Raises LabError if it is too large."""
    packed = {name: lzma.compress(new[name], preset=9 | lzma.PRESET_EXTREME) for name in stored.FILES}
    total = sum(map(len, packed.values()))
    if total > MOST:
        raise LabError(f"the compressed image has {total:,} bytes, at most {MOST:,} are allowed", FAILED)
    STORE.mkdir(exist_ok=True)
    for name, data in packed.items():
        write_atomically(STORE / (name + stored.PACKED), data)
    sums = (f"{hashlib.sha256(new[name]).hexdigest()}  {name}\n" for name in stored.FILES)
    write_atomically(STORE / stored.SUMS, "".join(sums))
    write_atomically(STORE / stored.ABOUT, "".join(f"{name}: {value}\n" for name, value in about.items()))
    print(f"{stored.STORE}/ has the new image, {total:,} bytes compressed: commit it.")


def rebuild(compiler: Sequence[str], renew: bool) -> None:
    """Builds the image, and compares it with the stored one or replaces that. Raises LabError if they differ."""
    if not renew:
        for name, digest in stored.sums(qemu.ROOT).items():
            stored.content(qemu.ROOT, name, digest)
    then, here = stored.about(qemu.ROOT), tools(compiler)
    check_tools(here, then)
    commit = commit_to_build(renew, then)
    print(f"Building commit {commit[:12]} in a fresh folder ...", flush=True)
    with tempfile.TemporaryDirectory(prefix="tidemark-reference-") as folder:
        new, of_build = built(commit, compiler, Path(folder))
    same = compared(new)
    if renew and not (same and in_history(then.get("commit", ""))):
        write(new, {"commit": commit, **here, "QEMU": image.qemu_version(), **of_build})
    elif not same:
        raise LabError("the rebuilt image differs from the one in reference/; RENEW=1 replaces it", FAILED)
    else:
        print("This is the reference image, bit for bit.")


def say_stale() -> None:
    """Prints the tables and pictures of the documents that are older than the reference image."""
    if (qemu.ROOT / "tools/figures/__main__.py").exists():
        command = [sys.executable, "-m", "figures", "--stale"]
        subprocess.run(command, cwd=qemu.ROOT, env={**os.environ, "PYTHONPATH": "tools"}, check=False)


def main() -> int:
    """Returns 0 if the stored image is that of its commit, or was renewed; else an exit status of tidemark.errors."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--renew", action="store_true", help="replace the stored image by that of the last commit")
    parser.add_argument("compiler", nargs="+")
    args = parser.parse_args()
    try:
        rebuild(args.compiler, args.renew)
    except LabError as error:
        print(f"tidemark: {error}", file=sys.stderr)
        return error.code
    say_stale()
    return 0


if __name__ == "__main__":
    sys.exit(main())
