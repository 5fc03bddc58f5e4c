"""A machine with almost nothing installed: a copy of the set-up's scripts, and a PATH with stand-ins for their
tools."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tidemark.machine import qemu

SHELL = ("bash", "sh", "dirname", "sort", "head", "grep", "cmp", "cat", "tr", "sed", "mkdir", "flock", "rm", "chmod",
         "awk", "uname", "mktemp")  # fmt: skip
FILES = ("tools/setup.sh", "tools/locked.sh", "tools/packages.txt", "tools/zig/fetch.py", "pyproject.toml")

# Each stand-in logs its arguments. apt-get installs what the goal qemu needs, unless it is told to fail.
APT = """\
echo "apt-get $*" >>{called}
[ ! -e {folder}/apt_fails ] || {{ echo "E: Unable to fetch some archives"; exit 100; }}
case "$*" in *install*)
	for tool in i686-elf-gcc make python3 qemu-system-i386; do
		[ -e {path}/$tool ] || {{ printf '#!/bin/sh\\necho 99.9\\n' >{path}/$tool; chmod +x {path}/$tool; }}
	done
esac
"""
# Makes a venv whose python is pip. While a certain file exists, it fails before or during writing.
PYTHON = """\
echo "python3 $*" >>{called}
case "$*" in
*"-m venv"*) mkdir -p build/venv/bin && cp {folder}/pip build/venv/bin/python ;;
*) echo 99.9 ;;
esac
"""
PIP = """\
#!/bin/sh
echo "pip $*" >>{called}
echo "Collecting numpy>=2.1 (from tidemark==0.3.0)"
[ ! -e {folder}/pip_fails ] || {{ echo "ERROR: No matching distribution found for numpy"; exit 1; }}
case "$*" in *most*) ;; *)
	[ ! -e {folder}/no_numba ] || {{ echo "ERROR: No matching distribution found for numba>=0.61"; exit 1; }} ;;
esac
echo "Installing collected packages: numpy"
[ ! -e {folder}/pip_is_killed ] || kill -KILL $$
"""


@dataclass(frozen=True)
class Machine:
    """`folder` has the tree, the PATH, and the files that tell stand-ins to fail."""

    folder: Path

    @property
    def tree(self) -> Path:
        """The tree in which the set-up works."""
        return self.folder / "tree"

    @property
    def path(self) -> Path:
        """The only folder in PATH."""
        return self.folder / "path"

    def called(self) -> str:
        """The arguments of all calls of stand-ins, one line for each call."""
        log = self.folder / "called"
        return log.read_text() if log.exists() else ""

    def stand_in(self, name: str, body: str) -> None:
        """Adds a program to PATH."""
        text = body.format(folder=self.folder, path=self.path, called=self.folder / "called")
        (self.path / name).unlink(missing_ok=True)  # it may be a link to the real one
        (self.path / name).write_text(f"#!/bin/sh\n{text}")
        (self.path / name).chmod(0o755)

    def environment(self, **env: str) -> dict[str, str]:
        """The environment of programs on this machine."""
        return {"PATH": str(self.path), **env}

    def command(self, *words: str) -> list[str]:
        """The set-up's script with arguments."""
        return [str(self.path / "bash"), str(self.tree / "tools/setup.sh"), *words]

    def setup(self, *words: str, **env: str) -> subprocess.CompletedProcess:
        """Runs the set-up without a terminal."""
        return subprocess.run(
            self.command(*words),
            env=self.environment(**env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )


def machine(folder: Path, *tools: str) -> Machine:
    """A machine with a shell, apt-get, python3 and root; `tools` are installed beforehand, in a sufficient version."""
    made = Machine(folder)
    made.path.mkdir()
    for name in FILES:
        (made.tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(qemu.ROOT / name, made.tree / name)
    for tool in (*SHELL, "cp"):
        (made.path / tool).symlink_to(shutil.which(tool))
    made.stand_in("id", "echo 0\n")
    made.stand_in("apt-get", APT)
    made.stand_in("python3", PYTHON)
    for tool in tools:
        made.stand_in(tool, "echo 99.9\n")
    text = PIP.format(folder=folder, called=folder / "called")
    (folder / "pip").write_text(text)
    os.chmod(folder / "pip", 0o755)
    return made
