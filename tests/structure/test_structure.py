"""The structure of the source: its dependencies (tools/structure/arrows.toml), and limits that keep files readable."""

from __future__ import annotations

import re
import warnings
from functools import cache

import imports
import pytest
from structure import draw, headers, includes, source, symbols
from tidemark.grade.build import solution_files, starters
from tidemark.machine import qemu

MOST_UPWARDS = 12  # arrows of the kernel
LONGEST_FUNCTION = 40
LONGEST_IN_HEADER = 15  # lines of an accessor's body
LONG_FILE, LONGEST_FILE = 450, 500
RENAMERS = {
    "tools/tidemark/output.py",
    "tools/tidemark/files.py",  # folders
    "tools/plugin/output.c",
    "tools/musl.sh",  # a folder that it has made
    "tools/zig/fetch.py",  # likewise
    "tools/hosts/wheel.sh",  # likewise
}
SCRIPTS = ("tools/page/*.js", "tools/page/*.mjs")
SHARED = {"__init__.py", "cli.py", "errors.py", "files.py", "jit.py", "output.py"}


@cache
def arrows(part: str) -> list[source.Arrow]:
    return list(source.c_arrows("kernel")) if part == "kernel" else list(source.python_arrows())


@pytest.mark.parametrize("part", ["kernel", "tools"])
def test_every_arrow_is_in_the_table(part: str) -> None:
    found = source.forbidden(part, arrows(part))
    assert found == [], "not allowed by tools/structure/arrows.toml:\n" + "\n".join(
        f"{one.file}:{one.line}: {one.room} -> {one.to} ({one.target})" for one in found
    )


@pytest.mark.parametrize("part", ["kernel", "tools"])
def test_table_allows_nothing_that_is_not_used(part: str) -> None:
    assert source.unneeded(part, arrows(part)) == []


def test_no_header_lies_below_its_source() -> None:
    """Else its users would call a higher room, and no arrow would show it."""
    found, supplied = headers.below_source(), source.table()["supplied"]
    assert {header: names for header, names in found.items() if header not in supplied} == {}
    assert [header for header in supplied if header not in found] == [], "not needed in arrows.toml"


def test_arrows_upwards_are_few() -> None:
    assert sum(len(one.get("up", [])) for one in source.table()["kernel"]) <= MOST_UPWARDS


def test_internal_headers_stay_in_their_folder() -> None:
    """internal.h is what the files of one folder share; what another folder needs stands in kernel/include."""
    found = [
        one for one in arrows("kernel") if one.target.name == "internal.h" and one.file.parent != one.target.parent
    ]
    assert [f"{one.file}:{one.line} includes {one.target}" for one in found] == []


def test_no_circle_of_imports() -> None:
    found = source.circles(arrows("tools"))
    assert found == [], "\n".join(" <-> ".join(map(str, group)) for group in found)


@pytest.mark.parametrize("part", symbols.OBJECTS)
def test_no_circle_of_definitions(part: str) -> None:
    """No two files of a folder need each other, so that each can be read with nothing but the files below it."""
    uses = list(symbols.arrows(part))
    assert uses, "nm finds no file that uses another"
    found = source.circles(uses)
    assert found == [], "\n".join(" <-> ".join(map(str, group)) for group in found)


def test_tidemark_consists_of_wings() -> None:
    """A module lies in the folder of its idea; only what all wings share lies beside them."""
    assert {file.name for file in source.python_files() if file.parent == source.Path("tools/tidemark")} == SHARED


@pytest.mark.parametrize("part", ["kernel", "tools"])
def test_picture_is_that_of_the_table(part: str) -> None:
    path = draw.FIGURES / f"arrows-{part}.svg"
    assert path.read_text() == draw.drawn(part), "tools/structure/draw.py draws it again"


def test_no_function_is_long() -> None:
    c = [one for file in source.c_files("kernel/*.c", "user/*.c", "tools/*.c") for one in source.c_functions(file)]
    python = [one for file in source.python_files() for one in source.python_functions(file)]
    script = [one for file in source.files(*SCRIPTS) for one in source.javascript_functions(file)]
    assert len(c) > 1000 and len(python) > 1000 and len(script) > 60
    every = c + python + script
    long = [f"{one.file}:{one.line} {one.name}: {one.length}" for one in every if one.length > LONGEST_FUNCTION]
    assert long == []


def test_headers_hold_accessors_only() -> None:
    found = [one for file in source.c_files("kernel/*.h", "user/*.h") for one in source.c_functions(file)]
    assert [f"{one.file}:{one.line} {one.name}: {one.length}" for one in found if one.length > LONGEST_IN_HEADER] == []


def test_every_include_is_used() -> None:
    assert [f"{one.file}:{one.line}: nothing of {one.target} is used" for one in includes.unused()] == []


def test_files_get_their_names_in_one_place() -> None:
    """A rename replaces any target, even a device; output.py checks the target first."""
    files = source.files("tools/*.py", "tools/*.c", "tools/*.sh", "tools/*.mk", *SCRIPTS)
    found = {str(file): source.renames(file, (source.ROOT / file).read_text()) for file in files}
    assert {file for file, lines in found.items() if lines} == RENAMERS, found


SPLIT = (
    "find the two ideas in it, each told by one sentence. Give the second a file of its own whose name says what it "
    "hands on, with its theory at the top; move its tests and tables with it, in a commit of moves only"
)


