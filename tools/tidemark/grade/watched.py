"""What the plugin must know of a kernel to watch a student's code in it: addresses, for tools/plugin/evidence.c.

Everything is looked up where the student's code cannot mislead: global names, which occur once in a kernel.
"""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark import qemu
from tidemark.errors import BAD_INPUT, FAILED, LabError
from tidemark.grade.elf import Elf, Placed, Symbol, place

if TYPE_CHECKING:
    from tidemark.grade.bench import Bench

POLICIES, GUARDS = "build/kernel/mm/policy/", "build/kernel/mm/guard/"
PAGE_LAYOUT = """#include "mm/page.h"
const u32 layout[] = { sizeof(struct page), __builtin_offsetof(struct page, policy),
__builtin_offsetof(struct page, policy) + sizeof(((struct page *)0)->policy) };
"""


@dataclass(frozen=True)
class Watched:
    """A kernel, the student's objects in it by name, and the plugin's options."""

    kernel: Elf
    objects: dict[str, Placed]
    options: dict[str, str]

    def function(self, pc: int) -> tuple[str, str]:
        """(function, source file) of the student's instruction at an address; empty when it is not the student's."""
        for name, part in self.objects.items():
            if any(low <= pc < high for low, high in part.code):
                at = bisect.bisect(part.functions, (pc, "\x7f")) - 1
                return part.functions[max(at, 0)][1], name.removeprefix("build/").removesuffix(".o") + ".c"
        return "", ""

    def variable(self, address: int) -> str:
        """The variable of the kernel that holds an address, or the address itself."""
        holds = [s for s in self.kernel.symbols if s.placed and s.value <= address < s.value + s.size]
        return holds[0].name if holds else f"{address:#x}"

    def text(self, address: int) -> str:
        """A string constant of the kernel."""
        return self.kernel.string_at(address)


def joined(ranges: list[tuple[int, int]]) -> str:
    """Ranges as the plugin takes them."""
    return ":".join(f"{low:#x}-{high:#x}" for low, high in ranges)


def variable_range(kernel: Elf, name: str) -> tuple[int, int]:
    """Where a variable of the kernel lies. LabError when it is not there once."""
    found: list[Symbol] = [s for s in kernel.symbols if s.placed and s.size and s.name == name]
    if len(found) != 1:
        raise LabError(f"may_store: the kernel has {len(found)} variables {name}; name one of which there is one")
    return found[0].value, found[0].value + found[0].size


def boot_stack(kernel: Elf) -> tuple[int, int]:
    """The stack of whatever runs before, and between, all tasks."""
    start = kernel.globals["boot_stack"]
    return start, min(symbol.value for symbol in kernel.symbols if symbol.placed and symbol.value > start)


def page_layout(bench: Bench) -> list[int]:
    """Bytes of struct page, and where in it the policy's part begins and ends, as the kernel's compiler has it."""
    compiler = re.split(r" \d+\.\d+", (bench.tree / "build/flags").read_text())[0].split()
    words = [*compiler, "-std=gnu11", "-Ikernel/include", "-x", "c", "-S", "-o", "-", "-"]
    made = bench.host(*words, stdin=PAGE_LAYOUT.encode())
    numbers = [int(number) for number in re.findall(r"\.long\s+(\d+)", made.out)]
    if made.status or len(numbers) != 3:
        raise LabError(f"{' '.join(compiler)} does not compile kernel/include/mm/page.h:\n{made.err}", FAILED)
    return numbers


def find(bench: Bench) -> Watched:
    """What there is to know of the kernel in the bench's tree. LabError when it is not built, or not this project's."""
    kernel = Elf(bench.tree / qemu.KERNEL)
    objects = {name: place(kernel, Elf(bench.tree / name)) for name in bench.objects}
    own = [piece for part in objects.values() for piece in part.data]
    own += [boot_stack(kernel), *(variable_range(kernel, name) for name in bench.lab.may_store)]
    try:
        addresses = {
            "directory": kernel.globals["kernel_pgdir"],
            "copy": kernel.globals["copy_page"],
            "clear": kernel.globals["clear_page"],
            "death": kernel.globals["pgd_destroy"],
            "violation": kernel.globals["world_violation"],
        }
        image = (kernel.globals["__kernel_start"], kernel.globals["__kernel_end"])
        mem_map = kernel.globals["mem_map"]
    except KeyError as missing:
        raise LabError(f"{kernel.path} has no {missing}, by which the plugin knows it", BAD_INPUT) from None
    options = {name: f"{address:#x}" for name, address in addresses.items()}
    options |= {"image": joined([image]), "own": joined(own)}
    text = [piece for part in objects.values() for piece in part.code]
    if text:
        options["text"] = joined(text)
    if any(name.startswith((POLICIES, GUARDS)) for name in objects):
        size, low, high = page_layout(bench)
        low, high = (low, high) if any(name.startswith(POLICIES) for name in objects) else (0, 0)
        options |= {"pages": f"{mem_map:#x}", "page_size": str(size), "policy": joined([(low, high)])}
    return Watched(kernel, objects, options)
