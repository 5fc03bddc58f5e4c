"""The table of figures: what each one shows, in which columns and units, its caption, and how to read it.

The pictures (timelines.py, bars.py, curves.py), the charts of the page (charts.py), the CSV files and the section on
figures of docs/reference/measuring.md (tools/figures/plots.py writes it) all come from here. An entry with lines that
have a `source` is drawn over time, all runs on the same axes, and needs no other code; the others have a function of
their own in those files. docs/guide/add-a-plot.md goes through it step by step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tidemark.report import quantities
from tidemark.report.figure import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, YELLOW, Look
from tidemark.report.quantities import Columns
from tidemark.telemetry import Telemetry

Source = Callable[[Telemetry], np.ndarray]
PLAIN = Look(GREY)
RUNS, RUN, SWEEP = "runs", "run", "sweep"


@dataclass(frozen=True)
class Line:
    """One quantity.

    column   its name in the CSV
    source   a member of a sample, such as `vm.pgmajfault`, drawn as quantities.member says; or a function
    unit     of what a function gives; that of a member follows from the schema
    formula  how a function, or the kernel, gets it, for the document
    axis     the label of its axes in the picture; empty: only in the CSV
    chart    the title of its chart on the page, which lines of one title share; empty: none
    part     what it is called there, beside others; or its name in a legend
    look     where colours do not belong to policies
    """

    column: str
    source: str | Source = ""
    unit: str = ""
    formula: str = ""
    axis: str = ""
    chart: str = ""
    part: str = ""
    look: Look = PLAIN

    @property
    def shown_unit(self) -> str:
        """The unit that it is drawn in."""
        return self.unit or (quantities.unit_of(self.source) if isinstance(self.source, str) and self.source else "")

    @property
    def of_interval(self) -> bool:
        """Does a value stand for the interval before it, and is drawn as a step?"""
        return self.shown_unit in ("%", "per s")

    @property
    def shown_formula(self) -> str:
        """How it comes from the telemetry."""
        if self.formula or not isinstance(self.source, str) or not self.source:
            return self.formula
        return f"Δ`{self.source}` / Δ`t_us`" if self.of_interval else f"`{self.source}`"

    def values(self, data: Telemetry) -> np.ndarray:
        """One value for each sample, float64[n]; nan where the telemetry has none."""
        return quantities.member(data, self.source) if isinstance(self.source, str) else self.source(data)


@dataclass(frozen=True)
class Plot:
    """One figure.

    name      begins the names of its files; those of one run end in the run's name
    scope     RUNS: one for all runs; RUN: one for each; SWEEP: of cells
    question  what a reader wants to know who looks for it, over it on the page
    caption   under the picture: what is drawn
    reading   for the document: how to read it
    chart     the title of its chart on the page, if that is not the lines'
    pictures  those in the document
    """

    name: str
    scope: str
    title: str
    caption: str
    reading: str
    lines: tuple[Line, ...] = ()
    chart: str = ""
    pictures: tuple[str, ...] = ()
    question: str = ""

    @property
    def over_time(self) -> bool:
        """Is it drawn from its lines alone?"""
        return self.scope == RUNS and any(line.source for line in self.lines)

    def columns(self, data: Telemetry) -> Columns | None:
        """Time and all lines, for the CSV and to draw; None for a run whose telemetry has nothing of them."""
        found = {line.column: line.values(data) for line in self.lines}
        if all(np.isnan(values).all() for values in found.values()):
            return None
        return {"time_s": quantities.times(data)} | found


OVERVIEW = Plot(
    "overview",
    RUN,
    "What happened",
    "Above, the share of the time in which the processor worked. In the middle, the resident sets of the processes on "
    "each other, under what they want together (dashed) and the frames that there are: areas that swap places are "
    "processes that take pages from each other; light grey has no process mapped (read ahead, files, on its way out, "
    "the kernel's). Below, the faults that this costs. ▼ a process ended (+5: five more did there), ◀ one was held "
    "back, ▶ one admitted. Coloured ground: thrashing.",
    """The first picture of every run: did the processor work, who had the memory, and what did that cost?
    *wanted* far over *frames there are*, a processor near 0 % and faults that do not end are thrashing; it ends
    where processes end (▼) or are held back (◀). A wanted line under the frames: memory sufficed, and whatever is
    slow has another reason. Pages that processes share after a fork count for each of them. At most ten processes have
    a colour, the others are one area. Faults are cut off at one and a half times what they are in 99 % of the time,
    when the peak is more than twice that.""",
    (
        Line("utilisation_percent", unit="%", formula="1 − Δ`idle_us` / Δ`t_us`"),
        Line("major_faults_per_s", "vm.pgmajfault"),
        Line("wanted_mib", unit="MiB", formula="Σ `procs.mad` / 256"),
        Line("held", "held"),
        Line("COMMAND PID", unit="MiB", formula="`procs.rss` / 256"),
    ),
    pictures=("overview-2q",),
)

UTILISATION = Plot(
    "utilisation",
    RUNS,
    "CPU utilisation",
    "CPU utilisation: 1 − idle time / time, of each interval between two samples. Low where everybody waits.",
    """A machine that does useful work is near 100 %. One that thrashes is near 0: every process waits for a page (P.
    Denning, "Thrashing: its causes and prevention", AFIPS FJCC 33, 1968). Low utilisation with a low fault rate
    is only a machine with little to do; so look at the faults, too.""",
    (
        Line(
            "utilisation_percent",
            quantities.utilisation,
            unit="%",
            formula="1 − Δ`idle_us` / Δ`t_us`",
            axis="utilisation, %",
            chart="CPU utilisation",
        ),
        Line("policy_percent", "policy_us"),
    ),
    pictures=("utilisation",),
    question="Did the processor work?",
)

FAULTS = Plot(
    "faults",
    RUNS,
    "Fault rate",
    "Page faults per second of machine time: major ones started a read from swap, minor ones did not; refaults are "
    "major faults on pages evicted so recently that memory could have kept them. Deep thrashing has few refaults.",
    """Major, minor, and refaults per second. Major faults cost a read. Minor ones are first touches, copies on write,
    and pages that a read-ahead had brought. Refaults (J. Weiner, Linux 3.15, `mm/workingset.c`) near the major
    faults mean that pages are evicted shortly before they are wanted: the memory would have sufficed for them,
    had others been chosen, or fewer processes run. Few refaults are no good sign: processes that cycle over more
    than twice the memory thrash without any.""",
    (
        Line("major_faults_per_s", "vm.pgmajfault", axis="major faults / s", chart="Major faults"),
        Line(
            "minor_faults_per_s",
            quantities.minor_faults,
            unit="per s",
            formula="(Δ`vm.pgfault` − Δ`vm.pgmajfault`) / Δ`t_us`",
            axis="minor faults / s",
            chart="Minor faults",
        ),
        Line("refaults_per_s", "vm.workingset_refault", axis="refaults / s"),
        Line("pages_in_per_s", "vm.pswpin", chart="Pages read from and written to swap", part="in"),
        Line("pages_out_per_s", "vm.pswpout", chart="Pages read from and written to swap", part="out"),
    ),
    pictures=("faults",),
    question="How many faults, and of which kind?",
)

PRESSURE = Plot(
    "pressure",
    RUNS,
    "Pressure",
    "Pressure: the share of time in which some task, and in which all tasks that were not idle, stalled on memory "
    "(Linux's PSI; a process that is held back by admission is none of them). Full near 100 % and pages that go in and "
    "out: thrashing.",
    """*some*: somebody waits for memory. *full*: nobody does anything else (J. Weiner, PSI, Linux 4.20). A disk can be
    busy and *some* high while others compute; *full* near 100 % with pages that are exchanged is
    [thrashing](../guide/05-measuring.md#thrashing).""",
    (
        Line("some_percent", "psi.some_us", axis="some, %", chart="Pressure on memory", part="some"),
        Line("full_percent", "psi.full_us", axis="full, %", chart="Pressure on memory", part="full"),
    ),
    pictures=("pressure",),
    question="How long did everybody wait for memory?",
)

