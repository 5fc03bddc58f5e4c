"""`tidemark profile`: the same time by ticks and by instructions, side by side, and the input that it refuses."""

from __future__ import annotations

import csv
import json
import shutil
import xml.etree.ElementTree as ET
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from lab import tidemark
from tidemark import errors
from tidemark.debug import profile
from tidemark.debug.profile import IDLE, OTHERS, USER, Profile
from tidemark.errors import LabError
from tidemark.telemetry import stream

HZ = 5000
RUN = ("--mem", "12M", "--swap", "sim:ssd", "--cmdline", f"profile_hz={HZ}")
THRASH = ("thrash", "4", "3072", "6", "5000")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Contains the results `ticks` and `exact` of the same run, the second with its instructions counted."""
    place = tmp_path_factory.mktemp("profile")
    ran = tidemark("run", *RUN, "-o", "ticks", *THRASH, cwd=place)
    counted = tidemark("profile", "--exact", *RUN, "-o", "exact", "--", *THRASH, cwd=place)
    assert (ran.returncode, counted.returncode) == (errors.OK, errors.OK), ran.stderr + counted.stderr
    return place


@cache
def rows_of(place: Path, *names: str) -> dict[tuple[str, str], dict]:
    """The output of --json, by profile and function."""
    shown = tidemark("profile", *names, "--json", cwd=place)
    assert shown.returncode == errors.OK, shown.stderr
    return {(row["profile"], row["function"]): row for row in json.loads(shown.stdout)["functions"]}


# --- one run, both methods ---


def test_counting_leaves_the_run_as_it_is(folder: Path) -> None:
    ticks, exact = (folder / name / "telemetry.ndjson" for name in ("ticks", "exact"))
    assert ticks.read_bytes() == exact.read_bytes()


def test_instructions_and_idle_are_all_the_time(folder: Path) -> None:
    end_us = stream.read(folder / "exact/telemetry.ndjson").end["t_us"]
    rows = rows_of(folder, "exact")
    assert sum(row["seconds"] for row in rows.values()) == pytest.approx(end_us / 1e6, abs=1e-6)
    assert sum(row["of_time"] for row in rows.values()) == pytest.approx(1)


def test_exact_idle_and_user_are_what_the_kernel_accounts(folder: Path) -> None:
    """The kernel's idle time includes interrupts; user time begins and ends a few instructions away."""
    data = stream.read(folder / "exact/telemetry.ndjson")
    rows = rows_of(folder, "exact")
    user_s = sum(record["us"][0] for record in data.exits) / 1e6
    idle_s = data.samples[-1]["idle_us"] / 1e6
    assert rows["exact", USER]["seconds"] == pytest.approx(user_s, rel=0.01)
    assert 0.9 * idle_s < rows["exact", IDLE]["seconds"] <= idle_s


def test_ticks_agree_with_instructions(folder: Path) -> None:
    """To 5 standard errors, √n for n ticks."""
    rows = rows_of(folder, "ticks", "exact")
    by_ticks, exactly = rows["ticks", USER], rows["exact", USER]["seconds"]
    assert by_ticks["count"] > 1000
    assert abs(by_ticks["seconds"] - exactly) < 5 * by_ticks["count"] ** 0.5 / HZ
    kernel = [sum(row["seconds"] for (name, _), row in rows.items() if name == one) for one in ("ticks", "exact")]
    assert kernel[0] == pytest.approx(kernel[1], abs=0.02)


def test_stacks_have_every_instruction_of_every_function(folder: Path) -> None:
    """Each stack begins where the kernel is entered, or where a thread or the machine begins."""
    stacks, counted = profile.load(folder / "exact").stacks, profile.load(folder / "exact").counts
    sums = Counter()
    for stack, number in stacks.items():
        sums[stack[-1]] += number
    assert sums == {name: number for name, number in counted.items() if name not in (IDLE, USER)}
    entries = {stack[0] for stack in stacks}
    few = {"arch_start", "start_high", "kernel_thread_start", "ret_from_fork", "enter_user", "trap_return"}
    assert {"entry_sysenter", "kernel_thread_start", "trap_14"} <= entries
    assert all(name in few or name.startswith(("trap_", "entry_")) for name in entries), entries


def test_stacks_say_who_called(folder: Path) -> None:
    """As in the source: a page is brought in only by a fault, and kswapd reclaims in a thread of its own."""
    stacks = profile.load(folder / "exact").stacks
    above = [stack[: stack.index("fault_swap")] for stack in stacks if "fault_swap" in stack]
    assert above and all(stack[-2:] == ("do_page_fault", "handle_mm_fault") for stack in above)
    below = [stack for stack in stacks if "kswapd" in stack]
    assert below and all(stack[:2] == ("kernel_thread_start", "kswapd") for stack in below)


def test_page_copies_are_seen(folder: Path) -> None:
    """The modelled disk copies each transferred page: two instructions for 16 bytes, and a few for the loop."""
    vm = stream.read(folder / "exact/telemetry.ndjson").samples[-1]["vm"]
    moved = vm["pswpin"] + vm["pswpout"]
    assert moved > 1000
    assert 512 * moved < rows_of(folder, "exact")["exact", "copy_page"]["count"] < 640 * moved


def test_table_shows_both_with_idle_first(folder: Path) -> None:
    shown = tidemark("profile", "ticks", "exact", "--top", "3", cwd=folder).stdout.splitlines()
    assert shown[0].startswith("A: ticks, ") and shown[0].endswith("ticks, idle included")
    assert shown[1].startswith("B: exact, ") and shown[1].endswith("instructions, idle included")
    assert shown[2].split("  ")[0].strip() == "function" and shown[2].rstrip().endswith("B % kernel")
    assert [line.split()[0] for line in shown[3:5]] == [IDLE, USER]
    assert len(shown) == 3 + 2 + 3 + 1 and shown[-1].split()[0] == OTHERS


