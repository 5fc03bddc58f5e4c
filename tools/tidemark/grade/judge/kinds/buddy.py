"""Kind `buddy`: the page allocator by itself, on the host, against a model of the frames.

A driver (labs/buddy/driver.c) has the student's buddy.c, linked into a separate program, perform a string of
operations, and prints after each its result and the zone's counts. The allocator may choose among free blocks of one
order, so the model follows its choice: could it give that block? The free blocks afterwards are then determined, since
a block can be split in one way only and buddies always merge.

Options:
    operations    such as "a3 a0 f1 d": allocate order 3, order 0, free what operation 1 got. t1, m1: free it a second
                  time, or at a wrong address; both must panic, so one of them comes last. d: damage that buddy_check
                  must notice. Or a list of such strings, each with a new zone
    random, seed  instead of operations: the number of operations, drawn with this seed
    zone, hole    [first frame, end]; frames of the zone that are in the hole do not exist
    rules         "sound": blocks are aligned, whole and unshared. "buddy" (default): also, the smallest block that fits
                  is split, buddies merge, the counts are right, and buddy_check reports no error
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from tidemark.errors import BAD_INPUT, LabError
from tidemark.grade.build import object_rules
from tidemark.grade.build.workspace import HostRun, tail
from tidemark.grade.judge import driven
from tidemark.grade.judge.driven import LIMIT_S, Wrong
from tidemark.grade.model import Outcome, Test, Verdict, right, wrong
from tidemark.grade.witness.machine import Machine

DRIVER = "build/labs/buddy/driver"
OBJECT = "build/labs/buddy/kernel/mm/frame/buddy.o"  # the student's object file in it
MAX_ORDER = 11
ZONE, HOLE = (37, 2101), (1000, 1010)
PHASE = 500  # random operations in which memory fills, and then empties
BUSY, QUIET = 0.8, 0.2  # the part of the operations that allocate


@dataclass(frozen=True)
class Operation:
    """One operation: `what` with a `number` (damage: see labs/buddy/driver.c); `place` counts from 1."""

    place: int
    what: str
    number: int

    def __str__(self) -> str:
        return f"{self.what} {self.number}"


def block(pfn: int, order: int) -> str:
    """A block in words."""
    return f"frames {pfn} to {pfn + (1 << order) - 1}" if order else f"frame {pfn}"


def nothing_free(pfn: int) -> NoReturn:
    """The model itself is wrong: frames are in the zone, but neither held nor free."""
    raise AssertionError(f"frame {pfn} is neither held nor free")


@dataclass
class Frames:
    """The frames of a zone: free blocks by order, and the others' holders. All pairs of free buddies are merged."""

    first: int
    end: int
    free: list[set[int]] = field(default_factory=lambda: [set() for _ in range(MAX_ORDER)])
    holder: dict[int, int] = field(default_factory=dict)  # frame: place of the operation
    held: dict[int, tuple[int, int]] = field(default_factory=dict)  # place: frame, order

    @property
    def nr_free(self) -> int:
        return sum(len(blocks) << order for order, blocks in enumerate(self.free))

    def around(self, pfn: int, order: int) -> tuple[int, int] | None:
        """The free block (frame, order) that holds the block at `pfn`, which is aligned."""
        for larger in range(order, MAX_ORDER):
            if pfn >> larger << larger in self.free[larger]:
                return pfn >> larger << larger, larger
        return None

    def smallest(self, order: int) -> tuple[int, int] | None:
        """A smallest free block of at least this order."""
        return next(((min(self.free[k]), k) for k in range(order, MAX_ORDER) if self.free[k]), None)

    def take(self, pfn: int, order: int, place: int) -> None:
        """Hand out a block: halve the free block around it until it is split off."""
        start, larger = self.around(pfn, order) or nothing_free(pfn)
        self.free[larger].remove(start)
        while larger > order:
            larger -= 1
            half = 1 << larger
            self.free[larger].add(start if pfn >= start + half else start + half)
            start += half if pfn >= start + half else 0
        self.held[place] = (pfn, order)
        self.holder.update((frame, place) for frame in range(pfn, pfn + (1 << order)))

    def give(self, pfn: int, order: int) -> None:
        """Free a block, and merge it with its buddies."""
        while order < MAX_ORDER - 1 and pfn ^ 1 << order in self.free[order]:
            self.free[order].remove(pfn ^ 1 << order)
            pfn &= ~(1 << order)
            order += 1
        self.free[order].add(pfn)

    def give_back(self, place: int) -> None:
        """Free the block that an operation got, if it got one."""
        pfn, order = self.held.pop(place, (0, 0))
        if not pfn:
            return
        for frame in range(pfn, pfn + (1 << order)):
            del self.holder[frame]
        self.give(pfn, order)


