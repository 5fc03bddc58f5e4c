"""Actions on the machine of a random run while its workloads run."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from swarm import known
from swarm.known import Item

Kind = Callable[[Random, list[Item]], str]

SYSCTLS = {
    "page-cluster": (0, 5),
    "min_free_kbytes": (100, 1500),
    "dirty_ratio": (0, 100),
    "dirty_background_ratio": (0, 100),
    "dirty_expire_centisecs": (0, 1000),
    "dirty_writeback_centisecs": (0, 500),
    "laptop_mode": (0, 5),
    "vfs_cache_pressure": (0, 1000),
    "swappiness": (0, 100),
    "overcommit_memory": (0, 1),
    "drop_caches": (1, 3),
    "percpu_pagelist_fraction": (8, 200),
    "legacy_va_layout": (0, 1),
    "vdso_enabled": (0, 1),
    "swap_token_timeout": (1, 100),
}
DIRECT = "dd if=/dev/sda of=/dev/null bs=70144 count=20 iflag=direct 2>/dev/null"
LOOK = ("/proc/vmstat", "/proc/meminfo", "/proc/zoneinfo", "/proc/slabinfo", "/proc/vm/guard", "/proc/1/smaps",
        "/proc/vm/policy", "/proc/self/maps", "/proc/swaps", "/proc/buddyinfo", "/proc/pressure/memory")  # fmt: skip


def policy(rng: Random, items: list[Item]) -> str:
    return f"echo {rng.choice(known.POLICIES)} >/proc/sys/vm/policy"


def sysctl(rng: Random, items: list[Item]) -> str:
    name, (low, high) = rng.choice(sorted(SYSCTLS.items()))
    return f"echo {rng.randint(low, high)} >/proc/sys/vm/{name}"


def parameter(rng: Random, items: list[Item]) -> str:
    """Changes a parameter of the policy or a guard of this run."""
    owners = [item.text for item in items if item.kind == "vm"]
    owners += [name for item in items if item.text.startswith("guard=") for name in item.text[6:].split(",")]
    for owner in rng.sample(owners, len(owners)):
        if text := known.parameter(rng, owner):
            return f"echo {text[0]} >/proc/params"
    return sysctl(rng, items)


def frames(rng: Random, items: list[Item]) -> str:
    return f"echo {rng.choice((1048576, 100, 500, 2000))} >/proc/sys/vm/frames"


def look(rng: Random, items: list[Item]) -> str:
    return f"cat {rng.choice(LOOK)} >/dev/null"


def check(rng: Random, items: list[Item]) -> str:
    return "cat /proc/vm/check"


def swapoff(rng: Random, items: list[Item]) -> str:
    """Switches off one of the swap areas, drawn at random, and in 60% of the cases on again."""
    mine = ["/dev/sim", *(f"/mnt/swap{item.text.split()[0]}" for item in items if item.kind == "area")]
    name = rng.choice(mine)
    return f"swapoff {name}" + (
        f"; sleep 0.0{rng.randrange(10)}; mkswap {name}; swapon {name}" if rng.random() < 0.6 else ""
    )


def sync(rng: Random, items: list[Item]) -> str:
    return "sync"


def kill(rng: Random, items: list[Item]) -> str:
    return f"kill -{rng.choice(('KILL', 'TERM', 'INT'))} %{rng.randint(1, 3)}"


def fail(rng: Random, items: list[Item]) -> str:
    kind, most = rng.choice((("alloc", 5000), ("alloc", 5000), ("read", 100), ("write", 100), ("mute", 100)))
    return f"echo {kind}:{known.logarithmic(rng, 1, most)} >/proc/fail"


def job(rng: Random, items: list[Item]) -> str:
    """Runs a process beside the others for a while."""
    others = ["ps >/dev/null", "cat /bin/sh | wc", "hog 512 1", "free >/dev/null", "forkbomb 5"]
    return rng.choice(others + [DIRECT] * any(item.kind == "disk" for item in items))


KINDS: list[Kind] = [policy, policy, sysctl, sysctl, parameter, frames, look, check, swapoff, sync, kill, job, fail]


def draw(rng: Random, kind: Kind, items: list[Item]) -> str:
    """One action, perhaps after a pause."""
    ms = known.logarithmic(rng, 1, 3000)
    return rng.choice(("", f"sleep {ms // 1000}.{ms % 1000:03}; ")) + kind(rng, items)
