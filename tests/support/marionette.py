"""Drives Debian's Firefox by its own protocol, because playwright only drives a Firefox that it has built itself.

A message is its length, a colon, and JSON: [0, number, command, arguments]. The answer: [1, number, error, result].
https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html
"""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SECONDS = 100  # of host time, for the start of Firefox, and for a page


class Firefox:
    """A headless Firefox with one tab."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
        self.stream = self.socket.makefile("rb")
        self.number = 0
        self.read()  # Firefox introduces itself
        self.call("WebDriver:NewSession")

    def read(self) -> Any:
        """Returns the next message."""
        length = bytearray()
        while (byte := self.stream.read(1)) != b":":
            assert byte, "Firefox has gone"
            length += byte
        return json.loads(self.stream.read(int(length)))

    def call(self, command: str, **arguments: Any) -> Any:
        """Runs a command; returns its result."""
        self.number += 1
        text = json.dumps([0, self.number, command, arguments]).encode()
        self.socket.sendall(b"%d:%s" % (len(text), text))
        _, _, error, result = self.read()
        assert not error, error
        return result

    def open(self, address: str) -> None:
        """Opens a page."""
        self.call("WebDriver:Navigate", url=address)

    def value(self, expression: str) -> Any:
        """Returns the value of an expression in the page."""
        return self.call("WebDriver:ExecuteScript", script=f"return {expression}", args=[])["value"]

    def until(self, expression: str) -> None:
        """Waits until an expression in the page is true."""
        end = time.monotonic() + SECONDS
        while not self.value(expression):
            assert time.monotonic() < end, f"never true: {expression}"
            time.sleep(0.2)


def installed() -> str | None:
    """The path of Firefox, or None if it is not installed."""
    return shutil.which("firefox-esr") or shutil.which("firefox")


def port_of(profile: Path) -> int:
    """The port that Firefox has chosen and written into its profile."""
    end = time.monotonic() + SECONDS
    while not (file := profile / "MarionetteActivePort").exists() or not file.read_text():
        assert time.monotonic() < end, "Firefox does not start"
        time.sleep(0.1)
    return int(file.read_text())


@contextlib.contextmanager
def firefox(program: str) -> Iterator[Firefox]:
    """A Firefox with a profile of its own, which is closed at the end of the block."""
    with tempfile.TemporaryDirectory() as profile:
        Path(profile, "user.js").write_text('user_pref("marionette.port", 0);\n')
        words = [program, "--headless", "--marionette", "--profile", profile]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield Firefox(port_of(Path(profile)))
        finally:
            process.terminate()
            process.wait()
