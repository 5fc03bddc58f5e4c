"""Are mistakes in kernel/mm detected? Makes small random changes, one at a time, each with a build and the tests.

       make coverage                                     # first: which test reaches which line
        build/venv/bin/python tests/mutation/mutate.py    # 500 changes; continues after Ctrl-C

A seed determines the changes to kernel/mm/**/*.c: a line that has code, then one of its changes
(tidemark.grade.judge.broken.changes). A change is made in a copy of the tree, build/mutation/tree. A change that does
not compile does not count; one that compiles to the same code has no effect and is counted separately. The others must
be detected: by a host test that is built from that file, by a policy's model in the simulator, or by a test that boots
the kernel and ran that line in the last coverage. The first failing test ends the trial, so tests with the most
detections per time so far come first. --seconds limits the total time of these tests, by their previous times;
"survived" means that the change survived them. A short limit, followed by --survivors with a longer one, is quicker
than a long one at once. A survivor is explained if survivors.toml has a row for it, and open otherwise.
build/mutation/SEED.ndjson has a row for each change. --survivors tries the survivors again, with today's tests.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from xml.etree import ElementTree

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from cover.__main__ import FOLDER, RUNS, executed  # noqa: E402
from tidemark.grade.judge.broken import changes  # noqa: E402
from tidemark.grade.witness import lines  # noqa: E402
from tidemark.machine import coverage, qemu  # noqa: E402

PLACE = ROOT / "build/mutation"
TREE = PLACE / "tree"
LINKED = {  # files that these host tests are linked with, although the tests do not include them
    "/policy/": ["policy/policies_test"],
    "/guard/": ["guard/guards_test"],
    "/seam/": ["seam/rules_test", "seam/ghost_test", "policy/policies_test", "guard/guards_test"],
}
RULES = [  # tests with kernels of their own, with policies and guards that break rules, so that no coverage names them
    "tests/kernel/test_policies.py::test_broken_rule_is_named_and_fifo_goes_on",
    "tests/kernel/test_policies.py::test_what_cannot_go_on_ends_in_a_panic_that_names_the_hook",
    "tests/kernel/test_policies.py::test_rule_broken_in_the_middle_of_a_switch",
    "tests/kernel/test_policies.py::test_ghost_lives_until_insert_has_named_it",
    "tests/kernel/test_guards.py::test_slow_guard_is_switched_off",
    "tests/kernel/test_guards.py::test_what_cannot_go_on_ends_in_a_panic_that_names_the_guard",
    "tests/kernel/test_guards.py::test_guard_that_lets_nobody_run_is_switched_off_it_alone",
]
# This test takes 2 s and covers much code, also code that runs before coverage is recorded.
FIRST = "tests/kernel/test_runs.py::test_run[kernel_tests_pass]"
MODELS, SOME = "tests/kernel/test_models.py", 6
SURVIVORS = Path(__file__).with_name("survivors.toml")
LOOPS = 20  # s of processor time for a host test, much more than any needs
LIMIT = 180  # s of host time for one test, much more than any needs on a busy host; exceeding it counts as detection
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(TREE / "tools"), "INSTALL": "no"}
ENVIRONMENT.pop(coverage.FOLDER, None)


@dataclass
class Change:
    """A change and its result: `noticed`, `survived`, `same code`, `no build`; `by` names the test."""

    file: str
    line: int
    what: str
    text: str
    result: str = ""
    by: str = ""


def drawn(seed: int, code: lines.Ranges, had: list[Change]) -> Iterator[Change]:
    """Endless changes, each once and none of `had`; the same for the same seed and sources."""
    draw, seen = random.Random(seed), {(row.file, row.line, row.text) for row in had}
    places = sorted(place for place in code if place[0].startswith("kernel/mm/") and place[0].endswith(".c"))
    while True:
        file, number = draw.choice(places)
        found = list(changes.of((TREE / file).read_text().splitlines()[number - 1]))
        if not found:
            continue
        what, text = draw.choice(found)
        if (file, number, text) not in seen:
            seen.add((file, number, text))
            yield Change(file, number, what, text)


# --- known facts about the tests ---


def seconds_of_tests() -> dict[str, float]:
    """The time of each test that passed in the last coverage, by its pytest name."""
    found = {}
    for file in FOLDER.glob("times-*.xml"):
        for case in ElementTree.parse(file).iter("testcase"):
            module = case.attrib["classname"].replace(".", "/")
            if not len(case) and (TREE / f"{module}.py").exists():  # no failure, no skip
                found[f"{module}.py::{case.attrib['name']}"] = float(case.attrib["time"])
    return found


class Reach:
    """Which test ran which line, and which tests detect many changes."""

    def __init__(self, code: lines.Ranges, rows: list[Change]) -> None:
        """Reads the last coverage, and from the rows so far which tests detected changes."""
        self.seconds = seconds_of_tests()
        mm = {line: places for line, places in code.items() if line[0].startswith("kernel/mm/")}
        self.lines = {(run / coverage.NAME).read_text(): lines.run(mm, executed(run)) for run in RUNS.iterdir()}
        self.noticed = Counter(row.by for row in rows if row.result == "noticed")
        collect = [sys.executable, "-m", "pytest", "--collect-only", "-n0", "-m", "", MODELS]
        said = subprocess.run(collect, cwd=TREE, env=ENVIRONMENT, capture_output=True, text=True).stdout
        self.models = [line for line in said.splitlines() if "::" in line]

    def of_policy(self, file: str) -> list[str]:
        """Some tests of each kind that run a policy in the simulator and compare it with a model."""
        if "/policy/" not in file:
            return []
        name = re.compile(rf"[\[-]{re.escape(Path(file).stem)}[\]-]")
        return [test for test in self.models if name.search(test)][:SOME]

    def tests(self, change: Change, seconds: float) -> list[str]:
        """The tests that ran the line, as many as fit into `seconds`: the best of each module, then the second best ...

        Tests of one module are similar. The best is the one with the most detections for its time.
        """
        there, of_module, ranked = (change.file, change.line), Counter[str](), []
        found = [test for test, ran in self.lines.items() if there in ran and test in self.seconds]
        for test in sorted(found, key=lambda test: self.seconds[test] / (1 + self.noticed[test])):
            module = test.partition("::")[0]
            ranked.append((of_module[module], self.seconds[test] / (1 + self.noticed[test]), test))
            of_module[module] += 1
        chosen: list[str] = []
        left = seconds
        for *_, test in sorted(ranked):
            left -= self.seconds[test]
            if left < 0 and chosen:
                break
            chosen.append(test)
        return chosen


# --- one change ---


def make(*targets: str) -> bool:
    """Builds targets in the copy, with the compiler of this tree. Returns False if one cannot be built."""
    compiler = re.split(r" \d+\.", (ROOT / "build/flags").read_text())[0]
    command = ["make", "-s", "-f", "tools/build.mk", f"CC={compiler}", *targets]
    return subprocess.run(command, cwd=TREE, env=ENVIRONMENT, capture_output=True).returncode == 0


def code_of(file: str) -> bytes:
    """The object file of a source in the copy, without debug information."""
    bare = PLACE / "bare.o"
    made = (TREE / "build" / file).with_suffix(".o")
    subprocess.run(["objcopy", "--strip-debug", str(made), str(bare)], check=True)
    return bare.read_bytes()


def host_tests(file: str) -> list[str]:
    """The programs of the host tests that are built from a source."""
    found = []
    for depends in sorted((ROOT / "build/host").rglob("*.d")):
        if file in depends.read_text().split() and depends.name.endswith("_test.d"):
            found.append(str(depends.relative_to(ROOT).with_suffix("")))
    for folder, programs in LINKED.items():
        found += [f"build/host/kernel/mm/{program}" for program in programs if folder in file]
    return list(dict.fromkeys(found))


def noticed_on_host(file: str) -> str:
    """The host test that fails, or an empty string. A test that does not build has detected nothing."""
    for program in host_tests(file):
        if make(program):
            command = ["prlimit", f"--cpu={LOOPS}", str(TREE / program)]
            if subprocess.run(command, cwd=TREE, capture_output=True).returncode:
                return program
    return ""


def noticed_in_guest(tests: list[str]) -> str:
    """The first of the tests that fails, or an empty string."""
    command = [sys.executable, "-m", "pytest", "-n0", "-x", "-q", "--tb=no", "-rfE", "-m", "", f"--timeout={LIMIT}"]
    if not tests:
        return ""
    done = subprocess.run([*command, *tests], cwd=TREE, env=ENVIRONMENT, capture_output=True, text=True)
    failing = [line.split(" ")[1] for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    if done.returncode not in (0, 1):
        raise SystemExit(f"pytest ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return next((test for test in tests if test.startswith(failing[0])), failing[0]) if failing else ""


def outcome(change: Change, reach: Reach, seconds: float) -> tuple[str, str]:
    """The result of a change made in the copy, and the test that detected it."""
    target = str(Path("build", change.file).with_suffix(".o"))
    if not make(target):
        return "no build", ""
    if code_of(change.file) == (PLACE / "before.o").read_bytes():
        return "same code", ""
    if by := noticed_on_host(change.file):
        return "noticed", by
    if not make("all"):
        return "no build", ""
    tests = [FIRST, *reach.of_policy(change.file), *reach.tests(change, seconds)]
    tests += RULES if "/seam/" in change.file else []
    tests = list(dict.fromkeys(tests))
    by = noticed_in_guest(tests)
    reach.noticed[by] += bool(by)
    return ("noticed", by) if by else ("survived", f"{len(tests)} tests")


def tried(change: Change, reach: Reach, seconds: float) -> Change:
    """The change with its result; the copy is restored afterwards, also after Ctrl-C."""
    path = TREE / change.file
    original = path.read_text()
    make(str(Path("build", change.file).with_suffix(".o")))
    (PLACE / "before.o").write_bytes(code_of(change.file))
    text = original.splitlines(keepends=True)
    text[change.line - 1] = change.text + "\n"
    try:
        path.write_text("".join(text))
        change.result, change.by = outcome(change, reach, seconds)
    finally:
        path.write_text(original)
    return change


# --- all changes ---


def copy_tree(fresh: bool) -> None:
    """Makes the copy, with today's tests. Its kernel stays the one that the seed's changes were drawn from, unless
    `fresh`."""
    if fresh or not TREE.exists():
        shutil.rmtree(PLACE, ignore_errors=True)
        TREE.parent.mkdir(parents=True)
        skipped = shutil.ignore_patterns("coverage", "mutation", "graded", ".git", "__pycache__", "venv")
        shutil.copytree(ROOT, TREE, symlinks=True, ignore=skipped)
    shutil.copytree(ROOT / "tests", TREE / "tests", dirs_exist_ok=True)
    for test in ROOT.glob("kernel/**/*test.c"):
        shutil.copy2(test, TREE / test.relative_to(ROOT))


def explained() -> set[tuple[str, str, str]]:
    """(file, original line, change) of each survivor that has an explanation."""
    rows = tomllib.loads(SURVIVORS.read_text())["explained"]
    return {(row["file"], row["line"], row["change"]) for row in rows}


def told(rows: list[Change], last: Change | None = None) -> None:
    """Prints a line: the last change, and the number of changes by result."""
    count = Counter(row.result for row in rows)
    judged = count["noticed"] + count["survived"]
    share = f"{count['noticed'] / judged:.1%}" if judged else "none"
    survived = [row for row in rows if row.result == "survived"]
    lines_of = {row.file: (TREE / row.file).read_text().splitlines() for row in survived}
    known = explained()
    fine = sum((row.file, lines_of[row.file][row.line - 1].strip(), row.what) in known for row in survived)
    if last:
        print(f"{last.result:9} {last.file}:{last.line} {last.what}  {last.by}")
    print(
        f"    {judged} judged, {share} noticed, {fine} explained, {len(survived) - fine} open;"
        f" {count['same code']} the same code; {count['no build']} do not build",
        flush=True,
    )


def read(log: Path) -> list[Change]:
    """The results so far."""
    return [Change(**json.loads(line)) for line in log.read_text().splitlines()] if log.exists() else []


def judge(log: Path, rows: list[Change], total: int, drawing: Iterator[Change], reach: Reach, seconds: float) -> None:
    """Continues until `total` changes are judged."""
    with log.open("a") as file:
        while sum(row.result in ("noticed", "survived") for row in rows) < total:
            rows.append(tried(next(drawing), reach, seconds))
            file.write(json.dumps(asdict(rows[-1])) + "\n")
            file.flush()
            told(rows, rows[-1])


def again(log: Path, rows: list[Change], reach: Reach, seconds: float) -> None:
    """Tries the survivors once more; the log gets the results."""
    for at, row in enumerate(rows):
        if row.result == "survived":
            rows[at] = tried(row, reach, seconds)
            log.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows))
            told(rows, rows[at])


def main() -> None:
    """Draws, tries, counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="of the draw (1)")
    parser.add_argument("--changes", type=int, default=500, help="number of changes to judge (500)")
    parser.add_argument("--seconds", type=float, default=60, help="time limit of the tests for one change (60)")
    parser.add_argument("--survivors", action="store_true", help="try the survivors again")
    parser.add_argument("--fresh", action="store_true", help="start with today's kernel, and forget all results")
    args = parser.parse_args()
    copy_tree(args.fresh)
    make("all")  # Ctrl-C may have left a changed kernel, which has other lines
    code, log = lines.ranges(TREE, TREE / qemu.KERNEL), PLACE / f"{args.seed}.ndjson"
    rows = read(log)
    reach = Reach(code, rows)
    print(f"seed {args.seed}; results are in {log.relative_to(ROOT)}")
    if args.survivors:
        again(log, rows, reach, args.seconds)
    else:
        judge(log, rows, args.changes, drawn(args.seed, code, rows), reach, args.seconds)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # like Ctrl-C: restores the copy
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("stopped; the same command continues")
