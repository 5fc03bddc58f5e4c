"""The part `strings`: the policy's file in the simulator, in the sandbox and under the sanitizers."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from tidemark.errors import LabError
from tidemark.evaluate.refusal import SIMULATOR, Refused
from tidemark.grade.build import tree
from tidemark.grade.witness.machine import Machine
from tidemark.runs import replicates
from tidemark.strings import compare, refstrings, vmsim
from tidemark.strings.refstrings import References

REFERENCES = 30_000
LIMIT_S = 10  # processor time of one string; a simple policy needs a tenth of a second
FIRST = (("1 2 3 4 1 2 5 1 2 3 4 5", 3), ("1-9 f1-9 r1-20 1-9 w3 x5 1", 6), ("loop:20,refs=2000", 19))
SAID = re.compile(r"ERROR: AddressSanitizer:? ([\w-]+)|(\S+:\d+):\d+: runtime error: (.+)")
PLACE = re.compile(r"^\s*#\d+ .* in (\w+) (?:\S*/)?(kernel/mm/policy/\S+:\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Simulated:
    """A cell: a string, its number of frames, and whether every replicate draws another one."""

    name: str
    made: str
    frames: int
    drawn: bool = True

    def string(self, replicate: int) -> References:
        """The string of a replicate."""
        return drawn(self.made, replicate) if self.drawn else refstrings.find(self.made)


@cache
def drawn(made: str, replicate: int) -> References:
    """The generated string KIND:PAGES with what a replicate draws."""
    kind, _, pages = made.partition(":")
    one = replicates.draw(replicate)
    return refstrings.find(f"{kind}:{replicates.size(int(pages), one.place)},refs={REFERENCES},seed={one.seed}")


@cache
def least(cell: Simulated, replicate: int) -> int:
    """The faults of MIN."""
    return compare.bounds(cell.string(replicate), [cell.frames])[compare.MIN][0]


def cells() -> list[Simulated]:
    """The generated strings of the standard set, each with the middle one of its numbers of frames."""
    generated = {name: one for name, one in refstrings.STANDARD.items() if ":" in one.made}
    return [Simulated(name, one.made, one.frames[len(one.frames) // 2]) for name, one in generated.items()]


def given(texts: Sequence[str]) -> list[Simulated]:
    """Cells of fixed strings, each with half of its pages as frames. Raises LabError if there is no such string."""
    strings = [refstrings.find(text) for text in texts]
    return [Simulated(one.name, text, max(one.nr_pages // 2, 1), drawn=False) for text, one in zip(texts, strings)]


def crash(said: str) -> str:
    """A sentence on what the sanitizers found; empty if they have not found anything."""
    found, place = SAID.search(said), PLACE.search(said)
    if not found:
        return ""
    what = (found[1] or found[3]).replace("-", " ")
    return what + (f" in {place[1]}() at {place[2]}" if place else f" at {found[2]}" if found[2] else "")


def refusal(error: vmsim.BrokenRule, where: str) -> Refused:
    """The refusal for a broken rule."""
    broken = error.violation
    rule, hook = str(broken["rule"]), str(broken["hook"])
    if rule == "crash":
        what = crash(str(error)) or str(broken["what"])
        return Refused(SIMULATOR, "memory", f"{where}, the hook {hook or '?'} accesses what is not its own: {what}")
    return Refused(SIMULATOR, rule, f"{where}, the hook {hook or '?'} broke the rule '{rule}': {broken['what']}")


def last_line(out: bytes) -> dict[str, object]:
    """The object in the last line of the simulator's output; empty if there is none."""
    try:
        found = json.loads(out.splitlines()[-1])
    except (ValueError, IndexError):
        return {}
    return found if isinstance(found, dict) else {}


def faults(machine: Machine, string: References, frames: int) -> int:
    """The policy's faults on a string. Raises Refused."""
    program = machine.tree / tree.SIMULATORS / machine.lab.title
    data = np.concatenate([*string.runs()]).astype("<u4").tobytes()
    box, where = machine.sandbox, f"on {string.name[:60]} with {frames} frames"
    status, out, err = box.run(vmsim.command_line(program, frames), machine.tree, data, (), LIMIT_S)
    said = err.decode("utf-8", "replace").strip()
    if status in (-signal.SIGXCPU, -signal.SIGKILL):
        last = said.splitlines()[-1:] or [f"it takes more than {LIMIT_S} s of processor time"]
        raise Refused(SIMULATOR, "time", f"{where}: {last[0]}")
    try:
        return vmsim.result(last_line(out), status, said).faults
    except vmsim.BrokenRule as error:
        raise refusal(error, where) from None
    except (LabError, TypeError) as error:
        raise Refused(SIMULATOR, "memory", f"{where}: {str(error).splitlines()[0]}") from None


def try_out(machine: Machine) -> None:
    """Short strings first, with pages of files, since most mistakes show at once. Raises Refused."""
    for text, frames in FIRST:
        faults(machine, refstrings.find(text), frames)


def measure(machine: Machine, cell: Simulated, replicate: int) -> float:
    """Faults over those of MIN. Raises Refused."""
    found, best = faults(machine, cell.string(replicate), cell.frames), least(cell, replicate)
    if found < best:
        said = f"{found} faults on {cell.name} with {cell.frames} frames, and MIN has {best}"
        raise Refused(SIMULATOR, "min", f"{said}: the policy has changed the simulator's own data")
    return found / best
