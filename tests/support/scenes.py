"""Invented telemetry: samples and processes with just the values that a test needs."""

from __future__ import annotations

import json
from pathlib import Path

from tidemark.watch import model
from tidemark.watch.model import Recording

ZONES = [
    {"name": "DMA", "managed": 3728, "min": 90, "low": 110, "high": 135},
    {"name": "Normal", "managed": 2048, "min": 50, "low": 60, "high": 80},
    {"name": "HighMem", "managed": 0, "min": 0, "low": 0, "high": 0},
]
START = {"t_us": 0, "ev": "start", "schema": 2, "policy": "2q", "cmdline": 'x vm=2q run="thrash 8"', "zones": ZONES}
END = {"t_us": 10**9, "ev": "end", "status": 0}


def process(pid: int, **changes: int) -> dict:
    """A process in a sample."""
    amounts = {"mad": 2059, "rss": 100 * pid, "wss": 10 * pid, "swap": 50, "minflt": 9, "majflt": 0, "refault": 0}
    return {"pid": pid, "comm": f"prog{pid}", "state": 2, **amounts, **dict.fromkeys(model.ACCOUNTS, 0), **changes}


def pressure(t_ms: int, full_us: int = 0, moved: int = 0) -> dict:
    """A pressure record at a time in ms; until then `moved` pages were read, and as many evicted."""
    record = {"t_us": 1000 * t_ms, "ev": "pressure", "idle_us": 0, "full_us": full_us, "read": moved, "evicted": moved}
    return record | {"evicting_us": 1000 * t_ms, "demand": 0, "wanting": 0, "held": 0, "oom_kill": 0}


def sample(t_ms: int, full_us: int | None = 0, majflt: int = 0, idle_us: int = 0, **changes: object) -> dict:
    """A sample at a time in ms; `full_us` None: without PSI."""
    vm = {
        "pgmajfault": majflt,
        "pswpin": 0,
        "pswpout": 0,
        "allocstall": 0,
        "admission_wait": 6,
    }
    disk = {"queue": 7, "reads": majflt, "writes": 0, "busy_us": 4000 * majflt, "wait_us": 90000 * majflt}
    record = {"t_us": 1000 * t_ms, "ev": "sample", "idle_us": idle_us, "running": 2, "held": 3, "priority": 12}
    record |= {"free": [100, 500, 0], "owned": [0, 0, 0], "swap_free": 4321, "vm": vm, "disk": disk}
    record |= {"lists": {"inactive": 12, "active": 3456}, "procs": [process(nr) for nr in range(1, 4)]}
    psi = {} if full_us is None else {"psi": {"some_us": full_us, "full_us": full_us}}
    return {**record, **psi, **changes}


def numbered(records: list[dict]) -> list[dict]:
    """The records with their seq."""
    return [{**record, "seq": nr} for nr, record in enumerate(records)]


def recorded(samples: list[dict], **settings: int) -> Recording:
    """The recording after these samples."""
    recording = Recording(**settings)
    recording.add(numbered([START, *samples]))
    return recording


def written(path: Path, records: list[dict], first: int = 0) -> Path:
    """Appends records to a telemetry file."""
    with path.open("a") as file:
        file.writelines(json.dumps({**record, "seq": nr}) + "\n" for nr, record in enumerate(records, first))
    return path
