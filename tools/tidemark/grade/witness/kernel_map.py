"""The plugin's options for watching a student's code in a kernel: addresses, for tools/plugin/evidence.c.

Everything is looked up so that the student's code cannot mislead: by global names, which occur once in a kernel.
The code may enter the functions that its objects use, after the grader has found that it may
(tidemark.grade.build.object_rules).
"""

from __future__ import annotations

import bisect
import re
import threading
from dataclasses import dataclass
from pathlib import Path

from tidemark.errors import BAD_INPUT, FAILED, LabError
from tidemark.files import sha256
from tidemark.grade.build.elf import FUNCTION, GLOBAL, UNDEFINED, Elf, Placed, Symbol, place
from tidemark.grade.build.workspace import Workspace
from tidemark.grade.witness import contracts
from tidemark.machine import qemu

# Functions that access any address they are given: their caller is responsible (tools/plugin/evidence/flow.c).
SERVANTS = tuple(
    f"build/kernel/{name}.o" for name in ("lib/string", "lib/rbtree", "lib/printf", "arch/x86/div64", "mm/seam/ghost")
)
# Functions with private memory, in which they may do anything; but reads of their arguments count as reads of their
# caller.
TELLERS = ("printk", "seq_printf", "seq_puts", "show_u64")
FORMATTING, MEASURING = "build/kernel/lib/printf.o", ("strlen", "strnlen")
PASSERS = ("policy_call_insert", "guard_call_evicted")  # functions that pass arguments on the stack
SELECTORS, SHOWERS = "build/kernel/mm/seam/rules.o", ("policy_call_show", "guard_call_show")
KILLERS = ("build/kernel/mm/reclaim/oom.o", "build/kernel/mm/space/fault.o")
VECTORS = 48
POLICIES, GUARDS = "build/kernel/mm/policy/", "build/kernel/mm/guard/"
MOST_KEPT = 4
LAYOUT = f"""{contracts.INCLUDES}
const u32 layout[] = {{ sizeof(struct page), __builtin_offsetof(struct page, policy),
__builtin_offsetof(struct page, policy) + sizeof(((struct page *)0)->policy), {", ".join(contracts.SIZES)} }};
"""


Key = tuple[Path, str, tuple[str, ...], tuple[str, ...]]

keeping = threading.Lock()


@dataclass(frozen=True)
class KernelMap:
    """A kernel, the student's objects in it by name, and the plugin's options."""

    kernel: Elf
    objects: dict[str, Placed]
    options: dict[str, str]

    def function(self, pc: int) -> tuple[str, str]:
        """(function, source file) of the student's instruction at an address; ("", "") if it is not the student's."""
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


known: dict[Key, KernelMap] = {}


def joined(ranges: list[tuple[int, int]]) -> str:
    """Ranges in the plugin's notation."""
    return ":".join(f"{low:#x}-{high:#x}" for low, high in ranges)


def variable_range(kernel: Elf, name: str) -> tuple[int, int]:
    """The address range of a variable of the kernel. Raises LabError unless it exists exactly once."""
    found: list[Symbol] = [s for s in kernel.symbols if s.placed and s.size and s.name == name]
    if len(found) != 1:
        raise LabError(f"may_store: the kernel has {len(found)} variables {name}; name one that exists once")
    return found[0].value, found[0].value + found[0].size


def function_range(kernel: Elf, name: str) -> tuple[int, int]:
    """The address range of a global function of the kernel."""
    found = next(s for s in kernel.symbols if s.kind == FUNCTION and s.binding == GLOBAL and s.name == name)
    return found.value, found.value + found.size


def boot_stack(kernel: Elf) -> tuple[int, int]:
    """The address range of the stack that is used before and between tasks."""
    start = kernel.globals["boot_stack"]
    return start, min(symbol.value for symbol in kernel.symbols if symbol.placed and symbol.value > start)


def layout(workspace: Workspace) -> list[int]:
    """Bytes of struct page, begin and end of the policy's part, and the values of contracts.SIZES, by the kernel's
    compiler."""
    compiler = re.split(r" \d+\.\d+", (workspace.tree / "build/flags").read_text())[0].split()
    words = [*compiler, "-std=gnu11", "-Ikernel/include", "-x", "c", "-S", "-o", "-", "-"]
    made = workspace.run_on_host(*words, stdin=LAYOUT.encode())
    numbers = [int(number) for number in re.findall(r"\.long\s+(\d+)", made.out)]
    if made.status or len(numbers) != 3 + len(contracts.SIZES):
        raise LabError(f"{' '.join(compiler)} does not compile kernel/include/mm:\n{made.err}", FAILED)
    return numbers


