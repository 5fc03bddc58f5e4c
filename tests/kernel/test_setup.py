"""tools/setup.sh on incomplete machines: its messages, questions, installations, and how it continues after a
failure."""

from __future__ import annotations

import re
from pathlib import Path

import pexpect
import pytest
from fakes import Machine, machine

# What the goals `qemu` and `sim` need.
BUILD = ("i686-elf-gcc", "make", "qemu-system-i386")
LAB = (*BUILD, "cc", "gcc")


@pytest.fixture
def bare(tmp_path: Path) -> Machine:
    """A machine with only a shell and python3."""
    return machine(tmp_path)


@pytest.fixture
def lab(tmp_path: Path) -> Machine:
    """A machine with all packages of the distribution, but without the Python packages."""
    return machine(tmp_path, *LAB)


@pytest.mark.parametrize("env", [{}, {"INSTALL": "yes"}], ids=["no_terminal", "yes"])
def test_says_what_it_installs_and_installs_it(bare: Machine, env: dict[str, str]) -> None:
    result = bare.setup("qemu", **env)
    assert result.returncode == 0, result.stderr
    assert re.search(r"needs packages .*qemu-system-x86", result.stderr)
    assert re.search(r"(?m)^  apt-get install -y .*qemu-system-x86.* ccache", result.stderr)
    assert re.search(r"apt-get .*update\napt-get .*install -y .*qemu-system-x86", bare.called())
    assert result.stdout == "i686-elf-gcc\n"


def test_is_quiet_when_nothing_is_to_do(tmp_path: Path) -> None:
    """On a machine that lacks only ccache, nothing is installed: ccache is optional."""
    result = machine(tmp_path, *BUILD).setup("qemu")
    assert (result.returncode, result.stdout, result.stderr) == (0, "i686-elf-gcc\n", "")


def test_no_means_no(bare: Machine) -> None:
    result = bare.setup("qemu", INSTALL="no")
    assert result.returncode == 1
    assert "apt-get install" in result.stderr and "INSTALL=no: nothing was changed" in result.stderr
    assert "apt-get" not in bare.called()


def test_other_answers_are_refused(bare: Machine) -> None:
    result = bare.setup("qemu", INSTALL="maybe")
    assert result.returncode == 1 and "INSTALL=maybe: it is yes or no" in result.stderr
    assert "apt-get" not in bare.called()


@pytest.mark.parametrize(("answer", "installs"), [("y", True), ("n", False), ("", False)])
def test_at_a_terminal_it_asks_first(bare: Machine, answer: str, installs: bool) -> None:
    command, *words = bare.command("qemu")
    terminal = pexpect.spawn(command, words, env=bare.environment(), timeout=60, encoding="utf-8")
    terminal.expect_exact("Install them now? [y/N] ")
    assert "apt-get" not in bare.called()
    terminal.sendline(answer)
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert ("apt-get" in bare.called()) == installs and (terminal.exitstatus == 0) == installs


def test_password_nobody_can_type_ends_with_the_command(bare: Machine) -> None:
    bare.stand_in("id", "echo 1000\n")
    bare.stand_in("sudo", 'echo "sudo $*" >>{called}; exit 1\n')
    result = bare.setup("qemu")
    assert result.returncode == 1
    assert re.search(r"(?m)^  sudo apt-get install -y .*qemu-system-x86", result.stderr)
    assert "sudo would ask for a password" in result.stderr
    assert bare.called().endswith("sudo -n true\n") and "apt-get" not in bare.called()


OTHERS = {
    "dnf": "dnf install -y .*qemu-system-x86 ",
    "pacman": "pacman -S --needed .*qemu-system-x86 ",
    "apk": "apk add .*qemu-system-i386 ",
    "nix-shell": "nix-shell -p .*gnumake .*qemu ",
    "brew": "brew install .*qemu ",
    "none": "install what Debian calls .*qemu-system-x86 ",
}


@pytest.mark.parametrize("manager", OTHERS)
def test_machine_without_apt_is_told_what_to_install(bare: Machine, manager: str) -> None:
    """The command of its own package manager; no compiler, because zig is fetched."""
    (bare.path / "apt-get").rename(bare.path / manager)
    result = bare.setup("qemu")
    assert result.returncode == 1 and "fetch.py" not in bare.called()
    assert re.search(f"(?m)^  {OTHERS[manager]}", result.stderr), result.stderr
    assert "only by apt-get, so run that command, then make again" in result.stderr
    assert "gcc" not in result.stderr and "clang" not in result.stderr
    doctor = bare.setup("--doctor").stdout
    assert re.search("(?m)^note  compiler .*make fetches zig, 101 MB, into .*/tidemark/zig-0.17.1$", doctor), doctor
    assert re.search(r"(?m)^BAD   qemu-system-i386 .*missing; for `make qemu`: .*qemu", doctor), doctor


@pytest.mark.parametrize("wanted", ["", "zig"])
def test_zig_is_fetched_without_another_compiler_or_when_asked_for(bare: Machine, wanted: str) -> None:
    if not wanted:
        (bare.path / "apt-get").unlink()
    for tool in BUILD[1:]:
        bare.stand_in(tool, "echo 99.9\n")
    folder = str(bare.folder / "a folder")
    assert "INSTALL=no" in bare.setup("qemu", INSTALL="no", ZIG=folder, TIDEMARK_CC=wanted).stderr
    assert "fetch.py" not in bare.called()
    result = bare.setup("qemu", ZIG=folder, TIDEMARK_CC=wanted)
    assert (result.returncode, result.stdout) == (0, "tools/zig/clang\n"), result.stderr
    assert f"python3 tools/zig/fetch.py {folder}\n" in bare.called() and "101 MB, once, into" in result.stderr


