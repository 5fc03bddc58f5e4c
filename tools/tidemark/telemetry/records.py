"""The telemetry's records and their members, as JSON gives them. docs/reference/telemetry.md explains them.

Written by tools/schema.py from kernel/observe/schema.h: change that file, and run tools/schema.py.
"""

# fmt: off
# ruff: noqa: E501

from __future__ import annotations

from typing import Literal, NamedTuple, TypedDict

SCHEMA = 2


class Member(NamedTuple):
    """What the schema says of a member. `kind` is FACT, LEVEL, COUNTER, PART or OPTIONAL."""

    type: str
    kind: str
    unit: str
    meaning: str


class Zones(TypedDict):
    name: str
    managed: int
    min: int
    low: int
    high: int


class Disk(TypedDict):
    queue: int
    reads: int
    writes: int
    busy_us: int
    wait_us: int


class Block(TypedDict):
    name: str
    queue: int
    busy_us: int
    wait_us: int
    merged: int
    errors: int
    swap_reads: int
    swap_writes: int
    data_reads: int
    data_writes: int
    meta_reads: int
    meta_writes: int
    sectors_read: int
    sectors_written: int


class Psi(TypedDict):
    some_us: int
    full_us: int


class Guard(TypedDict):
    name: str
    us: int


class Procs(TypedDict):
    pid: int
    comm: str
    state: int
    mad: int
    rss: int
    nap: int
    wss: int
    fresh: int
    phases: int
    swap: int
    minflt: int
    majflt: int
    refault: int
    user_us: int
    kernel_us: int
    ready_us: int
    pagewait_us: int
    admit_us: int
    sleep_us: int
    nice: int
    vruntime: int


class Delta_terms(TypedDict):
    rss_change: int
    housekeeping: int
    ready: int
    minor_wait: int
    other_wait: int
    admission: int
    sleep: int


class Vm(TypedDict):
    """Event counters."""

    pgalloc: int
    pgfree: int
    pgfault: int
    pgmajfault: int
    pgreuse: int
    pswpin: int
    pswpout: int
    pgscan_kswapd: int
    pgscan_direct: int
    pgsteal_kswapd: int
    pgsteal_direct: int
    pgevict: int
    pgrescued: int
    pgdetach: int
    pglaunder: int
    pgtrim: int
    allocstall: int
    kswapd_wake: int
    swap_ra: int
    swap_ra_hit: int
    workingset_refault: int
    workingset_refault_file: int
    file_ra: int
    file_ra_hit: int
    pgpgin: int
    pgpgout: int
    oom_kill: int
    swap_read_error: int
    swap_write_error: int
    admission_wait: int
    policy_violation: int


class Record(TypedDict):
    """Members of every record."""

    seq: int
    t_us: int


class Start(Record):
    """Sent once, as the first record."""

    ev: Literal["start"]
    schema: int
    kernel: str
    policy: str
    guard: str
    jitter: int
    cmdline: str
    page_size: int
    managed: int
    free: int
    frames: int
    zones: list[Zones]


class Mm(Record):
    """A process has a new address space, by fork or by exec, and has not yet executed an instruction in it."""

    ev: Literal["mm"]
    pid: int
    comm: str
    cr3: int


class _Sample(Record):
    """Every `sample_ms` while anything runs, and one before power off."""

    ev: Literal["sample"]
    idle_us: int
    iowait_us: int
    switches: int
    running: int
    held: int
    free: list[int]
    owned: list[int]
    isolated: int
    writing: int
    priority: int
    policy_us: int
    swap_free: int
    vm: Vm
    cost_us: int
    psi: Psi
    rq: list[list[int]]
    lists: dict[str, int]
    procs: list[Procs]


class Sample(_Sample, total=False):
    """Every `sample_ms` while anything runs, and one before power off."""

    disk: Disk
    block: list[Block]
    guard: Guard


