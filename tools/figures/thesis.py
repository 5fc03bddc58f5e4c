#!/usr/bin/env python3
"""Three experiments of J. Tucek's thesis (Linux Virtual Memory Manager, 2007, sections 5.1 and 6), scaled down.

swappiness: a sleeping program holds most of memory while a file is written, and while a file is read ten times.
scan: an array a little larger than memory, walked a hundred times. database: look-ups in a table by its index. His
machine had a gigabyte for the first and 96 MB for the array, and he does not give the size for the table; here it is
16 MiB. Here the array is 4 % larger than the memory that is free for it; his was 4 % larger than the machine's memory.
Five jitters each: the median, and the range in brackets if there is one. Arguments: the experiments to run.
"""

from __future__ import annotations

from collections.abc import Callable

from common import ROOT, Outcome, host, in_parallel, measure, publish, run_parts, table
from files import JITTERS, draw, numbers, spread
from tidemark.report import svg

SLEEPER_KIB, WRITTEN_KIB = 11264, 65536
WRITE = f"sh -c 'hog {SLEEPER_KIB} 60 & sleep 1; filescan /mnt/a 0 fill --kb {WRITTEN_KIB}; wait'"
HELD_KIB, READ_KIB, COPIES = 12288, 5120, 10
READ = (
    f"filescan /mnt/a 0 fill --kb {READ_KIB}; umount /mnt; mount -t ext2 /dev/sda /mnt; "
    f"sh -c 'hog {HELD_KIB} 30 & sleep 2; filescan /mnt/a {COPIES}; wait'"
)
ARRAY = "seqscan 13168 100"
DATABASE = "dbscan /mnt/t 92160 10000"
READERS = ["2q 2q.swappiness=0", "2q 2q.swappiness=60", "2q 2q.swappiness=100", "useonce", "clock", "clockpro", "arc"]
POLICIES = ["useonce", "2q", "clock", "clockpro", "arc", "lirs"]
DATABASE_POLICIES = ["useonce", "2q", "clockpro", "arc"]
PICTURE = ROOT / "docs/figures/swappiness.svg"


def run(command: str, vm: str, jitter: int, disk: str = "", **more: object) -> Outcome:
    """One run; `vm` may be followed by parameters."""
    name, *parameters = vm.split()
    cmdline = " ".join([*parameters, f"jitter={jitter}", "sample_ms=250"])
    settings = {"mem": "16M", "swap": "sim:hdd", "timeout": 900, **more}
    return measure(command, vm=name, disk=disk, cmdline=cmdline, **settings)


def each(function: Callable[[str, int], list[float]], names: list[str]) -> dict[str, list[list[float]]]:
    """function(name, jitter) for all: for each name its values, and for each value a list by jitter."""
    found = iter(in_parallel(lambda case: function(*case), [(name, jitter) for name in names for jitter in JITTERS]))
    return {name: [list(values) for values in zip(*(next(found) for _ in JITTERS))] for name in names}


# --- swappiness ---


def swapped(vm: str, jitter: int) -> list[float]:
    """The highest percentage of the sleeper in the swap area."""
    samples = run(WRITE, vm, jitter, "96M", telemetry=True).records("sample")
    pages = [one["swap"] for sample in samples for one in sample["procs"] if one["comm"] == "hog"]
    return [100 * max(pages) * 4 / SLEEPER_KIB]


def bandwidth(vm: str, jitter: int) -> list[float]:
    """MB/s of reading the file ten times."""
    outcome = run(READ, vm, jitter, "16M")
    outcome.number(r"^R filescan .*passes=10 corrupt=(0)")
    return [READ_KIB * 1024 * COPIES / outcome.number(rf"^R filescan .*passes={COPIES} .*\bus=(\d+)")]