TASKS = Plot(
    "tasks",
    RUNS,
    "Tasks and the disk",
    "Tasks that can run, processes held back by the policy, requests waiting for the disk and their mean response. The "
    "first three are of the instant of a sample: a machine that waits is sampled as it wakes, when some can run.",
    """Tasks that can run, processes that the policy holds back, the disk's queue and mean response. A long queue and a
    response of many service times: the processes wait for each other's pages. Processes held back are the price
    of a policy that admits only what fits.""",
    (
        Line("running", "running", axis="can run", chart="Tasks that can run, processes held back", part="can run"),
        Line("held", "held", axis="held back", chart="Tasks that can run, processes held back", part="held"),
        Line("disk_queue", "disk.queue", axis="disk queue", chart="Requests at the disk"),
        Line(
            "disk_response_ms",
            quantities.disk_response,
            unit="ms",
            formula="Δ`disk.wait_us` / Δ(`disk.reads` + `disk.writes`)",
            axis="response, ms",
        ),
        Line("reclaim_priority", "priority"),
    ),
    pictures=("tasks",),
    question="Who could run, and what did the disk do?",
)

MEMORY = Plot(
    "memory",
    RUN,
    "Memory of the processes",
    "Memory allocation demand (MAD), resident set (RSS) and pages accessed since the last sample (NAP) of each process "
    "(Figures 1 to 6 and 9 to 11 of Jiang and Zhang's TPF paper, 2002). RSS far under MAD: it has lost pages, or not "
    "used them yet; NAP far under RSS: it holds pages that it does not use.",
    """One panel per process: MAD, RSS and NAP over time, as Figures 1 to 6 and 9 to 11 of S. Jiang and X. Zhang, "TPF:
    a dynamic system thrashing protection facility", Software: Practice and Experience 32(3), 2002. Three things
    to look for. RSS meets MAD: the process has all it asked for. RSS under MAD while NAP follows RSS: it uses
    all it has and wants more; if this is so in several panels, they take pages from one another, as in the
    paper's Figures 4 to 6. NAP far under RSS: it holds pages that it does not use; a policy should find these
    first. In the example two programs whose localities move share 16 MiB. Under `2q` the second keeps its
    window, and the first gets almost nothing until the second has ended. Under `ws` the second is through at
    once, and the first then has the memory. Processes whose demand is less than a twentieth of the largest have
    no panel.""",
    (
        Line("mad", "procs.mad", axis="pages", part="MAD", look=Look(GREY)),
        Line("rss", "procs.rss", axis="pages", part="RSS", look=Look(BLUE)),
        Line("nap", "procs.nap", axis="pages", part="NAP", look=Look(ORANGE)),
        Line("wss", "procs.wss", part="WSS", look=Look(GREEN)),
        Line("swap", "procs.swap", part="in swap", look=Look(YELLOW)),
    ),
    chart="Memory of one process",
    pictures=("memory-2q", "memory-ws"),
    question="What did each process want, have and use?",
)

