"""Going back in time."""

from __future__ import annotations

import gdb

from .command import Command, evaluate
from .errors import TmError
from .session import session

FAULTS = (0, 6, 10, 11, 12, 13, 14, 17)  # the processor's exception numbers
MOST = 20  # hits of a breakpoint whose condition is checked


class Arrive(Command):
    """Take over a machine that is stopped at a place; `tidemark gdb` begins with it.

    (gdb) tm-arrive /tmp/socket 7378059"""

    name = "tm-arrive"
    arguments = "SOCKET NS"

    def answer(self, text: str) -> None:
        """Connects."""
        path, ns = text.split()
        session.attach(path, int(ns))


class Back(Command):
    """Go back N instructions, to the call of this function, to a fault, or to a breakpoint.
    Without an argument: one instruction. `call` goes to the instruction that called the function; `fault` to the last
    instruction that faulted, in a program or in the kernel; `break` to the last hit of an enabled breakpoint whose
    condition was true.

    (gdb) tm-back call
    0xc0104e77 in trap_page_fault (regs=0xf902bfb4) at kernel/arch/x86/trap.c:120
    at 0.007378058 s"""

    name = "tm-back"
    arguments = "N|call|fault|break"
    optional = True

    def answer(self, text: str) -> None:
        """Goes there."""
        now = session.now()
        if text.strip() == "call":
            back_to_call(now)
        elif text.strip() == "fault":
            back_to_fault(now)
        elif text.strip() == "break":
            back_to_breakpoint(now)
        else:
            steps = evaluate(text) if text.strip() else 1
            if steps >= now:
                raise TmError(f"the kernel's clock began {now} ns ago")
            session.go(now - steps)


class Go(Command):
    """Go to a time of the run, in ns; before or after now.

    (gdb) tm-go 7378059
    at 0.007378059 s"""

    name = "tm-go"
    arguments = "NS"

    def answer(self, text: str) -> None:
        """Goes there."""
        (ns,) = text.split() or [""]
        if not ns.isdigit():
            raise TmError("usage: tm-go NS; `help tm-go` has an example")
        session.go(int(ns))


def last_execution(now: int, **options: object) -> int | None:
    """Returns the last place before now at which one of the instructions `pcs` was executed."""
    events = session.past(now, **options)
    return events[-1][1] if events else None


def program_only(pc: int) -> dict[str, int]:
    """Programs share addresses, so a program's instruction is identified by its page directory as well."""
    return {} if pc >= 0xC0000000 else {"cr3": int(gdb.parse_and_eval("$cr3")) & 0xFFFFF000}


def back_to_call(now: int) -> None:
    """Goes to the instruction that called the function of the selected frame."""
    frame = gdb.selected_frame()
    while frame.type() == gdb.INLINE_FRAME:
        frame = frame.older()
    block = frame.block()
    while block.superblock and not block.superblock.is_static and not block.superblock.is_global:
        block = block.superblock
    older = frame.older()
    if not older:
        raise TmError("gdb knows no caller of this frame")
    esp = (int(older.read_register("esp")) - 4) % (1 << 32)
    entered = last_execution(now + 1, pcs=block.start, esp=esp, **program_only(block.start))
    if entered is None:
        raise TmError(f"{frame.name()} was not entered by its first instruction with this stack")
    session.go(entered - 1)


def back_to_fault(now: int) -> None:
    """Goes to the instruction that faulted last. A fault takes no time: its place is the beginning of the handler."""
    handlers = ":".join(str(int(gdb.parse_and_eval(f"(unsigned)&trap_{vector}"))) for vector in FAULTS)
    place = last_execution(now, pcs=handlers)
    if place is None:
        raise TmError("nothing has faulted before")
    session.go(place)


def locations() -> dict[int, list[gdb.Breakpoint]]:
    """The addresses of the enabled breakpoints."""
    found: dict[int, list[gdb.Breakpoint]] = {}
    for breakpoint in gdb.breakpoints():
        if breakpoint.enabled and breakpoint.location:
            for line in gdb.decode_line(breakpoint.location.removeprefix("-qualified "))[1] or ():
                found.setdefault(line.pc, []).append(breakpoint)
    return found


def is_met(breakpoints: list[gdb.Breakpoint]) -> bool:
    """Is one of these breakpoints unconditional, or its condition true here?"""
    return any(not one.condition or bool(gdb.parse_and_eval(one.condition)) for one in breakpoints)


def back_to_breakpoint(now: int) -> None:
    """Goes to the last stop of a breakpoint before now."""
    at = locations()
    if not at:
        raise TmError("no breakpoint is enabled")
    events = session.past(now, pcs=":".join(map(str, at)))
    for _, place, pc, *_ in events[: -MOST - 1 : -1]:
        session.go(place)
        if is_met(at[pc]):
            return
    session.go(now)
    raise TmError("no breakpoint was hit before" + (f" in the last {MOST} tries" if len(events) > MOST else ""))
