"""JUnit XML, for systems that show tests: GitLab, Jenkins, GitHub Actions.

Specification: junit-10.xsd of the Jenkins xUnit plugin, https://github.com/jenkinsci/xunit-plugin (it needs no time or
date, which a grade does not have). A test without all its points is a failure. The points, for which JUnit has no
place, are the failure's message and properties of the suite.
"""

from __future__ import annotations

from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from tidemark.grade.hand_back.text import clean, notes, number, share, shown
from tidemark.grade.model import Grade, Graded, Outcome


def add_test(suite: Element, lab: str, graded: Graded, show_hidden: bool) -> None:
    """Add a testcase, with a failure if it is not right."""
    test = shown(graded, show_hidden)
    case = SubElement(suite, "testcase", name=test.title, classname=f"tidemark.{lab}")
    if not test.is_right:
        message = f"{test.word} ({share(test.points, test.most)})"
        SubElement(case, "failure", type=test.outcome.name, message=message).text = test.message or message


def export(grade: Grade, show_hidden: bool = False) -> str:
    """The document: one suite, named like the lab."""
    failures = sum(graded.verdict.outcome is not Outcome.RIGHT for graded in grade.tests)
    counts = {"tests": str(len(grade.tests)), "failures": str(failures), "errors": "0"}
    root = Element("testsuites", counts)
    lab = clean(grade.lab)
    suite = SubElement(root, "testsuite", {"name": lab, **counts, "skipped": "0"})
    properties = SubElement(suite, "properties")
    for name, value in (("score", number(grade.score)), ("most", number(grade.most))):
        SubElement(properties, "property", name=name, value=value)
    for graded in grade.tests:
        add_test(suite, lab, graded, show_hidden)
    if grade.notes:
        SubElement(suite, "system-out").text = "\n".join(notes(grade))
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="us-ascii", xml_declaration=True)
    return text.decode("ascii") + "\n"
