"""The live view on a terminal: widgets that draw a moment, keys, and the clock that advances it."""

from __future__ import annotations

import asyncio
import os
import re
import threading
import time
from collections.abc import Callable
from typing import Any, ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.events import Click, Resize
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Footer, Static

from tidemark.errors import INTERRUPTED, OK, LabError
from tidemark.watch import draw, model, table
from tidemark.watch.memory import Memory
from tidemark.watch.player import Player
from tidemark.watch.sources import WELL, Source

TICK_S = 1 / 15
SILENT_S = 10
GRACE_S = 2
WIDE = 150
LEAST_TABLE, MAPPED_TOP = 6, 8
WINDOWS = (0, 60, 10)
HELP = """\
[b]Keys[/b]
  q            quit; this ends a run that was started with --run
  space        pause the clock, or resume it
  ← →          one sample back or forward
  home end     go to the first sample, or to the latest
  + -          double or halve the speed of a replay
  z            graphs of the whole run, the last 60 s, or the last 10 s
  m            show the map of memory or the processes (needs --owners)
  ↑ ↓          choose a process; details are above the table

[b]The lamp[/b] is PSI full: the share of the last second (or interval,
if longer) with processes stalled for memory and none productive. From
10 % it is PRESSED. THRASHING, and a red first line: for half of it all
waited for pages, and about as many were evicted as read.
[b]Zones[/b]: free pages; the scale ends at twice the high watermark.
[b]Map[/b]: one line per frame; the letter is the process that has it. If
letters change along a line, processes take frames from each other.
[b]Bars[/b]: working set █, other resident pages ▄, pages in swap ·
Sizes are in pages of 4 KiB; times are virtual time of the machine.
"""


class Help(ModalScreen[None]):
    """Explains the keys and the signs; any key closes it."""

    def compose(self) -> ComposeResult:
        """The help text."""
        yield Static(HELP, id="help")

    left = False

    def on_key(self) -> None:
        """Close the help, but only once: another key may come before the screen is removed."""
        if not self.left:
            self.left = True
            self.dismiss()

    def on_click(self) -> None:
        """Close the help."""
        self.on_key()


class Panel(Widget):
    """A part of the screen that `draw(width, height)` fills; an automatic height is the number of lines of its text."""

    def __init__(self, draw: Callable[[int, int], Text], id: str) -> None:
        super().__init__(id=id)
        self._draw = draw

    def render(self) -> Text:
        """The text at the panel's present size."""
        return self._draw(self.size.width, self.size.height)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """The number of lines of the text."""
        return self._draw(width, 0).plain.count("\n") + 1


