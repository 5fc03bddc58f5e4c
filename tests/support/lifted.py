"""Machine code of the solutions: the functions in their object files, and whether a file contains them.

A function is compared without the words that the linker relocates.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tidemark.grade.build.elf import FUNCTION, Elf
from tidemark.grade.model import Lab

SHORTEST = 24  # bytes without relocated words: a shorter function is the same in any program
WORD = 4
DEFINED = re.compile(r"^(?!\s)[\w *]*?\b(\w+)\([^;{}]*\)\n\{", re.MULTILINE)
PACKERS = {b"\x1f\x8b": gzip.decompress, b"BZh": bz2.decompress, b"\xfd7zXZ": lzma.decompress}


@dataclass(frozen=True)
class Code:
    """A function's code: the pieces between relocated words, and the offset of each."""

    name: str
    pieces: tuple[tuple[int, bytes], ...]

    @property
    def size(self) -> int:
        """The number of bytes without relocated words."""
        return sum(len(piece) for _, piece in self.pieces)

    def is_in(self, data: bytes) -> bool:
        """Do these bytes contain the function?"""
        start, longest = max(self.pieces, key=lambda piece: len(piece[1]))
        at = data.find(longest)
        while at >= 0:
            if all(data.startswith(piece, at - start + place) for place, piece in self.pieces if at >= start):
                return True
            at = data.find(longest, at + 1)
        return False


def pieces_of(code: bytes, filled: Iterable[int]) -> Iterator[tuple[int, bytes]]:
    """The pieces of code between relocated words."""
    last = 0
    for at in sorted(filled):
        yield last, code[last:at]
        last = at + WORD
    yield last, code[last:]


def functions_of(path: Path) -> list[Code]:
    """The functions of an object file, except those too short to identify."""
    part, data, found = Elf(path), path.read_bytes(), []
    for symbol in part.symbols:
        if symbol.kind != FUNCTION or not isinstance(symbol.section, int):
            continue
        start = part.sections[symbol.section].offset + symbol.value
        places = (each.at - symbol.value for each in part.relocations if each.section == symbol.section)
        filled = [at for at in places if 0 <= at < symbol.size]
        found.append(Code(symbol.name, tuple(pieces_of(data[start : start + symbol.size], filled))))
    return [code for code in found if code.size >= SHORTEST]


def secret_files(labs: Iterable[Lab]) -> list[str]:
    """The kernel's source files that labs grade or withhold."""
    files = {file for each in labs for file in (*each.files, *each.withholds)}
    return sorted(file for file in files if file.endswith(".c") and not file.endswith("_test.c"))


def defined(source: str) -> set[str]:
    """The functions that a source file defines, including inlined ones."""
    return set(DEFINED.findall(source))


def unpacked(data: bytes) -> Iterator[bytes]:
    """These bytes, and the content of archives in them."""
    yield data
    unpack = next((unpack for magic, unpack in PACKERS.items() if data.startswith(magic)), None)
    if unpack:
        yield from unpacked(unpack(data))
    elif zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as members:
            for name in members.namelist():
                yield from unpacked(members.read(name))
