"""Which moment is shown: the latest of a running machine, or one that moves through the recorded samples. Pure.

`live` follows the latest sample. Otherwise the moment advances by `speed` seconds of virtual time per second of host
time, and becomes live when it reaches the latest sample of a machine that still runs.
"""

from __future__ import annotations

from dataclasses import dataclass

from tidemark.watch.model import Recording

SLOWEST, FASTEST = 1 / 64, 4096


@dataclass
class Player:
    """`t_us` is the virtual time shown."""

    speed: float = 4.0
    live: bool = True
    paused: bool = False
    t_us: float = 0.0

    def advance(self, recording: Recording, host_s: float, running: bool) -> int:
        """The index of the sample to show now, `host_s` after the last call; `running`: more samples may come."""
        last = recording.samples[-1]["t_us"]
        if self.paused:
            return recording.index_at(self.t_us)
        self.t_us = last if self.live else self.t_us + self.speed * host_s * 1e6
        if self.t_us >= last:
            self.t_us, self.live = last, self.live or running
        return recording.index_at(self.t_us)

    def step(self, recording: Recording, by: int) -> None:
        """Go `by` samples forward (or back, if negative), and pause there."""
        at = recording.index_at(self.t_us) + by
        self.paused = True
        self.t_us = recording.samples[min(max(at, 0), len(recording.samples) - 1)]["t_us"]

    def go(self, recording: Recording, to_end: bool) -> None:
        """Go to the first sample and play from there, or to the last."""
        self.paused, self.live = False, to_end
        self.t_us = recording.samples[-1 if to_end else 0]["t_us"]

    def faster(self, factor: float) -> None:
        """Multiply the speed by `factor`, within SLOWEST and FASTEST."""
        self.speed = min(max(self.speed * factor, SLOWEST), FASTEST)
