"""A screen of `tidemark watch`: the live map of memory in the middle of a run. `run` is the command that records it."""

from __future__ import annotations

import asyncio
import re
import shlex
import shutil
from pathlib import Path

from tidemark.watch import sources
from tidemark.watch.app import Watch
from tidemark.watch.memory import Memory
from tidemark.watch.player import Player

from figures.common import tidemark
from figures.entries import Figure

MOMENT_US = 1_200_000


def shorter(text: str) -> str:
    """Rich's SVG of a screen without fonts from a network, and without what changes nothing: clip paths of lines that
    have their lengths anyway, and long names.
    """
    text = re.sub(r"@font-face \{.*?\}", "", text, flags=re.DOTALL)
    text = re.sub(
        r'<clipPath id="[\w-]+-line-\d+">.*?</clipPath>\s*| clip-path="url\(#[\w-]+-line-\d+\)"',
        "",
        text,
        flags=re.DOTALL,
    )
    text = re.sub(r"\bterminal-\d+-", "t-", text).replace("&#160;", "\u00a0")
    text = text.replace(' shape-rendering="crispEdges"', "")
    text = text.replace('-clip-terminal)"', '-clip-terminal)" shape-rendering="crispEdges"')
    return "\n".join(line.strip() for line in text.splitlines() if line.strip()) + "\n"


def make(figure: Figure, work: Path) -> None:
    folder = work / "run"
    shutil.rmtree(folder, ignore_errors=True)
    tidemark(*shlex.split(figure.settings["run"]), "-o", str(folder))
    path, result = sources.find(folder)
    app = Watch(sources.File(path, result), Player(live=False, paused=True, t_us=MOMENT_US), memory=Memory(folder))

    async def play() -> str:
        async with app.run_test(size=(108, 38)) as pilot:
            while app.moment is None:
                await pilot.pause(0.01)
            await pilot.press("m")
            await pilot.pause()
            return app.export_screenshot(title="tidemark watch --owners")

    (work / "watch-map.svg").write_text(shorter(asyncio.run(play())))
