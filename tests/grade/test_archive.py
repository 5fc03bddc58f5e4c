"""Valid submissions: a folder or an archive with the lab's files, and nothing that could do harm."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from tidemark.errors import LabError
from tidemark.grade.intake import archive, members
from tidemark.grade.model import Lab

pytestmark = pytest.mark.unbuilt

FILE, OTHER = "kernel/mm/policy/clock.c", "kernel/mm/policy/fifo.c"
LAB = Lab("clock", 4, "Second chance", Path("labs/clock"), (OTHER, FILE), (), (), (), ())
CODE = b"int clock;\n"


def tar(path: Path, *members: tuple[str, bytes | str], mode: str = "w:gz") -> Path:
    """A tar of (name, content), or (name, type, linkname) for members that are not files."""
    with tarfile.open(path, mode) as made:
        for name, data, *link in members:
            member = tarfile.TarInfo(name)
            if link:
                member.type, member.linkname = data, link[0]
                made.addfile(member)
            else:
                member.size = len(data)
                made.addfile(member, io.BytesIO(data))
    return path


def zipped(path: Path, *members: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    """A zip of (name, content)."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in members:
            made.writestr(name, data)
    return path


def zip_member(name: str, mode: int) -> zipfile.ZipInfo:
    """A member of a zip with a Unix mode."""
    member = zipfile.ZipInfo(name)
    member.external_attr = mode << 16
    return member


def here(order: bytes) -> str:
    """The answer to a request, without a sandbox."""
    said, _, data = order.partition(b"\n")
    return json.dumps(members.answered(json.loads(said), data))


def take(*submissions: Path, lab: Lab = LAB, released: dict[str, str] | None = None) -> archive.Taken:
    """The files taken from a submission."""
    return archive.take(submissions, lab, released or {}, here)


def read(submission: Path, lab: Lab = LAB) -> dict[str, bytes]:
    """The lab's files in a submission."""
    return take(submission, lab=lab).files


def remarks(submission: Path, lab: Lab = LAB, released: dict[str, str] | None = None) -> list[str]:
    """The remarks about a submission, except those about missing files."""
    return [note for note in take(submission, lab=lab, released=released).notes if "was not handed in" not in note]


def refused(submission: Path) -> str:
    """The reason why a submission is refused."""
    with pytest.raises(LabError) as caught:
        read(submission)
    return str(caught.value)


@pytest.mark.parametrize("name", ["ada.tar", "ada.tar.gz", "ada.tgz", "ada.tar.xz", "Ada Lovelace é中.TAR.GZ"])
def test_tar_of_every_kind_is_read(tmp_path: Path, name: str) -> None:
    mode = {"r": "w", "z": "w:gz", "Z": "w:gz", "x": "w:xz"}["x" if name.endswith("xz") else name[-1]]
    path = tar(tmp_path / name, (f"./{FILE}", CODE), ("./README.md", b""), mode=mode)
    assert read(path, LAB) == {FILE: CODE}


def test_zip_with_a_leading_folder_and_other_files_is_read(tmp_path: Path) -> None:
    others = [("my clone/Makefile", b""), ("__MACOSX/kernel/mm/policy/clock.c", b"x"), ("my clone/labs/", b"")]
    deeper = ("my clone/labs/clock/starter/kernel/mm/policy/clock.c", b"starter")
    path = zipped(tmp_path / "ada.zip", (f"my clone/{FILE}", CODE), (f"my clone/{OTHER}", b""), deeper, *others)
    assert read(path, LAB) == {OTHER: b"", FILE: CODE}


def test_zip_with_the_separators_of_windows_is_read(tmp_path: Path) -> None:
    path = zipped(tmp_path / "ada.zip", (FILE.replace("/", "\\"), CODE))
    assert read(path, LAB) == {FILE: CODE}


def test_unpack_writes_only_the_files_of_the_lab(tmp_path: Path) -> None:
    path = tar(
        tmp_path / "ada.tgz", (f"clone/{FILE}", CODE), ("clone/Makefile", b"all:"), ("clone/bin", tarfile.SYMTYPE, "/")
    )
    into = take(path).write(tmp_path / "into")
    assert [str(found.relative_to(into)) for found in into.rglob("*") if found.is_file()] == [FILE]
    assert (into / FILE).read_bytes() == CODE


