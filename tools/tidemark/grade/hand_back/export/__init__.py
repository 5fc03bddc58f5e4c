"""Grades in the formats of other systems: one module for each, with a function
`export(grade: Grade, show_hidden: bool = False) -> str`, the text of the file.

Messages of hidden tests are left out unless `show_hidden`. All text of a grade passes `shown` or `notes` of
tidemark.grade.hand_back.text.
"""

from __future__ import annotations

from enum import Enum
from importlib import import_module

from tidemark.grade.model import Grade


class Format(str, Enum):
    """The formats; the value is the module's name."""

    GRADESCOPE = "gradescope"
    PRAIRIELEARN = "prairielearn"
    AUTOLAB = "autolab"
    JUNIT = "junit"
    CLASSROOM50 = "classroom50"


def export(grade: Grade, to: str, show_hidden: bool = False) -> str:
    """The grade in a Format."""
    text: str = import_module(f"{__name__}.{to}").export(grade, show_hidden)
    return text
