"""Questions about one fault of the student's own run: the lab `follow`. Students do not get this file.

The run is the student's own: its size, number of processes and jitter are drawn. The fault is drawn among those for
which the disk was read. The keys come from the very machine that students get: the run is made, and gdb goes to the
fault, forth and back, with the commands that students use. The results are stored in build/followed, since an exact run
always repeats them.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tidemark.debug import replay
from tidemark.errors import FAILED, LabError
from tidemark.files import sha256, write_atomically
from tidemark.grade.build import machines
from tidemark.grade.judge.quiz.questions import Question
from tidemark.machine import qemu
from tidemark.runs import results

KEPT = "build/followed"
RESULT = "results/follow"
LIMIT_S = 600
PAGE, STACK = 4096, 8192  # bytes
EARLIEST, LONGEST = 300_000_000, 3_000_000_000  # ns: late enough that pages have a past; early enough to wait for
SOON = 60_000  # ns
TRIED = 20

TEXTS = {
    "page": "Which page does it want? Its first address, such as 0xb6c00000.",
    "before": "What is in the page-table entry then? All 32 bits, in hexadecimal: 0x00001702.",
    "slot": "In which slot of the swap area is the page?",
    "left": "In which frame was the page before it left memory, in hexadecimal?",
    "owner": "Whose is that frame now, at the fault? The number of the process that faulted its page in, 0 for none.",
    "taker": "Which process ran when the page was taken away, into that slot? Its number; kswapd has one, too.",
    "ran": "While it waits: which process has the processor next after it? Its number; 0 is the idle task.",
    "frame": "Into which frame does the page come back, in hexadecimal?",
    "after": "What does the kernel write into the entry then? All 32 bits, in hexadecimal, before a program uses it.",
    "waited": "How long is it, in ns, from the first instruction of do_page_fault to the one that writes this entry?",
}


def command(draw: Callable[[int], int]) -> list[str]:
    """The run: options and command line for `tidemark run`."""
    options = ["--mem", "8M", "--swap", "sim:hdd", "--vm", "2q", "--jitter", str(1 + draw(10**6))]
    return [*options, "thrash", str(3 + draw(3)), str(1900 + 4 * draw(100)), "2"]


def tidemark(*words: str, stdin: str = "") -> str:
    """The output of a command of the lab."""
    env = os.environ | {"PYTHONPATH": str(qemu.ROOT / "tools")}
    done = subprocess.run(
        [sys.executable, "-m", "tidemark.cli", *words],
        input=stdin,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_S,
    )
    return done.stdout


def major_faults(run: replay.Places, image: Path) -> list[tuple[int, int, int]]:
    """(number from 1 on, place, place of its end) of the faults that read from the disk. If there are faults soon after
    which another process faults, only those."""
    fault, end = replay.instructions(image, "do_page_fault"), replay.instructions(image, "starve_note_major")
    found, begun, number, last = [], {}, 0, 0
    soon = set()
    for _, place, pc, eax, edx, _, esp in run.past(pcs=f"{fault}:{end}", until=str(LONGEST)):
        stack = esp // STACK
        if pc == int(fault):
            number += 1
            soon |= {number - 1} if place - last < SOON else set()
            begun[stack], last = (number, place, edx // PAGE), place
        elif stack in begun and begun[stack][2] == eax // PAGE:
            found.append((*begun.pop(stack)[:2], place))
    late = [each for each in found if each[1] > EARLIEST]
    return [each for each in late if each[0] in soon] or late


def session(folder: Path, number: int, steps: Sequence[str]) -> list[str]:
    """gdb's output for each step at a fault of a run."""
    marked = [line for step in steps for line in (step, "echo \\n=====\\n")]
    said = tidemark("gdb", str(folder), "--fault", str(number), stdin="\n".join(["echo \\n=====\\n", *marked]) + "\n")
    return re.split(r"(?m)^=====\n", said.replace("(gdb) ", ""))[1:]


def only(pattern: str, text: str, base: int = 10) -> int | None:
    """The number in the last match of a pattern; None if there is no match."""
    found = re.findall(pattern, text)
    return int(found[-1], base) if found else None


def place_of(text: str) -> int | None:
    """The time that a command went to, in ns; None if it went nowhere."""
    found = re.findall(r"(?m)^at (\d+)\.(\d{9}) s$", text)
    return int("".join(found[-1])) if found else None


