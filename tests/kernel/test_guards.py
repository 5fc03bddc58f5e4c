"""Guards: thrashing protection over any policy. Tests the tree's guards, and faulty ones in a kernel of their own."""

from __future__ import annotations

import re
import statistics
from pathlib import Path

import ext2
import pytest
from bad_kernels import kernel_with
from guest import Result, boot
from soak import soak_but
from test_policies import POLICIES
from tidemark.machine import qemu

CHECK = "cat /proc/vm/check"
THRASH = "thrash 7 1536 2 3000"
SMALL = {"vm": "2q", "mem": "8M", "swap": "sim:hdd"}
RECORDED = SMALL | {"telemetry": True}
FAST = SMALL | {"swap": "sim:ssd"}
TIMED = {"vm": "2q", "mem": "16M", "swap": "sim:hdd", "telemetry": True}
NO_SAMPLES = "sample_ms=0"  # the run is the same, and its telemetry is short


def turnaround_s(result: Result) -> float:
    """The command's turnaround in machine time, in seconds."""
    exits = [record for record in result.telemetry if record["ev"] == "exit"]
    return max(record["turnaround_us"] for record in exits) / 1e6


def samples(result: Result) -> list[dict]:
    return [record for record in result.telemetry if record["ev"] == "sample"]


def expect_sound(result: Result) -> None:
    """Checks that every workload found its data, and that the kernel's accounts are correct."""
    result.check_exit().check_lines([r"^R .*corrupt=0$", "^ok$"])


# --- the guard of the tree ---


def test_unknown_guard_is_refused_with_those_there_are() -> None:
    result = boot("true", cmdline="guard=nosuch").check_exit(qemu.REFUSED)
    result.check_lines([r"guard=nosuch: no such guard; valid: none\|(\w+\|)*token"])


def test_guard_is_chosen_at_boot_only() -> None:
    boot("echo guard=token >/proc/params; echo status $?").check_exit().check_lines(["status 1"])


def test_none_is_no_guard() -> None:
    result = boot(f"refstring 1 2 3 4 1 2 5 1 2 3 4 5; {CHECK} /proc/vm/guard", vm="fifo", frames=3, telemetry=True)
    result.check_exit().check_lines(["^faults: 9$", "^ok$", "^guard: none$"])
    assert result.telemetry[0]["guard"] == "none"
    assert not any("guard" in sample for sample in samples(result))


@pytest.mark.soak
@pytest.mark.parametrize("policy", ["2q", "clock"])
def test_token_beats_none_and_repeats(policy: str) -> None:
    none, token, again = (
        boot(f"{THRASH}; {CHECK}", **RECORDED | {"vm": policy}, cmdline=f"guard={g}")
        for g in ("none", "token", "token")
    )
    expect_sound(none)
    expect_sound(token)
    assert again.raw_telemetry == token.raw_telemetry
    assert turnaround_s(token) < 0.7 * turnaround_s(none)
    assert samples(token)[-1]["vm"]["pgmajfault"] < 0.7 * samples(none)[-1]["vm"]["pgmajfault"]


def test_token_leaves_alone_what_does_not_thrash() -> None:
    run = "thrash 3 1280 10 3000"
    none, token = (boot(run, **RECORDED, cmdline=f"guard={guard}").check_exit() for guard in ("none", "token"))
    assert turnaround_s(token) < 1.02 * turnaround_s(none)
    assert samples(token)[-1]["guard"]["given"] == 0


def test_token_is_seen_and_tuned() -> None:
    result = boot(f"cat /proc/vm/guard; {THRASH}", **RECORDED, cmdline="guard=token token.turn_ms=5000").check_exit()
    result.check_lines(["^guard: token, ", "^guard: token$", "^turn_ms: 5000 ms$", "^holder: 0$"])
    assert result.telemetry[0]["guard"] == "token"
    last = samples(result)[-1]["guard"]
    assert last["name"] == "token" and last["given"] > 1 and last["spared"] > 100 and last["us"] > 0
    assert len({sample["guard"]["holder"] for sample in samples(result)}) > 2


