"""The stream of QEMU's plugin becomes a trace's runs."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from soak import soak_but
from tidemark.trace import INSTRUCTION, LOAD, MAX_COUNT, STORE
from tidemark.trace.pack import (
    BEGIN,
    BIRTH,
    CAME,
    CODE,
    DEATH,
    END,
    FETCHES,
    FILE,
    FILE_SHIFT,
    OF,
    SPACE,
    SPACES,
    STREAM_VERSION,
    TAIL,
    WORD,
    Packer,
    StreamError,
    tagged,
)

Run = tuple[int, int, int, int, int]  # space, page, kind, count, insns


class Sink:
    """Receives runs like a trace's writer, into a list."""

    def __init__(self) -> None:
        self.runs: list[Run] = []

    def append(self, *columns: np.ndarray) -> None:
        self.runs += zip(*(column.tolist() for column in columns))


def access(page: int, store: bool = False, fetches: int = 0) -> int:
    """The plugin's word for a load or store."""
    return page << 12 | store << 11 | fetches


def stream(*words: int) -> bytes:
    """A whole stream that contains these words."""
    words = (tagged(BEGIN, STREAM_VERSION), *words)
    return np.array([*words, tagged(END, len(words))], WORD).tobytes()


def packed(data: bytes, fetches_too: bool = True, piece: int = 1 << 20) -> list[Run]:
    """The runs of a whole stream that arrives in pieces."""
    sink = Sink()
    packer = Packer(sink, fetches_too)
    for at in range(0, len(data), piece):
        packer.feed(data[at : at + piece])
    packer.finish()
    return sink.runs


def test_what_the_policy_is_told_stands_between_the_runs() -> None:
    """Also between two runs that would otherwise be merged; and a reused page directory is another space."""
    words = [tagged(SPACES, 7), tagged(SPACE, 7), access(9), tagged(OF, 7), tagged(CAME, 0x1000009), access(9)]
    words += [tagged(DEATH, 7), tagged(SPACES, 7)]
    sink = Sink()
    packer = Packer(sink)
    packer.feed(stream(*words))
    packer.finish()
    assert sink.runs == [(0, 9, LOAD, 1, 0), (0, 9, LOAD, 1, 0)]
    first, again = (7 << 12, 0), (7 << 12, 1)
    assert packer.notes == [(0, SPACES, first, 7), (1, CAME, first, 0x1000009), (2, SPACES, again, 7)]
    assert packer.spaces.numbers == {first: 0}


def test_fetches_come_before_the_access_and_runs_are_merged() -> None:
    words = [tagged(SPACE, 7), tagged(CODE, 0x8048), access(0x9000, fetches=2), access(0x9000), access(0x9000, True, 1)]
    words += [tagged(FETCHES, 5), tagged(CODE, 0x8049), tagged(FETCHES, 1)]
    assert packed(stream(*words)) == [
        (0, 0x8048, INSTRUCTION, 2, 2),
        (0, 0x9000, LOAD, 2, 0),
        (0, 0x8048, INSTRUCTION, 1, 1),
        (0, 0x9000, STORE, 1, 0),
        (0, 0x8048, INSTRUCTION, 5, 5),
        (0, 0x8049, INSTRUCTION, 1, 1),
    ]


def test_without_fetches_they_are_virtual_time_of_their_own_space() -> None:
    words = [tagged(SPACE, 1), access(5, fetches=3), tagged(FETCHES, 100), access(5, fetches=1), tagged(FETCHES, 7)]
    words += [tagged(SPACE, 2), access(5, fetches=2), tagged(SPACE, 1), access(5, True)]
    assert packed(stream(*words), fetches_too=False) == [(0, 5, LOAD, 2, 104), (1, 5, LOAD, 1, 2), (0, 5, STORE, 1, 7)]


def test_an_instruction_in_two_pages_refers_to_both_and_counts_once() -> None:
    words = [tagged(SPACE, 1), tagged(CODE, 8), tagged(FETCHES, 4), tagged(TAIL, 9), tagged(CODE, 9), access(3)]
    assert packed(stream(*words)) == [(0, 8, INSTRUCTION, 4, 4), (0, 9, INSTRUCTION, 1, 0), (0, 3, LOAD, 1, 0)]


def test_a_run_goes_on_after_another_space_that_referred_to_nothing() -> None:
    words = [tagged(SPACE, 1), access(5), tagged(SPACE, 2), tagged(SPACE, 1), access(5)]
    assert packed(stream(*words)) == [(0, 5, LOAD, 2, 0)]


def test_a_run_longer_than_a_count_is_two() -> None:
    most = (1 << 26) - 1
    words = [tagged(SPACE, 1), tagged(CODE, 8), *[tagged(FETCHES, most)] * 65]
    runs = packed(stream(*words))
    assert sum(count for *_, count, _ in runs) == sum(insns for *_, insns in runs) == 65 * most
    assert [run[:3] for run in runs] == [(0, 8, INSTRUCTION)] * 2 and all(run[3] <= MAX_COUNT for run in runs)


