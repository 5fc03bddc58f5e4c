"""The same with every QEMU: boots, exactness, traces, evidence, going back, grades. `make qemus` fetches them."""

from __future__ import annotations

from pathlib import Path

import pytest
import qemus

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What this machine's own QEMU makes of it."""
    return qemus.of(None, tmp_path_factory.mktemp("here"))


@pytest.mark.parametrize("folder", qemus.fetched() or [None], ids=lambda folder: folder.name if folder else "none")
def test_other_qemus_do_the_same_to_the_bit(folder: Path | None, here: dict[str, str], tmp_path: Path) -> None:
    if not folder:
        pytest.skip("`make qemus` fetches other QEMUs")
    there = qemus.of(folder, tmp_path)
    print(f"QEMU {qemus.version(None)} and {qemus.version(folder)}: {len(here)} digests", *here.items(), sep="\n")
    assert len(here) > 20
    assert there == here