FAULT_RATES = Plot(
    "process-faults",
    RUN,
    "Major faults of the processes",
    "Major faults of each process in each second, or hundredth of a shorter run, on one scale (Jiang and Zhang's TPF "
    "paper, 2002). All equally high: all wait for the disk, none gets on. A low one: that process has its pages.",
    """A panel per process. A guard, or a policy that holds processes back, shows as panels that are high in turn.""",
    (Line("major_faults_per_s", unit="per s", formula="Δ`procs.majflt` / Δ`t_us`", axis="major faults / s"),),
)

RESIDENT_SETS = Plot(
    "resident-sets",
    RUNS,
    "Resident sets, runs overlaid",
    "Resident sets of the same process in each run, and its demand (MAD, grey).",
    "With several runs: RSS of the same process in each of them.",
    chart="Resident sets",
    pictures=("resident-sets",),
    question="Who had more memory in which run?",
)

ZONES = Plot(
    "zones",
    RUN,
    "Free pages against the watermarks",
    "Free pages of each zone and its watermarks: under low kswapd frees pages until high, under min tasks must free "
    "pages themselves. Logarithmic scale.",
    """Free pages of each zone against its watermarks, on a logarithmic scale. Between `high` and `low` all is well.
    Under `low` kswapd frees pages until `high`. At `min` it cannot keep up, and tasks free pages themselves
    before they get any (*stalls* in the summary).""",
    (
        Line("free_pages", unit="pages", formula="an element of `free`", axis="pages", part="free", look=Look(BLUE)),
        Line("high_pages", unit="pages", formula="`start.zones`", part="high", look=Look(GREEN, "--")),
        Line("low_pages", unit="pages", formula="`start.zones`", part="low", look=Look(ORANGE, "--")),
        Line("min_pages", unit="pages", formula="`start.zones`", part="min", look=Look(VERMILION, "--")),
    ),
    chart="Free pages of zone {zone}, logarithmic",
    pictures=("zones-2q",),
    question="Was memory free?",
)

LISTS = Plot(
    "lists",
    RUN,
    "The policy's lists",
    "What the policy shows of itself (/proc/vm/policy): how it is now, and what never shrank, which it counts. What is "
    "always 0 is left out.",
    "What the policy says of itself, as in `/proc/vm/policy`; [policies.md](policies.md) explains the names.",
    chart="The policy's lists",
    pictures=("lists-ws",),
    question="What did the policy keep?",
)

