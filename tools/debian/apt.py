"""apt, in a folder of its own: neither root nor a change to the host is needed, and the host may be of another
distribution or architecture.

The host's own settings stay in force where they say how to reach a network (proxies); its sources, preferences and
installed packages are not used. A list such as APT::Architectures can be replaced in a file only, which apt reads
before the host's; what stands on the command line wins over both.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tidemark.errors import NO_TOOL, LabError
from tidemark.machine import qemu

CACHE = qemu.ROOT / "build/debian"
MIRROR = "http://deb.debian.org/debian"
HELPER = "/usr/lib/apt/apt-helper"
ARCHITECTURES = 'APT::Architecture "i386";\nAPT::Architectures { "i386"; };\n'


def mirror() -> str:
    """Where Debian's archive is: MIRROR in the environment, or Debian's own address."""
    return (os.environ.get("MIRROR") or MIRROR).rstrip("/")


def options(folder: Path) -> list[str]:
    """apt's options for working in this folder alone."""
    values = {
        "Dir::State": folder,
        "Dir::State::Lists": folder / "lists",
        "Dir::State::status": folder / "status",
        "Dir::Cache": folder,
        "Dir::Etc::SourceList": folder / "sources.list",
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::Etc::Preferences": "/dev/null",
        "Dir::Etc::PreferencesParts": "/dev/null",
        "APT::Default-Release": "",
        "APT::Install-Recommends": 0,
        "APT::Sandbox::User": "root",
        "Acquire::Languages": "none",
        "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
        "Acquire::Retries": 2,
        "Debug::NoLocking": 1,
    }
    return [word for name, value in values.items() for word in ("-o", f"{name}={value}")]


def prepare(folder: Path, sources: str = "") -> None:
    """Make the folder, with these sources."""
    (folder / "lists/partial").mkdir(parents=True, exist_ok=True)
    (folder / "archives/partial").mkdir(parents=True, exist_ok=True)
    (folder / "status").touch()
    (folder / "sources.list").write_text(sources)
    (folder / "apt.conf").write_text(ARCHITECTURES)


def run(folder: Path, program: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a program of apt in the folder. Raises LabError if it is not installed."""
    environment = {**os.environ, "APT_CONFIG": str(folder / "apt.conf"), "LC_ALL": "C"}
    try:
        return subprocess.run(
            [program, *options(folder), *words],
            env=environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        raise LabError(f"{program} is not installed; it is part of the package apt", NO_TOOL) from None
