"""The executors of a sweep's cells: this machine's cores, or a Dask cluster. Only the executor differs.

Everything to run is passed by value. The image travels as the bytes of its two files; the receiving process unpacks it
once into a folder named by their SHA-256, where the files have the same names as in a tree, and checks
them. So QEMU is started with the same command line everywhere, a `make` in the middle of a sweep changes nothing, and
the guest cannot tell where it runs. The result's folder comes back as bytes.

A lost cell is run again. Dask does that by itself when a worker dies, until the deaths of several workers
(KilledWorker); then we submit it again, LOST_MOST times. A QEMU that was ended from outside counts as
lost, too. A sweep ends at an error that every cell would meet: QEMU is missing, the disk is full, the scheduler is
gone.

To stop, a token goes to every process that runs cells; the cells check for it while they wait for QEMU.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import re
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from tidemark.errors import NO_SPACE, NO_TOOL, USAGE, LabError
from tidemark.files import write_atomically, write_json
from tidemark.machine import host, image, qemu
from tidemark.runs import experiment, results
from tidemark.telemetry.stream import TelemetryError

LOST_MOST = 5
CONNECT_S, WORKERS_S, ASK_EVERY_S = 10, 30, 2
KILLED_FROM_OUTSIDE = (experiment.KILLED, "terminating on signal")  # the latter is QEMU's own

stopped: set[str] = set()
unpacking = threading.Lock()


class Lost(Exception):
    """A cell did not end, and did not cause that itself."""


@dataclass(frozen=True)
class Parcel:
    """An image by its content; `described` is the result of image.describe."""

    kernel: bytes = field(repr=False)
    initramfs: bytes = field(repr=False)
    described: dict[str, str]

    def matches(self, folder: Path) -> bool:
        """Does `folder` hold this image?"""
        with contextlib.suppress(FileNotFoundError):
            return image.hashes(folder) == (self.described["kernel"], self.described["initramfs"])
        return False


def pack(folder: Path) -> Parcel:
    """The image in `folder`. Raises LabError if there is none."""
    described = image.describe(folder)
    parcel = Parcel((folder / qemu.KERNEL).read_bytes(), (folder / qemu.INITRD).read_bytes(), described)
    for name, data in (("kernel", parcel.kernel), ("initramfs", parcel.initramfs)):
        if hashlib.sha256(data).hexdigest() != described[name]:
            raise LabError(f"the {name} in {folder} changed while it was read; is `make` running? Try again")
    return parcel


@cache
def scratch() -> tempfile.TemporaryDirectory[str]:
    """The folder for images of this process; it is removed when the process ends. Caller holds `unpacking`."""
    return tempfile.TemporaryDirectory(prefix="tidemark-images-")


def unpack(parcel: Parcel) -> Path:
    """A folder with the image, made by the first call in a process, and checked by every call."""
    with unpacking:
        folder = Path(scratch().name, parcel.described["sha256"])
        if not parcel.matches(folder):
            (folder / qemu.KERNEL).parent.mkdir(parents=True, exist_ok=True)
            write_atomically(folder / qemu.KERNEL, parcel.kernel)
            write_atomically(folder / qemu.INITRD, parcel.initramfs)
            if not parcel.matches(folder):
                raise LabError(
                    f"{folder} does not hold the image {parcel.described['sha256'][:16]} that was written there"
                )
    return folder


@contextlib.contextmanager
def writing_to(folder: Path | str) -> Iterator[None]:
    """Turn an OSError into a LabError that names the file, or else `folder`."""
    try:
        yield
    except OSError as error:
        raise LabError(f"{error.filename or folder} cannot be written: {error.strerror}", NO_SPACE) from None


@contextlib.contextmanager
def told_where(sweeper: str) -> Iterator[None]:
    """Add the host's name to errors of another machine, and turn its OSErrors into LabErrors. TelemetryError passes."""
    here = socket.gethostname()
    where = "" if here == sweeper else f"on {here}: "
    try:
        with writing_to(tempfile.gettempdir()):
            yield
    except TelemetryError:
        raise
    except LabError as error:
        raise LabError(f"{where}{error}", error.code) from None


def run_cell(settings: qemu.Settings, parcel: Parcel, sweeper: str, token: str) -> dict[str, bytes]:
    """Run one cell; returns the files of its result's folder. Raises Lost if it or its QEMU was stopped, LabError if
    nothing can be run here. `sweeper` is the host that wants the result; `token` in `stopped` ends the cell."""

    def look(records: list[dict[str, Any]]) -> None:
        if token in stopped:
            raise Lost("stopped")

    with told_where(sweeper), tempfile.TemporaryDirectory(prefix="tidemark-cell-") as folder:
        result = experiment.run(replace(settings, image=unpack(parcel)), Path(folder, "cell"), look)
        if result.meta["exit"] == qemu.NO_QEMU and any(words in result.meta["reason"] for words in KILLED_FROM_OUTSIDE):
            raise Lost(result.meta["reason"])
        result.meta["image"] = parcel.described
        write_json(result.folder / results.META, result.meta)
        return {path.name: path.read_bytes() for path in sorted(result.folder.iterdir())}


