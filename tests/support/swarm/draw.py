"""The content of a random run: a list of items, each of which may be left out.

Everything that is left out has a default, so that a failure can be shortened by removing items. Sizes are drawn on a
logarithmic scale: small ones are as likely as large ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from swarm import acts, jobs
from swarm.known import GUARDS, MAX_JOBS, POLICIES, Item, logarithmic, parameter

MAX_ACTS = 8


def memory(rng: Random) -> list[Item]:
    """Memory, a cap on frames, zones."""
    mib = logarithmic(rng, 5, rng.choice((12, 24, 64)))
    items = [Item("mem", str(mib))]
    if rng.random() < 0.15:
        items.append(Item("frames", str(logarithmic(rng, 64, mib * 200))))
    if rng.random() < 0.15 and mib > 20:
        items.append(Item("word", f"lowmem={logarithmic(rng, 8, mib)}M"))
    return items


def swap(rng: Random) -> Item:
    """The first swap area: sometimes there is none, or hardly any."""
    if rng.random() < 0.07:
        return Item("swap", "none")
    kib = logarithmic(rng, 64, 8192) if rng.random() < 0.15 else logarithmic(rng, 16384, 65536)
    return Item("swap", f"sim:{rng.choice(('hdd', 'ssd', 'ram'))},size={kib // 4 * 4}K")


def disk(rng: Random) -> list[Item]:
    """A disk for files: its size, its block size, with the programs or empty, its kind."""
    if rng.random() < 0.4:
        return []
    block = rng.choice((1024, 2048, 4096, 4096))
    items = [Item("disk", f"{rng.choice((8, 24, 48))}M:{block}{rng.choice(('', ':build/user'))}")]
    if rng.random() < 0.5:
        items.append(Item("kind", rng.choice(("sim:ssd", "sim:ram", "sim:ssd,latency=2000", "sim:hdd,cache=256K"))))
    return items


def areas(rng: Random, has_disk: bool) -> list[Item]:
    """More swap areas, in files on the disk."""
    if not has_disk or rng.random() < 0.7:
        return []
    return [
        Item("area", f"{n} {logarithmic(rng, 64, 1024)} {rng.randrange(4)}") for n in range(rng.choice((1, 1, 2, 3)))
    ]


WORDS: list[Callable[[Random], str]] = [
    lambda rng: f"jitter={rng.randrange(1, 1000)}",
    lambda rng: "slab_poison=1",
    lambda rng: "block.elevator=deadline",
    lambda rng: f"vm.page_cluster={rng.randrange(6)}",
    lambda rng: f"sample_ms={logarithmic(rng, 5, 1000)}",
    lambda rng: f"wss_tau_ms={logarithmic(rng, 1, 5000)}",
    lambda rng: "profile_hz=1000",
    lambda rng: f"vm.overcommit_memory={rng.choice((0, 2))}",
    lambda rng: f"sched.latency_ns={logarithmic(rng, 100000, 1000000000)}",
    lambda rng: f"sched.min_granularity_ns={logarithmic(rng, 100000, 1000000000)}",
    lambda rng: f"vm.dirty_expire_centisecs={logarithmic(rng, 1, 3000)}",
    lambda rng: f"vm.dirty_writeback_centisecs={logarithmic(rng, 1, 500)}",
    lambda rng: f"vm.dirty_ratio={rng.randrange(101)}",
    lambda rng: f"vm.percpu_pagelist_fraction={rng.choice((8, 50))}",
    lambda rng: f"vm.vfs_cache_pressure={rng.choice((0, 1, 1000))}",
]


def failure(rng: Random, has_disk: bool) -> list[Item]:
    """A single failure, or a power failure."""
    kind = rng.choice(("read", "write", "mute", "alloc", "alloc", "none", "none", "none", "none", "cut"))
    if kind == "cut" and has_disk:
        return [Item("word", f"cut={logarithmic(rng, 1, 3000)}"), Item("word", f"cut_seed={rng.randrange(1000)}")]
    if kind in ("read", "write", "mute", "alloc"):
        return [Item("word", f"fail={kind}:{logarithmic(rng, *((100, 20000) if kind == 'alloc' else (1, 500)))}")]
    return []


def words(rng: Random, policy: str) -> list[Item]:
    """Guards, and parameters of the kernel, of the policy, of the guards."""
    guards = rng.sample(GUARDS, rng.choice((1, 1, 1, 2, 3))) if rng.random() < 0.4 else []
    texts = [f"guard={','.join(guards)}"] if guards else []
    for owner in (policy, *guards):
        texts += parameter(rng, owner)
    texts += [word(rng) for word in rng.sample(WORDS, rng.choice((0, 0, 1, 2, 4)))]
    return [Item("word", text) for text in texts]


def room(rng: Random, items: list[Item]) -> int:
    """The memory in KiB that all jobs together should need: some do not fit, few not even into memory and swap area."""
    mem = 1024 * next(int(item.text) for item in items if item.kind == "mem")
    size = next((re.search(r"size=(\d+)K", item.text) for item in items if item.kind == "swap"), None)
    both = mem // 2 + (int(size[1]) if size else 0) * 2 // 3
    return logarithmic(rng, mem * 2 // 3, max(min(both, 4 * mem), mem * 2 // 3)) if rng.random() < 0.9 else both * 2


def draw(seed: int | str) -> list[Item]:
    """The random run with this number."""
    rng = Random(seed)
    policy = rng.choice(POLICIES)
    items = [Item("watch", ""), Item("again", ""), Item("vm", policy), *memory(rng), swap(rng), *disk(rng)]
    has_disk = any(item.kind == "disk" for item in items)
    items += [*areas(rng, has_disk), *words(rng, policy), *failure(rng, has_disk)]
    if rng.random() < 0.3:
        items.append(Item("seed", str(rng.randrange(2, 1000))))
    largest = max([512, *(int(item.text.partition("M")[0]) * 1024 // 6 for item in items if item.kind == "disk")])
    left, nr = room(rng, items), rng.randint(1, MAX_JOBS)
    kinds = rng.sample(jobs.KINDS, rng.randint(1, 4))
    for at in range(nr):
        kib = logarithmic(rng, max(64, left // (4 * (nr - at))), max(64, 2 * left // (nr - at)))
        on_disk = any(item.text.endswith("build/user") for item in items) and rng.random() < 0.7
        dynamic = on_disk and rng.random() < 0.25
        text = jobs.draw(rng, jobs.linked if dynamic else rng.choice(kinds), kib, f"/mnt/@f{at}", largest)
        items.append(Item("dynamic" if dynamic else "job", f"/mnt/{text}" if on_disk else text))
        left -= kib
    kinds_of_act = rng.sample(acts.KINDS, rng.randint(1, 4)) if rng.random() < 0.7 else []
    if kinds_of_act:
        for _ in range(rng.randint(1, MAX_ACTS)):
            items.append(Item("act", acts.draw(rng, rng.choice(kinds_of_act), items)))
    return items
