"""The workloads in which a changed kernel may show that it is wrong, and what of it a student can see.

A symptom is on the console: a panic or a hang with its text, a result or a check that differs (`corrupt=3` where the
unchanged kernel has `corrupt=0`), a line that a correct kernel prints and this one does not, or a command that fails.
Times and counts of faults are not symptoms, since every change of the kernel changes them. Runs are exact, so a symptom
that was seen once is seen in each run of the same kernel.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from tidemark.machine import qemu

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LIST = Path(__file__).with_name("workloads.toml")
RESULT = re.compile(r"^Out of memory|\b(?:corrupt|failures|failed|lost|killed|status|sum|own)=\d+|^ok$", re.MULTILINE)
STOPPED = {qemu.PANICKED: ("panic", re.compile(r"panic: .*")), qemu.HUNG: ("hang", re.compile(r"hang: .*"))}
TRACE = re.compile(r"\b([a-z_]\w*)\+0x[0-9a-f]+")
BOOTS, BOOTS_S = "echo ready", 2


@dataclass(frozen=True)
class Workload:
    """A row of workloads.toml, which describes `exact`; the others are options of `tidemark run`."""

    name: str
    run: str
    mem: str = ""
    swap: str = ""
    frames: str = ""
    exact: bool = False

    def settings(self, image: Path, **more: Any) -> qemu.Settings:
        """The settings of a run."""
        chosen = {name: value for name in ("mem", "swap", "frames") if (value := getattr(self, name))}
        return replace(qemu.Settings(image=image, run=self.run, **more), **chosen)

    def words(self) -> list[str]:
        """The arguments of `tidemark run`."""
        given = ((name, getattr(self, name)) for name in ("mem", "swap", "frames"))
        return [*(word for name, value in given if value for word in (f"--{name}", value)), self.run]


@dataclass(frozen=True)
class Ran:
    """How a run ended, one of qemu.OK ..., and its console."""

    code: int
    console: str

    def printed(self) -> list[str]:
        """The lines of the programs: those after the kernel's header, up to the empty line before its table."""
        _, _, rest = self.console.partition("\nswap: ")
        return rest.partition("\n\n")[0].split("\n")[1:]


@dataclass(frozen=True)
class Symptom:
    """What a student sees: the kind (panic, hang, result, line, status), the text, and that of a correct kernel."""

    kind: str
    says: str
    expected: str


def listed() -> list[Workload]:
    """All workloads, the quickest first."""
    known = {field.name for field in fields(Workload)}
    rows = tomllib.loads(LIST.read_text())["workload"]
    assert all(set(row) <= known for row in rows)
    return [Workload(**row) for row in rows]


def run(work: Workload, image: Path, console: Path, limit_s: int, flags: str = "") -> Ran:
    """One run, with these flags for QEMU; `console` is a scratch file. An endless loop ends as qemu.NO_QEMU after
    `limit_s` seconds of processor time."""
    settings = work.settings(image, prefix=("prlimit", f"--cpu={limit_s}"), qemu_flags=flags)
    code, _ = qemu.unattended(settings, console, lambda: None)
    return Ran(code, console.read_text(errors="replace"))


def differing(right: list[str], shown: list[str]) -> tuple[str, str] | None:
    """(the first text that differs, the expected one); "" for a text that is missing."""
    longest = max(len(right), len(shown))
    pairs = zip(shown + [""] * (longest - len(shown)), right + [""] * (longest - len(right)), strict=True)
    return next(((one, other) for one, other in pairs if one != other), None)


def symptom(work: Workload, right: Ran, ran: Ran) -> Symptom | None:
    """What shows that this run went wrong, compared with the run of the unchanged kernel; None if nothing does."""
    if ran.code in STOPPED:
        kind, pattern = STOPPED[ran.code]
        found = pattern.search(ran.console)
        return Symptom(kind, found[0].strip(), "") if found else None
    if ran.code not in (qemu.OK, qemu.FAILED):
        return None
    results = differing(RESULT.findall(right.console), RESULT.findall(ran.console))
    if results:
        return Symptom("result", *results)
    lines = differing(right.printed(), ran.printed()) if work.exact else None
    if lines:
        return Symptom("line", *lines)
    if ran.code != right.code:
        found = re.search(r"power off.*", ran.console)
        return Symptom("status", found[0] if found else "", "power off")
    return None


def boots(image: Path, console: Path) -> bool:
    """Does the kernel run a program at all? A kernel that does not is a poor hunt: every command shows it."""
    ran = run(Workload("boots", BOOTS), image, console, BOOTS_S)
    return ran.code == qemu.OK and ran.printed()[:1] == ["ready"]


def traced(console: str) -> set[str]:
    """The functions that a panic's or a hang's backtrace names."""
    return set(TRACE.findall(console))


def shell(work: Workload, image: str, out: str) -> str:
    """The command that a student types. No workload needs more than double quotes."""
    *options, command = work.words()
    assert not re.search(r'["$`\\!]', command), command
    return " ".join(["tidemark run --image", image, *options, "-o", out, f'"{command}"'])
