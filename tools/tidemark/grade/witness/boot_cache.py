"""Runs that several tests of a lab want: each is made once, which nobody notices, because runs are exact."""

from __future__ import annotations

import threading

from tidemark import qemu
from tidemark.files import sha256
from tidemark.grade.build.workspace import Bench
from tidemark.grade.witness.evidence import Boot

MOST = 12  # that are kept
keeping = threading.Lock()
turns: dict[tuple, threading.Lock] = {}
known: dict[tuple, Boot] = {}


def keep(key: tuple, run: Boot) -> None:
    """Remember a run, and forget the oldest if there are too many."""
    with keeping:
        known[key] = run
        while len(known) > MOST:
            oldest = next(iter(known))
            del known[oldest], turns[oldest]


def boot(bench: Bench, run: str, **options: object) -> Boot:
    """As bench.boot(run, **options), made at most once for a kernel; who asks meanwhile waits for it."""
    image = sha256(bench.tree / qemu.KERNEL), sha256(bench.tree / qemu.INITRD)
    key = (bench.lab.name, *image, run, *sorted(options.items()))
    with keeping:
        turn = turns.setdefault(key, threading.Lock())
    with turn:
        if key in known:
            bench.boots.append(known[key])
        else:
            keep(key, bench.boot(run, **options))
        return bench.boots[-1]
