"""Does a kernel fit into its machine? A kernel with a static array of hundreds of megabytes does not, and the messages
of QEMU or the kernel would not help."""

from __future__ import annotations

import struct
from pathlib import Path

MIB = 1 << 20
HEADER, LOAD = struct.Struct("<28xI10xHH8x"), 1  # of ELF32: where its program headers are, their size and number
SEGMENT = struct.Struct("<IIIIII8x")  # type, offset, virtual and physical address, bytes in the file and in memory


def end(image: bytes) -> int:
    """The physical address after a kernel's last byte."""
    at, size, count = HEADER.unpack_from(image)
    segments = (SEGMENT.unpack_from(image, at + number * size) for number in range(count))
    return max(int(address + in_memory) for kind, _, _, address, _, in_memory in segments if kind == LOAD)


def too_large(kernel: Path, memory: int) -> str:
    """A message if a kernel does not fit into `memory` bytes; "" if it does."""
    with kernel.open("rb") as file:
        needs = end(file.read(64 << 10))
    if needs < memory:
        return ""
    return (
        f"the kernel with its data takes {needs / MIB:,.0f} MiB, but this machine has {memory / MIB:,.0f} MiB: "
        "a static array in your files is too large"
    )
