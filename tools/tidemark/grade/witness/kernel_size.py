"""Does a kernel fit into its machine? One with a static array of hundreds of megabytes does not, and QEMU or the kernel
would say so in words that help nobody."""

from __future__ import annotations

import struct
from pathlib import Path

MIB = 1 << 20
HEADER, LOAD = struct.Struct("<28xI10xHH8x"), 1  # of ELF32: where its program headers are, their size and number
SEGMENT = struct.Struct("<IIIIII8x")  # type, offset, virtual and physical address, bytes in the file and in memory


def end(image: bytes) -> int:
    """The physical address behind a kernel's last byte."""
    at, size, count = HEADER.unpack_from(image)
    segments = (SEGMENT.unpack_from(image, at + number * size) for number in range(count))
    return max(int(address + in_memory) for kind, _, _, address, _, in_memory in segments if kind == LOAD)


def too_large(kernel: Path, memory: int) -> str:
    """What is to be said of a kernel that does not fit into so many bytes; "" when it does."""
    with kernel.open("rb") as file:
        needs = end(file.read(64 << 10))
    if needs < memory:
        return ""
    return (
        f"the kernel with its data takes {needs / MIB:,.0f} MiB, and this machine has {memory / MIB:,.0f} MiB: "
        "a static array in your files is too large"
    )
