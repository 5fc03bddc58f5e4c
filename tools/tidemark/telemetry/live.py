"""A line on the terminal that shows the progress of a run. If stderr is not a terminal, nothing is written."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

from tidemark.telemetry import stream
from tidemark.telemetry.records import Sample

REFRESH_S = 0.1


class LiveLine:
    """Use as a context manager; call it with the telemetry's records as they come."""

    def __init__(self, quiet: bool = False) -> None:
        self._live: Any = None
        if not quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(stderr=True), auto_refresh=False, transient=True)
        self._samples: list[Any] = []
        self._shown_s = 0.0

    def __enter__(self) -> LiveLine:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()

    def __call__(self, records: list[dict[str, Any]], more: str = "") -> None:
        """Store new records, and show the latest now and then, followed by `more`."""
        self._samples = [*self._samples, *(record for record in records if record["ev"] == "sample")][-2:]
        now = time.monotonic()
        if self._live and self._samples and now - self._shown_s >= REFRESH_S:
            self._shown_s = now
            from rich.text import Text

            self._live.update(Text(described(self._samples[0], self._samples[-1]) + more), refresh=True)


def described(before: Sample, after: Sample) -> str:
    """Virtual time, utilisation, major faults per second and free pages, from two samples."""
    return (
        f"{after['t_us'] / 1e6:9.1f} s virtual   utilisation {100 * stream.utilisation(before, after):5.1f} %   "
        f"major faults {stream.fault_rate(before, after):8.1f}/s   free {sum(after['free']):7,} pages"
    )
