"""The telemetry is correct: pressure, the profiler's ticks, address spaces, the scheduler's tree; and its cost."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import pytest
from guest import Result
from guest import boot as boot_guest
from tidemark.machine import qemu
from tidemark.runs import summary
from tidemark.telemetry import stream

HZ = 500
THRASH = "thrash 6 2048 1 3000"
THRASH_MEM = "8M"
PROFILED = f"profile_hz={HZ}"


def boot(command: str, **choices: object) -> Result:
    """A run with its telemetry."""
    return boot_guest(command, telemetry=True, **choices)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def thrashing() -> Result:
    """2q with a demand of twice the memory: the processes make hardly any progress."""
    return boot(THRASH, vm="2q", mem=THRASH_MEM, cmdline=PROFILED).check_exit()


@pytest.fixture(scope="module")
def busy() -> Result:
    """Twelve processes that all fit and never wait: the run queue is full."""
    return boot("thrash 12 64 4000 200", mem="64M").check_exit()


def records(result: Result, ev: str) -> list[dict]:
    return [record for record in result.telemetry if record["ev"] == ev]


# --- pressure ---


def test_full_is_within_some_is_within_time(thrashing: Result) -> None:
    samples = records(thrashing, "sample")
    assert len(samples) > 5
    for before, after in itertools.pairwise(samples):
        full, some = (after["psi"][name] - before["psi"][name] for name in ("full_us", "some_us"))
        assert 0 <= full <= some + 1 <= after["t_us"] - before["t_us"] + 2, after


def test_nobody_gets_on_while_2q_thrashes(thrashing: Result) -> None:
    last = records(thrashing, "sample")[-1]
    assert last["psi"]["full_us"] > 0.97 * last["t_us"]


def test_no_pressure_where_everything_fits(busy: Result) -> None:
    assert records(busy, "sample")[-1]["psi"] == {"some_us": 0, "full_us": 0}


def covers_the_waits_of_each_and_no_more_than_all(result: Result) -> None:
    for sample in records(result, "sample"):
        waits = [proc["pagewait_us"] for proc in sample["procs"]]
        work = sum(proc["kernel_us"] for proc in sample["procs"])
        ended = sum(us for end in records(result, "exit") if end["seq"] < sample["seq"] for us in end["us"][1:4])
        assert max(waits) <= sample["psi"]["some_us"] <= sum(waits) + work + ended + len(waits), sample["seq"]


def test_some_covers_the_waits_of_each_and_no_more_than_all(thrashing: Result) -> None:
    covers_the_waits_of_each_and_no_more_than_all(thrashing)


def test_process_held_back_by_admission_is_not_stalled() -> None:
    held = boot("thrash 4 4096 4 10000", vm="ws", mem="12M", swap="sim:ssd").check_exit()
    kernel, pagewait, admit = (sum(record["us"][at] for record in records(held, "exit")) for at in (1, 3, 4))
    assert admit > 2 * (kernel + pagewait), "they are held back too little to tell"
    assert records(held, "sample")[-1]["psi"]["some_us"] < kernel + pagewait


def test_ws_loses_less_time_than_2q(thrashing: Result) -> None:
    run = boot(THRASH, vm="ws", mem=THRASH_MEM).check_exit()
    of_ws, of_2q = (records(result, "sample")[-1]["psi"]["full_us"] for result in (run, thrashing))
    assert 0 < of_ws < 0.3 * of_2q


def test_proc_pressure_memory_is_as_linux_has_it() -> None:
    run = boot("thrash 4 4096 2; cat /proc/pressure/memory", vm="2q", mem="12M").check_exit()
    lines = [
        re.fullmatch(r"(some|full)((?: avg\d+=\d+\.\d\d){3}) total=(\d+)", line) for line in run.console.split("\n")
    ]
    some, full = [line for line in lines if line]
    last = records(run, "sample")[-1]["psi"]
    for line, name in ((some, "some"), (full, "full")):
        assert line[1] == name
        assert [part.split("=")[0] for part in line[2].split()] == ["avg10", "avg60", "avg300"]
        assert all(0 < float(part.split("=")[1]) <= 100 for part in line[2].split())
        assert last[f"{name}_us"] * 0.99 <= int(line[3]) <= last[f"{name}_us"]


# --- the profiler ---


def profile(result: Result) -> tuple[dict, dict]:
    """The first record, and the functions of all of them."""
    lines = records(result, "profile")
    names = [name for line in lines for name in line["functions"]]
    assert len(names) == len(set(names))
    assert {line["ticks"] for line in lines} == {lines[0]["ticks"]}
    return lines[0], {name: count for line in lines for name, count in line["functions"].items()}


def test_ticks_add_up_to_the_time(thrashing: Result) -> None:
    first, functions = profile(thrashing)
    start = records(thrashing, "start")[0]
    assert first["hz"] == HZ
    assert sum(functions.values()) == first["ticks"]
    assert abs(first["ticks"] - (first["t_us"] - start["t_us"]) * HZ / 1e6) <= 2


def test_idle_ticks_are_the_idle_time(thrashing: Result) -> None:
    first, functions = profile(thrashing)
    last = records(thrashing, "sample")[-1]
    assert abs(functions["idle"] - last["idle_us"] * HZ / 1e6) < 0.003 * first["ticks"]


def test_sleeping_machine_has_only_idle_ticks() -> None:
    run = boot("sleep 100", cmdline="profile_hz=10000").check_exit()
    first, functions = profile(run)
    assert first["ticks"] >= 1_000_000
    assert first["ticks"] - functions["idle"] < 200


def test_functions_are_the_kernels(thrashing: Result) -> None:
    symbols = qemu.ROOT / (qemu.KERNEL + ".nm")
    text = {name for _, kind, name in (line.split() for line in symbols.read_text().splitlines()) if kind in "tT"}
    _, functions = profile(thrashing)
    assert {"user", "idle"} <= functions.keys()
    assert functions.keys() - {"user", "idle"} <= text
    assert len(functions) > 5


def test_user_ticks_are_the_user_time() -> None:
    run = boot("thrash 1 64 100 20000", cmdline="profile_hz=5000").check_exit()
    _, functions = profile(run)
    user = sum(end["us"][0] for end in records(run, "exit"))
    assert functions["user"] == pytest.approx(user * 5000 / 1e6, rel=0.02)


def test_no_profile_unless_asked_for(busy: Result) -> None:
    assert not records(busy, "profile")


@pytest.mark.soak
def test_profiled_run_repeats(thrashing: Result) -> None:
    again = boot(THRASH, vm="2q", mem=THRASH_MEM, cmdline=PROFILED).check_exit()
    assert again.raw_telemetry == thrashing.raw_telemetry


# --- address spaces ---


def test_mm_precedes_whatever_speaks_of_its_process(thrashing: Result) -> None:
    named: dict[int, str] = {}
    for record in thrashing.telemetry:
        if record["ev"] == "mm":
            named[record["pid"]] = record["comm"]
        for speaks in [record] if record["ev"] == "exit" else record.get("procs", []):
            assert named.get(speaks["pid"]) == speaks["comm"], record["seq"]
    assert sorted(named.values()).count("thrash") == 7 and named[1] == "init"


def test_living_spaces_have_page_directories_of_their_own() -> None:
    run = boot("for i in 1 2 3; do echo $i | cat; done; thrash 3 64 2").check_exit()
    living: dict[int, int] = {}
    used: list[int] = []
    for record in run.telemetry:
        if record["ev"] == "mm":
            living.pop(record["pid"], None)
            assert record["cr3"] % 4096 == 0 and record["cr3"] not in living.values()
            living[record["pid"]] = record["cr3"]
            used.append(record["cr3"])
        elif record["ev"] == "exit":
            del living[record["pid"]]
    assert len(set(used)) < len(used), "none was used again: the run is too short to show anything"


# --- the scheduler's tree ---


def black_height(children: dict[int, list[int]], black: dict[int, bool], node: int | None) -> int:
    """The black height of the subtree; -1 if its sides differ or a red node has a red child."""
    if node is None:
        return 1
    heights = {black_height(children, black, child) for child in children[node]}
    red_pair = not black[node] and any(child is not None and not black[child] for child in children[node])
    return -1 if len(heights) > 1 or red_pair else heights.pop() + black[node] if -1 not in heights else -1


def shape(queue: list[list[int]]) -> dict[int, list[int | None]]:
    """Left and right child of each node, inferred from the order: a child before its parent is the left one."""
    at = {pid: index for index, (pid, *_) in enumerate(queue)}
    children: dict[int, list[int | None]] = {pid: [None, None] for pid in at}
    for pid, _, _, parent in queue:
        if parent:
            side = at[pid] > at[parent]
            assert children[parent][side] is None
            children[parent][side] = pid
    return children


def in_order(children: dict[int, list[int | None]], node: int | None) -> Iterator[int]:
    if node is not None:
        yield from in_order(children, children[node][0])
        yield node
        yield from in_order(children, children[node][1])


def test_queue_is_a_red_black_search_tree_by_vruntime(busy: Result) -> None:
    queues = [sample["rq"] for sample in records(busy, "sample")]
    assert max(len(queue) for queue in queues) >= 11
    for queue in filter(None, queues):
        children, black = shape(queue), {pid: bool(colour) for pid, _, colour, _ in queue}
        [root] = [pid for pid, _, _, parent in queue if not parent]
        assert list(in_order(children, root)) == [pid for pid, *_ in queue]
        assert [vruntime for _, vruntime, *_ in queue] == sorted(vruntime for _, vruntime, *_ in queue)
        assert black[root] and black_height(children, black, root) > 0


def test_queue_holds_who_can_run_but_the_one_that_does(busy: Result) -> None:
    for sample in records(busy, "sample"):
        assert len(sample["rq"]) == sample["running"] - 1
        procs = {proc["pid"]: proc for proc in sample["procs"]}
        for pid, vruntime, _, _ in sample["rq"]:
            assert pid not in procs or (procs[pid]["vruntime"], procs[pid]["state"]) == (vruntime, 0)


# --- use ---


def test_access_that_faults_a_page_in_is_a_use() -> None:
    """Each page is touched once, so every access is a fault."""
    samples = records(boot("thrash 1 4096 1 20000").check_exit(), "sample")
    naps = [proc["nap"] for sample in samples for proc in sample["procs"] if proc["pid"] == 5]
    assert 900 < sum(naps) < 1200, naps


# --- the cost ---


def work_us(result: Result) -> int:
    """Time in which the processor was not idle: in an exact run, its instructions / 1000."""
    last = records(result, "sample")[-1]
    return last["t_us"] - last["idle_us"]


def test_samples_of_a_busy_machine_cost_less_than_a_percent(busy: Result) -> None:
    assert records(busy, "sample")[-1]["cost_us"] < work_us(busy) / 100


def test_samples_of_a_waiting_machine_are_put_off_but_not_for_long(thrashing: Result) -> None:
    times = [sample["t_us"] for sample in records(thrashing, "sample")]
    gaps = [(after, after - before) for before, after in itertools.pairwise(times)]
    assert max(gap for _, gap in gaps) > 300_000, "none was put off"
    late = [(after, gap) for after, gap in gaps if gap > after / 64 + 250_000]
    assert not late


def test_samples_come_on_time_where_there_is_work(busy: Result) -> None:
    times = [sample["t_us"] for sample in records(busy, "sample")]
    gaps = [after - before for before, after in itertools.pairwise(times[:-1])]
    assert len(gaps) > 3 and all(99_000 < gap < 115_000 for gap in gaps), gaps


# --- the summary ---


@pytest.mark.soak
def test_faults_of_all_processes_are_the_systems() -> None:
    """Loading, locking and clearing pages of programs causes faults, too: by the kernel on a program's behalf."""
    result = boot("thrash 4 2048 2; abi; sh -c true", vm="2q", mem="8M").check_exit()
    last = records(result, "sample")[-1]
    everybody = [*last["procs"], *records(result, "exit")]
    assert sum(proc["minflt"] + proc["majflt"] for proc in everybody) == last["vm"]["pgfault"]
    assert sum(proc["majflt"] for proc in everybody) == last["vm"]["pgmajfault"]


@pytest.mark.parametrize(
    ("command", "mem"),
    [
        ("thrash 8 2048 4 3000", "16M"),
        ("sleep 0.01; thrash 2 64 9 99", "64M"),
        ("thrash 60 8 9 900; thrash 60 8 9 900", "64M"),
    ],
)
def test_summary_says_what_the_host_computes(command: str, mem: str) -> None:
    """The third run has more processes than the summary has lines."""
    result = boot(command, mem=mem).check_exit()
    numbers = summary.system(
        stream.Telemetry(records(result, "start")[0], records(result, "sample"), records(result, "exit"))
    )
    shares = (
        f"{numbers['virtual_s']:.3f} s, utilisation {numbers['utilisation']:.1%} (user {numbers['user']:.1%})",
        f"({numbers['policy']:.1%})",
    )
    [line] = [line for line in result.console.splitlines() if line.startswith("system: ")]
    assert line.startswith(f"system: {shares[0]}, policy") and line.endswith(shares[1]), (line, shares)