# --- guards that stop processes, several at once ---


@pytest.mark.soak
def test_who_runs_alone_gets_on() -> None:
    run = "thrash 6 2048 2 3000"
    none, *others = (
        boot(f"{run}; {CHECK}", **RECORDED, cmdline=f"guard={name}") for name in ("none", "serialize", "loadctl")
    )
    expect_sound(none)
    for held in others:
        expect_sound(held)
        assert turnaround_s(held) < 0.6 * turnaround_s(none)
        assert max(sample["held"] for sample in samples(held)) > 1


@pytest.mark.parametrize(
    ("policy", "jitter"), soak_but([(policy, jitter) for policy in ("2q", "clock") for jitter in range(10)], ("2q", 1))
)
def test_serialize_is_at_most_three_times_a_batch_system(policy: str, jitter: int) -> None:
    settings = TIMED | {"vm": policy, "cmdline": f"guard=serialize jitter={jitter} {NO_SAMPLES}"}
    alone, ten = (boot(f"thrash {n} 4096 6 3000", **settings) for n in (1, 10))
    assert turnaround_s(ten) < 3 * 10 * turnaround_s(alone)
    ends = [record["turnaround_us"] for record in ten.telemetry if record["ev"] == "exit"]
    assert max(ends) < 2 * sum(ends) / len(ends)


@pytest.mark.parametrize(("policy", "guard", "most"), [("ws", "none", 2.7), ("2q", "serialize", 2.5)])
def test_no_run_of_a_batch_is_an_outlier(policy: str, guard: str, most: float) -> None:
    """Six runs that differ only in small shifts of time. With ws one took 2.95 times as long as a batch system."""
    settings = TIMED | {"vm": policy}
    alone = turnaround_s(boot("thrash 1 4096 6 3000", **settings, cmdline=NO_SAMPLES))
    runs = [
        boot("thrash 10 4096 6 3000", **settings, cmdline=f"guard={guard} jitter={jitter} {NO_SAMPLES}").check_exit()
        for jitter in (101, 202, 303, 404, 505, 606)
    ]
    assert max(map(turnaround_s, runs)) < most * 10 * alone


@pytest.mark.parametrize(
    "run",
    [
        "cow 4 12288 4000",  # pages of several processes, whose slots are far apart
        "phase 12288 3072 6 10000 & pattern zipf 12288 10000 & seqscan 12288 4 w; wait",  # each nearly fills memory
    ],
)
def test_serialize_does_little_harm_where_turns_are_no_help(run: str) -> None:
    none, held = (boot(run, **TIMED, cmdline=f"guard={g} {NO_SAMPLES}") for g in ("none", "serialize"))
    held.check_exit()
    assert turnaround_s(held) < 1.5 * turnaround_s(none)


@pytest.mark.parametrize(
    ("run", "jitters"),
    [
        ("thrash 1 18432 3 3000", 3),  # alone, and larger than memory
        ("thrash 1 18432 2 3000 & thrash 1 4096 3 3000; wait", 3),
        ("thrash 1 18432 1 3000 & thrash 4 2560 4 3000; wait", 3),
        *(
            pytest.param(run, 10, marks=[pytest.mark.soak, pytest.mark.timeout(3600)])
            for run in (
                "thrash 1 18432 6 3000",
                "thrash 1 18432 6 3000 & thrash 1 4096 3 3000; wait",
                "thrash 1 18432 3 3000 & thrash 4 2560 8 3000; wait",
            )
        ),
    ],
)
def test_serialize_takes_no_longer_than_no_guard_where_one_does_not_fit(run: str, jitters: int) -> None:
    none, held = (
        statistics.median(
            turnaround_s(boot(run, **TIMED, cmdline=f"guard={guard} jitter={jitter} {NO_SAMPLES}").check_exit())
            for jitter in range(jitters)
        )
        for guard in ("none", "serialize")
    )
    assert held < 1.1 * none


