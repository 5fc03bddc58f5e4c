"""gdb on a waiting guest, as with `make qemu-gdb` and `make gdb`: the kernel and a program, with source lines."""

from __future__ import annotations

from debugger import debug


def test_gdb_stops_in_the_kernel_with_source_lines() -> None:
    out = debug("true", "init", "break do_page_fault", "continue", "bt 3", "next")
    assert "Breakpoint 1, do_page_fault (regs=" in out, out
    assert "kernel/mm/space/fault.c:" in out, out
    assert "kernel/arch/x86/trap.c:" in out, out


def test_gdb_stops_in_one_program_with_source_lines() -> None:
    steps = ["user-break thrash thrash.c:main", "continue", "print argc", "print argv[1]", "print current_task->comm"]
    out = debug("thrash 2 512 3", "thrash", *steps)
    assert "main (argc=4" in out and "user/workloads/thrash.c:" in out, out
    assert '"thrash' in out and '"2"' in out, out


def test_gdb_walks_from_a_program_into_its_page_fault() -> None:
    condition = '$_streq(current_task->comm, "thrash") && f->write'
    out = debug("thrash 2 512 3", "thrash", f"break fault_anon if {condition}", "continue", "bt")
    assert "fault_anon (f=" in out and "do_page_fault" in out, out
