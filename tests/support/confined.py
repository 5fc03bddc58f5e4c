"""Marks of tests that need a sandbox: many containers let an ordinary user have none."""

from __future__ import annotations

import pytest
from tidemark.grade.build import sandbox

TROUBLE = {kind: sandbox.trouble(kind) for kind in ("bwrap", "user")}
NEEDS_BWRAP = pytest.mark.skipif(bool(TROUBLE["bwrap"]), reason=f"bwrap does not work here: {TROUBLE['bwrap']}")
# Without a sandbox the grader refuses work from outside its tree, since that work could read the solutions.
NEEDS_SANDBOX = pytest.mark.skipif(all(TROUBLE.values()), reason=f"there is no sandbox here: {TROUBLE['bwrap']}")
