"""Images of Debian packages, from a small archive that is made here: no test needs a network."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import ext2
import pytest
from debian import __main__ as command
from debian import apt, fetch, image, packages, renew, tree
from figures import common, debian_compile, debian_programs
from figures.entries import figures
from guest import boot
from tidemark.errors import NO_SPACE, USAGE, LabError
from tidemark.machine import disk, qemu

TOOLS = [name for name in ("dpkg-deb", "apt-get", apt.HELPER) if not shutil.which(name)]
needs_apt = pytest.mark.skipif(bool(TOOLS), reason=f"not installed: {', '.join(TOOLS)}")
BUILT = qemu.ROOT / "build/image.ext2"
MADE = "20260101T000000Z"
# name: version, Depends, Provides, files
ARCHIVE = {
    "shell": (
        "1:2.0-1",
        "tools (>= 1), editor | gone",
        "",
        {"bin/dash": "shell\n", "usr/share/doc/shell/copyright": "free\n"},
    ),
    "tools": (
        "1.0",
        "",
        "",
        {"usr/bin/mawk": "awk\n", "usr/share/man/man1/x.1": "man\n", "usr/share/doc/tools/NEWS": "n\n"},
    ),
    "small": ("3", "tools:any", "editor", {"usr/bin/small": "small\n", "etc/cron.d/x": "never\n"}),
    "large": ("3", "", "editor", {"usr/bin/large": "large\n" * 99999}),
    "alone": ("1.5+b1", "", "", {"sbin/alone": "alone\n", "lib/x.so": "so\n"}),
}


def add_package(archive: Path, name: str, version: str, depends: str, provides: str, content: dict[str, str]) -> str:
    """Put a package into the archive; returns its record in the index."""
    folder = archive.parent / "packing"
    for path, text in content.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    size = sum(map(len, content.values())) // 1024 + 1
    record = f"Package: {name}\nVersion: {version}\nArchitecture: i386\nMaintainer: A Test <a@example.org>\n"
    record += f"Installed-Size: {size}\nMulti-Arch: allowed\nDescription: a test\n"
    record += f"Depends: {depends}\n" if depends else ""
    record += f"Provides: {provides}\n" if provides else ""
    (folder / "DEBIAN").mkdir()
    (folder / "DEBIAN/control").write_text(record)
    deb = archive / f"pool/{name}_{version.replace(':', '%3a')}_i386.deb"
    subprocess.run(["dpkg-deb", "--build", "--root-owner-group", folder, deb], check=True, capture_output=True)
    shutil.rmtree(folder)
    digest = hashlib.sha256(deb.read_bytes()).hexdigest()
    return f"{record}Filename: pool/{deb.name}\nSize: {deb.stat().st_size}\nSHA256: {digest}\n\n"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Debian archive in a folder."""
    found = tmp_path_factory.mktemp("debian") / "archive"
    (found / "pool").mkdir(parents=True)
    (found / "Packages").write_text("".join(add_package(found, name, *what) for name, what in ARCHIVE.items()))
    return found


def listed(archive: Path, work: Path, *roots: str) -> packages.Listing:
    """The list for these names, from the archive."""
    sources = f"deb [trusted=yes arch=i386] copy:{archive} ./\n"
    return renew.renewed(packages.Listing({}, roots, ""), [], work / "index", sources)


def where(archive: Path, work: Path, *others: str) -> fetch.Places:
    return fetch.Places(work / "cache", (f"copy:{archive}", *others))


@needs_apt
def test_list_has_what_the_names_need(archive: Path, tmp_path: Path) -> None:
    listing = listed(archive, tmp_path, "shell", "alone")
    assert set(listing.packages) == {"shell", "tools", "alone", listing.packages["shell"].depends[0]}
    shell = listing.packages["shell"]
    assert shell.version == "1:2.0-1" and shell.path == "pool/shell_1%3a2.0-1_i386.deb" and "tools" in shell.depends
    packages.write(listing, tmp_path / "list")
    assert packages.read(tmp_path / "list") == listing


