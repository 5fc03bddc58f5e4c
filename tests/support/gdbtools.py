"""Imports the files of tools/gdb/tm without gdb: they import the module gdb, which exists only inside gdb."""

from __future__ import annotations

import sys
import types

from tidemark.machine import qemu

gdb = types.ModuleType("gdb")
gdb.Command, gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION = object, 1, 2
sys.modules["gdb"] = gdb
sys.path.insert(0, str(qemu.ROOT / "tools/gdb"))
