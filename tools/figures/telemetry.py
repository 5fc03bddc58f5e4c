#!/usr/bin/env python3
"""The cost of telemetry: the share of the processor's work spent on samples, as counted by the kernel."""

from __future__ import annotations

from common import in_parallel, measure, publish, table

RUNS = (
    ("thrash 4 1024 400 3000", "2q", "64M"),
    ("thrash 8 8192 10 12000", "ws", "24M"),
    ("thrash 8 8192 10 12000", "2q", "24M"),
    ("thrash 8 4096 10 3000", "2q", "16M"),
    ("thrash 8 8192 10", "ws", "24M"),
)


def row(case: tuple[str, str, str]) -> list[object]:
    """A run's row of the table."""
    command, policy, mem = case
    outcome = measure(command, telemetry=True, vm=policy, mem=mem)
    samples = outcome.records("sample")
    last = samples[-1]
    work_us = last["t_us"] - last["idle_us"]
    cost_us = last["cost_us"]  # host work, not machine time
    share, each = 100 * cost_us / (work_us + cost_us), cost_us / max(1, len(samples) - 1)
    total = f"{last['t_us'] / 1e6:.1f}"
    return [f"`{command}`", policy, mem, total, f"{work_us / 1e6:.2f}", len(samples), f"{each:.0f}", f"{share:.2f}"]


def main() -> None:
    titles = ["run", "policy", "memory", "virtual s", "of it work s", "samples", "thousand instructions each", "cost %"]
    how = "`tidemark run ... --vm ... --mem ...`; cost: of all instructions that the guest executed"
    publish("telemetry", f"{how}\n\n{table(titles, in_parallel(row, RUNS), text_columns=3)}")


if __name__ == "__main__":
    main()
