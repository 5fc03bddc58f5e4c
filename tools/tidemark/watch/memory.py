"""The map of memory in the view: some frames, one line each, with the owner over time as a letter and a colour.

The file that `--owners` writes has a line for each sample (telemetry/owners.py); it is read while it grows. A line of
the map is one frame, not a mean of several: if the letter changes along a line, the frame was taken from one process
and given to another. FRAMES of them are shown, evenly spaced, so the letters stand for shares of the memory; the
numbers under the map count all frames.
"""

from __future__ import annotations

import contextlib
import json
import string
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from rich.text import Text

from tidemark.errors import LabError
from tidemark.telemetry import owners
from tidemark.watch import draw, model
from tidemark.watch.model import Moment

FRAMES = 256
PAIRS = 3
LETTERS = string.ascii_letters + string.digits
COLOURS = ("#e69f00", "#56b4e9", "#009e73", "#f0e442", "#4a90d9", "#d55e00", "#cc79a7", "#999933", "#88ccee", "#aa4499")
FREE = -owners.FREE - 1
SYSTEM = {
    FREE: (" ", ""),
    -owners.KERNEL - 1: ("#", "grey62 on grey23"),
    -owners.FILES - 1: ("~", "black on grey62"),
    -owners.NOBODY - 1: ("?", "grey85 on grey37"),
}
SAID = {number: owners.OTHERS[-number - 1] for number in SYSTEM}
NONE = "no map of memory; it needs --owners, as in `tidemark watch --owners --run ...` or `tidemark run --owners ...`"


@dataclass(frozen=True)
class Column:
    """Memory at one sample. Owners are pids, or numbers of SYSTEM. `some`: the owners of FRAMES frames; `counts`: how
    many of all frames each owner has; `moves`: (pid, from pid, frames) that changed process since the last sample."""

    t_us: int
    some: np.ndarray
    counts: Mapping[int, int]
    moves: Sequence[tuple[int, int, int]]


def moved(before: np.ndarray, now: np.ndarray) -> list[tuple[int, int, int]]:
    """The largest moves of frames between processes: (taker, loser, frames)."""
    at = (before != now) & (before > 0) & (now > 0)
    pairs = Counter(zip(now[at].tolist(), before[at].tolist()))
    return [(taker, loser, number) for (taker, loser), number in pairs.most_common(PAIRS)]


