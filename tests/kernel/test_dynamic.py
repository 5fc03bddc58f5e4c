"""Programs that name a dynamic linker: what both get from the kernel, and linkers that cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest
from guest import boot
from programs import compiled, image_of
from tidemark.machine import qemu

PIE = ("-O1", "-march=i686", "-ffreestanding", "-fno-stack-protector", "-nostdlib", "-fpie")
SOURCE = Path(__file__).with_name("dynamic.c")
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


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing", "not found"),
        ("itself", BAD),
        ("dynamic", BAD),
        ("fixed", BAD),
        ("textual", "Permission denied|" + BAD),
        ("folder", "Permission denied"),
    ],
)
def test_linker_that_cannot_be_used_leaves_the_caller_alone(image: Path, name: str, reason: str) -> None:
    result = boot(f"{name}; echo still here; cat /proc/vm/check", image=image).check_exit()
    result.check_lines([f"{name}: ({reason})$", "^still here$", "^ok$"])
