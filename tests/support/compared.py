"""The attack on bug hunts that needs no gdb: the functions of two kernels, compared after normalising.

Registers become R, addresses A, and a branch has no target but the function that it leads to: so a function that was
only moved, or that has other registers, is equal in both kernels. The place is read from the line table of the first
instruction that differs. A student has two kernels to compare with: one built from the student's own tree, and the
other hunts, where the kernel that differs from the two others has the change.

    PYTHONPATH=tools:tests/support build/venv/bin/python -m compared POOL [NR]     # the success rate for a pool
"""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tidemark.grade.build.machines import NEAR
from tidemark.grade.hunts.pool import BASE, Pool, Row, parts
from tidemark.machine import qemu

HEAD = re.compile(r"^[0-9a-f]{8} <(.+)>:$")
LINE = re.compile(r"^([0-9a-f]{8}):\t(.*?)\s*$")
REGISTER = re.compile(r"%(?:e?[abcd]x|[abcd][lh]|e?[sd]i|e?[bs]p)\b")
BRANCH = re.compile(r"^((?:\w+ )?(?:call|j\w+|loop\w*))\s+[0-9a-f]+ <([^+>]+).*$")
ADDRESS = re.compile(r"0x[c-f][0-9a-f]{7}\b")

Code = list[tuple[int, str]]  # address, normalised instruction


@dataclass(frozen=True)
class Found:
    """What the attack says: the functions that differ, and the place of the first difference if it is one function."""

    functions: tuple[str, ...]
    inlined: tuple[str, ...] = ()
    file: str = ""
    line: int = 0


def normalised(text: str) -> str:
    """An instruction without registers and addresses."""
    branch = BRANCH.match(text)
    return " ".join(branch.groups()) if branch else ADDRESS.sub("A", REGISTER.sub("R", text))


def functions(kernel: Path) -> dict[str, Code]:
    """The functions of a kernel; of several with one name each has a number."""
    command = ["objdump", "-d", "--no-show-raw-insn", str(kernel)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: dict[str, Code] = {}
    code: Code = []
    for line in shown.splitlines():
        if head := HEAD.match(line):
            name, nr = head[1], 0
            while f"{name}#{nr}" in found:
                nr += 1
            code = found[f"{name}#{nr}"] = []
        elif one := LINE.match(line):
            code.append((int(one[1], 16), normalised(one[2])))
    return found


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


def place(kernel: Path, differences: dict[str, int]) -> Found:
    """The place of the difference, with the functions that were inlined there, innermost first."""
    names = tuple(sorted(differences))
    if len(names) != 1:
        return Found(names)
    command = ["addr2line", "-e", str(kernel), "-f", "-i", hex(differences[names[0]])]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    file, _, line = lines[1].partition(":")
    inlined = tuple(lines[0::2])
    return Found(names, inlined, file.removeprefix("./"), int(re.match(r"\d*", line)[0] or 0))  # type: ignore[index]


def against(kernel: Path, code: dict[str, Code], own: dict[str, Code]) -> Found:
    """The attack with a kernel that the student has built."""
    return place(kernel, differing(code, own))


def among(kernel: Path, code: dict[str, Code], others: tuple[dict[str, Code], dict[str, Code]]) -> Found:
    """The attack with the student's other hunts: what differs from both of them, in which the two are equal."""
    first, second = (differing(code, other) for other in others)
    between = differing(*others)
    return place(kernel, {name: at for name, at in first.items() if name in second and name not in between})


def hits(found: Found, row: Row) -> tuple[bool, bool]:
    """(file and function are right, the line too) by the rules of grading."""
    function = found.file.endswith(row.file) and row.function in found.inlined[:1]
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
    own = functions(pool.folder / BASE / qemu.KERNEL)
    counted = {"own kernel": [0, 0], "other hunts": [0, 0]}
    with tempfile.TemporaryDirectory(prefix="tidemark-compared-") as folder:
        paths = [unpacked(pool, row, Path(folder)) for row in rows]
        codes = [functions(path) for path in paths]
        for at, (row, path) in enumerate(zip(rows, paths)):
            others = codes[at - 1], codes[at - 2]
            for name, found in (
                ("own kernel", against(path, codes[at], own)),
                ("other hunts", among(path, codes[at], others)),
            ):
                hit = hits(found, row)
                counted[name] = [have + new for have, new in zip(counted[name], hit)]
                if not all(hit):
                    print(f"{name}: kernel {row.number}, {row.file}:{row.line} {row.function}: {found}")
    for name, (function, line) in counted.items():
        print(f"{name}: of {len(rows)} kernels, file and function of {function}, and the line of {line}")


if __name__ == "__main__":
    main()
