"""What a run must not do, whatever it was made of. Each rule answers with words that stay the same when the run is made
shorter: so it can be told whether it still fails in the same way."""

from __future__ import annotations

import io
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from guest import parse_summary
from tidemark import qemu

from swarm.known import Item
from swarm.session import ROUND, ROUNDS, STARVED, Session, mke2fs, texts

HOST_S = 240
FREE = ("frames", "nr_swap_free")
COUNTS = ("nr_free_pages", "nr_isolated", "nr_anon_pages", "nr_writeback", "nr_slab_objects", "nr_swap_free")

# Lines that must not be there, and what is kept of them as the failure's name.
NEVER = (
    r"\bBUG\b.*",
    r"PANIC.*|panic: .*",
    r"policy violation.*|policy_violation [1-9]|rule.*broken",
    r"\b(?:corrupt)=[1-9]",
    r"\d+ words differ",
    r"Assertion.*|ASSERT.*",
    r"slab: .*(?:poison|corrupt).*",
)
# What explains that a process did not end as it should.
KILLED_FOR_MEMORY = r"^Out of memory: \d+ frames free"
EXCUSES = (KILLED_FOR_MEMORY, r"No space left", r": Out of memory", r"Cannot allocate memory", r"Resource temporarily")
MAY_FAIL = ("sh", "kill", "swapon", "swapoff", "mkswap", "forkbomb", "echo", "fstools", "rm", "cat", "sleep", "find")


@dataclass(frozen=True)
class Outcome:
    """What a run left: its code (of qemu.py), console, telemetry, and the disk."""

    code: int
    console: str
    telemetry: bytes
    disk: bytes


def perform(session: Session, folder: Path) -> Outcome:
    """Run it; its files are in the folder, and stay until the next run. OSError when there is no room for them."""
    telemetry, image = folder / "telemetry.ndjson", folder / "disk.img"
    telemetry.write_bytes(b"")
    s = replace(session.settings, telemetry=str(telemetry), timeout=HOST_S)
    if session.disk:
        image.unlink(missing_ok=True)
        path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
        subprocess.run(mke2fs(session.disk, image), env={**os.environ, "PATH": path}, check=True, capture_output=True)
        s = replace(s, disk=str(image))
    out = io.BytesIO()
    code, _ = qemu.run_typed(s, session.text.encode(), out)
    console = out.getvalue().decode("ascii", "replace").replace("\r", "")
    return Outcome(code, console, telemetry.read_bytes(), image.read_bytes() if session.disk else b"")


def without_numbers(text: str) -> str:
    """The words of a line, by which it is known again."""
    return re.sub(r"0x[0-9a-f]+|\b[0-9a-f]{8}\b|\d+", "N", text).strip()


def ended(outcome: Outcome) -> Iterator[str]:
    """The run came to its end."""
    if any(line.startswith(STARVED) for line in lines(outcome)):
        yield "a process was not at its end when its time was over"
    elif outcome.code not in (qemu.OK, qemu.FAILED):
        yield qemu.REASON[outcome.code].partition(";")[0].partition(":")[0].partition("{")[0]


def lines(outcome: Outcome) -> list[str]:
    """Those of the console, but for what was typed."""
    return [line for line in outcome.console.splitlines() if not line.startswith("tidemark$ ")]


def nothing_bad(outcome: Outcome) -> Iterator[str]:
    """No line that says that something is broken."""
    for line in lines(outcome):
        if found := re.search("|".join(NEVER), line):
            yield without_numbers(found[0])


def checks(outcome: Outcome, rounds: int) -> Iterator[str]:
    """/proc/vm/check says ok after each round."""
    parts = outcome.console.split(f"\n{ROUND} ")[1:]
    if outcome.code in (qemu.OK, qemu.FAILED) and len(parts) != rounds:
        yield "a round is missing"
    for part in parts:
        shown = re.split(r"\n(?:\S+ \d+\n)+", part, maxsplit=1)[-1].split("\ntidemark$ ")[0]
        if not re.match(r"ok$", shown, re.MULTILINE):
            yield f"check: {without_numbers(shown.splitlines()[0] if shown else 'nothing')}"


def excused(outcome: Outcome) -> bool:
    """Was there a reason for processes to fail?"""
    return any(re.search(excuse, line) for line in lines(outcome) for excuse in EXCUSES)


def processes(outcome: Outcome, items: list[Item]) -> Iterator[str]:
    """Every process ended well, unless it was killed on purpose, or for memory."""
    if excused(outcome) or any("kill" in text for text in texts(items, "act")):
        return
    if found := re.search(r"\blost=[1-9]", outcome.console):
        yield without_numbers(found[0])
    for row in parse_summary(outcome.console.replace("  PID COMMAND", "  pid COMMAND")):
        if row["EXIT"] != "0" and row["COMMAND"] not in MAY_FAIL and not expected(row):
            yield f"{row['COMMAND']} ended with {row['EXIT']}"


def expected(row: dict[str, str]) -> bool:
    """Does this program end its processes so?"""
    return row["COMMAND"] in ("spin", "torture") and row["EXIT"] in ("-9", "-15", "42")


def killed_with_room(outcome: Outcome) -> Iterator[str]:
    """Nobody is killed for memory while much of the swap area is free."""
    for line in lines(outcome):
        found = re.search(r"^Out of memory: (\d+) frames free, (\d+) swap slots free", line)
        if found and int(found[2]) > 512:
            yield "killed for memory, with many swap slots free"


def counts(outcome: Outcome) -> list[dict[str, int]]:
    """What is in use after each round. Of init's and the shell's pages more or fewer may be in memory."""
    found = []
    for part in outcome.console.split(f"\n{ROUND} ")[1:]:
        one = {name: int(n) for name, n in re.findall(r"^(\w+) (\d+)$", part, re.MULTILINE) if name in COUNTS}
        if len(one) == len(COUNTS):
            one["frames"] = one.pop("nr_free_pages") + one.pop("nr_anon_pages")
            found.append(one)
    return found


def leaks(outcome: Outcome) -> Iterator[str]:
    """Each round but the first kept something: what is kept on purpose is there after a few."""
    found = counts(outcome)
    for name in found[0] if found else ():
        sign = 1 if name in FREE else -1
        if len(found) > 1 and all(sign * later[name] < sign * one[name] for one, later in pairwise(found)):
            yield f"leak: {name}"


def disk_is_sound(outcome: Outcome, folder: Path) -> Iterator[str]:
    """e2fsck finds nothing to say of a disk that was unmounted."""
    if not outcome.disk or outcome.code not in (qemu.OK, qemu.FAILED):
        return
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    command = ["e2fsck", "-fn", str(folder / "disk.img")]
    done = subprocess.run(command, env={**os.environ, "PATH": path}, capture_output=True, text=True)
    if done.returncode:
        said = [line for line in done.stdout.splitlines() if line and not line.startswith("Pass")]
        yield f"e2fsck: {without_numbers(said[0] if said else '')}"


def judge(outcome: Outcome, items: list[Item], folder: Path, rounds: int = ROUNDS) -> list[str]:
    """All that is wrong, each once; [] for a good run."""
    wrong = [*ended(outcome), *nothing_bad(outcome), *checks(outcome, rounds), *processes(outcome, items)]
    wrong += [*killed_with_room(outcome), *leaks(outcome), *disk_is_sound(outcome, folder)]
    return list(dict.fromkeys(wrong))
