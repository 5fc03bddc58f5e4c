"""The English of comments, messages and documents, and the subjects of commits (tools/structure/prose.py)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from structure import prose

FOLDERS = ("boot", "docs", "kernel", "labs", "tests", "tools", "user")
TOP = ("README.md", "CONTRIBUTING.md", "Makefile")
FAULT = "write this, so that who wants a page finds it"


def found(name: str, text: str, tmp_path: Path) -> list[int]:
    """The lines of the faults in a file of this name."""
    file = tmp_path / name
    file.write_text(text)
    return [fault.line for piece in prose.pieces(file) for fault in prose.faults_of(name, piece)]


@pytest.mark.parametrize("place", [*FOLDERS, *TOP])
def test_no_sentence_hides_its_subject(place: str) -> None:
    files = [path for path in prose.files(place) if path != Path(__file__).resolve()]  # its data are faults
    assert [str(fault) for fault in prose.faults(files)] == []


def git(*words: str) -> str:
    """The output of git; empty without git, or outside a repository."""
    try:
        return subprocess.run(
            ["git", *words], cwd=prose.ROOT, capture_output=True, text=True, check=False
        ).stdout.strip()
    except FileNotFoundError:
        return ""


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("a.c", "int a;\n/*\n * The page\n * is no\n * page.\n */\n", [4]),
        ("a.c", 'char *a = "nothing"\n\t"x is no "\n\t"page";\n', [2]),
        ("a.c", "// that is no page\nint a; /* so many */\n", [1, 2]),
        ("a.c", "char a = '\"'; int nobody; /* fine */ char b = '\"';\n", []),
        ("a.py", '"""Somebody\'s page."""\nx = 1  # is no page\n', [2, 1]),
        ("a.py", 'raise Wrong(f"{x} is no " "page")\n', [1]),
        ("a.sh", "#!/bin/sh\n# It takes so\n# many pages.\nnobody=1\n", [2]),
        ("a.mk", "# Whoever\n", [1]),
        ("a.md", "Text\nwith so many pages.\n", [2]),
        ("a.md", "```\nso many\n```\n\n    so many\n\n<!-- so many -->\n", []),
        ("a.md", 'He wrote "so many", and `nobody` is a name.\n', []),
        ("a.md", "There is no page. It is no longer there. The process who waits.\n", []),
        ("a.txt", "so many\n", []),
    ],
)
def test_prose_is_found_where_it_stands(name: str, text: str, lines: list[int], tmp_path: Path) -> None:
    assert found(name, text, tmp_path) == lines


@pytest.mark.parametrize(
    "text", ["free pages so that who needs one waits", "It waits. Who asks is told.", "it is told; who asks waits"]
)
def test_who_without_a_noun_is_found(text: str, tmp_path: Path) -> None:
    assert found("a.md", text, tmp_path) == [1]


@pytest.mark.parametrize(
    "text",
    ["A process, who asks.", "Who asks?", "It waits. Who asks for more?", "for a user who asks", "to know who asks"],
)
def test_who_with_a_noun_and_questions_are_not(text: str, tmp_path: Path) -> None:
    assert found("a.md", text, tmp_path) == []


def test_exception_is_of_its_place_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(prose.table(), "exceptions", [["a.md", "so that who wants"]])
    assert found("a.md", FAULT, tmp_path) == [] and found("b.md", FAULT, tmp_path) == [1]


def test_every_exception_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    places = prose.table()["exceptions"]
    monkeypatch.setitem(prose.table(), "exceptions", [])
    kept = [one for one in places if not any(one[1] in fault.words for fault in prose.faults(prose.files(one[0])))]
    assert kept == []


# --- commits ---


@pytest.mark.parametrize(
    ("subject", "wrong"),
    [
        ("kernel/mm: free the table after its last entry", ""),
        ("docs, tests: say it once", ""),
        ("a: " + "x" * 69, ""),
        ("a: " + "x" * 70, "the subject has 73 characters, at most 72 are allowed"),
        ("kernel: one thing; another", 'the subject contains ";"'),
        ("mend it", "the subject must begin with its area"),
        ("tidemark why: an area is a word, not two", "the subject must begin with its area"),
        ("", "the subject must begin with its area"),
    ],
)
def test_subject(subject: str, wrong: str) -> None:
    said = prose.fault_of_subject(subject)
    assert said.startswith(wrong) and bool(said) == bool(wrong)


def test_hook_refuses_a_long_subject(tmp_path: Path) -> None:
    message = tmp_path / "message"
    message.write_text("# a comment\na: " + "x" * 70 + "\n\nbody; more\n")
    made = subprocess.run(
        ["tools/hooks/commit-msg", message], cwd=prose.ROOT, capture_output=True, text=True, check=False
    )
    assert made.returncode == 1 and made.stderr.count("\n") == 1 and "73 characters" in made.stderr
    for subject in ("a: short", "Merge branch 'short'"):
        message.write_text(subject + "\n")
        assert subprocess.run(["tools/hooks/commit-msg", message], cwd=prose.ROOT, check=False).returncode == 0


def test_subjects_of_commits_since_this_check_was_added() -> None:
    if git("rev-parse", "--is-shallow-repository") != "false":
        pytest.skip("subjects of commits are read from a whole clone, with git")
    first = git("log", "--diff-filter=A", "--format=%H", "--", str(prose.TABLE.relative_to(prose.ROOT))).splitlines()
    subjects = git("log", "--no-merges", "--format=%s", f"{first[-1]}..HEAD").splitlines() if first else []
    wrong = [f"{subject}: {said}" for subject in subjects if (said := prose.fault_of_subject(subject))]
    assert wrong == []
