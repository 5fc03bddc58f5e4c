"""Starters, cut from solutions."""

from __future__ import annotations

import pytest
from tidemark.grade.build import cut, starters
from tidemark.grade.intake import lab
from tidemark.machine import qemu

SOLUTION = """/*
 * Evicts the right page.
 */
#include "mm/policy.h"

/* lab: helper */
static int helper(void)
{
}
/* lab: end */

static int shared(void)
{
	/* lab: body */
	return helper();
	/* lab: end */
}
"""
PIECES = """/* To build: the right page. */

/* lab: body */
	return 0;
"""
STARTER = """/* To build: the right page. */
#include "mm/policy.h"

static int shared(void)
{
	return 0;
}
"""


def test_first_comment_and_marked_parts_are_replaced() -> None:
    assert cut.from_parts(SOLUTION, PIECES) == STARTER
    assert cut.marked(SOLUTION) == ["static int helper(void)\n{\n}\n", "\treturn helper();\n"]
    assert cut.is_marked(SOLUTION) and not cut.is_marked(STARTER)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("/* lab: body */", "/* lab: bodies */", "marks no part body"),
        ("/* lab: end */\n\n", "", "needs a `lab: end`"),
        ("/* lab: helper */\n", "", "needs a `lab: end`"),
        ("\t/* lab: end */\n", "", "needs a `lab: end`"),
        ("/* lab: body */", "/* lab: helper */", "two parts with one name"),
    ],
)
def test_marks_that_do_not_fit_are_refused(old: str, new: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        cut.from_parts(SOLUTION.replace(old, new), PIECES)


def test_answers_become_empty() -> None:
    text = '# 1. Where?\n[one]\nfile = "kernel/a.c"\nline = 32\npart = 0.5\n'
    assert cut.from_answers(text) == '# 1. Where?\n[one]\nfile = ""\nline = 0\npart = 0\n'


def test_every_file_of_every_lab_has_a_starter_that_does_not_show_the_solution() -> None:
    for each in (lab.load(qemu.ROOT, name) for name in lab.names(qemu.ROOT)):
        for file in each.files:
            text, start = starters.solution(each.folder, file), starters.of(each.folder, file)
            assert text and start and start != text, file
            assert not any(part in start.decode() for part in cut.marked(text.decode())), file


def test_pieces_and_their_marks_are_used() -> None:
    """No file of pieces is left behind when its solution moves."""
    for path in qemu.ROOT.glob(f"labs/*/*{starters.PIECES}"):
        names = [f"{file.rpartition('/')[2]}{starters.PIECES}" for file in lab.load(qemu.ROOT, path.parent.name).files]
        assert path.name in names
