"""An evaluation as text for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tidemark.evaluate import score
from tidemark.evaluate.evaluation import HALVES, REFUSED

NOTHING = "-"
TITLES = {
    score.STRINGS: "strings: faults over MIN",
    score.MACHINE: "machine: time over the least",
    score.HOOKS: "hooks: instructions over those without",
}
CELLS = {score.STRINGS: "faults_over_min", score.MACHINE: "time_over_least"}
ROW = "{:<42}{:>26}{:>26}"


def number(stated: Mapping[str, Any] | None) -> str:
    """A ratio with its interval: `3.67 (3.59 to 3.71)`."""
    if stated is None:
        return NOTHING
    ends = f" ({stated['low']:.3g} to {stated['high']:.3g})" if stated["low"] is not None else ""
    return f"{stated['ratio']:.3g}{ends}"


def rows(told: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The rows of the table: name, public, held out."""
    public, held_out = (told[half] for half in HALVES)
    yield "score", number(public["score"]), number(held_out["score"])
    for part, title in TITLES.items():
        yield title, number(public["parts"][part]), number(held_out["parts"][part])
        for one, other in zip(public.get(part, []), held_out.get(part, [])):
            yield f"    {one['cell']}", number(one[CELLS[part]]), number(other[CELLS[part]])


def of(told: Mapping[str, Any]) -> str:
    """The whole text."""
    if told["verdict"] == REFUSED:
        refusal = told["refusal"]
        return f"{told['policy']} is refused by the rule '{refusal['rule']}' ({refusal['stage']}):\n{refusal['said']}"
    lines = [ROW.format(told["policy"], "public", f"held out, seed {told['seed']}")]
    lines += [ROW.format(*row) for row in rows(told)]
    cost = told["cost"]
    return "\n".join(
        [
            *(line.rstrip() for line in lines),
            "",
            f"Hooks, `{cost['run']}`: {cost['hook_instructions_per_fault']:.0f} instructions per fault, "
            f"{cost['hooks_percent']:.1f} % of all.",
            "1 is the best possible, and a lower score is better. In brackets: 95 % for the median over replicates.",
            f"`tidemark evaluate {told['policy']}.c --seed {told['seed']}` repeats these numbers "
            f"({told['host_s']:.0f} s here).",
        ]
    )