def one_by_one(words: list[int]) -> list[tuple[int, int, int]]:
    """Every reference (cr3, page, kind) of a stream, computed from the definition."""
    out, code, cr3 = [], 0, 0
    for word in words:
        tag, value = word >> 26 & 15, word & (1 << 26) - 1
        if word < 3 << 30:
            out += [(cr3, code, INSTRUCTION)] * (word & 2047) + [(cr3, word >> 12, LOAD + (word >> 11 & 1))]
        elif tag == FETCHES:
            out += [(cr3, code, INSTRUCTION)] * value
        elif tag == TAIL:
            out.append((cr3, value, INSTRUCTION))
        elif tag == CODE:
            code = value
        elif tag == SPACE:
            cr3 = value
    return out


@pytest.mark.parametrize("seed", soak_but(range(5), 0))
def test_random_streams_in_random_pieces_mean_what_their_definition_says(seed: int) -> None:
    chance = random.Random(seed)
    choices = [
        lambda: access(chance.randrange(4), chance.random() < 0.5, chance.choice((0, 0, 1, 5, 2047))),
        lambda: tagged(chance.choice((CODE, TAIL)), chance.randrange(4)),
        lambda: tagged(FETCHES, chance.randrange(3000)),
        lambda: tagged(SPACE, chance.randrange(3)),
    ]
    words = [tagged(SPACE, 0), *(choices[min(chance.randrange(20) // 8, 3)]() for _ in range(3000))]
    order: dict[int, int] = {}
    expected = [(order.setdefault(cr3, len(order)), page, kind) for cr3, page, kind in one_by_one(words)]
    runs = packed(stream(*words), piece=chance.choice((3, 1000, 1 << 20)))
    assert [run[:3] for run in runs for _ in range(run[3])] == expected, f"seed {seed}"
    assert all(before[:3] != after[:3] for before, after in pairwise(runs)), f"seed {seed}"


def test_a_page_directory_is_another_space_after_its_death() -> None:
    words = [tagged(BIRTH), tagged(SPACE, 1), access(5), tagged(SPACE, 2), tagged(DEATH, 1), access(5)]
    words += [tagged(SPACE, 1), access(6), tagged(BIRTH), tagged(SPACE, 2), tagged(DEATH, 1)]
    packer = Packer(Sink())
    packer.feed(stream(*words))
    events = [{"pid": pid, "comm": name, "cr3": 0x1000, "t_us": pid * 10} for pid, name in ((4, "old"), (9, "new"))]
    rows = packer.spaces.table(events, whole=True)
    assert [(row["space"], row["name"], row.get("pid"), row.get("since_us")) for row in rows] == [
        (0, "old", 4, 40),
        (1, "cr3 0x2000", None, None),
        (2, "new", 9, 90),
    ]
    with pytest.raises(StreamError, match="1 mm events, the plugin saw 2"):
        packer.spaces.table(events[:1], whole=True)
    assert [row["name"] for row in packer.spaces.table(events[:1], whole=False)] == ["old", "cr3 0x2000", "cr3 0x1000"]


@pytest.mark.parametrize("cut", [1, 4, 8, 12])
def test_a_stream_that_was_cut_off_is_refused(cut: int) -> None:
    with pytest.raises(StreamError, match="cut off"):
        packed(stream(tagged(SPACE, 1), access(5))[:-cut])


@pytest.mark.parametrize(
    "words, said",
    [
        ((tagged(BEGIN, 99),), "make lab"),
        ((access(5),), "make lab"),
        ((tagged(BEGIN, STREAM_VERSION), access(5), tagged(END, 1)), "damaged at word 2"),
        ((tagged(BEGIN, STREAM_VERSION), tagged(FILE, 7 << FILE_SHIFT)), "damaged: a word about files"),
        ((tagged(BEGIN, STREAM_VERSION), access(5), tagged(BEGIN, STREAM_VERSION)), "damaged at word 2"),
        ((tagged(BEGIN, STREAM_VERSION), tagged(END, 1), access(5)), "goes on after its end"),
    ],
    ids=["version", "foreign", "words_missing", "unknown_tag", "second_begin", "after_the_end"],
)
def test_a_damaged_stream_is_refused(words: tuple[int, ...], said: str) -> None:
    with pytest.raises(StreamError, match=said):
        packed(np.array(words, WORD).tobytes())


def test_more_spaces_than_a_trace_holds_are_refused() -> None:
    words = [word for cr3 in range(65537) for word in (tagged(SPACE, cr3), access(5))]
    with pytest.raises(StreamError, match="at most 65536 address spaces"):
        packed(stream(*words))
