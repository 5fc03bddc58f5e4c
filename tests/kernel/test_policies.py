"""Policies in the kernel: correct ones, ones that break the rules, and switching between them."""

from __future__ import annotations

import itertools
import os
import re
import signal
import time

import pytest
from bad_kernels import bad, bad_kernel  # noqa: F401  (fixtures)
from guest import Guest, Result, boot
from soak import soak_but
from tidemark.machine import qemu
from tidemark.strings import vmsim

POLICIES = sorted(
    path.stem
    for path in qemu.ROOT.glob("kernel/mm/policy/*.c")
    if not path.stem.endswith(("_test", "_ktest", "TEMPLATE"))
    and path.stem not in vmsim.WITH_FUTURE  # they need the run's own future: test_min.py, lab/test_foresight.py
)
SWITCH = "/proc/sys/vm/policy"
CHECK = "cat /proc/vm/check"
BELADY = "refstring 1 2 3 4 1 2 5 1 2 3 4 5"
THRASH = "thrash 6 2048 2"
SMALL = {"mem": "8M", "swap": "sim:ssd"}

# More than fits into memory, some three times as much.
WORKLOADS = {
    "thrash": THRASH,
    "seqscan": "seqscan 12288 2 w",
    "phase": "phase 12288 2048 4 4000",
    "btree": "btree 12288 3000",
    "cow": "cow 4 4096 3000",
    "grow": "grow 10240 2",
}


USUAL = ("2q", "ws")  # `make check` tries these on everything; `make soak` tries all
TURNS = tuple(zip(itertools.cycle(USUAL), WORKLOADS))


def lines(result: Result, pattern: str) -> list[str]:
    return [line for line in result.console.splitlines() if re.search(pattern, line)]


def expect_sound(result: Result, checks: int = 1) -> None:
    """Checks that nothing was lost: every workload found its data, every /proc/vm/check said ok, no policy broke a
    rule."""
    result.check_exit()
    assert lines(result, r"^R .*corrupt=") and not lines(result, r"corrupt=[1-9]"), result.tail()
    assert len(lines(result, r"^ok$")) == checks, result.tail()


# --- the policies of the kernel ---


def test_data_survive_paging_under_each_in_turn() -> None:
    """In one machine; each policy takes over the pages of the previous one."""
    read_back = 0
    with Guest(vm="clock", **SMALL) as guest:
        for policy in POLICIES:
            said = guest.sh(f"echo {policy} >{SWITCH}; thrash 3 2048 1; {CHECK}; cat {SWITCH} /proc/vmstat")
            assert "corrupt=0" in said and re.search(r"(?m)^ok$", said) and f"[{policy}]" in said, said
            pages_in = int(re.search(r"pswpin (\d+)", said)[1])
            assert pages_in > read_back, said
            read_back = pages_in


@pytest.mark.parametrize(("policy", "workload"), soak_but(itertools.product(POLICIES, WORKLOADS), *TURNS))
def test_data_survive_paging(policy: str, workload: str) -> None:
    result = boot(f"{WORKLOADS[workload]}; {CHECK}", vm=policy, telemetry=True, **SMALL)
    expect_sound(result)
    assert not lines(result, "policy violation"), result.tail()
    assert [record for record in result.telemetry if record["ev"] == "sample"][-1]["vm"]["pswpin"] > 0


@pytest.mark.parametrize("policy", soak_but(POLICIES, *USUAL))
def test_data_survive_in_all_zones(policy: str) -> None:
    """16 MiB each of DMA and NORMAL, 32 MiB of HIGHMEM; kernel memory must come from the first two."""
    result = boot(
        f"thrash 5 16384 1; {CHECK}; cat /proc/zoneinfo", vm=policy, mem="64M", swap="sim:ssd", cmdline="lowmem=32M"
    )
    expect_sound(result)
    assert not lines(result, "policy violation"), result.tail()
    allocated = [int(line.split()[1]) for line in lines(result, r"^  allocated ")]
    reclaimed = [int(line.split()[1]) for line in lines(result, r"^  reclaimed ")]
    assert len(allocated) == 3 and min(allocated) > 1000, allocated
    assert sum(reclaimed) > 3000, reclaimed


@pytest.mark.parametrize("policy", soak_but(POLICIES, "ws"))
def test_few_frames_and_many_processes(policy: str) -> None:
    """Most pages are being read or written at any moment; no policy may be blamed for having no page to give."""
    result = boot(f"thrash 12 512 2; {CHECK}", vm=policy, frames=40, mem="32M", swap="sim:ssd")
    expect_sound(result)
    assert not lines(result, "policy violation"), result.tail()


