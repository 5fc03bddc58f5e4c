"""Makes figures, one after another, each in build/figures/NAME, and puts a finished one into the documents.

A figure's folder keeps what is finished: state.json says for which image and settings, `work` holds its runs while it
is being made, and the figure itself stays beside. So after Ctrl-C, a full disk or a failure the same command
continues, and a figure of which nothing has changed is not made again. Those that need no image and nothing else are
made in seconds from tables of the tools: they always are made again.

A figure is made by the function `make` of its kind's module; one with logic of its own (the kind `own`) names the
function, `by = "MODULE.FUNCTION"`. The function gets the figure and the folder for its work. It returns the text of the
figure's blocks by name (or the text alone, if there is one block), and writes the files into the folder.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tidemark.errors import FAILED, INTERRUPTED, NO_SPACE, NO_TOOL, OK, LabError

from figures import documents, entries, made
from figures.common import keep_runs_in
from figures.entries import ROOT, Figure, Need, needs

GIB = 1 << 30
STATE, WORK = "state.json", "work"


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def lasts(seconds: float) -> str:
    """A duration in words, rounded."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"


def settings_sum(figure: Figure) -> str:
    """A sum of what the table says about a figure."""
    said = [figure.kind, figure.blocks, figure.files, figure.settings]
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[: made.DIGITS]


@dataclass
class Runner:
    """`image` is the name of the built image, `there` all figures of the table, `root` the tree."""

    image: str
    there: Mapping[str, Figure]
    root: Path = ROOT
    fresh: bool = False

    def folder(self, figure: Figure) -> Path:
        return self.root / "build/figures" / figure.name

    def state(self, figure: Figure) -> dict[str, str]:
        """What state.json must say for results to be usable."""
        return {"image": self.image if figure.image else "", "settings": settings_sum(figure)}

    def recorded(self, figure: Figure) -> dict[str, str]:
        path = self.folder(figure) / STATE
        return json.loads(path.read_text()) if path.exists() else {}

    def done(self, figure: Figure) -> bool:
        """Is the figure in the documents that of this image and these settings?"""
        if not figure.image and not figure.needs:
            return False
        row = made.read(self.root).get(figure.name)
        if not all((self.root / name).exists() for name in figure.files):
            return False
        finished = self.recorded(figure) == self.state(figure) | {"done": "yes"}
        return finished and (not figure.image or (row is not None and row.image == self.image))

    def seconds(self, figure: Figure) -> float:
        """The time that it took last, or that the table says."""
        row = made.read(self.root).get(figure.name)
        return row.seconds if row and row.seconds else figure.seconds

    def missing(self, figure: Figure) -> Need | None:
        """The first requirement that is not met."""
        return next((needs()[name] for name in figure.needs if not needs()[name].met()), None)

    def demand_space(self, figure: Figure) -> None:
        """Raises LabError if the disk is too full for a figure."""
        for place in (self.root / "build", Path(tempfile.gettempdir())):
            free = shutil.disk_usage(place).free
            if free < figure.space * GIB:
                raise no_space(figure, f"{place} has {free / GIB:.1f} GiB free, {figure.space:g} are needed")

    def prepared(self, figure: Figure) -> Path:
        """The folder for a figure's work: what an interrupted command left there for this image, or empty."""
        folder, state = self.folder(figure), self.state(figure)
        if self.fresh or self.recorded(figure) != state:
            shutil.rmtree(folder, ignore_errors=True)
        (folder / WORK).mkdir(parents=True, exist_ok=True)
        documents.write(folder / STATE, json.dumps(state))
        return folder / WORK

    def make(self, figure: Figure) -> float:
        """Makes one figure and puts it into the documents; returns seconds."""
        documents.places(figure.blocks, self.root)
        self.demand_space(figure)
        begun = time.monotonic()
        work = self.prepared(figure)
        try:
            keep_runs_in(work)
            blocks = entries.function(figure.settings.get("by", f"{figure.kind}.make"))(figure, work) or {}
            blocks = {figure.blocks[0]: blocks} if isinstance(blocks, str) else blocks
            took = time.monotonic() - begun
            self.keep(figure, blocks, took)
        except OSError as e:
            if e.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            raise no_space(figure, "the disk became full") from None
        return took

    def keep(self, figure: Figure, blocks: Mapping[str, str], took: float) -> None:
        """Keeps a finished figure in its folder, then puts it into the documents, and notes the image."""
        folder = self.folder(figure)
        for name in figure.files:
            shutil.copy(folder / WORK / Path(name).name, folder / Path(name).name)
        for name in figure.blocks:
            documents.write(folder / f"{name}.md", blocks[name] + "\n")
        for name in figure.files:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(folder / Path(name).name, self.root / name)
        for name in figure.blocks:
            documents.publish(name, blocks[name], self.root)
        if figure.image:
            row = made.Row(self.image, time.strftime("%Y-%m-%d", time.gmtime()), round(took))
            made.note(self.there, figure.name, row, self.root)
        documents.write(folder / STATE, json.dumps(self.state(figure) | {"done": "yes"}))
        shutil.rmtree(folder / WORK)

    def make_all(self, figures: Sequence[Figure]) -> int:
        """Makes the figures that are not done; returns an exit status."""
        left = figures if self.fresh else [figure for figure in figures if not self.done(figure)]
        planned = sum(self.seconds(figure) for figure in left if not self.missing(figure))
        say(f"{len(left)} of {len(figures)} figures are to be made by image {self.image}, in about {lasts(planned)}")
        status = OK
        for nr, figure in enumerate(left, 1):
            head = f"[{nr}/{len(left)}] {figure.name}"
            if need := self.missing(figure):
                say(f"{head}: skipped: {need.reason}")
                status = status or NO_TOOL
                continue
            say(f"{head}: about {lasts(self.seconds(figure))}")
            try:
                say(f"    made in {lasts(self.make(figure))}")
            except KeyboardInterrupt:
                say(f"interrupted at {figure.name}: what is finished is kept, and the same command continues")
                return INTERRUPTED
            except (LabError, AssertionError) as e:
                if getattr(e, "code", 0) == NO_SPACE:
                    say(str(e))
                    return NO_SPACE
                say(f"    failed: {e}")
                status = FAILED
            except Exception:
                say(f"    failed: {traceback.format_exc()}")
                status = FAILED
        return status


def no_space(figure: Figure, why: str) -> LabError:
    return LabError(
        f"{figure.name} stopped for want of space: {why}; what is finished is kept, and the same command continues",
        NO_SPACE,
    )


def without_make() -> None:
    """Removes from the environment what the calling make put there: commands of figures are typed in a new shell."""
    from tidemark.machine.qemu import DEFAULTS

    for name in (*DEFAULTS, "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKEOVERRIDES"):
        os.environ.pop(name, None)
    os.environ["INSTALL"] = "no"
