"""Rules that hold for every run, whatever its items. Each rule answers with words that stay the same when the run is
shortened: so it can be determined whether the run still fails in the same way."""

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
from tidemark.machine import qemu

from swarm.known import Item, commands
from swarm.session import ROUND, STARVED, Session, mke2fs, rounds_of

HOST_S = 900  # the host may be busy with other work
ENDS = (qemu.OK, qemu.FAILED, qemu.CUT)  # the power fails only if a run says so
FREE = ("frames", "nr_swap_free", "kept")
COUNTS = ("nr_free_pages", "nr_isolated", "nr_anon_pages", "nr_writeback", "nr_slab_objects", "nr_swap_free")

# Patterns of lines that a console must not contain. What a pattern matches names the failure.
NEVER = (
    r"\bBUG\b.*",
    r"PANIC.*|panic: .*",
    r"\w+ violation: .*|policy_violation [1-9]",
    r"Assertion.*|ASSERT.*",
    r"slab: .*(?:poison|corrupt).*",
)
# Patterns that a console must not contain, either, unless a disk failed on purpose. Two results of programs are
# excepted: `torture` also counts a worker as corrupt if it gets no memory (it reports real corruption in another line),
# and `shared` also counts words that a killed process did not write (failed=).
SOUND_DISK = (
    r"^R (?!torture |shared .*failed=[1-9]).*(corrupt=[1-9])",
    r"\d+ words differ",
    r"ext2: .*",
    r"umount: /mnt: .*",
)
# Reasons why a process may end with an error.
KILLED_FOR_MEMORY = r"^Out of memory: \d+ frames free"
NO_SPACE = (r"No space left", r": \d+ bytes instead of \d+$")
EXCUSES = (KILLED_FOR_MEMORY, *NO_SPACE, r": Out of memory", r"Cannot allocate memory", r"Resource temporarily")
INIT_DIED = "panic: init died: signal 7\n"  # its pages were on a disk that failed on purpose
PARENTS = {"sh", "cow", "forkbomb", "interactive", "linked", "shared", "spin", "thrash", "torture"}
MAY_FAIL = ("sh", "kill", "swapon", "swapoff", "mkswap", "forkbomb", "echo", "fstools", "rm", "cat", "sleep", "find")


@dataclass(frozen=True)
class Outcome:
    """The result of a run: its code (of qemu.py), console, telemetry, and the disk."""

    code: int
    console: str
    telemetry: bytes
    disk: bytes


def perform(session: Session, folder: Path) -> Outcome:
    """Makes the run; its files stay in the folder until the next run. Raises OSError if there is no room for them."""
    telemetry, image = folder / "telemetry.ndjson", folder.absolute() / "disk.img"
    telemetry.write_bytes(b"")
    s = replace(session.settings, telemetry=str(telemetry), timeout=HOST_S)
    if session.disk:
        image.unlink(missing_ok=True)
        env = {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}
        subprocess.run(mke2fs(session.disk, image), env=env, check=True, capture_output=True, cwd=qemu.ROOT)
        s = replace(s, disk=str(image))
    out = io.BytesIO()
    code, _ = qemu.run_typed(s, session.text.encode(), out)
    console = out.getvalue().decode("ascii", "replace").replace("\r", "")
    return Outcome(code, console, telemetry.read_bytes(), image.read_bytes() if session.disk else b"")


def without_numbers(text: str) -> str:
    """The words of a line, by which the failure is identified."""
    return re.sub(r"0x[0-9a-f]+|\b[0-9a-f]{8}\b|\d+", "N", text).strip()


def ended(outcome: Outcome) -> Iterator[str]:
    """Checks that the run came to its end."""
    if any(line.startswith(STARVED) for line in lines(outcome)):
        yield "a process was not at its end when its time was over"
    elif outcome.code not in ENDS:
        yield qemu.REASON[outcome.code].partition(";")[0].partition(":")[0].partition("{")[0].strip()


def lines(outcome: Outcome) -> list[str]:
    """The lines of the console, except what was typed."""
    return [line for line in outcome.console.splitlines() if not line.startswith("tidemark$ ")]


def nothing_bad(outcome: Outcome, items: list[Item]) -> Iterator[str]:
    """Checks that no line says that something is broken."""
    never = NEVER if on_purpose(items, "fail") or orphans(outcome, items) else (*NEVER, *SOUND_DISK)
    for line in lines(outcome):
        if found := re.search("|".join(never), line):
            yield without_numbers(found[found.lastindex or 0])


def checks(outcome: Outcome, items: list[Item], rounds: int) -> Iterator[str]:
    """Checks that /proc/vm/check says ok after each round, and in the middle if it was read there."""
    for line in lines(outcome):
        if found := re.match(r"\D+: \d+, counted \d+$", line):
            yield f"check: {without_numbers(found[0])}"
    parts = outcome.console.split(f"\n{ROUND} ")[1:]
    if outcome.code not in (qemu.OK, qemu.FAILED) or re.search(KILLED_FOR_MEMORY, outcome.console, re.MULTILINE):
        return  # the killed process may have been the shell, or cat
    if len(parts) != rounds and not on_purpose(items, "fail"):  # the failed pages may have been the shell's
        yield "a round is missing"
    for part in parts:
        if "ok" not in part.partition("\ntidemark$ ")[0].splitlines():
            yield "check is not ok"


