"""A term's rules: deadlines, late days, the cost of a late day, and decisions for single students. policy.toml:

    time_zone       of all times without a zone: "Europe/Berlin"
    late_days       days that a student may be late in the whole term at no cost (0)
    percent_per_day percent of the points reached that each further late day costs (0)
    most_days       the largest number of such days; later submissions get no points (no limit)
    [deadline]      LAB = a date and time
    [[override]]    student, lab, reason, and one or more of: points (the final points), deadline (for this student),
                    late_days (to use here, whatever is left)

Each 24 hours that have begun since the deadline are a day late. Late days are used up automatically, at the labs in the
order of their deadlines. A table, with the columns name, lab and time, says when submissions were handed in: the export
of a learning platform. Dates of files prove nothing and are not used.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tidemark.errors import LabError
from tidemark.grade.intake.lab import read

KEYS = ("time_zone", "late_days", "percent_per_day", "most_days", "deadline", "override")
CHANGES = ("points", "deadline", "late_days")
NUMBER = (int, float)

Times = Mapping[tuple[str, str], datetime]  # (student, lab)


@dataclass(frozen=True)
class Override:
    """A decision for one student and lab; None: as for all students."""

    student: str
    lab: str
    reason: str
    points: float | None = None
    deadline: datetime | None = None
    late_days: int | None = None


@dataclass(frozen=True)
class Lateness:
    """Days late, how many of them were late days, how many of those are left after this lab, and percent taken off."""

    days: int
    spent: int
    left: int
    percent: float


@dataclass(frozen=True)
class Term:
    """The rules; times have their zones."""

    zone: tzinfo
    deadlines: Mapping[str, datetime]
    late_days: int = 0
    percent_per_day: float = 0
    most_days: float = math.inf
    overrides: tuple[Override, ...] = ()

    def override(self, student: str, lab: str) -> Override | None:
        """The decision for a student and lab; None if there is none."""
        return next((each for each in self.overrides if (each.student, each.lab) == (student, lab)), None)

    def days(self, student: str, lab: str, times: Times) -> int:
        """Days late: the number of 24-hour periods that have begun since the deadline."""
        changed, handed_in = self.override(student, lab), times.get((student, lab))
        deadline = changed.deadline if changed and changed.deadline else self.deadlines.get(lab)
        if deadline is None or handed_in is None:
            return 0
        return max(0, math.ceil((handed_in - deadline) / timedelta(days=1)))

    def lateness(self, student: str, lab: str, times: Times) -> Lateness:
        """How late a lab was, given the late days used at earlier labs."""
        days, spent, left = 0, 0, self.late_days
        last = (self.deadlines[lab], lab)
        for at, name in sorted((at, name) for name, at in self.deadlines.items()):
            if (at, name) <= last:
                days, changed = self.days(student, name, times), self.override(student, name)
                given = changed.late_days if changed else None
                spent = min(days, left if given is None else given)
                left = max(0, left - spent)
        beyond = days - spent
        percent = min(100.0, beyond * self.percent_per_day) if beyond <= self.most_days else 100.0
        return Lateness(days, spent, left, percent)


def wrong(path: Path, what: str) -> LabError:
    """The error of a file that cannot be used."""
    return LabError(f"{path}: {what}")


def zone_of(path: Path, name: object) -> tzinfo:
    """A time zone by its name."""
    try:
        return ZoneInfo(str(name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise wrong(path, f'time_zone = {name!r} is not a time zone; use one such as "Europe/Berlin"') from None


def moment(path: Path, what: str, value: object, zone: tzinfo) -> datetime:
    """A date and time, of TOML or as text, in UTC; `zone` applies if it names none."""
    try:
        found = (
            value if isinstance(value, datetime) else datetime.fromisoformat(str(value).strip().replace("Z", "+00:00"))
        )
        if ":" not in str(value):
            raise ValueError
    except ValueError:
        raise wrong(path, f"{what} = {value} is not a date and time, such as 2027-01-20T23:59:00") from None
    try:
        return (found if found.tzinfo else found.replace(tzinfo=zone)).astimezone(timezone.utc)
    except OverflowError:
        raise wrong(path, f"{what} = {value} is in a year out of range") from None


def number_of(path: Path, table: Mapping[str, Any], key: str, none: float) -> float:
    """table[key], which must be at least 0; `none` if it is missing."""
    value = table.get(key, none)
    if not isinstance(value, NUMBER) or isinstance(value, bool) or not value >= 0:
        raise wrong(path, f"{key} = {value!r} is not a number of at least 0")
    return value


def override_of(path: Path, table: Mapping[str, Any], zone: tzinfo) -> Override:
    """One [[override]]."""
    words = [table.get(key) for key in ("student", "lab", "reason")]
    if not all(isinstance(word, str) and word.strip() for word in words):
        raise wrong(path, "every [[override]] needs student, lab and reason")
    changes = {key: value for key, value in table.items() if key not in ("student", "lab", "reason")}
    if not changes or not set(changes) <= set(CHANGES):
        raise wrong(path, f"the override of {words[0]} needs {', '.join(CHANGES)}, or some of them, and nothing else")
    return Override(
        student=str(words[0]),
        lab=str(words[1]),
        reason=str(words[2]),
        points=number_of(path, changes, "points", 0) if "points" in changes else None,
        deadline=moment(path, "deadline", changes["deadline"], zone) if "deadline" in changes else None,
        late_days=int(number_of(path, changes, "late_days", 0)) if "late_days" in changes else None,
    )


def load(path: Path) -> Term:
    """The rules of a file. Raises LabError, which says what is wrong with it."""
    found = read(path)
    unknown = next((key for key in found if key not in KEYS), None)
    if unknown or "time_zone" not in found or not isinstance(found.get("deadline", {}), dict):
        what = f"unknown key {unknown!r}" if unknown else "time_zone is missing, or [deadline] is not a table"
        raise wrong(path, f"{what}; there are {', '.join(KEYS)}")
    zone = zone_of(path, found["time_zone"])
    overrides = tuple(override_of(path, table, zone) for table in found.get("override", []))
    keys = [(each.student, each.lab) for each in overrides]
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice:
        raise wrong(path, f"two overrides of {twice[0]} for {twice[1]}: merge them")
    return Term(
        zone,
        {lab: moment(path, lab, value, zone) for lab, value in found.get("deadline", {}).items()},
        int(number_of(path, found, "late_days", 0)),
        number_of(path, found, "percent_per_day", 0),
        number_of(path, found, "most_days", math.inf),
        overrides,
    )


def load_times(path: Path, zone: tzinfo) -> dict[tuple[str, str], datetime]:
    """The time at which each student handed in each lab. Raises LabError for a table that cannot be used."""
    times: dict[tuple[str, str], datetime] = {}
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = csv.DictReader(file)
            if not {"name", "lab", "time"} <= set(rows.fieldnames or ()):
                raise wrong(path, "it must have the columns name, lab, time")
            for row in rows:
                key = " ".join((row["name"] or "").split()), (row["lab"] or "").strip()
                if key in times:
                    raise wrong(path, f"line {rows.line_num}: {key[0]} and {key[1]} appear twice")
                times[key] = moment(path, f"line {rows.line_num}: time", row["time"], zone)
    except OSError as error:
        raise LabError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise wrong(path, "it is not UTF-8: save it as UTF-8") from None
    return times
