"""The settings of one run, and how they follow from make's variables."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tidemark.machine import disk, reference_image
from tidemark.machine.disk import BadSetting
from tidemark.machine.home import ROOT as ROOT


def defaults() -> dict[str, str]:
    """make's variables and their defaults, "" for none."""
    table = Path(__file__).with_name("variables.txt").read_text()
    lines = [line for line in table.splitlines() if line and line[0] != "#"]
    return {name.strip(): default.strip() for name, default, *_ in (line.split("|") for line in lines)}


DEFAULTS = defaults()


@dataclass(frozen=True)
class Settings:
    """The settings of one run. Sizes are in the kernel's notation (24M); `exact` is virtual time; `timeout` is in
    seconds of host time; `image` is the folder that holds KERNEL and INITRD; `prefix` is put before the command of an
    unattended run, to start it in a sandbox. `disk` is an image (`prepared` makes one from a folder or a size),
    `disk_kind` its kind in the guest, `disk2` a second one of that kind; `disk_kept`: changes go into the image;
    `memory` is the file that holds the guest's memory, if it has one; with a modelled disk and "" a file is made;
    `future` is a file that is loaded above all else in memory, for vm=min."""

    vm: str = DEFAULTS["VM"]
    mem: str = DEFAULTS["MEM"]
    swap: str = DEFAULTS["SWAP"]
    frames: str = ""
    run: str = ""
    seed: str = ""
    exact: bool = DEFAULTS["EXACT"] == "1"
    telemetry: str = ""
    cmdline: str = ""
    timeout: float = float(DEFAULTS["TIMEOUT"])
    gdb_port: int = int(DEFAULTS["GDBPORT"])
    qemu_flags: str = ""
    image: Path = ROOT
    prefix: tuple[str, ...] = ()
    disk: str = ""
    disk_kind: str = DEFAULTS["DISK_KIND"]
    disk2: str = ""
    disk_kept: bool = True
    memory: str = ""
    future: str = ""


def size_bytes(text: str, name: str) -> int:
    """Bytes of `24M`, `65536K`, `1G` or a plain number. Raises BadSetting, which names the variable."""
    match = re.fullmatch(r"(\d+)([KMG]?)", text, re.IGNORECASE)
    if not match:
        raise BadSetting(f"{name}={text} is not a size; write it as 24M (K, M, G, or bytes)")
    return int(match[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[match[2].upper()]


def number(text: str, name: str) -> str:
    """`text`. Raises BadSetting unless it is empty or a whole number."""
    if not re.fullmatch(r"\d*", text):
        raise BadSetting(f"{name}={text} is not a whole number")
    return text


def settings_from(env: Mapping[str, str]) -> Settings:
    """Settings from make's variables; what is absent or empty keeps its default."""
    given = {name: env.get(name) or default for name, default in DEFAULTS.items()}
    for name in ("VM", "SWAP", "CMDLINE", "QEMUFLAGS", "TELEMETRY", "DISK", "DISK2", "DISK_KIND"):
        if re.search(r"[\0-\x1f\x7f]", given[name]):
            raise BadSetting(f"{name} may not contain control characters, such as the end of a line")
    if given["EXACT"] not in ("0", "1"):
        raise BadSetting(f"EXACT={given['EXACT']}: it must be 1 (virtual time, reproducible) or 0 (wall-clock time)")
    try:
        shlex.split(given["QEMUFLAGS"])
    except ValueError:
        raise BadSetting(f"QEMUFLAGS={given['QEMUFLAGS']}: a quote is not closed") from None
    if given["DISK2"] and not given["DISK"]:
        raise BadSetting("DISK2 is the disk after DISK: give DISK, too")
    if not Path(os.path.abspath(given["TELEMETRY"])).parent.is_dir():
        raise BadSetting(f"TELEMETRY={given['TELEMETRY']}: there is no such folder")
    if given["TELEMETRY"] and Path(given["TELEMETRY"]).is_dir():
        raise BadSetting(f"TELEMETRY={given['TELEMETRY']}: it is a folder; name a file")
    return Settings(
        vm=given["VM"],
        mem=given["MEM"],
        swap=given["SWAP"],
        frames=number(given["FRAMES"], "FRAMES"),
        run=given["RUN"],
        seed=number(given["SEED"], "SEED"),
        exact=given["EXACT"] == "1",
        telemetry=given["TELEMETRY"],
        cmdline=disk.with_root(given),
        timeout=float(number(given["TIMEOUT"], "TIMEOUT")),
        gdb_port=int(number(given["GDBPORT"], "GDBPORT")),
        qemu_flags=given["QEMUFLAGS"],
        disk=given["DISK"],
        disk_kind=given["DISK_KIND"],
        disk2=given["DISK2"],
        image=reference_image.chosen(given, ROOT),
    )
