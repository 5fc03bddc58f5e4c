"""A policy or a guard without a required hook stops the boot and is named, wherever it stands among the others."""

from __future__ import annotations

from pathlib import Path

import pytest
from bad_kernels import kernel_of
from guest import boot
from tidemark.machine import qemu

EMPTY = """#include "mm/{kind}.h"

static const struct vm_{kind} zz = {{ .name = "zz", .summary = "has no hook" }};
VM_{upper}(zz);
"""


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["policy", "guard"])
def test_who_lacks_a_hook_is_named(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def change(copy: Path) -> None:
        (copy / f"kernel/mm/{kind}/zz.c").write_text(EMPTY.format(kind=kind, upper=kind.upper()))

    monkeypatch.setattr(qemu, "KERNEL", kernel_of("hooks", change))
    boot("true").check_exit(qemu.PANICKED).check_lines([f"^panic: {kind} violation: {kind}=zz rule=hooks: one of "])
