"""Several machines side by side: the same workload and memory, each with its own policy. Which one is done first?

All machines are shown at one virtual time, the clock. Simulations differ in speed: the clock waits for the slowest one
that still runs. So a machine that needs less virtual time is seen to end first, however long QEMU takes. Nor does the
clock go too fast for the user: at first one second per second (times `speed`), later the race's time so far in
PATIENCE_S, because one machine may need a hundred times as long as the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from rich.text import Text

from tidemark.watch import draw, model, table
from tidemark.watch.model import Moment, Recording
from tidemark.watch.sources import WELL, Source

LEAST, MOST = 2, 4
BESIDE = 24  # characters that a machine needs; with fewer, machines are stacked
GRAPH_LINES = 3
BETWEEN = " │ "
BAR = "█"
PATIENCE_S = 4


@dataclass
class Lane:
    """One machine. `ended_us` is the virtual time at which it was done, None while it runs; `failed` says why it will
    never be done.
    """

    name: str
    source: Source
    recording: Recording = field(default_factory=Recording)
    ended_us: int | None = None
    failed: str = ""

    def poll(self) -> None:
        """Take new records. Raises LabError if they cannot be used."""
        records = self.source.poll()
        self.recording.add(records)
        if self.recording.end and self.recording.end.get("status", 0) == 0:
            self.ended_us = self.recording.end["t_us"]
        elif self.source.ended not in ("", WELL):
            self.failed = self.source.ended
        elif self.source.ended and self.ended_us is None:
            self.failed = "its telemetry has no end"

    @property
    def over(self) -> bool:
        """Returns whether no more records will come."""
        return self.ended_us is not None or bool(self.failed)

    @property
    def known_us(self) -> int:
        """The virtual time until which this machine is known."""
        last: int = self.recording.samples[-1]["t_us"] if self.recording.samples else 0
        return last if self.ended_us is None else self.ended_us

    def moment(self, t_us: float) -> Moment | None:
        """The moment shown at `t_us`; None before the first sample."""
        return self.recording.moment(self.recording.index_at(t_us)) if self.recording.samples else None

    def ended(self, t_us: float) -> tuple[int, int]:
        """(processes that had ended by `t_us`, processes that had existed by then)."""
        moment = self.moment(t_us)
        if moment is None:
            return 0, 0
        ends = [event for event in self.recording.events if event["ev"] == "exit" and event["t_us"] <= t_us]
        since = {event["pid"] for event in ends if event["t_us"] > moment.now["t_us"]}
        over = self.ended_us is not None and self.ended_us <= t_us
        live = 0 if over else sum(row["pid"] not in since for row in moment.now["procs"])
        return len(ends), len(ends) + live


@dataclass
class Race:
    """`speed`: a factor on the clock's usual speed; 0: as fast as the machines."""

    lanes: Sequence[Lane]
    speed: float
    clock_us: float = 0.0

    def poll(self) -> None:
        """Take new records from all machines."""
        for lane in self.lanes:
            if not lane.over:
                lane.poll()

    def advance(self, host_s: float) -> None:
        """Advance the clock, `host_s` after the last call."""
        running = [lane.known_us for lane in self.lanes if not lane.over]
        until = min(running) if running else max(lane.known_us for lane in self.lanes)
        rate = self.speed * max(1e6, self.clock_us / PATIENCE_S)
        faster = self.clock_us + rate * host_s if self.speed else until
        self.clock_us = max(self.clock_us, min(until, faster))

    @property
    def over(self) -> bool:
        """Returns whether everything has been shown."""
        return all(lane.over and self.clock_us >= lane.known_us for lane in self.lanes)

    def done(self, lane: Lane) -> bool:
        """Returns whether this machine is done by the clock's time."""
        return lane.ended_us is not None and lane.ended_us <= self.clock_us

    def place(self, lane: Lane) -> int:
        """1 for the machine that is done first; machines that are done at the same time share a place."""
        return 1 + sum(other.ended_us < lane.ended_us for other in self.lanes if other.ended_us and lane.ended_us)


def seconds(us: float) -> str:
    """A virtual time as text, in seconds."""
    return f"{us / 1e6:,.3f} s"


def meter(label: str, share: float, said: str, width: int, style: str) -> Text:
    """A bar for a share from 0 to 1, followed by its number."""
    room = max(width - draw.LABEL - len(said) - 1, 4)
    filled = round(room * min(max(share, 0), 1))
    text = Text(f"{label:<{draw.LABEL}}", draw.DIM).append(BAR * filled, style)
    return text.append("·" * (room - filled), draw.EMPTY).append(f" {said}", draw.NUMBER)


def state(race: Race, lane: Lane) -> str:
    """A machine's state in a few words."""
    if race.done(lane):
        return f"{('first', 'second', 'third', 'last')[race.place(lane) - 1]}, done at {seconds(lane.ended_us or 0)}"
    if lane.failed and race.clock_us >= lane.known_us:
        return lane.failed
    return "running" if lane.recording.samples else "starting"