@pytest.mark.parametrize(("frames", "faults"), [(3, 9), (4, 10)])
def test_fifo_has_beladys_anomaly(frames: int, faults: int) -> None:
    boot(BELADY, vm="fifo", frames=frames).check_exit().check_lines([rf"^faults: {faults}$"])


@pytest.mark.parametrize("policy", soak_but(POLICIES, "ws"))
def test_exact_runs_repeat(policy: str) -> None:
    first, second = (boot(f"{THRASH}; {CHECK}", vm=policy, telemetry=True, **SMALL).check_exit() for _ in range(2))
    assert first.console == second.console
    assert first.raw_telemetry == second.raw_telemetry


def test_switching_while_it_pages_loses_nothing() -> None:
    switches = "".join(f"echo {policy}>{SWITCH};sleep .02;" for policy in ("ws", "fifo", "clock", "2q") * 2)
    result = boot(f"thrash 6 2048 4& {switches}wait;{CHECK} {SWITCH}", vm="2q", telemetry=True, **SMALL)
    expect_sound(result)
    assert not lines(result, "policy violation"), result.tail()
    names = [record["name"] for record in result.telemetry if record["ev"] == "policy"]
    assert names == ["ws", "fifo", "clock", "2q"] * 2
    result.check_lines([r"\[2q\]"])


def test_linux22_rescues_pages_that_it_unmapped() -> None:
    """Also while programs share pages after a fork, and others lock theirs; a switch hands the unmapped pages over."""
    run = f"thrash 8 4096 3; cow 4 6144 2000; cat /proc/vm/policy; {CHECK}; hog --lock 4096 1 & {THRASH}; wait"
    for policy in "ws", "linux22":
        run += f"; echo {policy} >{SWITCH}; {THRASH}; {CHECK}"
    result = boot(run, vm="linux22", mem="16M")
    expect_sound(result, 3)
    unmapped, rescued = (int(lines(result, f"^{name}: ")[0].split()[1]) for name in ("unmapped", "rescued"))
    assert unmapped > 3000 and 0 < rescued < unmapped


def test_unknown_policy_is_refused() -> None:
    result = boot(f"echo nosuch >{SWITCH}; echo status $?; cat {SWITCH}", vm="clock").check_exit()
    result.check_lines(["Invalid argument", "^status 1$", r"\[clock\]"])
    boot("true", vm="nosuch").check_exit(qemu.REFUSED).check_lines([r"valid: \w+(\|\w+)+$"])


# --- policies that break the rules: tests/kernel/policies, in a kernel of their own ---


@pytest.mark.usefixtures("bad")
@pytest.mark.parametrize("policy", soak_but(["quiet", "mine"], "mine"))
def test_policy_in_one_file_is_enough(policy: str) -> None:
    """A new file in kernel/mm/policy is a policy: TEMPLATE.c with another name, and the base of the faulty ones."""
    result = boot(f"{THRASH}; {CHECK}; cat {SWITCH}", vm=policy, **SMALL)
    expect_sound(result)
    assert not lines(result, "policy violation"), result.tail()
    result.check_lines([rf"\[{policy}\]"])


BROKEN_RULES = {
    "foreign": ("select", "does not own"),
    "nowhere": ("select", "not a page"),
    "twice": ("select", "same page twice"),
    "never": ("none", "gave nothing"),
    "miscount": ("count", "holds"),
    "broken": ("lists", "broken"),
    "ineligible": ("select", "not eligible"),
    "loser": ("count", "holds"),
    "slow": ("time", "hook insert took"),
    "slowshow": ("time", "hook show took"),
    "detacher": ("none", "none of them to evict"),
    "endless": ("none", "none of them to evict"),
    "ticker": ("time", "always asks to be called again"),
    "dropper": ("count", "holds"),
    "slowmove": ("time", "hook moved took"),
}
LIKE_OTHERS = {"nowhere", "loser", "slowshow", "endless"}


@pytest.mark.usefixtures("bad")
@pytest.mark.parametrize("policy", soak_but(BROKEN_RULES, *set(BROKEN_RULES) - LIKE_OTHERS))
def test_broken_rule_is_named_and_fifo_goes_on(policy: str) -> None:
    rule, said = BROKEN_RULES[policy]
    run = f"{THRASH}; {CHECK}; cat {SWITCH}; echo {policy} >{SWITCH}; {CHECK}"
    result = boot(run, vm=policy, telemetry=True, **SMALL)
    result.check_lines(
        [
            rf"policy violation: policy={policy} rule={rule}: .*{said}",
            rf"policy {policy} is switched off; fifo goes on",
            r"^R thrash .*corrupt=0",
            r"\[fifo\]",
            "Operation not permitted",
        ]
    )
    assert len(lines(result, "^ok$")) == 2 and not lines(result, "^panic"), result.tail()
    events = [record for record in result.telemetry if record["ev"] == "violation"]
    assert [(event["policy"], event["rule"]) for event in events] == [(policy, rule)]


