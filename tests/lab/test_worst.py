"""The adversary: `tidemark worst`, and the simulator's way to run many short strings."""

from __future__ import annotations

import itertools
import json
import random
import signal
import time
from pathlib import Path

import pytest
from lab import tidemark, tidemark_in_background
from tidemark.commands.worst import text as text_of
from tidemark.errors import FAILED, INTERRUPTED, NO_TOOL, USAGE, LabError
from tidemark.machine import qemu
from tidemark.runs import worst_program
from tidemark.strings import compare, refstrings, vmsim, worst

FRAMES = 3


def strings(number: int, seed: int = 1) -> list[worst.String]:
    rng = random.Random(seed)
    return [worst.at_random(rng, worst.LONGEST) for _ in range(number)]


def text(string: worst.String) -> str:
    return " ".join(map(str, string))


@pytest.mark.parametrize("policy", ["clock", "2q", "arc", "lirs", "random", "ws"])
def test_each_of_many_strings_starts_afresh(policy: str) -> None:
    """Against one process for each string, and in another order."""
    some = strings(30)
    count = worst.counter(policy, FRAMES, ())
    program = vmsim.build(policy, fast=True)
    assert count(some) == [vmsim.run(program, refstrings.find(text(string)), FRAMES).faults for string in some]
    assert count(some[::-1]) == count(some)[::-1]


def test_least_faults_are_those_of_the_curves() -> None:
    for string, frames in itertools.product(strings(60), (1, 3, 7)):
        assert worst.least_faults(string, frames) == compare.bounds(refstrings.find(text(string)), [frames])["MIN"][0]