def test_serialize_does_not_hold_small_jobs_back_for_one_that_does_not_fit() -> None:
    """Two jobs of 5 MiB arrive later: when all processes took turns, these waited 8 s for 0.1 s of work."""
    run = "thrash 1 18432 3 3000 & sleep 3; thrash 2 5120 8 3000; wait"
    result = boot(run, **TIMED, cmdline=f"guard=serialize jitter=1 {NO_SAMPLES}").check_exit()
    jobs = [record for record in result.telemetry if record["ev"] == "exit" and record["comm"] == "thrash"]
    assert max(record["turnaround_us"] / 1e6 for record in jobs[:2]) < 4


@pytest.mark.parametrize("processes, kib, most_s", [(20, 2048, 4.2), (5, 8192, 4.2), (4, 11264, 4.9)])
def test_serialize_takes_less_than_twice_the_time_by_turns(processes: int, kib: int, most_s: float) -> None:
    """tidemark.runs.bound: by turns the disk and the processor need 2.5, 2.5 and 2.9 s for these."""
    run, jitters = f"thrash {processes} {kib} 6 3000", range(1, 4)
    results = [boot(run, **TIMED, cmdline=f"guard=serialize jitter={n} {NO_SAMPLES}").check_exit() for n in jitters]
    assert statistics.median(turnaround_s(result) for result in results) < most_s


def test_serialize_does_not_hold_back_a_program_that_has_touched_little() -> None:
    """It maps more than a sixteenth of memory. It must keep its pages while the others fill theirs, too."""
    run = "interactive 512 200 thrash 8 4096 20 3000"
    result = boot(run, **TIMED, cmdline=f"guard=serialize jitter=1 {NO_SAMPLES}").check_exit()
    wake = re.search(r"^R interactive_wake +n=(\d+) .* max=([\d.]+) us$", result.console, re.M)
    assert wake and int(wake[1]) > 10 and float(wake[2]) < 100_000, wake


def test_serialize_reads_back_at_once_what_fits_again() -> None:
    result = boot("thrash 10 2048 6 3000", **TIMED, cmdline=f"guard=serialize {NO_SAMPLES}")
    assert turnaround_s(result) < 2


def test_serialize_reads_back_what_had_to_go_before_and_gives_no_turns() -> None:
    """Two processes fit together, but a third had taken the memory: hardly any fault waits for the disk."""
    run = "hog 4096 4 & hog 4096 4 & sleep 0.3; hog 11264 1; wait; cat /proc/vmstat /proc/vm/guard"
    result = boot(run, mem="16M", swap="sim:hdd", cmdline="guard=serialize", vm="2q").check_exit()
    read, faults, begun = (
        int(re.search(rf"(?m)^{name}:? (\d+)$", result.console)[1]) for name in ("pswpin", "pgmajfault", "begun")
    )
    assert read > 1500 and faults < read / 30 and begun == 0


JOBS = " & ".join(["pattern zipf 9216 300000 500"] * 3)  # each has 9 MiB and computes for a second


@pytest.mark.parametrize("killed", ["%1 %2", "%1 %3", "%2 %3"])
def test_serialize_goes_on_when_a_job_is_killed_in_its_turn(killed: str) -> None:
    """Two of three are killed, so in two of the cases the one whose turn it is; the third waits for no one."""
    run = f"{JOBS} & sleep 0.6; cat /proc/vm/guard; kill -9 {killed}; wait; {CHECK}"
    result = boot(run, **TIMED, cmdline=f"guard=serialize {NO_SAMPLES}").check_exit()
    expect_sound(result)
    result.check_lines([r"^runs: [1-9]\d*$", "^R pattern .* corrupt=0$"])
    assert turnaround_s(result) < 3


def test_serialize_outlives_a_change_of_the_policy_while_jobs_wait() -> None:
    change = "sleep 0.5; cat /proc/vm/guard; echo ws >/proc/sys/vm/policy; sleep 0.2; echo clock >/proc/sys/vm/policy"
    result = boot(f"{JOBS} & {change}; wait; {CHECK}", **TIMED, cmdline=f"guard=serialize {NO_SAMPLES}").check_exit()
    expect_sound(result)
    result.check_lines([r"^runs: [1-9]\d*$"] + 3 * ["^R pattern .* corrupt=0$"])


