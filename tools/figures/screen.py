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

    shown = re.sub(r"@font-face \{.*?\}", "", asyncio.run(play()), flags=re.DOTALL)  # no fonts from a network
    (work / "watch-map.svg").write_text("\n".join(line.rstrip() for line in shown.splitlines()) + "\n")
