"""The make targets and variables, as typed in a shell."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from guest import boot, first_miss, parse_summary
from making import make
from tidemark.machine import qemu
from tidemark.telemetry import stream

POLICIES = sorted(
    path.stem
    for path in qemu.ROOT.glob("kernel/mm/policy/*.c")
    if not path.stem.endswith(("_test", "_ktest", "TEMPLATE"))
)
FOR_EVER = 10**6  # seconds of machine time; even in virtual time this takes the host hours
GRUB = all(map(shutil.which, ("grub-mkrescue", "xorriso", "mformat"))) and Path("/usr/lib/grub/i386-pc").is_dir()


def phony_targets() -> list[str]:
    text = (qemu.ROOT / "Makefile").read_text()
    names = " ".join(re.findall(r"(?m)^\.PHONY:(.*)$", text)).split()
    return [name for name in names if name not in ("all", "files", "test-base", "check-base")]


def test_help_lists_every_target_and_variable() -> None:
    text = make("help").stdout
    assert [name for name in phony_targets() if f"make {name}" not in text] == []
    assert [name for name in qemu.DEFAULTS if f"  {name}=" not in text] == []
    assert f"  VM={qemu.Settings().vm} " in text and f"  TIMEOUT={qemu.Settings().timeout:g} " in text


def test_reference_has_the_table_of_variables() -> None:
    made = subprocess.run(
        [
            "awk",
            "-v",
            "markdown=1",
            "-f",
            "tools/tidemark/machine/variables.awk",
            "tools/tidemark/machine/variables.txt",
        ],
        cwd=qemu.ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert made.stdout in (qemu.ROOT / "docs/reference/variables.md").read_text()


@pytest.mark.parametrize("name", ["Makefile", "tools/build.mk"])
def test_makefiles_stay_short(name: str) -> None:
    assert len((qemu.ROOT / name).read_text().splitlines()) < 180


def test_doctor_is_content_where_the_tests_run() -> None:
    result = make("doctor")
    assert result.returncode == 0, result.stdout
    assert "BAD" not in result.stdout


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("MEM=lots", "MEM=lots is not a size"),
        ("EXACT=yes", "EXACT=yes"),
        pytest.param("FRAMES=few", "FRAMES=few is not a whole number", marks=pytest.mark.soak),
        pytest.param("SEED=0x1", "SEED=0x1 is not a whole number", marks=pytest.mark.soak),
        pytest.param(f"RUN={'a' * 3000}", "1023 bytes at most", marks=pytest.mark.soak),
        ("TELEMETRY=/nosuch/file", "TELEMETRY=/nosuch/file: there is no such folder"),
        ("TELEMETRY=/tmp", "TELEMETRY=/tmp: it is a folder"),
        ("EXTRA=nosuch", "EXTRA=nosuch: there is no file nosuch"),
        pytest.param("SWAP=sim:hdd,size=big", "SWAP size=big is not a size", marks=pytest.mark.soak),
        ("VM=2 q", "VM=2 q may not contain blanks"),
        pytest.param('RUN=echo "a b"', "RUN may not contain a double quote", marks=pytest.mark.soak),
        ("MEMORY=24M", "unknown variable MEMORY"),
        ("MEMORY=$(shell touch {called})", "unknown variable MEMORY"),
        ("INSTALL=perhaps", "INSTALL=perhaps: it is yes or no"),
        pytest.param("VM=2q\nfifo", "VM may not contain control characters", marks=pytest.mark.soak),
        ("QEMUFLAGS='-d", "QEMUFLAGS='-d: a quote is not closed"),
        ("EXTRA=$(touch {called})", "it may not contain $"),
        ("EXTRA=`touch {called}`", "it may not contain `"),
        ("EXTRA=a; touch {called}", "it may not contain ;"),
        ("EXTRA=a\ntouch {called}", "EXTRA may not contain the end of a line"),
        ("CC=gcc' -m32", "it may not contain '"),
        ("MUSL_FROM=source|package", "it may not contain |"),
    ],
)
def test_bad_setting_is_explained(setting: str, said: str, tmp_path: Path) -> None:
    called = tmp_path / "called"
    result = make("qemu", setting.format(called=called))
    assert result.returncode != 0
    assert said in result.stderr
    assert not called.exists()


def test_unknown_target_is_told_where_the_list_is() -> None:
    result = make("nosuch")
    assert result.returncode != 0 and "there is no target nosuch; `make help`" in result.stderr


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("echo it\\'s", "it's"),
        pytest.param("echo 'a  b' $HOME $?", "a  b / 0", marks=pytest.mark.soak),
        ("echo '$(shell touch {called})'", "$(shell touch {called})"),
        pytest.param(
            "echo '$$(touch {called})' `touch {called}`", "$$(touch {called}) `touch {called}`", marks=pytest.mark.soak
        ),
        pytest.param("echo one\necho two", "two", marks=pytest.mark.soak),
        ("echo größer ±", "größer ±"),
    ],
)
def test_what_is_typed_arrives(command: str, printed: str, tmp_path: Path) -> None:
    """Neither make nor a shell of the host interprets the content of a variable."""
    called = tmp_path / "called"
    result = make("qemu", "RUN=" + command.format(called=called))
    assert printed.format(called=called) in result.stdout.splitlines(), result.stdout
    assert not called.exists()


def test_a_goal_is_only_a_name(tmp_path: Path) -> None:
    called = tmp_path / "called"
    result = make(f"all;touch {called}")
    assert "there is no target" in result.stderr and not called.exists()


@pytest.mark.parametrize(
    ("settings", "mib"),
    [
        (qemu.Settings(), 64 + 128 + 4),
        (qemu.Settings(mem="24M", swap="sim:ssd,size=64M"), 24 + 64 + 4),
        (qemu.Settings(mem="8192K", swap="none"), 8 + 4),
    ],
)
def test_machine_holds_memory_and_the_modelled_disk(settings: qemu.Settings, mib: int) -> None:
    assert qemu.machine_mib(settings) == mib


def test_run_sets_the_exit_status() -> None:
    assert make("qemu", "RUN=true").returncode == 0
    failed = make("qemu", "RUN=false")
    assert failed.returncode != 0 and "the command failed" in failed.stderr


def test_timeout_ends_the_run_and_says_so() -> None:
    result = make("qemu", f"RUN=sleep {FOR_EVER}", "TIMEOUT=1")
    assert "no end after" in result.stderr, f"{result.stdout}\n{result.stderr}"
    assert result.returncode != 0


def test_waiting_for_a_key_nobody_can_press_is_a_hang() -> None:
    result = make("qemu", "RUN=cat")
    assert "nothing is left that could wake one" in result.stdout
    assert "hung" in result.stderr and result.returncode != 0


def test_interrupt_ends_qemu_and_keeps_what_was_written(tmp_path: Path) -> None:
    kept = tmp_path / "with blank, and comma.ndjson"
    command = [sys.executable, "-m", "tidemark.machine.qemu"]
    settings = {"RUN": f"echo begun; sleep {FOR_EVER}", "TELEMETRY": str(kept)}
    process = subprocess.Popen(
        command,
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background inherits "ignored"
    )
    for line in process.stdout:
        if "begun" in line:
            break
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130, errors
    assert "stopped" in errors
    assert '"schema"' in kept.read_text()


def test_telemetry_is_kept_where_asked(tmp_path: Path) -> None:
    kept = tmp_path / "run.ndjson"
    assert make("qemu", "RUN=true", f"TELEMETRY={kept}").returncode == 0
    assert stream.read(kept).whole


def test_second_build_has_nothing_to_do() -> None:
    """And the image is byte for byte the same after its parts are built again."""
    before = (qemu.ROOT / qemu.INITRD).read_bytes()
    result = make()
    assert result.returncode == 0, result.stderr
    assert "CC" not in result.stdout and "LD" not in result.stdout
    assert (qemu.ROOT / qemu.INITRD).read_bytes() == before


def test_function_names_are_in_the_kernel() -> None:
    """The table for backtraces lists every function, in the order of its address."""
    nm = next(filter(None, map(shutil.which, ("nm", "i686-linux-gnu-nm", "i686-elf-nm"))))
    names = subprocess.run([nm, "-n", qemu.ROOT / qemu.KERNEL], capture_output=True, text=True, check=True).stdout
    text = [line.split()[2] for line in names.splitlines() if line.split()[1] in "tT" and line >= "c0000000"]
    table = (qemu.ROOT / "build/ksyms.S").read_text()
    listed = re.findall(r'\.asciz "(.*)"', table)
    assert listed == [name for name in text if name not in ("__text_start", "__text_end")]
    assert len(listed) > 50


@pytest.mark.skipif(not GRUB, reason="no grub-mkrescue, xorriso, mtools")
def test_iso_boots_through_grub() -> None:
    result = make("iso", "RUN=echo from grub")
    assert result.returncode == 0, result.stderr
    boot("", iso=True).check_exit().check_lines(["^policy: 2q,", "^from grub$"])


def test_menu_has_an_entry_for_each_policy() -> None:
    import mkiso

    text = mkiso.menu(qemu.Settings(run="thrash 4 8192"), POLICIES)
    for policy in POLICIES:
        assert f"--id {policy} {{" in text and f"'vm={policy}'" in text
    assert f"set default={POLICIES.index('2q')}\n" in text
    assert "'run=thrash 4 8192'" in text


def test_summary_rows_are_read_by_column() -> None:
    console = "noise\n pid command turnaround\n   4 thrash 1.25\n   5 thrash 1.50\n\n6 no row\n"
    assert [row["turnaround"] for row in parse_summary(console)] == ["1.25", "1.50"]


def test_miss_shows_the_lines_where_it_was_due() -> None:
    text = first_miss("one\ntwo\nthree\n", ["one", "nothing"])
    assert "'nothing'" in text and "two" in text
    assert first_miss("one\ntwo\nthree\n", ["one", "three"]) is None