def test_serialize_when_the_swap_area_is_full() -> None:
    """Not all fit into memory and swap area: the kernel kills one, and the others end."""
    settings = TIMED | {"swap": "sim:hdd,size=8M"}
    result = boot(f"{JOBS} & wait; {CHECK}", **settings, cmdline=f"guard=serialize {NO_SAMPLES}").check_exit()
    expect_sound(result)
    result.check_lines(["^Out of memory: .* killed process", *(2 * ["^R pattern .* corrupt=0$"])])


def test_guards_together_keep_their_own_data() -> None:
    result = boot(f"{THRASH}; {CHECK} /proc/vm/guard", **FAST, cmdline="guard=loadctl,token,serialize", telemetry=True)
    expect_sound(result)
    result.check_lines(["^guard: loadctl,token,serialize$", "^summary: ", "^summary: ", "^summary: "])
    last = samples(result)[-1]["guard"]
    assert last["name"] == "loadctl,token,serialize"
    assert {"loadctl.suspended", "token.given", "serialize.turns"} <= last.keys()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("token,nosuch", "no such guard"),
        ("token,token", "named twice"),
        ("loadctl,token,token", "named twice"),
        ("loadctl,token,serialize,tpf,prefetch", "too many guards"),
        ("token,", "no such guard"),
        (",token", "no such guard"),
    ],
)
def test_bad_lists_of_guards_are_refused(text: str, said: str) -> None:
    boot("true", cmdline=f"guard={text}").check_exit(qemu.REFUSED).check_lines([said])


# --- faulty guards: tests/kernel/guards, and the template, in a kernel of their own ---


@pytest.fixture(scope="session")
def odd_kernel() -> str:
    """Returns the path of the kernel with the guards of tests/kernel/guards."""
    return kernel_with("guard", qemu.ROOT / "tests/kernel/guards")


