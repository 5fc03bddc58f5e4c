"""Finds faulty English in comments, docstrings, messages, help texts, and documents.

`pieces` gives the prose of a file: adjacent comments, a docstring, joined string literals, or a paragraph of Markdown.
Quotations, code in prose (`...`) and code blocks, which show program output, are left out. prose.toml has the patterns
that count as faults, and the exceptions. `python tools/structure/prose.py [FOLDER...]` prints the faults in the
folders. `prose.py --subject FILE` checks the message of a commit, for the hook in tools/hooks.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tokenize
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).with_name("prose.toml")
LONGEST_SUBJECT = 72
SUBJECT = re.compile(r"[^\s:,]+(, [^\s:,]+)*: \S")
C_TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<string>"(?:\\.|[^"\\\n])*")|'(?:\\.|[^'\\\n])*'""", re.DOTALL
)
QUOTES = re.compile(r"^\w*(\"\"\"|'''|\"|')|(\"\"\"|'''|\"|')$")
QUOTED = re.compile(r"""`[^`]*`|"[^"]*"|“[^”]*”""")


@dataclass(frozen=True)
class Piece:
    """Continuous prose. It begins at `line` (from 1) of a file and has the file's line ends."""

    line: int
    text: str


@dataclass(frozen=True)
class Fault:
    """A pattern found at a line of a file (relative to ROOT), with the words around it."""

    file: str
    line: int
    pattern: str
    words: str

    def __str__(self) -> str:
        """The format of a compiler's messages."""
        return f'{self.file}:{self.line}: {self.pattern}: "{self.words}"'


@cache
def table() -> dict:
    """prose.toml."""
    return tomllib.loads(TABLE.read_text())


# --- the prose of a file ---------------------------------------------------------------------------------------------


def joined(found: Iterable[tuple[int, int, str]], text: str) -> Iterator[Piece]:
    """Joins pieces (start, end, prose), given as offsets in the text, if there is only white space between them."""
    start, end, words = -1, -1, ""
    for at, until, prose in found:
        if start >= 0 and not text[end:at].strip() and text.count("\n", end, at) < 2:
            words += text[end:at] + prose
        else:
            if start >= 0:
                yield Piece(text.count("\n", 0, start) + 1, words)
            start, words = at, prose
        end = until
    if start >= 0:
        yield Piece(text.count("\n", 0, start) + 1, words)


def of_c(text: str) -> Iterator[Piece]:
    """Prose of C and JavaScript."""
    found = list(C_TOKEN.finditer(text))
    for kind in ("comment", "string"):
        made = [(one.start(), one.end(), one[kind]) for one in found if one[kind]]
        yield from joined(((at, until, plain(kind, words)) for at, until, words in made), text)


def plain(kind: str, words: str) -> str:
    """A comment without its stars and slashes, or a string literal without its quotes; line ends are kept."""
    if kind == "string":
        return words[1:-1].replace("\\n", " ").replace('\\"', "'")
    return re.sub(r"^/\*|\*/$|^\s*\*|^//", " ", words, flags=re.MULTILINE)


