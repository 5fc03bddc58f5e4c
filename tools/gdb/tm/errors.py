"""Errors that are not bugs in these commands."""


class TmError(Exception):
    """A command cannot answer. The text is one line with the reason and, if there is one, the remedy."""


class Unreadable(TmError):
    """There is no memory at an address."""

    def __init__(self, address: int) -> None:
        super().__init__(f"no memory can be read at {address:#010x}")
        self.address = address


class Torn(Exception):
    """A list or tree is inconsistent: it is being changed just now, or it is broken. The text says where."""
