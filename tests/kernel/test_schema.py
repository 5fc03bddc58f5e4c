"""The members of the telemetry, as listed in kernel/observe/schema.h: the records sent, and the files made from the
list."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import pytest
import schema
from guest import Result, boot
from members import MEMBERS, paths, problems, shrunk

# The policies and guards of test_policies.py and test_guards.py break rules; those tests check these members.
OF_BAD_POLICIES = {name for name in MEMBERS if name.startswith("violation.")}
HOG = "thrash 1 65536 1 & thrash 1 65536 1; wait"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Result]:
    """Together they send every record: a policy's change, a guard, a profile, a process killed for memory, a disk."""
    disk = tmp_path_factory.mktemp("disk") / "disk"
    disk.write_bytes(bytes(1 << 16))
    change = "thrash 4 4096 1 3000 & sleep 1; echo clock >/proc/sys/vm/policy; wait"
    return [
        boot(change, mem="16M", swap="sim:ssd", cmdline="guard=token profile_hz=100", telemetry=True).check_exit(),
        boot(HOG, mem="16M", swap="none", disk=disk, telemetry=True),
    ]


def test_records_are_as_the_schema_says(runs: list[Result]) -> None:
    wrong = {problem for result in runs for record in result.telemetry for problem in problems(record)}
    assert not wrong


def test_all_of_the_schema_is_sent(runs: list[Result]) -> None:
    sent = {path for result in runs for record in result.telemetry for path in paths(record)}
    assert MEMBERS.keys() - sent == OF_BAD_POLICIES


def test_counters_only_grow(runs: list[Result]) -> None:
    for result in runs:
        samples = [record for record in result.telemetry if record["ev"] == "sample"]
        for before, after in itertools.pairwise(samples):
            assert not list(shrunk(before, after)), after["seq"]


@pytest.mark.parametrize(
    "change, said",
    [
        ({"rss": -1}, "not of type u32"),
        ({"comm": 5}, "not of type text"),
        ({"extra": 1}, "the schema says"),
    ],
)
def test_wrong_member_is_found(runs: list[Result], change: dict, said: str) -> None:
    sample = next(record for record in runs[0].telemetry if record["ev"] == "sample")
    sample["procs"][0] |= change
    assert said in problems(sample)[0]


# --- files made from the list ---


def test_documents_and_types_are_those_of_the_schema() -> None:
    stale = [path for path, text in schema.outputs().items() if path.read_text("utf-8") != text]
    assert not stale, "run tools/schema.py"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the files that tools/schema.py reads and writes."""
    for name in ("kernel/observe/schema.h", "kernel/include/observe/counters.h", "docs/reference/telemetry.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(schema.ROOT / name, tmp_path / name)
    return tmp_path


def edit(tree: Path, before: str, after: str) -> None:
    path = tree / schema.SCHEMA
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after, 1), "utf-8")


def test_one_line_reaches_documents_and_types(tree: Path) -> None:
    line = '\tM(u32,  rss_kib, LEVEL, "KiB", 4 * mm_rss_pages(mm), "resident, " \\\n\t  "in KiB") \\\n'
    edit(tree, "\tM(u32,  nap,", f"{line}\tM(u32,  nap,")
    outputs = schema.outputs(tree)
    assert "| `rss_kib` | u32 | KiB | level | resident, in KiB |" in outputs[tree / "docs/reference/telemetry.md"]
    types = outputs[tree / schema.RECORDS]
    assert "    rss_kib: int\n    nap: int\n" in types and '"sample.procs.rss_kib": Member("u32", "LEVEL"' in types


@pytest.mark.parametrize(
    "before, after, said",
    [
        ("M(u32,  nap, ", "M(u16,  nap, ", "u16 is none of"),
        ("nap,     LEVEL,", "nap,     TIDE,", "TIDE is none of"),
        ('"pages", c->nap, "pages accessed since the last sample")', "c->nap)", "cannot read"),
    ],
)
def test_line_of_another_form_is_named(tree: Path, before: str, after: str, said: str) -> None:
    edit(tree, before, after)
    with pytest.raises(schema.SchemaError, match=said):
        schema.outputs(tree)


def test_place_for_a_table_that_is_none_is_named(tree: Path) -> None:
    edit(tree, "PART_DISK", "PART_DISC")
    with pytest.raises(schema.SchemaError, match="schema:disk"):
        schema.outputs(tree)
