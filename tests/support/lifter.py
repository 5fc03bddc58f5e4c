"""Converts a kernel's machine code back to C: what a cheater could do with the kernels in a students' archive.

A file's functions become functions without frames (naked), each with one assembly statement, and its variables become
arrays of words. The starter stays the same except for the bodies of its hooks, which call these functions. Names come
from the kernel's symbol table. Functions of other files are called as from C, in the kernel and on the host.
"""

from __future__ import annotations

import re
import struct
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from tidemark.grade.build.elf import FILE, FUNCTION, Elf, Symbol
from tidemark.grade.build.object_rules import binutils

LINE = re.compile(r"^([0-9a-f]+):\t(.*?)\s*(<.*>)?$")
BRANCH = re.compile(r"^((?:\w+ )?(?:call|j\w+|loop\w*)\s+)([0-9a-f]+)$")
FILLING = re.compile(r"lea +.*(%eiz|0x0\(%e[sd]i)")
ADDRESS = re.compile(r"-?0x[0-9a-f]{8}\b")
HOOK = re.compile(r"^\t\.(?!show|name|summary|params)\w+ = (\w+),", re.MULTILINE)
BODY = r"^(static [^;={{}}]*?)\b({name})(\([^{{}};]*\))\n\{{\n.*?^\}}\n"
CALLED_OUT = """
static __attribute__((used, regparm(3))) u64 out_{name}(u32 a, u32 b, u32 c, u32 d, u32 e)
{{
	return ((u64 (*)(u32, u32, u32, u32, u32)){name})(a, b, c, d, e);
}}
"""
DIVISION = {  # it has no declaration, because only the compiler calls it
    "__udivdi3": """
static __attribute__((used, regparm(3))) u64 out___udivdi3(u64 a, u64 b)
{
	return a / b;
}
"""
}
NAKED = """
static __attribute__((naked, used)) void lifted_{name}(void)
{{
	__asm__({lines});
}}
"""


@dataclass
class Lifter:
    """A kernel, and the file whose functions are converted."""

    kernel: Elf
    file: str

    def __post_init__(self) -> None:
        self.calls: set[str] = set()  # functions of other files
        self.reached: set[str] = set()  # functions of its own
        self.own = self._own()
        self.functions = [one for one in self.own if one.kind == FUNCTION]
        everywhere = [*(one for one in self.kernel.symbols if one.kind == FUNCTION), *self.functions]
        self.names = {one.value: one.name for one in everywhere}

    def _own(self) -> list[Symbol]:
        """The file's local symbols, which follow its name in the symbol table."""
        names = iter(self.kernel.symbols)
        next(one for one in names if one.kind == FILE and one.name == Path(self.file).name)
        found = []
        for one in names:
            if one.kind == FILE or one.binding != "STB_LOCAL":
                break
            if one.placed and one.size:
                found.append(replace(one, name=one.name.replace(".", "_")))
        return found

    def place(self, address: int) -> str | None:
        """NAME+OFFSET for an address within the file's own symbols, or at the end of one; None for any other number."""
        for more in (0, 1):
            for one in self.own:
                if one.value <= address < one.value + one.size + more:
                    return f"lifted_{one.name}+{address - one.value}"
        return None

    def operand(self, match: re.Match[str]) -> str:
        """A number in an instruction, or the place whose address it is."""
        return self.place(int(match[0], 16) % (1 << 32)) or match[0]

    def branch(self, function: Symbol, to: int) -> str:
        """The target of a call or a jump."""
        if function.value < to < function.value + function.size:
            return f".L{to:x}"
        name = self.names[to]
        if any(one.name == name for one in self.functions):
            self.reached.add(name)
            return f"lifted_{name}"
        self.calls.add(name)
        return f"out_{name}"

    def lines(self, function: Symbol) -> list[str]:
        """A function's instructions, each with a label."""
        part = f"--start-address={function.value}", f"--stop-address={function.value + function.size}"
        words = [binutils("objdump"), "-d", "--no-show-raw-insn", *part, str(self.kernel.path)]
        shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
        return [f".L{one[1]}: {self.instruction(function, one[2])}" for one in map(LINE.match, shown) if one]

    def instruction(self, function: Symbol, text: str) -> str:
        """An instruction with names in place of addresses."""
        jump = BRANCH.match(text)
        if jump:
            return jump[1] + self.branch(function, int(jump[2], 16))
        return "nop" if FILLING.match(text) else ADDRESS.sub(self.operand, text)

    def variable(self, one: Symbol) -> str:
        """A variable with its initial value."""
        return f"static __attribute__((used)) u32 lifted_{one.name}[{-(-one.size // 4)}]"

    def words(self, one: Symbol) -> str:
        """The words of a variable: numbers, and addresses of the file's own symbols."""
        part = self.kernel.sections[one.section]
        start = part.offset + one.value - part.address
        data = self.kernel.path.read_bytes()[start : start + one.size] if part.in_file else b""
        words = struct.unpack(f"<{-(-one.size // 4)}I", data.ljust(-(-one.size // 4) * 4, b"\0"))
        places = [(self.place(word) or "").partition("+") for word in words]
        return ", ".join(f"(u32){name} + {off}" if name else str(word) for word, (name, _, off) in zip(words, places))

    def variables(self) -> str:
        """All variables that are not constant, all declared before the first definition."""
        mine = [one for one in self.own if one.kind == "STT_OBJECT" and self.kernel.sections[one.section].is_writable]
        declared = "".join(f"{self.variable(one)};\n" for one in mine)
        return declared + "".join(f"{self.variable(one)} = {{ {self.words(one)} }};\n" for one in mine)

    def naked(self, names: Iterable[str]) -> str:
        """The functions with these names, and the file's own functions that they call."""
        found: dict[str, str] = {}
        while missing := [one for one in self.functions if one.name in {*names, *self.reached} - {*found}]:
            for one in missing:
                lines = "\n\t\t".join(f'"{line}\\n"' for line in self.lines(one))
                found[one.name] = NAKED.format(name=one.name, lines=lines)
        return "".join(found.values())

    def source(self, starter: str) -> str:
        """The starter, with its hooks' bodies replaced."""
        hooks = sorted({*HOOK.findall(starter)} & {one.name for one in self.functions})
        naked = self.naked(hooks)
        outside = {name: CALLED_OUT.format(name=name) for name in sorted(self.calls)} | DIVISION
        called = "".join(outside[name] for name in sorted(self.calls))
        text = starter
        for name in hooks:
            text = re.sub(BODY.format(name=name), calling, text, flags=re.M | re.S)
        at = text.index(";", text.index("_FITS(")) + 1
        return text[:at] + "\n" + called + self.variables() + naked + text[at:]


def calling(hook: re.Match[str]) -> str:
    """A hook that calls the function with its name."""
    result, name, arguments = hook.groups()
    types = arguments[1:-1]
    names = ", ".join(re.findall(r"(\w+)(?:,|$)", types)) if types != "void" else ""
    kind = result.replace("static ", "", 1).strip()
    types = " ".join(types.split())
    return (
        f"{result}{name}{arguments}\n{{\n\ttypedef __attribute__((regparm(3))) {kind} (*as_kernel)({types});\n"
        f"\t{'return ' if kind != 'void' else ''}((as_kernel)lifted_{name})({names});\n}}\n"
    )


def lifted(kernel: Path, file: str, starter: str) -> str:
    """A starter's text with a kernel's code for the file."""
    return Lifter(Elf(kernel), file).source(starter)