def rows(history: str, what: str) -> list[str]:
    """The lines of tm-history of a kind."""
    return [line for line in history.splitlines() if re.match(rf"\s*\d+ +[\d.]+ s +{what}", line)]


def first_half(folder: Path, number: int) -> dict[str, int | None]:
    """The answers that can be read at the fault; empty if the page was in memory after all."""
    who, table, past = session(
        folder,
        number,
        [
            'printf "%u %u\\n", current_task->pid, addr',
            "tm-pt current_task->pid addr",
            "tm-history current_task->pid addr",
        ],
    )[:3]
    pid, address = map(int, re.findall(r"(\d+) (\d+)\s*$", who.strip())[0])
    taken, came = rows(past, "taken from"), rows(past, "(?:faulted in|back)")
    if "in the swap cache" in table.replace("not in the swap cache", "") or not taken or not came:
        return {}
    frame = only(r"frame (0x[0-9a-f]+)", came[-1], 16)
    return {
        "pid": pid,
        "page": address & -PAGE,
        "before": only(r"entry +\d+: (0x[0-9a-f]{8})  swapped out", table, 16),
        "slot": only(r"swapped out, slot (\d+)", table),
        "left": frame,
        "taken": only(r"^\s*(\d+)", taken[-1]),
    }


def second_half(folder: Path, number: int, begun: int, end: int, seen: dict[str, int | None]) -> dict[str, int | None]:
    """The answers from places of the run before and after the fault."""
    pid, page = seen["pid"], seen["page"]
    owner, _, taker, _, _, _, ran, _, _, wrote = session(
        folder,
        number,
        [
            f"tm-page {seen['left']:#x}",
            f"tm-history {pid} {page:#x} {seen['taken']}",
            'printf "pid %u\\n", current_task->pid',
            f"tm-go {begun}",
            "watch current_task",
            "continue",
            'printf "pid %u\\n", current_task->pid',
            "delete",
            f"tm-go {end}",
            f"tm-when pte {page:#x}",
        ],
    )[:10]
    after = only(r"(0x[0-9a-f]+) afterwards", wrote, 16)
    at = place_of(wrote)
    return {
        "owner": only(r"faulted in by pid (\d+)", owner) or 0,
        "taker": only(r"pid (\d+)", taker),
        "ran": only(r"pid (\d+)", ran),
        "frame": after // PAGE if after else None,
        "after": after,
        "waited": at - begun if at else None,
    }


def looked_up(image: Path, words: Sequence[str], draw: Callable[[int], int]) -> dict[str, int]:
    """A fault of the run, and all answers about it. Raises LabError if no fault is suitable."""
    with tempfile.TemporaryDirectory(prefix="tidemark-followed-") as scratch:
        folder = Path(scratch, "run")
        said = tidemark("run", "-q", "--image", str(image), "-o", str(folder), *words)
        run = replay.Places(results.load(folder), image, Path(scratch))
        faults = major_faults(run, image)
        for _ in range(TRIED if faults else 0):
            number, begun, end = faults[draw(len(faults))]
            seen = first_half(folder, number)
            found = seen and seen | second_half(folder, number, begun, end, seen)
            if found and all(found.get(name) is not None for name in TEXTS):
                return {"fault": number, **{name: found[name] or 0 for name in TEXTS}}
    raise LabError(f"no fault of {' '.join(words)} can be asked about: {said[-300:]}", FAILED)


def drawn(
    tree: Path, lab: str, machine: str, names: Sequence[str], draw: Callable[[int], int]
) -> tuple[tuple[str, ...], tuple[Question, ...]]:
    """The words for the student, which say how to make the run and where to stand, and the questions."""
    image, words = machines.made(tree, lab, machine), command(draw)
    key = hashlib.sha256("\0".join([sha256(image / qemu.KERNEL), *words, str(draw(1 << 62))]).encode()).hexdigest()
    path = tree / KEPT / f"{key[:32]}.json"
    if path.is_file():
        found = json.loads(path.read_text())
    else:
        found = looked_up(image, words, draw)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(found))
    run = ["tidemark", "run", "--image", f"{machines.MACHINES}/{machine}", "-o", RESULT, *words]
    return (*run, f"--fault {found['fault']}"), tuple(Question(name, TEXTS[name], found[name]) for name in names)
