"""Results: a folder for each run, of plain files.

    meta.json         the run's settings, its QEMU and image, and how it ended: `state` is running, done or interrupted
    telemetry.ndjson  the kernel's telemetry, unchanged
    console.log       the console, unchanged
    qemu.log          QEMU's own messages, if there were any
    processes.csv     a row for each process that ended: the `exit` records
    samples.csv       a row for each sample, nested members as `vm.pgfault`; processes are left out

meta.json is written first with state "running", and replaced when the run has ended. If it still says so, the run was
cut off, or is in progress. It contains the SHA-256 of both raw files, so that a changed or truncated one is detected.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tidemark.errors import USAGE, LabError
from tidemark.files import check_folder, sha256, write_csv, write_json
from tidemark.machine import parameters, qemu
from tidemark.telemetry import stream

SCHEMA = 1
META, TELEMETRY, CONSOLE, QEMU_LOG = "meta.json", "telemetry.ndjson", "console.log", "qemu.log"
RAW = (TELEMETRY, CONSOLE)
OF_THE_HOST = ("image", "telemetry", "qemu_flags", "gdb_port", "memory", "future")
COMMANDS = (*OF_THE_HOST, "prefix")  # never taken from a result: with them QEMU could start any program
OF_DISKS = ("disk", "disk_kind", "disk2", "disk_kept")


@dataclass
class Result:
    """A result's folder and what its meta.json says."""

    folder: Path
    meta: dict[str, Any]

    @property
    def telemetry_path(self) -> Path:
        return self.folder / TELEMETRY

    @property
    def console_path(self) -> Path:
        return self.folder / CONSOLE

    @property
    def name(self) -> str:
        """The folder's own name, for legends and tables."""
        return self.folder.resolve().name

    def settings(self) -> qemu.Settings:
        """The settings that repeat the run, with the image of this tree. The result may be a student's."""
        given = self.meta["settings"]
        return qemu.Settings(**{name: value for name, value in given.items() if name not in COMMANDS})

    def telemetry(self, partial: bool = False) -> stream.Telemetry:
        """The run's telemetry; see tidemark.telemetry.stream.read."""
        return stream.read(self.telemetry_path, partial)

    def tail(self, lines: int = 12) -> str:
        """The last lines of the run's console."""
        text = self.console_path.read_text("ascii", "replace") if self.console_path.exists() else ""
        return "\n".join(line.rstrip() for line in text.splitlines()[-lines:])


def described(settings: qemu.Settings) -> dict[str, Any]:
    """The settings that make the run, as JSON."""
    left_out = OF_THE_HOST if settings.disk else OF_THE_HOST + OF_DISKS
    return {name: value for name, value in asdict(settings).items() if name not in left_out}


def new_folder(settings: qemu.Settings, parent: Path) -> Path:
    """An unused name: date, policy and program, such as results/20261121-103000-ws-thrash."""
    program = re.sub(r"\W+", "-", settings.run.split()[0] if settings.run.split() else "boot").strip("-") or "run"
    stem = f"{datetime.datetime.now():%Y%m%d-%H%M%S}-{settings.vm}-{program}"
    names = (stem if nr == 1 else f"{stem}-{nr}" for nr in range(1, 10000))
    return next(parent / name for name in names if not (parent / name).exists())


def create(
    folder: Path, settings: qemu.Settings, line: str, image: dict[str, Any], version: str, command: list[str]
) -> Result:
    """Make the folder, with a meta.json that says running. It may exist if it is empty or its run was cut off."""
    check_folder(folder)
    if folder.exists() and any(folder.iterdir()):
        if not (folder / META).exists():
            raise LabError(f"{folder} holds something else; give another --out", USAGE)
        if load(folder).meta["state"] == "done":
            raise LabError(f"{folder} holds a result already; give another --out, or remove it", USAGE)
    folder.mkdir(parents=True, exist_ok=True)
    meta = {
        "schema": SCHEMA,
        "kind": "run",
        "state": "running",
        "started": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "settings": described(settings),
        "jitter": parameters.split(settings.cmdline)[0].get(parameters.JITTER, ""),
        "kernel_command_line": line,
        "qemu": {"version": version, "command": command},
        "image": image,
    }
    write_json(folder / META, meta)
    return Result(folder, meta)


def flat(record: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """A record's numbers with their names: {"vm": {"pgfault": 3}} gives vm.pgfault, a list free.0, free.1."""
    for name, value in record.items():
        if isinstance(value, list):
            value = {str(at): member for at, member in enumerate(value) if not isinstance(member, (dict, list))}
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def write_tables(result: Result) -> None:
    """Write processes.csv and samples.csv from the existing telemetry."""
    try:
        data = result.telemetry(partial=True)
    except stream.TelemetryError:
        return
    write_csv(result.folder / "processes.csv", [dict(flat(record)) for record in data.exits])
    write_csv(result.folder / "samples.csv", [dict(flat(record)) for record in data.samples])


def finish(result: Result, state: str, code: int | None, why: str, wall_s: float) -> None:
    """Write the tables, and the final meta.json."""
    write_tables(result)
    files = {}
    for name in RAW:
        path = result.folder / name
        if path.exists():
            files[name] = {"bytes": path.stat().st_size, "sha256": sha256(path)}
    result.meta |= {"state": state, "exit": code, "reason": why, "wall_s": round(wall_s, 3), "files": files}
    write_json(result.folder / META, result.meta)


def load(folder: Path) -> Result:
    """The result in `folder`. Raises LabError if there is none, or if it has another schema."""
    path = folder / META
    try:
        meta = json.loads(path.read_text())
    except FileNotFoundError:
        raise LabError(f"{folder} is not a result: it has no {META}. `tidemark run` makes results") from None
    except (OSError, ValueError) as error:
        raise LabError(f"{path} cannot be read: {error}") from None
    if not isinstance(meta, dict) or meta.get("kind") != "run":
        raise LabError(f"{folder} is not a run's result, says its {META}")
    if meta.get("schema") != SCHEMA:
        raise LabError(f"{path} has schema {meta.get('schema')}, this program reads schema {SCHEMA}: run it again")
    return Result(folder, meta)


def check_files(result: Result) -> None:
    """Raises LabError if a raw file has been changed since the run."""
    for name, written in result.meta.get("files", {}).items():
        if name not in RAW:
            raise LabError(f"{result.folder}: its {META} names {name!r}, which is not a file of a result")
        path = result.folder / name
        if not path.exists() or sha256(path) != written["sha256"]:
            size = path.stat().st_size if path.exists() else 0
            raise LabError(f"{path} was changed after the run: {size} bytes now, {written['bytes']} then")
