"""Tries one random run after another, and shortens one that fails."""

from __future__ import annotations

import hashlib
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from progress import Tried
from shrink import shrink, smaller
from tidemark.machine import qemu

from swarm.draw import draw
from swarm.judge import Outcome, judge, perform
from swarm.known import Item
from swarm.session import session

LEAK_ROUNDS = 7  # by then the kernel has made all its permanent allocations
REPEAT_EVERY = 8
DIFFERS = "the same run again differs: "
ROOM = 256 << 20  # bytes that must be free: a disk, two telemetries
SHRINK_S = 300
NUMBER = r"(?<![\w.])\d+(?![\w.])"
LEAST = {"job": 1, "dynamic": 1, "act": 1, "area": 1, "mem": 5}  # the least value of the numbers, by kind of item
FOLDER = qemu.ROOT / "build/soak/swarm"


class NoRoom(Exception):
    """The disk is full; the text says where."""


@dataclass
class Hunt:
    """Runs whose files are in a folder. `said` receives lines that show progress."""

    folder: Path = FOLDER
    said: Callable[[str], None] = print

    def run(self, items: list[Item], rounds: int = 0) -> Outcome:
        """Makes one run. Raises NoRoom if its files do not fit."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(self.folder).free < ROOM:
            raise NoRoom(f"{self.folder}: less than {ROOM >> 20} MiB are free")
        return perform(session(items, rounds), self.folder)

    def verdict(self, items: list[Item], again: bool = False) -> list[str]:
        """All errors of a run; with `again`, also whether the second run differs from the first."""
        outcome = self.run(items)
        wrong = judge(outcome, items, self.folder)
        if any(one.startswith("leak: ") for one in wrong):
            longer = judge(self.run(items, LEAK_ROUNDS), items, self.folder, LEAK_ROUNDS)
            wrong = [one for one in wrong if not one.startswith("leak: ") or one in longer]
        if again:
            second = self.run(items)
            wrong += [DIFFERS + name for name in vars(outcome) if vars(outcome)[name] != vars(second)[name]]
        return wrong

    def shorter(self, items: list[Item], failure: str) -> list[Item]:
        """What is left of the run after removing everything that is not needed to fail in this way."""
        began, known = time.monotonic(), {tuple(items): True}

        def fails(fewer: list[Item]) -> bool:
            if tuple(fewer) not in known:
                if time.monotonic() - began > SHRINK_S:
                    return False
                known[tuple(fewer)] = failure in self.verdict(fewer, failure.startswith(DIFFERS))
                self.said(f"    {len(fewer)} items {'fail' if known[tuple(fewer)] else 'do not'}")
            return known[tuple(fewer)]

        items = shrink(items, fails)
        for at in range(len(items)):
            items = smaller_numbers(items, at, fails)
        return shrink(items, fails)


def with_number(items: list[Item], at: int, nth: int, value: int) -> list[Item]:
    """The items with another nth number in item `at`."""
    found = list(re.finditer(NUMBER, items[at].text))[nth]
    text = f"{items[at].text[: found.start()]}{value}{items[at].text[found.end() :]}"
    return [*items[:at], replace(items[at], text=text), *items[at + 1 :]]


def smaller_numbers(items: list[Item], at: int, fails: Callable[[list[Item]], bool]) -> list[Item]:
    """The items with numbers in item `at` that are as small as possible."""
    low = LEAST.get(items[at].kind)
    for nth, text in enumerate(re.findall(NUMBER, items[at].text) if low else []):

        def still(value: int, items: list[Item] = items, nth: int = nth) -> bool:
            return fails(with_number(items, at, nth, value))

        items = with_number(items, at, nth, smaller(int(text), still, min(low or 0, int(text))))
    return items


@dataclass(frozen=True)
class Failure:
    """A random run that failed: its name, its errors, and the command that shows it, as short as possible."""

    name: str
    wrong: list[str]
    command: str

    def __str__(self) -> str:
        return f"drawn run {self.name}: {'; '.join(self.wrong)}\n{self.command}"


def try_one(hunt: Hunt, seed: int, number: int) -> Failure | None:
    """Tries the random run with this number."""
    items = draw(f"{seed}.{number}")
    wrong = hunt.verdict(items, again=number % REPEAT_EVERY == 0)
    if not wrong:
        return None
    hunt.said(f"  {seed}.{number}: {'; '.join(wrong)}; now it is made shorter")
    rounds = LEAK_ROUNDS if wrong[0].startswith("leak: ") else 0
    return Failure(f"{seed}.{number}", wrong, session(hunt.shorter(items, wrong[0]), rounds).command())


def name_of(seed: int, number: int) -> str:
    """The name under which it is recorded as tried: with other rules for drawing, it is another run."""
    text = session(draw(f"{seed}.{number}")).command()
    return f"{seed}.{number} {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def hunt_for(seconds: float, seed: int, most: int, hunt: Hunt, tried: Tried) -> list[Failure]:
    """Tries random runs that have not been tried, for these seconds and at most `most`. Raises NoRoom; passes
    KeyboardInterrupt."""
    failures, began, runs, number = [], time.monotonic(), 0, 0
    while time.monotonic() - began < seconds and runs < most:
        number += 1
        if tried.done(name_of(seed, number)):
            continue
        failure = try_one(hunt, seed, number)
        runs += 1
        if failure:
            failures.append(failure)
            hunt.said(str(failure))
        else:
            tried.add(name_of(seed, number))
        passed = time.monotonic() - began
        hunt.said(f"{seed}.{number}: {runs} runs in {passed:.0f} s, {len(failures)} failed")
    return failures
