"""The sheets of rules per student: for each name of a roster, and each lab with variants, the student's rule in words.

A sheet has neither the secret nor a line of a solution. The same secret, lab and name make the same sheet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tidemark.errors import LabError
from tidemark.files import check_folder, write_atomically
from tidemark.grade.build import starters
from tidemark.grade.intake import rules
from tidemark.grade.intake.lab import FOLDER
from tidemark.grade.model import Lab, Rule

SHEET = "rule.md"
TEXT = """# The rule of {student}

Lab {number}, {title}. In your course each student has a rule of their own. It changes what `{file}` is to do. What
`{folder}/handout.md` says holds, except for this:

{rule}

The grade compares with this rule. In your tree `make grade` knows only the plain rule, and calls a right file wrong.
So work out by hand what your rule does on a short string, and compare:
{example}
"""

STRING = 'FRAMES=4 EXPLAIN=1 TRACE="1 2 3 4 1 3 5 6"'


def place(lab: Lab) -> str:
    """Where the sheet lies, relative to a student's tree."""
    return f"{FOLDER}/{lab.name}/{SHEET}"


def text(lab: Lab, rule: Rule, student: str) -> str:
    """A sheet."""
    return TEXT.format(
        student=student,
        number=lab.number,
        title=lab.title,
        file=rule.file,
        folder=f"{FOLDER}/{lab.name}",
        rule=rule.text,
        example=f"`make sim VM={rule.policy} {STRING}`.",
    )


def check(lab: Lab, rule: Rule) -> None:
    """Raises LabError if a variant's solution cannot be generated, so that no sheet promises what cannot be graded."""
    solution = starters.solution(lab.folder, rule.file)
    if solution is not None:
        rules.source(rule, solution.decode())


def write(
    labs: Sequence[Lab], names: Mapping[str, str], secret: bytes, out: Path, say: Callable[[str], None]
) -> tuple[int, int]:
    """Write OUT/LAB/NAME.md for each lab with variants and each of `names` (by plain form). A student whose variant
    cannot be generated gets a sentence, and no sheet. Returns the numbers of sheets and of sheets that are missing."""
    check_folder(out)
    made = failed = 0
    for lab in labs:
        for plain, name in names.items() if (lab.folder / rules.FILE).is_file() else ():
            try:
                rule = rules.drawn(lab, secret, name)
                check(lab, rule)
            except LabError as error:
                say(f"{name}, lab {lab.name}: no sheet: {error}")
                failed += 1
                continue
            (out / lab.name).mkdir(parents=True, exist_ok=True)
            write_atomically(out / lab.name / f"{plain}.md", text(lab, rule, name))
            made += 1
    return made, failed
