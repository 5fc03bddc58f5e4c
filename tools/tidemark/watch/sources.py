"""Where a view's records come from: a telemetry file, whole or growing, or a run that is started for the view."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from pathlib import Path
from typing import Any, Protocol

from tidemark.errors import LabError
from tidemark.machine import image, qemu
from tidemark.runs import experiment, results
from tidemark.telemetry import stream
from tidemark.telemetry.stream import TelemetryError

META_EVERY_S = 0.5
WELL = image.reason(qemu.OK)


class Source(Protocol):
    """`ended` says how the machine ended, and is empty while more records may come; `folder` is its result's folder, or
    None."""

    name: str
    ended: str
    folder: Path | None

    def poll(self) -> list[dict[str, Any]]:
        """The records that have come since the last call. Raises LabError if they cannot be used."""

    def close(self) -> None:
        """Release the source; ends a run that was started for the view."""


def newest(parent: Path = Path("results")) -> Path:
    """The folder of the most recently started result in `parent`. Raises LabError if there is none."""
    found = []
    for meta in [*parent.glob("*/meta.json"), *parent.glob("*/*/meta.json")]:
        with contextlib.suppress(LabError):
            found.append((results.load(meta.parent).meta.get("started", ""), str(meta.parent)))
    if not found:
        raise LabError(f"there is no result in {parent}/: name one, or a telemetry file, or start a run with --run")
    return Path(max(found)[1])


def find(target: Path | None) -> tuple[Path, results.Result | None]:
    """(telemetry file, its result or None) of a result's folder or a telemetry file; None: of the newest result."""
    target = target or newest()
    if target.is_dir():
        result = results.load(target)
        return result.telemetry_path, result
    if not target.exists():
        raise LabError(f"{target}: there is no such file or folder")
    return target, None


def how_it_ended(result: results.Result | None, end: dict[str, Any] | None) -> str:
    """How the run ended, from a result's meta.json or else the stream's end record; "" if it has not."""
    if result is not None and result.meta["state"] != "running":
        return str(result.meta.get("reason") or result.meta["state"])
    if end is None:
        return ""
    return WELL if not end.get("status") else f"the command failed, status {end['status']}"


def must_be_whole(result: results.Result | None) -> bool:
    """Must a result's telemetry have its end record? If a machine panicked, for example, it has none."""
    return result is not None and result.meta["state"] == "done" and result.meta.get("exit") in (qemu.OK, qemu.FAILED)


class File:
    """A telemetry file, of a result or on its own."""

    def __init__(self, path: Path, result: results.Result | None = None) -> None:
        self.path, self.result = path, result
        self.name = result.name if result else str(path)
        self.folder = result.folder if result else None
        self.ended = ""
        self._follower = stream.Follower(path)
        self._end: dict[str, Any] | None = None
        self._size = 0
        self._asked_s = 0.0

    def poll(self) -> list[dict[str, Any]]:
        """See Source."""
        self._ask_result()
        finished = self.result is not None and self.result.meta["state"] != "running"
        try:
            self._check_size()
            records = self._follower.poll()
        except TelemetryError as error:
            raise TelemetryError(f"{self.path}: {error}") from None
        for record in records:
            if record["ev"] == "end":
                self._end = record
        if finished and self._end is None and must_be_whole(self.result):
            raise TelemetryError(f"{self.path}: it has no end record, so it was cut off")
        self.ended = how_it_ended(self.result, self._end)
        return records

    def _check_size(self) -> None:
        size = self.path.stat().st_size if self.path.exists() else 0
        if size < self._size:
            raise TelemetryError("it was begun anew by another machine: start the view again")
        self._size = size

    def _ask_result(self) -> None:
        """Check whether a running result has ended. Call this before reading, so that no record is missed."""
        now = time.monotonic()
        if self.result and self.result.meta["state"] == "running" and now - self._asked_s > META_EVERY_S:
            self._asked_s = now
            self.result = results.load(self.result.folder)

    def close(self) -> None:
        """See Source."""
        self._follower.close()


class Run:
    """A run in its own thread. QEMU ends with the view, and the result is kept."""

    def __init__(self, settings: qemu.Settings, folder: Path) -> None:
        image.describe(settings.image)
        self.name, self.ended = folder.name, ""
        self.folder: Path | None = folder
        self.result: results.Result | None = None
        self.error: LabError | None = None
        self._settings = settings
        self._records: queue.SimpleQueue[list[dict[str, Any]]] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, args=(folder,), daemon=True)
        self._thread.start()

    def _take(self, records: list[dict[str, Any]]) -> None:
        self._records.put(records)
        if self._stop.is_set():
            raise KeyboardInterrupt

    def _work(self, folder: Path) -> None:
        try:
            self.result = experiment.run(self._settings, folder, self._take)
        except LabError as error:
            self.error = error
        except KeyboardInterrupt:
            pass

    def poll(self) -> list[dict[str, Any]]:
        """See Source."""
        over = not self._thread.is_alive()
        records = []
        with contextlib.suppress(queue.Empty):
            while True:
                records += self._records.get_nowait()
        if over and not records and self.error:
            raise self.error
        if over and self.result:
            self.ended = how_it_ended(self.result, None)
        return records

    def stop(self) -> None:
        """Ask the run to end, without waiting for it."""
        self._stop.set()

    def close(self) -> None:
        """See Source."""
        self.stop()
        self._thread.join()
