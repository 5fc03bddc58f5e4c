"""The figure of contention: the share of time that n processors wait for the lock, without and with lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FixedLocator, FuncFormatter

from tidemark.contention.replay import Waiting
from tidemark.report.figure import BLUE, VERMILION, Figure, Look, canvas, heading, legend, of_rows

LOOKS = {"without lists": Look(BLUE), "with lists of single frames": Look(VERMILION, "--")}
CAPTION = (
    "Share of all processors' time spent waiting for the lock of the zone, if each of n processors replays the "
    "recorded sections. The replay leaves out the cost of moving the lock between processors."
)
ROW_IN = 2.0
Case = Sequence[Sequence[Waiting]]  # in the order of LOOKS, each by processors


def of_cases(cases: Mapping[str, Case]) -> Figure:
    """Axes for each case, whose name is its title."""
    rows = [
        {"case": title, "lists": name, "processors": one.processors, "waiting_percent": 100 * one.share}
        for title, case in cases.items()
        for name, line in zip(LOOKS, case)
        for one in line
    ]
    return Figure("contention", "Contention", CAPTION, of_rows(rows), lambda: draw(cases))


def draw(cases: Mapping[str, Case]) -> Canvas:
    """Draw the shares in percent; the axis of processors is logarithmic."""
    picture, axes = canvas(1, len(cases), ROW_IN, sharey=True)
    for one, (title, case) in zip(axes.flat, cases.items()):
        for look, line in zip(LOOKS.values(), case):
            shares = [100 * each.share for each in line]
            style = {"color": look.colour, "linestyle": look.dash, "marker": ".", "markersize": 4}
            one.plot([each.processors for each in line], shares, **style)
        one.set_xscale("log", base=2)
        one.xaxis.set_major_locator(FixedLocator([each.processors for each in case[0]]))
        one.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        one.set_xlabel("processors")
        one.set_ylim(0, 100)
        heading(one, title, wide=len(cases) == 1)
    axes[0, 0].set_ylabel("time spent waiting, %")
    legend(picture, LOOKS)
    return picture