class Watch(App[int]):
    """`source` gives the records; `player` says which of them to show. The app's result is an exit status."""

    CSS = """
    #header { height: 1; background: $primary-darken-2; color: $text; padding: 0 1; }
    #header.thrashing { background: #c62828; }
    #top { height: 12; background: $surface; }
    #graphs { width: 1fr; height: 100%; padding: 0 1; }
    #side { width: 48; max-width: 60%; height: 100%; padding: 0 1; background: $panel; scrollbar-size-vertical: 1; }
    #machine, #lists { height: auto; }
    #lists { margin-top: 1; }
    #detail { height: 1; padding: 0 1; background: $boost; }
    #table { height: 1fr; padding: 0 1; }
    #notice { height: auto; max-height: 8; display: none; padding: 0 1; background: $success-darken-2; color: $text; }
    #notice.shown { display: block; }
    #notice.error { background: $error-darken-1; }
    Watch.wide #side { width: 100; max-width: 100%; layout: horizontal; }
    Watch.wide #machine { width: 56; }
    Watch.wide #lists { width: 1fr; margin: 0 0 0 2; }
    Help { align: center middle; background: $background 60%; }
    #help { width: 78; height: auto; max-height: 100%; padding: 1 2; background: $panel; border: round $primary; }
    """
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "leave", "quit"),
        Binding("ctrl+c", "interrupt", show=False, priority=True),
        Binding("ctrl+q", "ignore", show=False, priority=True),  # by default, Textual quits on this key
        Binding("space", "pause", "pause"),
        Binding("left", "step(-1)", "step", key_display="←→"),
        Binding("right", "step(1)", show=False),
        Binding("plus,equals_sign", "faster(2)", "speed", key_display="+-"),
        Binding("minus,underscore", "faster(0.5)", show=False),
        Binding("z", "zoom", "zoom"),
        Binding("m", "map", "map"),
        Binding("up", "choose(-1)", "process", key_display="↑↓"),
        Binding("down", "choose(1)", show=False),
        Binding("home", "go(False)", show=False),
        Binding("end", "go(True)", show=False),
        Binding("question_mark", "help", "help", key_display="?"),
    ]

    def __init__(self, source: Source, player: Player, keep: int | None = None, memory: Memory | None = None) -> None:
        super().__init__()
        self.source, self.player = source, player
        self.memory, self.mapped = memory or Memory(None), False
        self.recording = model.Recording(keep)
        self.moment: model.Moment | None = None
        self.rows: list[dict[str, Any]] = []
        self.error: LabError | None = None
        self.chosen: int | None = None
        self.window_s = WINDOWS[0]
        self.lines = 24
        self.loop: asyncio.AbstractEventLoop | None = None
        self.header, self.top = Panel(self.draw_header, "header"), Horizontal(id="top")
        self.notice, self.said = Static(id="notice"), ""
        self._shown: tuple[Any, ...] | None = None
        self._ticked_s = self._heard_s = time.monotonic()

    def compose(self) -> ComposeResult:
        """The parts of the screen, from top to bottom."""
        yield self.header
        with self.top:
            yield Panel(self.draw_graphs, "graphs")
            with VerticalScroll(id="side", can_focus=False):
                yield Panel(lambda width, _: self.of_moment(draw.machine, width), "machine")
                yield Panel(lambda width, _: self.of_moment(draw.lists, width), "lists")
        yield Panel(lambda width, _: table.detail(self.chosen_row(), width), "detail")
        yield Panel(self.draw_table, "table")
        yield self.notice
        yield Footer()

    def on_mount(self) -> None:
        """Start the clock."""
        self.loop = asyncio.get_running_loop()
        self.set_interval(TICK_S, self.tick)
        self.tick()

    def tick(self) -> None:
        """Read new records, advance the clock, and draw if anything changed."""
        now = time.monotonic()
        host_s, self._ticked_s = now - self._ticked_s, now
        self.read()
        if self.recording.samples:
            at = self.player.advance(self.recording, host_s, not (self.source.ended or self.error))
            shown = (self.recording.samples[at]["seq"], len(self.recording.events))
            if shown != self._shown:
                self._shown = shown
                self.moment = self.recording.moment(at)
                self.rows = model.processes(self.moment)
                self.redraw()
        pressure = self.moment.pressure if self.moment else None
        self.header.set_class(bool(pressure and pressure.thrashes), "thrashing")
        self.header.refresh()
        self.say(self.news())

    def say(self, news: str) -> None:
        """Show a message across the screen, or remove it if `news` is empty."""
        if news != self.said:
            self.said = news
            self.notice.update(Text(news))
            self.notice.set_class(bool(news), "shown")
            self.notice.set_class(bool(self.error) or self.source.ended not in ("", WELL), "error")

    def read(self) -> None:
        """Take new records; an error in them is shown, and ends the reading."""
        if self.error:
            return
        try:
            records = self.source.poll()
            self.take(records)
            if records:
                self._heard_s = time.monotonic()
        except LabError as error:
            self.error = error

    def take(self, records: list[dict[str, Any]]) -> None:
        """Add records. Raises LabError if the records or the map cannot be used."""
        self.recording.add(records)
        self.memory.add(records)

    def redraw(self) -> None:
        """Draw all parts again."""
        self.set_top_height()
        for part in self.screen_stack[0].query(Panel):
            part.refresh(layout=part.id in ("machine", "lists"))

    def set_top_height(self) -> None:
        """Give the panels at the top the lines that they need, more on a high terminal, but leave room for tasks."""
        if self.moment is None:
            return
        wide = self.has_class("wide")
        parts = [draw.machine(self.moment, 54 if wide else 46), draw.lists(self.moment, 40 if wide else 46)]
        heights = [part.plain.count("\n") + 1 for part in parts]
        need = max(heights) if wide else sum(heights) + 1
        room = self.lines - LEAST_TABLE - 3
        wanted = MAPPED_TOP if self.mapped else max(need, self.lines * 2 // 5)
        self.top.styles.height = max(min(wanted, room), 4)

    def on_resize(self, event: Resize) -> None:
        """Choose the wide or the narrow layout for the new size."""
        self.lines = event.size.height
        self.set_class(event.size.width >= WIDE, "wide")
        self.redraw()

    def of_moment(self, drawn: Callable[[model.Moment, int], Text], width: int) -> Text:
        """`drawn` of the moment, or empty text before the first sample."""
        return drawn(self.moment, width) if self.moment else Text()

    def draw_header(self, width: int, height: int) -> Text:
        """The source, the policy and the command; at the right, the time and the state of the clock."""
        start = self.recording.start or {}
        policy = self.moment.policy if self.moment else start.get("policy", "")
        command = re.search(r'run="([^"]*)"', start.get("cmdline", ""))
        left = Text(f"{self.source.name}  {policy}  {command[1] if command else ''}", "bold")
        t_us = self.moment.now["t_us"] if self.moment else 0
        left.truncate(max(width - 30, 10), overflow="ellipsis")
        return draw.sides(left, f"{t_us / 1e6:,.2f} s  {self.state()}", width)

    def state(self) -> str:
        """The state of the clock in a word."""
        if self.error:
            return "error"
        if self.player.paused:
            return "paused"
        if self.moment and not self.player.live and not self.at_end():
            return f"replay {self.player.speed:g}×"
        if self.source.ended:
            return "ended"
        silent_s = time.monotonic() - self._heard_s
        return f"no records for {silent_s:.0f} s" if silent_s >= SILENT_S else "live"

    def at_end(self) -> bool:
        """Returns whether the last sample is shown."""
        return self.moment is not None and self.moment.now is self.recording.samples[-1]

    def news(self) -> str:
        """The message to show across the screen, "" for none."""
        if self.error:
            return f"{self.error}  (q quits)"
        if self.source.ended and (self.at_end() or not self.recording.samples):
            again = ", home plays it again" if self.recording.samples else ""
            return f"The machine has ended: {self.source.ended}. q quits{again}."
        return "" if self.moment else "Waiting for the machine's first sample."

    def draw_graphs(self, width: int, height: int) -> Text:
        """The graphs over the chosen window."""
        return draw.graphs(self.moment, width, height, self.window_s) if self.moment else Text()

    def draw_table(self, width: int, height: int) -> Text:
        """The processes, or the map of memory."""
        if self.moment and self.mapped:
            return self.memory.draw(self.moment, width, height, self.window_s)
        return table.table(self.rows, width, height, self.chosen) if self.moment else Text()

    def chosen_row(self) -> dict[str, Any] | None:
        """The row of the chosen process, or None if it is not in this moment."""
        return next((row for row in self.rows if row["pid"] == self.chosen), None)

    def on_click(self, event: Click) -> None:
        """Choose the process at the pointer."""
        if event.widget is not None and event.widget.id == "table" and not self.mapped:
            at = next((nr for nr, row in enumerate(self.rows) if row["pid"] == self.chosen), 0)
            nr = table.window(len(self.rows), event.widget.size.height - 1, at) + event.y - 1
            if event.y and nr < len(self.rows):
                self.chosen = self.rows[nr]["pid"]
                self.redraw()

    def action_choose(self, by: int) -> None:
        """Choose the process above or below."""
        if self.rows:
            at = next((nr for nr, row in enumerate(self.rows) if row["pid"] == self.chosen), -1 if by > 0 else 0)
            self.chosen = self.rows[min(max(at + by, 0), len(self.rows) - 1)]["pid"]
            self.redraw()

    def action_pause(self) -> None:
        """Pause the clock, or resume it."""
        self.player.paused = not self.player.paused

    def action_step(self, by: int) -> None:
        """Go one sample forward or back."""
        if self.recording.samples:
            self.player.step(self.recording, by)
            self.tick()

    def action_go(self, to_end: bool) -> None:
        """Go to the first or the last sample."""
        if self.recording.samples:
            self.player.go(self.recording, to_end)
            self.tick()

    def action_faster(self, factor: float) -> None:
        """Multiply the speed by `factor`."""
        self.player.faster(factor)

    def action_zoom(self) -> None:
        """Choose the graphs' next window."""
        self.window_s = WINDOWS[(WINDOWS.index(self.window_s) + 1) % len(WINDOWS)]
        self.redraw()

    def action_map(self) -> None:
        """Switch between the map of memory and the processes."""
        self.mapped = not self.mapped
        self.redraw()

    def action_help(self) -> None:
        """Show the help."""
        self.push_screen(Help())

    def action_ignore(self) -> None:
        """Does nothing: only q and Ctrl-C quit."""

    def action_leave(self) -> None:
        """Quit."""
        self.exit(self.error.code if self.error else OK)

    def action_interrupt(self) -> None:
        """Quit as Ctrl-C does elsewhere."""
        self.exit(INTERRUPTED)

    def hang_up(self, number: int, frame: object) -> None:
        """A signal handler: quit. If the terminal is gone, Textual may wait forever to write to it; then, after
        GRACE_S, leave without restoring the terminal."""
        timer = threading.Timer(GRACE_S, self.break_off)
        timer.daemon = True
        timer.start()
        if self.loop:
            self.loop.call_soon_threadsafe(self.action_interrupt)

    def break_off(self) -> None:
        """Leave at once, but keep the run's result."""
        self.source.close()
        os._exit(INTERRUPTED)