def orphans(outcome: Outcome, items: list[Item]) -> bool:
    """May there be processes left at the end of a round? The children of a process continue if only the parent is
    killed, on purpose or for memory."""
    killed = set(re.findall(r"killed process \d+ \((\w+)\)", outcome.console))
    if on_purpose(items, "kill"):
        killed |= {re.split(r"[ /]", text.removeprefix("/mnt/"))[0] for text in commands(items)}
    return not PARENTS.isdisjoint(killed)


def on_purpose(items: list[Item], *words: str) -> bool:
    """Is one of these words among the items?"""
    return any(word in item.text for item in items for word in words if item.kind in ("word", "act"))


def crowded(items: list[Item]) -> bool:
    """May spin --forks fail to create a process? The fork bomb takes all process numbers."""
    jobs = " ".join(commands(items))
    return "forkbomb" in jobs and "--forks" in jobs


def excused(outcome: Outcome) -> bool:
    """Was there a reason for processes to fail?"""
    return any(re.search(excuse, line) for line in lines(outcome) for excuse in EXCUSES)


def processes(outcome: Outcome, items: list[Item]) -> Iterator[str]:
    """Checks that every process ended successfully, unless it was killed on purpose, or for memory."""
    if excused(outcome) or crowded(items) or on_purpose(items, "fail", "kill", "cut="):
        return
    if found := re.search(r"\blost=[1-9]", outcome.console):
        yield without_numbers(found[0])
    for row in parse_summary(outcome.console.replace("  PID COMMAND", "  pid COMMAND")):
        if row["EXIT"] != "0" and row["COMMAND"] not in MAY_FAIL and not expected(row):
            yield f"{row['COMMAND']} ended with {row['EXIT']}"


def expected(row: dict[str, str]) -> bool:
    """Does this program end its processes in this way?"""
    return row["COMMAND"] in ("spin", "torture") and row["EXIT"] in ("-9", "-15", "42")


def killed_with_room(outcome: Outcome, items: list[Item]) -> Iterator[str]:
    """Checks that no process is killed for memory while much of the swap area is free and its disk accepts pages,
    except if nearly all of a small memory had to be kept free."""
    for line in lines(outcome) if not on_purpose(items, "fail", "min_free_kbytes") else ():
        found = re.search(r"^Out of memory: (\d+) frames free, (\d+) swap slots free", line)
        if found and int(found[2]) > 512:
            yield "killed for memory, with many swap slots free"


def counts(outcome: Outcome) -> list[dict[str, int]]:
    """What is in use after each round. The number of init's and the shell's resident pages varies: "kept" are the slots
    minus those that they took when they were evicted."""
    found = []
    for part in outcome.console.split(f"\n{ROUND} ")[1:]:
        one = {name: int(n) for name, n in re.findall(r"^(\w+) (\d+)$", part, re.MULTILINE) if name in COUNTS}
        if len(one) == len(COUNTS):
            one["kept"] = one["nr_swap_free"] - one["nr_anon_pages"]
            one["frames"] = one.pop("nr_free_pages") + one.pop("nr_anon_pages")
            found.append(one)
    return found


def leaks(outcome: Outcome, items: list[Item]) -> Iterator[str]:
    """Checks that not every round but the first leaks: permanent allocations exist after a few rounds."""
    if orphans(outcome, items) or any(line.startswith("mount: ") for line in lines(outcome)):
        return  # its disk has failed: files of the jobs stay below /mnt
    found = counts(outcome)
    if outcome.code == qemu.CUT and len(found) == 2:
        return  # pages of init may be swapped out once, and there is no third round to see whether that continues

    def grows(name: str) -> bool:
        sign = 1 if name in FREE else -1
        return len(found) > 1 and all(sign * later[name] < sign * one[name] for one, later in pairwise(found))

    for name in found[0] if found else ():
        if name != "kept" and grows(name) and (name != "nr_swap_free" or grows("kept")):
            yield f"leak: {name}"


def e2fsck(option: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs e2fsck on the run's disk."""
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    command = ["e2fsck", option, str(folder / "disk.img")]
    return subprocess.run(command, env={**os.environ, "PATH": path}, capture_output=True, text=True)


def disk_is_sound(outcome: Outcome, items: list[Item], folder: Path) -> Iterator[str]:
    """Checks that e2fsck finds no fault on a disk that was unmounted, and can repair one that failed or lost power."""
    if not outcome.disk or outcome.code not in ENDS:
        return
    if outcome.code == qemu.CUT or on_purpose(items, "fail") or orphans(outcome, items):
        e2fsck("-fy", folder)
    done = e2fsck("-fn", folder)
    if done.returncode:
        said = [line for line in done.stdout.splitlines() if line and not line.startswith("Pass")]
        yield f"e2fsck: {without_numbers(said[0] if said else '')}"


def judge(outcome: Outcome, items: list[Item], folder: Path, rounds: int = 0) -> list[str]:
    """All errors, each once; [] for a good run."""
    if on_purpose(items, "fail") and INIT_DIED in outcome.console:
        return []
    wrong = [
        *ended(outcome),
        *nothing_bad(outcome, items),
        *checks(outcome, items, rounds or rounds_of(items)),
        *processes(outcome, items),
    ]
    wrong += [*killed_with_room(outcome, items), *leaks(outcome, items), *disk_is_sound(outcome, items, folder)]
    return list(dict.fromkeys(wrong))
