"""Every policy and every guard under extreme conditions: three frames, parameters at the ends of their ranges, hardly
any swap area, a lot of memory, switches during a run, and all policies under all guards. What can be tested without a
machine is in kernel/mm/policy/policies_test.c and kernel/mm/guard/guards_test.c.

`make check` runs what is quick for each; `make soak` runs all combinations.
"""

from __future__ import annotations

import itertools
import os
import re
import subprocess
from dataclasses import dataclass

import pytest
from guest import Guest, Result, boot
from soak import soak_but
from test_policies import CHECK, POLICIES, SWITCH, WORKLOADS, expect_sound
from tidemark.machine import qemu

GUARDS = sorted(
    path.stem for path in qemu.ROOT.glob("kernel/mm/guard/*.c") if not path.stem.endswith(("_test", "TEMPLATE"))
)
FAST = {"mem": "8M", "swap": "sim:ssd"}
THRASH = "thrash 6 2048 2"
IN_THREE_FRAMES = "refstring 1 2 3 4 1 2 5 1 2 3 4 5 7 7 1; thrash 1 64 3"
SWITCHES = 12  # in one boot: this many fit into run=

# The policy and the guard: every policy without a guard, and every guard over 2q.
ALL = [*((policy, "none") for policy in POLICIES), *(("2q", guard) for guard in GUARDS)]
ONE_OF_EACH = [("2q", "none"), ("2q", "token")]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a policy or guard, with the ends of its range."""

    owner: str
    name: str
    least: int
    most: int


def parameters(owner: str) -> list[Parameter]:
    """The parameters of a policy or guard, from the list of all that the kernel knows."""
    text = (qemu.ROOT / "docs/reference/parameters.md").read_text()
    found = re.findall(rf"^{owner}\.(\w+)=\S*\t(\d+)\.\.(\d+)", text, re.MULTILINE)
    return [Parameter(owner, name, int(least), int(most)) for name, least, most in found]


def ends(names: list[str]) -> list[tuple[str, str]]:
    """(name, what to set): all parameters at their minimum, and at their maximum."""
    found = []
    for name in names:
        known = parameters(name)
        for end in ("least", "most"):
            text = " ".join(f"{one.owner}.{one.name}={getattr(one, end)}" for one in known)
            found += [(name, text)] if known else []
    return found


def expect_no_violation(result: Result) -> None:
    expect_sound(result)
    assert "violation" not in result.console, result.tail()


@pytest.mark.soak
def test_three_frames_are_enough_for_each_in_turn() -> None:
    with Guest(vm="clock", frames=3) as guest:
        for policy in POLICIES:
            said = guest.sh(f"echo {policy} >{SWITCH}; {IN_THREE_FRAMES}; {CHECK}")
            assert "corrupt=0" in said and re.search("(?m)^ok$", said) and "violation" not in said, (policy, said)


@pytest.mark.parametrize(("policy", "guard"), soak_but(ALL, *ONE_OF_EACH))
def test_three_frames_are_enough(policy: str, guard: str) -> None:
    expect_no_violation(boot(f"{IN_THREE_FRAMES}; {CHECK}", vm=policy, frames=3, cmdline=f"guard={guard}"))


@pytest.mark.parametrize(("policy", "text"), soak_but(ends(POLICIES), *ends(["ws"]), *ends(["vms"])[:1]))
def test_policies_at_the_ends_of_their_parameters(policy: str, text: str) -> None:
    expect_no_violation(boot(f"{THRASH}; {CHECK}", vm=policy, cmdline=text, timeout=200, **FAST))


@pytest.mark.parametrize(("guard", "text"), soak_but(ends(GUARDS), *ends(["serialize"])))
def test_guards_at_the_ends_of_their_parameters(guard: str, text: str) -> None:
    expect_no_violation(boot(f"{THRASH}; {CHECK}", vm="2q", cmdline=f"guard={guard} {text}", timeout=200, **FAST))


@pytest.mark.parametrize(("policy", "guard"), soak_but(ALL, *ONE_OF_EACH))
def test_swap_of_64_KiB(policy: str, guard: str) -> None:
    """The swap area fills at once: processes that do not fit are killed, and the others finish correctly."""
    run = f"thrash 2 1024 2; thrash 8 2048 2; echo ended; {CHECK}"
    result = boot(run, vm=policy, mem="8M", swap="sim:ssd,size=64K", cmdline=f"guard={guard}", timeout=200).check_exit()
    result.check_lines([r"^R thrash nproc=2 .*corrupt=0", "^ended$", "^ok$"])
    assert "violation" not in result.console, result.tail()


@pytest.mark.parametrize(("policy", "guard"), soak_but(ALL, ("2q", "none")))
def test_two_GiB(policy: str, guard: str) -> None:
    run = f"seqscan 65536 1 w; {CHECK}"
    expect_no_violation(boot(run, vm=policy, mem="2G", swap="none", cmdline=f"guard={guard}", timeout=200))


def each_after_each(names: list[str]) -> list[str]:
    """A walk in which every name follows every other name once: an Euler circuit, found with Hierholzer's algorithm."""
    left = {name: [other for other in names if other != name] for name in names}
    path, circuit = [names[0]], []
    while path:
        if left[path[-1]]:
            path.append(left[path[-1]].pop())
        else:
            circuit.append(path.pop())
    return circuit


WALK = each_after_each(POLICIES)
PARTS = [WALK[at : at + SWITCHES + 1] for at in range(0, len(WALK) - 1, SWITCHES)]


def expect_switches(names: list[str], guard: str = "none") -> None:
    """Switches from each to the next, under load."""
    script = "".join(f"echo {name}>$s;sleep .02;" for name in names[1:])
    run = f"s={SWITCH};thrash 6 2048 20 1000&{script}wait;{CHECK}"
    result = boot(run, vm=names[0], cmdline=f"guard={guard}", timeout=300, telemetry=True, **FAST)
    expect_no_violation(result)
    assert [record["name"] for record in result.telemetry if record["ev"] == "policy"] == names[1:], result.tail()


def test_walk_has_every_pair_once() -> None:
    pairs = [(a, b) for part in PARTS for a, b in itertools.pairwise(part)]
    assert sorted(pairs) == sorted(itertools.permutations(POLICIES, 2))


@pytest.mark.soak
@pytest.mark.parametrize("part", range(len(PARTS)))
def test_switching_between_all_of_them(part: int) -> None:
    expect_switches(PARTS[part])


@pytest.mark.soak
@pytest.mark.parametrize("guard", GUARDS)
def test_switching_under_a_guard(guard: str) -> None:
    expect_switches(PARTS[GUARDS.index(guard)], guard)


@pytest.mark.soak
@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_under_every_guard(policy: str, guard: str) -> None:
    runs = "; ".join(WORKLOADS.values())
    expect_no_violation(boot(f"{runs}; {CHECK}", vm=policy, cmdline=f"guard={guard}", timeout=300, **FAST))


@pytest.mark.soak
@pytest.mark.parametrize("program", ["policy/policies_test", "guard/guards_test"])
def test_a_million_processes_begin_and_end(program: str) -> None:
    """Runs the host tests of all policies and of all guards with a million processes for each of them."""
    command = [qemu.ROOT / "build/host/kernel/mm" / program]
    done = subprocess.run(command, env={**os.environ, "PROCESSES": "1000000"}, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
