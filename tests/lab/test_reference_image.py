"""The reference image: what reference/ holds, who can run it, and how a wrong image is reported. Nothing
here depends on whether it equals an image that is built from the present sources."""

from __future__ import annotations

import hashlib
import lzma
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fakes import machine
from lab import tidemark
from making import make
from tidemark import errors
from tidemark.machine import qemu, reference_image
from tidemark.runs import results

STORE = qemu.ROOT / reference_image.STORE
QUICK = ("--swap", "sim:ram", "--mem", "16M", "-q")
MOST = 1_000_000


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A tree with the files that running needs, where nothing has been built."""
    folder = tmp_path / "a clone"
    for name in ("tools", reference_image.STORE):
        shutil.copytree(qemu.ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
    shutil.copy(qemu.ROOT / "Makefile", folder)
    return folder


def test_stored_files_have_their_sums_and_at_most_a_megabyte() -> None:
    sums = reference_image.sums(qemu.ROOT)
    for name, digest in sums.items():
        assert hashlib.sha256(lzma.decompress((STORE / (name + ".xz")).read_bytes())).hexdigest() == digest
    assert sum(path.stat().st_size for path in STORE.glob("*.xz")) <= MOST
    about = reference_image.about(qemu.ROOT)
    assert about.keys() >= {"commit", "compiler", "linker", "C library", "flags", "QEMU", reference_image.AS_BUILT}


def test_sums_are_read_by_sha256sum() -> None:
    folder = reference_image.unpacked(qemu.ROOT) / "build"
    subprocess.run(["sha256sum", "--strict", "--quiet", "-c", STORE / "SHA256SUMS"], cwd=folder, check=True)


def test_a_machine_without_a_compiler_lacks_nothing_for_it(tmp_path: Path) -> None:
    bare = machine(tmp_path, "make", "qemu-system-i386", "gdb")
    for goal in ("qemu", "qemu-gdb", "gdb"):
        result = bare.setup(goal, IMAGE="reference", INSTALL="no")
        assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert bare.setup("qemu", IMAGE="built", INSTALL="no").returncode == 1


def test_it_boots_in_a_clone_where_nothing_is_built(clone: Path) -> None:
    done = make("qemu", "IMAGE=reference", "RUN=echo hello", folder=clone)
    assert done.returncode == 0, done.stderr
    assert "hello\n" in done.stdout.replace("\r", "") and "system: " in done.stdout
    assert {path.name for path in (clone / "build").iterdir()} <= {".lock", "reference-image"}
    assert make("gdb", "IMAGE=reference", "GDBPORT=1", folder=clone).returncode


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("qemu", "IMAGE=refrence"), "IMAGE=refrence: it is built or reference"),
        (("qemu", "IMAGE="), "IMAGE=: it is built or reference"),
        (("iso", "IMAGE=reference"), "IMAGE=reference is for qemu, qemu-gdb, gdb and lab"),
        (("qemu", "IMAGE=reference", "EXTRA=Makefile"), "EXTRA: the reference image takes no more programs"),
    ],
)
def test_what_it_cannot_do_is_said(words: tuple[str, ...], said: str) -> None:
    done = make(*words)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr


def spoil_sum(store: Path) -> None:
    """Another sum for the kernel."""
    text = (store / "SHA256SUMS").read_text()
    (store / "SHA256SUMS").write_text(("1" if text[0] == "0" else "0") + text[1:])


def spoil_content(store: Path) -> None:
    """A complete kernel.xz with other content."""
    (store / "tidemark.elf.xz").write_bytes(lzma.compress(b"another kernel"))


def cut_short(store: Path) -> None:
    """A file that ends too early."""
    path = store / "tidemark.elf.xz"
    path.write_bytes(path.read_bytes()[:1000])


def drop_line(store: Path) -> None:
    """A file without a sum."""
    path = store / "SHA256SUMS"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[1:]))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (spoil_sum, "tidemark.elf.xz does not have the SHA-256 in reference/SHA256SUMS"),
        (spoil_content, "tidemark.elf.xz does not have the SHA-256 in reference/SHA256SUMS"),
        (cut_short, "tidemark.elf.xz cannot be unpacked"),
        (drop_line, "SHA256SUMS must have one line for each of"),
    ],
)
def test_wrong_sum_is_one_sentence(clone: Path, spoil: object, said: str) -> None:
    spoil(clone / "reference")
    with pytest.raises(errors.LabError, match=said) as raised:
        reference_image.unpacked(clone)
    assert raised.value.code == errors.BAD_INPUT
    done = make("-s", "qemu", "IMAGE=reference", "RUN=true", folder=clone)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("make")]
    assert done.returncode == 2 and len(lines) == 1 and said in lines[0] and "`git checkout reference/`" in lines[0]


def test_tree_without_it_says_so(clone: Path) -> None:
    shutil.rmtree(clone / "reference")
    with pytest.raises(errors.LabError, match="this tree has no reference image"):
        reference_image.unpacked(clone)


def test_unpacked_files_that_were_changed_are_replaced(clone: Path) -> None:
    kernel = reference_image.unpacked(clone) / qemu.KERNEL
    before = kernel.read_bytes()
    kernel.write_bytes(before + b"\0")
    assert (reference_image.unpacked(clone) / qemu.KERNEL).read_bytes() == before


def test_run_and_rerun_use_it(tmp_path: Path) -> None:
    done = tidemark("run", "thrash 2 512 3", "--image", "reference", *QUICK, "--out", "result", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    meta = results.load(tmp_path / "result").meta
    assert meta["image"]["kernel"] == reference_image.sums(qemu.ROOT)["tidemark.elf"]
    assert meta["image"]["commit"] == reference_image.about(qemu.ROOT)["commit"][:12]
    for words in ((), ("--image", "reference")):
        again = tidemark("rerun", "result", *words, cwd=tmp_path)
        assert again.returncode == 0 and "the same: telemetry.ndjson" in again.stdout, again.stderr


def test_sweep_uses_it(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text('workload = "true"\nmem = "16M"\nswap = "none"\n')
    done = tidemark("sweep", "plan.toml", "--image", "reference", "-q", "-o", "swept", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (cell,) = (tmp_path / "swept/cells").iterdir()
    assert results.load(cell).meta["image"]["kernel"] == reference_image.sums(qemu.ROOT)["tidemark.elf"]


# --- making it ---


def test_another_compiler_is_refused(tmp_path: Path) -> None:
    compiler = tmp_path / "other-gcc"
    compiler.write_text('#!/bin/sh\ncase $1 in --version) echo "other-gcc 99.9" ;; *) echo ld ;; esac\n')
    compiler.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "tools/mkreference.py", "--", str(compiler)],
        cwd=qemu.ROOT,
        env={**os.environ, "PYTHONPATH": "tools"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == errors.NO_TOOL and done.stdout == ""
    assert "the compiler here is other-gcc 99.9" in done.stderr and len(done.stderr.splitlines()) == 1
