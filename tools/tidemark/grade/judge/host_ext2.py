"""ext2 with a student's file in a program on the host (tests/host/ext2), on many images, in the sandbox."""

from __future__ import annotations

import contextlib
import os
import shlex
import stat
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tidemark.errors import FAILED, LabError
from tidemark.grade.build import object_rules
from tidemark.grade.build.workspace import tail
from tidemark.grade.model import Outcome, Verdict, wrong
from tidemark.grade.witness.machine import Machine
from tidemark.machine import ext2

LIMIT_S, EACH_S = 300, 10  # EACH_S: of processor time for each image
MOST = 4 << 20  # bytes of each file that a command writes
LIMITS = f"ulimit -t {EACH_S}; ulimit -f {MOST // 512}"
# Checks images, and prints e2fsck's status for each.
CHECK = f"""
{LIMITS}
for image; do
	{{e2fsck}} {{option}} "$image" >"$image.said" 2>&1
	echo $?
done
"""
Images = Sequence[bytes]


class Ran(NamedTuple):
    """An image after a command, the command's status, and what it printed."""

    image: bytes
    status: int
    out: str
    errors: str

    @property
    def said(self) -> str:
        """All that it printed."""
        return self.out + self.errors


def program(lab: str) -> str:
    """The program, which is the make target too, with the file of lab `crash` or `redo`."""
    return f"build/labs/{lab}/ext2"


def unusable(machine: Machine) -> Verdict | None:
    """The verdict if the program cannot be used; None if it can."""
    name = machine.lab.name
    made = machine.build_results[program(name)]
    if made.status:
        return wrong(f"the compiler says:\n{tail(made.err, 20)}", Outcome.NO_BUILD)
    built = f"build/labs/{name}/{Path(machine.lab.files[0]).with_suffix('.o')}"
    offences = object_rules.host_offences(machine.tree, machine.lab, built)
    return wrong("\n".join(offences), Outcome.BROKE_RULE) if offences else None


def script(machine: Machine, steps: Sequence[str], *options: object) -> str:
    """A command that mounts an image in the program, and does some steps."""
    text = shlex.quote("".join(f"{step}\n" for step in steps))
    return f"printf %s {text} | {program(machine.lab.name)} $1 {shlex.join(map(str, options))}"


def content(path: Path) -> bytes:
    """What a command left in a file; nothing for a link, a pipe or a folder, which a student's program may leave."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            return file.read(MOST) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    except OSError:
        return b""


@contextlib.contextmanager
def laid(machine: Machine, images: Images) -> Iterator[tuple[Path, list[Path]]]:
    """(folder, paths) of images in a folder of their own."""
    with tempfile.TemporaryDirectory(prefix="ext2-", dir=machine.scratch) as name:
        paths = [Path(name, f"{number:05}") for number in range(len(images))]
        for path, image in zip(paths, images):
            path.write_bytes(image)
        yield Path(name), paths


def mounted(
    machine: Machine, images: Images, steps: Sequence[str], option: str, cuts: Sequence[tuple[int, int]] = ()
) -> list[Ran]:
    """As in_sandbox, if the command mounts the image and does some steps: much faster. cuts: (writes, seed): in a mount
    before that one, with the same steps, the power fails at one of its writes."""
    with laid(machine, images) as (folder, paths):
        script = folder / "steps"
        script.write_text("".join(f"{step}\n" for step in steps))
        words = [f"{path},{n},{seed}" for path, (n, seed) in zip(paths, cuts)] or list(map(str, paths))
        command = [program(machine.lab.name), "--each", str(script), option, *words]
        limited = ["sh", "-c", f'{LIMITS}; exec "$@"', "sh", *command]
        made = machine.run_on_host(*limited, writable=(folder,), limit_s=LIMIT_S)
        return [result(path, int(status)) for path, status in zip(paths, made.out.split())]


def result(path: Path, status: int) -> Ran:
    """The image at a path after a command, with what it printed."""
    out, errors = (content(path.with_suffix(end)).decode("utf-8", "replace") for end in (".said", ".errors"))
    return Ran(content(path), status, out, errors)


def checked(machine: Machine, images: Images, option: str) -> list[Ran]:
    """The images after e2fsck with an option, -fy or -fn. Raises LabError if it did not end for all of them."""
    with laid(machine, images) as (folder, paths):
        script = CHECK.format(e2fsck=ext2.program("e2fsck"), option=option)
        made = machine.run_on_host("sh", "-c", script, "sh", *paths, writable=(folder,), limit_s=LIMIT_S)
        statuses = made.out.split()
        if len(statuses) < len(images):
            raise LabError(f"e2fsck did not end: {len(statuses)} of {len(images)} images were checked", FAILED)
        return [result(path, int(status)) for path, status in zip(paths, statuses)]


def in_sandbox(machine: Machine, images: Images, commands: Sequence[str]) -> list[Ran]:
    """Runs a command for each image, whose path is $1 in it, up to the first that a signal ends. If there are fewer
    results than images, the next command ended all. A command can read and write all images, so an image is judged in
    another sandbox than it was made in."""
    with laid(machine, images) as (folder, paths):
        lines = []
        for path, command in zip(paths, commands):
            lines.append(f"set {path}\n({LIMITS}; {command}) >$1.said 2>$1.errors; code=$?; echo $code >$1.status")
            lines.append("[ $code -lt 128 ] || exit 0")
        machine.run_on_host("sh", stdin="\n".join([*lines, ""]).encode(), writable=(folder,), limit_s=LIMIT_S)
        found = []
        for path in paths:
            status = content(path.with_suffix(".status")).strip()
            if not status.isdigit():
                break
            found.append(result(path, int(status)))
        return found
