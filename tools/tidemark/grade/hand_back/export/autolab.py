"""The output of an Autolab autograder: the report, and the autoresult as the last line.

Specification: https://docs.autolabproject.com/lab/ (Guide for Lab Authors, section Writing autograders). Autolab knows
problems by name, and refuses an autoresult with an unknown name. So there is one problem, named like the lab, which
the instructor adds to the assessment with as many points as the lab has.
"""

from __future__ import annotations

import json

from tidemark.grade.hand_back.text import report
from tidemark.grade.model import Grade


def export(grade: Grade, show_hidden: bool = False) -> str:
    """The report, and {"scores": {LAB: points}} as the last line."""
    return f"{report(grade, show_hidden)}\n{json.dumps({'scores': {grade.lab: grade.score}})}\n"
