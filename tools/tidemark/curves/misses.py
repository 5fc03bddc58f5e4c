"""Miss ratios of policies on strings of references: the counts of `tidemark compare` as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import MaxNLocator

from tidemark.report.figure import (
    BLACK,
    DASHES,
    GREY,
    Figure,
    Look,
    canvas,
    colours,
    from_zero,
    heading,
    legend,
    of_rows,
)

COLUMNS = 2
ROW_IN = 1.9
MARKER = 3
BOUNDS = {"LRU": Look(GREY, "--"), "MIN": Look(BLACK, "--")}


def looks(policies: Sequence[str]) -> dict[str, Look]:
    """The look of each policy; policies of one colour differ by their dashes."""
    found: dict[str, Look] = {}
    for policy, colour in colours([policy for policy in policies if policy not in BOUNDS]).items():
        same = sum(look.colour == colour for look in found.values())
        found[policy] = Look(colour, DASHES[same % len(DASHES)])
    return found | {policy: look for policy, look in BOUNDS.items() if policy in policies}


def miss_ratios(cells: Sequence[Mapping[str, Any]]) -> Figure:
    """One axes per string: misses per reference against frames, a line for each policy. `cells` have string,
    references, frames, policy and misses.
    """
    strings = list(dict.fromkeys(cell["string"] for cell in cells))
    of_policy = looks(list(dict.fromkeys(cell["policy"] for cell in cells)))

    def draw() -> Canvas:
        rows, columns = -(-len(strings) // COLUMNS), min(COLUMNS, len(strings))
        picture, axes = canvas(rows, columns, row_in=ROW_IN)
        for one, string in zip(axes.flat, strings):
            for policy, look in of_policy.items():
                mine = [cell for cell in cells if (cell["string"], cell["policy"]) == (string, policy)]
                ratios = [cell["misses"] / cell["references"] for cell in mine]
                style = {"color": look.colour, "linestyle": look.dash, "marker": ".", "markersize": MARKER}
                one.plot([cell["frames"] for cell in mine], ratios, **style)
            heading(one, string, wide=False)
            one.xaxis.set_major_locator(MaxNLocator(integer=True))
            from_zero(one)
        for one in axes.flat[len(strings) :]:
            one.remove()
        picture.supxlabel("frames", fontsize=8)
        picture.supylabel("misses per reference", fontsize=8)
        legend(picture, of_policy, columns=8)
        return picture

    rows = [{**cell, "miss_ratio": cell["misses"] / cell["references"]} for cell in cells]
    caption = "Points were simulated or computed, lines only connect them. No policy can be below MIN."
    return Figure("miss-ratio", "Miss ratios", caption, of_rows(rows), draw)
