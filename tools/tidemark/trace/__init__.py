"""Reference traces, recorded by the plugin or imported from Valgrind; docs/reference/trace-format.md has the format."""

from __future__ import annotations

PAGE_SHIFT = 12
MAX_SPACES = 1 << 16
MAX_COUNT = (1 << 32) - 1

INSTRUCTION, LOAD, STORE, MODIFY = range(4)
KINDS = ("instruction", "load", "store", "modify")
