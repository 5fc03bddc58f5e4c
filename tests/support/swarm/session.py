"""A random run as the guest sees it: the settings of its machine, and the input at its prompt.

Everything is done twice, and removed in between: what is kept in each round has leaked.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from guest import settings
from tidemark.machine import disk, qemu

from swarm.known import MAX_JOBS, Item, commands

STARVED = "SWARM: not at its end after"
ROUND = "SWARM: round"
SHOW = "cat /proc/vmstat /proc/vm/check"
MS_PER_REFERENCE = 200  # a read and a write of the slow disk, and some more for other processes
LEAST_S = 900
# Each of the three kinds may fail once more, in the echo itself.
NO_FAILURE = "; ".join(["echo none >/proc/fail"] * 4)


@dataclass(frozen=True)
class Session:
    """A machine, its input, and its disk's file system, if it has one: size, block size, perhaps a folder."""

    settings: qemu.Settings
    text: str
    disk: tuple[str, ...] | None

    def command(self) -> str:
        """A shell command that repeats the run."""
        s = self.settings
        words = [f"VM={s.vm}", f"MEM={s.mem}", f"SWAP={s.swap}"]
        words += [f"FRAMES={s.frames}"] if s.frames else []
        words += [f"SEED={s.seed}"] if s.seed else []
        words += [f"DISK={IMAGE}", f"DISK_KIND={s.disk_kind}"] if self.disk else []
        words += [f"CMDLINE={s.cmdline}"] if s.cmdline else []
        lines = " ".join(shlex.quote(line) for line in self.text.splitlines())
        make = f"printf '%s\\n' {lines} | make qemu {' '.join(map(shlex.quote, words))}"
        if not self.disk:
            return make
        image = " ".join(map(shlex.quote, mke2fs(self.disk, Path(IMAGE))))
        return f"rm -f {IMAGE}; PATH=$PATH:/usr/sbin:/sbin {image} && {make}"


IMAGE = "build/swarm.img"


def mke2fs(of: tuple[str, ...], image: Path) -> list[str]:
    """The command that makes the disk's file system, always the same; the file must not exist."""
    size, block, *folder = of
    words = ["env", f"E2FSPROGS_FAKE_TIME={disk.BORN}", "mke2fs", "-q", "-F", "-t", "ext2", "-b", block]
    words += ["-d", *folder] if folder else []
    return [*words, "-U", disk.UUID, "-E", f"hash_seed={disk.UUID}", str(image), size]


def texts(items: list[Item], kind: str) -> list[str]:
    """The texts of all items of one kind."""
    return [item.text for item in items if item.kind == kind]


def last(items: list[Item], kind: str, default: str) -> str:
    """The text of the last item of this kind."""
    return (texts(items, kind) or [default])[-1]


def bound_s(jobs: list[str]) -> int:
    """An upper bound, in seconds of virtual time, on the time that the jobs need. It assumes that each use of a page
    needs a write and a read, and waits for a page of each interactive process, too: these run as long as the other
    jobs."""
    pages = sum(int(number) for text in jobs for number in re.findall(r"\d+", text))
    waits = 1 + sum("interactive" in text for text in jobs)
    return LEAST_S + pages * waits * MS_PER_REFERENCE // 1000


def lines_of_areas(areas: list[str]) -> tuple[list[str], list[str]]:
    """Commands that create the swap areas in files, and commands that remove them."""
    begin, end = [], []
    for number, kib, priority in (text.split() for text in areas):
        name = f"/mnt/swap{number}"
        begin += [f"dd if=/dev/zero of={name} bs=4096 count={int(kib) // 4}"]
        begin += [f"mkswap {name}; swapon -p {priority} {name}"]
        end += [f"swapoff {name}; rm {name}"]
    return begin, end


def restored(items: list[Item]) -> list[str]:
    """Commands that restore the machine's settings after the acts."""
    done = " ".join(texts(items, "act"))
    lines = [f"echo {last(items, 'vm', '2q')} >/proc/sys/vm/policy"] if "vm/policy" in done else []
    lines += [f"echo {last(items, 'frames', '1048576')} >/proc/sys/vm/frames"] if "vm/frames" in done else []
    return lines + [NO_FAILURE] * any("fail" in item.text for item in items)


def one_round(items: list[Item], number: int) -> list[str]:
    """All jobs at the same time, with the acts; then everything is restored."""
    begin, end = lines_of_areas(texts(items, "area"))
    body = "".join(f"{text} & " for text in commands(items)) + "".join(f"{text}; " for text in texts(items, "act"))
    # An @ in a path is the round, so that files of the previous round are not found.
    lines = (
        [*begin, f"sh -c '{body}wait'".replace("@", str(number)), *restored(items), *end] if body else [*begin, *end]
    )
    if "@" in body:
        lines += [f"sh -c 'cd /mnt; rm -f {' '.join(f'{number}f{n}' for n in range(MAX_JOBS))} 2>/dev/null'"]
    if uses_files(items):
        what = "ext2 /dev/sda" if texts(items, "disk") else "tmpfs t"
        # `spin` kills its processes when it ends; their children still run for some milliseconds.
        lines = [f"mount -t {what} /mnt", *lines, *["sleep 1"] * ("--forks" in body), "umount /mnt"]
    return [*lines, f"echo {ROUND} {number}; sync; echo 3 >/proc/sys/vm/drop_caches; {SHOW}"]


def uses_files(items: list[Item]) -> bool:
    """Does any item need the file system?"""
    return any(item.kind == "disk" or "/mnt" in item.text for item in items)


def rounds_of(items: list[Item]) -> int:
    """The number of rounds, unless more are requested."""
    return 1 + len(texts(items, "again"))


def session(items: list[Item], rounds: int = 0) -> Session:
    """The session of these items, with the given number of rounds if it is not 0."""
    of, vm = last(items, "disk", ""), last(items, "vm", "2q")
    made = settings(
        vm=vm,
        mem=f"{last(items, 'mem', '64')}M",
        swap=last(items, "swap", "sim:hdd"),
        frames=last(items, "frames", "") or None,
        seed=last(items, "seed", "") or None,
        cmdline=" ".join([*texts(items, "word"), *["mount=none"][: bool(of)]]),
        disk_kind=last(items, "kind", "sim:hdd"),
    )
    return Session(made, typed(items, rounds or rounds_of(items)), tuple(of.split(":")) if of else None)


def typed(items: list[Item], rounds: int) -> str:
    """The lines for the prompt."""
    bound = rounds * bound_s(commands(items))
    watch = f"sh -c 'sleep {bound} && echo {STARVED} {bound} s && ps && poweroff' &"
    lines = [watch] * bool(texts(items, "watch")) + ["mkdir /mnt"] * uses_files(items)
    for number in range(1, rounds + 1):
        lines += one_round(items, number)
    return "\n".join(lines) + "\n"