def test_it_finds_the_worst_of_all_short_strings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all strings of at most 8 references to at most 3 pages, counted one by one."""
    monkeypatch.setattr(worst, "MOST_PAGES", 3)
    fifo, clock = (worst.counter(policy, 2, ()) for policy in ("fifo", "clock"))
    every = sorted(
        {
            worst.renumbered(pages, 8)
            for length in range(1, 9)
            for pages in itertools.product(range(1, 4), repeat=length)
        }
    )
    ratios = [(-a / b, len(string)) for string, a, b in zip(every, fifo(every), clock(every))]
    found = worst.search("fifo", "clock", 2, 1500, longest=8)
    assert (-found.ratio, len(found.string)) == min(ratios)


def test_same_seed_same_string_within_the_limits() -> None:
    first, again = (worst.search("clock", worst.MIN, 4, 4000, seed=3) for _ in range(2))
    assert first == again and first.tried == 4000
    assert len(first.string) <= worst.LONGEST and max(first.string) <= worst.MOST_PAGES
    assert first.ratio > 2.5
    assert first != worst.search("clock", worst.MIN, 4, 4000, seed=4)


def test_more_tries_are_never_worse() -> None:
    ratios = [worst.search("lru", "arc", 4, tries).ratio for tries in (1, 500, 3000)]
    assert ratios == sorted(ratios)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("clock", "clock"), "same policy"),
        (("MIN", "clock"), "only be the second"),
        (("min", "clock"), "write MIN"),
        (("clock", "vmin"), "write MIN"),
        (("clock", "nosuch"), "there is no kernel/mm/policy/nosuch.c"),
        (("clock", "fifo", "--frames", "12"), "1 to 11"),
        (("clock", "fifo", "--frames", "0"), "1 to 11"),
        (("clock", "fifo", "--references", "41"), "1 to 40"),
        (("clock", "fifo", "--set", "clock.nosuch=1"), "no such parameter"),
        (("clock", "fifo", "--set", "lru.x=1"), "a policy that is compared"),
    ],
)
def test_wrong_words(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    done = tidemark("worst", *words, cwd=tmp_path)
    assert done.returncode == USAGE and said in done.stderr and not done.stdout


def test_a_policy_with_other_parameters_is_another_policy() -> None:
    with pytest.raises(LabError, match="same policy"):
        worst.search("ws", "ws", 4, 10)
    assert worst.search("ws", "ws", 4, 10, parameters=(["tau_ms=1"], [])).tried == 10


def test_what_the_command_says(tmp_path: Path) -> None:
    told = tidemark("worst", "clock", "fifo", "--tries", 600, "--quiet", cwd=tmp_path)
    assert told.returncode == 0 and not told.stderr
    as_json = tidemark("worst", "clock", "fifo", "--tries", 600, "--json", cwd=tmp_path)
    found = json.loads(as_json.stdout)
    assert text(found["string"]) == told.stdout.splitlines()[0]
    assert found["ratio"] == found["faults_a"] / found["faults_b"] > 1
    assert f"{found['ratio']:.2f} times as many" in told.stdout and "600 strings were tried" in told.stdout
    again = tidemark("sim", "--vm", "clock", "--frames", 4, "--json", text(found["string"]), cwd=tmp_path)
    assert json.loads(again.stdout)["faults"] == found["faults_a"]


def test_command_that_is_stopped_says_what_was_worst(tmp_path: Path) -> None:
    running = tidemark_in_background("worst", "clock", "fifo", "--tries", 10**7, "--quiet", cwd=tmp_path)
    time.sleep(8)
    running.send_signal(signal.SIGINT)
    said, complained = running.communicate(timeout=30)
    assert running.returncode == INTERRUPTED and "the worst so far" in complained
    assert "times as many" in said and "strings were tried (seed 1)" in said


def test_command_to_see_it_has_the_parameters() -> None:
    found = worst.Worst("ws", "fifo", 4, (1, 2), 2, 1, 9, 1)
    assert text_of(found, ["ws.tau_ms=1"]).endswith('tidemark sim --vm ws --frames 4 --set ws.tau_ms=1 --explain "1 2"')


# --- the parameters of a program ---

SWEET = 3000  # the number at which the stand-in for a run has most faults


def faults_near(settings: qemu.Settings) -> int:
    """A stand-in for a run: policy a has most faults at SWEET; above 6,000 a run fails."""
    _, first, second = settings.run.split()
    if int(first) > 6000:
        raise LabError("out of memory", FAILED)
    return 10 if settings.vm == "b" else max(1, 1000 - abs(int(first) - SWEET)) * int(second)


def search(tries: int, seed: int = 1, command: str = "p {100..9000} {1..4}") -> worst_program.Worst:
    return worst_program.search(command, qemu.Settings(), ("a", "b"), tries, seed)


def test_numbers_of_a_program_come_near_the_worst(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worst_program, "major_faults", faults_near)
    found = search(60)
    _, first, second = found.command.split()
    assert abs(int(first) - SWEET) < 300 and second == "4" and found.ratio > 280
    assert found.failed > 0 and found.tried == 60
    assert found == search(60) != search(60, seed=2)
    assert found.ratio >= search(10).ratio


def test_program_that_never_runs_is_an_error_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worst_program, "major_faults", faults_near)
    with pytest.raises(LabError, match="no try of 3 ran under both policies; the last: out of memory") as caught:
        search(3, command="p {7000..9000} 1")
    assert caught.value.code == FAILED

    def missing(settings: qemu.Settings) -> int:
        raise LabError("qemu is not installed", NO_TOOL)

    monkeypatch.setattr(worst_program, "major_faults", missing)
    with pytest.raises(LabError, match="qemu is not installed"):
        search(3)


@pytest.mark.parametrize("command", ["thrash 2 1024", "thrash {9..3} 1024", "thrash {0..3}", "thrash {1...3}"])
def test_workload_without_a_range(command: str, tmp_path: Path) -> None:
    done = tidemark("worst", "2q", "ws", "--workload", command, cwd=tmp_path)
    assert done.returncode == USAGE and "--workload" in done.stderr


def test_numbers_of_a_program_in_the_kernel(tmp_path: Path) -> None:
    words = ("--workload", "thrash {4..6} {1500..2500} 2 300", "--mem", "8M", "--swap", "sim:ssd", "--tries", 2)
    found = json.loads(tidemark("worst", "2q", "ws", *words, "--json", cwd=tmp_path).stdout)
    run = tidemark("run", found["command"], "--vm", "2q", "--mem", "8M", "--swap", "sim:ssd", cwd=tmp_path)
    assert f"{found['faults_a']:,} of them major".replace(",", "") in run.stdout.replace(",", "")
    refused = tidemark("worst", "2q", "nosuch", *words, cwd=tmp_path)
    assert refused.returncode == USAGE and "no such policy" in refused.stderr
