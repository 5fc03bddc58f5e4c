"""The documents only name what exists: links, paths, make's targets and variables, commands, parameters."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from figures.entries import figures

ROOT = Path(__file__).resolve().parents[2]
TOP = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES = [*TOP, *sorted((ROOT / "docs").rglob("*.md"))]
HANDOUTS = sorted(ROOT.glob("labs/*/handout.md"))
README_LINES, README_WORDS = 200, 1500

FOLDERS = "boot|docs|kernel|labs|tests|tools|user"
PLACEHOLDER = re.compile(r"\b(NAME|AREA|PATH|FILE)\b")
# Files that a reader creates while following a recipe.
MADE = re.compile(r"\b(mine|myaging|elder|resident|zigzag|mynru)\b|/quiz(-answers)?\.toml\b|/(answers|rule)\.md\b")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


every_page = pytest.mark.parametrize("page", PAGES + HANDOUTS, ids=name_of)


@cache
def text_of(page: Path) -> str:
    return page.read_text()


@cache
def prose(page: Path) -> str:
    """The page without terminal output and without code blocks."""
    return re.sub(r"^```.*?^```", "", text_of(page), flags=re.MULTILINE | re.DOTALL)


@cache
def anchors(page: Path) -> set[str]:
    """The #names of a page's headings, as GitHub generates them."""
    titles = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@cache
def help_text() -> str:
    return subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout


@cache
def known_variables() -> set[str]:
    """The variables that make accepts: it lists them if it is given an unknown one."""
    refused = subprocess.run(["make", "NOSUCH=1", "help"], cwd=ROOT, capture_output=True, text=True).stderr
    return set(re.search(r"there are: (.*?)\.?(?:  Stop\.)?$", refused, re.MULTILINE)[1].split())


def make_calls(page: Path) -> Iterator[list[str]]:
    """The words after each `make` in the page's code, up to the end of the command."""
    code = re.findall(r"`(make [^`]*)`|^(?: {4}|\$ )(?:.*\| )?(make .*)$", text_of(page), re.MULTILINE)
    for inline, block in code:
        command = re.sub(r'"[^"]*"|\'[^\']*\'', "x", inline or block)
        yield re.split(r"[#|;&]", command)[0].split()[1:]


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"[a-z]+://", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path) if path else page
        if not there.exists() or (anchor and anchor not in anchors(there.resolve())):
            broken.append(target)
    assert not broken


@every_page
def test_paths_exist(page: Path) -> None:
    named = set(re.findall(rf"`((?:{FOLDERS})/[\w./-]+)`", text_of(page)))
    missing = [path for path in sorted(named) if not (ROOT / path).exists()]
    assert [path for path in missing if not PLACEHOLDER.search(path) and not MADE.search(path)] == []


@every_page
def test_targets_and_variables_are_makes(page: Path) -> None:
    targets = set(re.findall(r"^make ([\w-]+)", help_text(), re.MULTILINE))
    unknown = []
    for words in make_calls(page):
        for word in words:
            name, equals, _ = word.partition("=")
            if equals and name.isupper() and name not in known_variables():
                unknown.append(name)
            if not equals and re.fullmatch(r"[a-z][a-z-]+", word) and word not in targets:
                unknown.append(word)
    assert not unknown


@every_page
def test_commands_are_tidemarks(page: Path) -> None:
    commands = {path.stem.replace("_", "-") for path in (ROOT / "tools/tidemark/commands").glob("[a-z]*.py")}
    named = re.findall(r"(?:^ {4}|^\$ |`)tidemark ([a-z][a-z-]+)", text_of(page), re.MULTILINE)
    assert set(named) <= commands


@every_page
def test_places_are_closed(page: Path) -> None:
    marks = re.findall(r"<!-- (figures|schema|may-use|end)\b", text_of(page))
    assert marks[1::2] == ["end"] * (len(marks) // 2) and "end" not in marks[::2]


def test_readme_is_read_in_a_sitting() -> None:
    text = text_of(ROOT / "README.md")
    assert len(text.splitlines()) <= README_LINES and len(text.split()) <= README_WORDS


def test_each_figure_stands_once() -> None:
    names = [name for page in PAGES for name in re.findall(r"<!-- figures:([\w-]+) -->", text_of(page))]
    assert sorted(names) == sorted(set(names))


def test_every_place_is_of_a_figure() -> None:
    blocks = [block for figure in figures().values() for block in figure.blocks]
    places = {name for page in PAGES for name in re.findall(r"<!-- figures:([\w-]+) -->", text_of(page))}
    assert sorted(blocks) == sorted(places)


def test_every_target_is_in_the_reference() -> None:
    targets = set(re.findall(r"^make ([\w-]+)", help_text(), re.MULTILINE))
    assert targets <= set(re.findall(r"`make ([\w-]+)", text_of(ROOT / "docs/reference/commands.md")))


def test_every_program_is_in_the_reference() -> None:
    """The programs of /bin: each is a file, or a folder with a main.c."""
    files = [path for folder in ("", "workloads", "conformance") for path in (ROOT / "user" / folder).glob("*.c")]
    programs = {path.stem for path in files} | {path.parent.name for path in ROOT.glob("user/*/main.c")}
    table = text_of(ROOT / "docs/reference/commands.md").partition("\n## Programs\n")[2]
    assert programs <= set(re.findall(r"`(\w+)`", table))


def test_every_parameter_is_in_the_reference() -> None:
    sources = [path for path in (ROOT / "kernel").rglob("*.c") if not path.stem.endswith(("_test", "_ktest"))]
    declared = {name for path in sources for name in re.findall(r'^PARAM_\w+\("([^"]+)"', path.read_text(), re.M)}
    shown = set(re.findall(r"^([\w.]+)=", text_of(ROOT / "docs/reference/parameters.md"), re.MULTILINE))
    assert declared and declared <= shown


def test_every_recipe_and_chapter_is_listed() -> None:
    guide = ROOT / "docs/guide"
    listed = text_of(guide / "recipes.md") + text_of(guide / "README.md")
    assert [path.name for path in sorted(guide.glob("*.md")) if f"({path.name})" not in listed] == ["README.md"]


def test_every_reference_page_is_listed() -> None:
    folder = ROOT / "docs/reference"
    index = text_of(folder / "README.md")
    assert [path.name for path in sorted(folder.glob("*.md")) if f"({path.name})" not in index] == ["README.md"]