def offered_policies(parcel: Parcel, sweeper: str) -> tuple[str, ...]:
    """The image's replacement policies, which a run of the image lists. Raises LabError if QEMU cannot be run."""
    with told_where(sweeper):
        image.qemu_version()
        return image.policies(unpack(parcel))


def stop(token: str) -> None:
    """End the cells of this process that were submitted with `token`."""
    stopped.add(token)


class Local:
    """This machine: `slots` QEMUs at a time."""

    lost: tuple[type[BaseException], ...] = (Lost,)

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.executor: Executor = ThreadPoolExecutor(slots, "cell")

    def share(self, parcel: object) -> object:
        """The object to pass to `submit` for the parcel."""
        return parcel

    def submit(self, function: Callable[..., Any], *args: object) -> Future[Any]:
        """Call function(*args) as soon as a slot is free, in the order of submission."""
        return self.executor.submit(function, *args)

    def ready(self) -> bool:
        """Can cells be submitted? Raises LabError if none can be any more."""
        return True

    def close(self, token: str) -> None:
        """End the cells that run with `token`, drop those that wait, and return when none runs."""
        stop(token)
        self.executor.shutdown(wait=True, cancel_futures=True)
        stopped.discard(token)


class Cluster:
    """A Dask cluster, through its concurrent.futures interface."""

    def __init__(self, address: str) -> None:
        from distributed import Client, KilledWorker

        if not re.fullmatch(r"(\w+://)?[^\s/]+:\d+(/\S*)?", address):
            raise LabError(f"--cluster {address!r} is not a Dask scheduler's address, such as tcp://host:8786", USAGE)
        self.address, self.known_slots, self.ask_at = address, 0, 0.0
        self.lost = (Lost, KilledWorker, CancelledError)
        try:
            # Dask's client has no types.
            make: Any = Client
            self.client: Any = make(address, timeout=CONNECT_S, set_as_default=False)
        except OSError as error:
            raise LabError(f"no Dask scheduler at {address} ({error}): `dask scheduler` starts one", NO_TOOL) from None
        try:
            self.check_workers()
        except BaseException:
            self.client.close()
            raise
        self.executor = self.client.get_executor(pure=False)

    def check_workers(self) -> None:
        """Raises LabError if the cluster has no workers, or one that cannot load this package."""
        from distributed import TimeoutError as TimedOut

        try:
            self.client.wait_for_workers(1, timeout=WORKERS_S)
        except TimedOut:
            raise LabError(
                f"the cluster at {self.address} has no workers: `dask worker {self.address}` starts one", NO_TOOL
            ) from None
        for worker, found in self.client.run(importlib.util.find_spec, "tidemark").items():
            if found is None:
                raise LabError(
                    f"the worker {worker} has no tidemark: install the same version there, with its extra `cluster`",
                    NO_TOOL,
                )

    @property
    def slots(self) -> int:
        """The number of cells that run at a time; the scheduler is asked now and then, since workers come and go."""
        if time.monotonic() > self.ask_at and self.client.status == "running":
            self.ask_at = time.monotonic() + ASK_EVERY_S
            with contextlib.suppress(OSError):
                self.known_slots = sum(self.client.nthreads().values())
        return self.known_slots

    def share(self, parcel: object) -> object:
        """The parcel as a separate task: it travels once, and is made again if the workers that had it are gone."""
        return self.client.submit(identity, parcel, pure=False)

    def submit(self, function: Callable[..., Any], *args: object) -> Future[Any]:
        """Call function(*args) on a worker."""
        future: Future[Any] = self.executor.submit(function, *args)
        return future

    def ready(self) -> bool:
        """Is the scheduler connected? Raises LabError if it has been gone for CONNECT_S."""
        if self.client.status in ("closing", "closed"):
            raise LabError(f"the Dask scheduler at {self.address} is gone", NO_TOOL)
        return bool(self.client.status == "running")

    def close(self, token: str) -> None:
        """End the cells that run with `token`, and leave the cluster."""
        with contextlib.suppress(Exception):  # if the cluster has gone, none of our cells run there
            if self.client.status == "running":
                self.executor.shutdown(wait=False)
                self.client.run(stop, token)
        self.client.close(timeout=5)


def identity(value: object) -> object:
    """The value itself."""
    return value


def default_slots() -> int:
    """The processors this process may use."""
    return host.processors()