@needs_apt
def test_virtual_package_is_the_smallest_that_was_chosen(archive: Path, tmp_path: Path) -> None:
    listing = listed(archive, tmp_path, "shell", "large", "small")
    assert listing.packages["shell"].depends == ("small", "tools")
    assert [one.name for one in packages.needed(listing, ["shell"])] == ["shell", "small", "tools"]


@needs_apt
def test_unknown_name_is_named_with_the_nearest(archive: Path, tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"no package shel \(did you mean shell\?\).*not changed") as error:
        listed(archive, tmp_path, "shel")
    assert error.value.code == USAGE


def test_name_that_the_list_lacks_is_named_with_the_command_that_adds_it() -> None:
    listing = packages.read()
    with pytest.raises(LabError, match=r'no package sqlite \(did you mean sqlite3.*make image-list PKGS="sqlite"'):
        packages.needed(listing, ["bash", "sqlite"])


def test_committed_list_is_closed_and_has_the_usual_packages() -> None:
    listing = packages.read()
    assert {name for one in listing.packages.values() for name in one.depends} <= set(listing.packages)
    assert all(len(one.sha256) == 64 and one.size > 0 and one.name in one.path for one in listing.packages.values())
    assert set(command.USUAL.split()) <= set(listing.roots) <= set(listing.packages)
    assert "libc6-dev" in {one.name for one in packages.needed(listing, ["gcc"])}, "gcc finds no headers"


