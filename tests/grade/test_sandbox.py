"""The sandbox: small programs that try to read, write, reach and use up what they may not. Every kind of sandbox that
this machine supports is tried; the others are skipped with the reason."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from processes import wait_until
from tidemark import files
from tidemark.errors import NO_TOOL, USAGE, LabError
from tidemark.grade.build import sandbox, supervise, users
from tidemark.grade.build.sandbox import Sandbox
from tidemark.machine import qemu

ASAN_PROGRAM = qemu.ROOT / "build/host/kernel/sched/fair_test"
FORKS = """
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	int nr = 0, pid;
	while ((pid = fork()) > 0)
		nr++;
	if (pid == 0)
		pause();
	printf("%d", nr);
	return 0;
}
"""
FORK_BOMB = "bomb() { bomb | bomb & }; bomb"
MEMORY_HOG = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
	int nr = 0;
	char *mib;
	while ((mib = malloc(1 << 20)))
		memset(mib, ++nr, 1 << 20);
	printf("%d", nr);
	return 3;
}
"""
ROOT_ONLY = pytest.mark.skipif(os.getuid() != 0, reason="only root can run commands as other users")


def sandbox_of(kind: str) -> Sandbox:
    """A sandbox of this kind; skips the test if it is not available."""
    why = "" if kind == "none" else sandbox.trouble(kind)
    if why:
        pytest.skip(f"no sandbox of kind {kind} here: {why}")
    return sandbox.find(kind)


@pytest.fixture(params=("bwrap", "user"))
def box(request: pytest.FixtureRequest) -> Sandbox:
    """Each kind that confines."""
    return sandbox_of(request.param)


@pytest.fixture(params=sandbox.KINDS)
def any_box(request: pytest.FixtureRequest) -> Sandbox:
    """Each kind."""
    return sandbox_of(request.param)


