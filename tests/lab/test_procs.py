"""`tidemark procs`: the processes by memory, and the scheduler's tree."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from tidemark import cli
from tidemark.errors import LabError
from tidemark.report import procs
from tidemark.telemetry.stream import TelemetryError
from typer.testing import CliRunner

SVG = "{http://www.w3.org/2000/svg}"


def process(pid: int, rss: int, comm: str = "thrash") -> dict:
    """A process in a sample."""
    return {"pid": pid, "comm": comm, "state": 0, "mad": 2 * rss, "rss": rss, "wss": rss // 2, "swap": 9, "user_us": 5}


def sample(t_us: int, sizes: list[int], rq: list | None = None) -> dict:
    """A sample of processes with these RSS."""
    found = {"seq": 1, "t_us": t_us, "ev": "sample", "procs": [process(nr, rss) for nr, rss in enumerate(sizes, 1)]}
    return found if rq is None else {**found, "rq": rq}


QUEUE = [[9, 975159786, 1, 10], [10, 976750965, 1, 0], [8, 978086018, 1, 10], [7, 978477596, 0, 8]]


def test_processes_are_ordered_by_the_amount_asked_for() -> None:
    one = sample(1000, [30, 10, 20, 10])
    assert [row["pid"] for row in procs.by_memory(one, "rss")] == [1, 3, 2, 4]
    assert procs.by_memory(one, "mad")[0] == {"pid": 1, "comm": "thrash", "mad": 60}
    assert procs.by_memory(sample(1, []), "rss") == []
    for name in ("pages", "comm", "pid"):
        with pytest.raises(LabError, match="it has mad, rss, wss, swap, user_us"):
            procs.by_memory(one, name)


def test_the_scheduler_s_tree_has_the_kernel_s_shape_and_colours() -> None:
    rows = procs.queue(sample(1, [5] * 9, QUEUE))
    assert [(row["pid"], row["parent"], row["colour"], row["depth"]) for row in rows] == [
        (9, 10, "black", 1),
        (10, None, "black", 0),
        (8, 10, "black", 1),
        (7, 8, "red", 2),
    ]
    assert [row["comm"] for row in rows] == ["thrash", "kernel thread", "thrash", "thrash"]
    assert procs.queue(sample(1, [5], [])) == []


@pytest.mark.parametrize(
    "queue",
    [
        [[1, 5, 1, 0], [2, 6, 1, 0]],
        [[1, 5, 1, 7]],
        [[1, 5, 1, 0], [2, 6, 0, 1], [3, 7, 0, 1]],
        [[1, 5, 1, 1]],
        [[1, 5, 1, 0], [2, 6, 0, 3], [3, 7, 0, 2]],
    ],
    ids=["two roots", "no such parent", "two right children", "its own parent", "a ring beside the root"],
)
def test_a_queue_that_is_no_tree_is_refused(queue: list) -> None:
    with pytest.raises(TelemetryError, match="rq"):
        procs.queue(sample(1, [5], queue))


def test_a_sample_without_queue_is_refused() -> None:
    with pytest.raises(LabError, match="no rq"):
        procs.queue(sample(1, [5]))


def test_memory_tree_has_the_processes_in_order_of_memory() -> None:
    """Inserted by number: 30, 10, 20 need a rotation, and the equal amounts of 2 and 4 are ordered by number."""
    rows = procs.memory_tree(sample(1, [30, 10, 20, 10]), "rss")
    assert [(row["pid"], row["rss"], row["colour"], row["depth"], row["parent"]) for row in rows] == [
        (2, 10, "black", 1, 3),
        (4, 10, "red", 2, 2),
        (3, 20, "black", 0, None),
        (1, 30, "black", 1, 3),
    ]
    circles, texts, _ = drawn(procs.draw_memory_tree(rows, "rss", "title"))
    assert [circle.get("fill") for circle in circles] == [procs.BLACK, procs.RED, procs.BLACK, procs.BLACK]
    assert "3 · 80 KiB" in texts and "from left to right RSS grows" in texts
    with pytest.raises(LabError, match="it has mad, rss, wss, swap, user_us"):
        procs.memory_tree(sample(1, [1]), "pages")


def test_which_sample_is_drawn() -> None:
    samples = [
        sample(100_000, [1]),
        sample(200_000, [1, 2, 3], QUEUE),
        sample(300_000, [3, 2, 1]),
        sample(400_000, [1]),
    ]
    assert procs.choose(samples, None, live=False)["t_us"] == 300_000
    assert procs.choose(samples, None, live=False, member="rq")["t_us"] == 200_000
    assert procs.choose(samples, None, live=True)["t_us"] == 400_000
    assert procs.choose(samples, 0.25, live=True)["t_us"] == 200_000
    with pytest.raises(LabError, match=r"from 0\.100 to 0\.400 s"):
        procs.choose(samples, 0.05, live=False)
    with pytest.raises(LabError, match="no sample"):
        procs.choose([], None, live=False)


def drawn(svg: str) -> tuple[list[ET.Element], list[str], ET.Element]:
    """(circles, texts, whole document) of an SVG."""
    document = ET.fromstring(svg)
    assert document.tag == f"{SVG}svg"
    texts = [text.text or "" for text in document.findall(f".//{SVG}text")]
    return document.findall(f".//{SVG}circle"), texts, document


def test_a_circle_s_area_is_its_amount() -> None:
    rows = procs.by_memory(sample(1, [100, 25, 400]), "rss")
    circles, texts, _ = drawn(procs.draw_memory(rows, "rss", "title"))
    assert [float(circle.get("r")) for circle in circles] == pytest.approx([40, 20, 10])
    assert "3 · 1.6 MiB" in texts and "2 · 100 KiB" in texts
    assert any("4.0 times as much as the next" in text for text in texts)


@pytest.mark.parametrize("nr", [1, 8, 9, 40])
def test_circles_never_touch_and_lie_inside(nr: int) -> None:
    rows = procs.by_memory(sample(1, [7] * nr), "rss")
    circles, _, document = drawn(procs.draw_memory(rows, "rss", "title"))
    places = [(float(circle.get("cx")), float(circle.get("cy"))) for circle in circles]
    assert len(set(places)) == nr
    assert all(
        abs(a - c) >= 2 * procs.LARGEST or abs(b - d) >= 3 * procs.LARGEST
        for a, b in places
        for c, d in places
        if (a, b) != (c, d)
    )
    assert max(x for x, _ in places) + procs.LARGEST < float(document.get("width"))
    assert max(y for _, y in places) + procs.LARGEST + 40 < float(document.get("height"))


def random_queue(size: int, rng: random.Random) -> list[list[int]]:
    """A tree of any shape, in the format of a sample."""
    found: dict[int, int] = {}

    def grow(pids: list[int], parent: int) -> None:
        if pids:
            at = rng.randrange(len(pids))
            found[pids[at]] = parent
            grow(pids[:at], pids[at])
            grow(pids[at + 1 :], pids[at])

    pids = rng.sample(range(1, 1000), size)
    grow(pids, 0)
    return [[pid, 1000 * nr, 1, found[pid]] for nr, pid in enumerate(pids)]


def test_trees_of_any_shape_are_drawn_in_order_without_a_touch() -> None:
    rng = random.Random(1981)
    for _ in range(100):
        rows = procs.queue(sample(1, [], random_queue(rng.randrange(1, 40), rng)))
        ring, *circles = drawn(procs.draw_queue(rows, "title"))[0]
        places = [(float(circle.get("cx")), float(circle.get("cy"))) for circle in circles]
        assert [x for x, _ in places] == sorted(x for x, _ in places), "seed 1981"
        levels: dict[float, list[float]] = {}
        for x, y in places:
            levels.setdefault(y, []).append(x)
        assert all(b - a >= procs.ACROSS for xs in levels.values() for a, b in zip(xs, xs[1:])), "seed 1981"
        assert (float(ring.get("cx")), float(ring.get("cy"))) == places[0]


def test_red_tasks_are_red_and_titles_fit() -> None:
    title = "Tasks waiting for the processor, 12.345 s, 20261121-103000-ws-thrash (ws)"
    circles, texts, document = drawn(procs.draw_queue(procs.queue(sample(1, [5] * 9, QUEUE)), title))
    assert [circle.get("fill") for circle in circles[1:]] == [procs.BLACK] * 3 + [procs.RED]
    # Helvetica's bold digits are 0.556 em wide; a line of them at 18 px must fit.
    assert title in texts and float(document.get("width")) >= len(title) * 0.556 * 18 + 16


def test_names_are_escaped() -> None:
    evil = '<b>&"\x01\ud800x'
    rows = procs.by_memory({"seq": 1, "t_us": 1, "procs": [process(1, 5, evil), process(2, 7, "]]>")]}, "rss")
    _, texts, _ = drawn(procs.draw_memory(rows, "rss", "title"))
    assert '<b>&"\ufffd\ufffdx' in texts and "]]>" in texts


@pytest.mark.parametrize(
    ("number", "by", "text"),
    [
        (0, "rss", "0 KiB"),
        (255, "wss", "1,020 KiB"),
        (2012, "rss", "7.9 MiB"),
        (1 << 19, "mad", "2.0 GiB"),
        (1500, "user_us", "1.50 ms"),
        (2_500_000, "sleep_us", "2.50 s"),
        (1234, "majflt", "1,234"),
    ],
)
def test_amounts_have_their_unit(number: int, by: str, text: str) -> None:
    assert procs.amount(number, by) == text


def stream(path: Path, samples: list[dict]) -> str:
    """A telemetry file with these samples, without an end."""
    start = {"t_us": 0, "ev": "start", "schema": 2, "policy": "2q"}
    lines = [json.dumps({**record, "seq": nr}) for nr, record in enumerate([start, *samples])]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_the_command_draws_what_it_is_asked_for(tmp_path: Path) -> None:
    def printed(*words: str) -> str:
        line = [sys.executable, "-m", "tidemark.cli", "procs", file, *words]
        return subprocess.run(line, cwd=tmp_path, check=True, stdout=subprocess.PIPE, text=True, timeout=60).stdout

    file = stream(tmp_path / "t.ndjson", [sample(100_000, [1, 2], QUEUE), sample(200_000, [3, 2, 1], [])])
    assert printed() == "procs.svg\n"
    assert "0.200 s" in (tmp_path / "procs.svg").read_text()
    root = json.loads(printed("--scheduler", "--at", "0.15", "--json"))["nodes"][1]
    expected = {"pid": 10, "comm": "kernel thread", "colour": "black", "depth": 0, "parent": None}
    assert {name: root[name] for name in expected} == expected
    assert [row["parent"] for row in json.loads(printed("--tree", "--json"))["nodes"]] == [2, None, 2]
    assert ET.fromstring(printed("-o", "-", "--by", "swap").encode()).tag == f"{SVG}svg"


def test_the_command_says_what_it_cannot_draw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = stream(tmp_path / "t.ndjson", [sample(100_000, [1, 2], [])])
    gap = tmp_path / "gap.ndjson"
    gap.write_text((tmp_path / "t.ndjson").read_text().replace('"seq": 1', '"seq": 2'))
    for words, code, said in (
        ((file, "--scheduler"), 3, "no task waited"),
        ((file, "--scheduler", "--tree"), 2, "exclude each other"),
        ((file, "-o", "x.pdf"), 2, "end in .svg"),
        ((file, "-o", "no/such/x.svg"), 5, "cannot be written"),
        ((file, "--by", "x"), 2, "no such amount"),
        ((str(gap),), 3, "records are missing"),
        (("nothing",), 3, "no such file"),
        ((), 3, "no result in results/"),
    ):
        done = CliRunner().invoke(cli.app, ["procs", *words])
        assert isinstance(done.exception, LabError) and done.stdout == ""
        assert done.exception.code == code and said in str(done.exception)
    assert not [path for path in tmp_path.iterdir() if path.suffix in (".svg", ".partial")]
