"""Sweeps on a Dask cluster of two workers, each a process of this machine: the same bytes, whichever process dies."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import LIMIT_S, guests, wait_for_guest, wait_until
from tidemark.errors import NO_TOOL, USAGE, LabError
from tidemark.machine import qemu
from tidemark.runs import cluster, plan, results, runner, sweep

pytest.importorskip("distributed")

PLAN = """
workload = "thrash {processes} 2048 6 3000"
processes = [1, 2, 3, 4, 5]
mem = "16M"
swap = "sim:ram"
"""


class Cluster:
    """A scheduler and its workers, all of them processes that can be killed."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.processes = folder, []
        self.scheduler = self.start(
            "dask_scheduler", "--host=127.0.0.1", "--port=0", f"--scheduler-file={folder / 'about'}"
        )
        self.address = self.wait_for_address()

    def start(self, program: str, *options: str) -> subprocess.Popen:
        """Starts one of Dask's programs."""
        command = [sys.executable, "-m", f"distributed.cli.{program}", "--no-dashboard", *options]
        env = os.environ | {"PYTHONPATH": str(qemu.ROOT / "tools"), "TMPDIR": str(self.folder)}
        with (self.folder / f"{len(self.processes)}.log").open("w") as log:
            process = subprocess.Popen(command, stderr=log, stdout=log, env=env, preexec_fn=qemu.die_with_parent)
        self.processes.append(process)
        return process

    def worker(self) -> subprocess.Popen:
        """Starts one more worker, which runs one cell at a time."""
        return self.start("dask_worker", self.address, "--no-nanny", "--nthreads=1")

    def wait_for_address(self) -> str:
        """Waits for the address that the scheduler writes into its file."""
        about = self.folder / "about"
        wait_until(lambda: about.exists() and about.read_text().rstrip().endswith("}"))
        return json.loads(about.read_text())["address"]

    def end(self) -> None:
        """Ends all processes."""
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[Cluster]:
    """A scheduler without workers."""
    made = Cluster(tmp_path)
    yield made
    made.end()


def carry_out(folder: Path, where: runner.Where) -> sweep.Sweep:
    """Runs the missing cells of PLAN in `where`."""
    parcel = cluster.pack(qemu.ROOT)
    found = sweep.Sweep(plan.parse(PLAN), folder, parcel.described)
    run = runner.Runner(found, where, parcel, lambda now: None)
    try:
        with sweep.locked(folder):
            run.check_values()
            found.settle()
            run.run()
    finally:
        where.close(run.token)
    return found


def compared(folder: Path) -> dict[str, bytes]:
    """Everything that must be the same: the raw files of all cells, and the table."""
    paths = [path for path in folder.glob("cells/*/*") if path.name in results.RAW]
    return {str(path.relative_to(folder)): path.read_bytes() for path in [*paths, folder / "cells.csv"]}


@pytest.mark.soak
def test_killed_worker_loses_nothing_and_its_qemu_dies_with_it(dask: Cluster, tmp_path: Path) -> None:
    first, _ = dask.worker(), dask.worker()
    where, fate = cluster.Cluster(dask.address), {}
    where.client.wait_for_workers(2, timeout=LIMIT_S)

    def kill_the_first() -> None:
        fate["guest"] = wait_for_guest(first.pid, "thrash")
        first.kill()
        first.wait()

    thread = threading.Thread(target=kill_the_first, daemon=True)
    thread.start()
    found = carry_out(tmp_path / "far", where)
    thread.join()
    assert found.count("done") == 5
    assert not guests(1, "thrash") and not is_running(fate["guest"])
    carry_out(tmp_path / "near", cluster.Local(2))
    assert compared(tmp_path / "far") == compared(tmp_path / "near")


def is_running(pid: int) -> bool:
    """Does the process run? A zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.soak
def test_scheduler_that_disappears_is_told_and_what_is_done_is_kept(
    dask: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_S", 1)
    dask.worker()
    where = cluster.Cluster(dask.address)

    def kill_the_scheduler() -> None:
        wait_until(lambda: any((tmp_path / "out/cells").glob("thrash-5-*")))
        dask.scheduler.kill()

    thread = threading.Thread(target=kill_the_scheduler, daemon=True)
    thread.start()
    with pytest.raises(LabError, match=r"the Dask scheduler at \S+ is gone") as caught:
        carry_out(tmp_path / "out", where)
    thread.join()
    assert caught.value.code == NO_TOOL
    kept = {path.parent.name for path in (tmp_path / "out").glob("cells/*/meta.json")}
    assert any(name.startswith("thrash-5-") for name in kept)
    found = carry_out(tmp_path / "out", cluster.Local(2))
    assert found.count("done") == 5


@pytest.mark.soak
def test_stopping_ends_the_qemus_of_the_workers(dask: Cluster, tmp_path: Path) -> None:
    worker = dask.worker()
    where, parcel = cluster.Cluster(dask.address), cluster.pack(qemu.ROOT)
    endless = qemu.Settings(run="sh -c 'while true; do true; done'", mem="8M", swap="none")
    where.submit(cluster.run_cell, endless, where.share(parcel), "here", "token")
    guest = wait_for_guest(worker.pid, "while true")
    where.close("token")
    wait_until(lambda: not is_running(guest))


@pytest.mark.parametrize(
    ("address", "message", "code"),
    [("nowhere", "not a Dask scheduler's address", USAGE), ("tcp://127.0.0.1:1", "no Dask scheduler at", NO_TOOL)],
)
def test_cluster_that_is_not_there_is_told(
    address: str, message: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_S", 0.3)
    with pytest.raises(LabError, match=message) as caught:
        cluster.Cluster(address)
    assert caught.value.code == code


def test_cluster_without_workers_is_told(dask: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "WORKERS_S", 0.3)
    with pytest.raises(LabError, match="has no workers: `dask worker tcp://"):
        cluster.Cluster(dask.address)


def test_image_travels_by_its_content_and_is_checked_where_it_arrives() -> None:
    parcel = cluster.pack(qemu.ROOT)
    folder = cluster.unpack(parcel)
    assert folder.name == parcel.described["sha256"] and parcel.matches(folder)
    (folder / qemu.INITRD).write_bytes(b"another")
    assert cluster.unpack(parcel) == folder and parcel.matches(folder)
    wrong = cluster.Parcel(parcel.kernel + b"x", parcel.initramfs, parcel.described | {"sha256": "0" * 64})
    with pytest.raises(LabError, match="does not hold the image"):
        cluster.unpack(wrong)


def test_error_of_another_machine_names_it() -> None:
    with pytest.raises(LabError, match=r"^on \S+: no disk$"), cluster.told_where("another"):
        raise LabError("no disk")
