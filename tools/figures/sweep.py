"""The duration of the sweep of tools/tidemark/plans/thrashing.toml: 2 policies × 10 sizes × 5 jitters.

Uses the command that a user would give, in a new folder.
"""

from __future__ import annotations

import csv
import json
import shutil
import time
from collections import defaultdict
from pathlib import Path

from figures.common import host, table, tidemark
from figures.entries import Figure

PLAN = "tools/tidemark/plans/thrashing.toml"


def walls(folder: Path) -> dict[str, dict[str, list[float]]]:
    """Host seconds of the cells, by number of processes and by policy."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with (folder / "cells.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            meta = json.loads((folder / "cells" / row["id"] / "meta.json").read_text())
            found[row["processes"]][row["vm"]].append(meta["wall_s"])
    return found


def make(figure: Figure, work: Path) -> str:
    shutil.rmtree(work / "sweep", ignore_errors=True)
    begun = time.monotonic()
    tidemark("sweep", PLAN, "--out", str(work / "sweep"), "--quiet")
    took, cells = time.monotonic() - begun, walls(work / "sweep")
    policies = sorted({policy for by_policy in cells.values() for policy in by_policy})
    titles = ["processes", *(f"{policy}: wall s, each jitter" for policy in policies)]
    rows = [
        [nr, *(", ".join(f"{wall:.1f}" for wall in by_policy[policy]) for policy in policies)]
        for nr, by_policy in cells.items()
    ]
    every = [wall for by_policy in cells.values() for each in by_policy.values() for wall in each]
    how = f"`tidemark sweep {PLAN}`: {len(every)} cells in **{took:.0f} s**; their QEMUs ran {sum(every):.0f} s in all."
    return f"{how} {host()}.\n\n{table(titles, rows, text_columns=0)}"
