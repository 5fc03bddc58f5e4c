"""tidemark class-stats: how a class did, test by test."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tidemark.commands import options


def class_stats(
    grades: Annotated[Path, typer.Argument(metavar="GRADES", help="The folder of grades of `grade-class`.")],
    csv_: Annotated[
        Path | None, typer.Option("--csv", callback=options.writable, help="Also write the numbers into this file.")
    ] = None,
) -> None:
    """Show how many students passed each test, the median score, and where first differences were, without names.

    Example:  tidemark class-stats grades --csv tests.csv
    """
    from tidemark.files import write_csv
    from tidemark.grade.hand_back import statistics

    found = statistics.read(grades)
    rows = statistics.rows(found)
    print(statistics.text(rows, found))
    if csv_:
        write_csv(csv_, [row.as_csv() for row in rows])
