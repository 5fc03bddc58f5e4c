"""The simulator: its rules, its input, its table; and that it makes the kernel's decisions, for every policy.

Conditions under which kernel and simulator must agree: the process that refers to pages runs alone except for init,
which sleeps; its other pages are locked in memory, and so are all of init's (vmsim/lockedinit.c), which a policy may
protect; frames=N makes every eviction a direct one, of one page, and memory is large, so kswapd never runs. The string
begins with pages used once, three times as many as frames, so that its program meets a full memory. Each reference
is followed by a system call, so the access that faulted is not taken for a use. The disk is memory, so that faults take
no time and there is no tick at a wrong place: refstring runs between two ticks (user/workloads/settle.c), and a policy
with ticks also gets them where the string has them (vmsim/ticks.c).
"""

from __future__ import annotations

import fcntl
import io
import os
import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from bad_kernels import up_to_date
from soak import soak_but
from test_policies import POLICIES
from tidemark.errors import FAILED, LabError
from tidemark.grade.build import tree
from tidemark.machine import qemu
from tidemark.strings import explain, refstrings, vmsim, worst
from tidemark.strings.refstrings import Given

BELADY = "1 2 3 4 1 2 5 1 2 3 4 5"
SILBERSCHATZ = "7 0 1 2 0 3 0 4 2 3 0 3 2 1 2 0 1 7 0 1"
OURS = qemu.ROOT / "tests/kernel/vmsim"
IN_GUEST = ("refstring", "settle", "ticks")
INIT = "lockedinit"
FRAMES = 100
PREFIX = list(range(1000, 1000 + 3 * FRAMES))
TICK_NS = 50_000_000
STEP_NS = 1  # a policy may need the order of two references in time, but not how far apart they are
WS_TICK_NS = 57_000_000
TICKS_PER_TAU = 3.5  # the same number as for ws, whose tick shortens with tau
GUEST_TICK_US = 30_000  # WORK_US of ticks.c
WRITES = "launders pages: when their writes end depends on the disk, in the simulator on the pass"
FRAMES_ORDER = "goes through all frames in order of number, and the kernel's frames are others than the simulator's"
# Policies that need not decide alike here, with the reason, without ticks and with ticks.
UNLIKE = {
    "linux22": FRAMES_ORDER,
    "linux24": WRITES,
    "lru": "orders pages by time, which stands still in the simulator while a fault is handled",
    "vms": WRITES,
}
UNLIKE_WITH_TICKS = {
    "aging": "has ticks of 20 ms: more than one for each of the string's",
    "linux22": FRAMES_ORDER,
    "linux24": WRITES,
    "lruk": "uses within 10 ms are one use, and the string is faster in the simulator",
    "nru": "has ticks of 100 ms: fewer than the string",
    "nt": "has ticks of a second",
    "wsrandom": "its ticks follow tau; ws gets a string of its own for this",
}


@dataclass(frozen=True)
class Runs:
    """A string with its own times: rows of page, references, nanoseconds."""

    rows: list[tuple[int, int, int]]
    name: str = "runs"

    @property
    def nr_pages(self) -> int:
        return len({row[0] for row in self.rows})

    @property
    def nr_references(self) -> int:
        return sum(row[1] for row in self.rows)

    def runs(self) -> Iterator[np.ndarray]:
        yield np.array(self.rows, np.uint32)


