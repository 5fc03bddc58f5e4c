"""Measures how long grading takes, and checks that it repeats.

One submission of the lab `clock`, from a built tree and from a clean copy of it, with and without the compiler's cache;
a class of a hundred submissions of mixed quality; and one submission graded fifty times with endless loops in the
background, with the grades compared byte by byte.
"""

from __future__ import annotations

import hashlib
import tarfile
import tempfile
from pathlib import Path
from statistics import median

from tidemark.grade.build import starters, tree
from tidemark.grade.intake import lab

from figures.common import busy_loops, host, in_parallel, table, timed
from figures.entries import ROOT, Figure

LAB = "clock"
FIFO, CLOCK = "kernel/mm/policy/fifo.c", "kernel/mm/policy/clock.c"
CLASS, REPEATS, LOOPS = 100, 50, 3
BUILT = 5


def from_clean(folder: Path) -> tuple[float, float]:
    """Wall seconds of `make grade` in a copy of the tree in which nothing is built except what was fetched: for the
    first time on a machine, and with the compiler's cache of an earlier build."""
    tree.copy_files(ROOT, folder, list(tree.files_of(ROOT)))
    (folder / "build").mkdir()
    if (ROOT / "build/musl").exists():
        (folder / "build/musl").symlink_to(ROOT / "build/musl")
    timed(["tools/setup.sh", "grade"], folder)  # a build/venv of its own, because a venv contains its path
    grade = ["make", "grade", f"LAB={LAB}"]
    first_s = timed(["env", "CCACHE_DISABLE=1", *grade], folder)
    for goal in ("clean", "grade-base", "clean"):
        timed(["make", goal], folder)
    return first_s, timed(grade, folder)


def qualities() -> list[tuple[str, dict[str, str]]]:
    """Submissions of a typical class, from right to hopeless: a description and the files of each."""
    fifo, clock = (ROOT / FIFO).read_text(), (ROOT / CLOCK).read_text()
    as_given = {file: data.decode() for file, data in starters.of_labs([lab.load(ROOT, LAB)]).items()}
    forgets_to_turn = clock.replace("} else if (page_referenced(page)) {", "} else if (0) {")
    endless = clock.replace(
        "while (!list_empty(&circle) && vm_scan_more(scan)) {", "for (;;) {\n\t\tif (1)\n\t\t\tcontinue;"
    )
    return [
        ("right", {FIFO: fifo, CLOCK: clock}),
        ("the starter as it was", as_given),
        ("only FIFO done", {FIFO: fifo, CLOCK: as_given[CLOCK]}),
        ("no second chance", {FIFO: fifo, CLOCK: forgets_to_turn}),
        (
            "loses pages",
            {FIFO: fifo.replace("list_add_tail(&fifo_data(page)->node, &queue);", "(void)page;", 1), CLOCK: clock},
        ),
        ("does not compile", {FIFO: fifo + "\nint x = ;\n", CLOCK: clock}),
        ("never returns", {FIFO: fifo, CLOCK: endless}),
        ("a file is missing", {FIFO: fifo}),
        (
            "reaches for the counters",
            {FIFO: fifo + "\nextern int vm_events;\nvoid f(void);\nvoid f(void) { vm_events = 0; }\n", CLOCK: clock},
        ),
        ("no archive at all", {}),
    ]


def hand_in(folder: Path) -> list[str]:
    """Fills a folder with CLASS archives; returns their descriptions, each once."""
    folder.mkdir()
    kinds = qualities()
    for number in range(CLASS):
        _, files = kinds[number % len(kinds)]
        path = folder / f"student{number:03}.tar.gz"
        if not files:
            path.write_text("this is not an archive\n")
            continue
        with tempfile.TemporaryDirectory() as scratch, tarfile.open(path, "w:gz") as archive:
            for name, text in files.items():
                part = Path(scratch, Path(name).name)
                part.write_text(text + f"\n/* student {number} */\n")
                archive.add(part, name)
    return [what for what, _ in kinds]


def different_grades(folder: Path) -> int:
    """The number of different grades that REPEATS gradings of one submission give."""

    def grade(number: int) -> bytes:
        path = folder / f"grade{number}.json"
        timed(["build/venv/bin/tidemark", "grade", LAB, "--json", path])
        return hashlib.sha256(path.read_bytes()).digest()

    with busy_loops(LOOPS):
        return len(set(in_parallel(grade, range(REPEATS))))


def make(figure: Figure, work: Path) -> str:
    with tempfile.TemporaryDirectory(prefix="tidemark-figures-") as name:
        scratch = Path(name)
        first_s, again_s = from_clean(scratch / "tree")
        timed(["make", "grade-base"])
        built_s = median(timed(["make", "grade", f"LAB={LAB}"]) for _ in range(BUILT))
        kinds = hand_in(scratch / "class")
        command = ["build/venv/bin/tidemark", "grade-class", scratch / "class", "--lab", LAB, "--out", scratch / "out"]
        class_s = timed(command, status=1)  # some of these cannot be graded
        rows = [
            [f"`make grade LAB={LAB}`, built tree, median of {BUILT}", f"{built_s:.1f} s"],
            ["the same, from clean, with what the compiler's cache has of earlier builds", f"{again_s:.1f} s"],
            ["the same, from clean, for the first time on a machine", f"{first_s:.1f} s"],
            [f"`tidemark grade-class`, {CLASS} submissions", f"{class_s / 60:.1f} min"],
            [
                f"different grades of one submission, graded {REPEATS} times beside {LOOPS} busy loops",
                different_grades(scratch),
            ],
        ]
    return f"{host()}; the class: {', '.join(kinds)}; as many of each.\n\n{table(['what', 'measured'], rows)}"
