"""gdb on a waiting guest, as `make qemu-gdb` and `make gdb` do it: the kernel and a program, with source lines."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

from tidemark import qemu

LIMIT = 60  # seconds of host time


def free_port() -> int:
    """A TCP port that nobody listens at just now."""
    with socket.socket() as s:
        s.bind(("localhost", 0))
        return s.getsockname()[1]


def debug(command: str, program: str, *steps: str) -> str:
    """What gdb prints while it takes the steps on a guest that was told to run `command`."""
    port = str(free_port())
    env = os.environ | {"RUN": command, "GDBPORT": port, "PROG": program, "MEM": "16M"}
    machine = subprocess.Popen(
        [sys.executable, "-m", "tidemark.qemu", "--gdb"],
        cwd=qemu.ROOT,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert "waits for the debugger" in machine.stderr.readline()
        script = "\n".join([*steps, "kill"])
        for _ in range(100):  # until QEMU listens; start.sh says at once when it does not
            gdb = subprocess.run(
                ["tools/gdb/start.sh"],
                cwd=qemu.ROOT,
                env=env,
                input=script,
                capture_output=True,
                text=True,
                timeout=LIMIT,
            )
            if "Nothing listens" not in gdb.stderr:
                return gdb.stdout + gdb.stderr
        raise AssertionError(gdb.stderr)
    finally:
        machine.terminate()
        machine.wait(LIMIT)


def test_gdb_stops_in_the_kernel_with_source_lines() -> None:
    out = debug("true", "init", "break do_page_fault", "continue", "bt 3", "next")
    assert "Breakpoint 1, do_page_fault (regs=" in out, out
    assert "kernel/mm/fault.c:" in out, out
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
