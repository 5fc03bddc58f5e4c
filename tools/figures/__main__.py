"""python -m figures [NAME...]: makes the tables, consoles and pictures of the documents; see docs/reference/figures.md.

`make figures` builds what they need and calls this.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence

from tidemark.errors import BAD_INPUT, INTERRUPTED, OK, LabError

from figures import made
from figures.entries import ROOT, Figure, chosen, figures


def listed(some: Sequence[Figure]) -> str:
    """A line for each figure: its name, what it is, the image that made it, its duration, what it needs."""
    from figures.runner import Runner, lasts

    rows, runner = made.read(), Runner("", figures())
    lines = [f"{'name':26} {'kind':8} {'image':25} {'takes':>7}  needs"]
    for one in some:
        image = rows[one.name].image if one.name in rows else made.UNKNOWN
        wants = ", ".join([*one.needs, f"{one.space:g} GiB"])
        takes = lasts(runner.seconds(one))
        lines.append(f"{one.name:26} {one.what:8} {image if one.image else 'none':25} {takes:>7}  {wants}")
    return "\n".join(lines)


def make(some: Sequence[Figure], fresh: bool) -> int:
    """Makes figures with the image in build/."""
    from figures.runner import Runner, without_make

    if not all((ROOT / "build" / file).exists() for file in made.FILES):
        raise LabError("there is no kernel in build/: run `make` first, or `make figures`, which does", BAD_INPUT)
    without_make()
    return Runner(made.built_image(), figures(), fresh=fresh).make_all(some)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m figures", description=__doc__.split("\n")[0].partition(": ")[2])
    parser.add_argument("names", nargs="*", metavar="NAME", help="figures, or patterns such as policy-*; default: all")
    parser.add_argument("--fresh", action="store_true", help="make also figures of which nothing has changed")
    parser.add_argument("--list", action="store_true", help="only list them, with what each needs")
    parser.add_argument("--stale", action="store_true", help="only list those that the reference image did not make")
    args = parser.parse_args()
    try:
        some = chosen(args.names, figures())
        if args.stale:
            print(made.stale_text({one.name: one for one in some}))
        elif args.list:
            print(listed(some))
        else:
            return make(some, args.fresh)
    except LabError as e:
        print(f"figures: {e}", file=sys.stderr)
        return e.code
    except KeyboardInterrupt:
        return INTERRUPTED
    return OK


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
