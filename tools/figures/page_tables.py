"""Page tables under the references of a program: the command's own table, its two pictures, and its speed."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from tidemark.trace.format import Reader

from figures.common import host, tidemark
from figures.entries import ROOT, Figure


def make(figure: Figure, work: Path) -> str:
    """Record the figure's program and draw it. The command runs twice: the first run compiles code."""
    shutil.rmtree(work / "run", ignore_errors=True)
    program, space = figure.settings["program"], figure.settings["process"]
    tidemark("trace", "record", program, "-q", "-o", str(work / "run"))
    words = ["pagetables", str(work / "run/trace.tmt"), "--space", space, "-q", "-o", str(work / "drawn")]
    (_, _), (seconds, _) = tidemark(*words), tidemark(*words)
    shown = subprocess.run([sys.executable, "-m", "tidemark.cli", *words], cwd=ROOT, capture_output=True, text=True)
    for picture in figure.files:
        shutil.copy(work / "drawn" / Path(picture).name, work / Path(picture).name)
    references = Reader(work / "run/trace.tmt").totals["references"]
    return (
        f"```\n$ tidemark trace record {shlex.quote(program)} -o results/run\n"
        f"$ tidemark pagetables results/run/trace.tmt --space {space}\n{shown.stdout.rstrip()}\n```\n\n"
        f"The command read {references:,} references and simulated all TLBs of the second figure in {seconds:.1f} s of "
        f"processor time; {host()}."
    )
