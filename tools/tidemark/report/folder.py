"""The report's folder: report.html, figures/NAME.{png,svg,csv}, and the tables of the page as CSV.

It is made under another name beside its place and renamed when complete, so a failure, a full disk or Ctrl-C
leaves the earlier report unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tidemark import files
from tidemark.errors import NO_SPACE, USAGE, LabError
from tidemark.report import (
    arena,
    bars,
    charts,
    cliff,
    curves,
    difference,
    event_lanes,
    experiments,
    fault_points,
    figure,
    frames,
    heatmap,
    overview,
    ranking,
    timelines,
)
from tidemark.report.cells import POLICY, Cell
from tidemark.report.cells import axes as axes_of
from tidemark.report.figure import Figure, Table, of_rows
from tidemark.report.page import Block, Section, Shown, page
from tidemark.report.plots import PLOTS
from tidemark.report.plots.runs import (
    EVENT_LANES,
    FRAMES,
    LISTS,
    MEMORY,
    OVERVIEW,
    RESIDENT_SETS,
    SPACE_TIME,
    UTILISATION,
    ZONES,
)
from tidemark.report.sources import Progress, Run, Sources
from tidemark.report.text import csv_text
from tidemark.runs import summary
from tidemark.telemetry import events, story

PAGE, FIGURES = "report.html", "figures"
# At most FEW runs: each gets its overview and details. At most TOGETHER runs share one pair of axes.
FEW, TOGETHER = 6, 8
NO_FACT = {"run", "workload", "timeout", "exact"}
FACTS = ("vm", "mem", "swap", "frames", "disk", "seed", "cmdline")
NO_EVENTS = (
    "Its events were not recorded, so what each task did and what each fault cost is missing here: `tidemark why` or "
    "`tidemark run --events` records them."
)
TOO_FEW = f"under {summary.GAMMA_MAJFLT} major faults"


def file_stem(text: str) -> str:
    """A text as a file name."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.")[:60]


def stems(runs: Sequence[Run]) -> list[str]:
    """A name for each run's files, made from its label; all are different."""
    plain = [file_stem(run.label) or "run" for run in runs]
    return [stem if plain.count(stem) == 1 else f"{stem}-{at}" for at, stem in enumerate(plain, 1)]


