"""A moment of a machine as text: graphs, zones, disk, admission, the policy's lists. Pure; widths are in characters.

Characters say all that colours say, so that text without colours is complete.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from rich.text import Text

from tidemark.watch import model
from tidemark.watch.model import Moment, Pressure

DIM, NUMBER = "grey62", "bold"
UTILISATION, FAULTS, FULL = "#57c785", "#4aa8ff", "#ff6b5e"
EMPTY = "grey37"
MARKS = {"min": "#ff6b5e", "low": "#ffb347", "high": "#57c785"}
RED = (" THRASHING ", "bold white on #c62828")
AMBER = (" PRESSED ", "bold black on #ffb347")
CALM = (" CALM ", "bold black on #57c785")
BLOCKS = " ▁▂▃▄▅▆▇█"
LABEL = 8


def join(lines: Iterable[Text]) -> Text:
    """Lines, one under the other."""
    return Text("\n").join(lines)


def count(number: float) -> str:
    """A number, rounded, with separators of thousands."""
    return f"{number:,.0f}"


def percent(share: float) -> str:
    """A share of 1 as a percentage."""
    return f"{hundredths(share)} %"


def hundredths(share: float) -> str:
    """A share of 1 in hundredths, with one decimal if it is below 10."""
    return f"{100 * share:.1f}" if 0 < share < 0.0995 else f"{100 * share:.0f}"


def milliseconds(number: float) -> str:
    """A duration in ms, with one decimal if it is below 100."""
    return f"{number:,.0f} ms" if number >= 100 else f"{number:.1f} ms"


def sides(left: Text, right: str, width: int) -> Text:
    """A line with text at both ends; `right` is left out if there is no room for it."""
    gap = width - left.cell_len - len(right)
    return left.append(" " * gap + right, DIM) if right and gap > 0 else left


def bars(values: np.ndarray, height: int, top: float) -> list[str]:
    """`values` as columns in `height` lines, the highest first; `top` is the full height. nan leaves a gap."""
    levels = np.ceil(np.clip(np.nan_to_num(values) / top, 0, 1) * height * 8 - 1e-9).astype(int)
    rows = (np.clip(levels - 8 * row, 0, 8) for row in reversed(range(height)))
    return ["".join(BLOCKS[level] for level in row) for row in rows]


def graph(title: Text, scale: str, values: np.ndarray, top: float, style: str, height: int) -> list[Text]:
    """A title over `height` lines of bars."""
    return [sides(title, scale, len(values)), *(Text(line, style) for line in bars(values, height, top))]


def top_of(values: np.ndarray) -> float:
    """The end of a scale: the greatest value, rounded up to 1, 2 or 5 times a power of ten."""
    greatest = float(np.nanmax(values, initial=0, where=~np.isnan(values)))
    if greatest <= 0:
        return 1.0
    power = 10 ** np.floor(np.log10(greatest))
    return float(next(step * power for step in (1, 2, 5, 10) if greatest <= step * power * (1 + 1e-9)))


def lit(pressure: Pressure) -> tuple[str, str]:
    """The lamp's word and style."""
    return RED if pressure.thrashes else AMBER if pressure.full >= model.PRESSED else CALM


def lamp(pressure: Pressure | None) -> Text:
    """The lamp and its numbers."""
    if pressure is None:
        return Text("no PSI in this telemetry", DIM)
    label, style = lit(pressure)
    return Text.assemble((label, style), f" full {hundredths(pressure.full)} some {hundredths(pressure.some)} %")


