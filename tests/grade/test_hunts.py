"""Bug hunts: who gets which kernels, what is handed out, points, and what a comparison of two machines finds."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import tarfile
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from unittest import mock

import compared
import pytest
from confined import NEEDS_SANDBOX
from lab import tidemark
from tidemark.errors import LabError
from tidemark.grade.build import reading, sandbox
from tidemark.grade.hunts import drawing, grading, hand_out, pool, symptoms, tries
from tidemark.grade.hunts.pool import Pool, Row
from tidemark.machine import plugin, qemu
from tidemark.runs import results

SECRET = b"a course's secret of 2027"
NAMES = {"ada": "Ada", "bob": "Bob", "zoe-ng": "Zoë Ng"}
WORK = symptoms.listed()[0]
RIGHT = symptoms.Ran(qemu.OK, "Tidemark\nswap: sim:hdd\none\nR pages corrupt=0\nok\n\n  PID\npower off\n")


def row(number: int, named: bool = False) -> Row:
    """A kernel of a pool that no build has made."""
    change = tries.Try(
        f"kernel/mm/f{number % 7}.c", 100 + number, f"func_{number}", "< to <=", "\tif (a < b)", "\tif (a <= b)"
    )
    return Row(
        **asdict(change),
        number=number,
        result=pool.TAKEN,
        workload=WORK.name,
        kind="result",
        says="corrupt=7",
        named=named,
    )


ROWS = [row(number, named=number % 3 == 0) for number in range(1, 41)]


@pytest.fixture
def made(tmp_path: Path) -> Pool:
    """A pool of small files in place of kernels."""
    found = Pool(tmp_path / "pool")
    for name in (qemu.INITRD, *(f"build/user/{name}" for name in re.findall(r"\w+", WORK.run)[:1])):
        (found.folder / pool.BASE / name).parent.mkdir(parents=True, exist_ok=True)
        (found.folder / pool.BASE / name).write_text(name)
    (found.folder / pool.KERNELS).mkdir()
    for one in ROWS:
        for name, path in pool.parts(found.kernel(one.number)):
            path.write_bytes(gzip.compress(f"{name} {one.number * 7919}".encode()))
    (found.folder / pool.ROWS).write_text("".join(json.dumps(asdict(one)) + "\n" for one in ROWS))
    (found.folder / pool.META).write_text(json.dumps({"schema": pool.SCHEMA, "nr": len(ROWS), "seed": "1"}))
    return found


# --- the draw ---


def test_same_name_draws_the_same_hunts() -> None:
    mine = drawing.drawn(ROWS, SECRET, "Zoë Ng")
    assert mine == drawing.drawn(ROWS, SECRET, "zoe_ng") and len(set(mine)) == drawing.EACH
    assert mine != drawing.drawn(ROWS, SECRET, "Ada") and mine != drawing.drawn(ROWS, SECRET + b"2", "Zoë Ng")
    assert drawing.seed(SECRET) == drawing.seed(SECRET) != drawing.seed(SECRET + b"2")


def test_hunts_of_a_student_lie_in_different_files_and_one_at_most_is_named() -> None:
    for name in map(str, range(100)):
        hunts = drawing.drawn(ROWS, SECRET, name)
        assert len({each.file for each in hunts}) == drawing.EACH
        assert sum(each.named for each in hunts) <= drawing.MOST_NAMED
    with pytest.raises(LabError, match="only 1 different"):
        drawing.drawn([replace(each, file="kernel/mm/one.c") for each in ROWS], SECRET, "Ada")
    with pytest.raises(LabError, match="is not a name"):
        drawing.drawn(ROWS, SECRET, "- -")


def test_a_pool_that_is_incomplete_or_damaged_is_named(made: Pool, tmp_path: Path) -> None:
    assert made.complete() == ROWS
    made.kernel(ROWS[4].number).with_suffix(".gz").write_bytes(b"no gzip")
    with pytest.raises(LabError, match="a kernel is damaged"):
        hand_out.machine(made, ROWS[4])
    made.kernel(ROWS[4].number).with_suffix(".gz").unlink()
    with pytest.raises(LabError, match="incomplete: 39 of 40"):
        made.complete()
    with pytest.raises(LabError, match="is not a pool"):
        Pool(tmp_path).complete()
    (tmp_path / "other").mkdir()
    (tmp_path / "other/thesis.tex").touch()
    with pytest.raises(LabError, match="holds something else than a pool"):
        pool.check_place(tmp_path / "other")


# --- what students get ---


def members(archive: Path) -> dict[str, bytes]:
    """The files of an archive, by path; links are followed."""
    with tarfile.open(archive) as found:
        return {one.name: found.extractfile(one).read() for one in found.getmembers()}  # type: ignore[union-attr]


def test_what_is_handed_out_has_no_key(made: Pool, tmp_path: Path) -> None:
    for folder in ("once", "again"):
        (tmp_path / folder).mkdir()
        hand_out.write(made, ROWS, NAMES, SECRET, tmp_path / folder)
    for plain, name in NAMES.items():
        data = (tmp_path / "once" / f"{plain}.tar.gz").read_bytes()
        assert data == (tmp_path / "again" / f"{plain}.tar.gz").read_bytes()
        files, hunts = members(tmp_path / "once" / f"{plain}.tar.gz"), drawing.drawn(ROWS, SECRET, name)
        texts = b"".join(text for path, text in files.items() if "/build/" not in path).decode()
        assert WORK.run in texts and "[hunt3]" in texts and name in texts
        for one in hunts:
            for secret in (one.file, one.function, str(one.line), one.after.strip(), one.says, one.reason()):
                assert secret not in texts, secret
        kernels = [files[f"hunts/{nr}/{qemu.KERNEL}"] for nr in (1, 2, 3)]
        assert kernels == [f"{qemu.KERNEL} {one.number * 7919}".encode() for one in hunts]
        assert {path.split("/")[1] for path in files} == {"1", "2", "3", "README.md", "answers.toml", "answers.md"}


def test_three_machines_have_20_mb_at_most(made: Pool, tmp_path: Path) -> None:
    with mock.patch.object(hand_out, "MOST", 50), pytest.raises(LabError, match="more than"):
        hand_out.write(made, ROWS, NAMES, SECRET, tmp_path)
    assert not list(tmp_path.glob("*.tar.gz"))


# --- points ---


def answers(hunts: tuple[Row, ...], file: str = "", function: str = "", lines: int = 0) -> str:
    """answers.toml with the right places, or with something else in each."""
    return "".join(
        f'[hunt{nr}]\nfile = "{file or one.file}"\nfunction = "{function or one.function}"\nline = {one.line + lines}\n'
        for nr, one in enumerate(hunts, 1)
    )


@pytest.fixture
def handed_in(tmp_path: Path) -> Callable[[str, str, str], None]:
    """Hands in answers.toml and answers.md for a name."""

    def hand_in(name: str, toml: str, written: str) -> None:
        place = tmp_path / "handed-in" / name / "hunts"
        place.mkdir(parents=True)
        (place / "answers.toml").write_text(toml)
        (place / "answers.md").write_text(written)

    return hand_in


def graded(tmp_path: Path) -> dict[str, dict[str, str]]:
    """The rows of hunts.csv, by name."""
    reader = reading.reader(sandbox.find())
    grading.grade(ROWS, SECRET, NAMES, tmp_path / "handed-in", tmp_path / "grades", reader)
    return {one["name"]: one for one in csv.DictReader(io.StringIO((tmp_path / "grades/hunts.csv").read_text()))}


@NEEDS_SANDBOX
def test_submission_under_anothers_name_replaces_nothing(
    tmp_path: Path, handed_in: Callable[[str, str, str], None]
) -> None:
    for name in ("Ada", "ada_", "Bob"):
        handed_in(name, answers(drawing.drawn(ROWS, SECRET, "Bob")), "")
    rows = graded(tmp_path)
    assert "one name to the draw" in rows["Ada"]["note"] and "one name to the draw" in rows["ada_"]["note"]
    assert rows["Bob"]["places"] == "6"


@NEEDS_SANDBOX
def test_a_place_without_its_way_is_worth_a_quarter(tmp_path: Path, handed_in: Callable[[str, str, str], None]) -> None:
    ada, bob, zoe = (drawing.drawn(ROWS, SECRET, name) for name in NAMES.values())
    way = "".join(f"## hunt{nr}\n\nThe value at 0xc0300000 was written by it.\n\n" for nr in (1, 2, 3))
    handed_in("Ada", answers(ada), way)  # right
    handed_in("Bob", answers(bob), "## hunt1\n\n## hunt2\n\n## hunt3\n")  # found by comparison: no way
    handed_in("zoe_ng_123_assignsubmission_file", answers(zoe, file="kernel/mm/x.c"), way)  # a wrong place
    handed_in("Mallory", answers(ada), way)
    rows = graded(tmp_path)
    assert (rows["Bob"]["places"], rows["Bob"]["way"], rows["Bob"]["final"]) == ("6", "0", "6")
    assert int(rows["Bob"]["final"]) * 4 <= int(rows["Bob"]["of"])
    assert (rows["Ada"]["places"], rows["Ada"]["final"]) == ("6", "")  # a person has not read the ways yet
    assert rows["Zoë Ng"]["places"] == "0" and rows["Mallory"]["note"] == "the name is not on the roster"
    table = tmp_path / "grades/rubric.csv"
    table.write_text("name,question,points,remark\n" + "".join(f"Ada,hunt{nr},6,\n" for nr in (1, 2, 3)))
    assert graded(tmp_path)["Ada"]["final"] == "24"
    keys = (tmp_path / "grades/keys.txt").read_text()
    assert ada[0].reason() in keys and "`<` became `<=` in `if (a < b)`" in keys and "corrupt=7" in keys
    table.write_text("name,question,points,remark\nAda,hunt1,7,\n")
    with pytest.raises(LabError, match="allows 0 to 6"):
        graded(tmp_path)


def test_places_are_graded_by_function_and_line() -> None:
    hunts = drawing.drawn(ROWS, SECRET, "Ada")
    points = {
        answers(hunts): 6,
        answers(hunts, lines=2): 6,
        answers(hunts, lines=3): 3,
        answers(hunts, function="main"): 0,
        answers(drawing.drawn(ROWS, SECRET, "Bob")): 0,
        "[hunt1]\n": 0,
        "\0": 0,
    }
    for toml, right in points.items():
        one = grading.score(toml.encode(), b"", hunts)
        assert one.places == right, (toml, one.messages)
        assert not any(each.function in message for each in hunts for message in one.messages)


# --- symptoms and keys ---


@pytest.mark.parametrize(
    ("code", "old", "new", "kind", "says"),
    [
        (qemu.OK, "Tidemark", "Tidemark", "", ""),
        (qemu.OK, "one", "three", "", ""),  # a line, in a workload that is not exact
        (qemu.FAILED, "corrupt=0", "corrupt=3", "result", "corrupt=3"),
        (qemu.OK, "ok\n", "lists of zone 0 are broken\n", "result", ""),
        (
            qemu.PANICKED,
            "ok\n",
            "\npanic: page fault in the kernel at address 00000004\n",
            "panic",
            "panic: page fault",
        ),
        (qemu.HUNG, "ok\n", "\nhang: no progress for 2 s; interrupted here:\n", "hang", "hang: no progress"),
        (qemu.FAILED, "power off", "power off: status 139", "status", "power off: status 139"),
        (qemu.NO_QEMU, "one", "two", "", ""),  # an endless loop
    ],
)
def test_a_symptom_is_what_a_student_can_see(code: int, old: str, new: str, kind: str, says: str) -> None:
    found = symptoms.symptom(WORK, RIGHT, symptoms.Ran(code, RIGHT.console.replace(old, new)))
    assert (found.kind if found else "") == kind
    assert not found or found.says.startswith(says)


def test_lines_count_where_a_correct_kernel_prints_only_one_text() -> None:
    ran = symptoms.Ran(qemu.OK, RIGHT.console.replace("one", "three"))
    found = symptoms.symptom(replace(WORK, exact=True), RIGHT, ran)
    assert found == symptoms.Symptom("line", "three", "one")
    later = symptoms.Ran(qemu.OK, RIGHT.console.replace("Tidemark", "later").replace("PID", "pid"))
    assert symptoms.symptom(replace(WORK, exact=True), RIGHT, later) is None


def test_reasons_are_sentences_about_the_line() -> None:
    one = tries.Try("kernel/mm/a.c", 3, "f", "statement removed", "\tswap_free(slot);", "\t;")
    assert one.reason() == "the statement `swap_free(slot);` is missing"
    assert "is negated" in replace(one, what="condition negated", before="\tif (a)").reason()
    assert (
        replace(one, what="! to nothing", before="\tif (!a)", after="\tif (a)").reason().startswith("`!` is missing in")
    )


def test_changes_are_drawn_by_the_seed_outside_of_the_labs() -> None:
    path = "kernel/mm/space/range.c"
    lines = {(path, number) for number in range(1, 121)} | {
        ("kernel/mm/policy/clock.c", number) for number in range(200)
    }
    first, again, other = ([*tries.drawn(qemu.ROOT, lines, seed)] for seed in ("1", "1", "2"))
    assert first == again != other and {each.file for each in first} == {path}
    assert len({each.line for each in first}) == len(first) > 20
    assert next(each for each in first if each.line == 116).function == "zap_range"


# --- the attack ---


def test_registers_and_addresses_do_not_count() -> None:
    one = compared.normalised("mov    %eax,0xc0123456")
    assert one == compared.normalised("mov    %ebx,0xc0777770") != compared.normalised("mov    %eax,0x10")
    jump = compared.normalised("jl     c0101234 <f+0x12>")
    assert jump == compared.normalised("jl     c0109999 <f+0x14>") != compared.normalised("jle    c0101234 <f+0x12>")


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_a_pool_is_made_and_the_comparison_finds_its_places(tmp_path: Path) -> None:
    """Two kernels, made in two calls, each with its symptom by the student's command; the attack finds at least one."""
    few = [work for work in symptoms.listed() if work.name in ("names", "cow")]
    with mock.patch.object(symptoms, "listed", return_value=few):
        pool.make(qemu.ROOT, tmp_path / "pool", "7", 1, 1, lambda now: None)
        first = Pool(tmp_path / "pool").rows()
        made = pool.make(qemu.ROOT, tmp_path / "pool", "7", 2, 2, lambda now: None)
    assert made.rows()[: len(first)] == first and len(made.complete()) == 2
    base = made.folder / pool.BASE
    own, hits = compared.read(base / qemu.KERNEL), 0
    for one in made.complete():
        image = tmp_path / str(one.number)
        for name, data in hand_out.machine(made, one).items():
            (image / name).parent.mkdir(parents=True, exist_ok=True)
            (image / name).write_bytes(data)
        (work,) = (work for work in few if work.name == one.workload)
        for folder, wrong in ((image, True), (base, False)):
            out = tmp_path / f"{one.number}-{wrong}"
            tidemark("run", "-q", "--image", str(folder), "-o", str(out), *work.words(), cwd=tmp_path)
            console = (out / results.CONSOLE).read_text()
            assert (console == made.right()[work.name].ran.console) != wrong, console
        found = compared.against(compared.read(image / qemu.KERNEL), own)
        hits += compared.hits(found, one)[0]
        assert (image / plugin.SYMBOLS).read_text().count("\n") > 1000
    assert hits


# --- bad input ---


def test_bad_input_is_one_sentence(made: Pool, tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(SECRET)
    (tmp_path / "names.txt").write_text("Ada\nada\n")
    words = ("hunts", "hand-out", str(made.folder), str(tmp_path / "names.txt"))
    for secret, status, said in (
        ("key", 1, "'Ada' and 'ada' are one name to the draw: change one"),
        ("none", 3, "cannot be read"),
    ):
        refused = tidemark(*words, "--secret", str(tmp_path / secret), "-o", str(tmp_path / "out"), cwd=tmp_path)
        assert refused.returncode == status and said in refused.stderr and refused.stderr.count("\n") == 1, (
            refused.stderr
        )
    neither = tidemark("hunts", "make", str(tmp_path / "p"), cwd=tmp_path)
    assert neither.returncode == 2 and "either --secret or --seed" in neither.stderr
