"""Errors, and the exit status they give. A message says what is wrong and what to do next."""

from __future__ import annotations

OK = 0
FAILED = 1  # the experiment failed, or results that should be equal differ
USAGE = 2  # a wrong argument or option
BAD_INPUT = 3  # a file or folder that cannot be used
NO_TOOL = 4  # a program or library that is missing or too old
NO_SPACE = 5  # a result could not be written
INTERRUPTED = 130  # Ctrl-C, as shells report it


class LabError(Exception):
    """Ends a command with its message and `code`, one of the values above."""

    def __init__(self, message: str, code: int = BAD_INPUT) -> None:
        super().__init__(message)
        self.code = code
