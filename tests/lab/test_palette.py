"""The report's colours as seen by colour-blind readers: simulated after G. Machado, M. Oliveira, L. Fernandes, "A
physiologically-based model for simulation of color vision deficiency", IEEE TVCG 15(6), 2009, at full severity.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from tidemark.report import figure, overview
from tidemark.report.arena import RATIO_STEPS
from tidemark.report.heatmap import STEPS

pytestmark = pytest.mark.unbuilt

SIGHTS = {
    "all cones": np.eye(3),
    "no long": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "no middle": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
    ),
    "no short": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]]
    ),
}
XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]])
WHITE = np.array([0.95047, 1.0, 1.08883])
JUST = 2.3  # a just noticeable difference in CIELAB


def lab(colour: str, sight: np.ndarray) -> np.ndarray:
    """A colour such as #0072b2 in CIELAB, as seen with this sight."""
    part = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    xyz = XYZ @ np.clip(sight @ linear, 0, 1) / WHITE
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def nearest(pairs: Sequence[tuple[str, str]], sight: str) -> float:
    """The least difference of any pair, in just noticeable differences."""
    seen = SIGHTS[sight]
    return min(float(np.linalg.norm(lab(a, seen) - lab(b, seen))) for a, b in pairs) / JUST


@pytest.mark.parametrize("sight", SIGHTS)
def test_policies_are_told_apart(sight: str) -> None:
    assert nearest([*itertools.combinations(figure.OF_POLICY.values(), 2)], sight) > 4


@pytest.mark.parametrize("sight", SIGHTS)
def test_neighbours_in_a_stack_are_told_apart(sight: str) -> None:
    rest = overview.looks([overview.OTHERS, overview.UNMAPPED]).values()
    order = [*figure.STACK, *(look.colour for look in rest)]
    assert nearest([*itertools.pairwise(order)], sight) > 6


@pytest.mark.parametrize("sight", SIGHTS)
def test_the_bar_of_thrashing_is_seen_on_the_ground_and_beside_a_line(sight: str) -> None:
    assert nearest([(figure.VERMILION, "#ffffff"), (figure.VERMILION, "#222222")], sight) > 3


@pytest.mark.parametrize("sight", SIGHTS)
def test_steps_of_the_arena_grow_darker(sight: str) -> None:
    lightness = [lab(colour, SIGHTS[sight])[0] for colour in STEPS]
    assert len(STEPS) == len(RATIO_STEPS) + 1 and all(b < a - 5 for a, b in itertools.pairwise(lightness))


def test_simulation_can_fail() -> None:
    """Red and green that only readers without long or medium cones cannot distinguish."""
    pair = [("#c83c3c", "#648c32")]
    assert nearest(pair, "all cones") > 30 and nearest(pair, "no middle") < 12
