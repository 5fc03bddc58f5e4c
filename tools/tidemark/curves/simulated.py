"""FIFO and CLOCK in memories of several sizes: the kernel's own policies, run by the simulator (tools/vmsim).

Neither is a stack algorithm: what a memory of C pages holds need not be part of what a larger one holds (Belady,
Nelson and Shedler, CACM 12(6), 1969, found FIFO faulting more often with more frames), so there is no way around
running each size. The string is written to a file once, 12 bytes a run, and each run of the simulator reads that.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType

import numpy as np

from tidemark import strings, vmsim
from tidemark.curves.runs import Batch
from tidemark.errors import LabError

POLICIES = ("fifo", "clock")


class Simulated:
    """Policies in memories of the given numbers of frames. Feed it batches within a `with`; `faults()` is the result.
    `of_file` bool[pages]: is it a file's page? `missing` says why there is no result: the simulator cannot be built.
    """

    def __init__(self, sizes: np.ndarray, of_file: np.ndarray, policies: tuple[str, ...] = POLICIES) -> None:
        self.sizes = np.asarray(sizes, np.int64)
        self._of_file = of_file
        self._programs: dict[str, Path] = {}
        self.missing = ""
        try:
            self._programs = {policy: vmsim.build(policy, fast=True) for policy in policies}
        except LabError as error:
            self.missing = str(error)
        # Not in /tmp, which may be memory: long traces take gigabytes.
        folder = os.environ.get("TMPDIR", "/var/tmp")
        self._file = tempfile.NamedTemporaryFile(prefix="tidemark-", dir=folder)  # noqa: SIM115 (closed by __exit__)

    def __enter__(self) -> Simulated:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()

    def feed(self, batch: Batch) -> None:
        """Take account of the batch's runs."""
        if not self._programs:
            return
        steps = np.minimum(batch.steps, np.iinfo(np.uint32).max)
        columns = np.column_stack([batch.pages.astype("<u4"), batch.counts.astype("<u4"), steps.astype("<u4")])
        if self._of_file.any():
            columns = strings.with_kinds(columns, strings.kinds_of_use(self._of_file[batch.pages], batch.kinds))
        self._file.write(np.ascontiguousarray(columns, "<u4").data)

    def faults(self, progress: Callable[[int, int], None] = lambda done, total: None) -> dict[str, np.ndarray]:
        """i64[sizes] by policy."""
        self._file.flush()
        path = Path(self._file.name)
        jobs = [(program, int(size)) for program in self._programs.values() for size in self.sizes]
        counted: list[int] = []
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for outcome in pool.map(lambda job: vmsim.run_file(job[0], path, job[1]), jobs):
                counted.append(outcome.faults)
                progress(len(counted), len(jobs))
        found = np.array(counted, np.int64).reshape(len(self._programs), len(self.sizes))
        return dict(zip(self._programs, found))
