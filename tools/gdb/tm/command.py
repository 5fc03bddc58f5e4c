"""What the commands share: arguments, one-line errors, and the list of commands."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import gdb

from .errors import TmError
from .machine import Machine

ADDRESSES = 1 << 32
commands: list[Command] = []


class Command(gdb.Command):
    """A command of gdb that prints the lines that `lines` yields. Its name begins with `tm-`. Its docstring is what
    `help` shows: the first line says what the command is for, and the last lines are an example."""

    name = ""
    arguments = ""  # as in the usage: "PID VA"
    optional = False  # may the arguments be omitted?

    def __init__(self) -> None:
        self.__doc__ = inspect.cleandoc(type(self).__doc__)
        super().__init__(self.name, gdb.COMMAND_DATA)
        commands.append(self)

    def lines(self, machine: Machine, *arguments: int) -> Iterator[str]:
        """Yields the lines that the command prints. Raises TmError if it cannot answer."""
        raise NotImplementedError

    def invoke(self, text: str, from_tty: bool) -> None:
        """Called by gdb. Never ends in a traceback: every error is printed as one line."""
        try:
            self.answer(text)
        except TmError as error:
            raise gdb.GdbError(f"{self.name}: {error}") from None
        except gdb.error as error:
            raise gdb.GdbError(f"{self.name}: {str(error).splitlines()[0]}") from None

    def answer(self, text: str) -> None:
        """Prints the answer."""
        numbers = self.numbers(text)
        for line in self.lines(Machine(), *numbers):
            print(line)

    def numbers(self, text: str) -> list[int]:
        """Evaluates the arguments: expressions, of which only the last may contain blanks."""
        words = self.arguments.split()
        given = text.split(None, max(len(words) - 1, 0)) if words else text.split()
        if len(given) != len(words) and not (self.optional and not given):
            raise TmError(f"usage: {self.name} {self.arguments}".rstrip() + f"; `help {self.name}` has an example")
        return [evaluate(word) for word in given]


def evaluate(text: str) -> int:
    """Evaluates an expression to an unsigned number."""
    try:
        value = int(gdb.parse_and_eval(text))
    except gdb.error as error:
        raise TmError(f"{text}: {str(error).splitlines()[0]}") from None
    if not -ADDRESSES // 2 <= value < ADDRESSES:
        raise TmError(f"{text} is {value:#x}, which is not a 32-bit number")
    return value % ADDRESSES


class Overview(gdb.Command):
    """The commands that show Tidemark's data structures; each has a `help`."""

    def __init__(self) -> None:
        self.__doc__ = "\n".join(["Tidemark's own commands; `help NAME` has an example of each.", "", *overview()])
        super().__init__("tm", gdb.COMMAND_DATA)

    def invoke(self, text: str, from_tty: bool) -> None:
        """Prints the list."""
        print("\n".join(overview()))


def overview() -> Iterator[str]:
    """One line for each command."""
    for command in commands:
        usage = f"{command.name} {f'[{command.arguments}]' if command.optional else command.arguments}"
        yield f"{usage:<26} {command.__doc__.splitlines()[0]}"
