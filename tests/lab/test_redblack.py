"""The red-black tree of `tidemark procs --tree`: its rules after every insertion, and the kernel's trees beside it."""

from __future__ import annotations

import itertools
import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from tidemark.machine.qemu import ROOT
from tidemark.report.redblack import Node, Tree


def tree_of(keys: Sequence[int]) -> Tree:
    tree = Tree()
    for key in keys:
        tree.insert((key, 0))
    return tree


def black_height(node: Node | None) -> int:
    """The number of black nodes on each path below and with `node`; fails unless the rules hold there."""
    if not node:
        return 0
    left, right = node.children
    heights = {black_height(left), black_height(right)}
    assert len(heights) == 1, "paths with different numbers of black nodes"
    assert not (node.red and any(child and child.red for child in node.children)), "a red node has a red child"
    assert all(child.parent is node for child in node.children if child)
    return heights.pop() + (not node.red)


def check(tree: Tree, keys: Sequence[int]) -> None:
    assert [node.key[0] for node in tree] == sorted(keys)
    assert tree.root is None or (not tree.root.red and tree.root.parent is None)
    black_height(tree.root)


@pytest.mark.parametrize("nr", range(8))
def test_every_order_of_insertion_gives_a_red_black_tree(nr: int) -> None:
    for keys in itertools.permutations(range(nr)):
        check(tree_of(keys), keys)


def test_rules_hold_after_each_insertion() -> None:
    rng = random.Random(1972)
    for keys in ([*range(300)], [*range(300, 0, -1)], rng.sample(range(10_000), 300)):
        tree = Tree()
        for at, key in enumerate(keys, 1):
            tree.insert((key, 0))
            check(tree, keys[:at])


def test_shape_and_colours_are_those_of_the_kernels_trees(tmp_path: Path) -> None:
    """kernel/lib/rbtree.c, compiled for the host, gets the same keys in the same order."""
    program = tmp_path / "tree"
    sources = [ROOT / "tests/lab/data/kernel_tree.c", ROOT / "kernel/lib/rbtree.c"]
    subprocess.run(["cc", f"-I{ROOT}/kernel/include", "-o", program, *sources], check=True)
    rng = random.Random(seed := random.SystemRandom().randrange(2**32))
    orders = [rng.sample(range(10_000), rng.randrange(1, 200)) for _ in range(200)]
    text = "".join(" ".join(map(str, keys)) + "\n" for keys in orders)
    printed = subprocess.run([program], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    for keys, line in zip(orders, printed, strict=True):
        ours = [f"{node.key[0]},{int(node.red)},{node.parent.key[0] if node.parent else -1}" for node in tree_of(keys)]
        assert ours == line.split(), f"seed {seed}"
