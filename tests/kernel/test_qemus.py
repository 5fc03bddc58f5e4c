"""Every QEMU gives the same results: boots, exactness, traces, evidence, going back, grades. `make qemus` fetches
them."""

from __future__ import annotations

from pathlib import Path

import pytest
import qemus

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The results with this machine's own QEMU."""
    folder = tmp_path_factory.mktemp("here")
    return folder, qemus.of(None, folder)


@pytest.mark.parametrize("folder", qemus.fetched() or [None], ids=lambda folder: folder.name if folder else "none")
def test_other_qemus_do_the_same_to_the_bit(
    folder: Path | None, here: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    if not folder:
        pytest.skip("`make qemus` fetches other QEMUs")
    scratch, ours = here
    theirs = qemus.of(folder, tmp_path)
    print(f"QEMU {qemus.version(None)} and {qemus.version(folder)}", *ours.items(), sep="\n")
    assert len(ours) >= 19
    assert theirs == ours
    assert qemus.differing(scratch, tmp_path) == []
