"""The list in a handout of what the student's files may use, made from what the grader allows (may_use in lab.toml).

PYTHONPATH=tools build/venv/bin/python -m tidemark.grade.hand_out.may_use    # writes it into all handouts
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from tidemark.grade.build import object_rules
from tidemark.grade.intake import lab
from tidemark.grade.model import Lab
from tidemark.machine import qemu

BEGIN, END = "<!-- may-use -->", "<!-- end -->"
WIDTH = 140
INCLUDE = "kernel/include"
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def headers(tree: Path, assignment: Lab) -> Iterator[tuple[str, str]]:
    """(name as in an #include, text without comments) of the kernel's headers, and those beside the lab's files."""
    folders = sorted({str(Path(file).parent) for file in assignment.files if file.endswith(".c")})
    for folder in (INCLUDE, *folders):
        for path in sorted((tree / folder).rglob("*.h") if folder == INCLUDE else (tree / folder).glob("*.h")):
            yield str(path.relative_to(tree / folder)), COMMENT.sub("", path.read_text())


def declares(text: str, name: str) -> bool:
    """Does a header declare a function or a variable of this name?"""
    return bool(re.search(rf"^(?!static|typedef|#)[a-z][\w *]*?\b{name}(\(|\[|;|,)", text, re.MULTILINE))


def by_header(tree: Path, assignment: Lab) -> dict[str, list[str]]:
    """What the lab's files may use, by the header that declares it; "" has what no header declares."""
    texts, found = list(headers(tree, assignment)), dict[str, list[str]]()
    for name in sorted(object_rules.symbols_allowed(assignment)):
        home = next((header for header, text in texts if declares(text, name)), "")
        found.setdefault(home, []).append(name)
    return dict(sorted(found.items()))


def text(tree: Path, assignment: Lab) -> str:
    """The list, in lines, between its marks."""
    lines = [BEGIN, ""]
    for header, names in by_header(tree, assignment).items():
        if header:
            said = f"- `{header}`: {', '.join(f'`{name}`' for name in names)}"
            lines += textwrap.wrap(said, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join([*lines, "", END])


def replaced(page: str, made: str) -> str:
    """A handout with its list replaced; unchanged if it has none."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    return f"{before}{made}{after}" if begin and end else page


def main() -> None:
    """Write the lists into the handouts of this tree."""
    for name in lab.names(qemu.ROOT):
        assignment = lab.load(qemu.ROOT, name)
        page = assignment.folder / "handout.md"
        page.write_text(replaced(page.read_text(), text(qemu.ROOT, assignment)))


if __name__ == "__main__":
    main()
