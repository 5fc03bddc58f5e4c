#!/usr/bin/env python3
"""Draw the picture of the lab `thrashing`: the same run without and with a guard.

Uses only the command `tidemark`, as a reader would; prints each command line.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from common import ROOT
from pictures import tidemark

RUN = ("thrash", "4", "4096", "4", "3000", "--mem", "10M", "--vm", "2q")
PLACE = ROOT / "labs/thrashing"


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="tidemark-figures-") as scratch:
        folders = [f"{scratch}/{guard}" for guard in ("none", "token")]
        for folder in folders:
            tidemark("run", *RUN, "--cmdline", f"guard={Path(folder).name}", "-o", folder)
        tidemark("report", *folders, "-o", f"{scratch}/report")
        shutil.copy(f"{scratch}/report/figures/resident-sets.svg", PLACE / "resident-sets.svg")


if __name__ == "__main__":
    main()
