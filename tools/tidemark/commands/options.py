"""The options that commands share: the settings of a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from tidemark import output
from tidemark.errors import USAGE, LabError
from tidemark.machine import parameters, qemu, reference_image
from tidemark.machine.disk import REAL, absolute
from tidemark.machine.disk import check as check_disk
from tidemark.runs import results

DEFAULT = qemu.Settings()


def writable(path: Path | None) -> Path | None:
    """Callback of an option for a file that is written at the end. Raises LabError at once if it cannot be written."""
    if path:
        output.check(path)
    return path


def image_folder(given: Path) -> Path:
    """Callback of --image: `reference` is the release's image, any other text a folder."""
    return reference_image.unpacked(qemu.ROOT) if str(given) == reference_image.NAME else given


Command = Annotated[
    list[str],
    typer.Argument(help="The command line the guest runs. Write -- before it if it contains options."),
]
Vm = Annotated[str, typer.Option("--vm", help="Replacement policy.")]
Mem = Annotated[str, typer.Option("--mem", help="Memory that the kernel manages.")]
Swap = Annotated[
    str, typer.Option("--swap", help="Swap device: sim:hdd, sim:ssd, sim:ram or none; with changes: sim:hdd,size=64M")
]
Disk = Annotated[
    str,
    typer.Option(
        "--disk", help="A disk made from a folder's files, or empty (64M), or an image, which the run may modify."
    ),
]
DiskKind = Annotated[
    str, typer.Option("--disk-kind", help="Kind of --disk: sim:hdd, sim:ssd, sim:ram, or, with --real, ide or virtio.")
]
Frames = Annotated[int | None, typer.Option("--frames", min=3, help="Cap on the page frames of user programs.")]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Seed of the guest's random numbers.")]
Jitter = Annotated[
    int | None,
    typer.Option("--jitter", min=0, help="Jitter seed: perturbs timing, for another run of the same experiment."),
]
Cmdline = Annotated[str, typer.Option("--cmdline", help="More kernel parameters, such as 'ws.tau_ms=500'.")]
Timeout = Annotated[float, typer.Option("--timeout", min=0.1, help="Limit of host time for the run, in seconds.")]
Image = Annotated[
    Path,
    typer.Option(
        "--image",
        callback=image_folder,
        show_default="this tree",
        help="A folder with build/tidemark.elf and build/initramfs.cpio, or the word reference: the release's image.",
    ),
]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="The result's folder (default: a new folder in results/).")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Supervised = Annotated[
    bool, typer.Option("--supervised", help="The quiz was taken under supervision: only then does it give points.")
]
SupervisedSheets = Annotated[
    bool, typer.Option("--supervised", help="Sheets of a supervised session, which give points; default: for practice.")
]
QuizSecret = Annotated[Path, typer.Option("--secret", help="The course's secret: a file with at least 16 bytes.")]
Roster = Annotated[Path | None, typer.Option("--roster", help="The names of all students, one per line.")]
Sheets = Annotated[Path, typer.Option("--out", "-o", callback=writable, help="HTML file of all sheets, to be printed.")]
Keys = Annotated[Path, typer.Option("--keys", callback=writable, help="HTML file of all keys, for the examiner.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]


def image_of(result: results.Result, given: Path) -> Path:
    """The folder of the image for repeating a result: `given`, or the reference image if that made the result."""
    return reference_image.that_made(result.meta.get("image", {}).get("sha256", ""), given, qemu.ROOT)


def settings(
    command: list[str],
    vm: str = DEFAULT.vm,
    mem: str = DEFAULT.mem,
    swap: str = DEFAULT.swap,
    frames: int | None = None,
    seed: int | None = None,
    cmdline: str = "",
    timeout: float = DEFAULT.timeout,
    image: Path = DEFAULT.image,
    exact: bool = True,
    jitter: int | None = None,
    disk: str = "",
    disk_kind: str = DEFAULT.disk_kind,
) -> qemu.Settings:
    """The settings that the options describe. Raises LabError if one cannot be used."""
    if exact and swap.startswith("hd"):
        raise LabError(f"swap={swap} is a real disk, which an exact run cannot use: add --real", USAGE)
    if exact and disk and disk_kind in REAL:
        raise LabError(f"--disk-kind {disk_kind} is a real disk, which an exact run cannot use: add --real", USAGE)
    if jitter is not None and parameters.JITTER in parameters.split(cmdline)[0]:
        raise LabError("--jitter and --cmdline both give a jitter: give only one", USAGE)
    chosen = replace(
        DEFAULT,
        run=" ".join(command),
        vm=vm,
        mem=mem,
        swap=swap,
        frames="" if frames is None else str(frames),
        seed="" if seed is None else str(seed),
        cmdline=parameters.joined(cmdline, {} if jitter is None else {parameters.JITTER: jitter}),
        timeout=timeout,
        image=image.resolve(),
        exact=exact,
    )
    try:
        qemu.command_line(chosen)
        qemu.machine_mib(chosen)
        chosen = replace(chosen, disk=absolute(disk), disk_kind=disk_kind)
        check_disk(chosen.disk, chosen.disk_kind)
    except qemu.BadSetting as error:
        raise LabError(str(error), USAGE) from None
    return chosen