def test_damaged_list_is_refused(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("# made: x\nbash 5.2 much\n")
    with pytest.raises(LabError, match=r"list:2 .*make image-list"):
        packages.read(tmp_path / "list")


@needs_apt
def test_archives_are_downloaded_once_and_damaged_ones_again(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = packages.needed(listed(archive, tmp_path, "shell", "small"), ["shell"])
    first = fetch.fetch(chosen, where(archive, tmp_path))
    assert [fetch.kept(one, tmp_path / "cache") for one in chosen] == [True] * 3
    assert "3 packages" in capsys.readouterr().err
    first[0].write_bytes(b"damaged")
    first[1].rename(f"{first[1]}.partial")  # as after Ctrl-C: not yet compared
    assert fetch.fetch(chosen, where(archive, tmp_path)) == first
    said = capsys.readouterr().err
    assert said.count("GET") == 2 and "small" in said and "tools" not in said.split("GET", 1)[1]
    fetch.fetch(chosen, where(archive, tmp_path))
    assert "GET" not in capsys.readouterr().err


@needs_apt
def test_version_that_is_gone_is_named_and_the_rest_is_kept(archive: Path, tmp_path: Path) -> None:
    chosen = packages.needed(listed(archive, tmp_path, "shell", "small"), ["shell"])
    poorer = tmp_path / "poorer"
    shutil.copytree(archive, poorer)
    (poorer / chosen[0].path).unlink()
    (poorer / chosen[1].path).write_bytes(b"another content")
    with pytest.raises(LabError, match=r"(?s)2 of 3 .*shell 1:2.0-1: .*small 3: .*make image-list"):
        fetch.fetch(chosen, where(poorer, tmp_path))
    assert fetch.kept(chosen[2], tmp_path / "cache")
    assert len(fetch.fetch(chosen, where(poorer, tmp_path, f"copy:{archive}"))) == 3, "the second address has it"


@needs_apt
def test_network_that_fails_ends_the_download(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = packages.needed(packages.read(), ["bash"])
    with pytest.raises(LabError, match=r"(?s)1 of \d+ .*connect.*Without a network, try again later"):
        fetch.fetch(chosen, fetch.Places(tmp_path, ("http://127.0.0.1:9",)))
    assert capsys.readouterr().err.count("GET") == 1


@pytest.fixture
def folder(archive: Path, tmp_path: Path) -> Path:
    """The folder of an image with all packages."""
    found = tmp_path / "tree"
    tree.make(sorted((archive / "pool").iterdir()), qemu.ROOT / qemu.INITRD, found)
    return found


@needs_apt
def test_folder_is_a_merged_system_without_documentation(folder: Path) -> None:
    assert {name: (folder / name).readlink().as_posix() for name in tree.MERGED} == {
        name: f"usr/{name}" for name in tree.MERGED
    }
    assert (folder / "usr/bin/dash").read_text() == "shell\n" and (folder / "usr/sbin/alone").exists()
    assert (folder / "usr/lib/x.so").exists() and (folder / "usr/share/doc/shell/copyright").exists()
    left = ("usr/share/man", "usr/share/doc/tools/NEWS", "etc/cron.d")
    assert not any((folder / name).exists() for name in left)
    links = {"usr/bin/sh": "/usr/bin/dash", "usr/bin/awk": "/usr/bin/mawk", "init": "/usr/bin/init"}
    assert {name: (folder / name).readlink().as_posix() for name in links} == links
    assert not (folder / "usr/bin/cc").is_symlink() and (folder / "usr/bin/tsh").exists()
    assert (folder / "usr/bin/small").read_text() == "small\n"


@needs_apt
def test_image_belongs_to_root_is_clean_and_always_the_same(folder: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    if not os.geteuid():  # other users own their files in any case
        os.chown(folder / "usr/bin/dash", 1234, 1234)
    image.make(folder, first, "")
    (folder / "usr/bin/dash").chmod(0o700)  # changes the time of the inode's last change
    (folder / "usr/bin/dash").chmod(0o644)
    image.make(folder, second, "")
    assert first.read_bytes() == second.read_bytes()
    ext2.check(first)
    said = ext2.tool("debugfs", "-R", "stat /usr/bin/dash", first)
    assert re.search(r"User: +0 +Group: +0 ", said), said
    assert ext2.tool("debugfs", "-R", "cat /usr/bin/large", first).startswith("large\n" * 99999)


@needs_apt
@pytest.mark.parametrize(
    ("size", "reason", "code"),
    [("3M", "SIZE=3M is too small.*SIZE=\\d+M.*fewer PKGS", USAGE), ("small", "SIZE=small is not a size", USAGE)],
)
def test_size_that_cannot_be_is_refused(folder: Path, tmp_path: Path, size: str, reason: str, code: int) -> None:
    with pytest.raises(LabError, match=reason) as error:
        image.make(folder, tmp_path / "image", size)
    assert error.value.code == code and not list(tmp_path.glob("image*"))


@needs_apt
def test_image_that_fills_up_is_an_error_and_is_not_left(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(image, "bytes_of", lambda *_: 1 << 20)
    with pytest.raises(LabError, match="mke2fs could not make") as error:
        image.make(folder, tmp_path / "image", "1M")
    assert error.value.code == NO_SPACE and not list(tmp_path.glob("image*"))


@needs_apt
def test_damaged_archive_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad_1_i386.deb").write_bytes(b"!<arch>\nnot one")
    with pytest.raises(LabError, match=r"bad_1_i386.deb cannot be unpacked"):
        tree.unpack(tmp_path / "bad_1_i386.deb", tmp_path)


@needs_apt
def test_machine_boots_into_an_image(archive: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tree"
    tree.make([archive / "pool/alone_1.5+b1_i386.deb"], qemu.ROOT / qemu.INITRD, folder)
    image.make(folder, tmp_path / "image", "")
    more = {"disk": tmp_path / "image", "disk_kind": "sim:ssd", "cmdline": "root=sda"}
    result = boot("cat /etc/passwd; cat /usr/sbin/alone; ls /dev /proc/vm; thrash 2 600 2", **more).check_exit()
    result.check_lines(["^root:x:0", "^alone$", "null", "check", "^R thrash .*lost=0 corrupt=0"])
    ext2.check(tmp_path / "image")
    assert "still here" not in boot("/bin/poweroff; echo still here", **more).check_exit().console


@needs_apt
def test_session_without_a_terminal_runs_in_an_image(archive: Path, tmp_path: Path) -> None:
    """The commands are a file of the first file system, whose root the disk hides."""
    folder, console = tmp_path / "tree", tmp_path / "console"
    tree.make([archive / "pool/alone_1.5+b1_i386.deb"], qemu.ROOT / qemu.INITRD, folder)
    image.make(folder, tmp_path / "image", "")
    given = {"DISK": str(tmp_path / "image"), "DISK_KIND": "sim:ssd", "ROOT": "1"}
    with console.open("wb") as out:
        code, _ = qemu.run_typed(qemu.settings_from(given), b"cat /etc/hostname\n", out)
    assert code == qemu.OK and "\ntidemark\r\n" in console.read_bytes().decode()


@pytest.mark.parametrize(("enough", "expected"), [(0, 4.5), (4.5, 4.5), (4.6, 5), (20, 20), (63, 64), (99, 64)])
def test_least_memory_is_found(monkeypatch: pytest.MonkeyPatch, enough: float, expected: float) -> None:
    """For the table of Debian's programs; too little memory fails, or takes too long."""
    ran, slow = (common.Outcome(0, f"system: {s} s, utilisation 40.0%", "") for s in (1.0, 3.0))
    for poor in (None, slow):
        monkeypatch.setattr(debian_programs, "works", lambda _, __, mib, poor=poor: ran if mib >= enough else poor)
        assert debian_programs.least_mib("", "", 2) == expected


def test_row_of_a_program_has_its_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    console = "system: 1.5 s, utilisation 40.0%\nfaults: 1500, 1200 of them major, 0 refaults"
    monkeypatch.setattr(debian_programs, "works", lambda *_: common.Outcome(0, console, ""))
    assert debian_programs.row("x", "a | b", "") == "| x | `a \\| b` | works | 1.50 | 1,200 | 4.5M | 4.5M |"


def test_rows_of_the_compiler() -> None:
    """A run that ended, with one object of three wrong and one absent; and a run that was stopped while it wrote."""
    console = "system: 66.4 s, utilisation 40.2% (user 3.0%)\nfaults: 9, 2966 of them major; swap: 7 pages in, 1234 out"
    run = common.Outcome(0, console, "")
    cells = debian_compile.row(run, {"a": "1", "b": "3"}, {"a": "1", "b": "2", "c": "3"})
    assert cells == "66.4 | 40 % | 2,966 | 7 | 1,234 | 1 of 3 |"
    telemetry = '{"t_us":7,"ev":"boot"}\n{"seq":1,"t_us":1234567890,"ev":"sample","idle_us":3}\n{"t_us":99999'
    stopped = debian_compile.row(common.Outcome(1500, "", telemetry), {}, {"a": "1"})
    assert stopped == "not finished after 1,234 | | | | | |"


@pytest.mark.soak
@pytest.mark.skipif(not BUILT.exists(), reason="build/image.ext2 is not made: `make image`, which needs a network")
@pytest.mark.parametrize("program", figures()["debian-programs"].settings["programs"], ids=lambda one: one[0])
def test_debians_program_runs(program: list[str]) -> None:
    _, line, expected = program
    assert debian_programs.works(line, expected, debian_programs.MIB[-1])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"ROOT": "1", "DISK": "x"}, "root=sda"),
        ({"ROOT": "1", "DISK": "x", "DISK_KIND": "virtio", "CMDLINE": "jitter=1"}, "root=vda jitter=1"),
        ({"ROOT": "1", "DISK": "x", "DISK_KIND": "ide", "SWAP": "hda"}, "root=hdb"),
        ({"ROOT": "0", "DISK": "x", "CMDLINE": "a"}, "a"),
        ({"CMDLINE": "a"}, "a"),
    ],
)
def test_root_is_a_word_of_the_command_line(given: dict[str, str], words: str) -> None:
    assert disk.with_root({**qemu.DEFAULTS, **given}) == words


@pytest.mark.parametrize(
    ("given", "reason"), [({"ROOT": "yes", "DISK": "x"}, "ROOT=yes"), ({"ROOT": "1"}, "make image")]
)
def test_root_that_cannot_be_is_refused(given: dict[str, str], reason: str) -> None:
    with pytest.raises(qemu.BadSetting, match=reason):
        disk.with_root({**qemu.DEFAULTS, **given})