def test_figure_comes_as_svg_png_and_csv(folder: Path) -> None:
    made = tidemark("profile", "ticks", "exact", "--figure", "figure", "--top", "5", cwd=folder)
    assert made.returncode == errors.OK, made.stderr
    with (folder / "figure/functions.csv").open() as file:
        table = list(csv.DictReader(file))
    rows = rows_of(folder, "ticks", "exact")
    assert {(row["profile"], row["function"]): int(row["count"]) for row in table} == {
        key: row["count"] for key, row in rows.items()
    }
    assert ET.parse(folder / "figure/functions.svg").getroot().tag.endswith("svg")
    assert (folder / "figure/functions.png").read_bytes().startswith(b"\x89PNG")


def test_telemetry_file_will_do(folder: Path) -> None:
    name = "ticks/telemetry.ndjson"
    assert rows_of(folder, name)["telemetry.ndjson", IDLE]["count"] == rows_of(folder, "ticks")["ticks", IDLE]["count"]


def test_profiles_of_one_name_are_told_apart(folder: Path) -> None:
    shutil.copytree(folder / "ticks", folder / "other/ticks", dirs_exist_ok=True)
    assert {name for name, _ in rows_of(folder, "ticks", "other/ticks")} == {"ticks", "other/ticks"}


# --- arithmetic ---


def test_copies_of_a_function_count_for_it() -> None:
    counts = {"a": 1, "a.part.0": 2, "b.isra.0.cold": 4, "b": 0, "(boot)": 8}
    assert profile.merged(counts) == {"a": 3, "b": 4, "(boot)": 8}


def test_top_functions_of_any_profile_are_kept() -> None:
    a = Profile("a", "ticks", 10, {IDLE: 50, USER: 30, "f": 15, "g": 1, "h": 4})
    b = Profile("b", "ticks", 10, {USER: 10, "g": 20, "h": 5})
    short_a, short_b = profile.shortened([a, b], 2)
    assert short_a.counts == {IDLE: 50, USER: 30, "f": 15, "g": 1, OTHERS: 4}
    assert short_b.counts == {USER: 10, "g": 20, OTHERS: 5}
    assert profile.functions([short_a, short_b]) == [IDLE, USER, "g", "f", OTHERS]
    assert (a.seconds("f"), a.of_time("f"), a.of_kernel("f"), a.of_kernel(IDLE)) == (1.5, 0.15, 0.75, None)


def test_empty_profile_divides_by_nothing() -> None:
    nothing = Profile("nothing", "instructions", 1e9, {})
    assert (nothing.of_time("f"), nothing.of_kernel("f"), nothing.seconds("f")) == (0, 0, 0)


def test_programs_are_user_and_the_loader_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "profile.csv"
    file.write_text("function,instructions\nf,3\n(user 00001000),5\n(user 00002000),7\n(boot),11\n")
    assert profile.read_counts(file) == {"f": 3, USER: 12}


# --- refused input ---


@pytest.mark.parametrize("text", ["", "function\nf\n", "function,instructions\nf,many\n", "function,instructions\nf\n"])
def test_counts_of_another_form_are_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "profile.csv"
    file.write_text(text)
    with pytest.raises(LabError, match="not a profile of the plugin"):
        profile.read_counts(file)


def test_counts_of_another_run_are_refused() -> None:
    with pytest.raises(LabError, match="two runs"):
        profile.from_instructions("a", {"f": 5_000_000}, end_us=4000)


def test_lost_part_of_a_profile_is_refused() -> None:
    part = {"ev": "profile", "hz": 100, "ticks": 9, "functions": {"f": 4, IDLE: 4}}
    with pytest.raises(LabError, match="8 ticks should be 9"):
        profile.from_ticks("a", stream.Telemetry({}, events=[part]))


@pytest.mark.soak
def test_run_without_profile_says_how_to_get_one(tmp_path: Path) -> None:
    tidemark("run", "-o", "plain", "echo", "hello", cwd=tmp_path)
    refused = tidemark("profile", "plain", cwd=tmp_path)
    assert refused.returncode == errors.BAD_INPUT
    assert "profile_hz=1000" in refused.stderr and "Traceback" not in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("nosuch",), errors.BAD_INPUT, "neither a result"),
        (("--exact", "--swap", "hda", "--", "echo", "hello"), errors.USAGE, "real disk"),
        pytest.param(
            ("--exact", "--image", ".", "--", "echo", "hello"),
            errors.BAD_INPUT,
            "tidemark.elf.nm",
            marks=pytest.mark.soak,
        ),
        pytest.param(("--exact", "--", "false"), errors.FAILED, "keeps it", marks=pytest.mark.soak),
        pytest.param(tuple("abcdefg"), errors.USAGE, "side by side", marks=pytest.mark.soak),
        ((), errors.USAGE, "RESULT"),
    ],
    ids=["no_result", "real_disk", "no_symbols", "failing_run", "too_many", "nothing"],
)
def test_bad_use_gets_a_message(tmp_path: Path, arguments: tuple[str, ...], status: int, said: str) -> None:
    refused = tidemark("profile", *arguments, cwd=tmp_path)
    assert refused.returncode == status, refused.stderr
    assert said in refused.stderr and "Traceback" not in refused.stderr


def test_full_disk_leaves_no_figure_that_looks_whole(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused = tidemark("profile", folder / "ticks", "--figure", tmp_path / "file", cwd=tmp_path)
    assert refused.returncode == errors.NO_SPACE and "cannot be written" in refused.stderr
