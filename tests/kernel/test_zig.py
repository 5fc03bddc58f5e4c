"""tools/zig: what it fetches and refuses, and the tools that zig lacks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tidemark.machine import qemu

FILES = ("tools/zig/fetch.py", "tools/zig/requirements.txt")


def fetch(tree: Path, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """fetch.py of a tree that has nothing else."""
    for name in FILES:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(qemu.ROOT / name, tree / name)
    command = [sys.executable, str(tree / FILES[0]), str(folder)]
    return subprocess.run(command, env={**os.environ, **env}, capture_output=True, text=True, timeout=120)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a zig that prints a version."""
    made = tmp_path / "with a blank/zig"
    made.mkdir(parents=True)
    (made / "zig").write_text("#!/bin/sh\necho 0.17.1\n")
    (made / "zig").chmod(0o755)
    return made


def test_zig_of_the_user_is_linked(tmp_path: Path, folder: Path) -> None:
    for _ in range(2):
        assert fetch(tmp_path, folder).returncode == 0
        assert (tmp_path / "build/zig").resolve() == folder


def test_damaged_zig_is_refused(tmp_path: Path, folder: Path) -> None:
    (folder / "zig.sha256").write_text("0" * 64 + "\n")
    done = fetch(tmp_path, folder)
    assert done.returncode == 1 and f"has another hash than when it was fetched; rm -r '{folder}'" in done.stderr
    assert not (tmp_path / "build/zig").is_symlink()


def test_zig_that_does_not_run_is_refused(tmp_path: Path, folder: Path) -> None:
    (folder / "zig").chmod(0o644)
    assert "does not run" in fetch(tmp_path, folder).stderr


def test_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "home").touch()
    done = fetch(tmp_path, tmp_path / "home/zig")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert done.stderr.endswith("choose another folder with ZIG=FOLDER\n")


def test_no_network_is_a_sentence(tmp_path: Path) -> None:
    done = fetch(tmp_path, tmp_path / "cache/zig", PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path))
    assert done.returncode == 1 and "Is there a network? The next make tries again" in done.stderr
    assert not list((tmp_path / "cache").iterdir())


def test_file_with_another_hash_is_not_used(tmp_path: Path) -> None:
    wheel, about = tmp_path / "ziglang-0.17.1-py3-none-any.whl", "ziglang-0.17.1.dist-info"
    with zipfile.ZipFile(wheel, "w") as made:
        made.writestr("ziglang/zig", "#!/bin/sh\n")
        made.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: ziglang\nVersion: 0.17.1\n")
        made.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        made.writestr(f"{about}/RECORD", "")
    done = fetch(tmp_path, tmp_path / "cache/zig", PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path))
    assert done.returncode == 1 and "does not have the hash in tools/zig/requirements.txt" in done.stderr, done.stderr
    assert not list((tmp_path / "cache").iterdir())


def test_nm_gives_the_same_names_as_binutils() -> None:
    """Their order differs only between symbols at one address."""
    said = subprocess.check_output([qemu.ROOT / "tools/zig/llvm-nm", "-n", qemu.ROOT / qemu.KERNEL], text=True)
    theirs = (qemu.ROOT / (qemu.KERNEL + ".nm")).read_text()
    assert sorted(said.splitlines()) == sorted(theirs.splitlines())
    assert [line[:8] for line in said.splitlines()] == [line[:8] for line in theirs.splitlines()]


def test_strip_keeps_what_is_loaded(tmp_path: Path) -> None:
    made = tmp_path / "stripped"
    subprocess.run([qemu.ROOT / "tools/zig/llvm-strip", "-o", made, "--", qemu.ROOT / qemu.KERNEL], check=True)
    assert made.stat().st_size < (qemu.ROOT / qemu.KERNEL).stat().st_size / 2
    whole, less = (qemu.ROOT / qemu.KERNEL).read_bytes(), made.read_bytes()
    assert less[52:] == whole[52 : len(less)]  # behind the header: the segments' headers and the segments