def graph(moment: Moment, clock_us: float, width: int) -> list[Text]:
    """The machine's utilisation from the start until now."""
    t = moment.series["t"]
    edges = np.linspace(0, max(clock_us, 1), width + 1)
    busy = np.clip(1 - model.rate(t, moment.series["idle"], edges), 0, 1)
    return [Text(line, draw.UTILISATION) for line in draw.bars(busy, GRAPH_LINES, 1)]


def processes(moment: Moment, width: int, most: int) -> list[Text]:
    """The `most` largest processes, with bars of their pages in memory and in swap."""
    rows = model.processes(moment)
    scale = max([row["rss"] + row["swap"] for row in rows], default=1) or 1
    return [
        Text(f"{row['pid']:>4} {row['comm'][:8]:<8} ").append_text(table.bar(row, scale, max(width - 14, 4)))
        for row in rows[:most]
    ]


def panel(race: Race, lane: Lane, width: int, height: int) -> list[Text]:
    """One machine in `height` lines of `width` characters."""
    gone, all_ = lane.ended(race.clock_us)
    style = "bold black on #57c785" if race.done(lane) and race.place(lane) == 1 else "bold reverse"
    lines = [Text(f" {lane.name} ", style).append(f" {state(race, lane)}", draw.NUMBER)]
    lines.append(meter("ended", gone / max(all_, 1), f"{gone}/{all_}", width, draw.FAULTS))
    moment = lane.moment(race.clock_us)
    if moment is not None:
        idle = race.done(lane)
        busy = 0.0 if idle else model.utilisation(moment)
        lines.append(meter("busy", busy, f"{100 * busy:3.0f} %", width, draw.UTILISATION))
        lines += [*graph(moment, race.clock_us, width), Text() if idle else draw.lamp(moment.pressure)]
        numbers = [("", draw.count(moment.now["vm"]["pgmajfault"])), ("now", f"{fault_rate(moment, idle):,.0f}/s")]
        lines += draw.items("majflt", numbers, width)[:1]
        lines += draw.items("free", [("", draw.count(sum(moment.now["free"])))], width)
        lines += [] if idle else processes(moment, width, height - len(lines))
    for line in lines:
        line.truncate(width, overflow="ellipsis", pad=True)
    blank = Text(" " * width)
    return (lines + [blank] * height)[:height]


def fault_rate(moment: Moment, idle: bool) -> float:
    """Major faults per second; 0 after the end."""
    return 0.0 if idle else model.per_second(moment, "vm", "pgmajfault")


def screen(race: Race, title: str, width: int, height: int) -> Text:
    """The whole screen, `width` by `height` characters: machines side by side or, if that is too narrow, stacked."""
    lines = [draw.sides(Text(title, "bold"), seconds(race.clock_us), width)]
    nr, room = len(race.lanes), max(height - 1, len(race.lanes))
    across = (width - len(BETWEEN) * (nr - 1)) // nr
    if across >= BESIDE:
        panels = [panel(race, lane, across, room) for lane in race.lanes]
        lines += [Text(BETWEEN, draw.DIM).join(row) for row in zip(*panels)]
    else:
        lines += [line for lane in race.lanes for line in panel(race, lane, width, max(room // nr, 1))]
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return draw.join(lines[:height])


def rate_of(race: Race, lane: Lane) -> str:
    """A machine's utilisation and major faults, to append to its state."""
    moment = lane.moment(race.clock_us)
    if moment is None or race.done(lane):
        return ""
    busy, faults = draw.percent(model.utilisation(moment)), model.per_second(moment, "vm", "pgmajfault")
    return f", busy {busy}, {faults:,.0f} major faults/s"


def line(race: Race) -> str:
    """The race in one line, for output that is not a terminal."""
    parts = [f"{lane.name} {state(race, lane)}{rate_of(race, lane)}" for lane in race.lanes]
    return f"{seconds(race.clock_us):>12}   {'; '.join(parts)}"


def verdict(race: Race) -> str:
    """Which machine was first, and by how much."""
    done = sorted((lane for lane in race.lanes if lane.ended_us), key=lambda lane: lane.ended_us or 0)
    failed = [f"{lane.name} failed: {lane.failed}" for lane in race.lanes if lane.failed]
    said = [] if done else ["no machine is first"]
    for at, lane in enumerate(done):
        times = (lane.ended_us or 0) / (done[0].ended_us or 1)
        said.append(f"{lane.name} {'is first: ' if not at else ''}{seconds(lane.ended_us or 0)}")
        said[-1] += f", {times:,.2f} times as long" if at else ""
    return "; ".join(said + failed)


def folders(names: Sequence[str]) -> list[str]:
    """A distinct folder name for each, also if a policy races against itself."""
    return [f"{name}-{names[:at].count(name) + 1}" if names.count(name) > 1 else name for at, name in enumerate(names)]
