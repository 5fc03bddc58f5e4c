#!/usr/bin/env python3
"""Memory and files: the part of a hot set that survives a scan, by policy, and the effect of McMenamin's guards.

`filemix` uses a hot set and reads a file larger than memory. Five jitters each: the median, and the range in brackets
if there is one. Arguments: the tables to make.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from common import ROOT, Outcome, host, in_parallel, measure, publish, run_parts, table
from tidemark.report import svg

JITTERS = range(1, 6)
MACHINE = {"mem": "16M", "disk": "48M", "swap": "sim:hdd"}
SCAN = "filemix /mnt/f 6144 32768 3"
HOT = {
    "memory, used between passes": SCAN,
    "memory, used beside": f"{SCAN} 1",
    "a mapped file, used beside": f"{SCAN} 1 hotfile",
}
POLICIES = [
    "2q", "aging", "arc", "car", "clock", "clock2q", "clockpro", "fifo", "js2q", "linux20", "linux22", "linux24",
    "lirs", "lru", "mglru", "nru", "pff", "random", "s3fifo", "sieve", "useonce", "vms", "ws", "wsclock",
]  # fmt: skip
TOGETHER = "sh -c 'filemix /mnt/f 4096 24576 3 8 mmap & sleep 3; grow 10240 20 1000; wait'"
GUARDS = ["mc62", "mc63", "mc64", "mc72", "mc73", "mc74", "mc741", "mc75"]
KINDS = {1: "of files", 2: "anonymous"}
PICTURES = ROOT / "docs/figures"


def run(command: str, vm: str, jitter: int, more: str = "") -> Outcome:
    """One run; `vm` may be followed by parameters."""
    name, *parameters = vm.split()
    cmdline = " ".join([*parameters, more, f"jitter={jitter}", "sample_ms=1000"])
    return measure(command, vm=name, cmdline=cmdline, timeout=600, **MACHINE)


def numbers(outcome: Outcome, program: str, *names: str) -> list[float]:
    """Numbers of the program's line of results, which must say that nothing was corrupt."""
    outcome.number(rf"^R {program} .*corrupt=(0)$")
    return [outcome.number(rf"^R {program} .*\b{name}=([\d.]+)") for name in names]


def digits(value: float) -> str:
    """Three significant digits, without an exponent."""
    return f"{float(f'{value:.3g}') if value < 100 else round(value):,}"


def spread(values: Sequence[float]) -> str:
    """Median and range; the number alone if there is no range."""
    least, middle, most = (digits(f(values)) for f in (min, median, max))
    return middle if least == most else f"{middle} ({least} to {most})"


# --- a hot set beside a scan ---

Kept = dict[str, dict[str, list[float]]]  # per cent, by hot set and by policy; and times


def hot_sets() -> tuple[Kept, Kept]:
    """Per cent of the hot set in memory at the end of a pass, and seconds, of each jitter."""
    cases = [(hot, vm, jitter) for vm in POLICIES for hot in HOT for jitter in JITTERS]
    found = in_parallel(lambda case: numbers(run(HOT[case[0]], *case[1:]), "filemix", "kept", "run_us"), cases)
    kept: Kept = {hot: {vm: [] for vm in POLICIES} for hot in HOT}
    times: Kept = {hot: {vm: [] for vm in POLICIES} for hot in HOT}
    for (hot, vm, _), (percent, run_us) in zip(cases, found):
        kept[hot][vm].append(percent)
        times[hot][vm].append(run_us / 1e6)
    return kept, times


def draw(name: str, rows: Sequence[str], series: Kept, label: str, logarithmic: bool = False) -> None:
    """Draws docs/figures/NAME.svg: in each row, a mark for the median of each series, and a line from least to most."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "tidemark", "font.size": 8, "svg.fonttype": "none"})
    from matplotlib import pyplot, ticker

    figure, axes = pyplot.subplots(figsize=(7, 0.9 + 0.17 * len(rows)))
    for nr, ((key, found), mark, colour) in enumerate(zip(series.items(), "osD", ("#1f5f99", "#c8552b", "#3b7d3b"))):
        places = [at + (1 - nr) * 0.22 for at in range(len(rows))]
        values = [found[row] for row in rows]
        axes.hlines(places, [min(one) for one in values], [max(one) for one in values], color=colour, lw=1)
        axes.plot([median(one) for one in values], places, mark, color=colour, ms=3.5, label=key)
    if logarithmic:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter("")
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylim(-0.7, len(rows) - 0.3)
    axes.set_xlabel(label)
    axes.grid(color="#eeeeee")
    axes.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=3, frameon=False, fontsize=7)
    figure.tight_layout()
    (PICTURES / f"{name}.svg").write_bytes(svg.drawn(figure))


def hot() -> None:
    kept, times = hot_sets()
    order = sorted(POLICIES, key=lambda vm: sum(median(kept[name][vm]) for name in HOT))
    draw("files-hot-set", order, kept, "% of the hot set in memory at the end of a pass")
    titles = ["policy", *(f"{name}: % kept" for name in HOT), *(f"{name}: s" for name in HOT)]
    rows = [
        [f"`{vm}`", *(spread(kept[name][vm]) for name in HOT), *(spread(times[name][vm]) for name in HOT)]
        for vm in POLICIES
    ]
    publish(
        "files-hot",
        f'`tidemark run "{SCAN} ..." --mem 16M --disk 48M --vm ... --jitter 1` to 5: 6 MiB hot, a file of '
        f"32 MiB read three times; {host()}.\n\n{table(titles, rows)}",
    )


# --- guards ---


def guarded(case: tuple[str, int, int]) -> list[float]:
    """Seconds of filemix and of grow, and per cent of filemix's memory that stays resident."""
    guard, kind, jitter = case
    # The guards of section 7 act only in distress, which 2q does not reach here.
    always = f" {guard}.below=13" if guard.startswith("mc7") else ""
    more = f"guard={guard} {guard}.kind={kind}{always}" if kind else ""
    outcome = run(TOGETHER, "2q", jitter, more)
    stream_us, kept = numbers(outcome, "filemix", "run_us", "kept")
    (grow_us,) = numbers(outcome, "grow", "run_us")
    return [stream_us / 1e6, grow_us / 1e6, kept]


def guards() -> None:
    settings = [("none", 0), *((guard, kind) for guard in GUARDS for kind in KINDS)]
    cases = [(*setting, jitter) for setting in settings for jitter in JITTERS]
    found = in_parallel(guarded, cases)
    of: dict[tuple[str, int], list[list[float]]] = {}
    for one in settings:
        of[one] = [list(values) for values in zip(*(v for case, v in zip(cases, found) if case[:2] == one))]
    rows = [[guard, KINDS.get(kind, ""), *map(spread, values)] for (guard, kind), values in of.items()]
    names = {setting: " ".join([setting[0], KINDS.get(setting[1], "")]).strip() for setting in of}
    series = {key: {names[one]: of[one][nr] for one in of} for nr, key in enumerate(("filemix", "grow"))}
    draw("files-guards", [names[one] for one in reversed(settings)], series, "seconds", logarithmic=True)
    publish(
        "files-guards",
        f'`tidemark run "{TOGETHER}" --mem 16M --disk 48M --cmdline "guard=... ...kind=..." --jitter 1` to 5, '
        f"`2q`; mc72 to mc75 with below=13; {host()}.\n\n"
        + table(["guard", "pages", "filemix s", "grow s", "filemix: % kept"], rows, text_columns=2),
    )


if __name__ == "__main__":
    run_parts(__doc__, {"hot": hot, "guards": guards})