def test_folder_is_read_like_an_archive(tmp_path: Path) -> None:
    for top in ("ada", "bob/clone", "bob/.git", "bob/clone/labs/clock/starter"):
        (tmp_path / top / FILE).parent.mkdir(parents=True)
        (tmp_path / top / FILE).write_bytes(top.encode())
    assert read(tmp_path / "ada", LAB) == {FILE: b"ada"}
    assert read(tmp_path / "bob", LAB) == {FILE: b"bob/clone"}


@pytest.mark.parametrize("name", ["/etc/passwd", "../../etc/passwd", "clone/../../x", "C:/x", "..\\x"])
def test_name_outside_of_the_archive_is_refused(tmp_path: Path, name: str) -> None:
    said = f"a member is called {name!r}, which lies outside of the archive"
    assert said in refused(tar(tmp_path / "ada.tgz", (FILE, CODE), (name, b"x")))
    assert said in refused(zipped(tmp_path / "ada.zip", (FILE, CODE), (name, b"x")))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE])
def test_member_that_is_no_file_is_refused(tmp_path: Path, kind: bytes) -> None:
    assert "is not a file: hand in the file itself" in refused(tar(tmp_path / "ada.tgz", (FILE, kind, "/etc/shadow")))


@pytest.mark.parametrize("mode", [0o120777, 0o020666, 0o010666])
def test_link_or_device_in_a_zip_is_refused(tmp_path: Path, mode: int) -> None:
    path = zipped(tmp_path / "ada.zip", (zip_member(FILE, mode), b"/etc/shadow"))
    assert "is not a file: hand in the file itself" in refused(path)


def test_folders_in_folders_without_end_are_refused(tmp_path: Path) -> None:
    """A thousand nested folders once ended the grading of a class."""
    tmp_path.joinpath(*"a" * 150).mkdir(parents=True)
    assert "folders 100 levels deep" in refused(tmp_path)


def test_link_in_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hidden tests")
    (tmp_path / "ada" / FILE).parent.mkdir(parents=True)
    (tmp_path / "ada" / FILE).symlink_to(tmp_path / "secret")
    assert f"{FILE}: this is a link, or behind one" in refused(tmp_path / "ada")
    (tmp_path / "bob").mkdir()
    (tmp_path / "bob/kernel").symlink_to(tmp_path / "ada/kernel")
    assert "bob: kernel: this is a link, or behind one" in refused(tmp_path / "bob")
    (tmp_path / "eve" / FILE).parent.mkdir(parents=True)
    os.mkfifo(tmp_path / "eve" / FILE)
    assert f"{FILE} is not a file" in refused(tmp_path / "eve")


def test_bomb_is_refused_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "MOST_UNPACKED", 3 << 20)
    huge = bytes(4 << 20)
    assert "unpacks to more than 3 MiB" in refused(tar(tmp_path / "ada.tar.xz", ("x", huge), (FILE, CODE), mode="w:xz"))
    assert f"{FILE} is larger than 1 MiB" in refused(zipped(tmp_path / "ada.zip", (FILE, huge)))
    assert read(zipped(tmp_path / "bob.zip", ("x", huge), (FILE, CODE)), LAB) == {FILE: CODE}
    monkeypatch.setattr(members, "MOST_MEMBERS", 2)
    many = [(str(number), b"") for number in range(3)]
    assert "more than 2 members" in refused(zipped(tmp_path / "many.zip", *many))
    monkeypatch.setattr(archive, "MOST_ARCHIVE", 100)
    assert "larger than 0 MiB" in refused(zipped(tmp_path / "large.zip", *many))


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    for name in ("ada.zip", "ada.tar", "ada.tar.gz", "ada.tar.xz"):
        (tmp_path / name).write_bytes(b"Rar!" * 1000)
        assert f"{name}: it cannot be read as" in refused(tmp_path / name)
        (tmp_path / name).write_bytes(b"")
        assert f"{name}: it cannot be read as" in refused(tmp_path / name)
    (tmp_path / "clocks.c").write_bytes(CODE)
    assert refused(tmp_path / "clocks.c").startswith("clocks.c: this is not a folder, an archive (.zip, .tar, ")
    assert refused(tmp_path / "missing.zip") == "missing.zip: there is no such file or folder"


