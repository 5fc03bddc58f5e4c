"""Recording: a run with QEMU's plugin, whose stream becomes a trace while it runs.

The plugin writes into a named pipe, and a thread of this process packs what comes out. When that is slower than the
guest, the guest waits inside the plugin, which its virtual clock does not see.

A trace gets its name when the run came to its end, or was stopped by Ctrl-C or its time limit: then what came is valid,
and "whole" is false in its table of spaces. After any other end there is no trace.
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

from tidemark import experiment, output, plugin, qemu, results, telemetry
from tidemark.errors import FAILED, NO_TOOL, USAGE, LabError
from tidemark.trace.format import SUFFIX, Writer
from tidemark.trace.pack import Note, Packer, example

TRACE = "trace" + SUFFIX
KINDS = ("all", "data")
BIRTH, DEATH = "telemetry_mm", "pgd_destroy"
NOTED = {
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
    """A run's result and its trace's file; `totals` and `spaces` are those that a Reader of it finds. `notes`: what the
    policy was told, if that was wanted; `numbers`: the spaces' numbers by the notes' keys.
    """

    result: results.Result
    trace: Path
    totals: dict[str, Any]
    spaces: list[dict[str, Any]]
    notes: list[Note]
    numbers: dict[tuple[int, int], int]


class Reception(threading.Thread):
    """Packs what comes through the pipe into a trace. `error` is why it stopped before the end, if it did."""

    def __init__(self, pipe: Path, trace: Path, meta: dict[str, Any], fetches_too: bool) -> None:
        super().__init__(name="trace", daemon=True)
        self.error: Exception | None = None
        self._trace, self._meta, self._fetches_too = trace, meta, fetches_too
        self._writer: Writer | None = None
        self._packer: Packer | None = None
        self._over = threading.Event()
        self._fd = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        with contextlib.suppress(OSError):  # more than an unprivileged user may have
            fcntl.fcntl(self._fd, fcntl.F_SETPIPE_SZ, PIPE_BYTES)

    @property
    def words(self) -> int:
        """Words of the stream packed so far."""
        return self._packer.words if self._packer else 0

    def run(self) -> None:
        """Until QEMU has closed the pipe. After an error nobody reads it, and the plugin ends QEMU."""
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
            elif self._over.is_set():  # QEMU has never opened it
                return

    @property
    def writer(self) -> Writer:
        """What has written the trace, after keep."""
        assert self._writer  # else keep has raised
        return self._writer

    @property
    def packer(self) -> Packer:
        """What has packed the stream, after keep."""
        assert self._packer  # else keep has raised
        return self._packer

    def stop(self) -> None:
        """Wait for the rest, when QEMU has ended."""
        self._over.set()
        self.join()

    def keep(self, events: list[dict[str, Any]], whole: bool) -> None:
        """Give the trace its name. `events` are the telemetry's `mm` events; `whole`: did the run come to its end?

        Raises what stopped the thread, and StreamError when the stream is not as it should be.
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
        """Remove what has not got its name."""
        if self._writer:
            self._writer.output.drop()


def warm_up(scratch: Path) -> None:
    """Have everything compiled before QEMU starts, whose time limit runs."""
    with Writer(scratch / "warm", {}) as writer:
        packer = Packer(writer)
        packer.feed(example())
        packer.finish()
        writer.close()


def mm_events(result: results.Result) -> list[Any]:
    """The kernel's `mm` events, as many as came."""
    try:
        events = result.telemetry(partial=True).events
    except telemetry.TelemetryError:
        return []
    return [event for event in events if event["ev"] == "mm"]


def check(result: results.Result, reception: Reception) -> None:
    """LabError when the run has not ended so that its trace is of use."""
    if reception.error:
        raise reception.error
    if said := plugin.complaint(result):
        raise LabError(f"{said}; there is no trace", NO_TOOL)
    experiment.drop_refused(result)
    if result.meta["exit"] not in (qemu.OK, qemu.FAILED, qemu.TIMED_OUT):
        raise LabError(
            f"{result.meta['reason']}; there is no trace. The console ends so:\n{result.tail()}\n"
            f"{result.folder} keeps it.",
            FAILED,
        )


def carry_out(settings: qemu.Settings, folder: Path, reception: Reception, progress: Progress) -> results.Result:
    """The run, with somebody at the other end of the pipe. Then the trace has its name, or is gone."""
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
    """No progress is shown."""


def record(
    settings: qemu.Settings,
    folder: Path,
    out: Path | None = None,
    kinds: str = "all",
    progress: Progress = silent,
    notes: bool = False,
) -> Recording:
    """Run `settings` into the result `folder` as tidemark.experiment does, and record every reference on the way.

    The trace is `out`, or trace.tmt in the folder. `kinds` is "all", or "data" for loads and stores only. `progress`
    is given the telemetry's new records, and how many words the plugin has written: about one for each load or store.
    `notes`: also what the policy is told.

    A command that fails, or takes longer than the time limit, is a result as in experiment.run. LabError, and no trace,
    when the guest panics or hangs, QEMU dies, or something cannot be written. KeyboardInterrupt keeps what came, and is
    raised again.
    """
    if kinds not in KINDS:
        raise LabError(f"kinds={kinds}: there are {', '.join(KINDS)}", USAGE)
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
