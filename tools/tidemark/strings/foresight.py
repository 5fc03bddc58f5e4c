"""A run repeated under a policy that knows its future: Belady's MIN, or VMIN.

An exact run is reproducible, and the pages that a program references do not depend on which are in memory. So the run
is recorded (tidemark.trace), its future is put into the guest's memory above all else (tidemark.trace.future), and it
runs again with vm=min or vm=vmin. Read-ahead is off, since the theory is about pages that are asked for.

With one process and frames=N the faults must be those of MIN on paper, which `judged` computes from the same string. If
the program uses pages of files on a disk, frames_files=1 is needed, too: otherwise the cap does not count them.
The order of several processes' references depends on their faults: there MIN goes by each process's own time and is not
a bound.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tidemark.errors import FAILED, USAGE, LabError
from tidemark.files import write_json
from tidemark.machine import disk, parameters, qemu
from tidemark.runs import experiment, repeat, results
from tidemark.strings import compare, least_time, refstrings
from tidemark.strings.least_time import LeastTime
from tidemark.telemetry import story
from tidemark.trace import future, policy_strings
from tidemark.trace.pack import SPACES
from tidemark.trace.record import Progress, Recording, record

MIN_JSON = "min.json"
MIB = 1 << 20
DIRECT_MAP = 896 * MIB  # memory that the kernel maps directly
BIOS = qemu.BIOS // MIB
ALONE = {"vm.page_cluster": 0, "vm.readahead_kb": 0, "vm.readaround_kb": 0}  # each page is read alone
INIT = 1  # the first process: it only waits


@dataclass(frozen=True)
class Faults:
    """Counts: `faults` that bring a page in, by an access or by read and write, and `read`, those of them that read it
    from the swap area or from its file (None: not known).
    """

    faults: int
    read: int | None


@dataclass(frozen=True)
class Times:
    """Turnaround of the command, in the original run and under MIN or VMIN; the least time of its process, and the
    larger bound that holds for the original: None under VMIN, without a modelled disk, or if the process is not alone.
    """

    original_s: float
    kernel_s: float
    least: LeastTime | None
    least_s: float | None


@dataclass(frozen=True)
class Outcome:
    """The results. Counts are those of the program's references to its own pages; `whole_*` those of the machine
    (major faults, pages read). `alone`: is there one process, so that MIN's theory holds? `paper`: MIN's faults on the
    host, None if frames are not fixed, or the process is not alone; `lru` as well. `of_files`: how many of `pages` are
    of files. `lost`: unforeseen faults; `forced`: evictions of another page than the farthest, which was in use by a
    system call.
    """

    policy: str
    program: str
    alone: bool
    pages: int
    of_files: int
    references: int
    frames: int
    tau_us: int
    original: Faults
    kernel: Faults
    paper: Faults | None
    lru: Faults | None
    mean_pages: float | None
    whole_original: Faults
    whole_kernel: Faults
    lost: int
    early: int
    forced: int
    times: Times


def check(settings: qemu.Settings, tau_us: int = 0) -> None:
    """Raises LabError if such a run cannot be repeated with its future."""
    named, _ = parameters.split(settings.cmdline)
    if named.get("guard", "none") != "none":
        raise LabError(f"guard={named['guard']} would decide, too: give a result without a guard", USAGE)
    if named.get("telemetry") == "off":
        raise LabError("the run has no telemetry, which shows what MIN did: give a result with telemetry", USAGE)
    if settings.disk and tau_us:
        raise LabError("VMIN knows only a program's own pages: give a result without --disk", USAGE)
    if settings.disk and settings.disk_kind in disk.REAL:
        raise LabError(
            f"the time of DISK_KIND={settings.disk_kind} is the host's: give a result with a modelled disk", USAGE
        )


def counts_files(settings: qemu.Settings) -> bool:
    """Does the cap on frames count pages of files?"""
    named, _ = parameters.split(settings.cmdline)
    return named.get("frames_files") in ("1", "on")


def main_space(recording: Recording) -> tuple[int, str, bool]:
    """(number in order of creation, name, is it alone) of the address space to examine: the program of the only
    process besides init, or else the space with the most references.
    """
    rows = {row["space"]: row for row in recording.spaces}
    keys = [note.key for note in recording.notes if note.tag == SPACES]
    made = [rows.get(recording.numbers.get(key, -1), {}) for key in keys]
    pids = {row["pid"] for row in made if row.get("pid", INIT) != INIT}
    candidates = [number for number, row in enumerate(made) if row.get("pid") in pids] or [len(made) - 1]
    largest = max(candidates, key=lambda number: made[number].get("references", 0))
    main = candidates[-1] if len(pids) == 1 else largest
    return main, str(made[main].get("name", "")), len(pids) == 1


def whole(result: results.Result) -> Faults:
    """Major faults, and pages read from the swap area, of a whole run."""
    vm = result.telemetry().samples[-1]["vm"]
    return Faults(vm["pgmajfault"], vm["pswpin"])


def with_future(settings: qemu.Settings, policy: str, file: Path, tau_us: int) -> qemu.Settings:
    """The settings of the run under `policy`, with its future from `file`."""
    more = ALONE | {"future": f"{qemu.future_at(settings) // MIB}M"} | ({"vmin.tau_us": tau_us} if tau_us else {})
    return replace(
        settings,
        vm=policy,
        frames="" if tau_us else settings.frames,
        cmdline=parameters.joined(settings.cmdline, more),
        future=str(file),
    )


def judged(
    space: future.Space, frames: int, tau_us: int, writes: bool = False
) -> tuple[Faults, Faults | None, float | None]:
    """(MIN or VMIN on paper, LRU with as many frames, VMIN's mean number of pages). If the program `writes` files, the
    string does not tell which pages `write` fills as a whole, and so need not be read.
    """
    pages = int((~space.of_file()).sum())
    if tau_us:
        faults, mean = future.vmin(space, tau_us)
        return Faults(faults, faults - pages), None, mean
    known = compare.bounds(refstrings.Given("", space.refs), [frames])
    least, lru = known[compare.MIN][0], known[compare.LRU][0]
    return Faults(least, None if writes else least - pages), Faults(lru, None if writes else lru - pages), None


def recorded(settings: qemu.Settings, first: results.Result, folder: Path, progress: Progress) -> Recording:
    """Repeat the run of `first` and record its references. Raises LabError if it differs."""
    kinds = "all" if settings.disk else "data"  # fetches refer to a program's file, if that is on a disk
    recording = record(settings, folder, kinds=kinds, progress=progress, notes=True)
    if difference := repeat.first_difference(first, recording.result):
        raise LabError(f"recorded, the run is not the same: {difference}", FAILED)
    return recording


def least(recording: Recording, main: int, space: future.Space) -> LeastTime | None:
    """The least time of the run's process. None if the swap area is not on a modelled disk."""
    run = recording.result
    if not run.settings().swap.startswith(disk.MODELLED):
        return None
    return least_time.of_recording(recording, main, space, least_time.frames_of(run), least_time.disk_of_run(run))


def written(file: Path, content: bytes) -> Path:
    """The file, after its content has been written."""
    file.write_bytes(content)
    return file


def times_of(first: results.Result, result: results.Result, bound: LeastTime | None) -> Times:
    """The times of the run `first` and of its repetition `result`."""
    original_s, kernel_s = (story.turnaround_s(run.telemetry()) for run in (first, result))
    least_s = least_time.seconds(bound, first.settings()) if bound else None
    return Times(original_s, kernel_s, bound, least_s)


def run_again(
    first: results.Result, settings: qemu.Settings, folder: Path, live: Progress
) -> tuple[results.Result, dict[str, int]]:
    """(the run with its future, its policy's counters at the end). Raises LabError if it did not end as `first`."""
    result = experiment.run(settings, folder, lambda records: live(records, 0))
    if result.meta["exit"] != first.meta["exit"]:
        raise LabError(
            f"under {settings.vm} {result.meta['reason']}. The console ends so:\n{result.tail()}\n{folder} keeps it.",
            FAILED,
        )
    lists = result.telemetry().samples[-1]["lists"]
    if "main_faults" not in lists:
        raise LabError(
            f"{settings.vm} broke a rule of the policy interface and was switched off: {folder} has its console", FAILED
        )
    return result, lists


def foresee(
    first: results.Result,
    settings: qemu.Settings,
    folder: Path,
    tau_us: int = 0,
    live: Progress = lambda records, words: None,
    say: Callable[[str], None] = lambda what: None,
) -> Outcome:
    """Record the run of `first` (`settings` are its own), and repeat it into `folder` with its future, under VMIN
    if `tau_us` is given, else under MIN. Writes the returned outcome into min.json. `say` gets the name of each step.

    Raises LabError if the run cannot be repeated or recorded, its future does not fit, or the guest fails.
    """
    check(settings, tau_us)
    policy = "vmin" if tau_us else "min"
    with tempfile.TemporaryDirectory(prefix="tidemark-") as scratch:
        say("recording the run")
        recording = recorded(settings, first, Path(scratch, "recording"), live)
        say("making its future")
        main, program, alone = main_space(recording)
        spaces = policy_strings.spaces_of(recording, max(DIRECT_MAP - (qemu.machine_mib(settings) + BIOS + 1) * MIB, 0))
        bound = least(recording, main, spaces[main]) if alone and not tau_us else None
        file = written(Path(scratch, "future"), future.encode(spaces, main, settings.run))
        say(f"running it again under {policy}")
        result, lists = run_again(first, with_future(settings, policy, file, tau_us), folder, live)
    frames = 0 if tau_us else int(settings.frames or 0)
    of_files = int(spaces[main].of_file().sum())
    theory = alone and (tau_us or frames) and (not of_files or counts_files(settings))
    writes = bool(of_files and recording.totals["kinds"]["write"])
    paper, lru, mean = judged(spaces[main], frames, tau_us, writes) if theory else (None, None, None)
    outcome = Outcome(
        policy=policy,
        program=program,
        alone=alone,
        pages=len(spaces[main].vpns),
        of_files=of_files,
        references=len(spaces[main].refs),
        frames=frames,
        tau_us=tau_us,
        original=Faults(*policy_strings.faults(recording, main)),
        kernel=Faults(lists["main_faults"], lists["main_read"]),
        paper=paper,
        lru=lru,
        mean_pages=mean,
        whole_original=whole(first),
        whole_kernel=whole(result),
        lost=lists["main_lost"] if alone else lists["lost"],
        early=lists["early"],
        forced=lists["forced"],
        times=times_of(first, result, bound),
    )
    write_json(folder / MIN_JSON, asdict(outcome))
    return outcome
