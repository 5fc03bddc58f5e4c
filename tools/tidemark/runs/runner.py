"""Running the cells of a sweep: submit missing cells, store results, report the progress.

A cell that is lost with its worker is submitted again, up to cluster.LOST_MOST times. An error that every cell would
meet ends the sweep; results so far are kept, and the same command continues from there.
"""

from __future__ import annotations

import contextlib
import json
import queue
import socket
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import Any

from tidemark.errors import LabError
from tidemark.machine import qemu
from tidemark.runs import cluster, estimate, results
from tidemark.runs.plan import Cell
from tidemark.runs.sweep import DONE, FAILED, Sweep
from tidemark.telemetry.stream import TelemetryError

POLL_S, EVERY_S = 0.2, 1.0
SHARE = 50  # writing the table takes at most 1/50 of the time

Where = cluster.Local | cluster.Cluster


@dataclass(frozen=True)
class Progress:
    """The progress of a sweep: numbers of cells, and estimated seconds to the end, None if unknown."""

    total: int
    done: int
    failed: int
    running: int
    left_s: float | None
    news: str = ""


Watch = Callable[[Progress], None]


class Clock:
    """An estimate of host seconds to the end. Cells are assumed to begin in the order of `queue`, `slots` at a time."""

    def __init__(self, sweep: Sweep) -> None:
        self.sweep, self.at = sweep, 0.0
        self.begun: dict[str, float] = {}
        self.left_s: float | None = None

    def update(self, queue: Sequence[Cell], slots: int) -> None:
        """Update the estimate after a cell has begun or ended."""
        now = time.monotonic()
        for cell in queue[:slots]:
            self.begun.setdefault(cell.id, now)
        known = self.sweep.known() if now - self.at > EVERY_S else []
        if not known:
            return
        self.at = now
        expected = estimate.predict(known, [cell.variables for cell in queue])
        spent = (self.at - self.begun.get(cell.id, self.at) for cell in queue)
        self.left_s = estimate.makespan((max(a - b, 0.0) for a, b in zip(expected, spent)), slots)

    def left(self) -> float | None:
        """Estimated seconds to the end; None if unknown."""
        return None if self.left_s is None else max(self.left_s - (time.monotonic() - self.at), 0.0)


class Runner:
    """Runs the missing cells of a sweep, here or on a cluster, and stores the results."""

    def __init__(self, sweep: Sweep, where: Where, parcel: cluster.Parcel, watch: Watch) -> None:
        self.sweep, self.where, self.parcel, self.watch = sweep, where, parcel, watch
        self.shared, self.token, self.host = where.share(parcel), uuid.uuid4().hex, socket.gethostname()
        self.futures: dict[Future[Any], Cell] = {}
        self.ended: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
        self.waiting: list[Cell] = []
        self.why_lost, self.had_slots = "", True
        self.times_lost: Counter[str] = Counter()
        self.clock, self.next_table_at = Clock(sweep), 0.0

    def submit(self, cell: Cell) -> None:
        """Submit one cell."""
        future = self.where.submit(cluster.run_cell, cell.settings, self.shared, self.host, self.token)
        self.futures[future] = cell
        future.add_done_callback(self.ended.put)

    def result(self, future: Future[Any]) -> Any:
        """Wait for the result of a submitted call. Raises LabError if it cannot come any more."""
        while not wait([future], POLL_S).done:
            self.where.ready()
        return future.result()

    def check_values(self) -> None:
        """Raises LabError if the image lacks a policy of the plan, or its kernel refuses a parameter."""
        offered = self.result(self.where.submit(cluster.offered_policies, self.shared, self.host))
        for policy in self.sweep.plan.lists["vm"]:
            if policy not in offered:
                raise LabError(f"the plan's policy {policy!r} is not in the image, which has: {', '.join(offered)}")
        probes = self.sweep.plan.probes()
        runs = [self.where.submit(cluster.run_cell, one, self.shared, self.host, self.token) for one in probes]
        for probe, run in zip(probes, runs):
            meta = json.loads(self.result(run)[results.META])
            if meta["exit"] == qemu.REFUSED:
                raise LabError(f"{meta['reason']}, as this plan makes it: {qemu.command_line(probe)}")

    def run(self) -> None:
        """Run the missing cells. Raises LabError if it cannot continue. Results so far are kept in any case."""
        for cell in self.sweep.missing():
            self.submit(cell)
        self.clock.update(list(self.futures.values()), self.where.slots)
        try:
            with cluster.writing_to(self.sweep.folder):
                while self.futures or self.waiting:
                    self.go_on()
                self.sweep.write_table()
        except BaseException:
            with contextlib.suppress(OSError):
                self.sweep.write_table()
            raise

    def arrived(self) -> Iterator[Future[Any]]:
        """The futures that have ended; waits a moment for the first. They come from a queue, since the time that
        concurrent.futures.wait takes grows with the number of cells."""
        with contextlib.suppress(queue.Empty):
            yield self.ended.get(timeout=POLL_S)
            while True:
                yield self.ended.get_nowait()

    def go_on(self) -> None:
        """Wait a moment, take the results that have arrived, and report the progress."""
        done = list(self.arrived())
        for future in done:
            self.take(future)
        self.submit_again()
        if self.waiting and not self.futures:
            time.sleep(POLL_S)
        if done:
            self.clock.update(list(self.futures.values()), self.where.slots)
            self.write_table_now_and_then()
        self.tell()

    def take(self, future: Future[Any]) -> None:
        """Store the result of a cell, or submit it again."""
        cell = self.futures.pop(future)
        try:
            self.sweep.store(cell, future.result())
        except self.where.lost as error:
            self.lost(cell, error)
        except TelemetryError as error:
            self.sweep.give_up(cell, f"its telemetry is broken: {error}")
        standing = self.sweep.cells[cell.id]
        if standing.state == FAILED:
            self.tell(f"{cell.id} failed: {standing.row['reason']}")

    def lost(self, cell: Cell, error: BaseException) -> None:
        """A cell was lost with its worker: run it again, but only a few times."""
        self.times_lost[cell.id] += 1
        why = f"{error}" or type(error).__name__
        if self.times_lost[cell.id] > cluster.LOST_MOST:
            self.sweep.give_up(cell, f"lost {self.times_lost[cell.id]} times with its worker: {why}")
        else:
            self.waiting.append(cell)
            self.why_lost = why

    def submit_again(self) -> None:
        """Submit lost cells again as soon as possible. The parcel may have been lost, too."""
        if self.where.ready() and self.waiting:
            first, others = self.waiting[0].id, len(self.waiting) - 1
            self.tell(f"{first}{f' and {others} more' if others else ''} lost, run again: {self.why_lost}")
            self.shared = self.where.share(self.parcel)
            for cell in self.waiting:
                self.submit(cell)
            self.waiting.clear()

    def write_table_now_and_then(self) -> None:
        """Write cells.csv, but rarely enough that the cost is negligible."""
        begun = time.monotonic()
        if begun > self.next_table_at:
            self.sweep.write_table()
            ended = time.monotonic()
            self.next_table_at = ended + max(EVERY_S, SHARE * (ended - begun))

    def tell(self, news: str = "") -> None:
        """Report the progress."""
        s, slots = self.sweep, self.where.slots
        if self.had_slots and not slots:
            news = news or "no workers are left; waiting for others"
        self.had_slots = slots > 0
        running = min(slots, len(self.futures))
        self.watch(Progress(len(s.cells), s.count(DONE), s.count(FAILED), running, self.clock.left(), news))
