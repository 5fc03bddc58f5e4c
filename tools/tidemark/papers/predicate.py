"""The language of claims: comparisons of numbers of runs, such as `time(mc75) > time(none)`.

    claim       comparison {and comparison}
    comparison  value {(< | > | ==) value}    a < b < c is a < b and b < c
    value       numbers, + - * /, parentheses, and NUMBER(SIDE) or NUMBER(SIDE, NAME=VALUE, ...)

NUMBER and SIDE are names that the paper's file declares: what is measured, and which cells of the plan. NAME=VALUE
chooses further among the cells, by a variable of the plan. `==` means comparable: within 10 %.

A text is parsed by Python's parser into a tree, and only the nodes above are accepted. Nothing is ever executed, so a
file from elsewhere can say something wrong, but cannot do anything.

A theorem is exact instead: it agrees if each comparison holds in each run, and == is equality.

A value is a number for each replicate. Replicate r of one side is compared with replicate r of the other, as all
claims in this tree are (tidemark.runs.claims), and what holds for the median is decided by the same ranks: those of
the sign test, for all comparisons of the claim together.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from tidemark.errors import LabError
from tidemark.runs import claims

Values = dict[tuple[str, ...], float]  # by replicate
Look = Callable[[str, str, Mapping[str, str]], Values]  # the number and side of a call, and its further choice

AGREES, DIFFERS, OPEN = "agrees", "differs", "cannot be told"
ARITHMETIC: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
SIGNS = {ast.Lt: "<", ast.Gt: ">", ast.Eq: "=="}
ALLOWED = "numbers, + - * /, and calls such as time(none) or time(none, mem='16M')"


@dataclass(frozen=True)
class Comparison:
    """`left` SIGN `right`, as trees and as the text of the whole."""

    left: ast.expr
    sign: str
    right: ast.expr

    @property
    def text(self) -> str:
        return f"{ast.unparse(self.left)} {self.sign} {ast.unparse(self.right)}"


@dataclass(frozen=True)
class Outcome:
    """What the runs say about one comparison. `claim` is right over left, None if a value is not positive or not
    defined for any replicate, and of an exact comparison."""

    comparison: Comparison
    verdict: str
    claim: claims.Claim | None
    pairs: int
    exact: bool = False

    @property
    def told(self) -> str:
        """The ratio with its interval, in words."""
        runs = "1 run" if self.pairs == 1 else f"{self.pairs} runs"
        return self.claim.told if self.claim else f"exact, in {runs}" if self.exact else f"no ratio, {runs}"


def tree(text: str) -> ast.expr:
    """The tree of a text. Raises LabError if it is not an expression."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise LabError(f"{text!r} is not a claim: {getattr(error, 'msg', None) or error}") from None


def comparisons(text: str) -> list[Comparison]:
    """The comparisons of a claim, checked. Raises LabError if it is outside the language."""
    node = tree(text)
    parts = node.values if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And) else [node]
    found = []
    for part in parts:
        if not isinstance(part, ast.Compare):
            raise LabError(f"{text!r}: {ast.unparse(part)} is not a comparison with <, > or ==")
        sides = [part.left, *part.comparators]
        for left, sign, right in zip(sides, part.ops, sides[1:]):
            if type(sign) not in SIGNS:
                raise LabError(f"{text!r}: only <, > and == compare")
            found.append(Comparison(left, SIGNS[type(sign)], right))
    for side in (side for one in found for side in (one.left, one.right)):
        check(side)
    return found


def check(node: ast.expr) -> None:
    """Raises LabError unless the tree is a value of the language."""
    if isinstance(node, ast.Call):
        called(node)
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        check(node.left)
        check(node.right)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        check(node.operand)
    elif not (isinstance(node, ast.Constant) and type(node.value) in (int, float)):
        raise LabError(f"{ast.unparse(node)!r} is not allowed in a claim, only {ALLOWED}")