def make(*targets: str, folder: Path = qemu.ROOT) -> None:
    """Runs `make TARGETS`, as from a shell that was not started by make."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    made = subprocess.run(
        ["make", "--no-print-directory", *targets], cwd=folder, env=env, capture_output=True, text=True, timeout=200
    )
    assert made.returncode == 0, made.stderr


@pytest.fixture(scope="session")
def student() -> Path:
    """A copy of the tree below build/ as a student has it, with a kernel that has `foo`, made by `make new-policy`,
    `asksall`, which calls everything that a policy may call, and the policies of tests/kernel/policies, which break
    rules; and with simulators of the last two.
    """
    copy = qemu.ROOT / "build/student"
    copy.mkdir(exist_ok=True)
    this_run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    with (copy / "made_by").open("a+") as made_by:
        fcntl.flock(made_by, fcntl.LOCK_EX)
        made_by.seek(0)
        if made_by.read() == this_run:
            return copy
        made_by.truncate(0)
        for name in ("boot", "kernel", "tools", "labs", "tests/host"):
            shutil.rmtree(copy / name, ignore_errors=True)
            shutil.copytree(qemu.ROOT / name, copy / name)
        for name in ("Makefile", "linker.ld"):
            shutil.copy2(qemu.ROOT / name, copy / name)
        if not up_to_date(copy):  # then unchanged files need not be compiled again
            shutil.rmtree(copy / "build", ignore_errors=True)
            tree.take_along_what_is_built(qemu.ROOT, copy)
        make("new-policy", "NAME=foo", folder=copy)
        policies = copy / "kernel/mm/policy"
        template = policies / "TEMPLATE.c"
        os.utime(policies / "foo.c", (template.stat().st_mtime,) * 2)
        for path in [*(qemu.ROOT / "tests/kernel/policies").glob("*.[ch]"), *(OURS / "policy").glob("*.c")]:
            shutil.copy2(path, policies / path.name)
        simulators = [f"build/vmsim/{name}" for name in ("asksall", *BROKEN)]
        make("WERROR=1", "build/tidemark.elf", *simulators, folder=copy)
        made_by.write(this_run)
    return copy


def image(folder: Path, string: str, kernel: Path = qemu.ROOT) -> Path:
    """A folder with a kernel and a first file system that contains the string."""
    (folder / "root").mkdir()
    (folder / "build").mkdir()
    (folder / "root/string").write_text(string)
    shutil.copy(qemu.ROOT / "build/user" / INIT, folder / "root/init")
    (folder / qemu.KERNEL).symlink_to(kernel / qemu.KERNEL)
    strip = next(filter(None, map(shutil.which, ("i686-linux-gnu-strip", "strip"))))
    command = ["tools/mkinitramfs.py", "--dir", folder / "root", folder / qemu.INITRD]
    subprocess.run(
        [*command, *(f"build/user/{name}" for name in IN_GUEST)],
        cwd=qemu.ROOT,
        env={**os.environ, "STRIP": strip},
        check=True,
    )
    return folder


def in_kernel(policy: str, program: str, folder: Path, frames: int, cmdline: str = "") -> str:
    """Runs the program in a fresh guest; returns the console."""
    settings = qemu.Settings(
        vm=policy,
        frames=str(frames),
        swap="sim:ram",
        run=program,
        cmdline=f"sample_ms=0 {cmdline}".strip(),
        image=folder,
        timeout=100,
    )
    console = io.BytesIO()
    code, _ = qemu.run_command(settings, console)
    text = console.getvalue().decode("ascii", "replace").replace("\r", "")
    assert code == qemu.OK, text[-2000:]
    assert "policy violation" not in text
    return text


def simulated(program: Path, string: refstrings.References, frames: int, *parameters: str) -> tuple[list[dict], dict]:
    """The rows and the counts of a run."""
    rows: list[dict] = []
    outcome = vmsim.run(program, string, frames, parameters, rows.append)
    return rows, vars(outcome)


def same(kernel: str, simulator: str, pages: list[int]) -> None:
    """One letter for each reference: h, f or m. Reports the first difference in words."""
    assert len(kernel) == len(simulator)
    at = next((at for at, (one, other) in enumerate(zip(kernel, simulator)) if one != other), None)
    if at is not None:
        names = {"h": "hit", "f": "fault", "m": "minor fault"}
        pytest.fail(
            f"reference {at + 1}, page {pages[at]}: {names[kernel[at]]} in the kernel, {names[simulator[at]]} in the "
            f"simulator; the string up to there: {' '.join(map(str, pages[: at + 1]))}"
        )


def localities(seed: int, parts: int, length: int) -> list[list[int]]:
    """Parts of a string, each mostly within its own locality; two pages for every three frames in total."""
    rng = random.Random(seed)
    made = []
    for _ in range(parts):
        first = rng.randrange(1, FRAMES)
        near = (first + rng.randrange(FRAMES // 2) for _ in range(length))
        made.append([page if rng.random() < 0.8 else rng.randrange(1, FRAMES * 3 // 2) for page in near])
    return made


def results_of_refstring(console: str) -> str:
    """h or f for each line of `refstring -v`."""
    return "".join(found[0] for found in re.findall(r"(?m)^ *\d+ +\d+ write (hit|fault)", console))


@pytest.fixture(scope="session")
def guest_programs() -> None:
    with (qemu.ROOT / "build/vmsim.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        make(*(f"build/user/{name}" for name in (INIT, *IN_GUEST)))


# --- kernel and simulator ---


@pytest.mark.usefixtures("guest_programs")
@pytest.mark.parametrize("policy", soak_but([p for p in POLICIES if p not in UNLIKE], "2q", "ws", "nru", "clockpro"))
def test_refstring_meets_the_same_decisions_in_the_kernel(policy: str, tmp_path: Path) -> None:
    """refstring gives the pages their addresses in the order of their first use, and does not tell minor faults."""
    pages = [*PREFIX, *chain(*localities(1, 6, 100))]
    console = in_kernel(policy, "/bin/settle", image(tmp_path, " ".join(map(str, pages))), FRAMES)
    address = {page: at for at, page in enumerate(dict.fromkeys(pages))}
    string = Given("string", np.array([address[page] for page in pages]), step_ns=STEP_NS)
    rows, counts = simulated(vmsim.build(policy), string, FRAMES)
    same(results_of_refstring(console), "".join(row["result"][0].replace("m", "f") for row in rows), pages)
    assert 0.2 * len(pages) < counts["hits"] < 0.8 * len(pages)


def with_ticks(parts: list[list[int]], tick_ns: int) -> tuple[str, Runs]:
    """The parts with a tick after each, in the guest's format and for the simulator."""
    text = " ".join(" ".join(map(str, part)) + " t" for part in parts)
    rows = [(page, 1, tick_ns if at == len(part) - 1 else STEP_NS) for part in parts for at, page in enumerate(part)]
    return text, Runs(rows)


