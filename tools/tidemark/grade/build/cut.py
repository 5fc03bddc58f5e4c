"""A starter, cut from its solution.

The solution marks the parts that students write, on lines of their own:

    /* lab: select */
    static struct page *fifo_select(struct vm_scan *scan)
    ...
    /* lab: end */

labs/NAME/FILE.starter has the text that a student gets instead. It begins with the starter's first comment, which
replaces that of the solution, and goes on with a piece for each part: the line that opens the part, and its text. A
part without a piece is left out, and so is the blank line after it. All other lines are the solution's.

In a file of answers (TOML) nothing is marked: the starter has the same lines with empty values.
"""

from __future__ import annotations

import re

MARK = re.compile(r"^\t*/\* lab: (\w+) \*/\n", re.ASCII | re.MULTILINE)
END = "end"
FIRST_COMMENT = re.compile(r"/\*.*?\*/\n", re.DOTALL)
ANSWER = re.compile(r'^(\w+ = )(?:(".*")|[\d.]+)$', re.MULTILINE)


def parts(text: str) -> list[tuple[str, str]]:
    """The text divided at its marks: (name of the mark, "" at first, and the text up to the next)."""
    pieces = MARK.split(text)
    return list(zip(["", *pieces[1::2]], pieces[::2], strict=True))


def is_marked(solution: str) -> bool:
    """Has the text parts that students write?"""
    return MARK.search(solution) is not None


def marked(solution: str) -> list[str]:
    """The parts that students write."""
    return [text for name, text in parts(solution) if name not in ("", END)]


def check(solution: str, starter: dict[str, str]) -> None:
    """Raises ValueError if the marks of the solution are not pairs of a new name and `end`, or a piece has no part."""
    names = [name for name, _ in parts(solution)][1:]
    if names[1::2] != [END] * (len(names) // 2) or len(names) % 2 or END in names[::2]:
        raise ValueError(f"every `lab: NAME` needs a `lab: {END}` before the next one")
    if len(set(names[::2])) < len(names[::2]):
        raise ValueError("it marks two parts with one name")
    unknown = set(starter) - set(names[::2]) - {""}
    if unknown:
        raise ValueError(f"the solution marks no part {', '.join(sorted(unknown))}")


def from_parts(solution: str, pieces: str) -> str:
    """The starter of a solution; `pieces`: what it has instead of the marked parts. Raises ValueError as `check`."""
    starter = {name: text.strip("\n") for name, text in parts(pieces)}
    check(solution, starter)
    made = ""
    for name, text in parts(solution):
        if name == "":
            made = FIRST_COMMENT.sub(lambda _: starter[""] + "\n", text, count=1)
        elif name != END:
            made += f"{starter[name]}\n" if name in starter else ""
            left_out = name not in starter
        else:
            made += text.removeprefix("\n") if left_out else text
    return made


def from_answers(answers: str) -> str:
    """The starter of a file of answers."""
    return ANSWER.sub(lambda found: found[1] + ('""' if found[2] else "0"), answers)