SPACE_TIME = Plot(
    "space-time",
    RUNS,
    "Space-time",
    "Space-time of each process, page-seconds. The bar is C_B, ∫ s(t) dt from start to end (Belady and Kuehner 1969), "
    "split by what the process did; the black line under it is C_D, own time plus waits at major faults (Denning "
    "1980). The blue part is Γ, the kernel's work for the process; to the right γ, the same per major fault (McMenamin "
    "2011), from 30 of these on. C_B − C_D is what Denning's form leaves out.",
    """A bar for each process: C_B in page-seconds, split by what the process did: running, waiting for a page, ready,
    housekeeping (the kernel at work for it, Γ), waiting for admission, other sleep. Waits of minor faults, for a frame
    or for a page that is being read or written already, are apart. Under it C_D, beside it γ;
    formulas and sources in [telemetry.md](telemetry.md). Space-time is what memory costs: the area that a
    process kept from others. Little green and much vermilion is thrashing, seen from memory's side. C_B and C_D
    differ by what Denning's form leaves out: much orange or blue. McMenamin asked (2011, §8.2) whether a
    working-set policy loses by housekeeping what it saves in faults: compare the blue parts of two runs. Do not
    compare γ where one has few faults: it is a quotient, and of fewer than 30 major faults it is not shown.""",
    (
        Line("user_page_s", part="running", look=Look(GREEN)),
        Line("pagewait_page_s", part="waiting for a page", look=Look(VERMILION)),
        Line("minor_wait_page_s", part="waiting in a minor fault", look=Look(PURPLE)),
        Line("ready_page_s", part="ready", look=Look(ORANGE)),
        Line("kernel_page_s", part="housekeeping", look=Look(BLUE)),
        Line("admit_page_s", part="waiting for admission", look=Look(SKY)),
        Line("sleep_page_s", part="other sleep", look=Look("#c8c8c8")),
    ),
    pictures=("space-time",),
    question="What did the processes do with the memory they held?",
)

