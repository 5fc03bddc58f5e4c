"""The runner of figures (tools/figures): it resumes, skips, refuses and lists; and its table is whole."""

from __future__ import annotations

import errno
import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from figures import common, draw, entries, made, runner, runs
from figures.entries import Figure, Need, chosen, figures
from tidemark.errors import FAILED, INTERRUPTED, NO_SPACE, NO_TOOL, OK, USAGE, LabError
from tidemark.machine import qemu

IMAGE, OTHER = "111111111111-222222222222", "333333333333-444444444444"
PAGE = "# Page\n\n<!-- figures:one -->\n\nold\n\n<!-- end -->\n\n<!-- figures:two -->\n\nold\n\n<!-- end -->\n"
Make = Callable[[Figure, Path], dict[str, str]]


def figure(name: str, **more: object) -> Figure:
    return Figure(name, "pretended", (name,), (), {}, **more)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with a document that has places for the figures `one` and `two`."""
    (tmp_path / "build").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text(PAGE)
    return tmp_path


@pytest.fixture
def maker(monkeypatch: pytest.MonkeyPatch) -> Callable[[Make], None]:
    """Sets the function that makes figures of the kind `pretended`."""

    def use(make: Make) -> None:
        module = ModuleType("figures.pretended")
        module.make = make
        monkeypatch.setitem(sys.modules, "figures.pretended", module)

    return use


def runner_of(tree: Path, *some: Figure, image: str = IMAGE, fresh: bool = False) -> runner.Runner:
    return runner.Runner(image, {one.name: one for one in some}, tree, fresh)


def test_finished_figure_is_in_its_place_and_names_its_image(tree: Path, maker: Callable) -> None:
    one = figure("one")
    maker(lambda figure, work: {"one": "new"})
    assert runner_of(tree, one).make_all([one]) == OK
    assert "<!-- figures:one -->\n\nnew\n\n<!-- end -->" in (tree / "README.md").read_text()
    assert made.read(tree)["one"].image == IMAGE
    assert not (tree / "build/figures/one/work").exists() and (tree / "build/figures/one/one.md").exists()


def test_continues_after_an_interruption(tree: Path, maker: Callable, capsys: pytest.CaptureFixture) -> None:
    """The figure before is not made again, and what the interrupted one had left is there."""
    one, two, seen = figure("one"), figure("two"), []

    def make(figure: Figure, work: Path) -> dict[str, str]:
        seen.append((figure.name, sorted(path.name for path in work.iterdir())))
        (work / "half").touch()
        if len(seen) == 2:
            raise KeyboardInterrupt
        return {figure.name: "new"}

    maker(make)
    assert runner_of(tree, one, two).make_all([one, two]) == INTERRUPTED
    said = capsys.readouterr().err.splitlines()[-1]
    assert said == "interrupted at two: what is finished is kept, and the same command continues"
    assert (tree / "README.md").read_text().count("old") == 1
    assert runner_of(tree, one, two).make_all([one, two]) == OK
    assert seen == [("one", []), ("two", []), ("two", ["half"])]
    assert runner_of(tree, one, two).make_all([one, two]) == OK and len(seen) == 3


@pytest.mark.parametrize(("image", "fresh", "times"), [(IMAGE, False, 1), (IMAGE, True, 2), (OTHER, False, 2)])
def test_is_made_again_by_another_image_or_if_fresh(
    image: str, fresh: bool, times: int, tree: Path, maker: Callable
) -> None:
    one, seen = figure("one"), []
    maker(lambda figure, work: seen.append(list(work.iterdir())) or {"one": "new"})
    runner_of(tree, one).make_all([one])
    runner_of(tree, one, image=image, fresh=fresh).make_all([one])
    assert seen == [[]] * times


def test_is_made_again_if_the_record_is_of_another_image(tree: Path, maker: Callable) -> None:
    """As after a checkout of older documents."""
    one, seen = figure("one"), []
    maker(lambda figure, work: seen.append(1) or {"one": "new"})
    runner_of(tree, one).make_all([one])
    made.note(["one"], "one", made.Row(OTHER), tree)
    runner_of(tree, one).make_all([one])
    assert len(seen) == 2


def test_is_always_made_again_without_an_image(tree: Path, maker: Callable) -> None:
    """What it is made of may have changed."""
    one, texts = figure("one", image=False), ["first", "second"]
    maker(lambda figure, work: {"one": texts.pop(0)})
    for text in ("first", "second"):
        assert runner_of(tree, one).make_all([one]) == OK
        assert f"\n\n{text}\n\n" in (tree / "README.md").read_text()


def test_skips_with_a_reason(
    tree: Path, maker: Callable, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    """The others are made, and the status says that not all were."""
    monkeypatch.setattr(runner, "needs", lambda: {"linux": Need("it boots Linux", ("build/nosuch/*",))})
    one, two = figure("one", needs=("linux",), seconds=5000.0), figure("two", seconds=30.0)
    maker(lambda figure, work: {figure.name: "new"})
    assert runner_of(tree, one, two).make_all([one, two]) == NO_TOOL
    said = capsys.readouterr().err
    assert "[1/2] one: skipped: it boots Linux\n" in said and "in about 30 s\n" in said
    assert list(made.read(tree)) == ["two"]


def test_too_little_disk_is_one_sentence(
    tree: Path, maker: Callable, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(runner.shutil, "disk_usage", lambda place: SimpleNamespace(free=runner.GIB // 2))
    one = figure("one", space=2.0)
    maker(lambda figure, work: {"one": "new"})
    assert runner_of(tree, one).make_all([one]) == NO_SPACE
    assert capsys.readouterr().err.splitlines()[2:] == [
        f"one stopped for want of space: {tree}/build has 0.5 GiB free, 2 are needed; what is finished is kept, and "
        "the same command continues"
    ]
    assert (tree / "README.md").read_text() == PAGE


def test_disk_that_becomes_full_is_one_sentence(tree: Path, maker: Callable, capsys: pytest.CaptureFixture) -> None:
    one = figure("one")

    def make(figure: Figure, work: Path) -> dict[str, str]:
        raise OSError(errno.ENOSPC, "No space left on device")

    maker(make)
    assert runner_of(tree, one).make_all([one]) == NO_SPACE
    assert "one stopped for want of space: the disk became full; what is" in capsys.readouterr().err
    assert (tree / "README.md").read_text() == PAGE


def test_failure_does_not_stop_the_others(tree: Path, maker: Callable, capsys: pytest.CaptureFixture) -> None:
    one, two = figure("one"), figure("two")

    def make(figure: Figure, work: Path) -> dict[str, str]:
        if figure.name == "one":
            raise LabError("the run failed", FAILED)
        return {"two": "new"}

    maker(make)
    assert runner_of(tree, one, two).make_all([one, two]) == FAILED
    assert "failed: the run failed" in capsys.readouterr().err and list(made.read(tree)) == ["two"]


def test_block_without_a_place_is_refused_before_it_is_made(tree: Path, maker: Callable) -> None:
    seen: list[int] = []
    maker(lambda figure, work: seen.append(1) or {})
    nowhere = figure("nowhere")
    assert runner_of(tree, nowhere).make_all([nowhere]) == FAILED and not seen


def test_unknown_name_gets_a_suggestion() -> None:
    with pytest.raises(LabError, match="no figure beladi; did you mean belady") as error:
        chosen(["beladi"], figures())
    assert error.value.code == USAGE
    assert [one.name for one in chosen(["files-*", "belady"], figures())] == [
        "files-hot",
        "files-guards",
        "belady",
        "files-leave",
    ]


def test_stale_figures_are_listed_by_image(tree: Path) -> None:
    some = {name: figure(name, image=name != "text") for name in ("new", "old", "older", "text")}
    for name, image in (("new", IMAGE), ("old", OTHER)):
        made.note(some, name, made.Row(image, "2026-01-01", 5), tree)
    assert "the tree has no reference image" in made.stale_text(some, tree)
    (tree / "reference").mkdir()
    kernel, programs = (f"{value:0<64}" for value in IMAGE.split("-"))
    sums = {made.stored.KERNEL: "0" * 64, made.stored.SYMBOLS: "1" * 64, made.stored.INITRD: programs}
    (tree / "reference/SHA256SUMS").write_text("".join(f"{value}  {name}\n" for name, value in sums.items()))
    (tree / "reference/build.txt").write_text(f"{made.stored.AS_BUILT}: {kernel}\n")
    assert made.stale_text(some, tree).splitlines() == [
        f"figures: 2 of 3 were not made by the reference image {IMAGE}:",
        f"  by {OTHER}: old",
        "  by an unknown image: older",
        "`make figures` makes them again",
    ]
    assert "all were made" in made.stale_text({"new": some["new"], "text": some["text"]}, tree)


def test_list_of_stale_figures_is_for_make_check() -> None:
    """The command ends well whatever it lists, and loads nothing that is slow."""
    code = (
        "import sys, runpy; sys.argv = ['figures', '--stale']\ntry: runpy.run_module('figures', run_name='__main__')\n"
    )
    code += "except SystemExit as e: print(e.code, sorted({'numpy', 'matplotlib', 'numba'} & set(sys.modules)))"
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, cwd=qemu.ROOT / "tools", capture_output=True, text=True, check=True)
    assert done.stdout.startswith("figures: ") and done.stdout.endswith("\n0 []\n")


def test_record_is_of_the_figures_of_the_table() -> None:
    assert set(made.read()) == {name for name, one in figures().items() if one.image}


def test_every_picture_is_of_a_figure() -> None:
    """Except those that are drawn by hand, and those of tools/structure."""
    files = [file for one in figures().values() for file in one.files if file.endswith(".svg")]
    there = {str(path.relative_to(qemu.ROOT)) for path in (qemu.ROOT / "docs/figures").rglob("*.svg")}
    assert len(files) == len(set(files)) and there - set(files) == {
        "docs/figures/arrows-kernel.svg",
        "docs/figures/arrows-tools.svg",
    }
    assert all((qemu.ROOT / file).exists() for file in files)


def test_every_entry_can_be_made() -> None:
    """An entry's needs are in the table, and so are the keys of its kind."""
    for one in figures().values():
        assert set(one.needs) <= set(entries.needs()), one.name
        keys = {"own": {"by"}, "commands": {"commands", "take"}, "runs": {"rows", "columns", "text"}}.get(
            one.kind, set()
        )
        assert keys <= set(one.settings), one.name
        for column in one.settings.get("columns", []):
            runs.Column.of(column)
        functions = [one.settings, *one.settings.get("draw", [])]
        for module, function in (entry["by"].split(".") for entry in functions if "by" in entry):
            assert callable(getattr(importlib.import_module(f"figures.{module}"), function)), one.name