class Memory:
    """The map of one machine, while it runs. `folder`: where its file is, or None if there is no file."""

    def __init__(self, folder: Path | None, keep: int | None = None) -> None:
        self.columns: list[Column] = []
        self._names = [folder / owners.FILE, folder / f"{owners.FILE}.partial"] if folder else []
        self._keep = keep
        self._file: TextIO | None = None
        self._rest = ""
        self._known: dict[int, int] = {}  # pids by page directory; replaced, never changed in place
        self._letters: dict[int, int] = {}
        self._waiting: list[tuple[int, dict[int, int]]] = []
        self._lines: list[str] = []
        self._last: np.ndarray | None = None

    def add(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Take the telemetry's records, and read the owners that belong to their samples. Raises LabError if the file
        cannot be read."""
        for record in records:
            if record["ev"] == "mm":
                self._known = {**self._known, record["cr3"]: record["pid"]}
                self._letters.setdefault(record["pid"], len(self._letters))
            elif record["ev"] == "sample":
                self._waiting.append((record["t_us"], self._known))
        self._read()
        ready = min(len(self._waiting), len(self._lines))
        try:
            for (t_us, known), line in zip(self._waiting[:ready], self._lines[:ready]):
                self._add_column(t_us, known, json.loads(line))
        except (ValueError, TypeError) as error:
            raise LabError(f"{self._names[0]} cannot be read: {error}") from None
        del self._waiting[:ready], self._lines[:ready]
        if self._keep and len(self.columns) > self._keep:
            del self.columns[: len(self.columns) - self._keep * 9 // 10]

    def _read(self) -> None:
        """Read the complete lines that are new. The file may have either of two names: QEMU's end renames it."""
        if self._file is None:
            for name in self._names:
                with contextlib.suppress(FileNotFoundError):
                    self._file = name.open(encoding="ascii")
                    break
        if self._file is not None:
            *lines, self._rest = (self._rest + self._file.read()).split("\n")
            self._lines += lines

    def _add_column(self, t_us: int, known: Mapping[int, int], line: Sequence[Sequence[int]]) -> None:
        of = [-owner - 1 if owner in owners.OTHERS else known.get(owner, -owners.NOBODY - 1) for owner, _ in line]
        lengths = [number for _, number in line]
        counts: Counter[int] = Counter()
        for owner, number in zip(of, lengths):
            counts[owner] += number
        now = np.repeat(np.array(of, np.int32), lengths)
        moves = moved(self._last, now) if self._last is not None and len(self._last) == len(now) else []
        places = np.arange(FRAMES) * len(now) // FRAMES
        self.columns.append(Column(t_us, now[places], counts, moves))
        self._last = now

    def sign(self, owner: int) -> tuple[str, str]:
        """An owner's letter and style."""
        if owner <= 0:
            return SYSTEM[owner]
        at = self._letters[owner]
        return LETTERS[at % len(LETTERS)], f"black on {COLOURS[at % len(COLOURS)]}"

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def draw(self, moment: Moment, width: int, height: int, window_s: float = 0) -> Text:
        """The map of the last `window_s` seconds (0: of all samples) until the moment, in `height` lines."""
        until = [column for column in self.columns if column.t_us <= moment.now["t_us"]]
        if not until:
            return Text(NONE, draw.DIM)
        now = until[-1]
        said = [draw.items("frames", self._shares(now, moment), width), draw.items("taken", self._moves(now), width)]
        legend = [line for lines in said for line in lines]
        edges = model.edges(moment.series["t"], window_s, width)
        rows = max(height - len(legend) - 1, 3)
        axis = draw.sides(Text(f"{edges[0] / 1e6:,.1f} s", draw.DIM), f"{edges[-1] / 1e6:,.1f} s", width)
        return draw.join([*self._map(until, edges, rows), axis, *legend])

    def _map(self, columns: Sequence[Column], edges: np.ndarray, height: int) -> list[Text]:
        """The lines, the highest frames first; before the first sample they are empty."""
        at = np.searchsorted([column.t_us for column in columns], edges[1:], "right") - 1
        frames = (2 * np.arange(height)[::-1] + 1) * FRAMES // (2 * height)
        return [self._line([columns[nr].some[frame] if nr >= 0 else FREE for nr in at]) for frame in frames]

    def _line(self, every: Sequence[int]) -> Text:
        """One frame over time."""
        line, begin = Text(), 0
        for end in range(1, len(every) + 1):
            if end == len(every) or every[end] != every[begin]:
                letter, style = self.sign(int(every[begin]))
                line.append(letter * (end - begin), style)
                begin = end
        return line

    def _shares(self, now: Column, moment: Moment) -> list[tuple[str, str]]:
        """The owners with their letters and numbers of frames, the largest first."""
        names = {process["pid"]: f"{process['comm']} {process['pid']}" for process in moment.now["procs"]}
        some = sorted(now.counts.items(), key=lambda one: -one[1])
        return [
            (f"{self.sign(who)[0]} {names.get(who) or SAID.get(who) or f'pid {who}'}".strip(), draw.count(number))
            for who, number in some
        ]

    def _moves(self, now: Column) -> list[tuple[str, str]]:
        """The largest moves of frames since the last sample: taker, loser, frames."""
        moves = [(f"{self.sign(to)[0]} from {self.sign(of)[0]}", draw.count(number)) for to, of, number in now.moves]
        return moves or [("", "no process took a frame from another since the last sample")]
