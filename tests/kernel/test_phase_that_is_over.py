"""Pages of a finished phase are evicted sooner than with FIFO, except under policies whose definitions forbid it: these
have as many faults as a naive model, or as libcachesim. The numbers are those of docs/reference/policies.md."""

from __future__ import annotations

import random
import re
import statistics
from typing import Any

import libcachesim
import pytest
from soak import soak_but
from test_models import model_of
from tidemark.machine import qemu
from tidemark.strings import refstrings, vmsim

FRAMES = 100
OFTEN = random.Random(1)
REFERENCES = [page for new in range(1000) for page in (OFTEN.randrange(40), OFTEN.randrange(40), 1000 + new)]
REFERENCES += [100 + at % 80 for at in range(8000)]
SHORT_TAU = "wsrandom.tau_ms=10"
STRING = refstrings.find(" ".join(map(str, REFERENCES)))
FORBIDDEN = ("random", "clock2q", "halflife", "sieve", "useonce", "wsrandom")
ALLOWED = [name for name in vmsim.policies() if name not in (*FORBIDDEN, "fifo")]


def faults(policy: str, *parameters: str) -> int:
    return vmsim.run(vmsim.build(policy), STRING, FRAMES, parameters).faults


def model_faults(name: str, **options: Any) -> int:
    model = model_of(name).Model(FRAMES, **options)
    return sum(not model.refer(page, 0)[0] for page in REFERENCES)


def library_faults(cache: Any) -> int:
    return sum(not cache.get(libcachesim.Request(obj_size=1, obj_id=page)) for page in REFERENCES)


def documented(name: str) -> list[int]:
    """The numbers of a policy's row."""
    text = (qemu.ROOT / "docs/reference/policies.md").read_text()
    section = text[text.index("### When a phase is over") :].partition("\n## ")[0]
    rows = re.findall(rf"^(?:\| )?`{name}`.*(?:\n[^|\n].*)*", section, re.MULTILINE)
    assert len(rows) == 1
    return [int(number) for number in re.findall(r"\b\d{4}\b", rows[0])]


@pytest.mark.parametrize("policy", soak_but(ALLOWED, "2q", "ws", "aging"))
def test_has_fewer_faults_than_fifo(policy: str) -> None:
    assert faults(policy) < faults("fifo") == 1537


def test_random_takes_what_is_used_as_gladly() -> None:
    found = [faults("random", f"random.seed={seed}") for seed in range(1, 21)]
    assert [statistics.median_low(found)] == documented("random")
    assert abs(library_faults(libcachesim.Random(FRAMES)) - statistics.median(found)) < 100


def test_wsrandom_needs_a_tau_that_suits_the_program() -> None:
    sets = [[f"wsrandom.seed={seed}"] for seed in range(1, 21)]
    found = [statistics.median_low([faults("wsrandom", *more, *seed) for seed in sets]) for more in ([], [SHORT_TAU])]
    assert found == documented("wsrandom")
    assert found[1] < faults("fifo")


def test_clock2q_has_too_few_ghosts() -> None:
    """The policy has as many ghosts as its paper says; libcachesim has 90 for 100 frames by default."""
    few, enough = faults("clock2q"), faults("clock2q", "clock2q.ghost_percent=75")
    assert [few, enough] == documented("clock2q")
    assert model_faults("clock2q") == few
    assert library_faults(libcachesim.Clock2QPlus(FRAMES, ghost_size_ratio=0.5)) == few
    assert library_faults(libcachesim.Clock2QPlus(FRAMES, ghost_size_ratio=0.75)) == enough


def test_halflife_is_fifo_until_a_page_is_old() -> None:
    found = faults("halflife")
    assert [found] == documented("halflife")
    assert found == faults("fifo") != faults("halflife", "halflife.half_life_ms=25")


def test_sieves_hand_does_not_come_round() -> None:
    found = faults("sieve")
    assert [found] == documented("sieve")
    assert found == model_faults("sieve") == library_faults(libcachesim.Sieve(FRAMES))


def test_useonce_does_not_look_at_the_active_list() -> None:
    found = faults("useonce")
    assert [found] == documented("useonce")
    assert found == model_faults("useonce")


def test_aging_needs_ticks_that_suit_the_program() -> None:
    """Five times as many references per tick correspond to five times longer ticks."""
    found = [faults("aging"), model_faults("aging", step_ns=20_000)]
    assert found == documented("aging")
    assert model_faults("aging", step_ns=100_000) == found[0]
