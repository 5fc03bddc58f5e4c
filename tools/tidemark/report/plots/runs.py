"""The table of figures: those of runs."""

from __future__ import annotations

from tidemark.report import quantities
from tidemark.report.figure import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, YELLOW, Look
from tidemark.report.plots.plot import RUN, RUNS, Line, Plot

OVERVIEW = Plot(
    "overview",
    RUN,
    "What happened",
    "Above, the share of the time in which the processor worked. In the middle, the resident sets of the processes, "
    "stacked, under their total demand (dashed) and the available frames: areas that swap places are processes that "
    "take pages from each other; light grey is unowned: no process maps these pages (read ahead, files, being written "
    "back, the kernel's). Below, the resulting major faults. ▼ a process ended (+5: five more did), ◀ one was held "
    "back, ▶ one admitted. Bar at the top edge: thrashing.",
    """The first picture of every run: did the processor work, which processes had the memory, and what did that cost?
    If *wanted* is far above *available frames*, the processor is near 0 % and the faults do not end, the machine
    thrashes; this stops when processes end (▼) or are held back (◀). If the wanted line is below the frames, memory
    sufficed, and a slow program has another reason. Pages that processes share after a fork count for each of them. At
    most ten processes have a colour, the others are one area. If the peak of the faults is more than three times the
    rate that 95 % of the time stays below, the axis ends at one and a half times that rate, and the peak is written
    there.""",
    (
        Line("utilisation_percent", unit="%", formula="1 − Δ`idle_us` / Δ`t_us`"),
        Line("major_faults_per_s", "vm.pgmajfault"),
        Line("wanted_mib", unit="MiB", formula="Σ `procs.mad` / 256"),
        Line("held", "held"),
        Line("COMMAND PID", unit="MiB", formula="`procs.rss` / 256"),
    ),
    pictures=("overview-2q",),
)

DIFFERENCE = Plot(
    "difference",
    RUNS,
    "{b} over {a}",
    "The second over the first, on a logarithmic scale: dots left of 1 (blue) are less, right of it (vermilion) more; "
    "grey ones are not told apart; arrows if one is 0. Of sweeps, a dot is the median ratio of pairs of runs with the "
    "same draw, and a bar its interval: 95 % for all bars together. Too few replicates, or single runs, have no bar: "
    "the ratio is not a claim.",
    """Of a report of two runs, or of two sweeps: what differs, as ratios. Of runs there is a row for each quantity; of
    sweeps, a row for each place that both have, with the ratio of the times, those that differ most at the ends. A
    claim needs a bar that does not reach 1 ([claims](#claims)).""",
)

FRAMES = Plot(
    "frames",
    RUN,
    "Whose memory is it?",
    "Each frame of memory is a row, its owner at each sample a colour: a row that changes its colour was taken from "
    "one process and given to another. Dark: read ahead and not yet owned, or left by a process that has ended. "
    "The matrix to the right shows how many frames each process lost to each other from one sample to the next.",
    """Of a run with `tidemark run --owners`. Quiet rows: every process keeps its frames. Rows that flicker between two
    colours: two processes take the same frames from each other, as in thrashing; the matrix says which process
    loses to which. A frame that changes hands twice between two samples is missed: `sample_ms=20 sample_percent=100`
    shows more.""",
    pictures=("frames-2q",),
    question="Which processes took memory from which?",
)

EVENT_LANES = Plot(
    "events",
    RUN,
    "What each task did",
    "Above, a row for each task; the colour is the state in which it spent most of each 1200th of the run, from its "
    "switches and wake-ups; white: it does not exist. Below, evicted pages per second, by the reason for which frames "
    "were wanted.",
    """Of a run with `tidemark run --events`. Rows that are vermilion at the same time: the tasks wait for each other's
    pages. Evictions because a task found no free frame stop that task; those of a kernel thread happen beside it.
    `tidemark why` asks about a single eviction, `tidemark export --to perfetto` shows every event.""",
    question="What did each task do, and why were pages evicted?",
)

