#!/usr/bin/env python3
"""Make a wheel of the lab, the reference image and the page: mkwheel.py (`make wheel`).

The wheel is build/wheel/tidemark_lab-VERSION-py3-none-any.whl, for `pip install`. The distribution is called
tidemark-lab, since PyPI has another project called tidemark; the command and the package are called tidemark. It brings
the reference image as it is stored, and the page without the book. tidemark/machine/home.py says how it is used.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from tidemark.errors import FAILED, LabError
from tidemark.machine import home

NAME = "tidemark-lab"
# What `tidemark demo`, `report` and `watch` import; the other extras of pyproject.toml stay extras.
BROUGHT = ("figures", "watch")
OUT, PAGE = Path("build/wheel"), Path("build/page")
NOT_ON_THE_PAGE = ("book",)
MODULE = "mkinitramfs.py"  # which tidemark.machine.qemu imports, and make runs by itself
NOT_PACKED = ("__pycache__", "*.pyc")


def project(tree: Mapping[str, Any]) -> str:
    """pyproject.toml of the wheel, from that of the tree."""
    of, extras = tree["project"], tree["project"]["optional-dependencies"]
    needed = [*of["dependencies"], *(one for extra in BROUGHT for one in extras[extra])]
    kept = {name: extras[name] for name in ("trace", "cluster")}
    lines = [
        "[build-system]",
        f"requires = {json.dumps(tree['build-system']['requires'])}",
        f"build-backend = {json.dumps(tree['build-system']['build-backend'])}",
        "[project]",
        f"name = {json.dumps(NAME)}",
        *(f"{name} = {json.dumps(of[name])}" for name in ("version", "description", "requires-python")),
        f"dependencies = {json.dumps(needed)}",
        "[project.optional-dependencies]",
        *(f"{name} = {json.dumps(value)}" for name, value in kept.items()),
        "[project.scripts]",
        *(f"{name} = {json.dumps(value)}" for name, value in of["scripts"].items()),
        "[tool.hatch.build.targets.wheel]",
        'packages = ["tidemark"]',
        'artifacts = ["tidemark/wheel"]',
        f'force-include = {{"{MODULE}" = "{MODULE}"}}',
    ]
    return "\n".join(lines) + "\n"


def stage(source: Path) -> None:
    """Put what the wheel holds into a folder that does not exist: it can be imported from there, too."""
    brought = source / "tidemark" / home.WHEEL.name
    shutil.copytree("tools/tidemark", source / "tidemark", ignore=shutil.ignore_patterns(*NOT_PACKED))
    shutil.copytree("reference", brought / home.REFERENCE)
    if PAGE.exists():
        shutil.copytree(PAGE, brought / home.PAGE, ignore=shutil.ignore_patterns(*NOT_ON_THE_PAGE))
    shutil.copy("LICENSE", source)
    shutil.copy(f"tools/{MODULE}", source)
    (source / "pyproject.toml").write_text(project(tomllib.loads(Path("pyproject.toml").read_text())))


def main() -> None:
    """Build the wheel. Raises LabError if that fails."""
    shutil.rmtree(OUT, ignore_errors=True)
    stage(OUT / "source")
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(OUT), str(OUT / "source")]
    if subprocess.run(command, check=False).returncode:
        raise LabError("pip could not build the wheel; its message is above", FAILED)
    shutil.rmtree(OUT / "source")
    [made] = OUT.glob("*.whl")
    print(f"{made}, {made.stat().st_size / 1e6:.1f} MB: pip install {made}, then tidemark demo")


if __name__ == "__main__":
    try:
        main()
    except LabError as error:
        sys.exit(f"mkwheel: {error}")
