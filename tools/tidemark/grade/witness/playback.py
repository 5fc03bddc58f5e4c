"""A string of references, played in the guest by the workload pace, and its observation from outside.

Only the string's pages may come and go. So the workload runs alone, its own pages are locked, and the number of
frames is limited only when it begins: until then no page was evicted, and no policy had reason to protect a page of
init's. A prefix of pages used once, three times as many as there are frames, evicts these. It leaves its own pages in
the frames when the string begins; textbooks have empty frames there, and the same victims after the
first few. Every reference writes, so that every evicted page is written to the disk, where it is seen. The disk
is memory, so no time passes in a fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tidemark.errors import BAD_INPUT, LabError
from tidemark.grade.build.workspace import tail
from tidemark.grade.model import Outcome, Test, Verdict, wrong
from tidemark.grade.witness.boot import Boot
from tidemark.grade.witness.evidence import WRITE, References
from tidemark.grade.witness.machine import Machine, trouble
from tidemark.strings import refstrings

PREFIX_PER_FRAME = 3
MAX_NUMBER = 9999  # the largest page number of pace
MAX_TEXT = 1 << 18


@dataclass(frozen=True)
class Playback:
    """One run. `prefix` and `string` are the page numbers that were to be played."""

    boot: Boot
    prefix: tuple[int, ...]
    string: tuple[int, ...]

    @cached_property
    def _references(self) -> References:
        """The references of the workload."""
        return self.boot.evidence.string(self.boot.evidence.main_space())

    @cached_property
    def _seen(self) -> tuple[list[int], np.ndarray, list[tuple[int, int]]]:
        """(all pages referenced, whether each was swapped in, the victims), by the string's page numbers."""
        number = list(dict.fromkeys((*self.prefix, *self.string)))
        seen = self._references
        pages = [number[page] if page < len(number) else -1 for page in seen.pages.tolist()]
        return pages, seen.swapped_in, [(at, number[page]) for at, page in seen.victims if page < len(number)]

    @property
    def made(self) -> list[int]:
        """The string as the workload made it; shorter if the workload was stopped."""
        return self._seen[0][len(self.prefix) :]

    @property
    def swapped_in(self) -> np.ndarray:
        """For each reference made: was its page read again, after an earlier eviction?"""
        return self._seen[1][len(self.prefix) :]

    @cached_property
    def victims(self) -> dict[int, list[int]]:
        """The pages evicted just before a reference, by its index in the string, without those before it."""
        found: dict[int, list[int]] = {}
        for at, page in self._seen[2]:
            if at >= len(self.prefix):
                found.setdefault(at - len(self.prefix), []).append(page)
        return found

    def eviction(self, at: int) -> int:
        """The number, from 1 on among all evictions of the run, of the first eviction just before a reference of the
        string, which must have one. The disk is memory, so an evicted page is written at once."""
        found = zip(self._references.victims, self._references.written)
        event = next(event for (before, _), event in found if before == at + len(self.prefix))
        return int((self.boot.evidence.events["kind"][: event + 1] == WRITE).sum())

    def named(self, page: int) -> str:
        """A page in a message: those before the string are x1, x2, ..."""
        return f"x{page - self.prefix[0] + 1}" if page in self.prefix else str(page)

    def most_in_memory(self) -> int:
        """The largest number of the workload's pages that were in memory after a reference."""
        pages, _, victims = self._seen
        leaving: dict[int, list[int]] = {}
        for at, page in victims:
            leaving.setdefault(at, []).append(page)
        memory: set[int] = set()
        most = 0
        for at, page in enumerate(pages):
            memory.difference_update(leaving.get(at, ()))
            memory.add(page)
            most = max(most, len(memory))
        return most


def pages_of(test: Test) -> tuple[int, ...]:
    """The pages of a test's option `string`; with `again`, repeated with each of its numbers added to all pages."""
    pages = np.concatenate([run[:, 0] for run in refstrings.find(str(test.options["string"])).runs()]).astype(np.int64)
    nr_pages = int(pages.max()) + 1
    return tuple(np.concatenate([(pages + on) % nr_pages for on in (0, *test.options.get("again", ()))]).tolist())


def prefix_of(pages: Sequence[int], frames: int) -> tuple[int, ...]:
    """The pages of the prefix, which the string does not have. Raises LabError if their numbers are too large."""
    first = max(pages) + 1
    if first + PREFIX_PER_FRAME * frames > MAX_NUMBER:
        raise LabError(f"a string with page {max(pages)} and {frames} frames needs pages above {MAX_NUMBER}", BAD_INPUT)
    return tuple(range(first, first + PREFIX_PER_FRAME * frames))


def words(pages: Sequence[int]) -> str:
    """Pages in the notation of pace, where they count from 1; ascending runs become ranges."""
    if not pages:
        return ""
    numbers = np.asarray(pages) + 1
    ends = np.flatnonzero(np.diff(numbers) != 1)
    firsts, lasts = numbers[np.concatenate([[0], ends + 1])], numbers[np.concatenate([ends, [-1]])]
    return " ".join(f"{one}-{other}" if other > one else str(one) for one, other in zip(firsts, lasts))


def most_instructions(nr_references: int) -> int:
    """Instructions of a run of `pace`, after which it counts as hung: far more than any solution needs."""
    return 200_000_000 + 100_000 * nr_references


def play(
    machine: Machine, policy: str, pages: Sequence[int], frames: int, parameters: Sequence[str] = (), **options: object
) -> Playback:
    """Boot the machine's kernel and play the string under a policy; `parameters` are words such as ws.tau_ms=5."""
    prefix = prefix_of(pages, frames)
    text = f"f{frames} {words((*prefix, *pages))}".encode()
    if len(text) >= MAX_TEXT:
        raise LabError(f"a string of {len(pages):,} references is too long: {len(text):,} bytes", BAD_INPUT)
    command = " ".join(("sample_ms=0", *parameters))
    limit = most_instructions(len(prefix) + len(pages))
    files = {"string": text}
    boot = machine.boot("pace @/string", files, vm=policy, swap="sim:ram", cmdline=command, budget=limit, **options)
    return Playback(boot, prefix, tuple(pages))


def obstacle(boot: Boot) -> Verdict | None:
    """The verdict on a run in which a rule was broken, or that did not end well; None if it can be judged."""
    if boot.evidence.breaches:
        said = [line for line in boot.console.splitlines() if line.startswith("policy violation:")]
        texts = list(dict.fromkeys(breach.text for breach in boot.evidence.breaches))
        return wrong("\n".join([*texts[:3], *(f"the kernel says: {line}" for line in said[:3])]), Outcome.BROKE_RULE)
    if boot.outcome is Outcome.WRONG:
        return wrong(f"{boot.reason}\n{tail(boot.console)}")
    return trouble(boot)


def incomplete(played: Playback, frames: int) -> Verdict | None:
    """The verdict on a run in which references are missing, or more pages than frames were in memory; else None."""
    made, wanted = len(played.made), len(played.string)
    if tuple(played.made) != played.string:
        return wrong(f"the workload made {made:,} of {wanted:,} references of the string: the kernel prevented more")
    most = played.most_in_memory()
    if most > frames:
        return wrong(f"{most} pages were in memory at once, with {frames} frames", Outcome.BROKE_RULE)
    return None
