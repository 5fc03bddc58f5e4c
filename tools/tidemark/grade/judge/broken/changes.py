"""Small changes to a line of C, like those made by mistake, by regular expressions.

Lines keep their numbers. Strings, comments and assertions are not changed: a weaker assertion changes nothing in a
correct kernel.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# what is found, and its replacement
OPERATORS = [
    (r"(?<=\s)<(?=\s)", "<="),
    (r"<=(?=\s)", "<"),
    (r"(?<=\s)>(?=\s)", ">="),
    (r">=(?=\s)", ">"),
    (r"==", "!="),
    (r"!=", "=="),
    (r"&&", "||"),
    (r"\|\|", "&&"),
    (r"(?<=\s)\+(?=\s)", "-"),
    (r"(?<=\s)-(?=\s)", "+"),
    (r"(?<=\s)\*(?=\s)", "/"),
    (r"(?<=\s)/(?=\s)", "*"),
    (r"(?<=\s)%(?=\s)", "/"),
    (r"\+=", "-="),
    (r"-=", "+="),
    (r"\|=", "="),
    (r"&=(?=\s)", "|="),
    (r"\+\+", "--"),
    (r"--", "++"),
    (r"(?<=\s)&(?=\s)", "|"),
    (r"(?<=\s)\|(?=\s)", "&"),
    (r"<<", ">>"),
    (r">>", "<<"),
    (r"\btrue\b", "false"),
    (r"\bfalse\b", "true"),
    (r"!(?=[\w(])", ""),
]
QUIET = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|/\*.*?(?:\*/|$)|//.*')
NUMBER = re.compile(r"(?<![\w.])\d+(?=(?:u|ull|ll)?\b)(?!\w*x)")
CONDITION = re.compile(r"\b(?:if|while) \(")
STATEMENT = re.compile(
    r"^\t+(?!return\b|case\b|default\b|goto\b|else\b|struct\b|static\b|const\b)[\w*(+-].*;\s*(?:/\*.*\*/)?$"
)
ALONE = re.compile(r"^\s*(?:\*|/\*|#|ASSERT|STATIC_ASSERT|MODULE|PARAM|extern\b|static const\b|return;)")


def _negated(line: str, start: int) -> str | None:
    """The line with the condition that begins at `start` negated, if the condition ends in this line."""
    depth = 1
    for at in range(start, len(line)):
        depth += (line[at] == "(") - (line[at] == ")")
        if not depth:
            return f"{line[:start]}!({line[start:at]}){line[at:]}"
    return None


def of(line: str) -> Iterator[tuple[str, str]]:
    """(what was changed, the new line) for every change of a line."""
    if ALONE.match(line):
        return
    masked = QUIET.sub(lambda match: " " * len(match[0]), line)
    for pattern, instead in OPERATORS:
        for match in re.finditer(pattern, masked):
            yield f"{match[0]} to {instead or 'nothing'}", line[: match.start()] + instead + line[match.end() :]
    for match in NUMBER.finditer(masked):
        for value in {int(match[0]) + 1, abs(int(match[0]) - 1)}:
            yield f"{match[0]} to {value}", line[: match.start()] + str(value) + line[match.end() :]
    for match in CONDITION.finditer(masked):
        if changed := _negated(line, match.end()):
            yield "condition negated", changed
    if STATEMENT.match(masked) and masked.count("(") == masked.count(")"):
        yield "statement removed", re.match(r"\t+", line)[0] + ";"  # type: ignore[index]