def draw_swappiness(found: dict[int, list[float]], others: dict[str, list[float]]) -> None:
    """Draws 2q against swappiness, and the other policies, which have no swappiness, as lines."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "tidemark", "font.size": 8, "svg.fonttype": "none"})
    from statistics import median

    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5.5, 3))
    middle = [median(values) for values in found.values()]
    ends = [[m - min(v) for m, v in zip(middle, found.values())], [max(v) - m for m, v in zip(middle, found.values())]]
    axes.errorbar(list(found), middle, yerr=ends, fmt="o-", ms=3.5, capsize=2, color="#1f5f99", label="2q")
    for (name, values), style in zip(others.items(), ("-", ":")):
        axes.axhline(median(values), color="#c8552b" if style == "-" else "#222222", ls=style, label=name)
    axes.set_xlabel("2q.swappiness")
    axes.set_ylabel("% of the sleeping program swapped out")
    axes.set_ylim(0, 104)
    axes.legend(frameon=False, loc="center right")
    axes.grid(color="#eeeeee")
    figure.tight_layout()
    PICTURE.write_bytes(svg.drawn(figure))


def swappiness() -> None:
    values = range(0, 101, 10)
    names = [f"2q 2q.swappiness={value}" for value in values]
    others = ["useonce", "clock"]
    written = {name: value for name, (value,) in each(swapped, [*names, *others]).items()}
    draw_swappiness(
        {value: written[name] for value, name in zip(values, names)}, {name: written[name] for name in others}
    )
    read = {name: value for name, (value,) in each(bandwidth, READERS).items()}
    rows = [
        [f"`{name}`", spread(written[name]) if name in written else "", spread(read[name]) if name in read else ""]
        for name in [*names, *(one for one in READERS if one not in names)]
    ]
    titles = ["policy", "a file is written: % of the sleeper swapped out", "a file is read ten times: MB/s"]
    publish(
        "thesis-swappiness",
        f"`{WRITE}` and `{READ}`; {host()}.\n\n![Share of a sleeping program that is swapped out against swappiness]"
        f"(../figures/{PICTURE.name})\n\n{table(titles, rows)}",
    )


# --- the array and the table ---


def walked(vm: str, jitter: int) -> list[float]:
    """Pages read back, requests that read them, and seconds; also seconds if the disk head need not move."""
    disk, ssd = run(ARRAY, vm, jitter), run(ARRAY, vm, jitter, swap="sim:ssd")
    pages, reads = (disk.number(pattern) for pattern in (r"swap: (\d+) pages in", r"pages in, \d+ out by (\d+) reads"))
    return [pages, reads, *(numbers(one, "seqscan", "scan_us")[0] / 1e6 for one in (disk, ssd))]


def scan() -> None:
    found = each(walked, POLICIES)
    times = {disk: {vm: found[vm][nr] for vm in POLICIES} for nr, disk in ((2, "sim:hdd"), (3, "sim:ssd"))}
    draw("thesis-scan", POLICIES[::-1], times, "seconds", logarithmic=True)
    publish(
        "thesis-scan",
        f"`{ARRAY}`; {host()}.\n\n"
        + table(
            ["policy", "pages read", "requests", "s on sim:hdd", "s on sim:ssd"],
            [[f"`{vm}`", *(spread(values) for values in found[vm])] for vm in POLICIES],
        ),
    )


def looked_up(beside: str) -> Callable[[str, int], list[float]]:
    """Seconds of all look-ups, with the given number of pages of a scan after each."""

    def seconds(vm: str, jitter: int) -> list[float]:
        command = f"{DATABASE} {beside} --seed {jitter}"
        return [numbers(run(command, vm, jitter, "112M"), "dbscan", "run_us")[0] / 1e6]

    return seconds


def database() -> None:
    alone, beside = (each(looked_up(pages), DATABASE_POLICIES) for pages in ("0", "4"))
    both = {"look-ups": alone, "each with 4 pages of a scan": beside}
    times = {key: {vm: values[0] for vm, values in found.items()} for key, found in both.items()}
    draw("thesis-database", DATABASE_POLICIES[::-1], times, "seconds")
    publish(
        "thesis-database",
        f"`{DATABASE} 0 --seed N`, and with 4 in the place of 0; N is also the jitter; {host()}.\n\n"
        + table(
            ["policy", "look-ups: s", "each with 4 pages of a scan: s"],
            [[f"`{vm}`", spread(alone[vm][0]), spread(beside[vm][0])] for vm in DATABASE_POLICIES],
        ),
    )


if __name__ == "__main__":
    run_parts(__doc__, {"swappiness": swappiness, "scan": scan, "database": database})
