"""tidemark rerun: is an exact run reproducible?"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from tidemark.commands import options
from tidemark.errors import FAILED, LabError
from tidemark.machine import image
from tidemark.runs import experiment, repeat, results
from tidemark.telemetry.live import LiveLine


def rerun(
    folder: Annotated[Path, typer.Argument(metavar="RESULT", help="The folder of an exact run.")],
    image_: options.Image = options.DEFAULT.image,
    json_: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Repeat an exact run, and report whether every byte is the same, or where the first difference is.

    Example:  tidemark rerun results/20261121-103000-ws-thrash

    The image must be the one that made the result. Exit status 0: the same; 1: different.
    """
    first = results.load(folder)
    image_ = options.image_of(first, image_)
    repeat.check_repeatable(first, image.describe(image_))
    settings = replace(first.settings(), image=image_.resolve())
    with tempfile.TemporaryDirectory(prefix="tidemark-") as scratch, LiveLine(quiet) as live:
        second = experiment.run(settings, Path(scratch, "again"), live)
        difference = repeat.first_difference(first, second)
    same_qemu = first.meta["qemu"]["version"] == second.meta["qemu"]["version"]
    if json_:
        print(json.dumps({"same": difference is None, "difference": difference, "same_qemu": same_qemu}, indent=2))
    elif difference is None:
        sizes = ", ".join(f"{name} {file['bytes']:,} bytes" for name, file in first.meta["files"].items())
        print(f"the same: {sizes}, exit {first.meta['exit']}")
    if not same_qemu:
        versions = f"{first.meta['qemu']['version']} then, {second.meta['qemu']['version']} now"
        print(f"tidemark: QEMU's version differs: {versions}", file=sys.stderr)
    if difference is not None:
        raise LabError(f"not the same: {difference}", FAILED)