THRASHING = Plot(
    "thrashing",
    SWEEP,
    "Thrashing curve: against {axis}",
    "Above, CPU utilisation and, dotted, the part of it in user mode; below, throughput (jobs that ended well per "
    "second of machine time, on a logarithmic scale), against {axis}. Points are runs, ticks at the bottom where was "
    "measured; lines join the medians of those that differ in nothing but jitter or seed, bands go from the least to "
    "the greatest. Dashed: from there on the processes want more than there is. A collapse beyond it is thrashing "
    "(P. Denning, “Thrashing: its causes and prevention”, 1968).",
    """Against the number of processes (`thrashing-processes`), memory (`thrashing-memory`), or any parameter of the
    kernel with several numbers (`thrashing-ws-tau_ms`). Denning's curve (1968):
    utilisation stays high while working sets fit, and then falls off a cliff. The distance to the dotted line is the
    kernel's work. Throughput has a logarithmic scale, because the policies' differences
    beyond the cliff are factors; with `ideal` in the plan, the line above them is that of unlimited memory. The
    dashed line is where the sum of all demands reaches the frames that there are: the cliff is there only if the
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
    "drawn where they say something (R² of 0.8 at least, p inside what is sought, c not negative): dashed "
    "T = k / M⁴ + c (McMenamin 2011, equation 5.1); solid: the exponent free, with its 95 % interval, by least squares "
    "on the median at each size (variable "
    "projection; profile-likelihood interval). The scale is logarithmic where turnarounds differ more than thirtyfold.",
    """Turnaround of the whole command against memory, with two fits of T = k / M^p + c (T in seconds, M in MiB) after
    A. McMenamin, "Applying working set heuristics to the Linux kernel", 2011, equation 5.1 and Figure 5.1: p =
    4 (dashed), and p free (solid) with its 95 % interval. `fits.csv` has k, c, p, the ends of the interval, the
    number of sizes and R², also of fits that say nothing and are not drawn, with the reason.""",
    pictures=("turnaround-memory",),
)

BOXES = Plot(
    "boxes",
    SWEEP,
    "How much runs scatter",
    "{what}, of runs that differ in nothing but jitter or seed: the box is from the lower to the upper quartile, the "
    "thick line the median, the whiskers go to the least and the greatest; points are the runs. What does not touch is "
    "told apart.",
    """Where each place of a sweep was run three times or more. Two policies, or guards, whose boxes overlap are as good
    as each other here. With `ideal` in the plan, what is shown is the slowdown against a dedicated machine, as in the
    bars of the TPF paper (Jiang and Zhang 2002).""",
)

HEAT = Plot(
    "heat",
    SWEEP,
    "{what}, against {x} and {y}",
    "The median at each pair, as a number and as a colour (darker is more, on a logarithmic scale that all "
    "policies share). × was not run, or failed.",
    """Of a sweep with two axes, such as `tools/tidemark/plans/grid.toml`. The edge between light and dark is where the
    processes stop to fit; it runs along demand = memory for a policy that lets everybody run.""",
    pictures=("heat-processes-mem",),
)

EFFICIENCY = Plot(
    "efficiency",
    SWEEP,
    "Efficiency against the probability of a missing page",
    "Useful time (user mode) over useful time and waits for pages, of all processes of a run, against how often a page "
    "was missing. Dashed: 1 / (1 + m·T), after P. Denning (1968), for the least, the median and the greatest mean wait "
    "T at a major fault among the runs, where they differ twofold. At 100 %: swap in memory, for which nobody waits.",
    """Denning's figure: a small change in the probability of a missing page, m, is the difference between working and
    thrashing, because a fault takes so much longer than an instruction. Points on one dashed curve had the same wait;
    with many processes at one disk the wait is the queue, and points fall to curves further left.""",
)

ARENA = Plot(
    "arena",
    SWEEP,
    "Arena: {of}",
    "The median of the runs that differ in nothing but jitter or seed. Faults are pages that came in: first "
    "touches, and pages read again, from swap or of a file, each page of a read-ahead for itself. Ideal is the same"
    " command in so much memory that nothing has to go: its processes' times alone, one after the other. MIN is "
    "Belady's, with all frames that are free after boot; only of commands of one process, since the order of "
    "several depends on the policy. Cost: the hooks' share of the instructions. Darker is farther from the best of "
    "the column (of cost: larger). Framed: its band, least to greatest, reaches that of the best, so they are not "
    "told apart. From top to bottom by the geometric mean of time over the best's; neighbours need not differ.",
    """Of a sweep whose plan has `ideal`, such as `tidemark sweep arena`: a row for each policy, a column for each
    command, and the same for guards over one policy. On the page every number leads to a line with its band and the
    command that makes it. Look first at a column: who is framed does as well as anybody there. Then at a row: a
    policy that is light everywhere is a good default; one that is light in one column only has found that
    workload's structure. Then compare left and right: few faults and much time means that its reads and writes are
    badly ordered: neighbours that are evicted apart are not neighbours on the disk. Many faults in little time
    means that reading ahead brought them. MIN knows the future but not the disk; and it has the frames that the
    kernel keeps free, so 1.0 cannot quite be reached.""",
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
            "hooks_percent",
            unit="%",
            formula="(`policy_us` + `guard.us`) / (time − `idle_us`), of the whole run",
            axis="cost, % of instructions",
        ),
    ),
    pictures=("arena",),
)

FRAMES = Plot(
    "frames",
    RUN,
    "Whose memory is it?",
    "Each frame of memory is a row, its owner at each sample a colour: a row that changes its colour was taken from "
    "one process and given to another. Dark: read ahead and not yet anybody's, or left by a process that has ended. "
    "The picture has to the right how many frames who lost to whom from one sample to the next.",
    """Of a run with `tidemark run --owners`. Quiet rows: everybody keeps what he has. Rows that flicker between two
    colours: two processes take the same frames from each other, which is what thrashing is made of; the matrix says who
    loses to whom. What changes hands twice between two samples is not seen: `sample_ms=20 sample_percent=100` shows
    more.""",
    pictures=("frames-2q",),
    question="Who took memory from whom?",
)

DIFFERENCE = Plot(
    "difference",
    RUNS,
    "{b} over {a}",
    "What the second is over the first, on a logarithmic scale: dots left of 1 (blue) are less, right of it "
    "(vermilion) more, grey ones not told apart; arrows where one is 0. Bars go as far as the runs that differ in "
    "nothing but jitter or seed let the ratio be; single runs have none, and hold for these two only.",
    """Of a report of two runs, or of two sweeps: what differs, as ratios. Of runs there is a row for each quantity; of
    sweeps, a row for each place that both have, with the ratio of the times, those that differ most at the ends. A
    claim needs a bar that does not reach 1.""",
)

# In the order of the page and of the document.
PLOTS = [
    OVERVIEW, DIFFERENCE, FRAMES, UTILISATION, FAULTS, PRESSURE, TASKS, MEMORY, FAULT_RATES, RESIDENT_SETS, ZONES,
    LISTS, SPACE_TIME, THRASHING, TURNAROUND, HEAT, BOXES, EFFICIENCY, ARENA,
]  # fmt: skip
