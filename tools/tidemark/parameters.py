"""Kernel parameters as text: the words NAME=VALUE of a command line, taken apart and put together."""

from __future__ import annotations

from collections.abc import Mapping

JITTER = "jitter"


def split(cmdline: str) -> tuple[dict[str, str], str]:
    """The parameters in `cmdline` by name, the last of a name as in the kernel, and the words that are none."""
    words = [word.partition("=") for word in cmdline.split()]
    named = {name: value for name, sign, value in words if sign and name}
    return named, " ".join("".join(word) for word in words if not (word[1] and word[0]))


def joined(cmdline: str, more: Mapping[str, object]) -> str:
    """`cmdline` with more parameters behind it."""
    return " ".join(filter(None, [cmdline.strip(), *(f"{name}={value}" for name, value in more.items())]))
