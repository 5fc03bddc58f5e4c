"""The attack on bug hunts that needs no gdb: the functions of two kernels, compared after normalising.

Registers become R, addresses A, and a branch has no target but the function that it leads to: so a function that was
only moved, or that has other registers, is equal in both kernels. The changed function is that function of a .c file
which most of the differing functions contain, inlined or not; the changed line is one that has code in only one kernel,
or else the first with other code. A student has two kernels to compare with: one built from the student's own tree, and
the other hunts, where the kernel that differs from the two others has the change.

    PYTHONPATH=tools:tests/support build/venv/bin/python -m compared POOL [NR]     # the success rate for a pool
"""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tidemark.grade.build.machines import NEAR
from tidemark.grade.hunts.pool import BASE, Pool, Row, parts
from tidemark.machine import qemu

HEAD = re.compile(r"^[0-9a-f]{8} <(.+)>:$")
LINE = re.compile(r"^([0-9a-f]{8}):\t(.*?)\s*$")
REGISTER = re.compile(r"%(?:e?[abcd]x|[abcd][lh]|e?[sd]i|e?[bs]p)\b")
BRANCH = re.compile(r"^((?:\w+ )?(?:call|j\w+|loop\w*))\s+[0-9a-f]+ <([^+>]+).*$")
ADDRESS = re.compile(r"0x[c-f][0-9a-f]{7}\b|-0x3[0-9a-f]{7}\b")

MOST = 20  # differing functions that are looked at

Code = list[tuple[int, str]]  # address, normalised instruction


@dataclass(frozen=True)
class Kernel:
    """A kernel's file and its functions."""

    path: Path
    code: dict[str, Code]


@dataclass(frozen=True)
class Found:
    """What the attack says: the functions that differ, and its guess at the place."""

    functions: tuple[str, ...]
    function: str = ""
    file: str = ""
    line: int = 0


def normalised(text: str) -> str:
    """An instruction without registers and addresses."""
    branch = BRANCH.match(text)
    return " ".join(branch.groups()) if branch else ADDRESS.sub("A", REGISTER.sub("R", text))


def read(kernel: Path) -> Kernel:
    """A kernel's functions; of several with one name each has a number."""
    command = ["objdump", "-d", "--no-show-raw-insn", str(kernel)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: dict[str, Code] = {}
    code: Code = []
    for line in shown.splitlines():
        if head := HEAD.match(line):
            name, nr = head[1], 0
            while f"{name}#{nr}" in found:
                nr += 1
            found[f"{name}#{nr}"] = code = []
        elif one := LINE.match(line):
            code.append((int(one[1], 16), normalised(one[2])))
    return Kernel(kernel, found)


def first_difference(code: Code, other: Code) -> int:
    """The address of the first instruction that differs."""
    for (address, text), (_, text2) in zip(code, other):
        if text != text2:
            return address
    return code[min(len(code), len(other)) - 1][0]


def differing(one: dict[str, Code], other: dict[str, Code]) -> dict[str, int]:
    """The functions that differ, each with the address of its first difference in `one`."""
    found = {}
    for name in one.keys() & other.keys():
        if [text for _, text in one[name]] != [text for _, text in other[name]]:
            found[name] = first_difference(one[name], other[name])
    return found | {name: one[name][0][0] for name in one.keys() - other.keys()}


def frames(kernel: Path, address: int) -> list[tuple[str, str]]:
    """(function, file) of an instruction, and of the functions that it was inlined into."""
    command = ["addr2line", "-e", str(kernel), "-f", "-i", hex(address)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    pairs = zip(shown[0::2], shown[1::2], strict=True)
    return [(name, place.partition(":")[0].removeprefix("./")) for name, place in pairs]


def by_line(kernel: Kernel, name: str) -> dict[tuple[str, int], list[str]]:
    """The instructions of each line of a function."""
    code = kernel.code.get(name, [])
    command = ["addr2line", "-e", str(kernel.path), *(hex(address) for address, _ in code)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines() if code else []
    found: dict[tuple[str, int], list[str]] = {}
    for (_, text), place in zip(code, shown, strict=True):
        file, _, line = place.removeprefix("./").partition(":")
        if number := re.match(r"\d+", line):
            found.setdefault((file, int(number[0])), []).append(text)
    return found


def guess(kernel: Kernel, other: Kernel, differences: dict[str, int]) -> Found:
    """The place that the differing functions have in common."""
    names = tuple(sorted(differences))
    chains = {name: frames(kernel.path, differences[name]) for name in names[:MOST]}
    counted = Counter(frame for chain in chains.values() for frame in dict.fromkeys(chain) if frame[1].endswith(".c"))
    if not counted:
        return Found(names)
    (function, file), _ = counted.most_common(1)[0]
    name = next(name for name in names if (function, file) in chains[name])
    one, two = by_line(kernel, name), by_line(other, name)
    lines = sorted(place for place in one.keys() | two.keys() if place[0] == file and one.get(place) != two.get(place))
    alone = [place for place in lines if place not in one or place not in two]
    return Found(names, function, file, (alone or lines or [("", 0)])[0][1])


def against(kernel: Kernel, own: Kernel) -> Found:
    """The attack with a kernel that the student has built."""
    return guess(kernel, own, differing(kernel.code, own.code))


def among(kernel: Kernel, others: tuple[Kernel, Kernel]) -> Found:
    """The attack with the student's other hunts: what differs from both of them, in which the two are equal."""
    first, second = (differing(kernel.code, other.code) for other in others)
    between = differing(others[0].code, others[1].code)
    return guess(kernel, others[0], {name: at for name, at in first.items() if name in second and name not in between})


def hits(found: Found, row: Row) -> tuple[bool, bool]:
    """(file and function are right, the line too) by the rules of grading."""
    function = (found.file, found.function) == (row.file, row.function)
    return function, function and abs(found.line - row.line) <= NEAR


def unpacked(pool: Pool, row: Row, folder: Path) -> Path:
    """The kernel of a row."""
    (_, packed), _ = parts(pool.kernel(row.number))
    path = folder / f"{row.number}.elf"
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    return path


def main() -> None:
    """Print the success rate of both attacks over the first NR kernels of a pool."""
    pool = Pool(Path(sys.argv[1]))
    rows = pool.taken()[: int(sys.argv[2]) if len(sys.argv) > 2 else None]
    own = read(pool.folder / BASE / qemu.KERNEL)
    counted = {"own kernel": [0, 0], "other hunts": [0, 0]}
    with tempfile.TemporaryDirectory(prefix="tidemark-compared-") as folder:
        paths = [unpacked(pool, row, Path(folder)) for row in rows]
        last = [read(path) for path in paths[-2:]]
        for row, path in zip(rows, paths):
            kernel = read(path)
            tried = (("own kernel", against(kernel, own)), ("other hunts", among(kernel, (last[0], last[1]))))
            last = [last[1], kernel]
            for name, found in tried:
                hit = hits(found, row)
                counted[name] = [have + new for have, new in zip(counted[name], hit)]
                if not all(hit):
                    print(f"{name}: kernel {row.number}, {row.file}:{row.line} {row.function}: {found}")
    for name, (function, line) in counted.items():
        print(f"{name}: of {len(rows)} kernels, file and function of {function}, and the line of {line}")


if __name__ == "__main__":
    main()
