"""An adversary: a short string on which one policy has many more faults than another.

A search over strings of at most LONGEST references, or fewer, to at most MOST_PAGES pages, for the largest ratio of
faults A to B; of strings with an equal ratio the shortest. Both policies are the tree's own C files in the simulator
(tools/vmsim/many.c), each string from a fresh start with 100 µs a reference; B may also be MIN, the least faults of any
demand paging. It proves a ratio by an example; that no worse string exists it does not prove.

The search keeps the best strings of each generation, changes them at random (a reference more, less, or another; a part
repeated, removed, or of another string), and starts again from random strings when nothing has become better for a
while. It tries a given number of strings and nothing depends on time or on the number of processors, so the same seed
gives the same answer.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from tidemark.errors import FAILED, USAGE, LabError
from tidemark.strings import vmsim
from tidemark.strings.compare import MIN

LONGEST, MOST_PAGES, MOST_FRAMES = 40, 12, 11
KEPT, CHILDREN = 48, 16  # strings kept of a generation, and changed ones of each
PATIENCE = 25  # generations without a better string, before the search starts again
CHANGES = ("another reference", "one more", "a part removed", "a part repeated", "the end of another string")

String = tuple[int, ...]
Count = Callable[[Sequence[String]], list[int]]


@dataclass(frozen=True)
class Worst:
    """The string found, as page numbers from 1 on, and the faults of both on it."""

    a: str
    b: str
    frames: int
    string: String
    faults_a: int
    faults_b: int
    tried: int
    seed: int

    @property
    def ratio(self) -> float:
        return self.faults_a / self.faults_b


def least_faults(string: String, frames: int) -> int:
    """Faults of MIN, which evicts the page whose next use is farthest away (Belady 1966)."""
    memory: set[int] = set()
    faults = 0
    for at, page in enumerate(string):
        if page in memory:
            continue
        faults += 1
        if len(memory) == frames:
            rest = string[at:]
            memory.remove(max(memory, key=lambda one: (rest.index(one) if one in rest else LONGEST, one)))
        memory.add(page)
    return faults


def counter(policy: str, frames: int, parameters: Iterable[str]) -> Count:
    """A function that counts a policy's faults on strings. Raises LabError as vmsim.build, and if a string makes the
    policy break a rule."""
    if policy == MIN:
        return lambda strings: [least_faults(string, frames) for string in strings]
    if policy in vmsim.WITH_FUTURE:
        raise LabError(f"{policy} needs the future of each string; write {MIN} for the least faults possible", USAGE)
    command = [*vmsim.command_line(vmsim.build(policy, fast=True), frames, parameters), "--many"]

    def count(strings: Sequence[String]) -> list[int]:
        words = [word for string in strings for word in (len(string), *string)]
        done = subprocess.run(command, input=np.array(words, "<u4").tobytes(), capture_output=True)
        lines = [line for line in done.stdout.splitlines() if line.isdigit()]  # not the report of a broken rule
        if done.returncode or len(lines) != len(strings):
            said = done.stderr.decode("utf-8", "replace").strip()
            if done.returncode == USAGE:
                raise LabError(said, USAGE)
            string = " ".join(map(str, strings[min(len(lines), len(strings) - 1)]))
            raise LabError(f"{policy} on the string {string} with {frames} frames: {said}", FAILED)
        return [int(line) for line in lines]

    return count


def renumbered(pages: Iterable[int], longest: int) -> String:
    """The string with its pages numbered in order of their first use, cut to what is allowed."""
    names: dict[int, int] = {}
    found = []
    for page in pages:
        if page not in names and len(names) == MOST_PAGES:
            continue
        found.append(names.setdefault(page, len(names) + 1))
    return tuple(found[:longest])


def at_random(rng: random.Random, longest: int) -> String:
    """A string of random references, or of a repeated random part."""
    pages = rng.randint(2, MOST_PAGES)
    part = [rng.randint(1, pages) for _ in range(rng.choice((longest, rng.randint(2, 13))))]
    return renumbered(part * (1 + longest // len(part)), longest)


def changed(rng: random.Random, string: String, other: String, longest: int) -> String:
    """The string with one random change, or some."""
    pages = list(string)
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(pages))
        end = rng.randint(at + 1, min(len(pages), at + 8))
        page = rng.randint(1, MOST_PAGES)
        change = rng.choice(CHANGES)
        if change == "another reference":
            pages[at] = page
        elif change == "one more":
            pages.insert(at, page)
        elif change == "a part removed":
            del pages[at:end]
        elif change == "a part repeated":
            pages[at:at] = pages[at:end]
        else:
            pages[at:] = other[at:]
        pages = pages or [page]
    return renumbered(pages, longest)


def shorter(string: String) -> Iterator[String]:
    """The string without each one of its references."""
    if len(string) > 1:
        yield from (renumbered(string[:at] + string[at + 1 :], LONGEST) for at in range(len(string)))


class Search:
    """The state of a search: what has been tried, and the best so far."""

    def __init__(self, count_a: Count, count_b: Count, tries: int) -> None:
        self.counts = count_a, count_b
        self.left = tries
        self.seen: dict[String, tuple[int, int]] = {}

    def order(self, string: String) -> tuple[float, int, String]:
        """Sorts the worst first."""
        a, b = self.seen[string]
        return -a / b, len(string), string

    def measure(self, strings: Iterable[String]) -> list[String]:
        """Runs both on the strings that are new, as long as tries are left; returns those of them that have counts."""
        wanted = list(dict.fromkeys(strings))
        new = [string for string in wanted if string not in self.seen][: self.left]
        self.left -= len(new)
        if new:
            with ThreadPoolExecutor(2) as pool:
                a, b = pool.map(lambda count: count(new), self.counts)
            self.seen |= zip(new, zip(a, b))
        return [string for string in wanted if string in self.seen]


def search(
    a: str,
    b: str,
    frames: int,
    tries: int,
    seed: int = 1,
    parameters: tuple[Sequence[str], Sequence[str]] = ((), ()),
    longest: int = LONGEST,
    progress: Callable[[int, int, Worst], None] = lambda tried, tries, best: None,
) -> Worst:
    """The worst string of A against B that `tries` strings contain. `progress` gets the number tried, of how many, and
    the best. Raises LabError for wrong arguments or a policy that does not compile or breaks a rule.
    """
    if a == b and parameters[0] == parameters[1]:
        raise LabError(f"{a} and {b} are the same policy: there is no string on which they differ", USAGE)
    if a == MIN:
        raise LabError(f"{MIN} never has more faults than another policy: it can only be the second", USAGE)
    if not 1 <= frames <= MOST_FRAMES:
        raise LabError(f"--frames {frames}: 1 to {MOST_FRAMES} are allowed, fewer than the {MOST_PAGES} pages", USAGE)
    if not 1 <= longest <= LONGEST:
        raise LabError(f"--references {longest}: 1 to {LONGEST} are allowed", USAGE)
    rng = random.Random(seed)
    of = Search(counter(a, frames, parameters[0]), counter(b, frames, parameters[1]), tries)

    def worst(string: String) -> Worst:
        return Worst(a, b, frames, string, *of.seen[string], tries - of.left, seed)

    best: String | None = None
    while of.left:
        kept = sorted(of.measure(at_random(rng, longest) for _ in range(KEPT * CHILDREN)), key=of.order)[:KEPT]
        best = min(filter(None, (best, kept[0])), key=of.order)
        since = 0
        while of.left and since < PATIENCE:
            children = [changed(rng, one, rng.choice(kept), longest) for one in kept for _ in range(CHILDREN)]
            found = of.measure([*kept, *shorter(kept[0]), *children])
            before, kept = kept[0], sorted(found, key=of.order)[:KEPT]
            since = 0 if kept[0] != before else since + 1
            best = min(filter(None, (best, kept[0])), key=of.order)
            progress(tries - of.left, tries, worst(best))
    assert best is not None  # tries is at least 1
    return worst(best)
