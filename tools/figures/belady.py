#!/usr/bin/env python3
"""Belady's anomaly: a reference string for which fifo faults more often with one more frame."""

from __future__ import annotations

from common import measure, publish, table

STRING = "1 2 3 4 1 2 5 1 2 3 4 5"
POLICIES = ("fifo", "clock", "2q", "ws")
FRAMES = (3, 4, 5)


def faults(policy: str, frames: int) -> int:
    """Faults on the pages of the string."""
    return int(measure(f"refstring {STRING}", vm=policy, frames=str(frames)).number(r"^faults: (\d+)"))


def main() -> None:
    rows = [[f"`{policy}`", *(faults(policy, frames) for frames in FRAMES)] for policy in POLICIES]
    titles = ["faults under", *(f"{frames} frames" for frames in FRAMES)]
    publish("belady", f'`make qemu RUN="refstring {STRING}" VM=... FRAMES=...`\n\n{table(titles, rows)}')


if __name__ == "__main__":
    main()