def options(test: Test) -> tuple[tuple[int, int], tuple[int, int], bool]:
    """Zone, hole, and whether all rules of a buddy allocator count."""
    rules = test.options.get("rules", "buddy")
    if rules not in ("buddy", "sound"):
        raise LabError(f"{test.title}: rules = {rules!r}; they are 'buddy' or 'sound'", BAD_INPUT)
    (first, end), (hole, behind) = test.options.get("zone", ZONE), test.options.get("hole", HOLE)
    return (first, end), (hole, behind), rules == "buddy"


def written(text: str) -> Iterator[Operation]:
    """The operations of "a3 a0 f1". The number of calls of buddy_check between damages depends on the string, so an
    allocator that only counts the calls fails."""
    numbers = random.Random(text)
    for place, word in enumerate(text.split(), 1):
        if not re.fullmatch(r"[aftm]\d+|d", word):
            raise LabError(f"operation {word!r}: there are a3, f1, t1, m1 and d", BAD_INPUT)
        yield Operation(place, word[0], int(word[1:] or numbers.getrandbits(8)))


def drawn(count: int, seed: int) -> Iterator[Operation]:
    """Random operations. Each order is half as frequent as the one below it; memory fills and empties by turns."""
    numbers = random.Random(seed)
    held: list[int] = []
    for place in range(1, count + 1):
        busy = BUSY if (place - 1) // PHASE % 2 == 0 else QUIET
        if not held or numbers.random() < busy:
            order = next((k for k in range(MAX_ORDER - 1) if numbers.random() < 0.5), MAX_ORDER - 1)
            held.append(place)
            yield Operation(place, "a", order)
        else:
            at = int(numbers.random() * len(held))
            held[at], held[-1] = held[-1], held[at]
            yield Operation(place, "f", held.pop())


def strings_of(test: Test) -> list[list[Operation]]:
    """The strings of operations that a test asks for."""
    if "operations" not in test.options:
        if not {"random", "seed"} <= set(test.options):
            raise LabError(f"{test.title}: it needs operations, or random and seed", BAD_INPUT)
        return [list(drawn(int(test.options["random"]), int(test.options["seed"])))]
    given = test.options["operations"]
    return [list(written(text)) for text in ([given] if isinstance(given, str) else given)]


def check_block(frames: Frames, hole: Sequence[int], pfn: int, order: int, strict: bool) -> None:
    """Raises Wrong if the allocator could not give this block."""
    gave = f"gave {block(pfn, order)}"
    if pfn % (1 << order):
        raise Wrong(f"{gave}: a block of order {order} begins at a multiple of {1 << order}")
    for frame in range(pfn, pfn + (1 << order)):
        if frame in frames.holder:
            place = frames.holder[frame]
            part = f" is part of {block(*frames.held[place])}, which" if frames.held[place][1] else ", which"
            raise Wrong(f"{gave}; frame {frame}{part} operation {place} holds")
        if not frames.first <= frame < frames.end or hole[0] <= frame < hole[1]:
            raise Wrong(f"{gave}; frame {frame} is not in the zone, or does not exist")
    _, larger = frames.around(pfn, order) or nothing_free(pfn)
    start, smallest = frames.smallest(order) or nothing_free(pfn)
    if strict and larger > smallest:
        raise Wrong(f"{gave} out of a free block of order {larger}, although {block(start, smallest)} would suffice")


def check_counts(frames: Frames, words: Sequence[str], strict: bool) -> None:
    """Raises Wrong if the zone's counts differ from the model's."""
    nr_free, *counts, sound = map(int, words)
    if nr_free != frames.nr_free:
        raise Wrong(f"nr_free is {nr_free}, but {frames.nr_free} frames are free")
    for order, (count, blocks) in enumerate(zip(counts, frames.free)):
        if strict and count != len(blocks):
            starts = ", ".join(str(pfn) for pfn in sorted(blocks)[:8]) + (", ..." if len(blocks) > 8 else "")
            there = f"{len(blocks)} (at {starts})" if blocks else "none"
            raise Wrong(f"free_area[{order}].nr_free is {count}; with all buddies merged there must be {there}")
    if strict and sound:
        raise Wrong(f"buddy_check returns {sound}, although the counts are right")


