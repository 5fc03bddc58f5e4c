"""Red-black trees: binary search trees that stay balanced because of the colours of their nodes.

    1  a node is red or black
    2  the root is black
    3  a red node has no red child
    4  every path from a node down to a missing child passes the same number of black nodes

By 3 and 4 no leaf is more than twice as deep as another, so that n nodes are at most 2 log2(n + 1) deep. A new node is
red, which can break only 2 or 3; going up from it, colours are changed, or at most two rotations made, until neither is
broken. R. Bayer, "Symmetric binary B-trees", Acta Informatica 1, 1972; L. Guibas, R. Sedgewick, "A dichromatic
framework for balanced trees", FOCS 1978; the cases are those of Cormen, Leiserson, Rivest, Stein, "Introduction to
Algorithms", chapter 13. Removal is left out: a picture of a moment never removes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False)
class Node:
    """A node; `key` orders it, `value` is what it carries."""

    key: Any
    value: Any = None
    red: bool = True
    left: Node | None = None
    right: Node | None = None
    parent: Node | None = field(default=None, repr=False)


def in_order(root: Node | None) -> Iterator[Node]:
    """The nodes under `root`, by key."""
    above: list[Node] = []
    node = root
    while above or node:
        while node:
            above.append(node)
            node = node.left
        node = above.pop()
        yield node
        node = node.right


class Tree:
    """A red-black tree. `root` is None when it is empty."""

    def __init__(self) -> None:
        self.root: Node | None = None

    def __iter__(self) -> Iterator[Node]:
        return in_order(self.root)

    def insert(self, key: Any, value: Any = None) -> Node:
        """Put a new node in its place, after those of an equal key. O(log n)."""
        parent, node = None, self.root
        while node:
            parent, node = node, node.left if key < node.key else node.right
        new = Node(key, value, parent=parent)
        if parent is None:
            self.root = new
        elif key < parent.key:
            parent.left = new
        else:
            parent.right = new
        self._restore(new)
        return new

    def _restore(self, node: Node) -> None:
        """`node` is red; while its parent is red too, which rule 3 forbids, mend it here or move the break up."""
        while node.parent and node.parent.red:
            parent, grandparent = node.parent, node.parent.parent
            on_left = parent is grandparent.left
            uncle = grandparent.right if on_left else grandparent.left
            if uncle and uncle.red:
                parent.red = uncle.red = False
                grandparent.red = True
                node = grandparent
                continue
            if node is (parent.right if on_left else parent.left):
                self._rotate(parent, left=on_left)
                parent = node
            parent.red, grandparent.red = False, True
            self._rotate(grandparent, left=not on_left)
            break
        self.root.red = False

    def _rotate(self, node: Node, left: bool) -> None:
        """Turn `node` down to the left, or to the right: its other child takes its place. The order stays."""
        child = node.right if left else node.left
        between = child.left if left else child.right
        if left:
            node.right, child.left = between, node
        else:
            node.left, child.right = between, node
        if between:
            between.parent = node
        child.parent = node.parent
        if node.parent is None:
            self.root = child
        elif node.parent.left is node:
            node.parent.left = child
        else:
            node.parent.right = child
        node.parent = child


def broken_rule(root: Node | None) -> str:
    """Which rule a tree of nodes breaks, and where; empty when it breaks none."""
    if root and root.red:
        return f"the root {root.key} is red"
    black = {None: 0}
    for node in reversed(list(from_above(root))):
        for child in (node.left, node.right):
            if child and node.red and child.red:
                return f"{node.key} is red, and so is its child {child.key}"
        if black[node.left] != black[node.right]:
            return f"under {node.key} are {black[node.left]} black nodes on the left, {black[node.right]} on the right"
        black[node] = black[node.left] + (not node.red)
    keys = [node.key for node in in_order(root)]
    wrong = next((pair for pair in itertools.pairwise(keys) if pair[1] < pair[0]), None)
    return f"{wrong[0]} stands before {wrong[1]}" if wrong else ""


def from_above(root: Node | None) -> Iterator[Node]:
    """The nodes under `root`, parents before children."""
    waiting = [root] if root else []
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [child for child in (node.right, node.left) if child]
