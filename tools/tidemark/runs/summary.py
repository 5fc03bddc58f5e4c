"""A run in numbers: the costs of each process and of the system. Pure functions of the telemetry."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from tidemark.runs.results import Result
from tidemark.telemetry import story, thrashing
from tidemark.telemetry.records import Exit, Sample
from tidemark.telemetry.stream import Telemetry, TelemetryError

SHARES = ("utilisation", "user", "policy", "hooks")
ACCOUNTS = ("user", "kernel", "ready", "pagewait", "admit", "sleep")
# The kernel's names of Δ's terms, and their names in texts.
TERMS = {
    "housekeeping": "housekeeping Γ",
    "ready": "ready",
    "minor_wait": "waits of minor faults",
    "other_wait": "other waits for pages",
    "admission": "admission",
    "sleep": "other sleep",
    "rss_change": "change of RSS in waits of major faults",
}
GAMMA_MAJFLT = 30  # with fewer major faults γ says nothing; as in kernel/observe/summary.c


def terms_of(record: Exit) -> Mapping[str, Any]:
    """Δ's terms by the kernel's names, page-ms."""
    return record["delta_terms"]


def gamma_us(record: Exit) -> float | None:
    """γ: Γ, the space-time of the kernel's work, over Σ RSS of the major faults. None if there were too few faults."""
    enough = record["majflt"] >= GAMMA_MAJFLT and record["fault_rss"]
    return record["housekeeping"] / record["fault_rss"] if enough else None


def process(record: Exit) -> dict[str, Any]:
    """One `exit` record in the units of tables: ms, KiB, page-seconds, µs. `exit`: status, negative for a signal."""
    status = record["status"]
    return {
        "pid": record["pid"],
        "command": record["comm"],
        "exit": -(status & 0x7F) if status & 0x7F else status >> 8,
        "turnaround_ms": record["turnaround_us"] / 1e3,
        **{f"{name}_ms": us / 1e3 for name, us in zip(ACCOUNTS, record["us"])},
        "minflt": record["minflt"],
        "majflt": record["majflt"],
        "mean_rss_kib": record["mean_rss"] * 4,
        "max_rss_kib": record["max_rss"] * 4,
        "c_b_page_s": record["c_b"] / 1e3,
        "c_d_page_s": record["c_d"] / 1e3,
        "delta_page_s": record["delta"] / 1e3,
        **{f"delta_{name}_page_s": terms_of(record)[name] / 1e3 for name in TERMS},
        "kernel_page_s": record["housekeeping"] / 1e6,
        "gamma_us": gamma_us(record),
    }


def delta(records: Sequence[Exit]) -> str:
    """Δ of all these processes together, as the sum of its terms: `Δ 5.000 page-s = housekeeping Γ 1.000 + ready …`."""
    terms = {said: sum(terms_of(record)[name] for record in records) for name, said in TERMS.items()}
    shown = "".join(f" {'−' if ms < 0 else '+'} {said} {abs(ms) / 1e3:,.3f}" for said, ms in terms.items() if ms)
    total = sum(record["delta"] for record in records) / 1e3
    return f"Δ {total:,.3f} page-s = {shown.removeprefix(' + ').strip() or '0'}".replace("Δ -", "Δ −")


def gamma(records: Sequence[Exit]) -> str:
    """Γ of all these processes together, and γ, or why γ is missing."""
    majflt, sum_us, fault_rss = (sum(r[name] for r in records) for name in ("majflt", "housekeeping", "fault_rss"))
    if majflt < GAMMA_MAJFLT or not fault_rss:
        quotient = f"γ: too few major faults ({majflt}; {GAMMA_MAJFLT} are needed)"
    else:
        quotient = f"γ {sum_us / fault_rss:,.1f} µs, of {majflt:,} major faults"
    return f"Γ {sum_us / 1e6:,.3f} page-s; {quotient}"


def hooks(last: Sample) -> int:
    """Microseconds in the hooks of the policy and of guards."""
    guard: Mapping[str, Any] = last.get("guard", {})
    return int(last["policy_us"] + guard.get("us", 0))