def called(node: ast.Call) -> tuple[str, str, dict[str, str]]:
    """Number, side and further choice of a call. Raises LabError if it has another form."""
    side = node.args[0] if len(node.args) == 1 else None
    values = [word.value for word in node.keywords]
    if not isinstance(node.func, ast.Name) or not isinstance(side, ast.Name):
        raise LabError(f"{ast.unparse(node)!r}: a call is NUMBER(SIDE) or NUMBER(SIDE, NAME='VALUE')")
    chosen: dict[str, str] = {}
    for word, value in zip(node.keywords, values):
        if word.arg is None or not isinstance(value, ast.Constant) or type(value.value) not in (int, str):
            raise LabError(f"{ast.unparse(node)!r}: a choice is NAME='VALUE' or NAME=NUMBER")
        chosen[word.arg] = str(value.value)
    return node.func.id, side.id, chosen


def calls(node: ast.expr) -> Iterator[tuple[str, str, dict[str, str]]]:
    """The calls of a value."""
    return (called(one) for one in ast.walk(node) if isinstance(one, ast.Call))


def value(node: ast.expr, look: Look) -> Values | float:
    """A checked value: a number for each replicate that all its calls have, or one number if it has no call. A
    replicate of which a divisor is 0 is left out."""
    if isinstance(node, ast.Call):
        return look(*called(node))
    if isinstance(node, ast.UnaryOp):
        return joined(operator.sub, 0.0, value(node.operand, look))
    if isinstance(node, ast.BinOp):
        return joined(ARITHMETIC[type(node.op)], value(node.left, look), value(node.right, look))
    assert isinstance(node, ast.Constant)
    return float(node.value)  # type: ignore[arg-type]  # checked


def joined(function: Callable[[float, float], float], a: Values | float, b: Values | float) -> Values | float:
    """The function of both, replicate by replicate."""
    if isinstance(a, float) and isinstance(b, float):
        if function is operator.truediv and not b:
            raise LabError("a claim divides by 0")
        return function(a, b)
    some = a if isinstance(a, dict) else b
    assert isinstance(some, dict)
    found: Values = {}
    for key in some:
        one, other = (x if isinstance(x, float) else x.get(key) for x in (a, b))
        if one is not None and other is not None and (function is not operator.truediv or other):
            found[key] = function(one, other)
    return found


def compared(one: Comparison, look: Look, number: int, exact: bool) -> Outcome:
    """The outcome of a comparison that is one of `number`, or exact."""
    left, right = value(one.left, look), value(one.right, look)
    if isinstance(left, float) and isinstance(right, float):
        raise LabError(f"{one.text!r} compares constants: it says nothing about a run")
    # Constants become values of the same replicates.
    a = left if isinstance(left, dict) else dict.fromkeys(right, left)  # type: ignore[arg-type]
    b = right if isinstance(right, dict) else dict.fromkeys(left, right)  # type: ignore[arg-type]
    differences = np.array([b[key] - a[key] for key in a if key in b])
    if exact:
        return Outcome(one, held(one.sign, differences), None, len(differences), exact)
    claim = claims.of(a, b, number)
    return Outcome(one, told(one.sign, differences, claim, number), claim, len(differences))


def held(sign: str, differences: np.ndarray) -> str:
    """The verdict on an exact comparison, from right minus left of each pair."""
    if not len(differences):
        return OPEN
    every = {"<": differences > 0, ">": differences < 0, "==": differences == 0}[sign].all()
    return AGREES if every else DIFFERS


def told(sign: str, differences: np.ndarray, claim: claims.Claim | None, number: int) -> str:
    """The verdict, from right minus left of each pair and, for ==, from the claim about their ratio."""
    at = claims.rank(len(differences), number) if len(differences) else 0
    if not at:
        return OPEN
    ascending = np.sort(differences)
    low, high = ascending[at - 1], ascending[-at]
    if sign == "==":
        if claim is None:
            return OPEN
        return AGREES if claim.level else DIFFERS if claim.told_apart else OPEN
    if sign == ">":
        low, high = -high, -low
    return AGREES if low > 0 else DIFFERS if high < 0 else OPEN


def judged(text: str, look: Look, exact: bool = False) -> tuple[str, list[Outcome]]:
    """The verdict on a claim: it agrees if each comparison does, and differs if one does."""
    every = comparisons(text)
    outcomes = [compared(one, look, len(every), exact) for one in every]
    verdicts = {one.verdict for one in outcomes}
    return (DIFFERS if DIFFERS in verdicts else OPEN if OPEN in verdicts else AGREES), outcomes
