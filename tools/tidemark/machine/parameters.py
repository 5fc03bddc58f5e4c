"""Kernel parameters as text: the words NAME=VALUE of a command line, taken apart and put together."""

from __future__ import annotations

from collections.abc import Mapping

JITTER = "jitter"


def split(cmdline: str) -> tuple[dict[str, str], str]:
    """(the parameters in `cmdline` by name, of which the last wins as in the kernel; the other words)."""
    words = [word.partition("=") for word in cmdline.split()]
    named = {name: value for name, sign, value in words if sign and name}
    return named, " ".join("".join(word) for word in words if not (word[1] and word[0]))


def joined(cmdline: str, more: Mapping[str, object]) -> str:
    """`cmdline` with more parameters appended."""
    return " ".join(filter(None, [cmdline.strip(), *(f"{name}={value}" for name, value in more.items())]))
