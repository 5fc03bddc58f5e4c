"""Runs the guest for tests: `boot` for one command, `Guest` for a session at the prompt.

Both start QEMU through tidemark.machine.qemu, like everything else. Timeouts here are limits of host time after which a
test fails; nothing waits for a fixed time.
"""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import TracebackType

import members
import pexpect
from tidemark.machine import qemu
from tidemark.telemetry import stream

PROMPT = "tidemark$ "
CONTEXT_LINES = 12


def parse_summary(console: str) -> list[dict[str, str]]:
    """The per-process rows of the table at the end of a `RUN=`: from the line whose first word is `pid` to a blank
    line.

    Column titles are single words; in a row with more words than titles, the last column gets the rest.
    """
    lines = console.splitlines()
    heads = [at for at, line in enumerate(lines) if re.match(r"\s*pid\s+\S", line)]
    if not heads:
        return []
    titles = lines[heads[-1]].split()
    rows = []
    for line in lines[heads[-1] + 1 :]:
        if not re.match(r"\s*\d+\s", line):
            break
        rows.append(dict(zip(titles, line.split(None, len(titles) - 1))))
    return rows


@dataclass
class Result:
    """A finished run. `exit` is a code of qemu.py (qemu.OK, qemu.FAILED, ...). `recorded` is the telemetry, or None if
    it was not recorded."""

    exit: int
    console: str
    recorded: bytes | None = None
    command: str = ""
    summary: list[dict[str, str]] = field(init=False)

    def __post_init__(self) -> None:
        self.summary = parse_summary(self.console)

    @property
    def raw_telemetry(self) -> bytes:
        """The telemetry as the guest sent it."""
        assert self.recorded is not None, f"{self.command}\nboot(..., telemetry=True) records the telemetry"
        return self.recorded

    @cached_property
    def telemetry(self) -> list[dict]:
        """The records in order. Raises TelemetryError if they are incomplete or violate the schema."""
        records = stream.parse(self.raw_telemetry.decode("ascii", "replace"))
        if wrong := [problem for record in records for problem in members.problems(record)]:
            raise stream.TelemetryError(f"{wrong[0]}, and {len(wrong) - 1} more")
        return records

    def tail(self, lines: int = 40) -> str:
        """The end of the console, for the message of a failure."""
        return "\n".join(self.console.splitlines()[-lines:])

    def check_exit(self, code: int = qemu.OK) -> Result:
        """Returns itself if the run ended with `code`; otherwise the test fails and shows the end of the console."""
        assert self.exit == code, f"{self.command}\nended with {self.exit}, expected {code}. Console:\n{self.tail()}"
        return self

    def check_lines(self, expected: Sequence[str]) -> Result:
        """Returns itself if the run ended, and the regular expressions match lines of the console in this order (with
        other lines between)."""
        assert self.exit != qemu.TIMED_OUT, f"{self.command}\ndid not end in time. Console:\n{self.tail()}"
        miss = first_miss(self.console, expected)
        assert miss is None, f"{self.command}\n{miss}"
        return self


def first_miss(console: str, expected: Sequence[str]) -> str | None:
    """Returns None if all patterns match in order; otherwise the first that does not, with the lines where it was
    due."""
    lines = console.splitlines()
    at = 0
    for pattern in expected:
        found = next((i for i in range(at, len(lines)) if re.search(pattern, lines[i])), None)
        if found is None:
            start = max(0, at - 3)
            around = "\n".join(f"  {i + 1:4} {lines[i]}" for i in range(start, min(len(lines), start + CONTEXT_LINES)))
            end = "\n".join(f"       {line}" for line in lines[-CONTEXT_LINES:])
            return f"no line matches {pattern!r} from line {at + 1} on. There:\n{around}\nThe end:\n{end}"
        at = found + 1
    return None


def settings(**choices: object) -> qemu.Settings:
    """qemu.Settings; converts numbers to texts, and None to the default."""
    texts = ("vm", "mem", "swap", "frames", "run", "seed", "cmdline", "telemetry", "disk", "disk_kind")
    given = {name: value for name, value in choices.items() if value is not None}
    return qemu.Settings(**{name: str(value) if name in texts else value for name, value in given.items()})


