"""Swap on a disk that QEMU emulates (swap=hda): it keeps every page, its errors affect only users of the page, and an
unusable disk is refused. Such runs do not repeat, so nothing here depends on times or on counts."""

from __future__ import annotations

import io
import re
import shlex
from pathlib import Path

import pytest
from guest import Result, boot, settings
from soak import soak_but
from tidemark.machine import qemu

CHECK = "cat /proc/vm/check"
POLICIES = ("fifo", "clock", "2q", "ws")
SECTOR = 512
BAD_SECTOR = 4000  # of a page that is swapped out while the processes fill their memory


def boot_with_drive(command: str, *drives: str, flags: str = "", exact: bool = False, **machine: str) -> Result:
    """Runs `command` with swap=hda on the caller's own drives."""
    options = shlex.join(word for drive in drives for word in ("-drive", drive)) + " " + flags
    made = {"mem": "12M", "swap": "none", "cmdline": "swap=hda", "qemu_flags": options} | machine
    s = settings(run=command, exact=exact, timeout=120, **made)
    console = io.BytesIO()
    code, _ = qemu.run_command(s, console)
    text = console.getvalue().decode("ascii", "replace").replace("\r\n", "\n")
    return Result(code, text, command=qemu.command_line(s))


def empty_drive(size: str, index: int = 0) -> str:
    return f"if=ide,index={index},driver=null-co,read-zeroes=on,size={size},snapshot=on"


def failing_drive(folder: Path, *faults: str) -> str:
    """A disk of 64 MiB on which QEMU lets some requests fail."""
    file = Path(folder, "disk")
    with file.open("wb") as disk:
        disk.truncate(64 << 20)
    inject = "".join(f",inject-error.{i}.event=none,inject-error.{i}.{f}" for i, f in enumerate(faults))
    store = f"driver=blkdebug,image.driver=file,image.filename={file}{inject}"
    return f"if=ide,index=0,{store},cache=unsafe,werror=report,rerror=report"


def has_line(result: Result, pattern: str) -> bool:
    return re.search(pattern, result.console, re.MULTILINE) is not None


def last_sample(result: Result) -> dict:
    return [record for record in result.telemetry if record["ev"] == "sample"][-1]


def refused(result: Result, why: str) -> None:
    result.check_exit(qemu.REFUSED).check_lines([f"^command line: swap=hda: {why}"])
    assert not has_line(result, "^reached$")


# --- the disk keeps its data ---


@pytest.mark.parametrize("policy", soak_but(POLICIES, "2q"))
def test_thrashing_loses_no_page(policy: str) -> None:
    small = {"mem": "12M", "swap": "hda,size=32M", "exact": False}
    result = boot(f"thrash 6 4096 2; {CHECK}", vm=policy, **small, telemetry=True).check_exit()
    result.check_lines([r"^swap: hda, 32768 KiB; QEMU HARDDISK", r"^R thrash .*lost=0 corrupt=0", "^ok$"])
    disk = last_sample(result)["disk"]
    assert disk["reads"] > 0 and disk["writes"] > 0, disk
    assert not has_line(result, "policy violation|Out of memory"), result.tail()


@pytest.mark.parametrize("policy", soak_but(POLICIES, "ws"))
def test_torture_keeps_the_kernel_consistent(policy: str) -> None:
    """Pages lie in HighMem, which has 2 MiB, and in DMA, and are read up to 32 at once."""
    result = boot(
        f"torture 4 800 150; {CHECK}",
        vm=policy,
        mem="10M",
        frames=700,
        swap="hda",
        cmdline="lowmem=8M vm.page_cluster=5",
        exact=False,
        telemetry=True,
    ).check_exit()
    result.check_lines([r"^R torture .*corrupt=0", "^ok$"])
    counts = last_sample(result)["vm"]
    assert counts["pswpin"] > 0 and counts["pswpout"] > 0, counts


def test_second_unit_is_used_when_asked_for() -> None:
    result = boot(f"thrash 4 4096 2; {CHECK}", mem="12M", swap="hdb,size=32M", exact=False).check_exit()
    result.check_lines(["^swap: hdb, 32768 KiB", r"^R thrash .*lost=0 corrupt=0", "^ok$"])


def test_proc_swaps_and_meminfo_show_the_disk() -> None:
    result = boot("cat /proc/swaps /proc/meminfo /proc/params", swap="hda,size=48M", exact=False).check_exit()
    result.check_lines([r"^/dev/hda +partition +49148 +0 ", r"^SwapTotal: +49148 kB", r"^swap=hda\t"])


def test_telemetry_counts_its_requests() -> None:
    result = boot("thrash 4 4096 2", mem="12M", swap="hda", exact=False, telemetry=True).check_exit()
    last = last_sample(result)
    disk, pages = last["disk"], last["vm"]
    assert 0 < disk["reads"] <= pages["pswpin"] and 0 < disk["writes"] <= pages["pswpout"]
    assert 0 < disk["busy_us"] <= last["t_us"] and disk["busy_us"] <= disk["wait_us"]


