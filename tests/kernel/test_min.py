"""MIN and VMIN in the simulator, compared with counts from their definitions. In the kernel:
tests/lab/test_foresight.py."""

from __future__ import annotations

import random
import subprocess
import tempfile
from collections.abc import Sequence

import libcachesim
import numpy as np
import pytest
from soak import soak_but
from test_models import decided
from tidemark.strings import compare, refstrings, vmsim
from tidemark.trace import future

BOOKS = ("1 2 3 4 1 2 5 1 2 3 4 5", "7 0 1 2 0 3 0 4 2 3 0 3 2 1 2 0 1 7 0 1")
UNIT_US = (1 << future.TIME_SHIFT) / 1000
FAR = 1 << 40


def next_use(pages: Sequence[int], at: int, page: int) -> int:
    return next((later for later in range(at, len(pages)) if pages[later] == page), FAR)


def naive_min(pages: Sequence[int], frames: int) -> list[bool]:
    """Is each reference a hit? Among pages that are never used again, any may be evicted."""
    held: set[int] = set()
    hits = []
    for at, page in enumerate(pages):
        hits.append(page in held)
        if page not in held and len(held) == frames:
            held.remove(max(held, key=lambda one: next_use(pages, at + 1, one)))
        held.add(page)
    return hits


def judge(pages: Sequence[int], frames: int) -> list[bool]:
    """The hits of MIN by libcachesim, which does not admit pages that are never used again: so each page gets one more
    use after the end."""
    cache = libcachesim.Belady(frames)
    uses = [next_use(pages, at + 1, page) + 1 for at, page in enumerate(pages)]
    return [cache.get(libcachesim.Request(1, obj_id=page, next_access_vtime=use)) for page, use in zip(pages, uses)]


@pytest.mark.parametrize("seed", soak_but(range(4), 0))
def test_min_hits_where_belady_does(seed: int) -> None:
    choose = random.Random(seed)
    texts = [*BOOKS, " ".join(str(min(choose.randrange(12), choose.randrange(12))) for _ in range(150))]
    for text in texts:
        pages, frames = [int(word) for word in text.split()], 3 + seed
        found = [hit for hit, _ in decided("min", refstrings.find(text), frames)]
        assert found == naive_min(pages, frames), (text, frames)
        assert sum(found) == sum(judge(pages, frames)), (text, frames)


@pytest.mark.parametrize("text", ["zipf:300,refs=20000", "phases:200,refs=20000", "loop:50,refs=2000"])
def test_min_equals_the_curve_of_all_sizes(text: str) -> None:
    string, frames = refstrings.find(text), [1, 2, 7, 20, 49, 150]
    program = vmsim.build("min", fast=True)
    assert [vmsim.run(program, string, size).faults for size in frames] == compare.bounds(string, frames)[compare.MIN]


def brute_force(pages: Sequence[int], times: Sequence[int], tau: int) -> tuple[int, float]:
    """(faults, mean number of pages) of VMIN, computed for each moment: a page is resident while it is the latest one
    used, and until its next use if that comes within tau of the reference to another page.
    """
    faults, area = 0, 0
    there: set[int] = set()
    for at, page in enumerate(pages):
        faults += page not in there
        there.add(page)
        if at + 1 == len(pages):
            break
        later = next_use(pages, at + 2, page)
        keep = later != FAR and times[later] - times[at + 1] <= tau
        area += len(there) * (times[at + 1] - times[at])
        if not keep:
            there.remove(page)
    return faults, area / (times[-1] - times[0])


@pytest.mark.parametrize("seed", range(4))
def test_vmin_counts_as_its_definition(seed: int) -> None:
    choose = random.Random(seed)
    pages = [0]
    while len(pages) < 120:
        pages += [page for page in [choose.randrange(7)] if page != pages[-1]]
    times = np.cumsum([choose.randrange(1, 60) for _ in pages]).astype(np.uint64)
    space = future.Space(np.arange(7), np.array(pages, np.uint32), times << np.uint64(future.TIME_SHIFT))
    for tau in (1, 40, 100, 300, 5000):
        faults, mean = future.vmin(space, tau * UNIT_US)
        expected = brute_force(pages, times.tolist(), tau)
        assert (faults, pytest.approx(mean)) == expected, tau


@pytest.mark.parametrize("text", ["zipf:100,refs=6000", "phases:100,refs=6000", "random:64,refs=5000"])
def test_vmin_has_the_faults_of_the_theory(text: str) -> None:
    """A reference takes 0.1 ms, and there is a tick every ms."""
    string, program = refstrings.find(text), vmsim.build("vmin", fast=True)
    space = vmsim.future_of(string)
    for tau_ms in (3, 10, 50):
        expected, _ = future.vmin(space, tau_ms * 1000)
        found = vmsim.run(program, string, string.nr_pages + 5, [f"tau_us={tau_ms * 1000}"])
        assert found.faults == expected and expected > string.nr_pages, tau_ms
        assert found.trimmed > expected - string.nr_pages


def test_damaged_future_is_refused() -> None:
    """A single bit is wrong, which the checksum reveals; or the file is empty, or cut off."""
    data = bytearray(future.encode([vmsim.future_of(refstrings.find(BOOKS[0]))]))
    for damage, said in ((0, '"faults":'), (1, "the future is damaged or cut off")):
        data[-5] ^= damage
        assert said in answer(bytes(data), "min")
    assert "no future lies there" in answer(b"", "min")
    assert "it is longer than the memory" in answer(bytes(data[:-4]), "min")


def answer(data: bytes, policy: str) -> str:
    """The output of the policy's simulator, under the sanitizers, with this future."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        command = [vmsim.build(policy), "--frames", "3", "--future", file.name]
        string = b"".join(piece.tobytes() for piece in refstrings.find(MIXED).runs())
        done = subprocess.run(command, input=string, capture_output=True)
    return (done.stdout + done.stderr).decode()


MIXED = "1 f1 r2 2 F1 3 w2 1 f3 x1 2 r1 f2 4 1 r3"


@pytest.mark.parametrize("seed", soak_but(range(8), 0))
def test_wrong_word_leads_nowhere(seed: int) -> None:
    """One word of a future is replaced, and the sum is right: the file is refused, or only the numbers differ."""
    choose = random.Random(seed)
    words = np.frombuffer(future.encode([vmsim.future_of(refstrings.find(MIXED))], run="x"), "<u4")
    refused = 0
    for at in range(len(words)):
        wrong = words.copy()
        wrong[at] = choose.choice([0, 1, 4, 31, 1 << 31, future.NEVER, choose.randrange(1 << 32)])
        wrong[future.SUM] = 0
        wrong[future.SUM] = -int(wrong.sum(dtype=np.uint64)) % (1 << 32)
        said = answer(wrong.tobytes(), "min")
        refused += "--future" in said
        assert "--future" in said or '"faults":' in said, (at, int(wrong[at]), said)
    assert refused > len(words) // 4


@pytest.mark.parametrize("seed", soak_but(range(6), 0))
def test_min_is_beladys_with_pages_of_files(seed: int) -> None:
    """Mapped or used by system calls, a page of a file counts like one of the process's own."""
    choose = random.Random(seed)
    letters = sorted(refstrings.KINDS_OF_USE)
    words = [choose.choice(letters) + str(min(choose.randrange(12), choose.randrange(12))) for _ in range(300)]
    frames = 3 + seed
    found = [hit for hit, _ in decided("min", refstrings.find(" ".join(words)), frames)]
    pages = [int(word.strip("".join(letters))) + (100 if word[0] in "fFxrw" else 0) for word in words]
    assert found == naive_min(pages, frames)