def check_with_ticks(policy: str, program: Path, folder: Path, kernel: Path = qemu.ROOT) -> dict:
    """Runs the same string, with ticks, in both; returns the simulator's counts."""
    tick_ns = WS_TICK_NS if policy == "ws" else TICK_NS
    text, string = with_ticks([PREFIX, *localities(2, 8, 70)], tick_ns)
    tau_ms = int(TICKS_PER_TAU * GUEST_TICK_US / 1000)
    console = in_kernel(policy, "/bin/ticks", image(folder, text, kernel), FRAMES, f"ws.tau_ms={tau_ms}")
    parameters = [f"tau_ms={TICKS_PER_TAU * tick_ns / 1e6:.0f}"] if policy == "ws" else []
    rows, counts = simulated(program, string, FRAMES, *parameters)
    found = re.search(r"(?m)^[hfm]{100,}$", console)
    assert found, console[-1000:]
    same(found[0], "".join(row["result"][0] for row in rows), [row[0] for row in string.rows])
    return counts


@pytest.mark.usefixtures("guest_programs")
@pytest.mark.parametrize("policy", soak_but([p for p in POLICIES if p not in UNLIKE_WITH_TICKS], "ws", "s3fifo"))
def test_ticks_and_trimming_are_the_same_in_the_kernel(policy: str, tmp_path: Path) -> None:
    counts = check_with_ticks(policy, vmsim.build(policy), tmp_path)
    assert counts["evictions"] > 100
    if policy == "ws":
        assert counts["ticks"] == 9 and counts["trimmed"] > 10


@pytest.mark.usefixtures("guest_programs")
@pytest.mark.parametrize("policy", soak_but(["foo", "asksall", "trims"], "asksall"))
def test_students_policy_meets_the_same_decisions_in_the_kernel(policy: str, student: Path, tmp_path: Path) -> None:
    """The unchanged template, a policy that detaches, launders and traps, and one that has a surplus without a tick."""
    make("WERROR=1", f"build/vmsim/{policy}", folder=student)
    counts = check_with_ticks(policy, student / "build/vmsim" / policy, tmp_path, student)
    assert (counts["minor"] > 0) == (policy == "asksall")
    assert (counts["trimmed"] > 0) == (policy == "trims")


