"""Sweeps: each cell runs once; and what is left after every kind of end."""

from __future__ import annotations

import csv
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from concurrent.futures import Future
from pathlib import Path

import pytest
from lab import tidemark
from processes import wait_for_guest
from soak import soak_but
from tidemark.commands import sweep as command_line
from tidemark.errors import BAD_INPUT, FAILED, INTERRUPTED, NO_SPACE, NO_TOOL, OK, USAGE, LabError
from tidemark.machine import qemu
from tidemark.report import cells as cells_of
from tidemark.report import sources
from tidemark.runs import cluster, plan, results, runner, sweep

HEAD = 'mem = "8M"\nswap = "sim:ram"\n'
TINY = HEAD + 'workload = "thrash {processes} 512 2"\nprocesses = [1, 2]\nvm = ["2q", "ws"]\n'
TRUE = HEAD + 'workload = "true"\n'
ENDLESS = HEAD + "workload = \"sh -c 'while true; do true; done'\"\n"


def command(folder: Path, text: str, *options: str, **kwargs: object) -> subprocess.CompletedProcess:
    """Runs `tidemark sweep` for a plan with this text, into folder/out; its output is text."""
    path = folder / "plan.toml"
    path.write_text(text)
    return tidemark("sweep", path, "--out", folder / "out", *options, cwd=qemu.ROOT, **kwargs)


def carry_out(
    folder: Path,
    text: str,
    image: Path = qemu.ROOT,
    jobs: int = 2,
    retry: bool = False,
    watch: runner.Watch = lambda now: None,
) -> sweep.Sweep:
    """Runs the missing cells of a plan, without the command line's checks of the image."""
    parcel, where = cluster.pack(image), cluster.Local(jobs)
    with sweep.locked(folder):
        found = sweep.Sweep(plan.parse(text), folder, parcel.described, retry)
        found.settle()
        run = runner.Runner(found, where, parcel, watch)
        try:
            run.run()
        finally:
            where.close(run.token)
    return found


def raw_files(folder: Path) -> dict[str, bytes]:
    """The raw files of all cells, by cell and name."""
    return {
        f"{path.parent.name}/{path.name}": path.read_bytes()
        for path in folder.glob("cells/*/*")
        if path.name in results.RAW
    }


def started(folder: Path) -> dict[str, int]:
    """The time when each cell's meta.json was written, by cell: cells that did not run again keep it."""
    return {path.parent.name: path.stat().st_mtime_ns for path in folder.glob("cells/*/meta.json")}