def run_rows(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """A row for each run: its settings and its results. Shares are in percent."""
    rows = []
    for run in runs:
        meta, image = run.result.meta, run.result.meta.get("image", {})
        settings = {
            "command" if name == "run" else name: value
            for name, value in meta.get("settings", {}).items()
            if value not in ("", None, [])
        }
        row = {
            "run": run.label,
            "ended": run.note or "well",
            **settings,
            **summary.in_percent(summary.system(run.data)),
        }
        row |= {"image": str(image.get("sha256", ""))[:12], "commit": image.get("commit", "")}
        row |= {"qemu": meta.get("qemu", {}).get("version", ""), "started": meta.get("started", "")}
        rows.append(row | {"folder": str(run.result.folder)})
    return rows


def turned(rows: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """A table with a column for each row, and the names in the first column: a few runs side by side."""
    names = [name for name in of_rows(rows) if name != "run"]
    return {"": names} | {row["run"]: [row.get(name) for name in names] for row in rows}


def process_table(run: Run) -> dict[str, list[Any]]:
    """The ended processes of a run, in the order in which they ended."""
    rows = [summary.process(record) for record in run.data.exits]
    return of_rows([row | {"gamma_us": TOO_FEW if row["gamma_us"] is None else row["gamma_us"]} for row in rows])


def cell_table(sources: Sources) -> dict[str, list[Any]]:
    """A row for each cell: its settings, its numbers, and why it has no numbers."""
    return of_rows(
        [
            {"cell": cell.name, "ended": cell.why or "well", "verdict": cell.verdict, **cell.factors, **cell.numbers}
            for cell in sources.cells
        ]
    )


def varying(table: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """The columns whose values differ, and the first two, the cell and how it ended."""
    return {
        name: values for at, (name, values) in enumerate(table.items()) if at < 2 or any(v != values[0] for v in values)
    }


class Parts:
    """The sections of the page, collected while the files are written into `folder`."""

    def __init__(self, folder: Path, pictures: bool, highlight: Sequence[str], progress: Progress) -> None:
        self.folder, self.pictures, self.highlight, self.progress = folder, pictures, highlight, progress
        self.sections: list[Section] = []
        (folder / FIGURES).mkdir()

    def save(self, figures: Sequence[Figure], charted: bool = False) -> list[Shown]:
        """Write each figure's files; returns what the page shows of them. `charted`: the page has a chart in place of
        the picture, which is drawn only if all pictures are wanted."""
        kinds = figure.KINDS if self.pictures else ("csv",) if charted else ("svg", "csv")
        shown = []
        for one in figures:
            self.progress(one.name)
            figure.save(one, self.folder / FIGURES, kinds)
            svg = (self.folder / FIGURES / f"{one.name}.svg").read_bytes() if "svg" in kinds else b""
            shown.append(Shown(one.name, one.title, one.caption, svg, kinds))
        return shown

    def table(self, name: str, title: str, table: Table) -> list[tuple[str, Table]]:
        """Write a table as CSV; returns it with its title for the page. A table without rows is left out."""
        if not any(map(len, table.values())):
            return []
        (self.folder / f"{name}.csv").write_text(csv_text(table))
        return [(title, table)]

    def add_difference(self, every: Sequence[Cell]) -> None:
        """Add what differs between two sweeps, or between the two contestants of one."""
        names, sides = difference.sides(every)
        if len(names) == 2:
            a, b = names
            changes = difference.of_sweeps(sides[a], sides[b])
            pictures = self.drawn(difference.figure(a, b, changes, "place"))
            said = difference.sentence_of_sweeps(a, b, changes)
            blocks = [Block("", figures=pictures)] if pictures else []
            self.sections.append(Section(f"{b} against {a}", said, blocks=blocks))

    def add_ranking(self, every: Sequence[Cell]) -> None:
        """Add the answer of a sweep with three contestants or more."""
        found = ranking.places(every)
        if found:
            number, label = experiments.quantity(experiments.usable(every))
            story = ranking.answer(found, number != difference.TIME)
            self.sections.append(Section("The answer", story, figures=self.save([ranking.figure(found, label)])))

    def add_answer(self, every: Sequence[Cell]) -> None:
        """Add what a sweep says, in words first: the cliff, then the ranking or the difference."""
        at = len(self.sections)
        self.add_ranking(every)
        self.add_difference(every)
        if said := cliff.sentence(every, self.highlight):
            if at == len(self.sections):
                self.sections.append(Section("Where memory ceases to suffice"))
            self.sections[at].story = f"{said} {self.sections[at].story}".strip()

    def add_sweep(self, sources: Sources) -> None:
        """Add the answer, the arena, the curves and the table of the cells."""
        self.add_answer(sources.cells)
        maps = experiments.heat(sources.cells)
        groups = [] if maps else arena.groups(sources.cells)
        for group in groups:
            self.sections.append(
                Section(
                    f"Arena: {group.title}", arena.remark(group), figures=self.save(heatmap.figures(group)), arena=group
                )
            )
        figures, fits, spreads = curves.of_cells(sources.cells, self.highlight)
        figures = maps + figures + experiments.of_cells(sources.cells, not groups or bool(axes_of(sources.cells)))
        section = Section(
            "Curves", text=experiments.left_out(sources.cells), blocks=[Block("", figures=self.save(figures))]
        )
        section.tables = self.table("fits", "Turnaround: T = k / M^p + c, M in MiB, T in s", fits)
        for x, spread in spreads.items():
            section.tables += self.table(f"spread-{file_stem(x)}", f"Against {x}: median (least..greatest)", spread)
        if figures or not groups:
            self.sections.append(section)
        every = cell_table(sources)
        self.table("cells", "", every)
        if "workload" in every:
            every.pop("run", None)
        title = f"All {len(sources.cells)} runs"
        self.sections.append(Section("Cells", tables=[(title, varying(every))], folded=True))

    def drawn(self, one: Figure | None, charted: bool = False) -> list[Shown]:
        """As `save`, for one figure that may be missing."""
        return self.save([one], charted) if one else []

    def add_runs(self, runs: Sequence[Run]) -> None:
        """Add what the runs have in common, what happened in each run, and last the tables."""
        if len(runs) > 1:
            self.sections.append(self.together(runs))
        for run, stem in zip(runs, stems(runs)):
            self.sections.append(self.of_run(run, stem, runs))
        rows = run_rows(runs)
        self.table("runs", "", of_rows(rows))
        tables = [
            table
            for run, stem in zip(runs, stems(runs))
            for table in self.table(f"processes-{stem}", f"Processes: {run.label}", process_table(run))
        ]
        self.sections.append(Section("Tables", tables=[*tables, ("Runs", turned(rows))], folded=len(runs) > 1))

    def shared(self, runs: Sequence[Run]) -> list[Block]:
        """The plots in which all runs share the axes."""
        sampled = [run for run in runs if run.sampled]
        blocks = []
        for plot in PLOTS if sampled else []:
            if plot.over_time and (len(runs) > 1 or plot is not UTILISATION):
                pictures = self.drawn(timelines.over_time(plot, sampled), charted=True)
                shown, many = charts.of_plot(plot, sampled), len(runs) > FEW
                blocks.append(Block(plot.question, plot.caption, shown, pictures, only_linked=many))
        if len(sampled) > 1:
            blocks.append(Block(RESIDENT_SETS.question, figures=self.save([timelines.overlaid(sampled)])))
        space = bars.of_runs(runs)
        return [*blocks, *([Block(SPACE_TIME.question, figures=self.save([space]))] if space else [])]

    def together(self, runs: Sequence[Run]) -> Section:
        """The section with several runs on the same axes."""
        said = [f"{run.label}: {run.story}" for run in runs if run.sampled]
        section = Section("All runs together", " ".join(said) if len(said) < 5 else "", about_charts(runs))
        if len(runs) > TOGETHER:
            section.text += f" Here are the first {TOGETHER} of {len(runs)} runs; the others follow one by one."
        section.blocks = self.shared(runs[:TOGETHER])
        if len(runs) == 2:
            a, b = runs
            section.title = f"{b.label} against {a.label}"
            changes = difference.of_runs(a, b)
            section.story = difference.sentence(a.label, b.label, changes)
            pictures = self.drawn(difference.figure(a.label, b.label, changes, "quantity"))
            section.blocks.insert(0, Block("", figures=pictures))
        return section

    def of_run(self, run: Run, stem: str, runs: Sequence[Run]) -> Section:
        """The section of one run: what happened, and details."""
        few = len(runs) <= FEW
        section = Section(run.label, f"{run.story} {story.hardest_hit(run.data)}".strip(), run.note)
        if run.sampled:
            shown = charts.of_overview(run, len(runs))
            pictures = self.drawn(overview.figure(run, stem), charted=True) if few else []
            section.blocks = [Block("", OVERVIEW.caption if few else "", shown, pictures, wide=True)]
        if few:
            section.blocks += self.details(run, stem, runs)
            if run.sampled and not (run.result.folder / events.FILE).exists():
                section.text = f"{section.text} {NO_EVENTS}".strip()
        else:
            section.text += f" `tidemark report {run.result.name}` draws it alone, with all its figures and files."
        return section

    def details(self, run: Run, stem: str, runs: Sequence[Run]) -> list[Block]:
        """The blocks of details after the overview of one run."""
        blocks = []
        if found := frames.read(run):
            pictures = self.save([frames.figure(run, found, stem)], charted=True)
            image = frames.png(run, found), frames.chart(run, found)
            blocks.append(Block(FRAMES.question, pictures[0].caption, figures=pictures, image=image))
        recorded = events.read(run.result.folder)
        if recorded and (lanes := event_lanes.figure(run, recorded, stem)):
            blocks.append(Block(EVENT_LANES.question, lanes.caption, figures=self.save([lanes])))
        if recorded and (points := fault_points.of_run(run, recorded)):
            blocks.append(Block("What did each major fault cost?", fault_points.reading(points), [points], wide=True))
        if len(runs) == 1:
            blocks += self.shared(runs)
        of_one = charts.of_one(run)
        for plot, make in ((MEMORY, timelines.memory), (ZONES, timelines.zones), (LISTS, timelines.lists)):
            if of_one.get(plot.name):
                pictures = self.drawn(make(run, stem), charted=True)
                if plot is MEMORY:
                    pictures += self.drawn(timelines.fault_rates(run, stem), charted=True)
                blocks.append(Block(plot.question, plot.caption, of_one[plot.name], pictures))
        return blocks


def about_charts(runs: Sequence[Run]) -> str:
    """How to use the timelines, and which of them were thinned."""
    if not any(run.sampled for run in runs):
        return ""
    text = "Drag to zoom, double-click to see all, click a name to hide its line. Time is the machine's, since boot."
    if len(runs) > 1:
        text += timelines.about_time([run for run in runs if run.sampled])
    for label, nr in charts.thinned_runs(runs).items():
        text += (
            f" {label} has {nr:,} samples: charts draw the least and the largest value of each group; the CSV has all."
        )
    return text


def title_of(sources: Sources) -> str:
    """The page's title."""
    commands = dict.fromkeys(str(run.result.meta.get("settings", {}).get("run", "")) for run in sources.runs)
    what = [", ".join(filter(None, commands))] if sources.runs else []
    what += [f"sweep of {len(sources.cells)} runs"] if sources.cells else []
    return "Tidemark: " + "; ".join(filter(None, what))


def facts_of(sources: Sources) -> str:
    """What was run, and how many runs failed: what the runs have in common, without what is the same everywhere."""
    said = []
    if sources.cells:
        failed = sum(bool(cell.why) for cell in sources.cells)
        some = [cell.factors for cell in experiments.usable(sources.cells)]
        same = {name: value for name, value in (some[0] if some else {}).items() if name not in NO_FACT}
        shown = [f"{name} {value}" for name, value in same.items() if all(one.get(name) == value for one in some)]
        said.append(f"{failed} of {len(sources.cells)} runs have no result." if failed else "All runs ended well.")
        said += [f"All with {', '.join(shown)}."] if shown else []
    for run in sources.runs[:1] if len(sources.runs) == 1 else []:
        settings = run.result.meta.get("settings", {})
        shown = [f"{name} {settings[name]}" for name in FACTS if settings.get(name)]
        said += [", ".join([*shown, f"image {str(run.result.meta.get('image', {}).get('sha256', ''))[:12]}"]) + "."]
    return " ".join(said)


def write(
    sources: Sources,
    out: Path,
    progress: Progress = lambda text: None,
    pictures: bool = False,
    highlight: Sequence[str] = (),
) -> list[Path]:
    """Make the report in `out`, in place of an earlier one; returns its files, relative to `out`. `pictures`: draw each
    figure as SVG and PNG, also those for which the page has a chart. `highlight`: policies that stay coloured in
    pictures of many.

    Raises LabError if it cannot be written.
    """
    known = {cell.factors.get(POLICY, "") for cell in sources.cells} | {run.policy for run in sources.runs}
    if missing := [name for name in highlight if name not in known]:
        raise LabError(
            f"no policy {missing[0]} is in these results: they have {', '.join(sorted(known - {''}))}", USAGE
        )
    try:
        with files.folder_replacing(out, PAGE) as folder:
            parts = Parts(folder, pictures, highlight, progress)
            if sources.cells:
                parts.add_sweep(sources)
            if sources.runs:
                parts.add_runs(sources.runs)
            text = page(title_of(sources), facts_of(sources), sources.notes, parts.sections)
            (folder / PAGE).write_text(text, "utf-8")
            return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    except OSError as error:
        raise LabError(f"{out} cannot be written: {error.strerror}", NO_SPACE) from None
