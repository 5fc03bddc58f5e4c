"""The folder of a trace's curves: curves.json, a CSV for each curve, and PNG, SVG and CSV of each figure.

It is made under another name beside its final place and renamed when complete, so that an error, a full disk or Ctrl-C
leaves the previous folder unchanged.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from tidemark import files
from tidemark.curves.analyse import Analysis
from tidemark.curves.figures import WINDOW_COLOURS, all_figures, curve_table, knee_row
from tidemark.curves.lifetime import power_law
from tidemark.errors import NO_SPACE, LabError
from tidemark.report.figure import save
from tidemark.report.text import csv_text
from tidemark.trace import ALL_KINDS, KINDS
from tidemark.trace.format import Reader

SUMMARY = "curves.json"
SCHEMA = 1
MAX_WINDOWS = len(WINDOW_COLOURS)


def of_files(found: Analysis) -> dict[str, int]:
    """The number of pages of files, and of references to them."""
    shown = found.map
    return {"references": int(shown.counts[shown.own_rows :].sum()), "pages": len(shown.pages) - shown.own}


def summary(reader: Reader, found: Analysis) -> dict[str, Any]:
    """The content of curves.json: totals, the selection, knees, and means."""
    plan, totals = found.plan, found.totals
    choice, law = plan.choice, power_law(found.curves["lru"])
    kinds = ALL_KINDS if reader.files else KINDS
    return {
        "schema": SCHEMA,
        "trace": str(reader.path),
        "space": choice.space,
        "kinds": [kinds[kind] for kind in choice.kinds if kind < len(kinds)],
        "pages": [choice.first, choice.last],
        "time": plan.unit,
        "delay": plan.delay,
        "totals": {
            "references": totals.references,
            "by_kind": dict(zip(kinds, totals.by_kind)),
            "runs": totals.runs,
            "instructions": totals.instructions,
            "distinct_pages": totals.pages,
            **({"of_files": of_files(found)} if reader.files else {}),
        },
        "curves": {
            name: knee_row(curve, plan.unit) | {"other_knees_pages": curve.sizes[curve.other_knees()].tolist()}
            for name, curve in found.curves.items()
        },
        "lru_power_law": law and asdict(law),
        "working_set": [
            {
                "theta": theta,
                "mean_pages": float(shares @ np.arange(len(shares))),
                "max_pages": int(np.flatnonzero(shares)[-1]),
            }
            for theta, shares in zip(found.sizes.thetas.tolist(), found.sizes.shares, strict=True)
        ],
    }


def write(reader: Reader, found: Analysis, out: Path) -> dict[str, Any]:
    """Make the folder `out`; returns the summary. Raises LabError if it cannot be written."""
    names = {row["space"]: row.get("name", "") for row in reader.spaces}
    told = summary(reader, found)
    try:
        with files.folder_replacing(out, SUMMARY) as folder:
            for name, curve in found.curves.items():
                (folder / f"curve-{name}.csv").write_text(csv_text(curve_table(curve, found.plan.unit)))
            for figure in all_figures(found, names):
                save(figure, folder)
            told["files"] = sorted([SUMMARY, *(path.name for path in folder.iterdir())])
            (folder / SUMMARY).write_text(json.dumps(told, indent=2) + "\n")
    except OSError as error:
        raise LabError(f"{out} cannot be written: {error.strerror}", NO_SPACE) from None
    return told
