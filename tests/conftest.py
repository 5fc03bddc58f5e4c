"""pytest's own settings: the image that the tests run must be there."""

from __future__ import annotations

import pytest
from tidemark import qemu

pytest_plugins = ["pytester", "unchanged"]


@pytest.fixture(scope="session", autouse=True)
def image() -> None:
    """Stop with what to do when nothing has been built."""
    for name in (qemu.KERNEL, qemu.INITRD):
        if not (qemu.ROOT / name).exists():
            pytest.exit(f"{name} is not there: run `make check`, or `make` first", returncode=3)
