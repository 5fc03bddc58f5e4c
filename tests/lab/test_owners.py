"""`tidemark run --owners`: the owner of each frame, observed from outside, and the report's map of memory."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from lab import tidemark
from tidemark.errors import LabError
from tidemark.machine import qemu
from tidemark.report import frames, page, sources
from tidemark.runs import results
from tidemark.telemetry import owners, stream
from tidemark.telemetry.owners import OTHERS
from tidemark.watch.memory import Memory

COMMAND = (
    "run",
    "thrash 4 2048 1 300",
    "--mem",
    "9M",
    "--swap",
    "sim:ssd",
    "--cmdline",
    "sample_ms=5 sample_percent=100",
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that records its owners, and the same run without."""
    parent = tmp_path_factory.mktemp("owners")
    for name, *more in (("noted", "--owners"), ("plain",)):
        done = tidemark(*COMMAND, *more, "--out", name, cwd=parent)
        assert done.returncode == 0, done.stderr
    return parent / "noted"


def test_guest_does_nothing_for_it(run: Path) -> None:
    streams = [run.parent / name / results.TELEMETRY for name in ("noted", "plain")]
    assert streams[0].read_bytes() == streams[1].read_bytes() and not (run.parent / "plain" / owners.FILE).exists()


def test_watch_counts_the_same_frames(run: Path) -> None:
    data = results.load(run).telemetry()
    found, memory = owners.read(run, data), Memory(run)
    memory.add(stream.parse((run / results.TELEMETRY).read_text()))
    assert len(memory.columns) == len(data.samples) > 5
    for at, column in enumerate(memory.columns):
        assert sum(column.counts.values()) == len(found.map)
        for owner, number in column.counts.items():
            name = OTHERS[-owner - 1] if owner <= 0 else next(n for n in found.names if n.endswith(f" {owner}"))
            assert number == (found.map[:, at] == found.names.index(name)).sum()


def test_every_frame_has_the_owner_that_the_kernel_counts(run: Path) -> None:
    """For a program that shares nothing: its frames are its resident set, and its pages under eviction."""
    data = results.load(run).telemetry()
    found = owners.read(run, data)
    assert found.map.shape == (9 * 256, len(data.samples)) and found.times[-1] == data.samples[-1]["t_us"] / 1e6
    free = [(found.map[:, at] == owners.FREE).sum() for at in range(len(data.samples))]
    assert free == [sum(sample["free"]) for sample in data.samples]
    checked = 0
    for at, sample in enumerate(data.samples):
        for process in sample["procs"]:
            name = f"{process['comm']} {process['pid']}"
            if name in found.names and process["mad"] > 400:
                own = (found.map[:, at] == found.names.index(name)).sum()
                few = 40  # code, which is shared, and the zero page
                assert process["rss"] - few <= own <= process["rss"] + sample["isolated"] + few, (at, name)
                checked += own > 100
    assert checked > 5


def test_taking_is_counted_between_samples() -> None:
    a, b = len(owners.OTHERS), len(owners.OTHERS) + 1
    one = np.array([[a, b, b], [a, a, a], [a, 0, b]], np.uint8)
    found = owners.Owners(np.array([0.0, 1.0, 2.0]), [*owners.OTHERS.values(), "x 5", "y 6"], one)
    assert owners.taken(found)[a, b] == 1 and owners.taken(found)[b, a] == 0
    assert frames.thefts(found) == [{"from": "x 5", "to": "y 6", "frames": 1}]
    assert frames.sentence(found) == "1 frames went from one process to another: 1 from x 5 to y 6."


def test_report_draws_the_map(run: Path, tmp_path: Path) -> None:
    done = tidemark("report", run, "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "out/report.html").read_text()
    assert (
        "Which processes took memory from which?" in text
        and "data-owners=" in text
        and (tmp_path / "out/figures/frames-2q.csv").exists()
    )


def test_image_has_a_point_for_each_frame(run: Path) -> None:
    [one] = sources.gather([run]).runs
    found = frames.read(one)
    png = frames.png(one, found)
    assert png[:8] == b"\x89PNG\r\n\x1a\n" and int.from_bytes(png[20:24], "big") == len(found.map)
    about = json.loads(page.json_for_html(frames.chart(one, found)))
    assert len({owner["name"] for owner in about["owners"]}) == len(about["owners"])


def test_bad_notes_are_named(run: Path, tmp_path: Path) -> None:
    (tmp_path / owners.FILE).write_text("[[1,2\n")
    with pytest.raises(LabError, match=r"owners\.ndjson cannot be read"):
        owners.read(tmp_path, results.load(run).telemetry())


def test_owners_are_of_one_exact_run(tmp_path: Path) -> None:
    done = tidemark("run", "true", "--owners", "--real", cwd=tmp_path)
    assert done.returncode != qemu.OK and "for one exact run" in done.stderr
