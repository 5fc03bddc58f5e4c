"""Δ = C_B − C_D as a sum, and the waits in it: exact, and each wait in one term. Γ, and the times when γ exists."""

from __future__ import annotations

import pytest
from guest import Result, boot
from tidemark.runs import summary

THRASH = "thrash 8 4096 3 300"
USER, KERNEL, READY, PAGEWAIT, ADMIT, SLEEP = range(6)
RECORDED = {"swap": "sim:hdd", "telemetry": True}
ROUNDED = 2  # error of the sum of two or three numbers, each rounded down


def exits(result: Result) -> list[dict]:
    return [record for record in result.check_exit().telemetry if record["ev"] == "exit"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    """With waits of minor faults and for admission; with many major faults; with waits of system calls for a disk."""
    disk = tmp_path_factory.mktemp("disk") / "disk"
    disk.write_bytes(bytes(1 << 20))
    return {
        "ws": boot(THRASH, vm="ws", mem="16M", **RECORDED),
        "serialize": boot(THRASH, vm="2q", mem="16M", cmdline="guard=serialize", **RECORDED),
        "2q": boot("thrash 5 2048 4 300", vm="2q", mem="12M", **RECORDED),
        "calls": boot("dd if=/dev/sda of=/dev/null bs=4096", disk=disk, telemetry=True),
    }


@pytest.fixture(scope="module", params=["ws", "serialize", "2q", "calls"])
def records(request: pytest.FixtureRequest, runs: dict[str, Result]) -> list[dict]:
    return exits(runs[request.param])


def test_terms_add_up_to_delta(records: list[dict]) -> None:
    for record in records:
        assert sum(record["delta_terms"].values()) == record["delta"] == record["c_b"] - record["c_d"]


def test_terms_are_those_of_the_accounts(records: list[dict]) -> None:
    for record in records:
        terms, space = record["delta_terms"], record["page_ms"]
        for name, account in (("housekeeping", KERNEL), ("ready", READY), ("admission", ADMIT), ("sleep", SLEEP)):
            assert abs(terms[name] - space[account]) <= ROUNDED, (record["pid"], name)
        waits = terms["rss_change"] + terms["minor_wait"] + terms["other_wait"]
        assert abs(waits - (space[PAGEWAIT] - (record["c_d"] - space[USER]))) <= ROUNDED, record["pid"]
        assert record["housekeeping"] // 1000 == space[KERNEL]


@pytest.mark.parametrize("name", ["ws", "serialize", "2q"])
def test_a_program_that_only_faults_waits_in_its_faults(runs: dict[str, Result], name: str) -> None:
    """The time that it waits for pages is that of its major and minor faults. If a system call waits for a page, as in
    a program that clang has built, other_wait has it; most of the processes have none."""
    parent, *children = sorted(exits(runs[name]), key=lambda record: record["us"][USER])
    assert len(children) >= 5 and parent["minflt"] < 100
    in_calls = []
    for record in children:
        terms, waited = record["delta_terms"], record["us"][PAGEWAIT]
        in_calls.append(waited - record["fault_delay_us"] - record["minor_delay_us"])
        assert (terms["other_wait"] > 1) == (in_calls[-1] > ROUNDED), record["pid"]
        assert in_calls[-1] >= -ROUNDED and 0 <= terms["minor_wait"] <= record["page_ms"][PAGEWAIT] + 1
        assert terms["minor_wait"] * 1000 <= record["minor_delay_us"] * record["max_rss"] + 1000
        if not record["majflt"] and in_calls[-1] <= ROUNDED:
            assert terms["rss_change"] == 0 and abs(terms["minor_wait"] - record["page_ms"][PAGEWAIT]) <= 1
    assert sum(us > ROUNDED for us in in_calls) <= len(children) // 2, in_calls


def test_waits_of_minor_faults_and_for_admission_are_seen(runs: dict[str, Result]) -> None:
    terms = [record["delta_terms"] for record in exits(runs["ws"])]
    assert sum(one["minor_wait"] for one in terms) > sum(one["housekeeping"] for one in terms) > 0
    assert sum(one["admission"] for one in terms) > 1000
    assert sum(record["delta_terms"]["admission"] for record in exits(runs["serialize"])) > 1000


def test_waits_of_calls_are_apart(runs: dict[str, Result]) -> None:
    [record] = (record for record in exits(runs["calls"]) if record["comm"] == "dd")
    waited_us = record["us"][PAGEWAIT] - record["fault_delay_us"] - record["minor_delay_us"]
    assert waited_us > 1000 and record["delta_terms"]["other_wait"] > 0


def test_console_gives_gamma_from_thirty_major_faults_on(runs: dict[str, Result]) -> None:
    shown = set()
    for name in ("ws", "2q"):
        lines = {line.split()[0]: line.split() for line in runs[name].console.splitlines() if " thrash " in line}
        for record in exits(runs[name]):
            enough = record["majflt"] >= summary.GAMMA_MAJFLT
            gamma = str(record["housekeeping"] // record["fault_rss"]) if enough else "few"
            assert lines[str(record["pid"])][-2:] == [f"{record['housekeeping'] // 1000 / 1000:.3f}", gamma]
            shown.add(enough)
    assert shown == {True, False}