def of_python(text: str) -> Iterator[Piece]:
    """Prose of Python: comments, docstrings and other string literals."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    comments, strings, formats = [], [], []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        at, until = starts[token.start[0] - 1] + token.start[1], starts[token.end[0] - 1] + token.end[1]
        if token.type == getattr(tokenize, "FSTRING_START", -1):  # from Python 3.12 on an f-string is several tokens
            formats.append(at)
        elif token.type == tokenize.COMMENT:
            comments.append((at, until, token.string.lstrip("#")))
        elif token.type == getattr(tokenize, "FSTRING_END", -1):
            at = formats.pop()
        if token.type in (tokenize.STRING, getattr(tokenize, "FSTRING_END", -1)) and not formats:
            strings.append((at, until, QUOTES.sub("", text[at:until])))
    yield from joined(comments, text)
    yield from joined(strings, text)


def of_script(text: str) -> Iterator[Piece]:
    """Prose of shell, make, TOML and linker scripts: comment lines."""
    yield from joined(
        ((one.start(), one.end(), one[1]) for one in re.finditer(r"^[ \t]*#(.*)$", text, re.MULTILINE)), text
    )


def of_markdown(text: str) -> Iterator[Piece]:
    """Prose of Markdown: paragraphs, without code. Program output stands in code blocks."""
    blank = lambda one: "\n" * one[0].count("\n")  # noqa: E731
    text = re.sub(r"^```.*?^```$|<!--.*?-->|^(?: {4}|\t).*$", blank, text, flags=re.MULTILINE | re.DOTALL)
    yield from joined(((one.start(), one.end(), one[0]) for one in re.finditer(r"[^\n]+", text)), text)


READERS = {
    ".c": of_c, ".h": of_c, ".S": of_c, ".js": of_c, ".mjs": of_c, ".py": of_python, ".md": of_markdown,
    ".sh": of_script, ".mk": of_script, ".toml": of_script,
}  # fmt: skip


def pieces(file: Path) -> Iterator[Piece]:
    """The prose of a file, by its suffix; none if the suffix is unknown."""
    read = of_script if file.name == "Makefile" else READERS.get(file.suffix)
    return read(file.read_text()) if read else iter(())


def files(*folders: str) -> list[Path]:
    """The files with prose below these folders of ROOT, except files that git ignores."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *folders]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    known = [ROOT / name for name in listed if Path(name).suffix in READERS or Path(name).name == "Makefile"]
    return [path for path in known if path.is_file()]


# --- faults ----------------------------------------------------------------------------------------------------------


def faults_of(name: str, piece: Piece) -> Iterator[Fault]:
    """The matches of the table's patterns in a piece of the file `name`."""
    text = QUOTED.sub(lambda one: re.sub(r"[^\n]", "_", one[0]), piece.text)
    words = list(re.finditer(r"\S+", text))
    flat = " ".join(word[0] for word in words)
    ends = list(accumulate(len(word[0]) + 1 for word in words))
    for pattern, expression in table()["patterns"].items():
        for one in re.finditer(expression, flat):
            around = flat[max(0, one.start() - 25) : one.end() + 25].strip()
            if not any(name.startswith(place) and kept in around for place, kept in table()["exceptions"]):
                at = words[bisect_right(ends, one.start())].start()
                yield Fault(name, piece.line + text.count("\n", 0, at), pattern, around)


def faults(paths: Iterable[Path]) -> list[Fault]:
    """All faults in these files."""
    return [
        fault
        for path in paths
        for piece in pieces(path)
        for fault in faults_of(str(path.relative_to(ROOT)), piece)
    ]  # fmt: skip


def fault_of_subject(subject: str) -> str:
    """Says in a sentence what is wrong with the subject of a commit; empty if nothing is."""
    if len(subject) > LONGEST_SUBJECT:
        most = f"at most {LONGEST_SUBJECT} are allowed"
        return f"the subject has {len(subject)} characters, {most}: move the rest to the body"
    if ";" in subject:
        return 'the subject contains ";": say one thing, or make two commits'
    if not SUBJECT.match(subject):
        return 'the subject must begin with its area, as in "kernel/mm: free the table after its last entry"'
    return ""


def main() -> int:
    """Returns 1 if there is a fault."""
    if sys.argv[1:2] == ["--subject"]:
        message = [line for line in Path(sys.argv[2]).read_text().splitlines() if not line.startswith("#")]
        subject = message[0] if message else ""
        wrong = "" if subject.startswith("Merge ") else fault_of_subject(subject)  # git's own subject
        print(wrong, end="\n" if wrong else "", file=sys.stderr)
        return bool(wrong)
    found = faults(files(*sys.argv[1:]))
    print(*found, sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
