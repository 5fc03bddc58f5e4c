"""Shared by the scripts of this folder: a run with its figures, load on the host, tables, and where they are published.

A table goes between `<!-- figures:NAME -->` and `<!-- end -->` in the only document that has such a pair: README.md or
a page of docs/. So every table in the documents comes from a run, and stands in one place.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from tidemark.machine import qemu  # noqa: E402

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Outcome:
    """A finished run: `code` is one of qemu.OK ..., `wall_s` the host seconds from QEMU's start to its end."""

    code: int
    wall_s: float
    console: str
    telemetry: bytes

    def number(self, pattern: str) -> float:
        """The number that the first group of `pattern` finds in the console."""
        found = re.search(pattern, self.console, re.MULTILINE)
        if not found:
            raise SystemExit(f"no line matches {pattern!r} in:\n{self.console}")
        return float(found[1])

    def records(self, event: str) -> list[dict]:
        """The telemetry's records of one kind."""
        records = [json.loads(line) for line in self.telemetry.decode("ascii").splitlines()]
        if not records or records[-1]["ev"] != "end":
            raise SystemExit("the telemetry is not complete")
        return [record for record in records if record["ev"] == event]

    @property
    def total_s(self) -> float:
        """Virtual seconds from power-on to the summary."""
        return self.number(r"^system: ([\d.]+) s")

    @property
    def utilisation(self) -> float:
        """Percent of total_s in which the processor was not idle."""
        return self.number(r"utilisation ([\d.]+)%")

    @property
    def useful(self) -> float:
        """Percent of total_s in user mode."""
        return self.number(r"\(user ([\d.]+)%")

    @property
    def major_faults(self) -> int:
        """Major faults: those that waited for the disk."""
        return int(self.number(r"(\d+) of them major"))


def measure(command: str, telemetry: bool = False, **settings: object) -> Outcome:
    """Runs one command line in a fresh guest; `settings`: those of qemu.Settings. A failing run ends the script."""
    with tempfile.TemporaryDirectory(prefix="tidemark-figures-") as folder:
        file = Path(folder, "telemetry")
        file.touch()
        s = qemu.Settings(run=command, telemetry=str(file) if telemetry else "", disk_kept=False, **settings)
        s = qemu.prepared(s)
        console = io.BytesIO()
        start = time.monotonic()
        code, _ = qemu.run_command(s, console)
        wall_s = time.monotonic() - start
        text = console.getvalue().decode("ascii", "replace").replace("\r", "")
        if code != qemu.OK:
            raise SystemExit(f"{qemu.command_line(s)}\nended with {code}:\n{text[-2000:]}")
        return Outcome(code, wall_s, text, file.read_bytes())


def in_parallel(function: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """function(item) of every item, in parallel on all cores. Virtual time is not affected."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, items))


@contextlib.contextmanager
def busy_loops(nr: int) -> Iterator[None]:
    """Keeps the host busy with `nr` endless loops."""
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"], preexec_fn=qemu.die_with_parent) for _ in range(nr)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def table(titles: Sequence[str], rows: Iterable[Sequence[object]], text_columns: int = 1) -> str:
    """A Markdown table; the first `text_columns` columns are left-aligned, the others right-aligned."""
    rule = ["---"] * text_columns + ["---:"] * (len(titles) - text_columns)
    lines = [titles, rule, *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def host() -> str:
    """Describes the host in half a sentence."""
    names = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    version = subprocess.run(["qemu-system-i386", "--version"], capture_output=True, text=True).stdout
    qemu = re.search(r"version (\S+)", version)
    return f"QEMU {qemu[1] if qemu else '?'}, {os.cpu_count()} cores, {names[0] if names else 'unknown processor'}"


def replaced(text: str, name: str, body: str) -> str | None:
    """`text` with `body` between the markers of `name`; None if it has no such markers."""
    pattern = re.compile(rf"(<!-- figures:{re.escape(name)} -->\n).*?(<!-- end -->)", re.DOTALL)
    if not pattern.search(text):
        return None
    return pattern.sub(lambda found: f"{found[1]}\n{body}\n\n{found[2]}", text)


def publish(name: str, body: str) -> None:
    """Prints `body`, and writes it to its place in the documents: there must be exactly one."""
    print(f"\n{body}\n", flush=True)
    documents = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    new = {path: replaced(path.read_text(), name, body) for path in documents}
    places = [path for path, text in new.items() if text is not None]
    if len(places) != 1:
        raise SystemExit(f"{len(places)} documents have a place for figures:{name}; there must be exactly one")
    places[0].write_text(new[places[0]])


def run_parts(about: str | None, parts: Mapping[str, Callable[[], None]]) -> None:
    """The command line of a script with several tables: makes the named tables, or all."""
    parser = argparse.ArgumentParser(description=(about or "").split("\n")[0])
    parser.add_argument("parts", nargs="*", choices=[*parts, []], help="default: all")
    for name in parser.parse_args().parts or parts:
        parts[name]()
