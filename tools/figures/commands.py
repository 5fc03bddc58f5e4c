"""Pictures from commands of the lab. `commands` are command lines of `tidemark`, without that word; {work} in them is
the folder for results. Afterwards each of `files` is copied from the folder `take` in it.

A command that has ended is not repeated after an interruption; a sweep continues where it was.
"""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

from figures import documents
from figures.common import tidemark
from figures.entries import Figure

ENDED = "ended"


def clear(words: list[str]) -> None:
    """Removes what an interrupted command left in its folder of results; a sweep needs it."""
    if "-o" in words and words[0] != "sweep":
        shutil.rmtree(words[words.index("-o") + 1], ignore_errors=True)


def make(figure: Figure, work: Path) -> None:
    ended = work / ENDED
    before = ended.read_text().splitlines() if ended.exists() else []
    for line in figure.settings["commands"]:
        if line not in before:
            words = shlex.split(line.replace("{work}", str(work)))
            clear(words)
            tidemark(*words)
            before.append(line)
            documents.write(ended, "\n".join(before) + "\n")
    for picture in figure.files:
        name = Path(picture).name
        shutil.copy(work / figure.settings["take"] / name, work / name)