def test_archive_that_ends_early_is_refused(tmp_path: Path) -> None:
    whole = tar(tmp_path / "ada.tgz", (FILE, os.urandom(100_000))).read_bytes()
    (tmp_path / "ada.tgz").write_bytes(whole[: len(whole) // 2])
    assert "ada.tgz: it cannot be read as .tgz" in refused(tmp_path / "ada.tgz")


def test_archive_without_the_files_is_refused(tmp_path: Path) -> None:
    said = f"there is no {OTHER}, {FILE}, at its path or by its name"
    assert said in refused(tar(tmp_path / "ada.tgz", (f"a/b/c/d/{FILE}", CODE)))
    assert said in refused(tar(tmp_path / "empty.tgz"))
    assert said in refused(zipped(tmp_path / "empty.zip"))
    (tmp_path / "folder").mkdir()
    assert said in refused(tmp_path / "folder")


def test_choice_is_refused(tmp_path: Path) -> None:
    path = tar(tmp_path / "ada.tgz", (FILE, CODE), (f"old/{FILE}", b"other"))
    assert f"both {FILE} and old/{FILE} may be {FILE}: keep only one" in refused(path)
    assert f"both {FILE} and {FILE} may be" in refused(tar(tmp_path / "bob.tgz", (FILE, CODE), (f"./{FILE}", b"other")))
    same = tar(tmp_path / "eve.tgz", (FILE, CODE), (f"old/{FILE}", CODE))
    assert read(same) == {FILE: CODE}


def test_bare_names_will_do(tmp_path: Path) -> None:
    folder = tmp_path / "ada"
    folder.mkdir()
    (folder / "clock.c").write_bytes(CODE)
    assert read(folder, LAB) == {FILE: CODE}
    assert read(tar(tmp_path / "ada.tar", ("ada/clock.c", CODE), mode="w"), LAB) == {FILE: CODE}


RENAMED = [
    "clock (1).c",
    "clock(2).c",
    "Clock.c",
    "CLOCK.C",
    "clock-1.c",
    "clock - Copy.c",
    "doejane_123_456_clock.c",
    "Jane Doe_17_assignsubmission_file_/tidemark/kernel/mm/policy/clock.c",
    "a/b/Kernel/MM/Policy/Clock (3).c",
    "a/b/clock.c",
]


@pytest.mark.parametrize("name", RENAMED)
def test_what_platforms_make_of_a_name_is_taken_and_told(tmp_path: Path, name: str) -> None:
    said = [f"{name} was taken as {FILE}"]
    handed_in = zipped(tmp_path / "ada.zip", (name, CODE))
    assert read(handed_in) == {FILE: CODE} and remarks(handed_in) == said
    folder = tmp_path / "folder"
    (folder / name).parent.mkdir(parents=True)
    (folder / name).write_bytes(CODE)
    assert read(folder) == {FILE: CODE} and remarks(folder) == said


@pytest.mark.parametrize(
    "name", ["clocks.c", "clock.h", "clock2.c", "o-clock.c", "labs/clock/starter/" + FILE, ".git/clock.c"]
)
def test_other_names_are_not_taken(tmp_path: Path, name: str) -> None:
    assert f"there is no {OTHER}, {FILE}" in refused(zipped(tmp_path / "ada.zip", (name, CODE)))


def test_file_alone_and_several_of_one_student_are_taken(tmp_path: Path) -> None:
    one, other = tmp_path / "ada_1_2_clock (1).c", tmp_path / "ada_1_3_fifo.c"
    one.write_bytes(CODE)
    other.write_bytes(b"")
    assert read(one) == {FILE: CODE} and remarks(one) == [f"{one.name} was taken as {FILE}"]
    assert take(one, other).files == {OTHER: b"", FILE: CODE}


def test_only_archive_in_a_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "ada").mkdir()
    zipped(tmp_path / "ada/work.zip", (FILE, CODE))
    assert read(tmp_path / "ada") == {FILE: CODE} and remarks(tmp_path / "ada") == ["work.zip in the folder was read"]
    zipped(tmp_path / "ada/work (1).zip", (FILE, CODE))
    assert "there are work (1).zip and work.zip in it: keep only one" in refused(tmp_path / "ada")


def test_names_that_may_mean_the_same_are_an_error_with_both(tmp_path: Path) -> None:
    for names in (
        ("clock.c", "clock (1).c"),
        ("Clock.c", "clock.c"),
        (FILE, f"a/b/{FILE}"),
        (FILE, FILE.replace(".", " (1).")),
    ):
        path = zipped(tmp_path / "ada.zip", *((name, name.encode()) for name in names))
        first, second = sorted(names, key=names.index)
        assert f"both {first} and {second} may be {FILE}: keep only one" in refused(path)
        same = zipped(tmp_path / "bob.zip", *((name, CODE) for name in names))
        assert read(same) == {FILE: CODE}


def test_missing_files_are_told(tmp_path: Path) -> None:
    taken = take(zipped(tmp_path / "ada.zip", (FILE, CODE)))
    assert taken.notes == (f"{OTHER} was not handed in: tests that depend on it fail",)


@pytest.mark.parametrize("top", ["", "tidemark/"])
def test_other_files_that_were_changed_are_told(tmp_path: Path, top: str) -> None:
    released = {
        "Makefile": hashlib.sha256(b"all:\n").hexdigest(),
        "user/ls.c": hashlib.sha256(b"").hexdigest(),
    }
    members = [(f"{top}{FILE}", CODE), (f"{top}Makefile", b"all: call-out\n"), (f"{top}user/ls.c", b"")]
    handed_in = zipped(tmp_path / "ada.zip", *members)
    assert remarks(handed_in, released=released) == ["Makefile differs from the release; the release's file was used"]


OLD = "kernel/clock.c"
MOVED = replace(LAB, was={OLD: FILE})


@pytest.mark.parametrize("top", ["", "tidemark/"])
def test_file_at_its_path_of_an_older_release_is_taken_and_told(tmp_path: Path, top: str) -> None:
    handed_in = zipped(tmp_path / "ada.zip", (f"{top}{OLD}", CODE), (f"{top}{OTHER}", b""))
    assert read(handed_in, MOVED) == {OTHER: b"", FILE: CODE}
    said = f"{top}{OLD} was taken as {FILE}, its path in this release"
    assert remarks(handed_in, MOVED) == [said]
    folder = tmp_path / "folder"
    (folder / top / OLD).parent.mkdir(parents=True)
    (folder / top / OLD).write_bytes(CODE)
    assert read(folder, MOVED) == {FILE: CODE} and remarks(folder, MOVED) == [said]
    assert remarks(tar(tmp_path / "new.tgz", (FILE, CODE)), MOVED) == []


def test_file_at_its_old_path_and_its_new_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=f"both {FILE} and {OLD} may be {FILE}: keep only one"):
        read(tar(tmp_path / "ada.tgz", (OLD, CODE), (FILE, b"")), MOVED)


def test_old_path_at_which_the_release_has_another_file(tmp_path: Path) -> None:
    """Today's tree has both; a submission made from an older release has the old one."""
    old, new = "kernel/mm/policy/2q.c", "kernel/mm/policy/useonce.c"
    lab = replace(LAB, folder=tmp_path / "labs/twoq", files=(new,), was={old: new})
    (tmp_path / old).parent.mkdir(parents=True)
    (tmp_path / old).touch()
    both = tar(tmp_path / "ada.tgz", (old, b"another"), (new, CODE))
    assert read(both, lab) == {new: CODE} and remarks(both, lab) == []
    older = tar(tmp_path / "bob.tgz", (old, b'\t.name = "2q",\n\t.summary = "2q",\n'))
    assert read(older, lab) == {new: b'\t.name = "useonce",\n\t.summary = "2q",\n'}
    assert remarks(older, lab) == [f"{old} was taken as {new}, its path in this release"]
