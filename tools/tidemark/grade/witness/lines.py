"""Lines of the kernel, and the addresses of their code.

A line counts if .debug_line has code for it in build/tidemark.elf and it holds more than a brace. It has run if an
instruction of that code was executed. A line that the compiler removed or merged with another line does not count. A
line of an inlined function has code in several places, and one of them is enough. Tests that are linked into the
kernel do not count.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from posixpath import normpath

import numpy as np
import numpy.typing as npt
from elftools.elf.elffile import ELFFile

Line = tuple[str, int]  # a source file, relative to the tree, and a line number from 1
Ranges = Mapping[Line, list[tuple[int, int]]]


def is_counted(file: str) -> bool:
    """Is it a source file of the kernel, but not a test?"""
    return file.startswith("kernel/") and not file.endswith(("_test.c", "_ktest.c"))


def _names(program: object) -> list[str]:
    """The files that a line program numbers: DWARF 5 from 0, and DWARF 4 from 1, with folder 0 for that of the unit."""
    header = program.header  # type: ignore[attr-defined]
    if header.version < 5:
        folders = [".", *(name.decode() for name in header.include_directory)]
        return ["", *(normpath(f"{folders[file.dir_index]}/{file.name.decode()}") for file in header.file_entry)]
    folders = [entry.DW_LNCT_path.decode() for entry in header.directories]
    return [normpath(f"{folders[f.DW_LNCT_directory_index]}/{f.DW_LNCT_path.decode()}") for f in header.file_names]


def _rows(elf: Path) -> Iterator[tuple[str, int, int, int]]:
    """(file, line, from, to) of the code of every line, by compilation unit."""
    with elf.open("rb") as file:
        dwarf = ELFFile(file).get_dwarf_info()
        for unit in dwarf.iter_CUs():
            program = dwarf.line_program_for_CU(unit)
            if program is None:
                continue
            names, last = _names(program), None
            for state in (entry.state for entry in program.get_entries() if entry.state):
                if last and last.address < state.address:
                    yield names[last.file], last.line, last.address, state.address
                last = None if state.end_sequence else state


def ranges(root: Path, elf: Path) -> Ranges:
    """The code of each line that counts: (from, to), `to` excluded."""
    found = defaultdict(list)
    for file, line, low, high in _rows(elf):
        if is_counted(file) and line:
            found[file, line].append((low, high))
    texts = {file: (root / file).read_text().splitlines() for file in {file for file, _ in found}}
    return {(file, line): code for (file, line), code in found.items() if texts[file][line - 1].strip(" \t{};")}


def run(code: Ranges, executed: npt.NDArray[np.uint32]) -> set[Line]:
    """The lines with an executed address among their code; `executed` is sorted."""
    lines = list(code)
    places = np.array([(which, *place) for which, line in enumerate(lines) for place in code[line]], dtype=np.uint32)
    which, low, high = places.T
    hit = np.searchsorted(executed, low) < np.searchsorted(executed, high)
    return {lines[number] for number in np.unique(which[hit])}
