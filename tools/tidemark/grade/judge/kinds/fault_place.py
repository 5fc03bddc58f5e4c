"""Kind `fault_place`: the student's answer on the place of a fault, compared with the place where it was put.

The answers are in the lab's .toml file, a table for each machine: file, function, line. The correct places are in the
lab's list of machines (tidemark.grade.build.machines), which students do not have. In a student's tree the test only
checks that there is an answer, and gives no points.

Options:
    machine     its name
    what        "function": file and function, or "line": file, function and line
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tidemark.grade.build import machines
from tidemark.grade.judge import answer_file
from tidemark.grade.model import Test, Verdict, right, wrong
from tidemark.grade.witness.machine import Machine

NEEDED = {"file": str, "function": str, "line": int}


def answered(path: Path, name: str) -> tuple[dict[str, Any], str]:
    """(the answer about a machine, ""), or ({}, what is wrong with it)."""
    try:
        given = answer_file.read(path).get(name)
    except (OSError, ValueError) as error:
        return {}, f"{path.name} cannot be read: {' '.join(str(error).split())}"
    if not isinstance(given, dict) or any(type(given.get(key)) is not kind for key, kind in NEEDED.items()):
        return {}, f"{path.name}: [{name}] must have file, function (texts) and line (a number)"
    if not given["file"] or not given["function"]:
        return {}, f"{path.name}: [{name}]: not answered yet"
    return given, ""


def judge(test: Test, machine: Machine) -> Verdict:
    """Compare; messages do not tell the key."""
    (file,) = machine.lab.files
    name = str(test.options["machine"])
    given, wrong_with_it = answered(machine.tree / file, name)
    if wrong_with_it:
        return wrong(wrong_with_it)
    key = next((each for each in machines.listed(machine.release, machine.lab.name) if each.name == name), None)
    if not key:
        return wrong("answered; your instructor has the key")
    place = (given["file"].removeprefix("./"), given["function"].removesuffix("()"))
    if place != (key.file, key.function):
        return wrong(f"{given['function'][:60]} in {given['file'][:80]} is not where the fault is")
    if test.options["what"] == "line" and given["line"] not in key.lines((machine.release / key.file).read_text()):
        return wrong(f"line {given['line']} is not where the fault is; the function is right")
    return right()