def check_misuse(words: Sequence[str], what: str) -> None:
    """Raises Wrong unless the misuse caused a panic."""
    if words[0] != "panic":
        how = "once more" if what == "t" else "at the address of its second frame"
        raise Wrong(f"freed the block {how}, and nothing happened: an assertion must fail here")


def check_damage(words: Sequence[str]) -> None:
    """Raises Wrong unless buddy_check noticed each damage."""
    kinds = ("nr_free", "the count of an order", "the flag PG_buddy of a free block", "the order of a free block")
    if words == ["none"]:
        raise Wrong("no free block is on the list of its order")
    missed = [kind for kind, word in zip(kinds, words) if word != "found"]
    if missed:
        raise Wrong(f"buddy_check returns 0 although {' and '.join(missed)} is wrong")
    if words[-1] != "content":
        raise Wrong("buddy_check is not 0 although the damage was undone, or before it was done")


def check(frames: Frames, hole: Sequence[int], operation: Operation, words: list[str], strict: bool) -> None:
    """Judge one line of the transcript, and update the model."""
    if operation.what in "tm":
        return check_misuse(words, operation.what)
    if words[0] == "panic":
        raise Wrong(f"panic: {' '.join(words[1:])}", Outcome.PANICKED)
    if operation.what == "d":
        return check_damage(words[1:])
    if operation.what == "f":
        frames.give_back(operation.number)
    elif words[1] == "wild":
        raise Wrong("gave an address that is not a struct page")
    elif words[1] == "none":
        fits = frames.smallest(operation.number)
        if fits:
            raise Wrong(f"gave none, although {block(*fits)} are free")
    else:
        check_block(frames, hole, int(words[1]), operation.number, strict)
        frames.take(int(words[1]), operation.number, operation.place)
    check_counts(frames, words[1 if operation.what == "f" else 2 :], strict)


def in_words(operation: Operation) -> str:
    """An operation in words, for a message."""
    names = {
        "a": "alloc order",
        "f": "free what operation",
        "t": "free again what operation",
        "m": "free what operation",
    }
    if operation.what == "d":
        return f"operation {operation.place}, damage"
    more = "" if operation.what == "a" else " got"
    return f"operation {operation.place}, {names[operation.what]} {operation.number}{more}"


def follow(test: Test, operations: list[Operation], run: HostRun) -> Verdict:
    """Compare the transcript with the model, line by line."""
    (first, end), hole, strict = options(test)
    frames = Frames(first, end)
    for pfn in range(first, end):
        if not hole[0] <= pfn < hole[1]:
            frames.give(pfn, 0)
    return driven.follow(
        run,
        lambda line: check_counts(frames, line.split()[1:], strict),
        [(operation, in_words(operation)) for operation in operations],
        lambda operation, line: check(frames, hole, operation, line.split(), strict),
        lambda run: driven.crash(run, "kernel/mm/", LIMIT_S),
        "after the zone's frames were freed, one by one",
    )


def perform(test: Test, machine: Machine, operations: list[Operation]) -> Verdict:
    """Run the driver, and compare its output with the model."""
    zone, hole, _ = options(test)
    begin = f"z {zone[0]} {zone[1]} {hole[0]} {hole[1]}"
    return follow(test, operations, driven.perform(machine, DRIVER, begin, operations, LIMIT_S))


def needs(test: Test) -> tuple[str, ...]:
    """The make target of the driver, which contains the student's allocator."""
    return (DRIVER,)


def judge(test: Test, machine: Machine) -> Verdict:
    """All strings of the test; the first that goes wrong decides."""
    strings = strings_of(test)
    options(test)  # report a mistake in lab.toml first
    made = machine.build_results[DRIVER]
    if made.status:
        return wrong(f"the compiler says:\n{tail(made.err, 20)}", Outcome.NO_BUILD)
    offences = object_rules.host_offences(machine.tree, machine.lab, OBJECT)
    if offences:
        return wrong("\n".join(offences), Outcome.BROKE_RULE)
    for number, operations in enumerate(strings, 1):
        verdict = perform(test, machine, operations)
        if verdict.outcome is not Outcome.RIGHT:
            string = f"string {number}, " if len(strings) > 1 else ""
            return wrong(string + verdict.message, verdict.outcome)
    return right(f"{sum(map(len, strings))} operations")
