"""`tidemark min` for runs with files on a disk: the kernel's MIN has the faults of Belady's on the recorded references,
computed here in the simplest way, and no policy of the tree has fewer."""

from __future__ import annotations

import os
import struct
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from soak import soak_but
from tidemark.commands.min import verdict
from tidemark.errors import LabError
from tidemark.machine import qemu
from tidemark.runs import experiment, results
from tidemark.strings import foresight, refstrings, vmsim
from tidemark.trace import FILE_PAGE, future, policy_strings
from tidemark.trace.format import Reader
from tidemark.trace.pack import CAME, FILE, SPACES, STORE
from tidemark.trace.record import Recording, record

QUICK = qemu.Settings(mem="16M", swap="sim:ssd", disk_kind="sim:ssd", cmdline="frames_files=1")
PAGES = 100
ON_DISKS = FILE_PAGE | 1 << 45
VPN = (1 << 20) - 1
Page = tuple[int, int]  # its number, and how often it was dropped before

# A file read from end to end, three times; random reads of a table through a hot index, beside a scan; a mapped file
# that streams by the program's own hot pages.
SCAN = ("filescan /mnt/data 3", 40)
LOOK_UPS = ("dbscan /mnt/t 400 200 2", 60)
MIX = ("filemix /mnt/f 128 400 3 2 mmap", 60)
RUNS = (SCAN, LOOK_UPS, MIX)
# A mapped file; one that is changed in mixed order; a hot mapped file; the program itself is on the disk.
MORE = (
    ("filescan /mnt/data 3 mmap", 30),
    ("filescan /mnt/data 3 random write", 30),
    ("filemix /mnt/f 128 400 3 2 hotfile", 50),
    ("/mnt/program /mnt/data 3", 30),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A disk with the file data, which has the words that filescan expects, and a program. Its image is named after it,
    so tests side by side need different names."""
    disk = tmp_path_factory.mktemp(f"future-{os.getpid()}-", numbered=False)
    words = np.arange(PAGES << 10, dtype=np.uint64) * np.uint64(2654435761)
    (disk / "data").write_bytes(words.astype("<u4").tobytes())
    (disk / "program").write_bytes((qemu.ROOT / "build/user/filescan").read_bytes())
    (disk / "program").chmod(0o755)
    yield disk
    (qemu.IMAGES / f"{disk.name}.img").unlink(missing_ok=True)


def settings(folder: Path, command: str, frames: int, **more: str) -> qemu.Settings:
    return replace(QUICK, disk=str(folder), run=command, frames=str(frames), **more)


def seen_again(folder: Path, command: str, frames: int, place: Path) -> tuple[foresight.Outcome, results.Result]:
    """The outcome, and the run under MIN."""
    wanted = settings(folder, command, frames)
    first = experiment.run(wanted, place / "first")
    found = foresight.foresee(first, wanted, place / "min")
    return found, results.load(place / "min")


def recorded(folder: Path, command: str, frames: int, place: Path, **more: str) -> Recording:
    return record(settings(folder, command, frames, **more), place, kinds="all", notes=True)


# --- Belady, computed simply ---


def references(recording: Recording) -> Iterator[tuple[int, Page]]:
    """(space, page) of each reference to a page that can be evicted: the process's own from the moment when the policy
    gets it, and those of files on disks. A file's page that was dropped is another page afterwards. None of these
    programs frees a page of its own and uses it again."""
    notes = [note for note in recording.notes if note.tag in (CAME, FILE)]
    own: set[tuple[int, int]] = set()
    known: set[int] = set()
    lives: Counter[int] = Counter()
    at = 0
    for spaces, pages, *_ in Reader(recording.trace).runs():
        for space, page in zip(spaces.tolist(), pages.tolist()):
            while notes and notes[0].at <= at:
                note = notes.pop(0)
                if note.tag == FILE:
                    file = FILE_PAGE | note.key[0] << 20
                    lives.update(one for one in known if file + note.key[1] <= one <= file + note.value)
                    continue
                came = recording.numbers[note.key], note.value & VPN
                if came not in own:
                    own.add(came)
                    yield came[0], (came[1], 0)
            known.add(page)
            if page >= ON_DISKS or (space, page) in own:
                yield space, (page, lives[page])
            at += 1


def string_of_last_process(recording: Recording) -> list[Page]:
    """The pages to which the program refers: it is the last process, and exec read its file before its space began."""
    pids = {row["space"]: row["pid"] for row in recording.spaces if "pid" in row}
    process = max(pids.values())
    last = [recording.numbers.get(note.key) for note in recording.notes if note.tag == SPACES]
    space = [number for number in last if pids.get(number or 0) == process][-1]
    return [
        page for by, page in references(recording) if by == space or (page[0] >= ON_DISKS and pids.get(by) == process)
    ]


def belady(pages: Sequence[Hashable], frames: int) -> int:
    """The faults of MIN: the page whose next use is farthest away is evicted."""
    uses: dict[Hashable, list[int]] = {}
    for at in reversed(range(len(pages))):
        uses.setdefault(pages[at], []).append(at)
    held: set[Hashable] = set()
    faults = 0
    for page in pages:
        uses[page].pop()
        if page in held:
            continue
        faults += 1
        if len(held) == frames:
            held.remove(max(held, key=lambda one: uses[one][-1] if uses[one] else len(pages)))
        held.add(page)
    return faults


@pytest.mark.parametrize(("command", "frames"), soak_but([*RUNS, *MORE], *RUNS))
def test_kernels_min_is_beladys(folder: Path, tmp_path: Path, command: str, frames: int) -> None:
    found, _ = seen_again(folder, command, frames, tmp_path)
    assert found.alone and found.lost == found.forced == 0 and found.of_files >= PAGES
    simply = belady(string_of_last_process(recorded(folder, command, frames, tmp_path / "recorded")), frames)
    assert found.paper and found.lru
    assert found.kernel.faults == found.paper.faults == simply
    assert found.pages < found.kernel.faults < found.original.faults
    assert verdict(found) == "" and found.paper.read in (None, found.kernel.read)


def test_faults_are_major_faults_and_reads(folder: Path, tmp_path: Path) -> None:
    """Of a mapped file, each page read is a major fault; of a file that is read, none is. Init's swapping is extra."""
    for command, mapped in (("filescan /mnt/data 2 mmap", True), ("filescan /mnt/data 2", False)):
        found, _ = seen_again(folder, command, 40, tmp_path / str(mapped))
        assert found.kernel.read == found.kernel.faults - (found.pages - found.of_files) > PAGES
        assert found.whole_kernel.faults - (found.whole_kernel.read or 0) == (found.kernel.read if mapped else 0)


# --- no policy has fewer ---

SIMULATED = [name for name in vmsim.policies() if name not in vmsim.WITH_FUTURE]
SOME = ("2q", "arc", "clock", "lirs", "mglru", "random")


@pytest.fixture(scope="module")
def strings(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[refstrings.Mixed, int, int]]:
    """For each run its string, the frames, and the faults of MIN. Pages of files are mapped in these strings."""
    found = []
    for command, frames in RUNS:
        made = recorded(folder, command, frames, tmp_path_factory.mktemp("string") / "run")
        main, _, _ = foresight.main_space(made)
        space = policy_strings.spaces_of(made, 1 << 30)[main]
        kinds = np.where(space.of_file(), refstrings.OF_FILE | refstrings.LOADS, 0)[space.refs]
        uses = np.column_stack([kinds, space.refs]).astype(np.uint32)
        found.append((refstrings.Mixed(command, uses), frames, belady(space.refs.tolist(), frames)))
    return found


@pytest.mark.parametrize("policy", soak_but(SIMULATED, *SOME))
def test_no_policy_has_fewer_faults(strings: list[tuple[refstrings.Mixed, int, int]], policy: str) -> None:
    for string, frames, least in strings:
        assert vmsim.run(vmsim.build(policy), string, frames).faults >= least, string.name


def test_simulators_min_has_these_faults(strings: list[tuple[refstrings.Mixed, int, int]]) -> None:
    for string, frames, least in strings:
        assert vmsim.run(vmsim.build("min"), string, frames).faults == least, string.name


@pytest.mark.parametrize(("policy", "run"), soak_but([(p, r) for r in RUNS for p in SIMULATED], ("2q", SCAN)))
def test_no_policy_has_fewer_faults_in_the_kernel(
    folder: Path, tmp_path: Path, policy: str, run: tuple[str, int]
) -> None:
    alone = " ".join(f"{name}={value}" for name, value in foresight.ALONE.items())
    made = recorded(folder, *run, tmp_path / "run", vm=policy, cmdline=f"{QUICK.cmdline} {alone}")
    main, _, _ = foresight.main_space(made)
    least = belady(string_of_last_process(made), run[1])
    assert policy_strings.faults(made, main)[0] >= least > 2 * PAGES


# --- bad input: a sentence, and no panic ---


def a_future(run: str = "true") -> bytes:
    refs = np.array([0, 1, 0, 2, 1, 2], np.uint32)
    space = future.Space(np.arange(3), refs, np.arange(6, dtype=np.uint64) << np.uint64(12), np.array([0, 0, 1 << 25]))
    return future.encode([space], 0, run)


def with_words(data: bytes, **words: int) -> bytes:
    """The file with other words in its header, and a sum that is right."""
    names = ("magic", "bytes", "nr", "sum", "main", "of_files", "run")
    all_words = list(struct.unpack(f"<{len(data) // 4}I", data))
    for name, value in words.items():
        all_words[names.index(name)] = value
    all_words[3] = 0
    all_words[3] = -sum(all_words) % (1 << 32)
    return struct.pack(f"<{len(all_words)}I", *all_words)


def flipped(data: bytes) -> bytes:
    return data[:60] + bytes([data[60] ^ 4]) + data[61:]


WRONG = {
    "nothing": (bytes(8192), "no future lies there"),
    "cut off": (a_future()[:-40], "the future is damaged or cut off"),
    "a bit": (flipped(a_future()), "the future is damaged or cut off"),
    "outside": (with_words(a_future(), nr=1 << 20), "the future is damaged or cut off"),
    "too long": (with_words(a_future(), bytes=1 << 30), "longer than the memory"),
    "another program": (a_future("filescan /mnt/b"), "it is the future of `filescan /mnt/b`, not of `true`"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_future_is_refused(tmp_path: Path, what: str) -> None:
    data, said = WRONG[what]
    path = tmp_path / "future"
    path.write_bytes(data)
    wanted = foresight.with_future(replace(QUICK, run="true"), "min", path, 0)
    result = experiment.run(wanted, tmp_path / "run")
    assert result.meta["exit"] == qemu.REFUSED and said in result.meta["reason"], result.tail()
    assert "panic" not in result.tail()


def test_vmin_refuses_files(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "future").write_bytes(a_future())
    wanted = foresight.with_future(replace(QUICK, run="true"), "vmin", tmp_path / "future", 0)
    result = experiment.run(wanted, tmp_path / "run")
    assert result.meta["exit"] == qemu.REFUSED and "pages of files, which only vm=min knows" in result.meta["reason"]
    with pytest.raises(LabError, match="VMIN knows only"):
        foresight.check(settings(folder, "true", 30), tau_us=1000)


def test_real_disk_is_refused(folder: Path) -> None:
    with pytest.raises(LabError, match="is the host's: give a result with a modelled disk"):
        foresight.check(settings(folder, "true", 30, disk_kind="ide"))


def test_file_that_is_missing_is_told(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run under MIN finds a disk without the file."""
    empty = tmp_path / f"empty-{os.getpid()}"
    empty.mkdir()
    right = foresight.with_future
    monkeypatch.setattr(foresight, "with_future", lambda *args: replace(right(*args), disk=str(empty)))
    with pytest.raises(LabError, match=r"(?s)under min the command failed.*/mnt/data: No such file"):
        seen_again(folder, *SCAN, tmp_path)
    (qemu.IMAGES / f"{empty.name}.img").unlink()


def test_cap_without_files_has_no_bound(folder: Path, tmp_path: Path) -> None:
    wanted = replace(settings(folder, "filescan /mnt/data 2", 40), cmdline="")
    first = experiment.run(wanted, tmp_path / "first")
    found = foresight.foresee(first, wanted, tmp_path / "min")
    assert found.paper is None and found.kernel.faults == found.pages


def test_notes_tell_how_pages_came(folder: Path, tmp_path: Path) -> None:
    """Each page of the scan is read twice, because FIFO has evicted it when it is wanted again."""
    made = recorded(folder, "filescan /mnt/data 2", 40, tmp_path / "run", vm="fifo", cmdline=QUICK.cmdline)
    came = [note.value & 7 for note in made.notes if note.tag == STORE]
    asked = [how for how in came if how in (policy_strings.IN_CLAIM, policy_strings.IN_READ)]
    assert len(asked) == 2 * PAGES
