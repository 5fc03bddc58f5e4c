"""Random runs of the whole machine; what their judges must notice; how a failure is shortened."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from guest import first_miss
from progress import Tried
from soak import soak_but
from swarm import __main__ as program
from swarm import hunt
from swarm.draw import draw
from swarm.hunt import FOLDER, Hunt, name_of, try_one
from swarm.judge import Outcome, judge
from swarm.known import Item
from swarm.session import ROUND, STARVED, session
from tidemark.machine import qemu

SEED = int(os.environ.get("SEED") or 1)
E2FSPROGS = all(shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin") for name in ("mke2fs", "e2fsck"))
needs_e2fsprogs = pytest.mark.skipif(not E2FSPROGS, reason="e2fsprogs are missing")
PATHS = {**os.environ, "PYTHONPATH": f"{qemu.ROOT}/tools:{qemu.ROOT}/tests/support"}
JOB, AGAIN = Item("job", "seqscan 64 1"), Item("again", "")


@needs_e2fsprogs
@pytest.mark.parametrize("number", soak_but(range(1, 41), 1, 2))
def test_drawn_run(number: int, tmp_path: Path) -> None:
    """Runs that have passed with the same kernel, here or in `make soak MINUTES=`, are not repeated."""
    tried, name = Tried("swarm-tried", folder=FOLDER), name_of(SEED, number)
    if tried.done(name):
        pytest.skip("it has passed with this kernel")
    failure = try_one(Hunt(tmp_path), SEED, number)
    assert failure is None, str(failure)
    tried.add(name)


def test_draws_everything_that_there_is() -> None:
    runs = [draw(f"1.{n}") for n in range(2000)]
    text = {word for run in runs for item in run if item.kind == "job" for word in item.text.split()}
    workloads = {path.stem for path in qemu.ROOT.glob("user/workloads/*.c")} - {"pace", "pages", "settle"}
    assert workloads <= text, "the swarm must draw every workload except those that read a script"
    policies = {item.text for run in runs for item in run if item.kind == "vm"}
    assert {path.stem for path in qemu.ROOT.glob("kernel/mm/policy/*.c")} >= policies and len(policies) > 20
    kinds = {item.kind for run in runs for item in run}
    assert kinds == {
        "vm",
        "mem",
        "frames",
        "swap",
        "disk",
        "kind",
        "area",
        "word",
        "seed",
        "job",
        "dynamic",
        "act",
        "watch",
        "again",
    }


# --- the judges ---

GOOD = "".join(
    f"{ROUND} {n}\nnr_free_pages 100\nnr_isolated 0\nnr_anon_pages 20\nnr_writeback 0\n"
    "nr_slab_objects 7\nnr_swap_free 9\nok\ntidemark$ \n"
    for n in (1, 2)
)
TABLE = "\n  PID COMMAND        EXIT TURNAROUND_MS\n    5 thrash {status:>6} 1.000\n"


def judged(console: str, code: int = qemu.OK, items: list[Item] | None = None) -> list[str]:
    return judge(
        Outcome(code, "\n" + console, b"", b""), [AGAIN, *([JOB] if items is None else items)], Path("/nonexistent")
    )


@pytest.mark.parametrize(
    ("console", "code", "verdict"),
    [
        (GOOD + TABLE.format(status=0), qemu.OK, []),
        (GOOD, qemu.PANICKED, ["the kernel panicked"]),
        (GOOD, qemu.HUNG, ["the kernel hung"]),
        (GOOD, qemu.TIMED_OUT, ["no end after"]),
        (GOOD + f"{STARVED} 900 s\n", qemu.OK, ["a process was not at its end when its time was over"]),
        (GOOD + "R thrash nproc=2 lost=0 corrupt=3\n", qemu.OK, ["corrupt=N"]),
        (GOOD + "R thrash nproc=2 lost=1 corrupt=0\n", qemu.OK, ["lost=N"]),
        (GOOD + "R linked nproc=2 calls=9 lost=0 corrupt=1\n", qemu.OK, ["corrupt=N"]),
        (GOOD + TABLE.format(status=-11).replace("thrash", "linked"), qemu.OK, ["linked ended with -11"]),
        (GOOD + "Out of memory: 3 frames free, 0 swap slots free: killed\nlost=1\n", qemu.OK, []),
        (
            GOOD + "Out of memory: 3 frames free, 600 swap slots free: killed\n",
            qemu.OK,
            ["killed for memory, with many swap slots free"],
        ),
        (GOOD + "policy violation: policy=x rule=y: z 12\n", qemu.OK, ["policy violation: policy=x rule=y: z N"]),
        (GOOD + "slab 12: BUG at 0xc0001234\n", qemu.OK, ["BUG at N"]),
        (GOOD + TABLE.format(status=-11), qemu.OK, ["thrash ended with -11"]),
        (
            GOOD.replace("ok\n", "user frames: 3, counted 4\n", 1),
            qemu.OK,
            ["check: user frames: N, counted N", "check is not ok"],
        ),
        (GOOD.partition(f"{ROUND} 2")[0], qemu.OK, ["a round is missing"]),
        (GOOD.replace("objects 7", "objects 6", 1), qemu.OK, ["leak: nr_slab_objects"]),
        (GOOD.replace("free 9", "free 10", 1), qemu.OK, ["leak: nr_swap_free"]),
        (GOOD.replace("free 9", "free 10", 1).replace("anon_pages 20", "anon_pages 21", 1)
         .replace("nr_free_pages 100", "nr_free_pages 99", 1), qemu.OK, []),
        (GOOD.replace("pages 20", "pages 21", 1), qemu.OK, ["leak: frames"]),
        (GOOD.replace("free 9", "free 10", 1), qemu.CUT, []),
        (GOOD + "ext2: sda: inode 3 was free\n", qemu.OK, ["extN: sda: inode N was free"]),
    ],
)  # fmt: skip
def test_judge_notices(console: str, code: int, verdict: list[str]) -> None:
    assert judged(console, code) == verdict


def test_a_purpose_excuses_only_what_it_explains() -> None:
    killed = GOOD + TABLE.format(status=-9)
    assert judged(GOOD + "policy violation: x\n", items=[Item("word", "fail=read:1")]) == ["policy violation: x"]
    assert judged(killed) == ["thrash ended with -9"]
    assert judged(killed, items=[JOB, Item("act", "kill -KILL %1")]) == []
    assert judged(GOOD.replace("pages 20", "pages 21", 1), items=[JOB, Item("word", "fail=alloc:7")]) == [
        "leak: frames"
    ]
    assert judged(killed, items=[Item("job", "spin 1 0 --forks"), Item("job", "forkbomb 18")]) == []
    leak, kill = GOOD.replace("pages 20", "pages 21", 1), Item("act", "kill -TERM %1")
    assert judged(leak, items=[JOB, kill]) == ["leak: frames"]
    assert judged(leak, items=[Item("job", "/mnt/spin 51 0"), kill]) == []
    killed_for_memory = "Out of memory: 3 frames free, 0 swap slots free: killed process 7 ({})\numount: /mnt: busy\n"
    assert judged(leak + killed_for_memory.format("sh")) == []
    assert judged(leak + killed_for_memory.format("server")) == ["umount: /mnt: busy", "leak: frames"]
    dynamic = [Item("dynamic", "/mnt/linked 2 100 64"), kill]
    assert judged(leak, items=dynamic) == []  # its children may still run
    assert judged(killed + "files: a: 10 bytes instead of 100\n") == []


# --- a failure is shortened ---


def test_what_is_left_is_what_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a random run, which here fails if a job needs 100 KiB in less than 20 MiB."""
    items = [
        Item("vm", "ws"),
        Item("mem", "12"),
        Item("swap", "none"),
        JOB,
        Item("job", "hog 2048 1"),
        Item("act", "sync"),
    ]

    def verdict(self: Hunt, items: list[Item], again: bool = False) -> list[str]:
        job, small = (next((i for i in items if i.kind == kind), None) for kind in ("job", "mem"))
        hogs = [i for i in items if i.text.startswith("hog") and int(i.text.split()[1]) >= 100]
        return ["corrupt=N"] if job and small and hogs and int(small.text) < 20 else ["other"]

    monkeypatch.setattr(Hunt, "verdict", verdict)
    short = Hunt(tmp_path, said=lambda text: None).shorter(items, "corrupt=N")
    assert short == [Item("mem", "5"), Item("job", "hog 100 1")]


