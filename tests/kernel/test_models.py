"""Every policy makes the same decisions as a naive model, reference by reference: tests/kernel/models.

A model is written from the definition of its policy, with lists and sets, independently of the C file. It sees what
the kernel sees: the reference that faults is not a use, every other one sets the accessed bit of its page, and the
policy learns of it when it reads the bit. A model has

        Model(frames)                   .refer(page, kind) -> (in memory?, the evicted pages); kinds: strings.OF_FILE
        ...
                                    pages of the file are negative, -1 is its page 0
       RELATIVE, DIFFERS               the most similar policy, and (string, frames) on which their decisions differ
        PARAMETERS, STEP_NS, MIXED      optional: parameters to set, ns for each reference, are there pages of files,
        too
"""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from soak import soak_but
from tidemark.strings import refstrings, vmsim
from tidemark.strings.refstrings import BY_CALL, LOADS, OF_FILE, References

MODELS = Path(__file__).parent / "models"
NAMES = sorted(path.stem for path in MODELS.glob("*.py"))
KINDS = list(refstrings.KINDS_OF_USE.values())
Decision = tuple[bool, list[int]]


def model_of(name: str) -> ModuleType:
    """The module of a policy's model; names of policies may begin with a digit."""
    spec = importlib.util.spec_from_file_location(f"model_{name}", MODELS / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def decided(policy: str, string: References, frames: int, parameters: tuple[str, ...] = ()) -> list[Decision]:
    """The decisions of the C file in the simulator."""
    rows: list[dict] = []
    vmsim.run(vmsim.build(policy), string, frames, parameters, rows.append)
    return [(row["result"] != "fault", [h["gave"] for h in row["hooks"] if h.get("act") == "evict"]) for row in rows]


def uses(string: References) -> Iterator[tuple[int, int]]:
    """(page, kind) of each reference."""
    kind = 0
    for piece in string.runs():
        for page, count, _ in piece.tolist():
            if count:
                yield (-1 - page if kind & OF_FILE else page), kind
            else:
                kind = page


def modelled(module: ModuleType, string: References, frames: int) -> list[Decision]:
    """The decisions of the model."""
    model = module.Model(frames)
    return [model.refer(page, kind) for page, kind in uses(string)]


def trial(seed: int, mixed: bool, step_ns: int) -> tuple[References, int]:
    """A string of a few hundred references, and a number of frames for it."""
    choose = random.Random(seed)
    pages, length = choose.choice([5, 12, 40, 90]), choose.choice([60, 400])
    kind = choose.choice(sorted(refstrings.KINDS))
    made = refstrings.KINDS[kind](pages, length, np.random.default_rng(seed)).astype(np.uint32)
    frames = choose.randint(3, max(3, pages * 3 // 4))
    if not mixed:
        return refstrings.Given(f"{kind}:{pages}", made, step_ns), frames
    drawn = np.random.default_rng(seed).choice(np.array(KINDS, np.uint32), length)
    return refstrings.Mixed(f"mixed {kind}:{pages}", np.column_stack([drawn, made]), step_ns), frames


def expect_equal(name: str, module: ModuleType, string: References, frames: int) -> None:
    """Reports the first difference, with the references before it."""
    found = decided(name, string, frames, getattr(module, "PARAMETERS", ()))
    wanted = modelled(module, string, frames)
    pairs = list(zip(uses(string), wanted, found))
    first = next((at for at, (_, one, other) in enumerate(pairs) if one != other), None)
    assert first is None, (
        f"{name}, {frames} frames, {string.name}, reference {first}: {pairs[max(0, first - 8) : first + 1]}"
    )
    assert len(found) == len(wanted)


@pytest.mark.parametrize("first", soak_but(range(0, 60, 4), 0))
@pytest.mark.parametrize("name", NAMES)
def test_policy_decides_as_its_model(name: str, first: int) -> None:
    module = model_of(name)
    for seed in range(first, first + 4):
        string, frames = trial(
            seed, getattr(module, "MIXED", False) and seed % 2 == 1, getattr(module, "STEP_NS", 100_000)
        )
        expect_equal(name, module, string, frames)


@pytest.mark.parametrize("name", soak_but(NAMES, "2q", "clock", "ws"))
def test_policy_is_not_its_nearest_relative(name: str) -> None:
    module = model_of(name)
    text, frames = module.DIFFERS
    string = refstrings.find(text, step_ns=getattr(module, "STEP_NS", 100_000))
    expect_equal(name, module, string, frames)
    assert decided(name, string, frames, getattr(module, "PARAMETERS", ())) != decided(module.RELATIVE, string, frames)


def test_mglru_protects_pages_used_twice_once_they_are_read_back() -> None:
    """70 pages are read twice each, in turn, beside a stream. From 32 refaults on they stay in memory."""
    module, frames = model_of("mglru"), 60
    rows = []
    for n in range(1000):
        rows += [n * 7 % 70] * 2 + [1000 + 2 * n, 1001 + 2 * n]
    string = refstrings.Mixed(
        "read twice", np.array([(OF_FILE | BY_CALL | LOADS, page) for page in rows], np.uint32), 100_000
    )
    expect_equal("mglru", module, string, frames)
    missed = [
        at for at, ((hit, _), page) in enumerate(zip(decided("mglru", string, frames), rows)) if page < 70 and not hit
    ]
    assert 32 <= len(missed) < 70


@pytest.mark.parametrize("mixed", [False, True])
def test_linux22_unmaps_several_pages_at_a_time_in_more_memory(mixed: bool) -> None:
    """Hot pages, at the lowest addresses, and a loop over more pages than memory has frames."""
    frames, pages, length = 700, 1000, 3000
    choose = np.random.default_rng(1)
    made = np.where(choose.random(length) < 0.6, choose.random(length) ** 3 * pages, np.arange(length) % pages)
    references = made.astype(np.uint32)
    string: References = refstrings.Given("hot pages and a loop", references, 100_000)
    if mixed:
        drawn = choose.choice(np.array(KINDS, np.uint32), length)
        string = refstrings.Mixed("the same, mixed", np.column_stack([drawn, references]), 100_000)
    expect_equal("linux22", model_of("linux22"), string, frames)
