"""An image that is built again while a run, repeated runs or a sweep use it: no result mixes two images."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest
from tidemark import errors
from tidemark.commands import run
from tidemark.machine import image, qemu
from tidemark.runs import cluster, experiment, results
from tidemark.strings import min_faults
from tidemark.telemetry.live import LiveLine


@pytest.fixture
def changing(tmp_path: Path) -> Path:
    """A folder with an image of its own."""
    (tmp_path / "tree/build").mkdir(parents=True)
    for name in (qemu.KERNEL, qemu.INITRD):
        shutil.copy(qemu.ROOT / name, tmp_path / "tree" / name)
    return tmp_path / "tree"


def write_again(folder: Path) -> None:
    """Another initramfs, which boots as well."""
    with (folder / qemu.INITRD).open("ab") as file:
        file.write(bytes(512))


def test_image_that_changes_as_a_run_starts_ends_it(changing: Path, tmp_path: Path) -> None:
    real = image.describe

    def describe_and_change(folder: Path) -> dict[str, str]:
        described = real(folder)
        write_again(folder)
        return described

    with (
        mock.patch.object(image, "describe", describe_and_change),
        pytest.raises(errors.LabError, match="changed while the run started") as raised,
    ):
        experiment.run(qemu.Settings(run="true", mem="16M", swap="none", image=changing), tmp_path / "result")
    assert raised.value.code == errors.BAD_INPUT
    assert results.load(tmp_path / "result").meta["state"] == "interrupted"


def test_image_that_changes_between_repeated_runs_ends_them(changing: Path, tmp_path: Path) -> None:
    settings = qemu.Settings(run="true", mem="16M", swap="none", image=changing, exact=False)
    real = experiment.run

    def run_and_change(*words: object) -> results.Result:
        result = real(*words)
        write_again(changing)
        return result

    with (
        mock.patch.object(experiment, "run", run_and_change),
        pytest.raises(errors.LabError, match="changed during the runs"),
        LiveLine(True) as live,
    ):
        run.repeated(settings, tmp_path / "runs", 3, live)
    assert sorted(path.name for path in (tmp_path / "runs").iterdir() if path.is_dir()) == ["1", "2"]


def test_image_that_changes_during_a_sweep_changes_no_cell_and_is_reported(changing: Path) -> None:
    parcel = cluster.pack(changing)
    write_again(changing)
    assert image.describe(cluster.unpack(parcel))["sha256"] == parcel.described["sha256"]
    assert image.describe(changing)["sha256"] != parcel.described["sha256"]
    swept = SimpleNamespace(image=parcel.described)
    with (
        mock.patch.object(min_faults, "wanted", return_value=["a cell"]),
        pytest.raises(errors.LabError, match="changed during the sweep: run the sweep again"),
    ):
        min_faults.find(swept, changing, say=pytest.fail)