@pytest.mark.usefixtures("guest_programs")
@pytest.mark.parametrize(
    ("string", "frames", "faults"),
    soak_but([(BELADY, 3, 9), (BELADY, 4, 10), (SILBERSCHATZ, 3, 15)], (SILBERSCHATZ, 3, 15)),
)
def test_textbook_strings_by_plain_refstring(string: str, frames: int, faults: int) -> None:
    """With fifo the pages of other processes are always evicted first, so no prefix is needed."""
    from guest import boot

    result = boot(f"refstring -v {string}", vm="fifo", frames=frames).check_exit()
    rows, counts = simulated(vmsim.build("fifo"), refstrings.find(string), frames)
    same(
        results_of_refstring(result.console), "".join(row["result"][0] for row in rows), list(map(int, string.split()))
    )
    result.check_lines([f"^faults: {faults}$"])
    assert counts["faults"] == faults


def test_time_of_a_run_is_the_clock_of_ticks() -> None:
    string = Runs([(1, 1, 3 * WS_TICK_NS), (2, 1, WS_TICK_NS - 1), (3, 1, 1)])
    outcome = vmsim.run(vmsim.build("ws"), string, 3)
    assert (outcome.ticks, outcome.ns) == (5 - 1, 4 * WS_TICK_NS)


# --- broken rules ---

BROKEN = {
    "twice": ("count", "check", 6, "after select gave page 1"),
    "foreign": ("select", "select", 6, "not a page"),
    "nowhere": ("select", "select", 6, "not a page"),
    "never": ("none", "select", 6, "gave nothing at priority 0"),
    "miscount": ("count", "check", 6, "the policy holds"),
    "broken": ("lists", "check", 6, "lists are broken"),
    "null": ("crash", "select", 6, "see what is said above"),
    "noinit": ("init", "init", 0, "error 12"),
    "loser": ("count", "check", 101, "the policy holds"),
    "detacher": ("none", "select", 6, "none of them to evict"),
    "endless": ("none", "select", 6, "none of them to evict"),
    "again": ("none", "select", 6, "only when it is asked again"),
    "ticker": ("time", "tick", 1, "always asks to be called again"),
}


@pytest.mark.parametrize("policy", BROKEN)
def test_broken_rule_is_reported_with_hook_and_reference(policy: str, student: Path) -> None:
    rule, hook, reference, said = BROKEN[policy]
    string = Runs([(page, 1, TICK_NS // 5) for page in range(1, 201)])
    with pytest.raises(vmsim.BrokenRule) as caught:
        vmsim.run(student / "build/vmsim" / policy, string, 5)
    violation = caught.value.violation
    assert (violation["rule"], violation["hook"], violation["ref"]) == (rule, hook, reference)
    assert said in violation["what"] and caught.value.code == FAILED
    assert f"broke the rule '{rule}' at reference {reference}, hook {hook}" in str(caught.value)


def test_adversary_names_the_string_on_which_a_rule_is_broken(student: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vmsim, "build", lambda policy, fast: student / "build/vmsim" / policy)
    count = worst.counter("never", 3, ())
    assert count([(1, 2, 3)]) == [3]
    with pytest.raises(LabError, match=r"(?s)^never on the string 1 2 3 4 with 3 frames: .*gave nothing") as caught:
        count([(1, 2), (1, 2, 3, 4), (1,)])
    assert caught.value.code == FAILED


@pytest.mark.soak
def test_hook_that_never_returns_ends(student: Path) -> None:
    make("WERROR=1", "build/vmsim/stuck.fast", folder=student)
    with pytest.raises(vmsim.BrokenRule, match="reference 4, hook select: hook select has not returned"):
        vmsim.run(student / "build/vmsim/stuck.fast", refstrings.find("1-9"), 3)


def test_decisions_before_a_broken_rule_are_still_shown(student: Path, capsys: pytest.CaptureFixture) -> None:
    from tidemark.commands.sim import explain as show

    with pytest.raises(vmsim.BrokenRule):
        show(student / "build/vmsim/never", refstrings.find("1 2 3 4"), 3, [], False)
    assert len(capsys.readouterr().out.splitlines()) == 4


# --- make new-policy ---


def test_new_policy_is_the_template_under_its_name(student: Path) -> None:
    made = (student / "kernel/mm/policy/foo.c").read_text()
    assert "template" not in made and '.name = "foo"' in made and "make sim VM=foo" in made


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "give the policy a name"),
        ("clock", "exists already"),
        pytest.param("template", "taken", marks=pytest.mark.soak),
        pytest.param("my_test", "taken", marks=pytest.mark.soak),
        ("Foo", "lower-case"),
        pytest.param("2fast", "lower-case", marks=pytest.mark.soak),
        pytest.param("a-b", "lower-case", marks=pytest.mark.soak),
        ("../x", "lower-case"),
        ("a_name_with_17_ch", "at most 16"),
        ("while", "C, or mm/policy.h"),
    ],
)
def test_new_policy_refuses(name: str, said: str, student: Path) -> None:
    before = {path: path.read_bytes() for path in (student / "kernel/mm/policy").glob("*.c")}
    made = subprocess.run(["make", "new-policy", f"NAME={name}"], cwd=student, capture_output=True, text=True)
    assert made.returncode != 0 and said in made.stderr
    assert {path: path.read_bytes() for path in (student / "kernel/mm/policy").glob("*.c")} == before


