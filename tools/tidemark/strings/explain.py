"""The simulator's decisions, as a table that can be checked by hand.

A row for each reference: its result, the evicted page and why, and the contents of the frames and the policy's lists
afterwards; an asterisk marks a page whose accessed bit is set.

A list is identified by the address of its head. Its name is that of the variable at this address. If one variable holds
several lists (an array), it is the name under which the policy's show hook gives a count that has always been this
list's length; both names if there are two.
"""

from __future__ import annotations

import bisect
import itertools
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

TITLES = ("ref", "page", "result", "victim", "why", "frames", "lists")
CALM = 12  # the first priority that reclaim uses
RIGHT = (0, 1, 3)
SEPARATOR = "  "


def page_name(page: int) -> str:
    """The process's page 3 is 3; page 3 of the file, which the simulator calls -4, f3."""
    return str(page) if page >= 0 else f"f{-1 - page}"


def symbols(program: Path) -> list[tuple[int, str]]:
    """(address, name) of the program's variables, in order; empty if there is no `nm`."""
    try:
        text = subprocess.run(["nm", "-n", program], capture_output=True, text=True).stdout
    except FileNotFoundError:
        return []
    words = (line.split() for line in text.splitlines())
    return [(int(word[0], 16), word[2]) for word in words if len(word) == 3 and word[1] in "bBdD"]


def symbol_name(address: int, table: Sequence[tuple[int, str]]) -> str:
    """`queue`, or `zone+24` inside a variable; the address itself if no symbol is known."""
    at = bisect.bisect_right(table, (address, "\x7f")) - 1
    if at < 0:
        return hex(address)
    start, name = table[at]
    name = "mm" if name == "sim_mm" else name
    return name if address == start else f"{name}+{address - start}"


def shown_counts(show: str) -> dict[str, int]:
    """The counts in the lines "name: number" of a policy's show hook."""
    pairs = (line.partition(":") for line in show.splitlines())
    return {name: int(value) for name, _, value in pairs if value.strip().isdigit()}


def shown_names(rows: Sequence[dict[str, Any]], head: str) -> list[str]:
    """The names under which the show hook gave this list's length in every row."""
    names = None
    for row in rows:
        length = len(row["lists"].get(head, ()))
        fitting = {name for name, count in shown_counts(row["show"]).items() if count == length}
        names = fitting if names is None else names & fitting
    return sorted(names or ())


def list_names(rows: Sequence[dict[str, Any]], table: Sequence[tuple[int, str]]) -> dict[str, str]:
    """Head to name, for every list in the rows."""
    names = {}
    for head in dict.fromkeys(head for row in rows for head in row["lists"]):
        name = symbol_name(int(head, 16), table)
        candidates = shown_names(rows, head)
        names[head] = " or ".join(candidates) if "+" in name and len(candidates) in (1, 2) else name
    return names


def named(rows: Sequence[dict[str, Any]], program: Path) -> list[dict[str, Any]]:
    """The rows with names for their lists."""
    names = list_names(rows, symbols(program))
    return [row | {"lists": {names[head]: pages for head, pages in row["lists"].items()}} for row in rows]


def question(hook: dict[str, Any]) -> str:
    """The question to the policy, in words."""
    if hook.get("trim"):
        return "trim"
    return str(hook["hook"]) + (f" at priority {hook['priority']}" if hook.get("priority", CALM) < CALM else "")


def answer(hook: dict[str, Any]) -> str:
    """The pages that the policy looked at, and its answer, in words."""
    parts = [f"{page_name(page)} {'used' if used else 'unused'}" for page, used in hook.get("looked", ())]
    if "gave" in hook:
        act = {"detach": " (detach)", "launder": " (launder)"}.get(hook.get("act", ""), "")
        parts.append("nothing" if hook["gave"] is None else f"takes {page_name(hook['gave'])}{act}")
    return ", ".join(parts)


def reasons(hooks: Iterable[dict[str, Any]]) -> str:
    """All questions and answers; a repeated question is shown once."""
    texts = []
    for asked, group in itertools.groupby(hooks, question):
        answers = ", ".join(filter(None, map(answer, group)))
        texts.append(f"{asked}: {answers}" if answers else asked)
    return "; ".join(texts)


def victims(row: dict[str, Any]) -> str:
    """The evicted pages."""
    return " ".join(page_name(hook["gave"]) for hook in row["hooks"] if hook.get("act") == "evict")


def marked(pages: Iterable[int | None], used: set[int]) -> str:
    """Pages in order, those with an accessed bit marked; - for an empty frame."""
    return " ".join("-" if page is None else page_name(page) + "*" * (page in used) for page in pages)


def cells(row: dict[str, Any]) -> list[str]:
    """The cells of one line of the table."""
    used = set(row["used"])
    lists = "; ".join(f"{name}: {marked(pages, used)}" for name, pages in row["lists"].items())
    number = str(row["ref"]) if row["count"] == 1 else f"{row['ref']}-{row['ref'] + row['count'] - 1}"
    return [
        number,
        page_name(row["page"]),
        row["result"],
        victims(row),
        reasons(row["hooks"]),
        marked(row["frames"], used),
        lists,
    ]


def table(rows: Sequence[dict[str, Any]]) -> str:
    """The whole table."""
    lines = [list(TITLES), *map(cells, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(TITLES))]
    return "\n".join(
        SEPARATOR.join(
            cell.rjust(width) if column in RIGHT else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths))
        ).rstrip()
        for line in lines
    )
