"""Red-black trees, tidy drawings of trees, and `tidemark procs`, which puts processes into both."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from tidemark import cli, procs, redblack, tidytree
from tidemark.errors import LabError
from tidemark.telemetry import TelemetryError
from typer.testing import CliRunner

SVG = "{http://www.w3.org/2000/svg}"
GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"


@dataclass(eq=False)
class Twig:
    """A binary tree that carries nothing."""

    left: Twig | None = None
    right: Twig | None = None


def random_tree(size: int, rng: random.Random) -> Twig | None:
    """A binary tree of any shape."""
    if size == 0:
        return None
    left = rng.randrange(size)
    return Twig(random_tree(left, rng), random_tree(size - 1 - left, rng))


def mirrored(tree: Twig | None) -> Twig | None:
    """The tree seen from behind."""
    return Twig(mirrored(tree.right), mirrored(tree.left)) if tree else None


def some_trees() -> list[Twig]:
    """Small ones of every kind, and larger ones."""
    rng = random.Random(1981)
    return [random_tree(rng.randrange(1, 40), rng) for _ in range(300)]


def by_contours(tree: Twig, x: float, out: dict[int, float]) -> list[tuple[float, float]]:
    """Places of a subtree put naively: every contour is a list of (least, greatest x) by level. O(n²)."""
    children = [tree.left, tree.right]
    shapes = [by_contours(child, 0, out) if child else [] for child in children]
    both = list(zip(*shapes))
    distance = max([1.0, *(left[1] - right[0] + 1 for left, right in both)])
    offsets = (-distance / 2, distance / 2)
    for child, by in zip(children, offsets):
        move(child, by, out)
    out[id(tree)] = x
    moved = [[(a + by, b + by) for a, b in shape] for shape, by in zip(shapes, offsets)]
    deep = max(map(len, moved))
    levels = [[shape[nr] for shape in moved if nr < len(shape)] for nr in range(deep)]
    return [(0.0, 0.0), *((min(a for a, _ in level), max(b for _, b in level)) for level in levels)]


def move(tree: Twig | None, by: float, out: dict[int, float]) -> None:
    """Move a subtree."""
    if tree:
        out[id(tree)] += by
        move(tree.left, by, out)
        move(tree.right, by, out)


def placed(tree: Twig) -> dict[int, tidytree.Place]:
    """Its places by node."""
    return {id(place.node): place for place in tidytree.layout(tree)}


def test_random_insertions_keep_the_rules_and_the_order() -> None:
    rng = random.Random(1978)
    for size in (0, 1, 2, 3, 10, 100, 300):
        tree, keys = redblack.Tree(), [rng.randrange(size) for _ in range(size)]
        for nr, key in enumerate(keys, 1):
            tree.insert(key)
            assert redblack.broken_rule(tree.root) == ""
            assert sum(1 for _ in tree) == nr
        assert [node.key for node in tree] == sorted(keys)


@pytest.mark.parametrize("order", [1, -1])
def test_sorted_insertions_stay_low(order: int) -> None:
    tree = redblack.Tree()
    for key in range(1023)[::order]:
        tree.insert(key)
    depth = 1 + max(place.depth for place in tidytree.layout(tree.root))
    assert redblack.broken_rule(tree.root) == "" and depth <= 2 * 10


def test_equal_keys_stay_in_the_order_of_their_coming() -> None:
    tree = redblack.Tree()
    for value in range(50):
        tree.insert(7, value)
    assert [node.value for node in tree] == list(range(50))


def test_a_broken_rule_is_found() -> None:
    def tree() -> redblack.Node:
        made = redblack.Tree()
        for key in range(1, 8):
            made.insert(key)
        return made.root

    def broken(change: Callable[[redblack.Node], None]) -> str:
        root = tree()
        change(root)
        return redblack.broken_rule(root)

    assert broken(lambda root: None) == ""
    assert "root" in broken(lambda root: setattr(root, "red", True))
    assert "black nodes" in broken(lambda root: setattr(root, "left", None))
    assert "stands before" in broken(lambda root: setattr(root, "key", 100))
    assert "child" in broken(lambda root: [setattr(n, "red", n is not root) for n in redblack.from_above(root)])


def test_nodes_of_a_level_keep_their_distance_and_order() -> None:
    for tree in some_trees():
        levels: dict[int, list[float]] = {}
        for place in tidytree.layout(tree):  # parents first, left before right
            levels.setdefault(place.depth, []).append(place.x)
        assert all(b - a >= 1 for xs in levels.values() for a, b in itertools.pairwise(xs))


def test_parents_are_centred_and_children_on_their_sides() -> None:
    for tree in some_trees():
        places = placed(tree)
        for place in places.values():
            left, right = place.node.left, place.node.right
            assert not left or places[id(left)].x < place.x
            assert not right or places[id(right)].x > place.x
            if left and right:
                assert places[id(left)].x + places[id(right)].x == 2 * place.x


def test_a_mirror_image_is_drawn_as_one() -> None:
    for tree in some_trees():
        places = tidytree.layout(tree)
        width = max(place.x for place in places)
        image = {(place.x, place.depth) for place in tidytree.layout(mirrored(tree))}
        assert image == {(width - place.x, place.depth) for place in places}


def test_a_subtree_is_drawn_the_same_wherever_it_occurs() -> None:
    for tree in some_trees()[:100]:
        places = placed(tree)
        for place in places.values():
            alone = tidytree.layout(place.node)
            by = place.x - alone[0].x
            assert all(places[id(other.node)].x == other.x + by for other in alone)


def test_it_is_as_narrow_as_the_naive_drawing() -> None:
    for tree in some_trees():
        naive: dict[int, float] = {}
        by_contours(tree, 0, naive)
        leftmost = min(naive.values())
        assert {nr: x - leftmost for nr, x in naive.items()} == {nr: place.x for nr, place in placed(tree).items()}


def test_contours_are_followed_in_linear_time(monkeypatch: pytest.MonkeyPatch) -> None:
    steps, along = [0], tidytree.along

    def counted(spot: tidytree.Spot, right: bool) -> tuple:
        steps[0] += 1
        return along(spot, right)

    monkeypatch.setattr(tidytree, "along", counted)
    tree = redblack.Tree()
    for key in random.Random(1).sample(range(4000), 4000):
        tree.insert(key)
    tidytree.layout(tree.root)
    assert 4000 / 4 < steps[0] <= 2 * 4000


def test_a_chain_deeper_than_the_stack_is_drawn() -> None:
    chain = None
    for nr in range(20000):
        chain = Twig(chain, None) if nr % 2 else Twig(None, chain)
    assert len(tidytree.layout(chain)) == 20000 and tidytree.layout(None) == []


def process(pid: int, rss: int, comm: str = "thrash") -> dict:
    """A process as a sample has it."""
    return {"pid": pid, "comm": comm, "state": 0, "mad": 2 * rss, "rss": rss, "wss": rss // 2, "swap": 9, "user_us": 5}


def sample(t_us: int, sizes: list[int], rq: list | None = None) -> dict:
    """A sample with processes of these RSS."""
    found = {"seq": 1, "t_us": t_us, "ev": "sample", "procs": [process(nr, rss) for nr, rss in enumerate(sizes, 1)]}
    return found if rq is None else {**found, "rq": rq}


QUEUE = [[9, 975159786, 1, 10], [10, 976750965, 1, 0], [8, 978086018, 1, 10], [7, 978477596, 0, 8]]


def test_processes_are_ordered_by_the_amount_asked_for() -> None:
    one = sample(1000, [30, 10, 20, 10])
    assert [node.value["pid"] for node in redblack.in_order(procs.by_memory(one, "rss"))] == [2, 4, 3, 1]
    assert redblack.broken_rule(procs.by_memory(one, "mad")) == ""
    assert procs.by_memory(sample(1, []), "rss") is None
    for name in ("pages", "comm", "pid"):
        with pytest.raises(LabError, match="it has mad, rss, wss, swap, user_us"):
            procs.by_memory(one, name)


def test_the_scheduler_s_tree_has_the_kernel_s_shape_and_colours() -> None:
    root = procs.by_vruntime(sample(1, [5] * 9, QUEUE))
    rows = {row["pid"]: (row["parent"], row["colour"], row["depth"]) for row in procs.table(root, "vruntime")}
    assert rows == {10: (None, "black", 0), 9: (10, "black", 1), 8: (10, "black", 1), 7: (8, "red", 2)}
    assert [node.value["pid"] for node in redblack.in_order(root)] == [9, 10, 8, 7]
    assert root.right.left is None and root.right.right.value["comm"] == "thrash"
    assert root.value["comm"] == "kernel thread"
    assert procs.by_vruntime(sample(1, [5], [])) is None


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
        procs.by_vruntime(sample(1, [5], queue))


def test_a_sample_without_queue_is_refused() -> None:
    with pytest.raises(LabError, match="no rq"):
        procs.by_vruntime(sample(1, [5]))


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


def drawn(root: redblack.Node) -> tuple[list[ET.Element], list[str]]:
    """(circles, texts) of its SVG."""
    document = ET.fromstring(procs.svg(root, "rss", "title"))
    assert document.tag == f"{SVG}svg"
    return document.findall(f".//{SVG}circle"), [text.text for text in document.findall(f".//{SVG}text")]


def test_a_circle_s_area_is_its_amount() -> None:
    circles, texts = drawn(procs.by_memory(sample(1, [100, 25, 400]), "rss"))
    radii = sorted(float(circle.get("r")) for circle in circles)
    assert radii == pytest.approx([10, 20, 40])
    assert "3 · 1.6 MiB" in texts and "2 · 100 KiB" in texts
    assert any("4.0 times the next" in text for text in texts)
    assert {circle.get("fill") for circle in circles} == {procs.RED, procs.BLACK}


def test_names_are_escaped_in_every_format() -> None:
    evil = '<b>&"\x01\ud800x'
    one = {"seq": 1, "t_us": 1, "procs": [process(1, 5, evil), process(2, 7, "]]>")]}
    root = procs.by_memory(one, "rss")
    _, texts = drawn(root)
    assert '<b>&"\ufffd\ufffdx' in texts and "]]>" in texts
    graph = ET.fromstring(procs.graphml(root, "rss"))
    assert '<b>&"\ufffd\ufffdx' in [data.text for data in graph.iter(f"{GRAPHML}data")]


def test_graphml_has_every_node_and_edge() -> None:
    graph = ET.fromstring(procs.graphml(procs.by_memory(sample(1, list(range(20))), "rss"), "rss"))
    nodes = {node.get("id") for node in graph.iter(f"{GRAPHML}node")}
    edges = [(edge.get("source"), edge.get("target")) for edge in graph.iter(f"{GRAPHML}edge")]
    assert len(nodes) == 20 and len(edges) == 19
    assert {end for edge in edges for end in edge} <= nodes and len({child for _, child in edges}) == 19
    keys = {key.get("id"): key.get("for") for key in graph.iter(f"{GRAPHML}key")}
    assert keys == {"comm": "node", "rss": "node", "colour": "node", "side": "edge"}


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
    start = {"t_us": 0, "ev": "start", "schema": 1, "policy": "2q"}
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
    root = json.loads(printed("--scheduler", "--at", "0.15", "--json"))["nodes"][0]
    expected = {"pid": 10, "comm": "kernel thread", "colour": "black", "depth": 0, "parent": None}
    assert {name: root[name] for name in expected} == expected
    assert ET.fromstring(printed("-o", "-", "--by", "swap").encode()).tag == f"{SVG}svg"


def test_the_command_says_what_it_cannot_draw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = stream(tmp_path / "t.ndjson", [sample(100_000, [1, 2], [])])
    gap = tmp_path / "gap.ndjson"
    gap.write_text((tmp_path / "t.ndjson").read_text().replace('"seq": 1', '"seq": 2'))
    for words, code, said in (
        ((file, "--scheduler"), 3, "no task waited"),
        ((file, "-o", "x.pdf"), 2, ".svg or .graphml"),
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
