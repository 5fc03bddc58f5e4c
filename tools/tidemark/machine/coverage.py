"""QEMU's arguments while the coverage of the kernel is measured (`make coverage`; tools/cover collects it)."""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Sequence
from pathlib import Path

FOLDER = "TIDEMARK_COVERAGE"  # in the environment: build/coverage/runs of the measured tree
NAME, SUFFIX = "test", ".pcs"


def arguments(kernel: Path, given: Sequence[str]) -> list[str]:
    """The arguments that load the plugin, or none, given a kernel's file and QEMU's other arguments.

    Each test has a folder, with its name and a file for each of its runs. Kernels of other trees are not measured, nor
    runs that use the plugin for something else: it can be loaded only once.
    """
    folder = Path(os.environ.get(FOLDER, ""))
    build = kernel.resolve().parent
    if not folder.is_absolute() or build / "coverage" not in folder.parents or "-plugin" in given:
        return []
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    runs = folder / hashlib.sha256(test.encode()).hexdigest()[:16]
    runs.mkdir(parents=True, exist_ok=True)
    (runs / NAME).write_text(test)
    return ["-plugin", f"{build}/plugin/tidemark.so,mode=cover,out={runs / uuid.uuid4().hex}{SUFFIX}"]