@pytest.mark.usefixtures("bad")
def test_ghost_lives_until_insert_has_named_it() -> None:
    """Swap is more than half full, so that a page that is swapped in frees its slot at once."""
    run = "seqscan 18432 5; cat /proc/vm/policy"
    result = boot(run, vm="probe", mem="16M", swap="sim:ssd,size=24M").check_exit()
    assert int(lines(result, "^refaults: ")[0].split()[1]) > 5000
    result.check_lines(["^forgotten_first: 0$"])


@pytest.mark.usefixtures("bad")
def test_policy_hears_what_is_not_needed() -> None:
    """Also of shared memory, which is not freed when a program says so."""
    boot("shm; cat /proc/vm/policy", vm="probe").check_exit().check_lines(["^not_needed: [1-9]"])


@pytest.mark.usefixtures("bad")
def test_each_policy_that_breaks_a_rule_is_switched_off() -> None:
    result = boot(f"{THRASH}; echo broken >{SWITCH}; {THRASH}; cat {SWITCH}; {CHECK}", vm="twice", **SMALL)
    expect_sound(result)
    result.check_lines([f"policy {name} is switched off; fifo goes on" for name in ("twice", "broken")])
    result.check_lines([r"\[fifo\]"])


@pytest.mark.usefixtures("bad")
def test_pages_that_stay_in_use_are_waited_for_and_then_somebody_is_killed() -> None:
    """After a second of waiting. No policy is to blame, and the machine continues."""
    command = f"{THRASH}; echo holder >{SWITCH}; hog 16384 1; cat /proc/uptime; echo fifo >{SWITCH}; {THRASH}; {CHECK}"
    result = boot(command, vm="fifo", **SMALL)
    expect_sound(result)
    assert len(lines(result, "^Out of memory: .*hog")) == 1 and not lines(result, "violation"), result.tail()


@pytest.mark.usefixtures("bad")
def test_rule_broken_in_the_middle_of_a_switch() -> None:
    result = boot(f"{THRASH}; echo slow >{SWITCH}; cat {SWITCH}; {CHECK}; {THRASH}; {CHECK}", vm="ws", **SMALL)
    expect_sound(result, checks=2)
    result.check_lines(["policy=slow rule=time", r"\[fifo\]"])


@pytest.mark.usefixtures("bad")
def test_time_that_the_host_takes_is_not_a_hooks() -> None:
    """QEMU is stopped for a second, three times, while its clock, which is the host's, advances; the policy is in a
    hook nearly always. Neither the policy nor `fifo` may be blamed."""
    with Guest(vm="busy", exact=False, **SMALL) as guest:
        guest.sh("seqscan 12288 1000 w &")
        for _ in range(3):
            os.kill(guest.terminal.pid, signal.SIGSTOP)
            time.sleep(1)
            os.kill(guest.terminal.pid, signal.SIGCONT)
            assert "[busy]" in guest.sh(f"cat {SWITCH}"), guest.console


FATAL = {
    "stuck": ("policy=stuck rule=time: hook select has not returned", "policy: stuck, in its hook select"),
    "null": ("page fault in the kernel at address", "policy: null, in its hook select"),
    "nested": (
        "policy=nested rule=nested: hook select called inside hook select",
        "policy: nested, in its hook select",
    ),
    "sleepy": ("policy=sleepy rule=nested: hook .* called inside hook select", "policy: sleepy, in its hook select"),
}


@pytest.mark.usefixtures("bad")
@pytest.mark.parametrize("policy", soak_but(FATAL, "null", "nested"))
def test_what_cannot_go_on_ends_in_a_panic_that_names_the_hook(policy: str) -> None:
    result = boot(THRASH, vm=policy, **SMALL).check_exit(qemu.PANICKED)
    said, where = FATAL[policy]
    result.check_lines([f"^panic: .*{said}", where, "^backtrace:"])


@pytest.mark.usefixtures("bad")
def test_policy_that_does_not_start() -> None:
    boot("true", vm="noinit").check_exit(qemu.REFUSED).check_lines(
        ["^command line: vm=noinit: it does not start: error 12"]
    )
    result = boot(f"echo noinit >{SWITCH}; cat {SWITCH}; {CHECK}", vm="clock").check_exit()
    result.check_lines(["Cannot allocate memory|Out of memory", r"\[clock\]", "^ok$"])


@pytest.mark.usefixtures("bad")
def test_policy_that_breaks_when_it_must_let_go() -> None:
    result = boot(f"echo fifo >{SWITCH}", vm="badleave").check_exit(qemu.PANICKED)
    result.check_lines(["page fault in the kernel", "badleave_remove"])