def boot(
    command: str,
    *,
    vm: str | None = None,
    mem: str | None = None,
    swap: str | None = None,
    frames: int | None = None,
    seed: int | None = None,
    cmdline: str | None = None,
    timeout: float = 120,
    exact: bool = True,
    iso: bool = False,
    image: Path = qemu.ROOT,
    qemu_flags: str = "",
    disk: Path | None = None,
    disk_kind: str | None = None,
    mounted: bool = False,
    telemetry: bool = False,
) -> Result:
    """Runs one command line in a fresh guest (as RUN= does) and returns the result.
    `timeout` is in seconds of host time; when it expires, the result's `exit` is qemu.TIMED_OUT. `image`: a built tree.
    `qemu_flags`: more arguments for QEMU. `disk`: an image, as DISK=, which the guest's writes change.
    `mounted`: the disk is mounted at boot, as for users; otherwise only the command mounts it.
    `telemetry`: the result has the telemetry. Without it the guest sends the same bytes, and QEMU drops them: recording
    takes a system call per byte, more than half of the host's time where memory is short.
    """
    if disk and not mounted and "root=" not in (cmdline or ""):
        cmdline = " ".join(filter(None, (cmdline, "mount=none")))
    with tempfile.TemporaryDirectory(prefix="tidemark-test-") as folder:
        file = Path(folder, "telemetry.ndjson")
        file.touch()
        s = settings(
            vm=vm,
            mem=mem,
            swap=swap,
            frames=frames,
            seed=seed,
            run=command,
            cmdline=cmdline,
            timeout=timeout,
            exact=exact,
            telemetry=file if telemetry else None,
            image=image,
            qemu_flags=qemu_flags,
            disk=disk,
            disk_kind=disk_kind,
        )
        console = io.BytesIO()
        code, _ = qemu.run_command(s, console, iso=iso)
        text = console.getvalue().decode("ascii", "replace").replace("\r\n", "\n").replace("\r", "\n")
        return Result(code, text, file.read_bytes() if telemetry else None, qemu.command_line(s))


class Guest:
    """A guest with a shell at its serial port.

    with Guest(mem="24M") as guest:
        assert "total" in guest.sh("free")
    """

    def __init__(self, timeout: float = 60, **choices: object) -> None:
        """Starts QEMU; `choices` as for boot (vm, mem, swap, frames, seed, cmdline, exact). Does not wait."""
        self.log = io.StringIO()
        command = qemu.qemu_command(settings(**choices))
        self.terminal = pexpect.spawn(
            "sh",  # QEMU reports on stderr that only a key can wake the guest
            ["-c", 'exec "$0" "$@" 2>/dev/null', *command],
            cwd=str(qemu.ROOT),
            timeout=timeout,
            echo=False,
            encoding="ascii",
            codec_errors="replace",
            preexec_fn=qemu.die_with_parent,
        )
        self.terminal.logfile_read = self.log
        self.terminal.delaybeforesend = None

    def __enter__(self) -> Guest:
        self.expect(PROMPT, exact=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.terminal.close(force=True)

    @property
    def console(self) -> str:
        """Everything the guest has written."""
        return self.log.getvalue().replace("\r", "")

    def send(self, text: str) -> None:
        """Types `text` unchanged."""
        self.terminal.send(text)

    def expect(self, pattern: str, exact: bool = False, timeout: float = -1) -> str:
        """Waits for a regular expression (or an exact text) and returns the output before it.

        If it does not appear, the test fails and shows the end of the console. -1: the guest's own timeout.
        """
        try:
            (self.terminal.expect_exact if exact else self.terminal.expect)(pattern, timeout=timeout)
        except (pexpect.TIMEOUT, pexpect.EOF) as error:
            tail = "\n".join(self.console.splitlines()[-40:])
            raise AssertionError(f"{type(error).__name__} waiting for {pattern!r}. Console:\n{tail}") from None
        return self.terminal.before.replace("\r", "")

    def sh(self, command: str, timeout: float = -1) -> str:
        """Types a command line, waits for the prompt, and returns the output (without the echoed line)."""
        self.send(command + "\n")
        lines = self.expect(PROMPT, exact=True, timeout=timeout).splitlines(keepends=True)
        echoes = (command + "\n", "\n")  # the guest's, and the host terminal's while QEMU configures it
        while lines and lines[0] in echoes:
            lines.pop(0)
        return "".join(lines)

    def wait_end(self) -> int:
        """Waits until the guest has ended; returns a code of qemu.py."""
        try:
            self.terminal.expect(pexpect.EOF)
        except pexpect.TIMEOUT:
            raise AssertionError(f"the guest did not end. Console:\n{self.console}") from None
        self.terminal.close()
        return qemu.QEMU_STATUS.get(self.terminal.exitstatus, qemu.NO_QEMU)