def system(telemetry: Telemetry) -> dict[str, float]:
    """The system over the whole run, from its last sample: seconds, shares of 1, counts. Empty without samples.

    `pages_in` and `pages_out` are those of the swap area; `read_kib` was read from files, with their metadata.

    `hooks` is the share of policy and guards in the processor's work; the other shares are of all time.
    """
    if not telemetry.samples:
        return {}
    last = telemetry.samples[-1]
    total_us = last["t_us"] - telemetry.start["t_us"]
    user_us = sum(record["us"][0] for record in telemetry.exits)
    vm = last["vm"]
    return {
        "virtual_s": total_us / 1e6,
        "utilisation": 1 - last["idle_us"] / total_us,
        "user": user_us / total_us,
        "policy": last["policy_us"] / total_us,
        "hooks": hooks(last) / max(total_us - last["idle_us"], 1),
        "faults": vm["pgfault"],
        "major_faults": vm["pgmajfault"],
        "refaults": vm["workingset_refault"],
        "pages_in": vm["pswpin"],
        "pages_out": vm["pswpout"],
        "read_kib": vm.get("pgpgin", 0),
        "stalls": vm["allocstall"],
        "admission_waits": vm["admission_wait"],
        "oom_kills": vm["oom_kill"],
        "policy_violations": vm["policy_violation"],
    }


def in_percent(system: Mapping[str, float]) -> dict[str, float]:
    """The numbers of `system`, with its shares as percent."""
    return {
        f"{name}_percent" if name in SHARES else name: value * (100 if name in SHARES else 1)
        for name, value in system.items()
    }


def measured(data: Telemetry) -> dict[str, float]:
    """A whole run in numbers.

    turnaround_s     of the command: the longest of its processes', creation to end (it waits for its children)
    mean_turnaround_s, throughput_per_s   of the jobs: all processes but the command itself, if it has children;
                     throughput is jobs that ended with status 0 over the command's turnaround
    worst_over_mean  the longest turnaround of the jobs over their mean, if there are two jobs or more
    free_pages       at boot: an upper bound of what a policy can use
    held_pages       the policy's pages, which are of files, at the end, when the command's processes are gone
    thrashing_s      how long the run thrashed (tidemark.telemetry.thrashing)
    demand_mib, frames_mib   the largest total demand at any instant, and the available memory
    user_s, pagewait_s       of all processes together: in user mode, and waiting for pages
    the others       from `system`, shares in percent
    """
    numbers = in_percent(system(data))
    if "free" in data.start:
        numbers["free_pages"] = data.start["free"]
    if data.samples:
        numbers["held_pages"] = sum(data.samples[-1]["owned"])
    spells = thrashing.of(data)
    if spells is not None:
        numbers["thrashing_s"] = sum(end - begin for begin, end in spells)
    wanted = story.demand(data)
    if wanted and wanted.frames:
        numbers["demand_mib"] = wanted.pages / story.PAGES_A_MIB
        numbers["frames_mib"] = wanted.frames / story.PAGES_A_MIB
    if data.exits:
        numbers["user_s"], numbers["pagewait_s"] = (
            sum(record["us"][at] for record in data.exits) / 1e6 for at in (0, 3)
        )
        command = max(data.exits, key=lambda record: record["turnaround_us"])
        jobs = [record for record in data.exits if record is not command] or [command]
        whole_s = story.turnaround_s(data)
        numbers["turnaround_s"] = whole_s
        turnarounds = [record["turnaround_us"] for record in jobs]
        numbers["mean_turnaround_s"] = mean(turnarounds) / 1e6
        if len(jobs) > 1:
            numbers["worst_over_mean"] = max(turnarounds) / mean(turnarounds)
        numbers["throughput_per_s"] = sum(record["status"] == 0 for record in jobs) / whole_s if whole_s else 0.0
    return numbers


def measured_result(result: Result, data: Telemetry) -> dict[str, float]:
    """`measured`, and wake_p99_ms if the command is `interactive`: it writes its spread of wakes to the console."""
    console = result.console_path.read_text("ascii", "replace") if result.console_path.exists() else ""
    wake = re.search(r"^R interactive_wake .* p99=([\d.]+)", console, re.M)
    return measured(data) | ({"wake_p99_ms": float(wake[1]) / 1000} if wake else {})


def of(telemetry: Telemetry) -> dict[str, Any]:
    """{"processes": [...], "system": {...}, "story": what happened, in a sentence, "space_time": Δ and γ, as text}."""
    processes, said = [process(record) for record in telemetry.exits], story.sentence(telemetry)
    space_time = [delta(telemetry.exits), gamma(telemetry.exits)] if processes else []
    return {"processes": processes, "system": system(telemetry), "story": said, "space_time": space_time}


def of_result(result: Result) -> dict[str, Any]:
    """As `of`, for a result with possibly partial telemetry: a refused run has none, a panic cuts it off."""
    try:
        return of(result.telemetry(partial=True))
    except TelemetryError:
        return {"processes": [], "system": {}, "story": "", "space_time": []}
