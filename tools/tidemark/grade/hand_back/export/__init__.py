"""Grades as other systems take them: one module for each, with a function
`export(grade: Grade, show_hidden: bool = False) -> str`, the text of the file.

What hidden tests said is left out unless `show_hidden`. All text of a grade passes `shown` or `notes` of
tidemark.grade.hand_back.text.
"""

from __future__ import annotations

from importlib import import_module

from tidemark.grade.model import Grade

FORMATS = ("gradescope", "prairielearn", "autolab", "junit")


def export(grade: Grade, to: str, show_hidden: bool = False) -> str:
    """The grade in one of FORMATS."""
    return import_module(f"{__name__}.{to}").export(grade, show_hidden)
