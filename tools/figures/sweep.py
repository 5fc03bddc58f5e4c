#!/usr/bin/env python3
"""The duration of the sweep of tools/tidemark/plans/thrashing.toml: 2 policies × 10 sizes × 5 jitters.

Uses the command that a user would give, in a new folder. `--keep DIR` keeps the results in DIR, which must not exist.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from common import ROOT, host, publish, table

PLAN = "tools/tidemark/plans/thrashing.toml"


def sweep(folder: Path) -> float:
    """Runs the plan into `folder`; returns host seconds from start to end of the command."""
    begun = time.monotonic()
    command = [sys.executable, "-m", "tidemark.cli", "sweep", PLAN, "--out", str(folder), "--quiet"]
    if subprocess.run(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": "tools"}).returncode:
        raise SystemExit("the sweep did not end successfully")
    return time.monotonic() - begun


def walls(folder: Path) -> dict[str, dict[str, list[float]]]:
    """Host seconds of the cells, by number of processes and by policy."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with (folder / "cells.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            meta = json.loads((folder / "cells" / row["id"] / "meta.json").read_text())
            found[row["processes"]][row["vm"]].append(meta["wall_s"])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--keep", type=Path, help="folder for the results")
    keep = parser.parse_args().keep
    with tempfile.TemporaryDirectory(prefix="tidemark-figures-") as scratch:
        folder = keep.resolve() if keep else Path(scratch, "sweep")
        took = sweep(folder)
        cells = walls(folder)
    policies = sorted({policy for by_policy in cells.values() for policy in by_policy})
    titles = ["processes", *(f"{policy}: wall s, each jitter" for policy in policies)]
    rows = [
        [nr, *(", ".join(f"{wall:.1f}" for wall in by_policy[policy]) for policy in policies)]
        for nr, by_policy in cells.items()
    ]
    count = sum(len(by_policy[policy]) for by_policy in cells.values() for policy in by_policy)
    busy = sum(wall for by_policy in cells.values() for each in by_policy.values() for wall in each)
    how = f"`tidemark sweep {PLAN}`: {count} cells in **{took:.0f} s**; their QEMUs ran {busy:.0f} s in all. {host()}."
    publish("sweep", f"{how}\n\n{table(titles, rows, text_columns=0)}")


if __name__ == "__main__":
    main()
