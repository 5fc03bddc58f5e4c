"""Reads the state of a stopped machine without gdb: registers and memory through QEMU's own stub, for comparisons."""

from __future__ import annotations

import hashlib
import socket
from pathlib import Path


class Stub:
    """One connection to QEMU's gdb stub at a Unix socket."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(str(path))
        self.bytes = self.socket.makefile("rb")

    def send(self, packet: str) -> None:
        """Sends one packet to the stub."""
        self.socket.sendall(f"${packet}#{sum(packet.encode()) % 256:02x}".encode())

    def receive(self) -> str:
        """Returns the stub's next packet."""
        while self.bytes.read(1) != b"$":
            pass
        text = b""
        while not text.endswith(b"#"):
            text += self.bytes.read(1)
        self.bytes.read(2)
        self.socket.sendall(b"+")
        return text[:-1].decode()

    def registers(self) -> str:
        """All registers of the CPU, in hexadecimal."""
        self.send("g")
        return self.receive()

    def monitor(self, command: str) -> None:
        """Runs a command of QEMU's monitor."""
        self.send("qRcmd," + command.encode().hex())
        while self.receive() != "OK":
            pass

    def memory(self, size: int, scratch: Path) -> str:
        """Returns the SHA-256 of the first `size` bytes of memory."""
        file = scratch / "memory"
        self.monitor(f'pmemsave 0 {size} "{file}"')
        return hashlib.sha256(file.read_bytes()).hexdigest()

    def __enter__(self) -> Stub:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()
