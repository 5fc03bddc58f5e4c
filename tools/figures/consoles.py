"""Produces the terminal sessions in the documents: runs what consoles.toml describes, and records the output.

Each table of consoles.toml is one text. `run` is a command of the host (`remove`: results of an earlier run), `type`
are words for Tidemark's prompt, `steps` are commands for gdb on a machine that waits for it, after the commands of
`before`, which are not shown. With `first`, the steps are taken at a place of the run that this command makes. `keep`
are regular expressions: lines that match none are omitted, and one line `...` stands for omitted lines between others.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tidemark.errors import FAILED, LabError

from figures.entries import ROOT, Figure

sys.path.insert(0, str(ROOT / "tests/support"))

from debugger import Session, marked, replayed, session
from guest import PROMPT, Guest

NOISE = ("Continuing.", "")
ELIDED = "..."
SHORT = ("set print address off", "set print frame-arguments none", "set width 110")


def kept(text: str, patterns: list[str]) -> list[str]:
    """The lines that match one of the patterns, if there are patterns, with ELIDED in place of omitted lines between
    them."""
    lines: list[str] = []
    for line in text.rstrip().splitlines():
        if not patterns or any(re.search(pattern, line) for pattern in patterns):
            lines.append(line.rstrip())
        elif lines and lines[-1] != ELIDED:
            lines.append(ELIDED)
    return lines[:-1] if lines[-1:] == [ELIDED] else lines


def of_shell(entry: dict) -> list[str]:
    """Runs a command line of the host, and returns it with its output."""
    environment = os.environ | {"PATH": f"{ROOT}/build/venv/bin:{os.environ['PATH']}"}
    for result in entry.get("remove", []):
        shutil.rmtree(ROOT / result, ignore_errors=True)
    done = subprocess.run(
        ["bash", "-c", entry["run"]],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if (done.returncode == 0) == entry.get("fails", False):
        raise LabError(f"{entry['run']}: status {done.returncode}\n{done.stdout}", FAILED)
    return [f"$ {entry['run']}", *kept(done.stdout.replace("\r", ""), entry.get("keep", []))]


def of_prompt(entry: dict) -> list[str]:
    """Boots to the prompt, and types commands there."""
    with Guest(**entry.get("settings", {})) as guest:
        lines = [] if entry.get("skip_boot") else kept(guest.console.removesuffix(PROMPT), [])
        for command in entry["type"]:
            lines += [PROMPT + command, *kept(guest.sh(command), entry.get("keep", []))]
    return ([f"$ {entry['shown']}"] if "shown" in entry else []) + lines


def of_gdb(entry: dict) -> list[str]:
    """Runs commands of gdb, each with its answer."""
    settings = {name.upper(): str(value) for name, value in entry.get("settings", {}).items()}
    steps = [line for nr, step in enumerate(entry["steps"]) for line in marked(str(nr), step)]
    return told(
        entry, session(entry["command"], entry["program"], *SHORT, *entry.get("before", []), *steps, **settings)
    )


def of_place(entry: dict) -> list[str]:
    """Runs commands of gdb at a place of a run, which is made first."""
    shutil.rmtree(ROOT / entry["remove"], ignore_errors=True)
    made = of_shell({"run": entry["first"]})[:1]
    steps = [line for nr, step in enumerate(entry["steps"]) for line in marked(str(nr), step)]
    words = entry["shown"].split()[2:]
    return [*made, f"$ {entry['shown']}", *told(entry, replayed(ROOT / words[0], words[1:], *SHORT, *steps))]


def told(entry: dict, found: Session) -> list[str]:
    """The steps of a session, each with its answer."""
    lines = []
    for nr, step in enumerate(entry["steps"]):
        answer = "\n".join(line for line in found.answer(str(nr)).splitlines() if line.strip() not in NOISE)
        lines += [f"(gdb) {step}", *kept(answer, entry.get("keep", []))]
    return lines


def make(figure: Figure, work: Path) -> str:
    """The text as a Markdown block."""
    entry = figure.settings
    text = of_place if "first" in entry else of_gdb if "steps" in entry else of_prompt if "type" in entry else of_shell
    return "```\n" + "\n".join(text(entry)) + "\n```"
