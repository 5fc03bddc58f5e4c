"""`make image` with wrong input, or where it cannot work: one message that says what to do, and nothing is lost."""

from __future__ import annotations

import errno
import http.server
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from debian import __main__ as command
from debian import apt, fetch, packages, tree
from test_debian import archive, listed, needs_apt  # noqa: F401
from tidemark.errors import INTERRUPTED, NO_SPACE, NO_TOOL, OK, USAGE, LabError
from tidemark.machine import qemu

OLD = b"the last image"


@pytest.fixture
def build(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:  # noqa: F811
    """A build folder in which `make image` works, with the packages of the small archive and an image made earlier."""
    made = tmp_path / "build"
    made.mkdir()
    (made / "image.ext2").write_bytes(OLD)
    packages.write(listed(archive, tmp_path, "shell", "alone"), tmp_path / "packages.txt")
    monkeypatch.setattr(packages.read, "__defaults__", (tmp_path / "packages.txt",))
    monkeypatch.setattr(apt, "CACHE", made / "debian")
    monkeypatch.setattr(command, "IMAGE", made / "image.ext2")
    monkeypatch.setattr(sys, "argv", ["debian", "image"])
    for name, value in {"PKGS": "shell alone", "SIZE": "", "MIRROR": f"copy:{archive}"}.items():
        monkeypatch.setenv(name, value)
    return made


def refused(capsys: pytest.CaptureFixture[str], code: int) -> str:
    """Run `make image`, which must end with this status; returns its message, one paragraph after the progress."""
    capsys.readouterr()
    assert command.main() == code
    said = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("  ")]
    assert said and said[0].startswith("make image: "), said
    assert not any("Traceback" in line for line in said)
    return "\n".join(said)


def kept(build: Path, *archives: str) -> None:
    """The image made earlier and these archives are still there, and no unfinished file or folder."""
    assert (build / "image.ext2").read_bytes() == OLD
    assert sorted(path.name for path in build.iterdir() if path.name != "debian") == ["image.ext2"]
    assert not (build / "debian/tree").exists()
    names = {path.name.split("_")[0] for path in (build / "debian/archives").glob("*.deb")}
    assert names == set(archives)


@needs_apt
def test_image_is_made(build: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main() == OK
    assert "make qemu DISK=build/image.ext2 ROOT=1" in capsys.readouterr().out
    assert (build / "image.ext2").stat().st_size > 1 << 20 and not (build / "debian/tree").exists()


@needs_apt
@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("PKGS", "shell aloe", r'no package aloe (did you mean alone?); `make image-list PKGS="aloe"`'),
        ("SIZE", "huge", "SIZE=huge is not a size such as 512M or 1G"),
    ],
)
def test_wrong_variable_is_refused_before_anything_is_downloaded(
    build: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    variable: str,
    value: str,
    said: str,
) -> None:
    monkeypatch.setenv(variable, value)
    assert said in refused(capsys, USAGE)
    kept(build)


@needs_apt
def test_size_that_is_too_small_names_one_that_is_enough(
    build: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SIZE", "1M")
    said = refused(capsys, USAGE)
    kept(build, *(one.name for one in packages.needed(packages.read(), ["shell", "alone"])))
    monkeypatch.setenv("SIZE", said.partition("too small")[2].partition("SIZE=")[2].split()[0])
    assert command.main() == OK


def archives(build: Path) -> list[Path]:
    """The downloaded archives."""
    return sorted((build / "debian/archives").glob("*.deb"))


@needs_apt
def test_mirror_that_cannot_be_reached(
    build: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MIRROR", "http://127.0.0.1:9/debian")
    monkeypatch.setattr(fetch, "SNAPSHOT", "http://127.0.0.1:9/snapshot")
    said = refused(capsys, 3)
    assert "could not be downloaded" in said and "Without a network, try again later" in said
    kept(build)


@needs_apt
@pytest.mark.parametrize("name", [apt.HELPER, "dpkg-deb", "mke2fs"])
def test_host_without_a_program(
    build: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    which = command.shutil.which
    monkeypatch.setattr(command.shutil, "which", lambda asked, **more: None if asked == name else which(asked, **more))
    said = refused(capsys, NO_TOOL)
    assert name in said and "not installed" in said and ("apt install" in said or "package e2fsprogs" in said)
    kept(build)


@needs_apt
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES])
@pytest.mark.parametrize("place", ["prepare", "copy", "tree"])
def test_folder_that_cannot_be_written(
    build: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], place: str, code: int
) -> None:
    def fails(*words: object) -> None:
        raise OSError(code, os.strerror(code), str(build / "debian"))

    where = {"prepare": (apt, "prepare"), "copy": (fetch.files, "copy_atomically"), "tree": (tree, "add_own")}[place]
    monkeypatch.setattr(*where, fails)
    said = refused(capsys, NO_SPACE)
    assert os.strerror(code) in said and "free space, or let this user write" in said
    monkeypatch.undo()
    assert (build / "image.ext2").read_bytes() == OLD and not (build / "debian/tree").exists()
    assert bool(archives(build)) == (place == "tree")


@needs_apt
def test_damaged_archive_says_what_to_do(archive: Path, tmp_path: Path) -> None:  # noqa: F811
    deb = next((archive / "pool").glob("alone_*"))
    short = tmp_path / deb.name
    short.write_bytes(deb.read_bytes()[:-40])
    with pytest.raises(LabError, match=r"cannot be unpacked: tar: .*; the next run downloads it") as error:
        tree.unpack(short, tmp_path)
    assert f"remove {short};" in str(error.value) and "\n" not in str(error.value)


class Slow(http.server.BaseHTTPRequestHandler):
    """Sends half a file, and then nothing."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000000")
        self.end_headers()
        self.wfile.write(b"x" * 500000)
        self.wfile.flush()
        self.server.asked.set()  # type: ignore[attr-defined]
        self.server.over.wait()  # type: ignore[attr-defined]

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def slow() -> Iterator[http.server.ThreadingHTTPServer]:
    """A mirror that does not end what it begins."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    server.asked, server.over = threading.Event(), threading.Event()  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.over.set()  # type: ignore[attr-defined]
    server.shutdown()


@needs_apt
def test_ctrl_c_while_it_downloads(tmp_path: Path, slow: http.server.ThreadingHTTPServer) -> None:
    """As a user's Ctrl-C, the signal reaches the whole process group."""
    work = tmp_path / "debian"
    code = f"import sys; from pathlib import Path; from debian import __main__, apt; apt.CACHE = Path({str(work)!r}); "
    code += (
        f"__main__.IMAGE = Path({str(tmp_path / 'image')!r}); sys.argv = ['debian', 'image']; sys.exit(__main__.main())"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": str(qemu.ROOT / "tools"),
        "PKGS": "bash",
        "MIRROR": f"http://127.0.0.1:{slow.server_port}",
        "http_proxy": "",
    }
    running = subprocess.Popen(
        [sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert slow.asked.wait(60)  # type: ignore[attr-defined]
    end = time.monotonic() + 60
    while not any(path.stat().st_size for path in (work / "archives").glob("*.partial")):
        assert time.monotonic() < end and running.poll() is None
        time.sleep(0.02)
    os.killpg(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == INTERRUPTED and "Traceback" not in said, said
    assert said.endswith("stopped; what was downloaded is kept, and the next run continues\n"), said
    assert any(path.stat().st_size for path in (work / "archives").glob("*.partial")), "the beginning is kept"
