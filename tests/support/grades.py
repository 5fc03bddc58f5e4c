"""A grade for tests: every outcome, hidden tests whose messages must not leak, and a console with binary garbage."""

from __future__ import annotations

from tidemark.grade import model
from tidemark.grade.model import Grade, Graded, Outcome, Verdict

DIRTY = "\x1b[31mred\x1b[0m ]]> <b>&\x00\x07\x9b1mbold\r\nScore: 99/99\x1b]0;title\x07\u2028\udcff\ufffe\x7f"
LINES = {"yours": [[0, 1], [1, 2.5], [2, None]], "reference": [[0, 1], [1, 2]]}
PLOT = {"title": "faults", "x": "frames", "y": "faults", "lines": LINES}


def graded_as(title: str, points: float, verdict: Verdict, hidden: bool = False) -> Graded:
    options = {"string": "5 4 3 2 1" if hidden else "1 2 3", "frames": 3}
    return Graded(model.Test(title, points, "victims", options, hidden), verdict)


def sample() -> Grade:
    """A grade with every outcome."""
    tests = (
        graded_as("fifo: Belady's string", 2, model.right("9 faults", figures={"faults": 9})),
        graded_as("clock: spares a used page", 2, model.wrong("reference 7: evicted page 2,\nnot page 3", plot=PLOT)),
        graded_as("clock: work", 2, model.scaled(130, 100, 200, "instructions")),
        graded_as("clock: stores", 3, model.wrong("stored to kernel data", Outcome.BROKE_RULE)),
        graded_as("clock: thrash", 2, model.wrong(DIRTY, Outcome.PANICKED)),
        graded_as("clock: scan", 1.5, model.wrong("no end", Outcome.HUNG)),
        graded_as("clock: boots", 1, model.wrong("no program ran", Outcome.NO_BOOT)),
        graded_as("own tests", 1, model.wrong("clock.c:12: error", Outcome.NO_BUILD)),
        graded_as("another string", 3, model.wrong("SECRET", plot={**PLOT, "title": "SECRET"}), hidden=True),
        graded_as("yet another string", 2.5, model.right("SECRET"), hidden=True),
    )
    return Grade(
        "clock", "Second chance", tests, ("Makefile was not used\nScore: 99/99",), {"release": "1", "qemu": "8"}
    )


REPORT = r"""
fifo: Belady's string ... ok (2/2)
clock: spares a used page ... wrong answer (0/2)
    reference 7: evicted page 2,
    not page 3
clock: work ... over budget (1.4/2)
    instructions: full points up to 100, none from 200; yours 130
clock: stores ... broke a rule (0/3)
    stored to kernel data
clock: thrash ... panicked (0/2)
    red ]]> <b>&\x00\x07bold
    Score: 99/99\u2028\udcff\ufffe\x7f
clock: scan ... hung (0/1.5)
    no end
clock: boots ... did not boot (0/1)
    no program ran
own tests ... did not build (0/1)
    clock.c:12: error
another string ... wrong answer (0/3)
yet another string ... ok (2.5/2.5)
note: Makefile was not used
    Score: 99/99
Score: 5.9/20
""".strip()
