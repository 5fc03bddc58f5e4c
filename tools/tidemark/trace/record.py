"""Recording: a run with the plugin for QEMU; its stream becomes a trace while the run goes on.

The plugin writes to a named pipe, and a thread of this process packs its output. If that is slower than the guest, the
guest waits inside the plugin, which its virtual clock does not see.

A trace gets its name if the run came to its end, or was stopped by Ctrl-C or its time limit: then what was recorded is
valid, but "whole" is false in its table of spaces. After any other end there is no trace.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tidemark import output
from tidemark.errors import FAILED, NO_TOOL, USAGE, LabError
from tidemark.machine import plugin, qemu
from tidemark.runs import experiment, results
from tidemark.telemetry import stream
from tidemark.trace.format import SUFFIX, Writer
from tidemark.trace.pack import Note, Packer, example

TRACE = "trace" + SUFFIX
KINDS = ("all", "data")
BIRTH, DEATH = "telemetry_mm", "pgd_destroy"
NOTED = {
    "forget": "policy_call_forget",
    "shrink": "cache_shrink_range",
    "read_page": "stored_read",
    "mm_init": "policy_call_mm_init",
    "remove": "policy_call_remove",
    "pin": "page_pin",
    "zap": "zap_range",
}
OF_FILES = {
    "insert": "policy_call_insert",
    "free": "free_pages",
    "note_io": "cache_note_io",
    "file_read": "cache_file_read",
    "file_write": "cache_file_write",
    "mem_map": "mem_map",
}
PIPE_BYTES = 1 << 20
POLL_MS = 100

Progress = Callable[[list[dict[str, Any]], int], None]


@dataclass(frozen=True)
class Recording:
    """A run's result and its trace's file. `totals` and `spaces` are the tail of that file (format.py). `notes`: the
    events for the policy, if the caller asked for them; `numbers`: the spaces' numbers by the notes' keys.
    """

    result: results.Result
    trace: Path
    totals: dict[str, Any]
    spaces: list[dict[str, Any]]
    notes: list[Note]
    numbers: dict[tuple[int, int], int]


class Reception(threading.Thread):
    """Packs the stream from the pipe into a trace. `error` is why it stopped early, or None."""

    def __init__(self, pipe: Path, trace: Path, meta: dict[str, Any], fetches_too: bool) -> None:
        super().__init__(name="trace", daemon=True)
        self.error: Exception | None = None
        self._trace, self._meta, self._fetches_too = trace, meta, fetches_too
        self._writer: Writer | None = None
        self._packer: Packer | None = None
        self._over = threading.Event()
        self._fd = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        with contextlib.suppress(OSError):  # may exceed the limit of an unprivileged user
            fcntl.fcntl(self._fd, fcntl.F_SETPIPE_SZ, PIPE_BYTES)

    @property
    def words(self) -> int:
        """Words of the stream packed so far."""
        return self._packer.words if self._packer else 0

    def run(self) -> None:
        """Work until QEMU closes the pipe. After an error this thread stops reading, and the plugin ends QEMU."""
        try:
            for data in self._pieces():
                if self._packer is None:
                    self._writer = Writer(self._trace, self._meta)
                    self._packer = Packer(self._writer, self._fetches_too)
                self._packer.feed(data)
        except Exception as error:
            self.error = error
        finally:
            os.close(self._fd)

    def _pieces(self) -> Iterator[bytes]:
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        while True:
            if poll.poll(POLL_MS):
                data = os.read(self._fd, PIPE_BYTES)
                if not data:
                    return
                yield data
            elif self._over.is_set():  # QEMU never opened it
                return

    @property
    def writer(self) -> Writer:
        """The trace's writer, valid after keep."""
        assert self._writer  # else keep has raised
        return self._writer

    @property
    def packer(self) -> Packer:
        """The stream's packer, valid after keep."""
        assert self._packer  # else keep has raised
        return self._packer

    def stop(self) -> None:
        """Wait for the rest of the stream, after QEMU has ended."""
        self._over.set()
        self.join()

    def keep(self, events: list[dict[str, Any]], whole: bool) -> None:
        """Give the trace its name. `events` are the telemetry's `mm` events; `whole`: the run came to its end.

        Raises the error that stopped the thread, StreamError if the stream is malformed, LabError if it is empty.
        """
        if self.error:
            raise self.error
        if self._packer is None or self._writer is None:
            raise LabError("the run ended before the plugin had written anything; there is no trace", FAILED)
        self._packer.finish(whole)
        with self._writer as writer:
            files = [{"store": store} for store in sorted(self._packer.files)]
            writer.close(self._packer.spaces.table(events, whole), files)

    def drop(self) -> None:
        """Remove the unfinished trace."""
        if self._writer:
            self._writer.output.drop()