@pytest.mark.soak
def test_exact_flags_do_not_break_it() -> None:
    result = boot(f"thrash 4 4096 2; {CHECK}", mem="12M", swap="hda").check_exit()
    result.check_lines([r"^R thrash .*lost=0 corrupt=0", "^ok$"])
    assert not has_line(result, "no answer"), result.tail()


def test_nothing_of_it_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    boot("thrash 4 4096 1", mem="12M", swap="hda", exact=False).check_exit()
    assert list(tmp_path.iterdir()) == []


# --- requests that fail ---


def test_bad_sector_is_a_bus_error_for_who_reads_it(tmp_path: Path) -> None:
    drive = failing_drive(tmp_path, f"iotype=read,inject-error.0.sector={BAD_SECTOR}")
    result = boot_with_drive(f"thrash 4 4096 3; {CHECK}; cat /proc/vmstat", drive).check_exit()
    result.check_lines(
        [
            r"^thrash\[\d+\]: SIGBUS at address 0x",
            r"^R thrash .*lost=[1-3] corrupt=0",
            "^ok$",
            r"^swap_read_error [1-9]",
        ]
    )


def test_page_of_a_sector_that_takes_nothing_stays(tmp_path: Path) -> None:
    drive = failing_drive(tmp_path, f"iotype=write,inject-error.0.sector={BAD_SECTOR}")
    result = boot_with_drive(f"thrash 4 4096 3; {CHECK}; cat /proc/vmstat", drive).check_exit()
    result.check_lines([r"^R thrash .*lost=0 corrupt=0", "^ok$", r"^swap_write_error [1-9]"])
    assert not has_line(result, "SIGBUS|Out of memory|policy violation"), result.tail()


def test_disk_that_takes_nothing_is_like_none(tmp_path: Path) -> None:
    result = boot_with_drive(f"thrash 4 4096 3; {CHECK}", failing_drive(tmp_path, "iotype=write")).check_exit()
    result.check_lines(["Out of memory", r"^R thrash .*corrupt=0", "^ok$"])
    assert not has_line(result, "policy violation"), result.tail()


def test_disk_without_an_answer_is_given_up() -> None:
    """Reading a page would take minutes. The guest's limit is in virtual time, and an exact run skips idle time. Under
    ws the few pages that the disk still takes are not init's, which could not go on without them."""
    drive = empty_drive("32M") + ",throttling.bps-total=64"
    result = boot_with_drive(f"thrash 4 4096 1; {CHECK}", drive, exact=True, vm="ws").check_exit()
    result.check_lines([r"^hda: no answer for 30 s: given up", r"^R thrash .*corrupt=0", "^ok$"])


# --- disks that cannot be used ---


def test_missing_disk_is_refused() -> None:
    refused(boot_with_drive("echo reached"), "there is no disk hda; swap=sim:hdd")


def test_missing_disk_is_refused_with_the_one_that_is_there() -> None:
    refused(boot_with_drive("echo reached", empty_drive("16M", index=1)), "there is no disk hda, but hdb, 16384 KiB")


def test_cdrom_is_no_disk() -> None:
    refused(boot_with_drive("echo reached", "if=ide,index=0,media=cdrom"), "there is no disk hda")


def test_machine_without_a_controller_is_refused() -> None:
    refused(boot_with_drive("echo reached", flags="-machine isapc"), "there is no disk hda")


@pytest.mark.parametrize("size", soak_but([0, SECTOR, 4096, 8192 - SECTOR], 0, 8192 - SECTOR))
def test_disk_without_room_for_a_page_is_refused(size: int) -> None:
    refused(boot_with_drive("echo reached", empty_drive(str(size))), rf"{size // 1024} KiB, but two pages")


@pytest.mark.soak
def test_disk_of_one_usable_page_is_a_swap_area() -> None:
    """The area's other page, the first one, is never used. A process that needs more memory than there is gets killed,
    as always."""
    result = boot_with_drive(f"cat /proc/swaps; thrash 4 4096 1; {CHECK}", empty_drive("8K")).check_exit()
    result.check_lines([r"^/dev/hda +partition +4 ", "Out of memory", r"^R thrash .*corrupt=0", "^ok$"])


def test_truncated_disk_is_used_up_to_its_last_whole_page() -> None:
    result = boot_with_drive("cat /proc/swaps", empty_drive(str((1 << 20) + 7 * SECTOR))).check_exit()
    result.check_lines([r"^/dev/hda +partition +1020 "])


# --- the setting ---


@pytest.mark.parametrize("swap", ["hda,seek=1", "hda,64M", "hdb,size=", "hda,size=1X"])
def test_setting_that_makes_no_sense_is_refused(swap: str) -> None:
    with pytest.raises(qemu.BadSetting, match="SWAP"):
        qemu.qemu_command(settings(swap=swap))


def test_disk_needs_no_memory_above_that_of_the_kernel() -> None:
    assert qemu.machine_mib(settings(swap="hda,size=1G")) == qemu.machine_mib(settings(swap="none"))
