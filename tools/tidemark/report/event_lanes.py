"""The lanes of a run with an event stream: what each process did, exactly, and why pages were evicted.

Above, a row for each process; the colour is the state in which it spent most of the time that a point stands for.
Below, evictions by reason. Both are drawn from equal intervals, so a run of any length is drawn in the same time.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Patch

from tidemark.report.figure import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, WIDTH_IN, Figure
from tidemark.report.plots.runs import EVENT_LANES
from tidemark.report.sources import Run
from tidemark.report.text import short
from tidemark.telemetry.event_tracks import REASONS, STATES
from tidemark.telemetry.events import Account, Events, Kind, Why

INTERVALS, TOGETHER, MOST_ROWS = 1200, 8, 40
NONE = "does not exist"
COLOURS = {
    NONE: "#ffffff",
    "running": GREEN,
    "ready": ORANGE,
    "waiting for a page": VERMILION,
    "held back": SKY,
    "asleep": "#d9d9d9",
}
OF_REASON = {Why.KSWAPD: BLUE, Why.DIRECT: VERMILION, Why.CAP: PURPLE, Why.TRIM: GREY}
NAMES = list(COLOURS)


def changes(found: Events) -> np.ndarray:
    """int64[n, 3]: the changes of tasks' states, in order of task and time: pid, ns, and the number of the new state in
    NAMES."""
    state_of = np.array([NAMES.index(STATES[account]) for account in Account])
    switches, wakes = found.rows[found.of(Kind.SWITCH)], found.rows[found.of(Kind.WAKE)]
    parts = [
        (switches["other"], switches["ns"], state_of[np.minimum(switches["how"], len(state_of) - 1)]),
        (switches["pid"], switches["ns"], np.full(len(switches), NAMES.index("running"))),
        (wakes["pid"], wakes["ns"], np.full(len(wakes), NAMES.index("ready"))),
    ]
    every = np.concatenate([np.column_stack([column.astype("i8") for column in part]) for part in parts])
    return every[np.lexsort((every[:, 1], every[:, 0]))]


def shares(times: np.ndarray, states: np.ndarray, end: int, edges: np.ndarray) -> np.ndarray:
    """float64[states, intervals]: the time in ns that a task spent in each state of NAMES between two edges. `times`,
    `states`: its changes; it ends at `end`."""
    until = np.append(times[1:], end).clip(max=end)
    lasted = (until - times).clip(min=0)
    spent = np.zeros((len(NAMES), len(edges) - 1))
    for state in range(1, len(NAMES)):
        sums = np.concatenate([[0], np.cumsum(np.where(states == state, lasted, 0))])
        spent[state] = np.diff(np.interp(edges, np.append(times, until[-1:]), sums))
    spent[0] = np.maximum(np.diff(edges) - spent.sum(axis=0), 0)
    return spent


def lanes(run: Run, found: Events, edges: np.ndarray) -> dict[str, np.ndarray]:
    """By process, such as `thrash 5`, in order of pid: float64[states, intervals] of `shares`."""
    every, names = changes(found), found.names()
    ends = {record["pid"]: 1000 * record["t_us"] for record in run.data.exits}
    kept = {}
    pids, firsts = np.unique(every[:, 0], return_index=True)
    for pid, mine in list(zip(pids.tolist(), np.split(every, firsts[1:])))[: MOST_ROWS + 1]:
        if pid:
            end = min(ends.get(pid, edges[-1]), edges[-1])
            kept[f"{names.get(pid, 'task')} {pid}"] = shares(mine[:, 1], mine[:, 2], int(end), edges)
    return kept


def evictions(found: Events, edges: np.ndarray) -> dict[Why, np.ndarray]:
    """int[intervals]: the evictions between two edges, by reason; reasons without one are left out."""
    rows = found.rows[found.of(Kind.EVICT)]
    reasons = rows["how"] >> 8 & 3
    counts = {why: np.histogram(rows["ns"][reasons == why], edges)[0] for why in Why}
    return {why: count for why, count in counts.items() if count.any()}


def figure(run: Run, found: Events, stem: str) -> Figure | None:
    """The figure of a run and its events; None if there are none."""
    if not len(found):
        return None
    edges = np.linspace(0, float(found.rows["ns"][-1]), INTERVALS + 1)
    of_process, of_reason = lanes(run, found, edges), evictions(found, edges)
    table = {"time_s": edges[1:] / 1e9} | {f"evicted_{why.name.lower()}": count for why, count in of_reason.items()}
    for name, spent in of_process.items():
        table |= {f"{name} {state}_ms": ms / 1e6 for state, ms in zip(NAMES[1:], spent[1:]) if ms.any()}
    title, tasks = f"{EVENT_LANES.title}: {run.label}", len(set(found.names()) - {0})
    caption = EVENT_LANES.caption + f" Only {MOST_ROWS} of {tasks} tasks have a row." * (tasks > MOST_ROWS)
    return Figure(f"{EVENT_LANES.name}-{stem}", title, caption, table, lambda: draw(edges, of_process, of_reason))


def draw(edges: np.ndarray, of_process: Mapping[str, np.ndarray], of_reason: Mapping[Why, np.ndarray]) -> Canvas:
    """Draw the picture."""
    height = 0.9 + 0.16 * len(of_process) + 1.6
    picture = Canvas(figsize=(WIDTH_IN, height), layout="constrained")
    above, below = picture.subplots(2, 1, sharex=True, height_ratios=(max(0.16 * len(of_process), 0.3), 1.3))
    most = np.array([spent.argmax(axis=0) for spent in of_process.values()]).reshape(len(of_process), -1)
    shades = np.array([[int(COLOURS[name][at : at + 2], 16) for at in (1, 3, 5)] for name in NAMES], np.uint8)
    extent = (0, edges[-1] / 1e9, len(of_process) - 0.5, -0.5)
    above.imshow(shades[most], aspect="auto", extent=extent, interpolation="nearest")
    above.set_yticks(range(len(of_process)), [short(name, 18) for name in of_process], fontsize=6)
    above.grid(visible=False)
    if of_reason:
        rates = [per_second(edges, count) for count in of_reason.values()]
        colours = [OF_REASON[why] for why in of_reason]
        below.stackplot(edges[TOGETHER::TOGETHER] / 1e9, rates, colors=colours, linewidth=0, step="pre")
    below.set(ylabel="evictions / s", xlabel="time since boot, s", xlim=(0, edges[-1] / 1e9))
    below.set_ylim(bottom=0)
    handles = [Patch(facecolor=COLOURS[name], edgecolor="#bbbbbb", label=name) for name in NAMES[1:]]
    handles += [Patch(facecolor=OF_REASON[why], label=f"evicted: {REASONS[why]}") for why in of_reason]
    picture.legend(handles=handles, loc="outside upper left", ncols=3, handlelength=1.2)
    return picture


def per_second(edges: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Counts of intervals as rates of TOGETHER intervals each: single ones would be needles."""
    rates: np.ndarray = counts.reshape(-1, TOGETHER).sum(axis=1) / np.diff(edges[::TOGETHER]) * 1e9
    return rates
