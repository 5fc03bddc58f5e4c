"""Runs with an event stream, as the tests of the events and of `tidemark why` read them."""

from __future__ import annotations

from pathlib import Path

from tidemark.runs import results
from tidemark.telemetry import events, stream
from tidemark.telemetry.events import Events


def read(folder: Path) -> tuple[Events, stream.Telemetry]:
    """The events, which must be whole, and the telemetry of a result."""
    found = events.read(folder)
    assert found and found.whole
    return found, results.load(folder).telemetry()