class Pressure(Record):
    ev: Literal["pressure"]
    idle_us: int
    full_us: int
    read: int
    evicted: int
    evicting_us: int
    demand: int
    wanting: int
    held: int
    oom_kill: int


class Exit(Record):
    """A process has ended (init excepted)."""

    ev: Literal["exit"]
    pid: int
    comm: str
    status: int
    turnaround_us: int
    minflt: int
    majflt: int
    refault: int
    mean_rss: int
    max_rss: int
    c_b: int
    c_d: int
    c_d_approx: int
    delta: int
    housekeeping: int
    fault_delay_us: int
    fault_rss: int
    us: list[int]
    page_ms: list[int]
    minor_delay_us: int
    delta_terms: Delta_terms


class Policy(Record):
    """Another policy has taken over."""

    ev: Literal["policy"]
    name: str


class _Violation(Record):
    """A policy or a guard broke a rule."""

    ev: Literal["violation"]
    rule: str
    what: str


class Violation(_Violation, total=False):
    """A policy or a guard broke a rule."""

    policy: str
    guard: str


class Oom(Record):
    """A process was killed for memory."""

    ev: Literal["oom"]
    pid: int
    comm: str
    rss: int
    swapents: int
    ptes: int


class Profile(Record):
    """At power off, with `profile_hz=`: where the profiler's ticks fell."""

    ev: Literal["profile"]
    hz: int
    ticks: int
    functions: dict[str, int]


class End(Record):
    """The last record, written once, and only with `run=`."""

    ev: Literal["end"]
    status: int