def warm_up(scratch: Path) -> None:
    """Compile everything before QEMU starts, because then its time limit runs."""
    with Writer(scratch / "warm", {}) as writer:
        packer = Packer(writer)
        packer.feed(example())
        packer.finish()
        writer.close()


def mm_events(result: results.Result) -> list[Any]:
    """The kernel's `mm` events, as far as the telemetry goes."""
    try:
        events = result.telemetry(partial=True).events
    except stream.TelemetryError:
        return []
    return [event for event in events if event["ev"] == "mm"]


def check(result: results.Result, reception: Reception) -> None:
    """Raises LabError if the run ended in a way that makes its trace useless."""
    if reception.error:
        raise reception.error
    if said := plugin.complaint(result.folder / results.QEMU_LOG):
        raise LabError(f"{said}; there is no trace", NO_TOOL)
    experiment.drop_refused(result)
    if result.meta["exit"] not in (qemu.OK, qemu.FAILED, qemu.TIMED_OUT):
        raise LabError(
            f"{result.meta['reason']}; there is no trace. The console ends so:\n{result.tail()}\n"
            f"{result.folder} keeps it.",
            FAILED,
        )


def carry_out(settings: qemu.Settings, folder: Path, reception: Reception, progress: Progress) -> results.Result:
    """Run QEMU while `reception` reads the pipe. At the end the trace has its name, or is removed."""
    with contextlib.ExitStack() as unless_kept:
        unless_kept.callback(reception.drop)
        reception.start()
        try:
            try:
                result = experiment.run(settings, folder, lambda records: progress(records, reception.words))
            finally:
                reception.stop()
        except KeyboardInterrupt:
            if reception.words:  # else there may be no folder yet
                reception.keep(mm_events(results.load(folder)), whole=False)
                unless_kept.pop_all()
            raise
        except LabError:
            if reception.error:
                raise reception.error from None
            raise
        check(result, reception)
        reception.keep(mm_events(result), whole=result.meta["exit"] != qemu.TIMED_OUT)
        unless_kept.pop_all()
    return result


def silent(records: list[dict[str, Any]], words: int) -> None:
    """Shows no progress."""


def record(
    settings: qemu.Settings,
    folder: Path,
    out: Path | None = None,
    kinds: str = "all",
    progress: Progress = silent,
    notes: bool = False,
) -> Recording:
    """Run `settings` into the result `folder` as tidemark.runs.experiment does, and record every reference on the way.

    The trace is `out`, or trace.tmt in the folder. `kinds` is "all", or "data" for loads and stores only. `progress`
    gets the telemetry's new records and the number of words that the plugin has written, about one per load or store.
    `notes`: also record the events for the policy.

    A command that fails, or exceeds the time limit, is a result as in experiment.run. Raises LabError, and leaves no
    trace, if the guest panics or hangs, QEMU dies, or a file cannot be written. KeyboardInterrupt keeps what was
    recorded, and is raised again.
    """
    if kinds not in KINDS:
        raise LabError(f"kinds={kinds}: choose one of {', '.join(KINDS)}", USAGE)
    if out:
        output.check(out)
    trace = out or folder / TRACE
    birth, death = plugin.addresses(settings.image, BIRTH, DEATH)
    meta = {"source": "tidemark", "kinds": kinds, "settings": results.described(settings)}
    with tempfile.TemporaryDirectory(prefix="tidemark-") as scratch:
        warm_up(Path(scratch))
        pipe = Path(scratch, "pipe")
        os.mkfifo(pipe)
        watched = OF_FILES | (NOTED if notes else {})
        places = zip(watched, map(hex, plugin.addresses(settings.image, *watched.values())))
        flags = plugin.flags("trace", out=pipe, kinds=kinds, birth=hex(birth), death=hex(death), **dict(places))
        with_plugin = replace(settings, qemu_flags=settings.qemu_flags + flags)
        reception = Reception(pipe, trace, meta, kinds == "all")
        result = carry_out(with_plugin, folder, reception, progress)
    writer, packer = reception.writer, reception.packer
    return Recording(result, trace, writer.totals, writer.spaces, packer.notes, packer.spaces.numbers)
