"""The command line `tidemark`: what its commands share. The commands are in tidemark/commands/."""

from __future__ import annotations

import errno
import os
import signal
import sys

import typer

from tidemark import errors
from tidemark.commands import (
    board,
    class_stats,
    compare,
    curves,
    export,
    export_grade,
    export_jplag,
    gdb,
    grade,
    grade_class,
    hand_in,
    lab,
    procs,
    profile,
    quiz,
    race,
    release,
    report,
    rerun,
    rubric,
    run,
    sim,
    sweep,
    trace,
    watch,
)
from tidemark.commands.min import min_

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

app = typer.Typer(
    name="tidemark",
    help="Run experiments on the Tidemark kernel, and look at the results.",
    epilog="Exit status: 0 good, 1 the experiment failed or differs, 2 wrong usage, 3 bad input, 4 a missing tool, "
    "5 a result could not be written, 130 stopped by Ctrl-C.",
    rich_markup_mode="markdown",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(run.run)
app.command()(rerun.rerun)
app.command("min")(min_)
app.command()(sweep.sweep)
app.command()(curves.curves)
app.command()(report.report)
app.command()(profile.profile)
app.command()(export.export)
app.command()(gdb.gdb)
app.command()(watch.watch)
app.command()(race.race)
app.command()(procs.procs)
app.command()(sim.sim)
app.command()(compare.compare)
app.command()(lab.lab)
app.command()(grade.grade)
app.command()(grade_class.grade_class)
app.command()(export_grade.export_grade)
app.command("hand-in")(hand_in.hand_in)
app.command()(rubric.rubric)
app.command()(class_stats.class_stats)
app.command()(export_jplag.export_jplag)
app.command()(board.board)
app.command()(release.release)
app.add_typer(trace.app, name="trace")
app.add_typer(quiz.app, name="quiz")


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
        app()
    except errors.LabError as error:
        say(str(error))
        sys.exit(error.code)
    except ModuleNotFoundError as error:
        extra = EXTRAS.get((error.name or "").split(".")[0])
        if extra is None:
            raise
        say(f"{error.name} is not installed, which this needs; `make lab` has it, or: pip install 'tidemark[{extra}]'")
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
