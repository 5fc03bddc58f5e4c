"""Runs that several tests of a lab need. Each is made once, which makes no difference, because runs are exact."""

from __future__ import annotations

import threading
from typing import Any

from tidemark.files import sha256
from tidemark.grade.witness.boot import Boot
from tidemark.grade.witness.machine import Machine
from tidemark.machine import qemu

Key = tuple[object, ...]

MOST = 40  # runs that are kept
keeping = threading.Lock()
turns: dict[Key, threading.Lock] = {}
known: dict[Key, Boot] = {}


def keep(key: Key, run: Boot) -> None:
    """Remember a run, and forget the oldest if there are too many."""
    with keeping:
        known[key] = run
        while len(known) > MOST:
            oldest = next(iter(known))
            del known[oldest], turns[oldest]


def boot(machine: Machine, run: str, **options: Any) -> Boot:
    """As machine.boot(run, **options), made at most once per kernel. Other threads that ask for it meanwhile wait."""
    image = sha256(machine.tree / qemu.KERNEL), sha256(machine.tree / qemu.INITRD)
    key = (machine.lab.name, *image, run, *sorted(options.items()))
    with keeping:
        turn = turns.setdefault(key, threading.Lock())
    with turn:
        if key in known:
            machine.boots.append(known[key])
        else:
            keep(key, machine.boot(run, **options))
        return machine.boots[-1]
