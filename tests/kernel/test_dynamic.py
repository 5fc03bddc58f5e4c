"""Programs that name a dynamic linker: what both get from the kernel, and linkers that cannot be used."""

from __future__ import annotations

import re
from pathlib import Path

import ext2
import pytest
from guest import boot
from programs import compiled, image_of
from tidemark.machine import qemu

PIE = ("-O1", "-march=i686", "-ffreestanding", "-fno-stack-protector", "-nostdlib", "-fpie")
SOURCE = Path(__file__).with_name("dynamic.c")
TRIES = 16  # more reads than the program and its linker cause
BAD = "No error information"  # musl's text for ELIBBAD


def linker(folder: Path, name: str) -> Path:
    """The dynamic linker of dynamic.c."""
    return compiled(SOURCE, folder / name, *PIE, "-DLINKER", "-static-pie", "-Wl,--no-dynamic-linker")


def program(folder: Path, name: str, needs: str) -> Path:
    """The program of dynamic.c, which names `needs` as its dynamic linker."""
    return compiled(SOURCE, folder / name, *PIE, "-pie", f"-Wl,--dynamic-linker={needs}")


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An image with the linker, and programs that name it or others."""
    folder = tmp_path_factory.mktemp("dynamic")
    text = folder / "text"
    text.write_text("not a program\n")
    needs = {"program": "linker", "missing": "none", "itself": "itself", "dynamic": "program", "fixed": "true"}
    needs |= {"textual": "text", "folder": ""}
    return image_of(
        folder, linker(folder, "linker"), text, *(program(folder, name, f"/bin/{to}") for name, to in needs.items())
    )


@pytest.mark.parametrize("vm", ["2q", "ws"])
def test_linker_runs_first_and_hands_on_to_the_program(image: Path, vm: str) -> None:
    result = boot("program; program; cat /proc/vm/check", image=image, vm=vm).check_exit()
    result.check_lines(["^linker: +$", "^program: +$", "^linker: +$", "^program: +$", "^ok$"])


def test_linker_runs_alone_as_a_movable_program(image: Path) -> None:
    """As `ld.so --help` does: without an interpreter the auxiliary vector has no base, and no headers name one."""
    boot("linker", image=image).check_exit(qemu.FAILED).check_lines(["^linker: +bh +$"])


@pytest.mark.parametrize("name", ["itself", "dynamic"])
def test_linker_may_be_a_program_with_a_linker(image: Path, name: str) -> None:
    """The linker's own PT_INTERP is ignored, as on Linux: it runs, and finds neither its entry nor its address."""
    result = boot(f"{name}; echo $?; cat /proc/vm/check", image=image).check_exit()
    result.check_lines(["^program: ea +$", "^1$", "^ok$"])


def test_linker_may_have_a_fixed_address(image: Path) -> None:
    """The program and /bin/true, its linker, lie at different addresses."""
    boot("fixed && echo $?; cat /proc/vm/check", image=image).check_exit().check_lines(["^0$", "^ok$"])


@pytest.mark.parametrize("end", ["", "+"], ids=["once", "from then on"])
def test_program_whose_pages_cannot_be_read(tmp_path: Path, end: str) -> None:
    """The Nth read of the disk fails, or each from then on: execve returns EIO, or the process gets SIGBUS for the page
    that it needs. The machine continues, and the program runs later. Without read-around, any page can be the one that
    fails."""
    content = tmp_path / "content"
    content.mkdir()
    linker(content, "linker")
    program(content, "program", "/mnt/linker")
    lines = [
        f"echo 3 >/proc/sys/vm/drop_caches; echo read:{n}{end} >/proc/fail; /mnt/program\necho status $?\n"
        for n in range(1, TRIES + 1)
    ]
    (content / "tries").write_text("".join(lines) + "echo none >/proc/fail; /mnt/program\n")
    disk = ext2.make(tmp_path / "disk", "1M", content=content)
    line = "mkdir /mnt; mount -t ext2 /dev/sda /mnt; cp /mnt/tries /tmp; sh /tmp/tries; cat /proc/vm/check"
    result = boot(line, disk=disk, disk_kind="sim:ssd", cmdline="vm.readaround_kb=0").check_exit()
    result.check_lines(["^status 0$", "^linker: +$", "^program: +$", "^ok$"])
    found = re.findall(r"(?m)^status (\d+)$", result.console)
    assert set(found) == {"0", "126", "135"} and found[-1] == "0" and len(found) == TRIES, result.console
    assert result.console.count(": I/O error") == found.count("126"), result.console


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing", "not found"),
        ("textual", "Permission denied|" + BAD),
        ("folder", "Permission denied"),
    ],
)
def test_linker_that_cannot_be_used_leaves_the_caller_alone(image: Path, name: str, reason: str) -> None:
    result = boot(f"{name}; echo still here; cat /proc/vm/check", image=image).check_exit()
    result.check_lines([f"{name}: ({reason})$", "^still here$", "^ok$"])
