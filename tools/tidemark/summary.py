"""A run in numbers: what each process and the system cost. Pure functions of the telemetry."""

from __future__ import annotations

from tidemark.results import Result
from tidemark.telemetry import Telemetry, TelemetryError

ACCOUNTS = ("user", "kernel", "ready", "pagewait", "admit", "sleep")


def process(record: dict) -> dict:
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
        "gamma_us": record["gamma_us"],
    }


def system(telemetry: Telemetry) -> dict:
    """The system over the whole run, from its last sample: seconds, shares of 1, counts. Empty without samples."""
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
        "faults": vm["pgfault"],
        "major_faults": vm["pgmajfault"],
        "refaults": vm["workingset_refault"],
        "pages_in": vm["pswpin"],
        "pages_out": vm["pswpout"],
        "stalls": vm["allocstall"],
        "admission_waits": vm["admission_wait"],
        "oom_kills": vm["oom_kill"],
        "policy_violations": vm["policy_violation"],
    }


def of(telemetry: Telemetry) -> dict:
    """{"processes": [...], "system": {...}}."""
    return {"processes": [process(record) for record in telemetry.exits], "system": system(telemetry)}


def of_result(result: Result) -> dict:
    """The same of a result, as far as its telemetry goes: a refused run has none, a panic cuts it off."""
    try:
        return of(result.telemetry(partial=True))
    except TelemetryError:
        return {"processes": [], "system": {}}
