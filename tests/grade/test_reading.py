"""Malicious archives: each costs a message and a few seconds, whatever sizes it claims."""

from __future__ import annotations

import gzip
import io
import lzma
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest
from tidemark.errors import LabError
from tidemark.grade.build import reading
from tidemark.grade.build.sandbox import find
from tidemark.grade.intake import archive, members
from tidemark.grade.model import Lab

FILE = "kernel/mm/policy/clock.c"
LAB = Lab("clock", 4, "Second chance", Path("labs/clock"), (FILE,), (), (), (), ())
CODE = b"int clock;\n"


def refused(path: Path) -> str:
    """The reason why an archive is refused, read in the sandbox."""
    with pytest.raises(LabError) as caught:
        archive.take(path, LAB, {}, reading.reader(find()))
    return str(caught.value)


def tarred(extended: dict[str, str] | None = None) -> bytes:
    """A tar with the lab's file, preceded by an extended header."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as tar:
        member = tarfile.TarInfo(FILE)
        member.size, member.pax_headers = len(CODE), extended or {}
        tar.addfile(member, io.BytesIO(CODE))
    return made.getvalue()


def answer(data: bytes, kind: str = ".tar") -> str:
    """The reason why an archive is refused, or the SHA-256 of the lab's file in it, read in this process."""
    said = members.answered({"kind": kind, "wanted": "clock[.]c", "released": []}, data)
    return str(said.get("refused") or said["digests"][FILE])


def test_long_header_is_refused_before_it_is_read() -> None:
    assert answer(tarred({"comment": "x" * 1000})) == answer(tarred())
    data = tarred({"comment": "x" * members.MOST_HEADER})
    assert answer(data).startswith("a header in it has 262,")
    assert answer(data[: 2 * members.BLOCK]).startswith("a header in it has 262,")


@pytest.mark.parametrize("field", [b"99999999999\0", b"\xff" * 12, b"\x80" + b"\xff" * 11])
def test_size_that_nothing_has_is_refused(field: bytes) -> None:
    header = bytearray(tarred()[: members.BLOCK])
    header[124:136], header[148:156] = field, b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    assert answer(bytes(header) + CODE).startswith(("it cannot be read as .tar", "it unpacks to more than 512 MiB"))


def test_long_names_of_either_kind_are_read() -> None:
    for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode="w", format=form) as tar:
            member = tarfile.TarInfo(f"{'long' * 40}/{FILE}")
            member.size = len(CODE)
            tar.addfile(member, io.BytesIO(CODE))
        said = members.answered({"kind": ".tar", "wanted": "clock[.]c", "released": []}, made.getvalue())
        assert [path for path, _, _ in said["files"]] == [f"{'long' * 40}/{FILE}"]


def test_directory_of_a_zip_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as zipped:
        for number in range(100):
            zipped.writestr(f"{number}", b"")
        zipped.writestr(FILE, CODE)
    assert len(answer(made.getvalue(), ".zip")) == 64
    monkeypatch.setattr(members, "MOST_DIRECTORY", 1000)
    assert "more than 100000 members" in answer(made.getvalue(), ".zip")


def test_archive_that_wants_memory_meets_the_sandbox(tmp_path: Path) -> None:
    data = bytearray(lzma.compress(tarred(), format=lzma.FORMAT_ALONE))
    data[1:5] = struct.pack("<I", 3 << 30)  # the dictionary
    (tmp_path / "ada.tar.xz").write_bytes(data)
    assert refused(tmp_path / "ada.tar.xz") == (
        "ada.tar.xz: unpacking it takes more memory than any honest archive does"
    )


@pytest.mark.soak
def test_archive_that_takes_time_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LIMIT_S", 1)
    head = bytearray(gzip.compress(b""))
    head[3] |= 8  # a name of any length follows
    (tmp_path / "ada.tgz").write_bytes(bytes(head[:10]) + b"x" * (64 << 20))
    assert refused(tmp_path / "ada.tgz") == "ada.tgz: reading it takes more than 1 s"


def test_good_archive_is_read_in_the_sandbox(tmp_path: Path) -> None:
    (tmp_path / "ada.tar").write_bytes(tarred())
    taken = archive.take(tmp_path / "ada.tar", LAB, {}, reading.reader(find()))
    assert taken == archive.Taken({FILE: CODE}, ())


@pytest.mark.soak
def test_whole_bombs_cost_seconds(tmp_path: Path) -> None:
    """The 400 MB header in 1 MB that once took 233 s, and 1.5 million members."""
    (tmp_path / "ada.tgz").write_bytes(gzip.compress(tarred({"comment": "x" * (400 << 20)})))
    assert "a header in it has 419," in refused(tmp_path / "ada.tgz")
    with zipfile.ZipFile(tmp_path / "bob.zip", "w") as zipped:
        for number in range(1_500_000):
            zipped.writestr(f"{number}", b"")
    assert "more than 100000 members" in refused(tmp_path / "bob.zip")
