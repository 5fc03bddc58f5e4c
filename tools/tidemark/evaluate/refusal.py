"""Why a policy is refused: the stage that found it, the rule that it broke, and a sentence."""

from __future__ import annotations

from dataclasses import dataclass

from tidemark.errors import BAD_INPUT, FAILED, LabError

FILE, COMPILE, OBJECT, SIMULATOR, KERNEL = "file", "compile", "object", "simulator", "kernel"


@dataclass(frozen=True)
class Refusal:
    """`rule` names the rule: one of mm/policy.h's, such as "none" or "count", or one of ours: "file", "name",
    "compile", "plain-c", "policy", "memory", "time", "min", "run"."""

    stage: str
    rule: str
    said: str

    @property
    def status(self) -> int:
        """The exit status of the command."""
        return BAD_INPUT if self.stage == FILE else FAILED


class Refused(LabError):
    """The policy is refused."""

    def __init__(self, stage: str, rule: str, said: str) -> None:
        self.refusal = Refusal(stage, rule, said)
        super().__init__(said, self.refusal.status)
