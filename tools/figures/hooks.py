"""The cost of a policy's decisions: the share of its hooks in the guest's instructions, for every policy of the tree.

The kernel measures the time in hooks with the clock; in an exact run a nanosecond is an instruction. QEMU's plugin,
which does not know about hooks, counts the instructions of each function. The functions in the policy's own file must
take fewer instructions than the hooks, which also include the policy's calls that read accessed bits.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from tidemark.debug import profile
from tidemark.machine import qemu
from tidemark.runs import results
from tidemark.strings import vmsim

from figures.common import in_parallel, table, tidemark
from figures.entries import ROOT, Figure

RUN, MEM = "seqscan 38912 5", "42176K"


def own_functions(policy: str) -> set[str]:
    """The names of the functions in a policy's file, except those that only show something."""
    symbols = subprocess.run(["nm", f"build/kernel/mm/policy/{policy}.o"], cwd=ROOT, capture_output=True, text=True)
    names = {name.partition(".")[0] for name in re.findall(r" [tT] (\S+)$", symbols.stdout, re.MULTILINE)}
    return {name for name in names if not name.endswith("_show")}


def thousands(count: float) -> str:
    """Instructions, in thousands."""
    return f"{count / 1e3:,.0f}"


def row(policy: str) -> list[object]:
    """A policy's row of the table."""
    with tempfile.TemporaryDirectory(prefix="tidemark-figures-") as scratch:
        folder = Path(scratch, policy)
        tidemark("profile", "--exact", "--vm", policy, "--mem", MEM, "-q", "-o", str(folder), "--", *RUN.split())
        counts = profile.merged(profile.read_counts(folder / profile.COUNTS))
        last = results.load(folder).telemetry().samples[-1]
    own = own_functions(policy)
    checks = sum(count for name, count in counts.items() if name in own and name.endswith("_check"))
    every, hooks = sum(counts.values()), 1000 * last["policy_us"]
    samples = 1000 * last["cost_us"]
    shares = (f"{100 * hooks / every:.1f}", f"{100 * hooks / (every - samples):.1f}")
    of_file = sum(count for name, count in counts.items() if name in own)
    faults = f"{last['vm']['pgfault']:,}"
    scanned = f"{last['vm']['pgscan_kswapd'] + last['vm']['pgscan_direct']:,}"
    return [f"`{policy}`", faults, scanned, thousands(hooks), thousands(of_file), thousands(checks), *shares]


def make(figure: Figure, work: Path) -> str:
    titles = [
        "policy",
        "faults",
        "pages looked at",
        "thousand instructions in hooks",
        "of them in its own functions",
        "of these, its check",
        "hooks, % of all",
        "% without samples",
    ]
    how = f'`make qemu MEM={MEM} RUN="{RUN}" VM=...`, `SWAP={qemu.Settings().swap}`'
    # min and vmin need a future, which this run does not have
    rows = in_parallel(row, [name for name in vmsim.policies() if name not in vmsim.WITH_FUTURE])
    return f"{how}; all: what the guest executed, counted by QEMU's plugin.\n\n{table(titles, rows)}"