def test_compiler_can_be_chosen(bare: Machine) -> None:
    bare.setup("qemu")
    refused = bare.setup("qemu", TIDEMARK_CC="clang")
    assert (
        refused.returncode == 1
        and "clang, lld, llvm-nm, llvm-ar and llvm-strip must be installed: apt-get" in refused.stderr
    )
    bare.stand_in("clang", 'case "$*" in *prog-name*) echo sh ;; *) echo 99.9 ;; esac\n')
    assert bare.setup("qemu", TIDEMARK_CC="clang").stdout == "clang --target=i686-linux-gnu\n"
    assert bare.setup("qemu", TIDEMARK_CC="gcc -m32").stdout == "gcc -m32\n"


def test_windows_is_told_about_wsl(bare: Machine) -> None:
    bare.stand_in("uname", "echo MINGW64_NT-10.0\n")
    result = bare.setup("qemu")
    assert (result.returncode, bare.called()) == (1, "")
    assert re.fullmatch(r"Tidemark does not run on MINGW64_NT.*WSL2 .*\.\n", result.stderr)


def test_python_that_stays_too_old_is_named(bare: Machine) -> None:
    (bare.path / "python3").write_text("#!/bin/sh\necho Python 3.8.10\n")
    result = bare.setup("qemu")
    assert result.returncode == 1
    assert "python3 is 3.8.10 here, and the packages have no newer one; Tidemark needs 3.10 or later" in result.stderr


def test_packages_that_cannot_be_fetched_are_named_and_tried_again(bare: Machine) -> None:
    (bare.folder / "apt_fails").touch()
    result = bare.setup("qemu")
    assert result.returncode == 1 and not result.stdout
    assert "Unable to fetch" in result.stderr and "Is there a network?" in result.stderr
    (bare.folder / "apt_fails").unlink()
    assert bare.setup("qemu").stdout == "i686-elf-gcc\n"


def test_goals_that_use_pip_need_what_makes_a_venv(bare: Machine) -> None:
    (bare.path / "python3").write_text("#!/bin/sh\ncase $* in *ensurepip*) exit 1 ;; esac\necho 99.9\n")
    for goal in ("lab", "sim", "grade", "page"):
        assert "python3-venv" in bare.setup(goal, INSTALL="no").stderr, goal


def test_root_installs_packages_alone_for_who_then_uses_the_goals(bare: Machine) -> None:
    result = bare.setup("--packages", "check")
    assert result.returncode == 0, result.stderr
    assert re.search(r"apt-get .*install -y .*bubblewrap.*qemu-system-x86", bare.called())
    assert "-m venv" not in bare.called() and not (bare.tree / "build/venv").exists()


def test_pip_shows_each_package_and_leaves_a_stamp(lab: Machine) -> None:
    result = lab.setup("sim", INSTALL="yes")
    assert result.returncode == 0, result.stderr
    assert "  PIP   numpy>=2.1\n" in result.stderr
    before = lab.called()
    again = lab.setup("sim")
    assert (again.returncode, again.stderr) == (0, "") and "pip -m" not in lab.called().removeprefix(before)


def test_pip_without_a_network_is_tried_again(lab: Machine) -> None:
    (lab.folder / "pip_fails").touch()
    failed = lab.setup("sim")
    assert failed.returncode == 1
    assert "No matching distribution" in failed.stderr and "The next make tries again" in failed.stderr
    (lab.folder / "pip_fails").unlink()
    assert lab.setup("sim").returncode == 0
    assert lab.called().count("python3 -m venv") == 1


def test_where_numba_has_no_file_the_rest_is_installed(lab: Machine) -> None:
    (lab.folder / "no_numba").touch()
    result = lab.setup("lab")
    assert result.returncode == 0 and "numba has no file for this machine: the rest is installed" in result.stderr
    assert lab.called().count("-e .[all]") == lab.called().count("-e .[most]") == 1
    before = lab.called()
    assert lab.setup("lab").returncode == 0 and "pip -m" not in lab.called().removeprefix(before)


@pytest.mark.soak
def test_pip_that_was_killed_while_it_wrote_begins_anew(lab: Machine) -> None:
    (lab.folder / "pip_is_killed").touch()
    assert lab.setup("sim").returncode == 1
    (lab.folder / "pip_is_killed").unlink()
    assert lab.setup("sim").returncode == 0
    assert lab.called().count("python3 -m venv --clear") == 2
    assert not (lab.tree / "build/venv/unfinished").exists()


def test_libraries_of_another_tree_are_not_cleared(lab: Machine, tmp_path: Path) -> None:
    """If build/venv is a link, the link is removed, and a separate folder is made."""
    (tmp_path / "others").mkdir()
    (tmp_path / "others/pyvenv.cfg").touch()
    (lab.tree / "build").mkdir()
    (lab.tree / "build/venv").symlink_to(tmp_path / "others")
    result = lab.setup("lab")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "others/pyvenv.cfg").exists() and not (lab.tree / "build/venv").is_symlink()


def test_doctor_names_what_is_missing_and_the_command(bare: Machine) -> None:
    result = bare.setup("--doctor")
    assert result.returncode == 1 and "apt-get" not in bare.called()
    for tool, package in (("compiler", "gcc-i686-linux-gnu"), ("qemu-system-i386", "qemu-system-x86"), ("gdb", "gdb")):
        assert re.search(rf"(?m)^BAD\s+{tool}\s.*missing.*apt-get install .*{package}", result.stdout), result.stdout
    assert re.search(r"(?m)^note\s+ccache\s.*missing; for `make all`", result.stdout), result.stdout