# --- the table ---

CLOCK_BY_HAND = """\
ref  page  result  victim  why                                        frames   lists
  1     1  fault                                                      1 - -    circle: 1
  2     2  fault                                                      1 2 -    circle: 1 2
  3     3  fault                                                      1 2 3    circle: 1 2 3
  4     4  fault        1  select: 1 unused, takes 1                  4 2 3    circle: 2 3 4
  5     1  fault        2  select: 2 unused, takes 2                  4 1 3    circle: 3 4 1
  6     2  fault        3  select: 3 unused, takes 3                  4 1 2    circle: 4 1 2
  7     5  fault        4  select: 4 unused, takes 4                  5 1 2    circle: 1 2 5
  8     1  hit                                                        5 1* 2   circle: 1* 2 5
  9     2  hit                                                        5 1* 2*  circle: 1* 2* 5
 10     3  fault        5  select: 1 used, 2 used, 5 unused, takes 5  3 1 2    circle: 1 2 3
 11     4  fault        1  select: 1 unused, takes 1                  3 4 2    circle: 2 3 4
 12     5  fault        2  select: 2 unused, takes 2                  3 4 5    circle: 3 4 5"""


def test_clock_explained_is_what_one_gets_by_hand() -> None:
    """By hand: a pointer that gives a second chance, in a circle of three frames."""
    program = vmsim.build("clock")
    rows, counts = simulated(program, refstrings.find(BELADY), 3)
    assert explain.table(explain.named(rows, program)) == CLOCK_BY_HAND
    assert counts["faults"] == 10


def test_lists_inside_one_variable_get_the_names_that_show_gives() -> None:
    program = vmsim.build("2q")
    rows, _ = simulated(program, refstrings.find("1-4 1-4 1 2 5 6 1 2 7 8 1 2 3 9 4 5 1 2 6 7 9 1 2 1 2"), 4)
    lists = explain.named(rows, program)[-1]["lists"]
    assert "zone1_inactive" in lists
    assert sorted(chain(*lists.values())) == sorted(rows[-1]["frames"])


def test_list_of_a_process_is_found_in_its_address_space() -> None:
    program = vmsim.build("ws")
    rows, _ = simulated(program, refstrings.find("1 2 3 1 4"), 3)
    assert explain.named(rows, program)[-1]["lists"] == {"mm": [3, 1, 4]}


def test_detached_and_laundered_pages_are_told(student: Path) -> None:
    program = student / "build/vmsim/asksall"
    rows, _ = simulated(program, refstrings.find("1-7 5 4 3 2"), 6, "spare=3")
    table = explain.table(explain.named(rows, program))
    assert "takes 1 (launder)" in table and "takes 2 (detach)" in table
    assert [row["result"] for row in rows[-4:]] == ["hit", "minor", "minor", "minor"], "4 was trapped"


def test_list_whose_length_fits_two_counts_gets_both_names() -> None:
    """Before the first page is deactivated, `activated` is the active list's length, too."""
    rows = [{"lists": {"0x24": [1] * n}, "show": f"active: {n}\nactivated: {n}\ninactive: 9"} for n in (1, 2)]
    assert explain.list_names(rows, [(0, "zone")]) == {"0x24": "activated or active"}
