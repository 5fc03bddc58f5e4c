"""The image that made a result, stored in the result: kernel, first file system, and programs with their symbols.

    RESULT/image/build/tidemark.elf, tidemark.elf.nm, initramfs.cpio, user/NAME

The result's image/ is an image's folder, as a tree is. The files are hard links to one copy for each image, in
build/images of this tree: a hundred results of one image take the room of one. If links are impossible, they are
copies.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

from tidemark.errors import LabError
from tidemark.files import copy_atomically
from tidemark.machine import image, plugin, qemu
from tidemark.runs import repeat, results

FOLDER = "image"
STORE = qemu.ROOT / "build/images"


def programs(image_folder: Path, command: str) -> list[str]:
    """The programs of the image that a command line names, `build/user/NAME`."""
    names = dict.fromkeys(re.findall(r"[\w.-]+", command))
    return [f"build/user/{name}" for name in names if (image_folder / "build/user" / name).is_file()]


def stored(source: Path, name: str, sha: str) -> Path:
    """The one copy of a file of the image `sha`."""
    copy = STORE / sha[:16] / name
    if not copy.exists():
        copy.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=copy.parent) as folder:
            fresh = Path(folder, copy.name)
            shutil.copyfile(source / name, fresh)
            try:
                os.link(fresh, copy)
            except FileExistsError:
                pass  # another run was faster; its copy stays
            except OSError:
                copy_atomically(fresh, copy)
    return copy


def keep(result: results.Result, image_folder: Path) -> None:
    """Store the image in the result. If it cannot be written, it is left out: the result is complete without it."""
    names = [qemu.KERNEL, plugin.SYMBOLS, qemu.INITRD, *programs(image_folder, result.meta["settings"]["run"])]
    try:
        if image.describe(image_folder)["sha256"] != result.meta["image"]["sha256"]:
            return  # the image was rebuilt during the run
        for name in names:
            target = result.folder / FOLDER / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            copy = stored(image_folder, name, result.meta["image"]["sha256"])
            try:
                os.link(copy, target)
            except OSError:
                shutil.copyfile(copy, target)
    except (LabError, OSError):
        shutil.rmtree(result.folder / FOLDER, ignore_errors=True)


def of(result: results.Result, otherwise: Path) -> Path:
    """The folder of the image that made a result: the stored one, or `otherwise` if that is the same image. Raises
    LabError if the run is not reproducible, or its image is not available."""
    folder = result.folder / FOLDER
    folder = folder if folder.is_dir() else otherwise
    repeat.check_repeatable(result, image.describe(folder))
    if not (folder / plugin.SYMBOLS).exists():
        raise LabError(f"{folder} has no {plugin.SYMBOLS}; `make` writes it")
    return folder.resolve()
