"""The command line `tidemark`: what its commands share. The commands are in tidemark/commands/."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Literal

import typer
from typer.core import TyperGroup
from typer.main import get_command

from tidemark import errors
from tidemark.machine import home

# In the order of the help. The module of each has a function of the same name, or `app`, a group of commands.
COMMANDS = (
    *("demo", "run", "rerun", "min", "bound", "sweep", "curves", "pagetables", "report", "profile", "alloc"),
    *(
        "contention",
        "export",
        "why",
        "gdb",
        "watch",
        "race",
        "procs",
        "sim",
        "compare",
        "worst",
        "evaluate",
        "paper",
        "lab",
    ),
    *("grade", "grade-class", "export-grade", "hand-in", "rubric", "class-stats", "export-jplag", "board", "release"),
    *("trace", "quiz", "break-code", "viva", "hunts"),
)
MARKUP: Literal["markdown"] = "markdown"

EXTRAS = {
    "matplotlib": "figures",
    "scipy": "figures",
    "numba": "trace",
    "zstandard": "trace",
    "textual": "watch",
    "distributed": "cluster",
    "dask": "cluster",
}

NOT_WRITTEN = (
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EPERM, errno.EROFS),
    *(errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EBUSY),
)


class Modules(Mapping[str, Any]):
    """The commands by name. A command's module is imported when it is asked for: all together take longer to import
    than most commands run."""

    def __getitem__(self, name: str) -> Any:
        if name not in COMMANDS:
            raise KeyError(name)
        word = name.replace("-", "_")
        module = import_module(f"tidemark.commands.{word}")
        group = getattr(module, "app", None)
        if group is None:
            group = typer.Typer(add_completion=False)
            group.command(name)(getattr(module, word))
        group.rich_markup_mode = MARKUP
        return get_command(group)

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class Commands(TyperGroup):
    """The group of all commands."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = Modules()  # type: ignore[assignment]  # only read


app = typer.Typer(
    cls=Commands,
    name="tidemark",
    epilog="Exit status: 0 good, 1 the experiment failed or differs, 2 wrong usage, 3 bad input, 4 a missing tool, "
    "5 a result could not be written, 130 stopped by Ctrl-C.",
    rich_markup_mode=MARKUP,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def tidemark() -> None:
    """Run experiments on the Tidemark kernel, and look at the results."""


def hang_up(signum: int, frame: object) -> None:
    """SIGTERM and SIGHUP end a command as Ctrl-C does: the result's folder keeps the records so far."""
    raise KeyboardInterrupt


def say(message: str) -> None:
    """Print an error to stderr."""
    print(f"tidemark: {message}", file=sys.stderr)


def let_go() -> None:
    """Flush the output. If the terminal or pipe is gone, discard it: Python would exit with its own status."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def main() -> None:
    """Run one command. The exit status is one of those in tidemark.errors."""
    signal.signal(signal.SIGTERM, hang_up)
    signal.signal(signal.SIGHUP, hang_up)
    try:
        if said := home.not_here(sys.argv[1:]):
            raise errors.LabError(said, errors.NO_TOOL)
        home.prepare()
        app()
    except errors.LabError as error:
        say(str(error))
        sys.exit(error.code)
    except ModuleNotFoundError as error:
        extra = EXTRAS.get((error.name or "").split(".")[0])
        if extra is None:
            raise
        where = "on a machine and Python for which it has a file, " if error.name == "numba" else ""
        hint = f"{where}`make lab` has it, or: pip install 'tidemark[{extra}]'"
        say(f"{error.name} is not installed, which this needs; {hint}")
        sys.exit(errors.NO_TOOL)
    except OSError as error:
        if error.errno not in NOT_WRITTEN:
            raise
        say(f"{error.filename or 'a file'} cannot be written: {error.strerror}")
        sys.exit(errors.NO_SPACE)
    finally:
        let_go()


if __name__ == "__main__":
    main()
