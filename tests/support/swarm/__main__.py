"""python -m swarm: random runs, one after another, until the time is over or Ctrl-C; the next call continues there.

`make soak MINUTES=60` calls it; SEED=N selects other runs."""

from __future__ import annotations

import argparse
import errno
import signal
import sys
import time
from pathlib import Path

from progress import Tried

from swarm.hunt import FOLDER, Failure, Hunt, NoRoom, hunt_for

STOPPED, NOT_WRITTEN = 130, 5


class Progress:
    """Prints progress: at a terminal one line that changes, otherwise a line from time to time."""

    def __init__(self) -> None:
        self.last = time.monotonic()

    def __call__(self, text: str) -> None:
        passing = "runs in" in text or text.startswith("    ")
        if sys.stdout.isatty():
            print(f"\r\033[K{text[:100]}" if passing else f"\r\033[K{text}\n", end="", flush=True)
        elif not passing or time.monotonic() - self.last > 10:
            self.last = time.monotonic() if passing else self.last
            print(text, flush=True)


def keep(failures: list[Failure]) -> None:
    """Prints all commands once more, at the end."""
    for failure in failures:
        print(failure)


def main() -> int:
    """Returns 0 if nothing was found, 1 if something failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=5, help="duration (default: 5)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random runs (default: 1)")
    parser.add_argument("--runs", type=int, default=sys.maxsize, help="maximum number of runs")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="folder for the files of the runs")
    args = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    print(f"swarm: seed {args.seed}, {args.minutes:g} minutes; Ctrl-C stops it, the same command goes on", flush=True)
    hunt = Hunt(args.folder, Progress())
    try:
        failures = hunt_for(60 * args.minutes, args.seed, args.runs, hunt, Tried("swarm-tried", folder=args.folder))
    except KeyboardInterrupt:
        print("\nswarm: stopped; the same command goes on here")
        return STOPPED
    except (NoRoom, OSError) as error:
        if isinstance(error, OSError) and error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        print(f"\nswarm: the disk is full: {error}; what has been tried is kept, the same command goes on")
        return NOT_WRITTEN
    print(f"\nswarm: {len(failures)} failed")
    keep(failures)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
