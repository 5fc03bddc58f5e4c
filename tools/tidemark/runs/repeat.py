"""Reproducibility of a run: two results compared byte by byte, and the first difference in words."""

from __future__ import annotations

import json
from typing import Any

from tidemark.errors import BAD_INPUT, USAGE, LabError
from tidemark.machine.disk import made_anew
from tidemark.runs import results


def check_repeatable(result: results.Result, image: dict[str, Any]) -> None:
    """Raises LabError if the result cannot be repeated with `image` (see machine.image.describe), or was changed."""
    meta = result.meta
    if meta["state"] != "done":
        raise LabError(f"{result.folder} is a run that was not finished ({meta['state']}): it cannot be compared")
    if not meta["settings"]["exact"]:
        raise LabError(f"{result.folder} is a realistic run: only exact runs are reproducible", USAGE)
    if "future=" in meta["settings"]["cmdline"]:
        raise LabError(
            f"{result.folder} ran with its future in memory, which is not stored: `tidemark min` makes it again", USAGE
        )
    for disk in filter(None, (meta["settings"].get("disk"), meta["settings"].get("disk2"))):
        if not made_anew(disk):
            raise LabError(
                f"{result.folder} may have written to its disk, {disk}: only one from a folder or a size can be made "
                "again",
                USAGE,
            )
    results.check_files(result)
    if meta["image"]["sha256"] != image["sha256"]:
        raise LabError(
            f"the image differs: {meta['image']['sha256'][:16]} (commit {meta['image']['commit'] or '?'}) then, "
            f"{image['sha256'][:16]} now; build that commit with the same compiler, and name its tree with --image",
            BAD_INPUT,
        )


def first_difference(one: results.Result, two: results.Result) -> str | None:
    """None if exit code and raw files are the same, byte for byte; otherwise the first difference, in words."""
    if one.meta["exit"] != two.meta["exit"]:
        return f"exit {one.meta['exit']} ({one.meta['reason']}) then, {two.meta['exit']} ({two.meta['reason']}) now"
    for name in results.RAW:
        a, b = ((result.folder / name).read_bytes() for result in (one, two))
        if a != b:
            return f"{name}: {in_lines(a.splitlines(), b.splitlines())}"
    return None


def in_lines(a: list[bytes], b: list[bytes]) -> str:
    """The first difference between two lists of lines, in words."""
    number = next((at for at, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    if number in (len(a), len(b)):
        return f"{len(a)} lines then, {len(b)} now; all lines that both have agree"
    x, y = a[number].decode("ascii", "replace"), b[number].decode("ascii", "replace")
    return f"line {number + 1}: {member(x, y) or f'{x[:160]!r} then, {y[:160]!r} now'}"


def member(x: str, y: str) -> str | None:
    """The first member that differs between two telemetry records, with its time; None if they are not records."""
    try:
        before, after = json.loads(x), json.loads(y)
    except ValueError:
        return None
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return None
    one, two = dict(results.flat(before)), dict(results.flat(after))
    name = next((name for name in one | two if one.get(name) != two.get(name)), None)
    at = f"{before.get('ev')} at {before.get('t_us', 0) / 1e6:.6f} s"
    return f"{at}: {name} {one.get(name)} then, {two.get(name)} now" if name else None