# --- tables of runs ---


@pytest.mark.parametrize(
    "one", [figure for figure in figures().values() if figure.kind == "runs"], ids=lambda f: f.name
)
def test_every_table_names_its_runs(one: Figure, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each text of a table of runs, also its labels', uses only names that are given: a run that is not known is found
    here, not when the table is made."""
    monkeypatch.setattr(runs.Column, "values", lambda column, cases: [1.0 for _ in cases] if column.value else [])
    monkeypatch.setattr(draw, "picture", lambda *_: None)
    assert "|" in runs.make(one, tmp_path)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict]]:
    """The runs that are asked for; each prints ten times its number of frames, and how much its size exceeds 990."""
    found: list[tuple[str, dict]] = []

    def measure(command: str, telemetry: bool = False, **settings: object) -> common.Outcome:
        found.append((command, settings))
        drawn = int(command.split()[-1]) - 990
        return common.Outcome(1.0, f"faults: {10 * int(str(settings['frames'])) + drawn}\n", "")

    monkeypatch.setattr(common, "measure", measure)
    return found


def test_table_of_runs(asked: list[tuple[str, dict]], tmp_path: Path) -> None:
    settings = {
        "text": "`{run}`, {mem}",
        "run": "thrash {nr} {size:1000}",
        "mem": "16M",
        "cmdline": "guard={guard}{more}",
        "replicates": 3,
        "rows": [{"nr": [1, 2], "guard": "none", "more": ""}, {"nr": 3, "guard": "tpf", "more": " {guard}.high=1"}],
        "columns": [
            {"title": "processes", "label": "{nr}"},
            {"title": "few", "frames": "4", "vm": "2q 2q.x=1", "value": "number(r'faults: (\\d+)')", "show": "spread"},
            {
                "title": "many",
                "frames": "5",
                "value": "number(r'faults: (\\d+)') / nr",
                "show": "{:.1f}",
            },
        ],
    }
    text = runs.make(Figure("one", "runs", ("one",), (), settings), tmp_path)
    assert text.splitlines() == [
        "`thrash {nr} 1000`, 16M",
        "",
        "| processes | few | many |",
        "| --- | ---: | ---: |",
        "| 1 | 44.0 (40.0 to 55.0) | 54.0 |",
        "| 2 | 44.0 (40.0 to 55.0) | 27.0 |",
        "| 3 | 44.0 (40.0 to 55.0) | 18.0 |",
    ]
    drawn = "jitter=101967 seed=138707 layout=199506"  # of replicate 2
    machine = {"vm": "2q", "mem": "16M", "frames": "4", "cmdline": f"2q.x=1 guard=tpf tpf.high=1 {drawn}"}
    assert ("thrash 3 1005", machine) in asked and len(asked) == 18


def test_command_ends_with_the_runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script, pid = tmp_path / "python", tmp_path / "pid"
    script.write_text(f"#!/bin/sh\necho $$ >{pid}.new && mv {pid}.new {pid}\nexec sleep 100\n")
    script.chmod(0o755)

    def interrupted(number: int, options: int) -> None:
        while not pid.exists():
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "executable", str(script))
    monkeypatch.setattr(os, "wait4", interrupted)
    with pytest.raises(KeyboardInterrupt):
        common.tidemark("sweep", "arena")
    stat, deadline = Path(f"/proc/{pid.read_text().strip()}/stat"), time.monotonic() + 10
    while stat.exists() and ") Z " not in stat.read_text() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not stat.exists() or ") Z " in stat.read_text()


def test_finished_run_is_not_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(common, "folder_of_runs", None)
    monkeypatch.setattr(
        common, "run", lambda command, telemetry, **more: seen.append(command) or common.Outcome(1.0, "x", "")
    )
    common.keep_runs_in(tmp_path)
    for command in ("a", "b", "a"):
        assert common.measure(command, mem="8M") == common.Outcome(1.0, "x", "")
    assert common.measure("a", keep=False, mem="8M") and seen == ["a", "b", "a"]
    [kept, _] = tmp_path.glob("runs/*.json")
    assert json.loads(kept.read_text())["console"] == "x"
