"""What can go wrong, apart from mistakes here."""


class TmError(Exception):
    """A command cannot answer; the text is one line that says why, and if there is something to do, what."""


class Unreadable(TmError):
    """No memory answers at an address."""

    def __init__(self, address: int) -> None:
        super().__init__(f"no memory can be read at {address:#010x}")
        self.address = address


class Torn(Exception):
    """A list or tree does not hang together: it is being changed just now, or it is broken; the text says where."""