@pytest.fixture
def base(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder for temporary files. pytest may close the parent of its own folders to other users at any time."""
    with tempfile.TemporaryDirectory(prefix="tidemark-test-", dir=getattr(request, "param", None)) as name:
        yield Path(name)


@pytest.fixture
def tree(base: Path) -> Path:
    """The folder that a command runs in."""
    (base / "tree").mkdir()
    return base / "tree"


WHEREVER = pytest.mark.parametrize("base", [None, files.MEMORY], indirect=True, ids=["disk", "memory"])


def sh(box: Sandbox, tree: Path, script: str, writable: tuple[Path, ...] = (), limit_s: float = 10) -> tuple:
    """Runs a line of shell in the tree; returns (status, output, errors)."""
    status, out, err = box.run(["sh", "-c", script], tree, b"", writable, limit_s)
    return status, out.decode(), err.decode()


def compiled(folder: Path, source: str) -> str:
    """A C program, built into `folder`; returns its name."""
    subprocess.run(["cc", "-w", "-o", folder / "program", "-x", "c", "-"], input=source, text=True, check=True)
    return str(folder / "program")


def running(marker: str) -> list[str]:
    """Processes whose command line has the marker."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        found += [line] if marker in line and "pytest" not in line else []
    return found


@ROOT_ONLY
def test_root_has_a_kind_that_confines() -> None:
    assert sandbox.find().kind in ("bwrap", "user")


def test_command_gets_input_and_gives_output_and_status(any_box: Sandbox, tree: Path) -> None:
    command = ["sh", "-c", "cat; echo bad >&2; exit 3"]
    assert any_box.run(command, tree, b"given\0\n" * 50_000, (), 10) == (3, b"given\0\n" * 50_000, b"bad\n")


def test_signal_is_a_negative_status_in_every_kind(any_box: Sandbox, tree: Path) -> None:
    assert sh(any_box, tree, "kill -SEGV $$")[0] == -signal.SIGSEGV
    assert sh(any_box, tree, "exit 255")[0] == 255


def test_environment_of_the_grader_is_not_seen(any_box: Sandbox, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", "hunter2")
    _, out, _ = sh(any_box, tree, "env")
    assert "hunter2" not in out and "HOME=/tmp" in out


@WHEREVER
def test_secret_cannot_be_read(box: Sandbox, tree: Path, base: Path) -> None:
    secret = base / "secret"
    secret.mkdir(mode=0o700)
    (secret / "clock.toml").write_text("hidden")
    status, out, _ = sh(box, tree, f"cat {secret}/clock.toml; ls {secret}; cat ../secret/clock.toml")
    assert status != 0 and out == ""


@WHEREVER
def test_namespace_holds_nothing_beside_the_tree(tree: Path, base: Path) -> None:
    (base / "ada.zip").write_text("another submission, which everybody may read")
    base.chmod(0o755)
    status, out, _ = sh(sandbox_of("bwrap"), tree, f"ls -A {base} {qemu.ROOT}; cat {base}/ada.zip")
    assert status != 0
    assert "ada.zip" not in out and "kernel" not in out


@WHEREVER
def test_only_writable_folders_can_be_written(box: Sandbox, tree: Path, base: Path) -> None:
    (tree / "Makefile").write_text("all:")
    (tree / "out").mkdir()
    (tree / "out/old").write_text("before")
    (base / "grade.json").write_text("20/20")
    (base / "grade.json").chmod(0o644)
    attempts = ["out/old", "out/new", "Makefile", "new", "/etc/profile", "/new", "/usr/new"]
    script = "; ".join(f"echo x >{path} && echo {path}" for path in attempts)
    _, out, _ = sh(box, tree, script, writable=(tree / "out",))
    assert out.split() == ["out/old", "out/new"]
    assert (tree / "out/new").read_text() == "x\n" and (tree / "out/new").stat().st_uid == os.getuid()


@WHEREVER
def test_file_beside_the_tree_stays(box: Sandbox, tree: Path, base: Path) -> None:
    """In a namespace, the folders above the tree exist only in its own memory: an ordinary user, who owns them there,
    may write to them, but the result is neither in the real folders nor in the next namespace."""
    (base / "grade.json").write_text("20/20")
    (base / "grade.json").chmod(0o644)
    sh(box, tree, f"rm -f {base}/grade.json; echo 0/20 >{base}/grade.json; echo x >{base}/more; mv {base} {base}.old")
    assert (base / "grade.json").read_text() == "20/20"
    assert {path.name for path in base.iterdir()} == {"grade.json", "tree"}
    assert not (base.parent / f"{base.name}.old").exists()
    _, out, _ = sh(box, tree, f"cat {base}/grade.json {base}/more")
    assert out == ("20/20" if box.kind == "user" else "")
    assert (base / "grade.json").read_text() == "20/20"


@WHEREVER
def test_make_writes_its_tree_and_the_next_run_cannot(box: Sandbox, tree: Path) -> None:
    (tree / "Makefile").write_text("out: in\n\tcp in out\n")
    (tree / "in").write_text("in")
    status, _, err = box.run(["make", "out"], tree, b"", (tree,), 10)
    assert (status, err) == (0, b"")
    status, out, _ = sh(box, tree, "cat out; echo changed >out")
    assert status != 0 and out == "in" and (tree / "out").read_text() == "in"


def test_files_in_tmp_do_not_stay(box: Sandbox, tree: Path) -> None:
    name = f"left-{os.getpid()}"
    assert sh(box, tree, f"echo x >/tmp/{name} && mkdir -p /dev/shm/{name}/{name} && ln -s / /var/tmp/{name}.2")[0] == 0
    left = [f"/tmp/{name}", f"/dev/shm/{name}", f"/var/tmp/{name}.2"]
    assert not any(map(os.path.lexists, left))


def test_network_cannot_be_reached(tree: Path) -> None:
    connect = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5)"
    with socket.create_server(("127.0.0.1", 0)) as server:
        command = [sys.executable, "-c", connect, str(server.getsockname()[1])]
        subprocess.run(command, check=True)
        status, _, err = sandbox_of("bwrap").run(command, tree, b"", (), 10)
    assert status == 1 and b"Connection refused" in err


@ROOT_ONLY
def test_fork_bomb_is_bounded_and_nothing_of_it_is_left(box: Sandbox, tree: Path) -> None:
    small = replace(box, limits=replace(box.limits, processes=40))
    program = compiled(tree, FORKS)
    status, forked, _ = small.run([program], tree, b"", (), 10)
    assert status == 0 and 30 < int(forked) < 40  # a process of the previous user may remain as a zombie for a moment
    assert not running(program)
    assert sh(small, tree, FORK_BOMB)[0] in (0, 2)  # a shell ends with 2 when it cannot fork
    assert not running(FORK_BOMB)


@pytest.mark.parametrize("kind", ["bwrap", "user"])
def test_what_a_command_leaves_behind_is_ended(kind: str, tree: Path) -> None:
    marker = f"31{os.getpid()}"
    status, out, _ = sh(sandbox_of(kind), tree, f"setsid sleep {marker} & echo done")
    assert (status, out) == (0, "done\n") and not running(f"sleep {marker}")


def test_endless_output_is_cut(any_box: Sandbox, tree: Path) -> None:
    small = replace(any_box, limits=replace(any_box.limits, output=100_000))
    status, out, err = sh(small, tree, "yes")
    assert (status, out, err) == (supervise.STOPPED, "y\n" * 50_000, "it printed more than 97 KiB\n")
    status, out, _ = sh(small, tree, "yes | head -c 100000")
    assert (status, len(out)) == (0, 100_000)


def test_endless_loop_ends_by_its_limit_of_processor_time(
    any_box: Sandbox, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop does not end earlier because the command's other processes sleep."""
    monkeypatch.setattr(supervise, "LOOK_EVERY_S", 0.05)
    drowsy = replace(any_box, limits=replace(any_box.limits, asleep_s=0.25))
    assert sh(drowsy, tree, "sleep 1000 & while :; do :; done", limit_s=1)[0] == -signal.SIGXCPU


@pytest.mark.soak
def test_who_ignores_the_limit_of_processor_time_is_killed(tree: Path) -> None:
    stubborn = "trap '' XCPU; while :; do :; done"
    assert sh(sandbox_of("none"), tree, stubborn, limit_s=1)[0] == -signal.SIGKILL


def test_endless_wait_ends_by_the_clock(any_box: Sandbox, tree: Path) -> None:
    hasty = replace(any_box, limits=replace(any_box.limits, wall=0.0, spare_s=0.5))
    assert sh(hasty, tree, "sleep 1000") == (supervise.STOPPED, "", "it took more than 0.5 s\n")
    silent = "exec >&- 2>&-; exec sleep 1000"
    assert sh(hasty, tree, silent) == (supervise.STOPPED, "", "it took more than 0.5 s\n")


def test_what_sleeps_for_long_is_ended(any_box: Sandbox, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervise, "LOOK_EVERY_S", 0.05)
    drowsy = replace(any_box, limits=replace(any_box.limits, asleep_s=0.25))
    said = "it did nothing for 0.25 s: it waits for what does not come\n"
    assert sh(drowsy, tree, "sleep 1000 | cat") == (supervise.STOPPED, "", said)


@pytest.mark.parametrize("device", ["ptmx", "stderr", "stdin"])
def test_including_a_device_ends(device: str, any_box: Sandbox, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervise, "LOOK_EVERY_S", 0.05)
    drowsy = replace(any_box, limits=replace(any_box.limits, asleep_s=0.25))
    (tree / "x.c").write_text(f'#include "/dev/{device}"\n')
    status, _, err = drowsy.run(["cc", "-fsyntax-only", "x.c"], tree, b"int", (), 10)
    assert status == 1 or "it waits for what does not come" in err.decode()


def test_memory_hog_gets_its_limit_and_no_more(any_box: Sandbox, tree: Path) -> None:
    small = replace(any_box, limits=replace(any_box.limits, memory=100 << 20))
    status, out, _ = small.run([compiled(tree, MEMORY_HOG)], tree, b"", (), 10)
    assert status == 3 and 80 < int(out) <= 100


def test_large_file_and_full_folder_end_a_command(
    any_box: Sandbox, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervise, "LOOK_EVERY_S", 0.05)
    limits = replace(any_box.limits, file=1 << 20, disk=4 << 20, disk_files=500)
    small = replace(any_box, limits=limits)
    write = "dd if=/dev/zero of={} bs=64k status=none"
    assert sh(small, tree, f"exec {write.format('one')}", (tree,))[0] == -signal.SIGXFSZ
    many = f"i=0; while :; do {write.format('f$i')} count=15; i=$((i+1)); done"
    status, _, err = sh(small, tree, many, (tree,))
    assert (status, err) == (supervise.STOPPED, "it filled its folder with more than 4 MiB\n")
    shutil.rmtree(tree)
    tree.mkdir()
    status, _, err = sh(small, tree, "i=0; while :; do : >f$i; i=$((i+1)); done", (tree,))
    assert (status, err) == (supervise.STOPPED, "it filled its folder with more than 500 files\n")


def test_32_bit_program_under_address_sanitizer_runs(any_box: Sandbox, tree: Path) -> None:
    if not ASAN_PROGRAM.exists():
        pytest.skip(f"{ASAN_PROGRAM} has not been built: `make check` does it")
    shutil.copy(ASAN_PROGRAM, tree)
    status, out, err = any_box.run(["./fair_test"], tree, b"", (), 60)
    assert status == 0 and "ok 1 fair" in out.decode(), err.decode()


def test_qemu_boots_and_writes_its_console(any_box: Sandbox, tree: Path) -> None:
    (tree / "build").mkdir()
    for name in (qemu.KERNEL, qemu.INITRD):
        shutil.copy(qemu.ROOT / name, tree / name)
    console = tree / "console"
    console.touch()
    prefix = tuple(any_box.prefix(tree, [tree], 60))
    run = qemu.Settings(run="echo hello", mem="64M", image=tree, prefix=prefix)
    assert qemu.unattended(run, console, lambda: None) == (qemu.OK, 33)
    assert "hello" in console.read_text()


def test_command_ends_with_who_started_it(any_box: Sandbox, tree: Path) -> None:
    marker = f"32{os.getpid()}"
    command = [*any_box.prefix(tree, [], 60), "sleep", marker]
    start = f"import subprocess; subprocess.Popen({command!r}).wait()"
    parent = subprocess.Popen([sys.executable, "-c", start])
    wait_until(lambda: any(line.startswith(f"sleep {marker}") for line in running(marker)))
    parent.kill()
    parent.wait()
    wait_until(lambda: not running(f"sleep {marker}"))


def test_users_are_given_to_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    first = 10 * os.getpid() + 1_000_000
    monkeypatch.setattr(users, "NUMBERS", range(first, first + 2))
    one, other = users.claim(), users.claim()
    assert (one.number, other.number) == (first, first + 1)
    with pytest.raises(LabError, match=f"all users from {first} to {first + 1} are in use"):
        users.claim()
    other.held.close()
    with users.claimed() as third:
        assert third.number == first + 1


@ROOT_ONLY
def test_who_is_not_root_has_a_sandbox(tree: Path) -> None:
    script = (
        "from pathlib import Path; from tidemark.grade.build import sandbox; box = sandbox.find(); "
        "print(box.kind, box.run(['sh', '-c', 'id -u; ls /root || touch /new'], Path('.'), b'', (), 10)[:2]); "
        "small = sandbox.Sandbox(box.kind, limits=sandbox.Limits(processes=30)); "
        "print(small.run(['./program'], Path('.'), b'', (), 10)[:2])"
    )
    python, number = "/usr/bin/python3", 60000
    command = ["setpriv", f"--reuid={number}", f"--regid={number}", "--clear-groups", python, "-c", script]
    if not Path(python).exists() or subprocess.run([*command[:4], "test", "-r", sandbox.__file__]).returncode:
        pytest.skip("another user cannot read this tree, or there is no Python for it")
    compiled(tree, FORKS)
    for path in (tree, *tree.parents):
        if path.stat().st_uid == 0 and Path("/tmp") in path.parents:
            path.chmod(0o755)
    env = {**os.environ, "PYTHONPATH": str(qemu.ROOT / "tools"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=tree, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    first, forked = done.stdout.splitlines()
    assert first in [f"{kind} (1, b'{number}\\n')" for kind in ("bwrap", "none")]
    assert re.fullmatch(r"\(0, b'\d\d'\)", forked)


@ROOT_ONLY
def test_folder_that_cannot_be_entered_is_named(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    box = sandbox_of("user")
    (base / "tree").mkdir()
    base.chmod(0o700)
    monkeypatch.setattr(users.tempfile, "gettempdir", lambda: "/var/empty")
    with pytest.raises(LabError, match=f"{base} cannot be entered"):
        box.run(["true"], base / "tree", b"", (), 10)


@pytest.fixture
def without_bwrap(base: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine that forbids namespaces, as containers do."""
    stand_in = base / "bin/bwrap"
    stand_in.parent.mkdir()
    stand_in.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{stand_in.parent}:{os.environ['PATH']}")
    sandbox.trouble.cache_clear()
    sandbox.bwrap_has_size.cache_clear()
    yield
    sandbox.trouble.cache_clear()
    sandbox.bwrap_has_size.cache_clear()


@pytest.mark.usefixtures("without_bwrap")
def test_next_best_is_taken_and_said(capsys: pytest.CaptureFixture, tree: Path) -> None:
    found = sandbox.best()
    assert found.kind == ("user" if os.getuid() == 0 else "none")
    said = capsys.readouterr().err
    assert said.startswith("tidemark: students' code runs") and said.count("\n") == 1
    assert "No permissions to create new namespace" in said
    assert found.run(["echo", "works"], tree, b"", (), 10) == (0, b"works\n", b"")
    with pytest.raises(LabError, match="--sandbox bwrap does not work here: bwrap: No permissions") as caught:
        sandbox.choose("bwrap")
    assert caught.value.code == NO_TOOL


def test_best_kind_has_nothing_to_say(capsys: pytest.CaptureFixture) -> None:
    sandbox_of("bwrap")
    assert sandbox.best().kind == "bwrap"
    assert capsys.readouterr().err == ""


def test_unknown_kind_is_refused() -> None:
    with pytest.raises(LabError, match="--sandbox jail: there are auto, bwrap, user, none") as caught:
        sandbox.choose("jail")
    assert caught.value.code == USAGE
