"""Reference traces, recorded by the plugin or imported from Valgrind; docs/reference/trace-format.md has the format."""

from __future__ import annotations

PAGE_SHIFT = 12
MAX_SPACES = 1 << 16
MAX_COUNT = (1 << 32) - 1

INSTRUCTION, LOAD, STORE, MODIFY = range(4)
KINDS = ("instruction", "load", "store", "modify")
READ, WRITE = range(4, 6)
ALL_KINDS = (*KINDS, "read", "write")  # by system calls: only of pages of files

# Where a trace has pages of files (see Reader.files), the numbers from here on are theirs: store and page of the file.
FILE_PAGE = 1 << 51
FILE_INDEX_BITS = 20
