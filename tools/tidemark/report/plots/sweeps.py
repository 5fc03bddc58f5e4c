"""The table of figures: those of sweeps, whose cells differ in their settings."""

from __future__ import annotations

from tidemark.report.plots.plot import SWEEP, Line, Plot

THRASHING = Plot(
    "thrashing",
    SWEEP,
    "Thrashing curve: against {axis}",
    "Above, CPU utilisation and, dotted, the part of it in user mode; below, throughput (jobs that ended well per "
    "second of machine time, on a logarithmic scale), against {axis}. Points are runs, and ticks at the bottom mark "
    "measured values; lines join the medians of replicates, bands go from least to greatest. Dashed: demand equals "
    "memory. A collapse beyond it is thrashing (P. Denning, “Thrashing: its causes and prevention”, 1968).",
    """Against the number of processes (`thrashing-processes`), memory (`thrashing-memory`), or any parameter of the
    kernel with several numbers (`thrashing-ws-tau_ms`). Denning's curve (1968):
    utilisation stays high while working sets fit, and then falls off a cliff. The distance to the dotted line is the
    kernel's work. Throughput has a logarithmic scale, because the policies' differences
    beyond the cliff are factors; with `ideal` in the plan, the line above them is that of unlimited memory. The
    dashed line is where the sum of all demands reaches the available frames: the cliff is there only if the
    processes use all that they have asked for. How deep it is depends on the policy.""",
    (
        Line("utilisation_percent", unit="%", formula="1 − idle / time, of the whole run", axis="utilisation, %"),
        Line("user_percent", unit="%", formula="time of the listed processes in user mode / time"),
        Line(
            "throughput_per_s",
            unit="per s",
            axis="throughput, jobs / s",
            formula="jobs that ended with status 0 / turnaround of the command. Jobs are all processes but the "
            "command itself; the command, if it has no children",
        ),
    ),
    pictures=("thrashing-processes", "thrashing-memory"),
)

TURNAROUND = Plot(
    "turnaround-memory",
    SWEEP,
    "Turnaround against memory",
    "Turnaround of the whole command against memory. Points are runs, bars go from the least to the greatest. Fits are "
    "drawn if they say something (R² of at least 0.8, p inside the searched range and not carried by one size, c not "
    "negative): dashed "
    "T = k / M⁴ + c (McMenamin 2011, equation 5.1); solid: the exponent free, with its 95 % interval, by least squares "
    "on the median at each size (variable "
    "projection; profile-likelihood interval). The scale is logarithmic if turnarounds differ more than thirtyfold.",
    """Turnaround of the whole command against memory, with two fits of T = k / M^p + c (T in seconds, M in MiB) after
    A. McMenamin, "Applying working set heuristics to the Linux kernel", 2011, equation 5.1 and Figure 5.1: p =
    4 (dashed), and p free (solid) with its 95 % interval. `fits.csv` has k, c, p, the ends of the interval, the
    number of sizes and R², also for fits that say nothing and are not drawn, with the reason.""",
    pictures=("turnaround-memory",),
)

HEAT = Plot(
    "heat",
    SWEEP,
    "{what}, against {x} and {y}",
    "The median at each pair, as a number and as a colour (darker is more, on a logarithmic scale that all "
    "policies share). Line: beyond it the processes want more than the available frames. ×: not run, or failed.",
    """Of a sweep with two axes, such as `tools/tidemark/plans/grid.toml`. At the edge between light and dark the
    processes cease to fit; it runs along demand = memory for a policy that lets all processes run.""",
    pictures=("heat-processes-mem",),
)

BOXES = Plot(
    "boxes",
    SWEEP,
    "How much runs scatter",
    "{what}, of replicates: the box is from the lower to the upper quartile, the thick line the median, the whiskers "
    "go to the least and the greatest; points are the runs. Boxes show how runs scatter; whether two places differ "
    "is a claim about pairs of runs, which boxes do not show.",
    """Drawn for places of a sweep that were run at least three times. Boxes say nothing about differences: runs of two
    policies with the same draw belong together, and [claims](#claims) compare them pair by pair. With `ideal` in the
    plan, the quantity is the slowdown against a dedicated machine, as in the bars of the TPF paper (Jiang and Zhang
    2002).""",
)

