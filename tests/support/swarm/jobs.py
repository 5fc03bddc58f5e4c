"""The workloads of a random run, with arguments for the memory that they should need."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

# Arguments of a kind: numbers, KiB of memory, a path for its files (@: the round), and the largest size of such a file
# in KiB.
Kind = Callable[[Random, int, str, int], str]


def few(rng: Random, most: int) -> int:
    """A number of processes, or rounds."""
    return rng.randint(1, most)


def option(rng: Random, *words: str) -> str:
    """Includes each of the words, or not."""
    return "".join(f" {word}" for word in words if rng.random() < 0.4)


def thrash(rng: Random, kib: int, path: str, file: int) -> str:
    nr = few(rng, 8)
    return f"thrash {nr} {max(4, kib // nr)} {few(rng, 4)} {rng.choice((0, 0, 100))}"


def seqscan(rng: Random, kib: int, path: str, file: int) -> str:
    return f"seqscan {kib} {few(rng, 3)}{option(rng, 'w')}"


def phase(rng: Random, kib: int, path: str, file: int) -> str:
    return f"phase {kib} {max(4, kib // few(rng, 6))} {few(rng, 4)} {rng.choice((500, 2000, 8000))}"


def pattern(rng: Random, kib: int, path: str, file: int) -> str:
    return f"pattern {rng.choice(('zipf', 'correlated', 'scan'))} {max(64, kib)} {rng.choice((500, 3000, 10000))}"


def btree(rng: Random, kib: int, path: str, file: int) -> str:
    return f"btree {kib} {rng.choice((300, 1500, 6000))}"


def server(rng: Random, kib: int, path: str, file: int) -> str:
    return f"server {max(16, kib // 8)} {kib} {rng.choice((100, 500))}"


def cow(rng: Random, kib: int, path: str, file: int) -> str:
    nr = few(rng, 5)
    return f"cow {nr} {max(4, kib // 2)} {rng.choice((300, 1500, 6000))}"


def grow(rng: Random, kib: int, path: str, file: int) -> str:
    return f"grow {kib} {few(rng, 3)}"


def hog(rng: Random, kib: int, path: str, file: int) -> str:
    return f"hog {kib} 1"


def interactive(rng: Random, kib: int, path: str, file: int) -> str:
    return f"interactive {max(4, kib // 4)} {rng.choice((1, 20, 200))} {seqscan(rng, kib * 3 // 4 + 4, path, file)}"


def shared(rng: Random, kib: int, path: str, file: int) -> str:
    kind = rng.choice(("anon", "memfd", "memfd", "shm"))
    extra = option(rng, "io", "cut") if kind == "memfd" else ""
    return f"shared {kind} {few(rng, 4)} {kib} {rng.choice((300, 1500))}{extra}"


def torture(rng: Random, kib: int, path: str, file: int) -> str:
    nr = few(rng, 3)
    return f"torture {nr} {max(8, min(kib // 4 // nr, 1000))} {rng.choice((50, 200))} --seed {rng.randrange(1, 9999)}"


def spin(rng: Random, kib: int, path: str, file: int) -> str:
    return f"spin {rng.choice((10, 100))} 0 {rng.randrange(-20, 20)} --pulse 5{option(rng, '--forks')}"


def forkbomb(rng: Random, kib: int, path: str, file: int) -> str:
    return f"forkbomb {few(rng, 40)}"


def refstring(rng: Random, kib: int, path: str, file: int) -> str:
    return f"refstring --repeat {few(rng, 3)} 1-{max(2, min(kib // 4, 2000))}"


def filescan(rng: Random, kib: int, path: str, file: int) -> str:
    way = rng.choice(("read", "mmap"))
    return f"filescan {path} {few(rng, 3)} {way} fill{option(rng, 'write', 'random')} --kb {rng.randint(4, file)}"


def reader(rng: Random, kib: int, path: str, file: int) -> str:
    """Of /bin/sh, which has more than 16 pages."""
    first, nr = rng.randrange(4), rng.choice((1, 2, 8))
    return f"reader /bin/sh{option(rng, 'mmap', 'random', 'sequential')} --nr {nr} {first}-{first + 4} 0-8/3"


def filemix(rng: Random, kib: int, path: str, file: int) -> str:
    every = rng.choice((0, 1, 8))
    most, way = file // 2, rng.choice(("", " mmap", " hotfile"))
    return f"filemix {path} {min(kib, most)} {rng.randint(4, most)} {few(rng, 2)} {every}{way}"


def dbscan(rng: Random, kib: int, path: str, file: int) -> str:
    return f"dbscan {path} {rng.randint(4, file * 3 // 4)} {rng.choice((20, 100))} {rng.choice((0, 2))}"


def logger(rng: Random, kib: int, path: str, file: int) -> str:
    return f"logger {path} {few(rng, 30)}"


def files(rng: Random, kib: int, path: str, file: int) -> str:
    operation = rng.choice(("open_read", "create", "write", "copy", "mmap"))
    return f'sh -c "mkdir {path}; files {operation} {path} 1"'


def copies(rng: Random, kib: int, path: str, file: int) -> str:
    first = f"dd if=/bin/sh of={path} bs={rng.choice((512, 4096, 5000))}"
    return f'sh -c "{first}; cp {path} {path}b; cat {path} {path}b | wc; mv {path}b {path}; ls -l {path}"'


def shell(rng: Random, kib: int, path: str, file: int) -> str:
    return rng.choice(('sh -c "cat /bin/sh | cat | cat | wc"', 'sh -c "ps; free; vmstat; iostat; slabtop"', "find /"))


def linked(rng: Random, kib: int, path: str, file: int) -> str:
    """tests/kernel/linked: for a disk with the programs only."""
    nr = few(rng, 4)
    return f"linked {nr} {rng.choice((100, 1000, 5000))} {max(4, kib // nr)}"


KINDS: list[Kind] = [
    thrash, seqscan, phase, pattern, btree, server, cow, grow, hog, interactive, shared, torture, spin, forkbomb,
    refstring, filescan, reader, filemix, dbscan, logger, files, copies, shell,
]  # fmt: skip


def draw(rng: Random, kind: Kind, kib: int, path: str, file: int) -> str:
    """One command. `path`: the path for its file, which has at most `file` KiB."""
    return kind(rng, kib, path, file)
