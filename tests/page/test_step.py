"""The stepper without a browser: each policy makes the decisions of `make sim EXPLAIN=1`, and errors are reported.

Node runs the same code as the page: the policies, compiled to WebAssembly.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from making import make
from soak import soak_but
from tidemark.machine import qemu
from tidemark.strings import explain, refstrings, vmsim

OURS = Path(__file__).parent
BUILT = ("build/step/step.wasm", "build/step/step.json")
TOOLS = ("clang", "wasm-ld", "node")
BELADY = "1 2 3 4 1 2 5 1 2 3 4 5"
STRINGS = {
    "belady": BELADY,
    "loop": "1-6 1-6 1-6 1-3 9",
    "scan": "1 2 3 101 1 2 3 102 1 2 3 103 1 2 3 104 1 2 3 105 6-9 1 2 3",
    "kinds": "1 2 l3 l1 f3 r3 F4 w5 x3 4 5 f3 r9 r3 l3 1 2 w5 6 7 8 r3 x3 1 2",
}
MS = 1_000_000
TIMES = {"short": refstrings.STEP_NS, "long": 40 * MS}
COMPARED = ("ref", "page", "count", "result", "hooks", "frames", "used", "lists", "show")
CALLS = r"\b(page_\w+|vm_\w+|mm_\w+|ghosts?_\w+|for_each_\w+)\("  # the last kind are macros of a file


def built(folder: Path = qemu.ROOT) -> list[str]:
    """The module and its tables, built if necessary; skips if the tools are not available."""
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        pytest.skip(f"{', '.join(missing)} is not installed: `make page` installs it")
    made = make(*BUILT, folder=folder, timeout=250)
    assert made.returncode == 0, made.stderr
    return [str(folder / name) for name in BUILT]


def node(script: str, *arguments: str, given: object = None) -> Any:
    """Runs a script of this folder, from JSON to JSON."""
    command = ["node", str(OURS / script), *arguments]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@dataclass(frozen=True)
class Job:
    """A run of the stepper."""

    policy: str
    text: str
    frames: int
    ns: int = refstrings.STEP_NS

    @property
    def string(self) -> refstrings.References:
        return refstrings.find(self.text, step_ns=self.ns)

    def asked(self) -> dict[str, object]:
        kind, refs = 0, []
        for page, count, _ in np.concatenate(list(self.string.runs())).tolist():
            if count:
                refs.append({"page": page, "kind": kind})
            else:
                kind = page
        return {"policy": self.policy, "frames": self.frames, "refs": refs, "ns": self.ns}


def stepped(jobs: list[Job], folder: Path = qemu.ROOT) -> list[dict]:
    """What the stepper shows for each job."""
    return node("steps.mjs", *built(folder), given=[job.asked() for job in jobs])["results"]


def simulated(job: Job) -> tuple[list[dict], dict]:
    """The output of `make sim EXPLAIN=1`: rows with names, and the counts."""
    rows: list[dict] = []
    program = vmsim.build(job.policy)
    outcome = vmsim.run(program, job.string, job.frames, [], rows.append)
    return explain.named(rows, program), vars(outcome)


def jobs_of(policy: str) -> list[Job]:
    """Strings, sizes, times; policies that need the future get no pages of files."""
    names = [name for name in STRINGS if name != "kinds" or policy not in vmsim.WITH_FUTURE]
    return [Job(policy, STRINGS[name], frames, ns) for name in names for frames in (3, 5) for ns in TIMES.values()]


@cache
def all_on_belady() -> dict[str, dict]:
    jobs = [Job(policy, BELADY, 3) for policy in vmsim.policies()]
    return dict(zip((job.policy for job in jobs), stepped(jobs)))


# --- compared with the simulator ---


@pytest.mark.parametrize("policy", soak_but(vmsim.policies(), "2q", "ws"))
def test_steps_as_the_simulator_explains(policy: str) -> None:
    jobs = jobs_of(policy)
    for job, shown in zip(jobs, stepped(jobs)):
        rows, counts = simulated(job)
        assert shown["result"] == counts, job
        for row, mine in zip(rows, shown["rows"], strict=True):
            assert {name: mine[name] for name in COMPARED} == row, (job, row["ref"])
            assert mine["why"] == explain.reasons(row["hooks"]), (job, row["ref"])
            assert " ".join(map(explain.page_name, mine["victims"])) == explain.victims(row), (job, row["ref"])


def test_parameters_are_those_of_the_policy() -> None:
    job = Job("ws", STRINGS["loop"], 5, 40 * MS)
    asked = [job.asked(), job.asked() | {"params": {"tau_ms": 90}}]
    usual, short = (one["result"] for one in node("steps.mjs", *built(), given=asked)["results"])
    assert short == vars(vmsim.run(vmsim.build("ws"), job.string, 5, ["tau_ms=90"])) != usual


def test_every_policy_is_there_and_steps() -> None:
    shown = all_on_belady()
    least = shown["min"]["result"]["faults"]
    assert set(shown) == set(vmsim.policies()) and least == 7
    for policy, one in shown.items():
        assert len(one["rows"]) == 12 and one["result"]["policy"] == policy
        assert one["result"]["faults"] == sum(row["result"] == "fault" for row in one["rows"]) >= least
        for row in one["rows"]:
            assert row["page"] in row["frames"] or policy == "vmin", (policy, row["ref"])
            assert set(row["dirty"]) <= set(row["frames"]), policy  # each reference here is a write


def test_min_chooses_as_min_would() -> None:
    for string in ("belady", "scan"):
        [one] = stepped([Job("min", STRINGS[string], 4)])
        chosen = [(row["victims"], row["min"]) for row in one["rows"] if row["victims"]]
        assert len(chosen) > 1 and all(set(victims) <= set(least) for victims, least in chosen)


def test_line_is_a_call_of_the_core() -> None:
    tables = json.loads(Path(built()[1]).read_text())
    for policy, one in all_on_belady().items():
        for row in one["rows"]:
            chose = [hook for hook in row["hooks"] if hook.get("gave") is not None]
            assert bool(row["line"]) == bool(chose), (policy, row["ref"])
            for hook, file, line in [*row["calls"], *filter(None, [row["line"]])]:
                text = tables["texts"][file].splitlines()[line - 1]
                assert re.search(CALLS, text), (policy, hook, file, line, text)
            if row["line"]:
                assert row["line"][0] == "select"


def test_every_call_of_the_core_says_its_line() -> None:
    """Everything that mm/policy.h and mm/ghost.h offer is wrapped, except pure computations, and the end."""
    include = qemu.ROOT / "kernel/include/mm"
    offered = (include / "policy.h").read_text().partition("/* What a policy may call. */")[2]
    offered += (include / "ghost.h").read_text()
    names = set(re.findall(r"^[\w *]+?\b\*?(\w+)\([^;{]*\)(?:;|\n\{)", offered, re.MULTILINE))
    wrapped = re.findall(r"^#define (\w+)\(", (qemu.ROOT / "tools/page/step/core/lines.h").read_text(), re.MULTILINE)
    assert names - {"policy_page", "policy_page_of", "vm_list_length", "ghosts_exit"} == {*wrapped}


def test_clock_chooses_where_it_reads_the_bit() -> None:
    lines = {row["line"][2] for row in all_on_belady()["clock"]["rows"] if row["line"]}
    source = (qemu.ROOT / "kernel/mm/policy/clock.c").read_text().splitlines()
    assert [source[line - 1].strip() for line in lines] == ["} else if (page_referenced(page)) {"]


def test_ghosts_and_hands_are_read() -> None:
    jobs = [Job(policy, STRINGS["scan"], 4) for policy in ("arc", "clockpro", "sieve", "lirs")]
    rows = {job.policy: one["rows"] for job, one in zip(jobs, stepped(jobs))}
    for policy, count in (("lirs", "ghosts"), ("clockpro", "ghosts")):
        for row in rows[policy]:
            shown = dict(re.findall(r"^(\w+): (\d+)$", row["show"], re.MULTILINE))
            ghosts = [page for ring in row["ghosts"].values() for page, is_ghost in ring if is_ghost]
            assert len(ghosts) == int(shown[count]) and not {*ghosts} & {*row["frames"]}, (policy, row["ref"])
    assert any(row["ghosts"] for row in rows["arc"])
    assert {tuple(row["hands"]) for row in rows["sieve"][4:]} == {("hand",)}
    assert any(isinstance(row["hands"].get("hand_cold"), int) for row in rows["clockpro"])


def test_each_page_is_in_a_list_or_a_tree() -> None:
    """All pages of a policy are drawn; a list with ghosts between pages is drawn with its ghosts."""
    for policy, one in all_on_belady().items():
        for row in one["rows"]:
            kept = {page for tree in row["trees"].values() for page, _ in tree["nodes"]}
            for name in {*row["lists"], *row["ghosts"]}:
                ring = row["ghosts"].get(name) or [(page, 0) for page in row["lists"][name]]
                kept |= {page for page, is_ghost in ring if not is_ghost}
            assert kept == {*row["frames"]} - {None}, (policy, row["ref"])


def test_trees_have_the_order_of_the_policy() -> None:
    jobs = [Job(policy, "3 1 7 2 9 4 3 1 8 2 5", 6) for policy in ("linux20", "nru", "lru")]
    sorted_, classes, bag = (one["rows"] for one in stepped(jobs))
    for row in sorted_:
        [tree] = row["trees"].values()
        pages = [page for page, _ in tree["nodes"]]
        assert tree["kind"] == "tree" and pages == sorted(pages)
    for row in classes:
        shown = re.findall(r"^class_\d: (\d+)$", row["show"], re.MULTILINE)
        assert sorted(len(tree["nodes"]) for tree in row["trees"].values()) == sorted(filter(None, map(int, shown)))
    for row in bag:
        [tree] = row["trees"].values()
        depths = sorted(depth for _, depth in tree["nodes"])
        assert tree["kind"] == "bag" and depths == [(number + 1).bit_length() - 1 for number in range(len(depths))]


# --- errors are reported ---


BROKEN = {  # the same as in the simulator (tests/kernel/test_vmsim.py), except for the message about a crash
    "nowhere": ("select", "select", 6, "not a page"),
    "stuck": ("time", "select", 6, "does not come to an end"),
    "null": ("crash", "select", 6, "not its own"),
    "noinit": ("init", "init", 0, "error 12"),
    "twice": ("count", "check", 6, "after select gave page 1"),
    "never": ("none", "select", 6, "gave nothing at priority 0"),
    "endless": ("none", "select", 6, "none of them to evict"),
}
QUICK = ("stuck", "null")


def copy_with(policies: tuple[str, ...], copy: Path) -> Path:
    """A tree with policies that break rules, which reuses the build of unchanged parts."""
    built()
    for name in ("kernel", "tools", "tests/host", "build/step", "Makefile", "build/flags"):
        to = copy / name
        to.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (qemu.ROOT / name).is_dir() else shutil.copy2)(qemu.ROOT / name, to)
    for name in (*(f"{policy}.c" for policy in policies), "base.h"):
        shutil.copy2(qemu.ROOT / "tests/kernel/policies" / name, copy / "kernel/mm/policy" / name)
    return copy


@pytest.mark.parametrize("all_of_them", soak_but([False, True], False))
def test_broken_rule_is_told(all_of_them: bool, tmp_path: Path) -> None:
    policies = tuple(BROKEN) if all_of_them else QUICK
    copy = copy_with(policies, tmp_path)
    jobs = [Job(policy, "1-200", 5, 10 * MS) for policy in policies]
    for job, one in zip(jobs, stepped(jobs, copy)):
        rule, hook, reference, said = BROKEN[job.policy]
        found = one["violation"]
        assert (found["rule"], found["hook"], found["ref"]) == (rule, hook, reference), found
        assert said in found["what"] and len(one["rows"]) == max(reference - 1, 0), found


REFUSED = {
    "": "The string is empty",
    " , ": "The string is empty",
    "1 2 banana 3": "“banana” is not a page",
    "1 2 -3": "“-3” is not a page",
    "1.5": "“1.5” is not a page",
    "9-1": "a range goes upwards",
    "1 10000": "pages go up to 9999",
    "1-9999": "more than 2000 references",
    " ".join(map(str, range(9000))): "more than 2000 references",
}
FRAMES = {"0": False, "65": False, "": False, "three": False, "-1": False, "1e3": False, "1": True, " 64 ": True}


def test_bad_input_is_told_in_a_sentence() -> None:
    answers = node("refused.mjs", given={"strings": list(REFUSED), "frames": list(FRAMES)})
    for (text, said), answer in zip(REFUSED.items(), answers["strings"]):
        assert said in answer and answer.endswith("."), (text[:40], answer)
    for (text, fine), answer in zip(FRAMES.items(), answers["frames"]):
        assert (answer is None) == fine and (fine or "Give 1 to 64." in answer), (text, answer)


def test_strings_are_those_of_the_lab() -> None:
    [*texts] = STRINGS.values()
    for text, mine in zip(texts, node("refused.mjs", given={"strings": texts, "frames": []})["strings"]):
        assert mine == Job("fifo", text, 3).asked()["refs"]