RANKING = Plot(
    "ranking",
    SWEEP,
    "Which is quickest?",
    "A panel for each place, at most twelve, the quickest first: the median of the repetitions, and a line from the "
    "least to the greatest. Blue: the best, or level with it (within 10 %); red: slower; grey: not known. The claims "
    "are about pairs of repetitions with the same draw, not about whether lines overlap.",
    """Drawn for a sweep of three policies or more, or of three guards over one policy. `ranking.csv` has each claim
    with its interval. The page begins with the same in words. [Claims](#claims) says how they are made: the statements
    about one place hold together with 95 %, and allow for the best having been chosen by the same runs.""",
)

EFFICIENCY = Plot(
    "efficiency",
    SWEEP,
    "Efficiency against the probability of a missing page",
    "Useful time (user mode) over useful time and waits for pages, of all processes of a run, against how often a page "
    "was missing. Dashed: 1 / (1 + m·T), after P. Denning (1968), for the least, the median and the greatest mean wait "
    "T at a major fault among the runs, if these differ twofold. At 100 %: swap in memory, which causes no waits.",
    """Denning's figure: a small change in the probability of a missing page, m, is the difference between working and
    thrashing, because a fault takes so much longer than an instruction. Points on one dashed curve had the same wait;
    with many processes at one disk the wait is the queue, and points fall to curves further left.""",
)

ARENA = Plot(
    "arena",
    SWEEP,
    "Arena: {of}",
    "The median of the replicates. Faults are pages that came in: first "
    "touches, and pages read again, from swap or from a file; each page of a read-ahead counts. Ideal is the same "
    "command with enough memory that nothing is evicted: its processes' times alone, one after the other. MIN is "
    "Belady's, with all frames that are free after boot; only for commands of one process, since the order of "
    "several depends on the policy. Cost: the hooks' share of the instructions. Darker is farther from the best of "
    "the column (of cost: larger). Framed, with its number: the best of the column, or level with it (within 10 %). "
    "?: not known "
    "whether it differs from the best. ±: the result turns round within ±1 % of size. The statements about a column "
    "hold together with 95 %. Rows are ordered by the geometric mean of time over the best's; neighbours need not "
    "differ.",
    """Of a sweep whose plan has `ideal`, such as `tidemark sweep arena`: a row for each policy, a column for each
    command, and the same for guards over one policy. On the page every number leads to a line with its band and the
    command that makes it. Look first at a column: a framed policy is as good as the best there, one with a ? may be
    ([claims](#claims)). Then at a row: a
    policy that is light everywhere is a good default; a policy that is light in one column only has found that
    workload's structure. Then compare left and right: few faults and much time means that its reads and writes are
    badly ordered, because neighbours that are evicted at different times are not neighbours on the disk. Many faults in
    little time mean that read-ahead brought the pages. MIN knows the future but not the disk; and it has the frames
    that the kernel keeps free, so 1.0 cannot quite be reached.""",
    (
        Line(
            "faults_over_min",
            unit="×",
            formula="(pages of the command + `vm.pswpin` + `vm.pgpgin` / 4 − pages of files whose first use reads) / "
            "faults of MIN with `start.free` frames",
            axis="faults over MIN's",
        ),
        Line(
            "faults_over_ideal",
            unit="×",
            formula="1 + (`vm.pswpin` + (`vm.pgpgin` − ideal `vm.pgpgin`) / 4) / (ideal `vm.pgfault` + ideal `owned` "
            "at the end); ideal: in the plan's `ideal` memory",
            axis="faults over ideal",
        ),
        Line(
            "time_over_ideal",
            unit="×",
            formula="turnaround of the command / that in the plan's `ideal` memory",
            axis="time over ideal",
        ),
        Line(
            "worst_over_mean",
            unit="×",
            formula="the longest turnaround of the jobs / their mean; of commands with two jobs or more",
            axis="worst over mean turnaround",
        ),
        Line(
            "wake_p99_ms",
            unit="ms",
            formula="99th of 100 wakes of `interactive`, from the end of its sleep to the end of its work",
            axis="interactive wake, p99, ms",
        ),
        Line(
            "hooks_percent",
            unit="%",
            formula="(`policy_us` + `guard.us`) / (time − `idle_us`), of the whole run",
            axis="cost, % of instructions",
        ),
    ),
    pictures=("arena",),
)

# In the order of the page and of the document.
PLOTS = [RANKING, THRASHING, TURNAROUND, HEAT, BOXES, EFFICIENCY, ARENA]
