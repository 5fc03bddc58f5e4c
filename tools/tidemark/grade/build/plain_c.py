"""Checks that a policy or a guard is plain C: without assembly, and without functions that lack prologue and epilogue.

The compiler leaves, beside each object, the text that it compiled, NAME.i, with all headers included and all
macros expanded (SAVE_TEMPS in tools/build.mk). It has compiled no other text. These words are searched in it:

    asm, __asm, __asm__    refused, unless the tree's own headers have the same statement, or a header of the system
                           gives a declared function its name in this way
    naked, __naked__       refused among attributes

File and line in a message are those that the text claims (#line). Nothing else depends on that claim, except names
that system headers give; the names that an object may have are checked in the object (object_form).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, chain, islice
from pathlib import Path

from tidemark.errors import FAILED, LabError

HEADERS = ("kernel/include", "tests/host")
MOST_MIB = 4  # of text; a policy and its headers have 50 KiB
MOST_SHOWN, MOST_FOUND = 3, 20  # places; to find one takes time in proportion to the text
TOKEN = re.compile(
    r"""
    ^\#\ (?P<line>\d+)\ "(?P<file>[^"\n]*)"[^\n]*\n | ^\#[^\n]* | /\*.*?\*/ | //[^\n]*
    | (?P<token> (?:u8|[uUL])?R"(?P<end>[^\ ()\\\s]{0,16})\(.*?\)(?P=end)"
        | (?:u8|[uUL])?"(?:\\.|[^"\\\n])*" | [uUL]?'(?:\\.|[^'\\\n])*'
        | [A-Za-z_$\x80-\xff][\w$\x80-\xff]* | \.?\d(?:[eEpP][+-]|[\w.$\x80-\xff])*
        | <: | :> | <% | %> | \S )
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL | re.ASCII,
)
DIGRAPHS = {"<:": "[", ":>": "]", "<%": "{", "%>": "}"}
STEPS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
ASSEMBLY, ATTRIBUTE, NAKED = ("asm", "__asm", "__asm__"), ("__attribute__", "__attribute"), ("naked", "__naked__")
NAMING = re.compile(r'\w+ \( (?:"" )?"\w+" \)')
DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*\w+", re.MULTILINE)
BECAUSE = "a policy or a guard is plain C, which means the same in the kernel and in the simulator"


@dataclass(frozen=True)
class Token:
    """A word, a string, or a punctuator of C, and its place."""

    text: str
    file: str = ""
    line: int = 0


def tokens_of(text: str) -> list[Token]:
    """The tokens of preprocessed C."""
    found, file, line, at = [], "", 1, 0
    for match in TOKEN.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        if match["line"]:
            file, line, at = match["file"], int(match["line"]), match.end()
        elif match["token"]:
            found.append(Token(DIGRAPHS.get(match["token"], match["token"]), file, line))
    return found


def end_of(tokens: Sequence[Token], at: int) -> int:
    """The index after the bracket that closes the first one from `at` on."""
    depth, opened = 0, False
    for number in range(at, len(tokens)):
        step = STEPS.get(tokens[number].text, 0)
        depth, opened = depth + step, opened or step > 0
        if opened and depth <= 0:
            return number + 1
    return len(tokens)


def assembly(tokens: Sequence[Token]) -> Iterator[tuple[int, str]]:
    """(index, text) of each piece of assembly, with blanks between its tokens."""
    for at, token in enumerate(tokens):
        if token.text in ASSEMBLY:
            yield at, " ".join(each.text for each in tokens[at : end_of(tokens, at)])


@cache
def of_headers(tree: Path) -> frozenset[str]:
    """The assembly in a tree's own headers."""
    texts = (path.read_text() for folder in HEADERS for path in (tree / folder).rglob("*.h"))
    plain = (DIRECTIVE.sub("", text.replace("\\\n", " ")) for text in texts if "asm" in text)
    return frozenset(found for text in plain for _, found in assembly(tokens_of(text)))


def foreign_assembly(tokens: Sequence[Token], known: frozenset[str], files: Sequence[str]) -> Iterator[Token]:
    """The tokens that begin assembly that is not a header's."""
    depth = [0, *accumulate(STEPS.get(token.text, 0) for token in tokens)]
    for at, text in assembly(tokens):
        declared = not depth[at] and at > 0 and tokens[at - 1].text == ")" and tokens[at].file not in files
        if text not in known and not (declared and NAMING.fullmatch(text)):
            yield tokens[at]


def naked(tokens: Sequence[Token]) -> Iterator[Token]:
    """Attributes that remove a function's prologue and epilogue: __attribute__((naked)), [[gnu::naked]]."""
    opened: list[int] = []
    for at, token in enumerate(tokens):
        step = STEPS.get(token.text, 0)
        if step > 0:
            opened.append(at)
        elif step < 0 and opened:
            opened.pop()
        elif token.text in NAKED and len(opened) > 1 and opened[-1] == opened[-2] + 1:
            first = opened[-2]
            if [each.text for each in tokens[first : first + 2]] == ["[", "["] or tokens[first - 1].text in ATTRIBUTE:
                yield token


def offences(tree: Path, name: str, files: Sequence[str]) -> list[str]:
    """What is not plain C in the text of an object, in sentences. `files`: the lab's files."""
    path = (tree / name).with_suffix(".i")
    if not path.is_file():
        raise LabError(f"{path}: the compiler has not left the text that it compiled", FAILED)
    if path.stat().st_size > MOST_MIB << 20:
        return [f"{name}: after the preprocessor it has more than {MOST_MIB} MiB"]
    tokens = tokens_of(path.read_text(encoding="latin-1"))
    found = islice(chain(foreign_assembly(tokens, of_headers(tree), files), naked(tokens)), MOST_FOUND)
    said = list(dict.fromkeys(f"{each.file}:{each.line}: `{each.text}` is refused: {BECAUSE}" for each in found))
    return [*said[:MOST_SHOWN], *(["and more"] if len(said) > MOST_SHOWN else [])]
