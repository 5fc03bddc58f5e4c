"""The output of commands: a file is replaced as a whole, and anything else keeps its place."""

from __future__ import annotations

import contextlib
import os
import pty
import resource
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from guest import boot
from lab import tidemark
from scenes import END, START, process, sample, written
from tidemark import errors, files, output
from tidemark.errors import LabError
from tidemark.machine import plugin, qemu

SAMPLE = qemu.ROOT / "tests/lab/data/lackey.txt"
NULL, FULL = (1, 3), (1, 7)
NOBODY = 65534
LIMIT_S = 60


def device(path: Path, numbers: tuple[int, int]) -> Path:
    """A device node of our own; the machine's devices are not touched."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(*numbers))
        path.open("wb").close()
    except PermissionError:
        pytest.skip("this user, or this file system, may have no devices: mknod is refused")
    return path


@contextlib.contextmanager
def reading(fifo: Path) -> Iterator[list[bytes]]:
    """Reads the other end; the text is complete after the block."""
    came: list[bytes] = []
    reader = threading.Thread(target=lambda: came.append(fifo.read_bytes()), daemon=True)
    reader.start()
    yield came
    reader.join(LIMIT_S)


@contextlib.contextmanager
def as_nobody(folder: Path) -> Iterator[None]:
    """Acts as an ordinary user, who is subject to file modes, even if root runs the tests."""
    if os.geteuid():
        yield
        return
    os.chown(folder, NOBODY, NOBODY)
    for path in folder.iterdir():
        os.chown(path, NOBODY, NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can reach."""
    with tempfile.TemporaryDirectory(prefix="tidemark-test-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def refusal(path: Path, code: int = errors.NO_SPACE) -> str:
    """The message about a file that cannot be written."""
    with pytest.raises(LabError) as caught:
        files.write_atomically(path, "new")
    assert caught.value.code == code
    return str(caught.value)


# --- targets that are not files ---


def test_device_keeps_its_place(tmp_path: Path) -> None:
    null = device(tmp_path / "null", NULL)
    files.write_atomically(null, "text")
    assert null.is_char_device() and list(tmp_path.iterdir()) == [null]


def test_full_device_is_told(tmp_path: Path) -> None:
    full = device(tmp_path / "full", FULL)
    assert refusal(full) == f"{full} cannot be written: No space left on device"
    assert full.is_char_device() and list(tmp_path.iterdir()) == [full]


def test_terminal_gets_the_text(tmp_path: Path) -> None:
    """Through a link, which is kept: in /dev/pts a terminal could not be replaced by a rename."""
    master, slave = pty.openpty()
    (tmp_path / "terminal").symlink_to(os.ttyname(slave))
    files.write_atomically(tmp_path / "terminal", "text")
    assert os.read(master, 100) == b"text" and (tmp_path / "terminal").is_symlink()
    os.close(master)
    os.close(slave)


def test_fifo_gets_all_of_it(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with reading(fifo) as came:
        files.write_atomically(fifo, b"x" * 100_000)
    assert came == [b"x" * 100_000] and fifo.is_fifo() and list(tmp_path.iterdir()) == [fifo]


def test_ctrl_c_ends_the_wait_for_a_reader(tmp_path: Path) -> None:
    """With complete data in a temporary file, the command waits like in a shell; after Ctrl-C neither is left."""
    fifo, scratch = tmp_path / "t.tmt", tmp_path / "scratch"
    os.mkfifo(fifo)
    scratch.mkdir()
    command = ["env", f"TMPDIR={scratch}", sys.executable, "-m", "tidemark.cli"]
    with subprocess.Popen([*command, "trace", "import", SAMPLE, "-o", fifo], preexec_fn=restore_ctrl_c) as waiting:
        while not any(path.stat().st_size for path in scratch.iterdir()) and waiting.poll() is None:
            time.sleep(0.01)
        assert waiting.poll() is None
        waiting.send_signal(signal.SIGINT)
        assert waiting.wait(LIMIT_S) == errors.INTERRUPTED
    assert fifo.is_fifo() and not list(scratch.iterdir())


def restore_ctrl_c() -> None:
    """Tests in the background ignore Ctrl-C, and so would their children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


PRINTS = """
from pathlib import Path
from tidemark import files
print("before")
files.write_atomically(Path({path!r}), "written\\n")
print("after")
"""


@pytest.mark.parametrize("path", ["stdout", "link", "fd/1", "/proc/self/fd/1", "/proc/thread-self/fd/1"])
def test_own_descriptor_is_written_where_it_stands(tmp_path: Path, path: str) -> None:
    """Even if it leads to a regular file, which the shell has opened and other programs write to. The links are like
    those in /dev, because a test that root may run must not touch the real ones."""
    (tmp_path / "stdout").symlink_to("/proc/self/fd/1")
    (tmp_path / "fd").symlink_to("/proc/self/fd")
    (tmp_path / "link").symlink_to("stdout")
    with (tmp_path / "out").open("w") as out:
        out.write("the shell's\n")
        out.flush()
        command = [sys.executable, "-c", PRINTS.format(path=path)]
        subprocess.run(command, stdout=out, cwd=tmp_path, env={"PYTHONPATH": f"{qemu.ROOT}/tools"}, check=True)
    assert (tmp_path / "out").read_text() == "the shell's\nbefore\nwritten\nafter\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fd", "link", "out", "stdout"]


def test_descriptor_that_is_closed_is_told() -> None:
    assert refusal(Path("/proc/self/fd/999")) == "/proc/self/fd/999 cannot be written: Bad file descriptor"


# --- links ---


def test_link_stays_and_its_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    file, link = tmp_path / "folder/file", tmp_path / "link"
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to("folder/file")
    files.write_atomically(link, "new")
    assert link.is_symlink() and file.read_text() == "new" and stat.S_IMODE(file.stat().st_mode) == 0o640
    assert list((tmp_path / "folder").iterdir()) == [file]


def test_link_to_nothing_makes_the_file(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("file")
    files.write_atomically(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_text() == "new"


def test_circle_of_links_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert "Too many levels of symbolic links" in refusal(tmp_path / "a")


def test_link_to_a_folder_stays_when_the_folder_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    for text in ("first", "second"):
        with files.folder_replacing(tmp_path / "link", "mark") as new:
            (new / "mark").write_text(text)
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real/mark").read_text() == "second"
    assert len(list(tmp_path.iterdir())) == 2


# --- targets that cannot be written ---


def test_folder_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path) == f"{tmp_path} cannot be written: it is a folder; name a file"


def test_missing_folder_is_named(tmp_path: Path) -> None:
    said = refusal(tmp_path / "no/file")
    assert said == f"{tmp_path}/no/file cannot be written: {tmp_path}/no is not a folder"


def test_read_only_folder_keeps_the_old_file(open_folder: Path) -> None:
    file = open_folder / "file"
    file.write_text("old")
    with as_nobody(open_folder):
        open_folder.chmod(0o555)
        assert refusal(file).endswith(
            f"its folder {open_folder} takes no new file, and a file is only replaced as a whole"
        )
        assert refusal(open_folder / "new").endswith(f"its folder {open_folder} takes no new file")
    assert file.read_text() == "old" and list(open_folder.iterdir()) == [file]


def test_write_protected_file_is_kept(open_folder: Path) -> None:
    file = open_folder / "file"
    file.write_text("old")
    file.chmod(0o444)
    with as_nobody(open_folder):
        assert refusal(file) == f"{file} cannot be written: it is write-protected"
    assert file.read_text() == "old"


def test_old_file_is_whole_when_room_runs_out(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(LabError, match="file cannot be written: File too large"):
            files.write_atomically(file, b"x" * 200_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert file.read_text() == "old" and list(tmp_path.iterdir()) == [file]


def test_commands_that_work_long_look_first(tmp_path: Path) -> None:
    """For example grading: nothing is done if the grade could not be saved."""
    for option, where in (("--json", "."), ("--plot", "no/plot.png")):
        done = tidemark("grade", "clock", option, where, cwd=tmp_path)
        assert done.returncode == errors.USAGE and done.stdout == "", done.stdout
        assert done.stderr.startswith(f"tidemark: {where} cannot be written: ") and done.stderr.count("\n") == 1


# --- commands ---


def commands(folder: Path) -> dict[str, list[object]]:
    """Commands with an option for a file, which comes last; by the required suffix of the file's name."""
    telemetry = written(folder / "t.ndjson", [START, sample(100, procs=[process(1)]), {**END, "t_us": 200_000}])
    trace = folder / "t.tmt"
    assert tidemark("trace", "import", SAMPLE, "-o", trace, "-q", cwd=folder).returncode == 0
    return {
        "x.tmt": ["trace", "import", SAMPLE, "-q", "-o"],
        "x.csv": ["trace", "export", trace, "-q", "-o"],
        "x.xml": ["trace", "export", trace, "-q", "-o"],
        "x.json": ["export", telemetry, "--to", "perfetto", "-o"],
        "x.svg": ["procs", telemetry, "-o"],
    }


def quiet(done: subprocess.CompletedProcess) -> bool:
    """Did the command end well, and say nothing but that a run without events has none?"""
    lines = [line for line in done.stderr.splitlines() if "has no events" not in line]
    return (done.returncode, lines) == (0, [])


def test_no_command_replaces_a_device(tmp_path: Path) -> None:
    for name, words in commands(tmp_path).items():
        null = device(tmp_path / name, NULL)
        done = tidemark(*words, null, cwd=tmp_path)
        assert quiet(done) and null.is_char_device(), (name, done.stderr)


def test_every_command_writes_into_a_fifo_what_it_writes_into_a_file(tmp_path: Path) -> None:
    for name, words in commands(tmp_path).items():
        path = tmp_path / name
        assert tidemark(*words, path, cwd=tmp_path).returncode == 0
        expected = path.read_bytes()
        path.unlink()
        os.mkfifo(path)
        with reading(path) as came:
            done = tidemark(*words, path, cwd=tmp_path)
        assert quiet(done) and path.is_fifo()
        assert came == [expected], name


@pytest.mark.parametrize("kind", ["device", "fifo", "file"])
def test_folder_of_results_replaces_nothing_else(tmp_path: Path, kind: str) -> None:
    out = tmp_path / "out"
    {"device": lambda: device(out, NULL), "fifo": lambda: os.mkfifo(out), "file": lambda: out.write_text("old")}[kind]()
    before = out.stat()
    for words in (["run", "true"], ["curves", SAMPLE], ["sweep", "thrashing"]):
        done = tidemark(*words, "-o", out, cwd=tmp_path)
        assert done.returncode and done.stderr.startswith("tidemark: ") and "not a folder" in done.stderr.lower(), done
    assert out.stat() == before


def test_plugin_of_qemu_replaces_files_only(tmp_path: Path) -> None:
    """The plugin opens its files itself, in C."""
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    os.mkfifo(tmp_path / "fifo")
    with reading(tmp_path / "fifo") as came:
        for name in ("link", "fifo", "new"):
            flags = plugin.flags("cover", out=tmp_path / name)
            boot("true", swap="none", qemu_flags=flags).check_exit()
    (from_fifo,) = came
    made = ((tmp_path / "new").read_bytes(), (tmp_path / "real").read_bytes(), from_fifo)
    addresses = [set(struct.iter_unpack("<I", one)) for one in made]
    # Reading the real-time clock takes another path while it is updated: not all of the addresses are the same.
    assert all(len(one) > 1000 and len(one ^ addresses[0]) < 50 for one in addresses)
    assert (tmp_path / "link").is_symlink() and (tmp_path / "fifo").is_fifo() and len(list(tmp_path.iterdir())) == 4


def test_output_is_looked_at_without_being_opened(tmp_path: Path) -> None:
    """Opening a FIFO would wait for its reader."""
    os.mkfifo(tmp_path / "fifo")
    output.check(tmp_path / "fifo")
