"""Lackey text and lackeyml become the trace that a naive count gives; other input is refused."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import random
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree

import pytest
from lab import tidemark, tidemark_in_background
from tidemark import errors
from tidemark.machine import qemu
from tidemark.trace import KINDS, convert, lackey
from tidemark.trace.format import Reader, TraceError, Writer

DATA = qemu.ROOT / "tests/lab/data"
SAMPLE = DATA / "lackey.txt"
LETTERS = {"I ": "instruction", " L": "load", " S": "store", " M": "modify"}

needs_valgrind = pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed")

Run = tuple[int, str, int, int]  # page, kind, references, instructions


@pytest.fixture
def rng() -> random.Random:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    return random.Random(seed)


def random_text(rng: random.Random, length: int) -> str:
    """Lackey lines, without comments: some at the very ends of the address space, many across page boundaries."""
    lines = []
    for _ in range(length):
        border = rng.choice([0x401000, 0x402000, 0x1FFF001000, 1 << 63, (1 << 64) - 4096])
        size = rng.choice([1, 2, 3, 4, 7, 8, 16, 32, 512, 4096])
        address = min(max(border + rng.choice([-size, 1 - size, -1, 0, 1, 4095]), 0), (1 << 64) - size)
        lines.append(f"{rng.choice(list(LETTERS))} {address:08x},{size}\n")
    return "".join(lines)


def counted_by_hand(text: str) -> list[Run]:
    """The runs of a Lackey text, computed one reference at a time."""
    touches = []
    for line in text.splitlines():
        if line[:2] not in LETTERS:
            continue
        address, size = line[3:].split(",")
        first, last = int(address, 16), int(address, 16) + int(size) - 1
        kind = LETTERS[line[:2]]
        touches.append((first >> 12, kind, kind == "instruction"))
        if last >> 12 != first >> 12:
            touches.append((last >> 12, kind, False))
    groups = ((key, list(group)) for key, group in groupby(touches, key=lambda touch: touch[:2]))
    return [(*key, len(group), sum(begun for _, _, begun in group)) for key, group in groups]


def runs(path: Path) -> list[Run]:
    def rows() -> Iterator[Run]:
        for _, pages, kinds, counts, insns in Reader(path).runs():
            columns = (pages.tolist(), [KINDS[kind] for kind in kinds], counts.tolist(), insns.tolist())
            yield from zip(*columns, strict=True)

    return list(rows())


def imported(folder: Path, content: str | bytes, **options: bool) -> Path:
    """The trace of this text."""
    source, out = folder / "source", folder / "out.tmt"
    source.write_bytes(content.encode() if isinstance(content, str) else content)
    convert.import_file(str(source), out, **options)
    return out


def refused(folder: Path, content: str | bytes, said: str, **options: bool) -> None:
    with pytest.raises(TraceError, match=said):
        imported(folder, content, **options)
    assert [path.name for path in folder.iterdir()] == ["source"]


# --- Lackey text ---


def test_random_text_gives_the_runs_counted_by_hand(
    tmp_path: Path, rng: random.Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = random_text(rng, 20000)
    expected = counted_by_hand(text)
    assert runs(imported(tmp_path, text)) == expected
    for chunk in (64, 1000):
        monkeypatch.setattr(lackey, "CHUNK", chunk)
        assert runs(imported(tmp_path, text)) == expected


def test_sample_has_what_its_program_does(tmp_path: Path) -> None:
    """12 rounds of 9 instructions, 5 around them; each round has 3 modifies, and a store and a load across a
    boundary."""
    convert.import_file(str(SAMPLE), tmp_path / "t.tmt")
    reader = Reader(tmp_path / "t.tmt")
    assert reader.totals["kinds"] == {"instruction": 113, "load": 24, "store": 24, "modify": 36}
    assert (reader.totals["instructions"], reader.totals["pages"]) == (113, 4)
    row = reader.spaces[0]
    assert (row["name"], row["command"], row["pid"], row["whole"]) == ("sample", "./sample", 27022, True)
    assert runs(tmp_path / "t.tmt") == counted_by_hand(SAMPLE.read_text())


@needs_valgrind
def test_true_under_valgrind_has_the_instructions_that_valgrind_counted(tmp_path: Path) -> None:
    log = tmp_path / "true.txt"
    command = ["valgrind", "--tool=lackey", "--trace-mem=yes", f"--log-file={log}", "/bin/true"]
    subprocess.run(command, check=True, timeout=60)
    made = convert.import_file(str(log), tmp_path / "true.tmt")
    text = log.read_text()
    counted = int(re.search(r"guest instrs: +([\d,]+)", text)[1].replace(",", ""))
    assert made["totals"]["instructions"] == counted > 0
    assert made["space"]["name"] == "true" and made["space"]["whole"] is True
    assert runs(tmp_path / "true.tmt") == counted_by_hand(text)


@pytest.mark.parametrize(
    "line",
    [
        *("I 0401ab70,3", "I  ,3", "I  zz,3", "I  1,", "I  1,0", "I  1,4097", "I  1,12345678901234567890", "I  1;3"),
        *(" L 10000000000000000,1", " L ffffffffffffffff,2", " X 1,1", " L 1,1 ", " S 1,1\r", " M", "I", " ", ""),
        *("hello", "II 0401ab70,3", "==12= no comment", "I  0401I  0401ab70,3", "\0"),
    ],
)
def test_a_foreign_line_is_refused_with_its_number_and_text(tmp_path: Path, line: str) -> None:
    text = f"I  0401ab70,3\n L 1fff000668,8\n{line}\n S 1fff000668,8\n"
    shown = re.escape(repr(line))
    refused(tmp_path, text, f"source, line 3: not a line of Lackey: {shown}.*--log-file=FILE.*--skip-foreign")


def test_foreign_lines_are_counted_and_skipped_when_asked(tmp_path: Path) -> None:
    text = SAMPLE.read_text().replace("I  00401031,3\n", "hello, world\n\xe4\nI  00401031,3\n", 3)
    (tmp_path / "mixed.txt").write_text(text)
    done = tidemark("trace", "import", "mixed.txt", "-o", "t.tmt", "--skip-foreign", cwd=tmp_path)
    assert done.returncode == 0 and "6 foreign lines skipped" in done.stderr
    assert runs(tmp_path / "t.tmt") == counted_by_hand(SAMPLE.read_text())


def test_a_text_cut_off_anywhere_before_its_last_reference_is_refused(tmp_path: Path, rng: random.Random) -> None:
    text = SAMPLE.read_text()
    begin, end = text.index("I  "), text.rindex("I  ") + len("I  0040103d,2\n")
    for length in {begin + 5, end - 1, end, *(rng.randrange(begin + 1, end) for _ in range(50))}:
        refused(tmp_path, text[:length], "cut off at line|no reference")
    cut = imported(tmp_path, text[: end - 30], partial=True)
    assert Reader(cut).spaces[0]["whole"] is False
    assert runs(cut) == counted_by_hand(text[: text.rindex("\n", 0, end - 30)])


def test_a_text_without_comments_is_taken_as_unknown_to_be_whole(tmp_path: Path) -> None:
    path = imported(tmp_path, "".join(line for line in SAMPLE.open() if not line.startswith("==")))
    assert Reader(path).spaces[0]["whole"] is None
    refused_at_end = "I  00401000,7\n L 00403ffe,4"
    path.unlink()
    refused(tmp_path, refused_at_end, "cut off at line 2")


def test_a_text_of_two_processes_is_refused(tmp_path: Path) -> None:
    text = "==12== Command: a\nI  1,1\n==13== Exit code: 0\nI  2,1\n==12== Exit code: 0\n"
    refused(tmp_path, text, "line 3: references of processes 12 and 13 are mixed.*--child-silent-after-fork")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"==12== Lackey\n==12== \n", "no reference"),
        (b"x" * (lackey.CHUNK + 1), "not a text"),
        (bytes(range(256)), "not a line of Lackey"),
        (gzip.compress(SAMPLE.read_bytes())[:-20], "cut off or damaged"),
        (gzip.compress(SAMPLE.read_bytes())[:100] + bytes(100), "cut off or damaged"),
    ],
    ids=["empty", "comments", "one line", "binary", "cut gzip", "damaged gzip"],
)
def test_what_is_no_text_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    refused(tmp_path, content, said)


def test_a_trace_is_not_imported_again(tmp_path: Path) -> None:
    trace = imported(tmp_path, SAMPLE.read_text())
    with pytest.raises(TraceError, match="trace already"):
        convert.import_file(str(trace), tmp_path / "again.tmt")


def test_gzip_and_standard_input_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = counted_by_hand(SAMPLE.read_text())
    packed = gzip.compress(SAMPLE.read_bytes())
    assert runs(imported(tmp_path, packed)) == expected
    (tmp_path / "stdin").write_bytes(packed)
    with (tmp_path / "stdin").open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        made = convert.import_file("-", tmp_path / "stdin.tmt")
    assert runs(tmp_path / "stdin.tmt") == expected and made["lines"] == len(SAMPLE.read_text().splitlines())


# --- lackeyml ---


def exported(trace: Path) -> Path:
    out = trace.with_suffix(".xml")
    convert.export_lackeyml(Reader(trace), out, None)
    return out


def test_export_and_import_give_the_same_runs(tmp_path: Path, rng: random.Random) -> None:
    trace = imported(tmp_path, "==1== Command: a <b> & \"c\" 'd'\n" + random_text(rng, 5000) + "==1== \n")
    again = tmp_path / "again.tmt"
    made = convert.import_file(str(exported(trace)), again)
    assert runs(again) == runs(trace)
    assert made["space"]["command"] == Reader(trace).spaces[0]["command"] == "a <b> & \"c\" 'd'"
    assert exported(again).read_bytes() == exported(trace).read_bytes()


def test_export_writes_the_document_type(tmp_path: Path) -> None:
    document = exported(imported(tmp_path, SAMPLE.read_text())).read_text()
    name = "{http://cartesianproduct.wordpress.com}"
    root = ElementTree.fromstring(document)
    assert root.tag == name + "lackeyml" and root.get("version") == "0.1"
    application, *references = root
    assert application.tag == name + "application" and application.attrib == {"command": "./sample"}
    assert {reference.tag.removeprefix(name) for reference in references} == set(KINDS)
    assert all(set(reference.attrib) == {"address", "size"} for reference in references)
    for element in ("lackeyml", "application", *KINDS):
        assert document.count(f"<!ELEMENT {element} ") == 1


def test_export_says_what_it_cannot_carry(tmp_path: Path) -> None:
    with Writer(tmp_path / "two.tmt", {}) as writer:
        writer.append([0, 1, 0], [5, 5, 6], [1, 1, 2], [2, 1, 3], [10, 4, 7])
        writer.close([{"space": 0, "name": "a"}, {"space": 1, "name": "b"}])
    done = tidemark("trace", "export", "two.tmt", "-o", "two.xml", cwd=tmp_path)
    assert done.returncode == errors.USAGE and "--space" in done.stderr and "0 (a), 1 (b)" in done.stderr
    done = tidemark("trace", "export", "two.tmt", "-o", "two.xml", "--space", 0, cwd=tmp_path)
    assert done.returncode == 0 and "the trace has 17, the document shows 0" in done.stderr
    convert.import_file(str(tmp_path / "two.xml"), tmp_path / "one.tmt")
    assert runs(tmp_path / "one.tmt") == [(5, "load", 2, 0), (6, "store", 3, 0)]


def document(inside: str, before: str = "", root: str = "lackeyml") -> str:
    return f'<?xml version="1.0"?>{before}<{root}><application command="x"/>\n{inside}</{root}>\n'


BOMB = '<!DOCTYPE lackeyml [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (document("", before=BOMB), "entities"),
        (document("", before='<!DOCTYPE lackeyml [<!ENTITY a SYSTEM "file:///etc/passwd">]>'), "entities"),
        (document("", root="trace"), "not lackeyml"),
        (document("<fetch/>"), "line 2: unknown element fetch"),
        (document('<load address="0x1"/>'), "load without size"),
        (document('<load address="x1" size="0x1"/>'), "'x1' is not a number"),
        (document('<load address="0x1" size="010"/>'), "'010' is not a number"),
        (document('<load address="-1" size="1"/>'), "'-1' is not a number"),
        (document('<load address="0x1" size="0x0"/>'), "0 bytes at 0x1"),
        (document('<load address="0xffffffffffffffff" size="2"/>'), "2 bytes at 0xffff"),
        (document("hello"), "text 'hello'"),
        (document('<load address="0x1" size="1"><load address="0x1" size="1"/></load>'), "may not be"),
        (document('<application command="y"/>'), "may not be"),
        ('<lackeyml><load address="0x1" size="1"/></lackeyml>', "may not be"),
        ('<lackeyml version="0.2"/>', "version is '0.2'"),
        ("<lackeyml></lackeyml>", "no application"),
        (document("")[:-5], "line 2, column 0: .*damaged or cut off"),
    ],
)
def test_what_is_no_lackeyml_is_refused(tmp_path: Path, text: str, said: str) -> None:
    refused(tmp_path, text, said)


def test_hexadecimal_and_decimal_numbers_are_read(tmp_path: Path) -> None:
    inside = '<load address="0x1FFf" size="0X2"/><load address="8192" size="16"/><store address="0" size="0x1000"/>'
    trace = imported(tmp_path, document(inside))
    assert runs(trace) == [(1, "load", 1, 0), (2, "load", 2, 0), (0, "store", 1, 0)]


# --- the command ---


def test_import_prints_what_it_made(tmp_path: Path) -> None:
    done = tidemark("trace", "import", SAMPLE, "-o", "t.tmt", "--json", cwd=tmp_path)
    made = json.loads(done.stdout)
    reader = Reader(tmp_path / "t.tmt")
    assert made["totals"] == reader.totals and made["space"] == reader.spaces[0]
    assert (made["source"], made["foreign"]) == ("lackey", 0)


def test_csv_has_every_run(tmp_path: Path) -> None:
    trace = imported(tmp_path, SAMPLE.read_text())
    assert tidemark("trace", "export", trace, "-o", "t.csv", cwd=tmp_path).returncode == 0
    head, *lines = (tmp_path / "t.csv").read_text().splitlines()
    assert head == "space,page,kind,count,insns"
    assert [f"0,{page},{kind},{count},{insns}" for page, kind, count, insns in runs(trace)] == lines


def test_export_under_another_name_and_a_full_disk_are_refused(tmp_path: Path) -> None:
    trace = imported(tmp_path, SAMPLE.read_text())
    done = tidemark("trace", "export", trace, "-o", "t.txt", cwd=tmp_path)
    assert done.returncode == errors.USAGE and ".xml" in done.stderr
    (tmp_path / "t.xml.partial").symlink_to("/dev/full")
    done = tidemark("trace", "export", trace, "-o", "t.xml", cwd=tmp_path)
    assert done.returncode == errors.NO_SPACE and "No space left" in done.stderr
    assert not (tmp_path / "t.xml").exists()


@pytest.mark.soak
def test_ctrl_c_leaves_no_trace(tmp_path: Path, rng: random.Random) -> None:
    """Sent in the middle, with a block on the disk; the writer of the pipe continues, as Valgrind would."""
    os.mkfifo(tmp_path / "pipe")
    process = tidemark_in_background("trace", "import", "pipe", "-o", "t.tmt", cwd=tmp_path)
    partial, text = tmp_path / "t.tmt.partial", random_text(rng, 20000).encode()
    with (tmp_path / "pipe").open("wb", buffering=0) as pipe, contextlib.suppress(BrokenPipeError):
        while not partial.exists() or not partial.stat().st_size:
            pipe.write(text)
        process.send_signal(signal.SIGINT)
        while True:
            pipe.write(text)
    assert process.wait(60) == errors.INTERRUPTED, process.stderr.read()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
