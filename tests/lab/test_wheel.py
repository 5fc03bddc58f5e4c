"""The wheel: what it holds, what works without a tree, and what says in one sentence that it does not.

The wheel's files are put into a folder and imported from there, with nothing of the tree on the path: pip would only
copy them. `make wheel` builds the wheel itself.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib
import mkwheel
from tidemark import errors
from tidemark.machine import home, qemu

README = (qemu.ROOT / "README.md").read_text()


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's files."""
    place = tmp_path_factory.mktemp("wheel") / "site"
    place.mkdir()
    before = Path.cwd()
    os.chdir(qemu.ROOT)
    try:
        mkwheel.stage(place / "files")
    finally:
        os.chdir(before)
    return place / "files"


def tidemark(installed: Path, *words: object, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """The command, as it is installed from the wheel."""
    plain = {"PATH": os.environ["PATH"], "HOME": str(cwd), "PYTHONPATH": str(installed), "COLUMNS": "120", **env}
    command = [sys.executable, "-P" if sys.version_info >= (3, 11) else "-s", "-m", "tidemark.cli", *map(str, words)]
    return subprocess.run(command, cwd=cwd, env=plain, capture_output=True, text=True, timeout=250)


def test_wheel_is_of_another_name_and_brings_no_tree(installed: Path) -> None:
    project = tomllib.loads((installed / "pyproject.toml").read_text())["project"]
    assert project["name"] == "tidemark-lab" and project["scripts"] == {"tidemark": "tidemark.cli:main"}
    assert any(one.startswith("matplotlib") for one in project["dependencies"])
    assert (installed / "tidemark/wheel/reference/SHA256SUMS").exists() and not (installed / "kernel").exists()


def test_run_and_report_work_without_a_tree(installed: Path, tmp_path: Path) -> None:
    done = tidemark(installed, "run", "thrash 8 4096 10", "--vm", "ws", "--mem", "16M", "-q", "-o", "ws", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    printed = [line for line in (tmp_path / "ws/console.log").read_text().splitlines() if line.startswith("system:")]
    assert printed and printed[0] in README, "README's walk shows the reference image"
    done = tidemark(installed, "report", "ws", "-o", "page", cwd=tmp_path)
    assert done.returncode == 0 and "Hardest hit" in (tmp_path / "page/report.html").read_text()
    [cache] = (tmp_path / ".cache/tidemark").iterdir()
    assert (cache / "build/tidemark.elf").exists()


@pytest.mark.soak
def test_demo_shows_the_runs_of_the_readme(installed: Path, tmp_path: Path) -> None:
    done = tidemark(installed, "demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith(("system:", "faults:", "reclaim:"))]
    assert len(lines) == 6 and all(line in README for line in lines)
    assert "times as fast as under 2q" in done.stdout and (tmp_path / "demo/report/report.html").exists()


@pytest.mark.parametrize(
    "words", [("sim", "1 2 3"), ("min", "x"), ("quiz", "take"), ("compare", "a", "b"), ("trace", "record", "x")]
)
def test_what_needs_a_tree_says_so_in_one_sentence(installed: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    done = tidemark(installed, *words, cwd=tmp_path)
    assert done.returncode == errors.NO_TOOL and done.stderr.count("\n") == 1, done.stderr
    assert f"{words[0]} needs " in done.stderr and "make lab" in done.stderr
    assert tidemark(installed, words[0], "--help", cwd=tmp_path).returncode == 0


def test_cache_that_cannot_be_written_is_named(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = tidemark(installed, "run", "true", cwd=tmp_path, XDG_CACHE_HOME=str(tmp_path / "file"))
    assert done.returncode == errors.NO_SPACE and done.stderr.count("\n") == 1, done.stderr
    assert "XDG_CACHE_HOME" in done.stderr


def test_spoilt_image_in_the_cache_is_unpacked_again(installed: Path, tmp_path: Path) -> None:
    assert tidemark(installed, "run", "true", "-q", "-o", "a", cwd=tmp_path).returncode == 0
    [cache] = (tmp_path / ".cache/tidemark").iterdir()
    (cache / "build/reference-image/build/tidemark.elf").write_bytes(b"spoilt")
    done = tidemark(installed, "run", "true", "-q", "-o", "b", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_every_command_that_a_wheel_lacks_exists() -> None:
    from tidemark.cli import COMMANDS

    assert set(home.NOT_HERE) <= set(COMMANDS)