def rows(folder: Path) -> list[dict[str, str]]:
    """cells.csv."""
    with (folder / "cells.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sweep TINY, two cells at a time. Tests that change it use a copy."""
    folder = tmp_path_factory.mktemp("swept") / "out"
    carry_out(folder, TINY)
    return folder


@pytest.fixture
def mine(swept: Path, tmp_path: Path) -> Path:
    """A copy of `swept` to change."""
    return shutil.copytree(swept, tmp_path / "out")


# --- sweeps


def test_cells_are_the_same_in_any_order_and_parallelism(swept: Path, tmp_path: Path) -> None:
    carry_out(tmp_path / "out", TINY, jobs=1)
    assert raw_files(tmp_path / "out") == raw_files(swept)
    assert (tmp_path / "out/cells.csv").read_bytes() == (swept / "cells.csv").read_bytes()
    assert len(raw_files(swept)) == 8


def test_cells_side_by_side_have_a_disk_each(tmp_path: Path) -> None:
    """Each finds the file system in its initial state: if it were shared, the file would exist, and have one more
    line."""
    log = "logger /mnt/log 3"
    found = carry_out(tmp_path / "out", HEAD + f'workload = "{log}"\ndisk = "4M"\njitter = [1, 2, 3, 4]\n')
    assert found.count(sweep.DONE) == 4
    consoles = [path.read_text() for path in (tmp_path / "out").glob("cells/*/console.log")]
    assert all("R logger found=0 lines=3 " in text for text in consoles), consoles


def test_table_has_the_variables_and_the_numbers(swept: Path) -> None:
    table = rows(swept)
    assert [(row["processes"], row["vm"], row["state"], row["exit"]) for row in table] == [
        ("1", "2q", "done", "0"),
        ("1", "ws", "done", "0"),
        ("2", "2q", "done", "0"),
        ("2", "ws", "done", "0"),
    ]
    for row in table:
        data = results.load(swept / "cells" / row["id"]).telemetry()
        assert int(row["faults"]) == data.samples[-1]["vm"]["pgfault"] > 0
        assert float(row["turnaround_s"]) == max(record["turnaround_us"] for record in data.exits) / 1e6
        assert float(row["mean_turnaround_s"]) > 0 and float(row["throughput_per_s"]) > 0


def test_cells_are_results_that_say_which_image_and_commit(swept: Path) -> None:
    for path in (swept / "cells").iterdir():
        result = results.load(path)
        results.check_files(result)
        assert result.meta["image"] == cluster.pack(qemu.ROOT).described


def test_second_sweep_runs_nothing(mine: Path) -> None:
    before = started(mine), (mine / "cells.csv").read_bytes()
    found = carry_out(mine, TINY)
    assert (started(mine), (mine / "cells.csv").read_bytes()) == before
    assert found.notes == []


def test_longer_plan_runs_only_what_is_new_and_shorter_one_sets_aside(mine: Path) -> None:
    before = started(mine)
    longer = TINY.replace("[1, 2]", "[1, 2, 3]")
    carry_out(mine, longer)
    after = started(mine)
    assert len(after) == 6 and before.items() <= after.items()
    found = carry_out(mine, TINY)
    assert started(mine) == before and found.notes[0].startswith("2 cells are not in this plan; set aside")
    found = carry_out(mine, longer)
    assert started(mine) == after and found.notes[0].startswith("2 cells are of this plan and image again")


REPLICATES = HEAD + 'workload = "thrash 2 {size:512} 2"\nvm = ["2q", "ws"]\nreplicates = 3\n'


def test_replicates_are_the_same_draws_for_every_policy_and_go_on_where_they_ended(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    carry_out(folder, REPLICATES.replace("= 3", "= 2"))
    before = started(folder)
    assert carry_out(folder, REPLICATES).count(sweep.DONE) == 6
    assert before.items() < started(folder).items()
    lines = {row["id"]: results.load(folder / "cells" / row["id"]).meta["kernel_command_line"] for row in rows(folder)}
    drawn = {(row["vm"], row["replicate"]): lines[row["id"]].replace(f"vm={row['vm']} ", "") for row in rows(folder)}
    assert len(set(drawn.values())) == 3
    assert all(drawn["2q", number] == drawn["ws", number] for number in "123")
    cells = sources.gather([folder]).cells
    assert {cells_of.command(cell) for cell in cells} == {"thrash 2 512 2"} and all(map(cells_of.sized, cells))


def test_cells_of_another_image_are_set_aside_and_come_back_with_it(mine: Path, tmp_path: Path) -> None:
    before = started(mine)
    (tmp_path / "build").mkdir()
    shutil.copy(qemu.ROOT / qemu.KERNEL, tmp_path / "build")
    (tmp_path / qemu.INITRD).write_bytes((qemu.ROOT / qemu.INITRD).read_bytes() + bytes(512))
    found = carry_out(mine, TINY, image=tmp_path)
    assert found.notes[0].startswith("4 cells are not valid: it has another image") and "set aside" in found.notes[0]
    assert len(list((mine / "old").iterdir())) == 4
    assert not started(mine).items() & before.items()
    assert all(
        results.load(path).meta["image"] == cluster.pack(tmp_path).described for path in (mine / "cells").iterdir()
    )
    shutil.rmtree(mine / "cells")
    carry_out(mine, TINY)
    assert started(mine) == before


DAMAGES = {
    "telemetry cut off": lambda cell: os.truncate(cell / "telemetry.ndjson", 100),
    "console missing": lambda cell: (cell / "console.log").unlink(),
    "meta.json cut off": lambda cell: os.truncate(cell / "meta.json", 20),
    "meta.json empty": lambda cell: (cell / "meta.json").write_text('{"schema": 1, "kind": "run"}'),
    "meta.json gone": lambda cell: (cell / "meta.json").unlink(),
    "other schema": lambda cell: (cell / "meta.json").write_text('{"schema": 2, "kind": "run"}'),
}


@pytest.mark.parametrize("damage", soak_but(DAMAGES, "telemetry cut off", "meta.json gone"))
def test_damaged_cell_runs_again(mine: Path, damage: str) -> None:
    before, raw = started(mine), raw_files(mine)
    hurt = sorted((mine / "cells").iterdir())[0]
    DAMAGES[damage](hurt)
    found = carry_out(mine, TINY)
    assert found.notes[0].startswith("1 cell is not valid: it is damaged: ") and hurt.name in found.notes[0]
    assert raw_files(mine) == raw
    assert {name for name, at in started(mine).items() if before[name] == at} == set(before) - {hurt.name}


def test_failed_cell_is_a_row_that_says_why_and_runs_again_only_on_request(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    text = HEAD + 'workload = ["true", "false"]\n'
    carry_out(folder, text)
    first = started(folder)
    assert [(row["state"], row["exit"], row["reason"]) for row in rows(folder)] == [
        ("done", "0", ""),
        ("failed", str(qemu.FAILED), "the command failed"),
    ]
    assert rows(folder)[1]["faults"] != ""
    carry_out(folder, text)
    assert started(folder) == first
    found = carry_out(folder, text, retry=True)
    assert [name for name, at in started(folder).items() if first[name] != at] == [found.plan.cells[1].id]


def test_cell_that_takes_too_long_fails_and_runs_again_with_another_timeout(tmp_path: Path) -> None:
    text = HEAD + 'workload = "sleep 1"\ntimeout = 0.001\n'
    found = carry_out(tmp_path, text)
    assert found.rows()[0]["exit"] == qemu.TIMED_OUT and "did not end in time" in found.rows()[0]["reason"]
    assert "faults" not in found.rows()[0]
    assert carry_out(tmp_path, text).count("failed") == 1
    again = carry_out(tmp_path, text.replace("0.001", "60"))
    assert again.count("done") == 1 and "its timeout was 0.001 s" in again.notes[0]


def test_panic_is_a_row(tmp_path: Path) -> None:
    found = carry_out(tmp_path, TRUE + 'cmdline = "crash=assert"\n')
    assert found.rows()[0]["state"] == "failed" and "panicked" in found.rows()[0]["reason"]


class Fake(cluster.Local):
    """An executor that loses the first `losses` cells submitted."""

    def __init__(self, losses: int) -> None:
        super().__init__(1)
        self.losses, self.submitted = losses, 0

    def submit(self, function: object, *args: object) -> Future:
        self.submitted += 1
        if self.submitted > self.losses:
            return super().submit(function, *args)
        future: Future = Future()
        future.set_exception(cluster.Lost("its worker went away"))
        return future


@pytest.mark.parametrize("losses", [cluster.LOST_MOST, cluster.LOST_MOST + 1])
def test_lost_cell_runs_again_but_not_for_ever(tmp_path: Path, losses: int) -> None:
    parcel, where, news = cluster.pack(qemu.ROOT), Fake(losses), []
    found = sweep.Sweep(plan.parse(TRUE), tmp_path, parcel.described)
    found.settle()
    run = runner.Runner(found, where, parcel, lambda now: news.append(now.news))
    run.run()
    where.close(run.token)
    lost_for_good = losses > cluster.LOST_MOST
    assert [row["state"] for row in found.rows()] == ["failed" if lost_for_good else "done"]
    assert any("its worker went away" in line for line in news)
    assert where.submitted == cluster.LOST_MOST + 1


@pytest.mark.parametrize("how", soak_but([signal.SIGTERM, signal.SIGKILL], signal.SIGKILL))
def test_qemu_that_is_ended_from_outside_runs_again(tmp_path: Path, how: signal.Signals) -> None:
    text = HEAD.replace("8M", "16M") + 'workload = "thrash 2 2048 20 2000"\n'

    def end_the_first() -> None:
        os.kill(wait_for_guest(os.getpid(), "thrash"), how)

    news = []
    thread = threading.Thread(target=end_the_first, daemon=True)
    thread.start()
    found = carry_out(tmp_path, text, watch=lambda now: news.append(now.news))
    thread.join()
    assert found.rows()[0]["state"] == "done"
    assert any("lost, run again" in line and f"signal {int(how)}" in line for line in news)


def test_full_disk_ends_the_sweep_and_keeps_what_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        if "partial" in path.parts and "-ws-" in str(path) and path.name == "telemetry.ndjson":
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        return write(path, data)

    with monkeypatch.context() as patch, pytest.raises(LabError) as caught:
        patch.setattr(Path, "write_bytes", full)
        carry_out(tmp_path, TRUE + 'vm = ["2q", "ws"]', jobs=1)
    assert caught.value.code == NO_SPACE and "No space left" in str(caught.value)
    assert all("-2q-" in path.name for path in (tmp_path / "cells").iterdir())
    assert {row["state"] for row in rows(tmp_path)} <= {"done", "missing"}
    assert carry_out(tmp_path, TRUE + 'vm = ["2q", "ws"]').count("done") == 2


def test_two_sweeps_do_not_write_the_same_folder(tmp_path: Path) -> None:
    with (
        sweep.locked(tmp_path),
        pytest.raises(LabError, match=f"another sweep .process {os.getpid()} on "),
        sweep.locked(tmp_path),
    ):
        pass
    with sweep.locked(tmp_path):
        pass


def test_folder_with_something_else_or_of_another_schema_is_refused(tmp_path: Path, mine: Path) -> None:
    (tmp_path / "letter.txt").touch()
    with pytest.raises(LabError, match="something other than a sweep"):
        sweep.check_place(tmp_path)
    (mine / "sweep.json").write_text(json.dumps({"kind": "sweep", "schema": 9, "results": 1}))
    with pytest.raises(LabError, match="schema 9"):
        sweep.check_place(mine)


# --- the command


def test_command_sweeps_and_says_so_in_json(tmp_path: Path) -> None:
    done = command(tmp_path, HEAD + 'workload = ["true", "false"]\n', "--json")
    assert done.returncode == FAILED, done.stderr
    said = json.loads(done.stdout)
    assert (said["done"], said["failed"], said["missing"], said["ran"]) == (1, 1, 0, 2)
    assert "1 of 2 cells failed; --retry" in done.stderr and "the command failed" in done.stderr
    again = command(tmp_path, HEAD + 'workload = "true"\n')
    assert again.returncode == OK and "1 cells: 1 done, 0 failed, 0 missing; 0 ran now" in again.stdout


def test_progress_says_what_is_done_and_what_runs() -> None:
    now = runner.Progress(total=40, done=0, failed=0, running=1, left_s=None)
    assert command_line.described(now) == "cells done, 1 running, ? left,"  # the bar puts 0/40 before it


def test_dry_run_lists_the_cells_and_makes_nothing(tmp_path: Path) -> None:
    """And says which sizes the replicates do not vary."""
    listed = command(tmp_path, TINY + "replicate = 1\n", "--dry-run")
    assert listed.returncode == OK and "tidemark: replicates do not vary the size of 'thrash " in listed.stderr
    assert listed.stdout.count("missing  thrash-") == 4
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("page", "said", "options"),
    [
        ("reference/measuring.md", "These are {:,} runs", []),
        ("guide/add-a-policy.md", "This makes {:,} runs", ["--vm", "clock"]),
    ],
)
def test_documents_say_how_many_runs_the_arena_makes(page: str, said: str, options: list[str], tmp_path: Path) -> None:
    listed = tidemark("sweep", "arena", "--dry-run", "--out", tmp_path / "out", *options, cwd=qemu.ROOT)
    assert listed.returncode == OK
    assert said.format(listed.stdout.count("missing  ")) in (qemu.ROOT / "docs" / page).read_text()


REFUSED = {
    TRUE + 'vm = ["2q", "nosuch"]\n': (
        "'nosuch' is not in the image, which has: 2q, ",
        BAD_INPUT,
    ),
    TRUE + 'cmdline = ["", "nosuch=1"]\n': ("unknown parameter nosuch", BAD_INPUT),
    TRUE.replace("sim:ram", "sim:nosuch"): ("swap=sim:nosuch", BAD_INPUT),
}


@pytest.mark.parametrize("text", soak_but(REFUSED, next(iter(REFUSED))), ids=["policy", "parameter", "swap"])
def test_what_the_image_does_not_take_is_refused_before_a_cell_runs(tmp_path: Path, text: str) -> None:
    message, code = REFUSED[text]
    done = command(tmp_path, text)
    assert message in done.stderr and done.returncode == code
    assert not (tmp_path / "out/cells").exists()


@pytest.mark.soak
def test_missing_qemu_and_missing_image_are_told(tmp_path: Path) -> None:
    done = command(tmp_path, TRUE, env={"PATH": str(tmp_path)})
    assert done.returncode == NO_TOOL and "qemu-system-i386 is not installed; `make doctor`" in done.stderr
    done = command(tmp_path, TRUE, "--image", str(tmp_path))
    assert done.returncode == BAD_INPUT and "there is no image" in done.stderr
    done = command(tmp_path, TRUE, "--jobs", "0")
    assert done.returncode == USAGE


def test_ctrl_c_ends_every_qemu_and_the_sweep_goes_on_later(tmp_path: Path) -> None:
    path, out = tmp_path / "plan.toml", tmp_path / "out"
    path.write_text(ENDLESS + "seed = [1, 2]\n")
    words = [sys.executable, "-m", "tidemark.cli", "sweep", str(path), "--out", str(out), "--jobs", "2"]
    env = os.environ | {"PYTHONPATH": str(qemu.ROOT / "tools")}
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=env, preexec_fn=heed_ctrl_c) as process:
        guest = wait_for_guest(process.pid, "while true")
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
    assert process.returncode == INTERRUPTED, said
    assert not Path(f"/proc/{guest}").exists()
    assert "0 done, 0 failed, 2 missing" in said and "run the same command again" in said
    assert not list((out / "cells").iterdir())
    assert carry_out(out, TRUE).count("done") == 1


def heed_ctrl_c() -> None:
    """A child of a shell's background job would ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