@pytest.fixture
def odd(odd_kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes this test boot the kernel with the odd guards."""
    monkeypatch.setattr(qemu, "KERNEL", odd_kernel)


@pytest.mark.usefixtures("odd")
def test_guard_in_one_file_is_enough() -> None:
    result = boot(f"thrash 6 2048 2; {CHECK} /proc/vm/guard", **FAST, cmdline="guard=mine")
    expect_sound(result)
    result.check_lines(["^guard: mine$", "^faults: [1-9]"])


@pytest.mark.usefixtures("odd")
@pytest.mark.parametrize(
    "policy", ["2q", *(pytest.param(name, marks=pytest.mark.soak) for name in ("clock", "ws", "fifo"))]
)
def test_guard_that_spares_everything_stops_nothing(policy: str) -> None:
    """Neither many processes under a cap on frames, nor kswapd and direct reclaim, nor the policy's own trimming."""
    spared = FAST | {"vm": policy, "cmdline": "guard=all", "telemetry": True}
    capped = boot(f"thrash 6 512 1; {CHECK}", **spared, frames=40)
    for result in (capped, boot(f"thrash 6 2048 1; {CHECK}", **spared)):
        expect_sound(result)
        assert "violation" not in result.console and samples(result)[-1]["guard"].keys() == {"name", "us", "spared"}
        assert samples(result)[-1]["guard"]["spared"] > 1000 and samples(result)[-1]["vm"]["oom_kill"] == 0


@pytest.mark.usefixtures("odd")
def test_slow_guard_is_switched_off() -> None:
    result = boot(f"thrash 6 2048 2; {CHECK} /proc/vm/guard", **FAST, cmdline="guard=slow", telemetry=True)
    expect_sound(result)
    result.check_lines(["guard violation: guard=slow rule=time: hook spare took", "switched off", "^guard: none$"])
    events = [record for record in result.telemetry if record["ev"] == "violation"]
    assert [(event["guard"], event["rule"]) for event in events] == [("slow", "time")]


FATAL = {
    "stuck": "guard=stuck rule=time: hook spare has not returned for 400 ms",
    "nested": "guard=nested rule=nested: hook spare called inside hook spare",
}


@pytest.mark.usefixtures("odd")
@pytest.mark.parametrize("guard", FATAL)
def test_what_cannot_go_on_ends_in_a_panic_that_names_the_guard(guard: str) -> None:
    result = boot("thrash 6 2048 2", **FAST, cmdline=f"guard={guard}").check_exit(qemu.PANICKED)
    result.check_lines([f"^panic: .*{re.escape(FATAL[guard])}", f"^guard: {guard}, in its hook spare", "^backtrace:"])


@pytest.mark.usefixtures("odd")
def test_guard_that_lets_nobody_run_is_switched_off_it_alone() -> None:
    result = boot(f"thrash 2 512 2; {CHECK} /proc/vm/guard", **FAST, cmdline="guard=never,token")
    expect_sound(result)
    result.check_lines(
        ["guard=never rule=may_run: .*no process has run", "^guard never is switched off$", "^guard: token$"]
    )


@pytest.mark.usefixtures("odd")
@pytest.mark.parametrize("policy", soak_but(POLICIES, "2q"))
def test_hints_and_prefetches_lose_nothing(policy: str) -> None:
    result = boot(f"thrash 6 2048 2; {CHECK}", **FAST | {"vm": policy}, cmdline="guard=hinter", telemetry=True)
    expect_sound(result)
    shown = samples(result)[-1]["guard"]
    assert all(shown[name] > 0 for name in ("hints", "evicted", "forgotten", "queued", "low")), shown
    assert shown["queued"] < 1 << 31 and samples(result)[-1]["vm"]["swap_ra"] > 0


@pytest.mark.soak
def test_who_has_slept_for_longest_leaves_first() -> None:
    run = "sleep 100 & sleep 101 & sleep 3; thrash 8 4096 3; kill %1 %2"
    result = boot(f"{run}; {CHECK}", mem="12M", cmdline="guard=loadctl loadctl.long_idle_ms=1000")
    result.check_exit().check_lines([r"^R thrash .*lost=0 corrupt=0", "^ok$"])


@pytest.mark.soak
def test_pages_of_several_processes_that_are_not_needed() -> None:
    result = boot(f"cow 5 6000 3000; {CHECK}", mem="8M", vm="pff", cmdline="guard=serialize")
    result.check_exit().check_lines(["^R cow .*corrupt=0", "^ok$"])


@pytest.mark.soak
@pytest.mark.parametrize("vm", ["linux24", "vms", "wsclock"])
def test_what_is_laundered_is_in_the_file(tmp_path: Path, vm: str) -> None:
    disk = ext2.make(tmp_path / "image", "8M")
    work = "filescan /mnt/h 2 --kb 4000 fill mmap write random & thrash 3 2000 2 & wait"
    line = f"mkdir /mnt; mount -t ext2 /dev/sda /mnt; {work}; umount /mnt; {CHECK}"
    result = boot(line, mem="8M", vm=vm, disk=disk, disk_kind="sim:ssd").check_exit()
    result.check_lines([r"^R filescan .*corrupt=0", r"^R thrash .*lost=0 corrupt=0", "^ok$"])
    ext2.check(disk)


@pytest.mark.usefixtures("odd")
def test_who_was_read_back_once_is_not_read_back_again() -> None:
    """The second hog displaces the first, which sleeps, and ends, so that its memory is free."""
    run = "hog 9216 9 & sleep 0.5; hog 9216 1; cat /proc/vmstat; sleep 2; hog 9216 1; cat /proc/vmstat; sleep 1"
    result = boot(f"{run}; cat /proc/vmstat", **FAST | {"mem": "12M"}, cmdline="guard=once").check_exit()
    before, after, later = (int(n) for n in re.findall(r"(?m)^pswpin (\d+)$", result.console))
    assert before < after - 1000 and later < after + 100, (before, after, later)