def lengths() -> dict[str, int]:
    """The lines of each file that students may read."""
    files = source.files("kernel/*.[chS]", "user/*.[ch]", "tools/*.[ch]", "tools/*.py", "tests/*.py", *SCRIPTS)
    return {str(file): (source.ROOT / file).read_text().count("\n") for file in files}


def test_no_file_is_two() -> None:
    """A file of more than 500 lines fails; one of more than 450 is named, while there is still room to split it."""
    long = {file: length for file, length in lengths().items() if length > LONG_FILE}
    if long:
        named = ", ".join(f"{file} ({length})" for file, length in long.items())
        warnings.warn(f"near the limit of {LONGEST_FILE} lines: {named}. To split one, {SPLIT}.", stacklevel=1)
    assert {file: length for file, length in long.items() if length > LONGEST_FILE} == {}, SPLIT


def test_tests_that_need_nothing_built_start_nothing() -> None:
    """Of the support for tests, what starts programs needs a built tree."""
    support = imports.modules(qemu.ROOT / "tests/support").keys() - {"soak"}
    paths = [
        path
        for path in (qemu.ROOT / "tests").glob("*/test_*.py")
        if "\npytestmark = pytest.mark.unbuilt\n" in path.read_text()
    ]
    wrong = [str(path) for path in paths if imports.imported(path, support) or "subprocess" in path.read_text()]
    assert paths and wrong == []


# --- the rules can fail ---


def test_arrow_upwards_is_seen() -> None:
    file, target = source.Path("kernel/lib/list.c"), source.Path("kernel/include/proc/task.h")
    wrong = source.Arrow(file, 1, target, source.room("kernel", file), source.room("kernel", target))
    assert (wrong.room, wrong.to) == ("lib", "proc") and source.forbidden("kernel", [wrong]) == [wrong]


def test_header_below_its_source_is_seen() -> None:
    """panic is declared in lib and defined far above; that needs a reason in the table."""
    assert headers.below_source()["lib/assert.h"] == ["panic (kernel/arch/x86/panic.c)"]


def test_policy_may_use_the_seam_but_not_the_core() -> None:
    file = source.Path("kernel/mm/policy/mine.c")
    to = {name: source.room("kernel", source.Path("kernel/include", name)) for name in ("mm/policy.h", "mm/zone.h")}
    made = {name: source.Arrow(file, 1, source.Path(name), source.room("kernel", file), to[name]) for name in to}
    assert [one.target.name for one in source.forbidden("kernel", list(made.values()))] == ["zone.h"]


def test_circle_is_seen() -> None:
    a, b, c = (source.Path(f"tools/tidemark/{name}.py") for name in "abc")
    lead = [source.Arrow(one, 1, other, "base", "base") for one, other in ((a, b), (b, c), (c, b))]
    assert source.circles(lead) == [[b, c]]


def test_symbols_are_those_of_the_file() -> None:
    defined, used = symbols.symbols(source.Path("tools/plugin/evidence/breach.c"))
    assert {"breach_access", "breach_filled"} <= defined and {"rights_may", "record_breach", "read_word"} <= used
    assert not defined & used and not {"suspect_frame", "frames"} & (defined | used)  # static


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("x.py", "path.with_suffix('.new').replace(path)"),
        ("x.py", "path.rename(other)"),
        ("x.py", "os.replace(a, b)"),
        ("x.py", "shutil.move(a, b)"),
        ("x.c", "\tif (rename(from, to))"),
        ("x.mjs", "  renameSync(a, b);"),
        ("x.sh", "\tmake_it && mv new old"),
        ("x.mk", "\t$Qmv $@.new $@"),
    ],
)
def test_rename_is_seen(file: str, line: str) -> None:
    assert source.renames(source.Path(file), line) == [1]


@pytest.mark.parametrize("line", ["text.replace('a', 'b')", "replace(settings, vm='ws')", "moment.replace(day=1)"])
def test_what_is_no_rename_is_not_taken_for_one(line: str) -> None:
    assert source.renames(source.Path("x.py"), line) == []


def test_lengths_are_right() -> None:
    lines = (source.ROOT / "kernel/mm/policy/fifo.c").read_text().splitlines()
    for one in source.c_functions(source.Path("kernel/mm/policy/fifo.c")):
        body = lines[one.line - 1 :]
        opening = body.index("{")
        assert re.match(r"\w", body[0]) and body[opening + one.length + 1] == "}", one


def test_lengths_of_scripts_are_right() -> None:
    found = {one.name: one.length for one in source.javascript_functions(source.Path("tools/page/machine/core.js"))}
    assert found["get time()"] == 1 and found["type(bytes)"] == 2 and found["function correctMap(memory, info)"] == 7


def test_every_lab_names_its_solution() -> None:
    """By content, in labs/NAME/solution.txt; if a starter lies in the place of a solution, only by the file's name."""
    for each in solution_files.all_labs(qemu.ROOT):
        named = starters.ids(each.folder)
        assert list(named) == list(each.files), f"labs/{each.name}/solution.txt: {solution_files.WRITER} writes it"
        other = [
            file
            for file in solution_files.replaced(qemu.ROOT, each)
            if not solution_files.is_starter(qemu.ROOT, each, file)
        ]
        assert other == [], f"if these are the new solutions, {solution_files.WRITER} names them"