UTILISATION = Plot(
    "utilisation",
    RUNS,
    "CPU utilisation",
    "CPU utilisation: 1 − idle time / time, of each interval between two samples. Low while all processes wait.",
    """A machine that does useful work is near 100 %. One that thrashes is near 0: every process waits for a page (P.
    Denning, "Thrashing: its causes and prevention", AFIPS FJCC 33, 1968). Low utilisation with a low fault rate
    is only a machine with little to do, so look at the faults, too.""",
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
    faults mean that pages are evicted shortly before they are used again: memory would have sufficed for them
    if other pages had been evicted, or fewer processes run. Few refaults are not a good sign: processes that cycle over
    more than twice the memory thrash without any.""",
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
    "(Linux's PSI; a process that is held back by admission does not count); below, the seconds in which all stalled, "
    "added up. Full near 100 % and pages read and written: thrashing.",
    """*some*: at least one task waits for memory. *full*: no task does anything else (J. Weiner, PSI, Linux 4.20). A
    disk can be busy and *some* high while others compute; *full* near 100 % with pages that are exchanged is
    [thrashing](../guide/05-measuring.md#thrashing).""",
    (
        Line("some_percent", "psi.some_us", axis="some, %", chart="Pressure on memory", part="some"),
        Line("full_percent", "psi.full_us", axis="full, %", chart="Pressure on memory", part="full"),
        Line("full_s", quantities.stalled, unit="s", formula="`psi.full_us`", axis="full so far, s"),
    ),
    pictures=("pressure",),
    question="How long did tasks wait for memory?",
)

TASKS = Plot(
    "tasks",
    RUNS,
    "Tasks and the disk",
    "Tasks that can run, processes held back by the policy, requests waiting for the disk and their mean response. The "
    "first three are measured at each sample: a machine that waits is sampled as it wakes, when some tasks can run.",
    """Tasks that can run, processes that the policy holds back, the disk's queue and mean response. A long queue and a
    response of many service times: the processes wait for each other's pages. Held-back processes are the price
    of a policy that admits only those that fit.""",
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
    question="Which tasks could run, and what did the disk do?",
)

MEMORY = Plot(
    "memory",
    RUN,
    "Memory of the processes",
    "Memory allocation demand (MAD), resident set (RSS) and pages accessed since the last sample (NAP) of each process "
    "(Figures 1 to 6 and 9 to 11 of Jiang and Zhang's TPF paper, 2002). RSS far below MAD: it has lost pages, or not "
    "used them yet; NAP far below RSS: it holds pages that it does not use.",
    """One panel per process: MAD, RSS and NAP over time, as Figures 1 to 6 and 9 to 11 of S. Jiang and X. Zhang, "TPF:
    a dynamic system thrashing protection facility", Software: Practice and Experience 32(3), 2002. Three things
    to look for. RSS meets MAD: the process has all it asked for. RSS below MAD while NAP follows RSS: it uses
    all it has and wants more; if this is so in several panels, they take pages from one another, as in the
    paper's Figures 4 to 6. NAP far below RSS: it holds pages that it does not use; a policy should find these
    first. In the example two programs whose localities move share 16 MiB. Under `2q` the second keeps its
    window, and the first gets almost nothing until the second has ended. Under `ws` the second finishes at
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
    "Major faults of each process per second, in intervals of a second, or a hundredth of a shorter run, on one scale "
    "(Jiang and Zhang's TPF paper, 2002). All equally high: all wait for the disk, none gets on. A low one: that "
    "process has its pages.",
    """A panel per process. A guard, or a policy that holds processes back, shows as panels that are high in turn.""",
    (Line("major_faults_per_s", unit="per s", formula="Δ`procs.majflt` / Δ`t_us`", axis="major faults / s"),),
)

RESIDENT_SETS = Plot(
    "resident-sets",
    RUNS,
    "Resident sets, runs overlaid",
    "Resident sets of the same process in each run, and its demand (MAD, grey).",
    "With several runs: the RSS of the same process in each run.",
    chart="Resident sets",
    pictures=("resident-sets",),
    question="Which process had more memory in which run?",
)

ZONES = Plot(
    "zones",
    RUN,
    "Free pages against the watermarks",
    "Free pages of each zone and its watermarks: below low kswapd frees pages until high, below min tasks must free "
    "pages themselves. Logarithmic scale.",
    """Free pages of each zone against its watermarks, on a logarithmic scale. Between `high` and `low` all is well.
    Below `low` kswapd frees pages until `high`. At `min` it cannot keep up, and tasks free pages themselves
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
    "What the policy shows of itself (/proc/vm/policy): levels, and what never shrank, which are counters. Lines that "
    "are always 0 are left out; the scale is logarithmic if some are far below others.",
    "What the policy reports about itself, as in `/proc/vm/policy`; [policies.md](policies.md) explains the names.",
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
    "1980). The blue part is Γ, the kernel's work for the process; on the right γ, Γ per major fault (McMenamin "
    "2011), from 30 major faults on. C_B − C_D is what Denning's form leaves out.",
    """A bar for each process: C_B in page-seconds, split by what the process did: running, waiting for a page, ready,
    housekeeping (the kernel at work for it, Γ), waiting for admission, other sleep. Waits of minor faults, for a frame
    or for a page that is being read or written already, are separate. Under it is C_D, beside it γ;
    formulas and sources in [telemetry.md](telemetry.md). Space-time is what memory costs: the area that a
    process kept from others. Little green and much vermilion is thrashing in terms of memory. C_B and C_D
    differ by what Denning's form leaves out: much orange or blue. McMenamin asked (2011, §8.2) whether a
    working-set policy loses by housekeeping what it saves in faults: compare the blue parts of two runs. Do not
    compare γ if a process has few faults: it is a quotient, and with fewer than 30 major faults it is not shown.""",
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

# In the order of the page and of the document.
PLOTS = [
    OVERVIEW,
    DIFFERENCE,
    FRAMES,
    EVENT_LANES,
    UTILISATION,
    FAULTS,
    PRESSURE,
    TASKS,
    MEMORY,
    FAULT_RATES,
    RESIDENT_SETS,
    ZONES,
    LISTS,
    SPACE_TIME,
]