def graphs(moment: Moment, width: int, height: int, window_s: float = 0) -> Text:
    """Graphs of utilisation, major faults per second and memory pressure over virtual time, in `height` lines."""
    t = moment.series["t"]
    edges = model.edges(t, window_s, width)
    busy = np.clip(1 - model.rate(t, moment.series["idle"], edges), 0, 1)
    faults = model.rate(t, moment.series["majflt"], edges) * 1e6
    full = model.rate(t, moment.series["full"], edges)
    rows, top = max(height - 4, 3), top_of(faults)
    most = -(-rows // (3 if moment.pressure else 2))
    more = (rows - most + 1) // 2 if moment.pressure else rows - most
    now = f"utilisation {percent(model.utilisation(moment))}"
    lines = graph(Text(now, NUMBER), "to 100 %", busy, 1, UTILISATION, most)
    now = f"major faults {model.per_second(moment, 'vm', 'pgmajfault'):,.1f}/s"
    lines += graph(Text(now, NUMBER), f"to {top:,g}/s", faults, top, FAULTS, more)
    scale = "to 100 %" if moment.pressure else ""
    lines += graph(lamp(moment.pressure), scale, full, 1, FULL, rows - most - more)
    axis = Text(f"{edges[0] / 1e6:,.1f} s", DIM)
    return join([*lines, sides(axis, f"{edges[-1] / 1e6:,.1f} s", width)])


def items(label: str, pairs: Iterable[tuple[str, str]], width: int) -> list[Text]:
    """`label   name value  name value …`, on as many lines as needed."""
    lines = [Text(f"{label:<{LABEL}}", DIM)]
    for name, value in pairs:
        pair = Text.assemble((f"{name} " if name else "", DIM), (value, NUMBER))
        if lines[-1].cell_len > LABEL and lines[-1].cell_len + 2 + pair.cell_len > width:
            lines.append(Text(" " * LABEL))
        lines[-1].append("  " if lines[-1].cell_len > LABEL else "").append_text(pair)
    return lines


def zone_bar(free: int, zone: Mapping[str, int], width: int) -> Text:
    """Free pages as a bar on a scale that ends at twice the high watermark, with the three watermarks as marks. The
    colour is that of the lowest watermark that is not exceeded."""
    scale = max(2 * zone["high"], 1)
    filled = min(round(width * free / scale), width)
    colour = next((style for name, style in MARKS.items() if free <= zone[name]), MARKS["high"])
    cells = [("█", colour) if nr < filled else ("·", EMPTY) for nr in range(width)]
    for name, style in MARKS.items():
        at = min(round(width * zone[name] / scale), width - 1)
        cells[at] = ("┃", f"black on {colour}") if at < filled else ("│", style)
    if free > scale:
        cells[-1] = ("▶", colour)
    return Text.assemble(*cells)


def zones(moment: Moment, width: int) -> list[Text]:
    """A line for each zone that has memory, under a heading that names the marks."""
    heading = Text(f"{'free':<{LABEL}}", DIM).append("watermarks ", DIM)
    heading.append_text(Text(" ").join(Text(f"│{name}", style) for name, style in MARKS.items()))
    lines = [heading]
    for free, zone in zip(moment.now["free"], moment.start["zones"]):
        if zone["managed"]:
            line = Text(f"{zone['name']:<{LABEL}}", DIM).append(f"{count(free):>7} ", NUMBER)
            lines.append(line.append_text(zone_bar(free, zone, max(width - LABEL - 8, 8))))
    return lines


def disk(moment: Moment, width: int) -> list[Text]:
    """The swap disk: its queue, how busy it was, and how long its requests took."""
    if "disk" not in moment.now:
        return items("disk", [("", "none")], width)
    busy, service, response = model.disk_service(moment)
    pairs = [("queue", count(moment.now["disk"]["queue"])), ("busy", percent(busy))]
    pairs += [("service", milliseconds(service)), ("response", milliseconds(response))]
    pairs += [("in", f"{model.per_second(moment, 'vm', 'pswpin'):,.0f}/s")]
    pairs += [("out", f"{model.per_second(moment, 'vm', 'pswpout'):,.0f}/s")]
    return items("disk", pairs, width)


def guard(moment: Moment, width: int) -> list[Text]:
    """The guard's state: all its members."""
    state = moment.now.get("guard")
    if state is None:
        return [Text("guard: none", DIM)]
    members = state.items() if isinstance(state, dict) else [("", state)]
    return items("guard", [(name, str(value)) for name, value in members], width)


def event(moment: Moment) -> list[Text]:
    """The last event, such as the end of a process."""
    if moment.event is None:
        return []
    record = moment.event
    said = [str(record[name]) for name in ("pid", "comm", "name", "policy", "rule", "what") if name in record]
    said += [f"status {record['status']}"] if record.get("status") else []
    return [Text(f"{'event':<{LABEL}}", DIM).append(f"{record['t_us'] / 1e6:,.2f} s {record['ev']} {' '.join(said)}")]


def machine(moment: Moment, width: int) -> Text:
    """Zones, disk, admission, guard, reclaim and the last event."""
    now = moment.now
    queue = [("running", count(now["running"])), ("held", count(now["held"]))]
    queue += [("waits", count(now["vm"].get("admission_wait", 0)))]
    lines = [*zones(moment, width), *disk(moment, width), *items("tasks", queue, width), *guard(moment, width)]
    reclaim = [("priority", str(now.get("priority", "?"))), ("stalls", count(now["vm"].get("allocstall", 0)))]
    reclaim += [("slots", count(now.get("swap_free", 0)))]
    lines += [*items("reclaim", reclaim, width), *event(moment)]
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return join(lines)


def lists(moment: Moment, width: int) -> Text:
    """The sizes of the policy's lists, in as many columns as fit."""
    shown = moment.now["lists"]
    if not shown:
        return Text("the policy shows no lists", DIM)
    name_width = max(map(len, shown))
    value_width = max(max(len(count(value)) for value in shown.values()), 5)
    columns = max(1, (width + 2) // (name_width + value_width + 3))
    cells = [
        Text(f"{name:<{name_width}} ", DIM).append(f"{count(value):>{value_width}}", NUMBER)
        for name, value in shown.items()
    ]
    return join(Text("  ").join(row) for row in rows_of(cells, columns))


def rows_of(cells: Sequence[Text], columns: int) -> list[Sequence[Text]]:
    """`cells` in rows of `columns`, filled column by column."""
    height = -(-len(cells) // columns)
    return [cells[row::height] for row in range(height)]
