"""What a result that a student handed in must be, before it is read: nothing in it can be trusted."""

from __future__ import annotations

import zipfile
from pathlib import Path

from tidemark.errors import BAD_INPUT, LabError
from tidemark.machine.disk import empty_bytes
from tidemark.runs.results import Result
from tidemark.telemetry import events

MOST = 1 << 30  # bytes of all files, and of the events when unpacked
MOST_S = 3600  # of host time, when the run is repeated


def check_files(folder: Path) -> None:
    """Raises LabError if a result has anything but files and folders, which reading could follow or wait for, or too
    much."""
    size = 0
    for path in folder.rglob("*"):
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise LabError(f"{path} is a link, or not a file: hand in the files themselves", BAD_INPUT)
        size += path.lstat().st_size
    packed = folder / events.FILE
    if packed.exists():
        with zipfile.ZipFile(packed) as file:
            size += sum(member.file_size for member in file.infolist())
    if size > MOST:
        raise LabError(f"{folder} has {size >> 20:,} MiB, more than {MOST >> 20:,}: make a shorter run", BAD_INPUT)


def check_settings(result: Result) -> None:
    """Raises LabError if a repetition of the run would read the examiner's files, or hardly end."""
    settings = result.meta["settings"]
    disks = filter(None, (settings.get("disk"), settings.get("disk2")))
    if not all(empty_bytes(disk) for disk in disks):
        raise LabError(
            f"{result.folder}: its disk is a folder: make a run without a disk, or with an empty one", BAD_INPUT
        )
    if not 0 < settings["timeout"] <= MOST_S:
        raise LabError(f"{result.folder}: its TIMEOUT is not between 0 and {MOST_S} s", BAD_INPUT)
