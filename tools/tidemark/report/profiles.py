"""Profiles side by side: a horizontal bar for each function and run, after the report's figures 7.9 and 7.10."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Patch

from tidemark.debug import profile
from tidemark.debug.profile import Profile
from tidemark.report.figure import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION, WIDTH_IN, Figure, of_rows

COLOURS = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, GREY)
BAR_IN = 0.11
CAPTION = (
    "Where the time went, after McMenamin 2011, figures 7.9 and 7.10. Above, shares of all time: idle, no task could "
    "run; user, all programs together; and the kernel. Below, each function's share of the kernel's own time."
)
KINDS = {"idle": GREY, "user": GREEN, "kernel": BLUE}


def of_profiles(profiles: Sequence[Profile], top: int) -> Figure:
    """The figure of idle, user and the `top` first functions of each profile; the table has all functions."""
    shown = profile.shortened(profiles, top)
    return Figure("functions", "Functions of the kernel", CAPTION, of_rows(profile.rows(profiles)), lambda: draw(shown))


def draw(profiles: Sequence[Profile]) -> Canvas:
    """Draw a bar of all time for each run, and below it the functions, the first at the top."""
    names = [name for name in profile.functions(profiles) if name not in (profile.IDLE, profile.USER)]
    heights = 0.35 + 0.18 * len(profiles), 0.3 + len(names) * (BAR_IN * len(profiles) + 0.05)
    picture = Canvas(figsize=(WIDTH_IN, 0.5 + sum(heights)), layout="constrained")
    above, below = picture.subplots(2, 1, height_ratios=heights)
    shares(above, profiles)
    bars(below, profiles, names, Profile.of_kernel)
    below.set_yticks(range(len(names)), names)
    below.set_ylim(len(names) - 0.5, -0.5)
    below.set_xlabel("share of the kernel's own time, %")
    handles = [Patch(color=colour, label=described(one)) for one, colour in zip(profiles, COLOURS)]
    picture.legend(handles=handles, loc="outside upper left", ncols=1 if len(profiles) < 3 else 2)
    return picture


def shares(axes: Axes, profiles: Sequence[Profile]) -> None:
    """Draw what share of all time was idle, the programs' and the kernel's."""
    for at, one in enumerate(profiles):
        begin = 0.0
        for kind, share in zip(
            KINDS, (one.of_time(profile.IDLE), one.of_time(profile.USER), one.kernel / max(one.total, 1))
        ):
            axes.barh(at, 100 * share, 0.7, left=begin, color=KINDS[kind])
            if share > 0.08:
                axes.text(begin + 50 * share, at, f"{kind} {100 * share:.3g} %", ha="center", va="center", fontsize=6,
                          color="white")  # fmt: skip
            begin += 100 * share
    axes.set_yticks(range(len(profiles)), [one.name for one in profiles])
    axes.set(
        ylim=(len(profiles) - 0.5, -0.5),
        xlim=(0, 100),
        xlabel="share of all time, % (grey idle, green user, blue kernel)",
    )
    axes.grid(visible=False)


def described(one: Profile) -> str:
    """A run's text in the legend: name, time, and the unit counted."""
    return f"{one.name}: {one.total / one.per_s:,.3f} s, in the kernel {one.kernel / one.per_s:,.3f} s ({one.unit})"


def value_text(percent: float) -> str:
    """The text at a bar: at most three digits; empty for 0."""
    if percent < 0.01:
        return "<0.01" if percent else ""
    return f"{percent:.2f}" if percent < 10 else f"{percent:.1f}"


def bars(
    axes: Axes, profiles: Sequence[Profile], names: Sequence[str], share: Callable[[Profile, str], float | None]
) -> None:
    """Draw the bars of all profiles in one pair of axes, each with its value beside it."""
    thick = 0.8 / len(profiles)
    for nr, (one, colour) in enumerate(zip(profiles, COLOURS)):
        places = [at - 0.4 + thick * (nr + 0.5) for at in range(len(names))]
        percent = [100 * (share(one, name) or 0.0) for name in names]
        axes.barh(places, percent, thick * 0.9, color=colour)
        for place, value in zip(places, percent):
            axes.annotate(
                value_text(value), (value, place), xytext=(2, 0),
                textcoords="offset points", va="center", fontsize=5.5, color="#444444",
            )  # fmt: skip
    axes.margins(x=0.12)
    axes.set_xlim(left=0)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