def addresses(kernel: Elf) -> dict[str, int]:
    """The addresses that the plugin watches, by the names of its options. Raises LabError if one is missing."""
    there = kernel.globals
    try:
        return {
            "directory": there["kernel_pgdir"],
            "copy": there["copy_page"],
            "sectors": there["copy_sectors"],
            "clear": there["clear_page"],
            "death": there["pgd_destroy"],
            "signal": there["signal_send"],
            "flush_page": there["tlb_flush_page"],
            "flush_all": there["tlb_flush_all"],
            "request_end": there["block_end"],
            "violation": there["world_violation"],
            "request": there["powercut_before"],
        }
    except KeyError as missing:
        raise LabError(f"{kernel.path} has no {missing}, which the plugin needs", BAD_INPUT) from None


def doors(kernel: Elf, workspace: Workspace) -> dict[str, str]:
    """The functions through which the student's code may be left, those of them that serve it or print for it, and the
    entries of interrupts."""
    functions = {s.name: s.value for s in kernel.symbols if s.binding == GLOBAL and s.kind == FUNCTION}
    symbols = (symbol for name in workspace.objects for symbol in Elf(workspace.tree / name).symbols)
    used = {symbol.name for symbol in symbols if symbol.section == UNDEFINED}  # not a static one of the same name
    entries = [functions[name] for name in sorted(used & functions.keys())]
    stubs = kernel.globals["trap_stubs"]
    vectors = [kernel.word_at(stubs + 4 * number) for number in range(VECTORS)]
    served = [piece for name in SERVANTS for piece in place(kernel, Elf(workspace.tree / name)).code]
    servants = [entry for entry in entries if any(low <= entry < high for low, high in served)]
    lists = {"entries": entries or [0], "vectors": [*vectors, kernel.globals["double_fault_entry"]]}
    lists |= {"servants": servants} if servants else {}
    tellers = [functions[name] for name in TELLERS if name in used]
    lists |= {"tellers": tellers} if tellers else {}
    read = [*place(kernel, Elf(workspace.tree / FORMATTING)).code]
    read += [function_range(kernel, name) for name in MEASURING]
    code = joined([(kernel.globals["__text_start"], kernel.globals["__text_end"])])
    found = {name: ":".join(f"{address:#x}" for address in each) for name, each in lists.items()}
    return found | {"deputies": joined(served), "readers": joined(read), "code": code}


def page_options(kernel: Elf, workspace: Workspace) -> dict[str, str]:
    """Options for watching what a policy or a guard accesses; empty for other code."""
    if not any(name.startswith((POLICIES, GUARDS)) for name in workspace.objects):
        return {}
    size, low, high, *sizes = layout(workspace)
    if not any(name.startswith(POLICIES) for name in workspace.objects):
        low, high = 0, 0
    pages = {"pages": f"{kernel.globals['mem_map']:#x}", "page_size": str(size), "policy": joined([(low, high)])}
    pages["selectors"] = joined([*place(kernel, Elf(workspace.tree / SELECTORS)).code])
    pages["showers"] = joined([function_range(kernel, name) for name in SHOWERS])
    pages["passers"] = joined([function_range(kernel, name) for name in PASSERS])
    return {**pages, **contracts.options(kernel, sizes)}


def made(workspace: Workspace) -> KernelMap:
    """The map of the kernel in the workspace's tree. Raises LabError if it is not this project's."""
    kernel = Elf(workspace.tree / qemu.KERNEL)
    objects = {name: place(kernel, Elf(workspace.tree / name)) for name in workspace.objects}
    own = [piece for part in objects.values() for piece in part.data]
    watched = page_options(kernel, workspace)
    own += [
        *([] if watched else [boot_stack(kernel)]),
        *(variable_range(kernel, name) for name in workspace.lab.may_store),
    ]
    options = {name: f"{address:#x}" for name, address in addresses(kernel).items()}
    image = (kernel.globals["__kernel_start"], kernel.globals["__kernel_end"])
    killers = [piece for name in KILLERS for piece in place(kernel, Elf(workspace.tree / name)).code]
    options |= {"image": joined([image]), "own": joined(own), "killers": joined(killers)}
    text = [piece for part in objects.values() for piece in part.code]
    if text:
        options |= {"text": joined(text), **doors(kernel, workspace)}
    return KernelMap(kernel, objects, options | watched)


def find(workspace: Workspace) -> KernelMap:
    """As `made`, cached for the last few kernels, since every run needs it. Raises LabError if there is no kernel."""
    kernel = workspace.tree / qemu.KERNEL
    if not kernel.is_file():
        raise LabError(f"{kernel} does not exist; `make` builds it", BAD_INPUT)
    key = (workspace.tree, sha256(kernel), workspace.objects, workspace.lab.may_store)
    with keeping:
        if key not in known:
            while len(known) >= MOST_KEPT:
                del known[next(iter(known))]
            known[key] = made(workspace)
        return known[key]
