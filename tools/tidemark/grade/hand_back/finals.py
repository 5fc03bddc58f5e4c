"""Final points: the tests' points and those of written answers, minus the deduction for being late, or an override.

Without questions and without a term's rules there is nothing to add, and class.csv has no such columns. No change is
silent: each has a sentence in the row's note. While points are still to be given, there is no sum.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from tidemark.grade.hand_back.term import Override, Term, Times
from tidemark.grade.hand_back.text import clean, number
from tidemark.grade.hand_back.written import Marks, mark_for
from tidemark.grade.model import Lab, Question

SUMS = ("raw", "of", "late", "override", "final")


def days_text(days: int, what: str = "day") -> str:
    """A number of days in words: `1 day`, `2 days`."""
    return f"{days} {what}" + "s" * (days != 1)


@dataclass(frozen=True)
class Finals:
    """The data from which a class's last columns are computed."""

    lab: Lab
    term: Term | None = None
    times: Times = field(default_factory=dict)
    marks: Marks = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """The columns after those of the tests."""
        named = [self.column(question) for question in self.lab.questions]
        return [*named, *SUMS] if named or self.term else []

    @staticmethod
    def column(question: Question) -> str:
        """The column of a question."""
        return f"question {question.name}"

    def row(self, name: str, score: float | None, answers: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
        """The columns of a student, and sentences for the note. `score`: the tests' points, None: not graded."""
        if not self.columns:
            return {}, []
        given = {each: mark_for(each, name, answers, self.marks).points for each in self.lab.questions}
        row = {self.column(each): number(points) for each, points in given.items() if points is not None}
        open_ = [each.name for each, points in given.items() if points is None]
        notes = [f"no points yet for question {', '.join(open_)}"] if open_ else []
        most = sum(test.points for test in self.lab.tests) + sum(each.points for each in self.lab.questions)
        row["of"] = number(most)
        raw = None if open_ or score is None else round(score + sum(points or 0 for points in given.values()), 2)
        if raw is not None:
            row["raw"] = number(raw)
        counted, said = self.counted(name, raw)
        return row | counted, notes + said

    def counted(self, name: str, raw: float | None) -> tuple[dict[str, str], list[str]]:
        """The columns from lateness and an override, and sentences for the note."""
        override = self.term.override(name, self.lab.name) if self.term else None
        percent, notes = self.late(name)
        row = {}
        final = None if percent is None else raw
        if raw is not None and percent is not None:
            off = round(raw * percent / 100, 2)
            row["late"], final = number(-off) if off else "0", round(raw - off, 2)
        if override:
            notes.append(self.decided(override))
            if override.points is not None:
                row["override"], final = number(override.points), override.points
        return row | ({} if final is None else {"final": number(final)}), notes

    def late(self, name: str) -> tuple[float | None, list[str]]:
        """(percent taken off, why). The percent is None if other students' times are known and this one's is not."""
        lab, term = self.lab.name, self.term
        if term is None:
            return 0.0, []
        if lab not in term.deadlines:
            return 0.0, [f"the rules have no deadline of {lab}"]
        if (name, lab) not in self.times:
            if any(other == lab for _, other in self.times):
                return None, ["no time of handing in: no sum until there is one, or an override"]
            return 0.0, ["no time of handing in: taken as in time"]
        late = term.lateness(name, lab, self.times)
        if not late.days:
            return 0.0, []
        spent = f"{days_text(late.spent, 'late day')} used, {late.left} left; " if late.spent else ""
        return late.percent, [f"{days_text(late.days)} late: {spent}{number(late.percent)} % off"]

    def decided(self, override: Override) -> str:
        """An override in words."""
        parts = [] if override.points is None else [f"{number(override.points)} points"]
        parts += [f"deadline {override.deadline:%Y-%m-%d %H:%M} UTC"] if override.deadline else []
        parts += [] if override.late_days is None else [f"{days_text(override.late_days, 'late day')} here"]
        return f"override: {', '.join(parts)}: {' '.join(clean(override.reason).split())}"

    def unknown(self, names: Collection[str]) -> list[str]:
        """Students named for this lab by the rules, times or marks who are not in the class."""
        named = [each.student for each in self.term.overrides if each.lab == self.lab.name] if self.term else []
        named += [name for name, lab in self.times if lab == self.lab.name]
        named += [name for name, _ in self.marks]
        return sorted(set(named) - set(names))