@needs_e2fsprogs
@pytest.mark.parametrize("vm", ["2q", "ws"])
def test_dynamic_program_runs_in_little_memory(tmp_path: Path, vm: str) -> None:
    """Its pages, those of its linker and of its library are evicted, and read again."""
    items = [Item("vm", vm), Item("mem", "6"), Item("disk", "24M:1024:build/user"), Item("kind", "sim:ssd")]
    items += [Item("swap", "sim:ssd,size=16384K"), Item("dynamic", "/mnt/linked 3 1000 2500"), Item("again", "")]
    here = Hunt(tmp_path)
    assert here.verdict(items) == []
    console = here.run(items).console
    assert console.count("R linked nproc=3 calls=1000 lost=0 corrupt=0\n") == 2, console


def test_dynamic_program_is_made_shorter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that here fails if two processes of a dynamic program run on a disk."""
    items = [Item("vm", "ws"), Item("disk", "24M:1024:build/user"), JOB, Item("dynamic", "/mnt/linked 4 1000 2500")]

    def verdict(self: Hunt, items: list[Item], again: bool = False) -> list[str]:
        disk = any(item.kind == "disk" for item in items)
        dynamic = [item for item in items if item.kind == "dynamic" and int(item.text.split()[1]) > 1]
        return ["lost=N"] if disk and dynamic else []

    monkeypatch.setattr(Hunt, "verdict", verdict)
    short = Hunt(tmp_path, said=lambda text: None).shorter(items, "lost=N")
    assert short == [items[1], Item("dynamic", "/mnt/linked 2 1 1")]
    assert "/mnt/linked 2 1 1 & wait" in session(short).text


@needs_e2fsprogs
def test_command_does_the_same_again(tmp_path: Path) -> None:
    """The printed command is pasted into a shell: the console shows the same lines."""
    items = [Item("vm", "fifo"), Item("mem", "8"), Item("word", "jitter=7"), Item("job", "/mnt/hog 64 1"), JOB]
    items += [Item("disk", "24M:1024:build/user"), Item("act", "echo 'one'")]
    here = Hunt(tmp_path)
    assert here.verdict(items, again=True) == []
    command = f"{session(items).command().replace('make qemu', 'env')} {sys.executable} -m tidemark.machine.qemu"
    done = subprocess.run(["sh", "-c", command], env=PATHS, capture_output=True, text=True, cwd=qemu.ROOT)
    assert done.stdout.replace("\r", "").endswith(here.run(items).console), done.stdout


def test_a_kernel_that_breaks(tmp_path: Path) -> None:
    """One of six items causes the failure."""
    crash = Item("word", "crash=assert")
    items = [Item("vm", "ws"), Item("mem", "12"), crash, JOB, Item("job", "hog 2048 1"), Item("act", "sync")]
    here = Hunt(tmp_path, said=lambda text: None)
    assert (wrong := here.verdict(items))[0] == "the kernel panicked"
    assert here.shorter(items, wrong[0]) == [crash]


# --- it continues where it stopped ---


def swarm(folder: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "swarm", "--folder", str(folder), *words]


@needs_e2fsprogs
def test_ctrl_c_stops_and_the_same_command_goes_on(tmp_path: Path) -> None:
    first = subprocess.Popen(swarm(tmp_path, "--seed", "1"), env=PATHS, stdout=subprocess.PIPE, text=True)
    tried = tmp_path / "swarm-tried"
    while not tried.exists() and first.poll() is None:
        time.sleep(0.02)
    first.send_signal(signal.SIGINT)
    said, _ = first.communicate(timeout=20)
    assert first.returncode == 130 and said.endswith("swarm: stopped; the same command goes on here\n"), said
    passed = len(Tried("swarm-tried", folder=tmp_path).passed)
    done = subprocess.run(swarm(tmp_path, "--runs", "1"), env=PATHS, capture_output=True, text=True)
    assert done.returncode == 0 and first_miss(done.stdout, ["^swarm: seed 1"]) is None, done.stdout + done.stderr
    assert len(Tried("swarm-tried", folder=tmp_path).passed) == passed + 1


@pytest.mark.parametrize("where", ["before a run", "while it runs"])
def test_full_disk_is_said_in_one_line(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*words: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(tmp_path))

    Tried("swarm-tried", folder=tmp_path).add("1.1 before")
    if where == "before a run":
        monkeypatch.setattr(hunt, "ROOM", 1 << 60)
    else:
        monkeypatch.setattr(hunt, "perform", full)
    monkeypatch.setattr(sys, "argv", ["swarm", "--folder", str(tmp_path)])
    handlers = [signal.getsignal(nr) for nr in (signal.SIGINT, signal.SIGTERM)]
    assert program.main() == 5
    signal.signal(signal.SIGINT, handlers[0])
    signal.signal(signal.SIGTERM, handlers[1])
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 3 and "the disk is full" in said[-1] and "is kept" in said[-1], said
    assert Tried("swarm-tried", folder=tmp_path).done("1.1 before")
