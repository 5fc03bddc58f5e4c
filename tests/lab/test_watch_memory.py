"""The map of memory of `tidemark watch`: its data, and its view."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenes import START, numbered, recorded, sample
from test_watch_screen import Script, acted, seen
from tidemark.errors import LabError
from tidemark.telemetry import owners
from tidemark.watch.app import Watch
from tidemark.watch.memory import FRAMES, Memory
from tidemark.watch.player import Player

FIRST, SECOND = 4096, 8192
MADE = [{"t_us": 1, "ev": "mm", "pid": 1, "comm": "prog1", "cr3": FIRST}]
MADE += [{"t_us": 2, "ev": "mm", "pid": 2, "comm": "prog2", "cr3": SECOND}]
SAMPLES = [sample(100), sample(200)]
RECORDS = numbered([START, *MADE, *SAMPLES])
NOTED = [
    f"[[{owners.KERNEL},512],[{FIRST},256],[{SECOND},128],[{owners.FREE},128]]\n",
    f"[[{owners.KERNEL},512],[{FIRST},128],[{SECOND},256],[12288,64],[{owners.FREE},64]]\n",
]


def noted(folder: Path, text: str, name: str = owners.FILE) -> Path:
    """A folder with this part of the file."""
    with (folder / name).open("a") as file:
        file.write(text)
    return folder


def drawn(memory: Memory, height: int = 15) -> list[str]:
    """The map at the last sample."""
    return memory.draw(recorded(SAMPLES).moment(1), 40, height).plain.split("\n")


def test_a_line_is_a_frame_and_a_letter_who_has_it(tmp_path: Path) -> None:
    memory = Memory(noted(tmp_path, "".join(NOTED)))
    memory.add(RECORDS)
    lines = drawn(memory)
    taken_over = "a" * 39 + "b"
    kernel = lines.index("#" * 40)
    assert lines[0].strip() == "" and 0 < lines.index(taken_over) < kernel, "the last frames come first"
    assert memory.columns[0].counts == {-owners.KERNEL - 1: 512, 1: 256, 2: 128, -owners.FREE - 1: 128}
    assert "taken   b from a 128" in lines, "of all frames, not of those that are drawn"
    assert any("# kernel 512" in line and "b prog2 2 256" in line for line in lines)


def test_it_is_read_while_it_grows(tmp_path: Path) -> None:
    memory = Memory(noted(tmp_path, NOTED[0] + NOTED[1][:20], f"{owners.FILE}.partial"))
    memory.add(RECORDS)
    assert [column.t_us for column in memory.columns] == [100_000]
    noted(tmp_path, NOTED[1][20:], f"{owners.FILE}.partial")
    (tmp_path / f"{owners.FILE}.partial").rename(tmp_path / owners.FILE)
    memory.add([])
    assert [column.t_us for column in memory.columns] == [100_000, 200_000]
    assert len(memory.columns[0].some) == FRAMES
    memory.close()


def test_what_is_no_map_is_said(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="cannot be read"):
        Memory(noted(tmp_path, "[[1\n[]\n")).add(RECORDS)
    assert "--owners" in drawn(Memory(None))[0] and "--owners" in drawn(Memory(tmp_path / "none"))[0]


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (200, 60)], ids=str)
def test_a_key_shows_it_in_place_of_the_processes(tmp_path: Path, size: tuple[int, int]) -> None:
    texts = []

    async def look(pilot: object) -> None:
        for _ in range(2):
            texts.append(seen(pilot.app))
            await pilot.press("m")
            await pilot.pause()
        texts.append(seen(pilot.app))

    memory = Memory(noted(tmp_path, "".join(NOTED)))
    acted(Watch(Script(RECORDS), Player(), memory=memory), look, size)
    assert ["aaab" in text for text in texts] == [False, True, False]
    assert ["kernel 512" in text for text in texts] == [False, True, False]
    assert all("quit" in text and "utilisation" in text for text in texts)
