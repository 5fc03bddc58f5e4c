"""One evaluation from the file to the result: the order of its steps, two or more runs at a time."""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from tidemark.evaluate import REPLICATES, SCHEMA, SET, booted, score, simulated, workshop
from tidemark.evaluate.refusal import Refusal, Refused
from tidemark.evaluate.simulated import Simulated
from tidemark.files import sha256
from tidemark.grade.build.sandbox import Sandbox
from tidemark.grade.witness.machine import Machine
from tidemark.machine import image, qemu

PUBLIC, HELD_OUT = "public", "held_out"
HALVES = (PUBLIC, HELD_OUT)
MOST_SEED = 10**9
ACCEPTED, REFUSED = "accepted", "refused"

Progress = Callable[[int, int], None]
Result = TypeVar("Result")


@dataclass(frozen=True)
class Request:
    """What is evaluated, and how. `seed` numbers the held-out replicates; `more`: texts of further strings, for
    refstrings.find; `jobs` runs at a time."""

    policy: Path
    seed: int
    halves: Sequence[str] = HALVES
    more: Sequence[str] = ()
    jobs: int = 2


@dataclass(frozen=True)
class Evaluation:
    """The result: `told` is the JSON object; `halves` the numbers behind it, empty if the policy is refused."""

    told: dict[str, Any]
    halves: dict[str, score.Half]
    refusal: Refusal | None = None


class Stopped(Exception):
    """Ends a run because the evaluation has ended."""


def any_seed() -> int:
    """A seed that has never been used, most probably."""
    return 1 + secrets.randbelow(MOST_SEED)


def held_out_numbers(seed: int) -> list[int]:
    """The numbers of the held-out replicates of a seed; different for different seeds, and above the public ones."""
    return [seed * 1000 + number for number in range(1, REPLICATES + 1)]


def numbers(half: str, seed: int) -> list[int]:
    """The numbers of a half's replicates."""
    return held_out_numbers(seed) if half == HELD_OUT else list(range(1, REPLICATES + 1))


@contextmanager
def workers(jobs: int, stop: threading.Event) -> Iterator[ThreadPoolExecutor]:
    """Threads; if the block ends early, what runs is ended, and the rest never begins."""
    with ThreadPoolExecutor(jobs) as pool:
        try:
            yield pool
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


@dataclass(frozen=True)
class Coming:
    """The results of a half that come, by cell and replicate."""

    strings: Mapping[str, Mapping[int, Future[float]]]
    machine: Mapping[str, Mapping[int, Future[booted.Measured]]]

    def all(self) -> list[Future[Any]]:
        """Every result."""
        strings = [one for cell in self.strings.values() for one in cell.values()]
        return [*(one for cell in self.machine.values() for one in cell.values()), *strings]

    def half(self) -> score.Half:
        """The results, all of which have come."""
        return score.Half(results(self.strings), results(self.machine))


def results(coming: Mapping[str, Mapping[int, Future[Result]]]) -> dict[str, dict[int, Result]]:
    """The results, by cell and replicate."""
    return {name: {number: one.result() for number, one in cell.items()} for name, cell in coming.items()}


def begun(
    pool: ThreadPoolExecutor, machine: Machine, draws: Sequence[int], strings: Sequence[Simulated], look: booted.Look
) -> Coming:
    """Submit all runs of a half."""
    return Coming(
        machine={
            cell.name: {n: pool.submit(booted.measure, machine, cell, n, look) for n in draws} for cell in booted.CELLS
        },
        strings={one.name: {n: pool.submit(simulated.measure, machine, one, n) for n in draws} for one in strings},
    )


def measured(machine: Machine, request: Request, progress: Progress) -> tuple[dict[str, score.Half], booted.Counted]:
    """All numbers of both halves, and the run that measures the cost of hooks. Raises Refused."""
    simulated.try_out(machine)
    booted.disk_image(machine.scratch)
    strings = [*simulated.cells(), *simulated.given(request.more)]
    stop = threading.Event()

    def look() -> None:
        if stop.is_set():
            raise Stopped

    with workers(request.jobs, stop) as pool:
        cost = pool.submit(booted.cost, machine, look)
        coming = {half: begun(pool, machine, numbers(half, request.seed), strings, look) for half in request.halves}
        every = [cost, *(one for half in coming.values() for one in half.all())]
        for done, future in enumerate(as_completed(every), 1):
            future.result()
            progress(done, len(every))
    return {half: made.half() for half, made in coming.items()}, cost.result()


def cost_told(cost: booted.Counted) -> dict[str, Any]:
    """The JSON of the cost of hooks."""
    return {
        "run": booted.COST_RUN,
        "faults": cost.faults,
        "hook_instructions_per_fault": cost.hook_instructions / cost.faults,
        "hooks_percent": 100 * cost.hook_instructions / cost.instructions,
    }


def refused_told(refusal: Refusal) -> dict[str, str]:
    """The JSON of a refusal."""
    return {"stage": refusal.stage, "rule": refusal.rule, "said": refusal.said}


def evaluate(request: Request, box: Sandbox, progress: Progress = lambda done, total: None) -> Evaluation:
    """Evaluate a policy. Raises LabError if that fails and the policy is not the cause."""
    started = time.monotonic()
    head: dict[str, Any] = {"schema": SCHEMA, "kind": "evaluation", "set": SET, "seed": request.seed}
    head |= {"policy": request.policy.stem, "file_sha256": None, "kernel_sha256": None, "qemu": image.qemu_version()}
    try:
        source = workshop.read(request.policy)
        head["file_sha256"] = hashlib.sha256(source.data).hexdigest()
        with workshop.built(source, box) as machine:
            head["kernel_sha256"] = sha256(machine.tree / qemu.KERNEL)
            halves, cost = measured(machine, request, progress)
    except Refused as error:
        told = {"verdict": REFUSED, "refusal": refused_told(error.refusal), "cost": None} | dict.fromkeys(HALVES)
        return Evaluation(head | told | {"host_s": time.monotonic() - started}, {}, error.refusal)
    told = {"verdict": ACCEPTED, "refusal": None, "cost": cost_told(cost)} | dict.fromkeys(HALVES)
    told |= {half: score.of_half(made) for half, made in halves.items()}
    return Evaluation(head | told | {"host_s": time.monotonic() - started}, halves)