# By path: `sample.vm.pgfault`, `sample.procs.rss`.
MEMBERS: dict[str, Member] = {
    "any.seq": Member("padded", "COUNTER", "", "0, 1, 2, … without gaps"),
    "any.t_us": Member("u64", "LEVEL", "µs", "machine time since boot"),
    "any.ev": Member("text", "FACT", "", "which record this is"),
    "start.schema": Member("u32", "FACT", "", "version of this format"),
    "start.kernel": Member("text", "FACT", "", "`tidemark`"),
    "start.policy": Member("text", "FACT", "", "the policy at boot"),
    "start.guard": Member("text", "FACT", "", "the guard at boot; `none` when there is none"),
    "start.jitter": Member("u32", "FACT", "", "`jitter=N` of the command line: which shifts of time this run has; 0: none"),
    "start.cmdline": Member("text", "FACT", "", "the kernel's command line"),
    "start.page_size": Member("u32", "FACT", "bytes", "size of a page"),
    "start.managed": Member("u32", "FACT", "pages", "what the allocator manages"),
    "start.free": Member("u32", "LEVEL", "pages", "free now"),
    "start.frames": Member("u32", "FACT", "pages", "the cap on user frames; 0: none"),
    "start.zones": Member("objects", "PART", "", "for each zone, how much it has and its watermarks"),
    "start.zones.name": Member("text", "FACT", "", "`DMA`, `Normal` or `HighMem`"),
    "start.zones.managed": Member("u32", "FACT", "pages", "what the allocator manages of it; 0: the zone is empty"),
    "start.zones.min": Member("u32", "FACT", "pages", "under this, tasks free pages themselves"),
    "start.zones.low": Member("u32", "FACT", "pages", "under this, kswapd begins to free pages"),
    "start.zones.high": Member("u32", "FACT", "pages", "from this on, kswapd has done enough"),
    "mm.pid": Member("int", "FACT", "", "number of the process"),
    "mm.comm": Member("text", "FACT", "", "its name"),
    "mm.cr3": Member("u32", "FACT", "bytes", "physical address of its page directory, what register CR3 holds while it runs. It names this process until its next `mm` or its `exit`; afterwards another may get the same directory"),
    "sample.idle_us": Member("u64", "COUNTER", "µs", "time in which no process could run. Utilisation of an interval = 1 − Δidle_us / Δt_us"),
    "sample.iowait_us": Member("u64", "COUNTER", "µs", "the part of `idle_us` in which a task waited for the disk"),
    "sample.switches": Member("u64", "COUNTER", "", "task switches"),
    "sample.running": Member("u32", "LEVEL", "", "tasks that can run"),
    "sample.held": Member("u32", "LEVEL", "", "processes held back by `may_run`"),
    "sample.free": Member("numbers", "LEVEL", "pages", "free pages of each zone"),
    "sample.owned": Member("numbers", "LEVEL", "pages", "pages of each zone that the policy owns"),
    "sample.isolated": Member("u32", "LEVEL", "pages", "pages the core holds"),
    "sample.writing": Member("u32", "LEVEL", "pages", "isolated pages that are being written"),
    "sample.priority": Member("int", "LEVEL", "", "the lowest reclaim priority since the last sample: 12 calm, 0 desperate"),
    "sample.policy_us": Member("u64", "COUNTER", "µs", "time inside the policy's hooks"),
    "sample.swap_free": Member("u32", "LEVEL", "slots", "free slots of the swap area"),
    "sample.disk": Member("object", "OPTIONAL", "", "the swap disk; missing when there is none"),
    "sample.disk.queue": Member("u32", "LEVEL", "", "requests not yet served"),
    "sample.disk.reads": Member("u64", "COUNTER", "", "requests that read"),
    "sample.disk.writes": Member("u64", "COUNTER", "", "requests that write"),
    "sample.disk.busy_us": Member("u64", "COUNTER", "µs", "time serving"),
    "sample.disk.wait_us": Member("u64", "COUNTER", "µs", "all requests' times from submission to end. Mean response = Δwait_us / Δ(reads + writes)"),
    "sample.block": Member("objects", "OPTIONAL", "", "the disks, that of the swap area too; missing when there is none but that"),
    "sample.block.name": Member("text", "FACT", "", "its name in `/dev`"),
    "sample.block.queue": Member("u32", "LEVEL", "", "requests not yet served"),
    "sample.block.busy_us": Member("u64", "COUNTER", "µs", "time serving"),
    "sample.block.wait_us": Member("u64", "COUNTER", "µs", "all requests' times from submission to end"),
    "sample.block.merged": Member("u64", "COUNTER", "", "pieces of work that joined a waiting request"),
    "sample.block.errors": Member("u64", "COUNTER", "", "requests that failed"),
    "sample.block.swap_reads": Member("u64", "COUNTER", "", "requests that read, for swap"),
    "sample.block.swap_writes": Member("u64", "COUNTER", "", "requests that write, for swap"),
    "sample.block.data_reads": Member("u64", "COUNTER", "", "the same for the data of files"),
    "sample.block.data_writes": Member("u64", "COUNTER", "", "the same for the data of files"),
    "sample.block.meta_reads": Member("u64", "COUNTER", "", "the same for the metadata of a file system, or a partition table"),
    "sample.block.meta_writes": Member("u64", "COUNTER", "", "the same; and flushes"),
    "sample.block.sectors_read": Member("u64", "COUNTER", "sectors", "of 512 bytes"),
    "sample.block.sectors_written": Member("u64", "COUNTER", "sectors", "of 512 bytes"),
    "sample.vm": Member("object", "PART", "", "event counters, also in `/proc/vmstat`"),
    "sample.vm.pgalloc": Member("u64", "COUNTER", "", "frames allocated"),
    "sample.vm.pgfree": Member("u64", "COUNTER", "", "frames freed"),
    "sample.vm.pgfault": Member("u64", "COUNTER", "", "page faults served: the sum of all processes' `minflt` and `majflt`"),
    "sample.vm.pgmajfault": Member("u64", "COUNTER", "", "page faults that started a read"),
    "sample.vm.pgreuse": Member("u64", "COUNTER", "", "copy-on-write faults that needed no copy"),
    "sample.vm.pswpin": Member("u64", "COUNTER", "", "pages read from swap"),
    "sample.vm.pswpout": Member("u64", "COUNTER", "", "pages written to swap"),
    "sample.vm.pgscan_kswapd": Member("u64", "COUNTER", "", "pages policies looked at, for kernel threads"),
    "sample.vm.pgscan_direct": Member("u64", "COUNTER", "", "pages policies looked at, for tasks themselves"),
    "sample.vm.pgsteal_kswapd": Member("u64", "COUNTER", "", "frames freed by kernel threads"),
    "sample.vm.pgsteal_direct": Member("u64", "COUNTER", "", "frames freed by tasks themselves"),
    "sample.vm.pgevict": Member("u64", "COUNTER", "", "pages evicted"),
    "sample.vm.pgrescued": Member("u64", "COUNTER", "", "pages used again while they were being evicted"),
    "sample.vm.pgdetach": Member("u64", "COUNTER", "", "pages detached"),
    "sample.vm.pglaunder": Member("u64", "COUNTER", "", "pages laundered"),
    "sample.vm.pgtrim": Member("u64", "COUNTER", "", "pages taken because `surplus` counted them"),
    "sample.vm.allocstall": Member("u64", "COUNTER", "", "times a task had to reclaim for itself"),
    "sample.vm.kswapd_wake": Member("u64", "COUNTER", "", "wake-ups of kswapd"),
    "sample.vm.swap_ra": Member("u64", "COUNTER", "", "pages read ahead"),
    "sample.vm.swap_ra_hit": Member("u64", "COUNTER", "", "pages read ahead and asked for later"),
    "sample.vm.workingset_refault": Member("u64", "COUNTER", "", "all processes' refaults"),
    "sample.vm.workingset_refault_file": Member("u64", "COUNTER", "", "pages of files brought in again that were evicted not long ago"),
    "sample.vm.file_ra": Member("u64", "COUNTER", "", "pages of files read ahead"),
    "sample.vm.file_ra_hit": Member("u64", "COUNTER", "", "pages of files read ahead and asked for later"),
    "sample.vm.pgpgin": Member("u64", "COUNTER", "", "KiB of files and metadata read from devices"),
    "sample.vm.pgpgout": Member("u64", "COUNTER", "", "KiB of files and metadata written to devices"),
    "sample.vm.oom_kill": Member("u64", "COUNTER", "", "processes killed for memory"),
    "sample.vm.swap_read_error": Member("u64", "COUNTER", "", "failed reads of swap"),
    "sample.vm.swap_write_error": Member("u64", "COUNTER", "", "failed writes of swap"),
    "sample.vm.admission_wait": Member("u64", "COUNTER", "", "times a process had to wait for admission"),
    "sample.vm.policy_violation": Member("u64", "COUNTER", "", "broken rules"),
    "sample.cost_us": Member("u64", "COUNTER", "µs", "time that the samples before this one have cost"),
    "sample.psi": Member("object", "PART", "", "memory pressure"),
    "sample.psi.some_us": Member("u64", "COUNTER", "µs", "time in which at least one task was stalled for memory"),
    "sample.psi.full_us": Member("u64", "COUNTER", "µs", "the part of `some_us` in which no task was productive"),
    "sample.rq": Member("rows", "PART", "", "the scheduler's red-black tree, in order of vruntime"),
    "sample.rq.pid": Member("int", "FACT", "", "number of the task"),
    "sample.rq.vruntime": Member("u64", "COUNTER", "ns", "CPU time divided by weight"),
    "sample.rq.black": Member("int", "LEVEL", "", "colour of its node: 1 black, 0 red"),
    "sample.rq.parent": Member("int", "LEVEL", "", "pid of its parent in the tree; 0: it is the root"),
    "sample.lists": Member("counts", "PART", "", "what the policy shows in `/proc/vm/policy` ([policies.md](policies.md))"),
    "sample.guard": Member("object", "OPTIONAL", "", "the guard, and what it shows in `/proc/vm/guard`; missing when there is none"),
    "sample.guard.name": Member("text", "FACT", "", "name of the guard; several with commas between them"),
    "sample.guard.us": Member("u64", "COUNTER", "µs", "time inside its hooks"),
    "sample.procs": Member("objects", "PART", "", "the processes"),
    "sample.procs.pid": Member("int", "FACT", "", "number"),
    "sample.procs.comm": Member("text", "FACT", "", "name"),
    "sample.procs.state": Member("int", "LEVEL", "", "0 runnable, 1 asleep, 2 asleep and not interruptible, 3 zombie"),
    "sample.procs.mad": Member("u32", "LEVEL", "pages", "memory allocation demand: pages of anonymous and of private writable regions"),
    "sample.procs.rss": Member("u32", "LEVEL", "pages", "resident pages"),
    "sample.procs.nap": Member("u32", "LEVEL", "pages", "pages accessed since the last sample"),
    "sample.procs.wss": Member("u32", "LEVEL", "pages", "working-set size: anonymous pages used in the last `wss_tau_ms` (1000) of its virtual time, and file pages used since the last sample"),
    "sample.procs.fresh": Member("u32", "LEVEL", "pages", "of `nap`, the anonymous pages that were not used in the `wss_tau_ms` before"),
    "sample.procs.phases": Member("u32", "COUNTER", "", "phases begun: samples with 16 fresh pages or more, a quarter of `nap` or more, after one without"),
    "sample.procs.swap": Member("u32", "LEVEL", "pages", "its page-table entries that name a swap slot"),
    "sample.procs.minflt": Member("u64", "COUNTER", "", "faults without a read that the process started"),
    "sample.procs.majflt": Member("u64", "COUNTER", "", "faults with such a read"),
    "sample.procs.refault": Member("u64", "COUNTER", "", "major faults on pages evicted so recently that memory could have kept them: no more evictions ago than there are frames"),
    "sample.procs.user_us": Member("u64", "COUNTER", "µs", "running its own code"),
    "sample.procs.kernel_us": Member("u64", "COUNTER", "µs", "the kernel at work for it"),
    "sample.procs.ready_us": Member("u64", "COUNTER", "µs", "it could run, but another task runs"),
    "sample.procs.pagewait_us": Member("u64", "COUNTER", "µs", "waiting for a page or a frame"),
    "sample.procs.admit_us": Member("u64", "COUNTER", "µs", "held back by `may_run`"),
    "sample.procs.sleep_us": Member("u64", "COUNTER", "µs", "asleep for any other reason"),
    "sample.procs.nice": Member("int", "LEVEL", "", "nice value"),
    "sample.procs.vruntime": Member("u64", "COUNTER", "ns", "CPU time divided by weight: what CFS sorts by"),
    "pressure.idle_us": Member("u64", "COUNTER", "µs", "as in a sample"),
    "pressure.full_us": Member("u64", "COUNTER", "µs", "time in which processes waited for memory, and none was productive: `full_us` of `psi`"),
    "pressure.read": Member("u64", "COUNTER", "pages", "pages read, of swap and of files"),
    "pressure.evicted": Member("u64", "COUNTER", "pages", "pages evicted"),
    "pressure.evicting_us": Member("u64", "LEVEL", "µs", "when the first page since the previous record was evicted; 0: none was"),
    "pressure.demand": Member("u32", "LEVEL", "pages", "the largest total demand of the processes so far: the sum of their `mad`; small ones do not count"),
    "pressure.wanting": Member("u32", "LEVEL", "", "the number of these processes"),
    "pressure.held": Member("u32", "LEVEL", "", "the largest number of processes that admission has held back at once so far"),
    "pressure.oom_kill": Member("u64", "COUNTER", "", "processes killed for memory"),
    "exit.pid": Member("int", "FACT", "", "number of the process"),
    "exit.comm": Member("text", "FACT", "", "its name"),
    "exit.status": Member("int", "FACT", "", "as `wait4` gives it: exit status × 256, or the signal"),
    "exit.turnaround_us": Member("u64", "FACT", "µs", "from creation to end"),
    "exit.minflt": Member("u64", "FACT", "", "faults without a read that the process started"),
    "exit.majflt": Member("u64", "FACT", "", "faults with such a read"),
    "exit.refault": Member("u64", "FACT", "", "major faults on pages evicted recently"),
    "exit.mean_rss": Member("u32", "FACT", "pages", "mean resident set over its life"),
    "exit.max_rss": Member("u32", "FACT", "pages", "its largest resident set"),
    "exit.c_b": Member("u64", "FACT", "page-ms", "space-time C_B, formulas below"),
    "exit.c_d": Member("u64", "FACT", "page-ms", "space-time C_D"),
    "exit.c_d_approx": Member("u64", "FACT", "page-ms", "C_D approximately"),
    "exit.delta": Member("s64", "FACT", "page-ms", "Δ = C_B − C_D"),
    "exit.housekeeping": Member("u64", "FACT", "page-µs", "Γ, space-time of the kernel's work"),
    "exit.fault_delay_us": Member("u64", "FACT", "µs", "Σ of the waits of its major faults"),
    "exit.fault_rss": Member("u64", "FACT", "pages", "Σ of RSS over its major faults"),
    "exit.us": Member("numbers", "FACT", "µs", "time by account: user, kernel, ready, pagewait, admit, sleep"),
    "exit.page_ms": Member("numbers", "FACT", "page-ms", "space-time by account"),
    "exit.minor_delay_us": Member("u64", "FACT", "µs", "Σ of the waits of its minor faults"),
    "exit.delta_terms": Member("object", "PART", "", "the terms whose sum is `delta`"),
    "exit.delta_terms.rss_change": Member("s64", "FACT", "page-ms", "waits of major faults with RSS as it was during the wait, less the same with RSS as the fault began"),
    "exit.delta_terms.housekeeping": Member("s64", "FACT", "page-ms", "Γ: the kernel at work for it"),
    "exit.delta_terms.ready": Member("s64", "FACT", "page-ms", "it could run, another task did"),
    "exit.delta_terms.minor_wait": Member("s64", "FACT", "page-ms", "waits of minor faults: for a frame, or for a page that is being read or written already"),
    "exit.delta_terms.other_wait": Member("s64", "FACT", "page-ms", "waits of system calls for pages and frames"),
    "exit.delta_terms.admission": Member("s64", "FACT", "page-ms", "held back by `may_run`"),
    "exit.delta_terms.sleep": Member("s64", "FACT", "page-ms", "asleep for any other reason"),
    "policy.name": Member("text", "FACT", "", "name of the new policy"),
    "violation.policy": Member("text", "OPTIONAL", "", "the policy that did, if it was one"),
    "violation.guard": Member("text", "OPTIONAL", "", "the guard that did, if it was one"),
    "violation.rule": Member("text", "FACT", "", "the rule"),
    "violation.what": Member("text", "FACT", "", "what happened"),
    "oom.pid": Member("int", "FACT", "", "number of the process"),
    "oom.comm": Member("text", "FACT", "", "its name"),
    "oom.rss": Member("u32", "LEVEL", "pages", "its resident pages"),
    "oom.swapents": Member("u32", "LEVEL", "slots", "what it had in swap"),
    "oom.ptes": Member("u32", "LEVEL", "pages", "its page tables"),
    "profile.hz": Member("u32", "FACT", "Hz", "instants a second of machine time, from boot on"),
    "profile.ticks": Member("u32", "FACT", "", "all that were counted; the same in every record"),
    "profile.functions": Member("counts", "PART", "", "ticks of each kernel function that was hit, and of `user` and `idle`"),
    "end.status": Member("int", "FACT", "", "the run's status"),
}
