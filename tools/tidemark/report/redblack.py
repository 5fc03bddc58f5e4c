"""A red-black tree, built by insertion.

Memball, of A. McMenamin ("Applying working set heuristics to the Linux kernel", 2011, appendix C), keeps the processes
of a machine in such a tree by their memory: a balanced tree is one that can be drawn. Its nodes are red or black. The
root is black, no red node has a red child, and each path from the root to an empty place has as many black nodes, so
the longest is at most twice as long as the shortest. A new node is a red leaf, and may have a red parent. With a red
uncle, new colours move this conflict two levels up; otherwise one or two rotations end it (Cormen, Leiserson, Rivest,
Stein, Introduction to Algorithms, chapter 13). The kernel's trees (kernel/lib/rbtree.c) get the same shape.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

Key = tuple[float, int]


@dataclass(eq=False)
class Node:
    """A key and its place: `children` are those with smaller and with larger keys."""

    key: Key
    parent: Node | None
    red: bool = True
    children: list[Node | None] = field(default_factory=lambda: [None, None])

    @property
    def depth(self) -> int:
        """The distance from the root."""
        return self.parent.depth + 1 if self.parent else 0


class Tree:
    """A set of keys; iterate for its nodes in order."""

    def __init__(self) -> None:
        self.root: Node | None = None

    def __iter__(self) -> Iterator[Node]:
        def below(node: Node | None) -> Iterator[Node]:
            if node:
                yield from below(node.children[0])
                yield node
                yield from below(node.children[1])

        return below(self.root)

    def insert(self, key: Key) -> None:
        """Add a key that the tree does not have."""
        parent, at, side = None, self.root, 0
        while at:
            parent, side = at, int(key > at.key)
            at = parent.children[side]
        node = Node(key, parent)
        if parent:
            parent.children[side] = node
        else:
            self.root = node
        self._repair(node)

    def _repair(self, node: Node) -> None:
        """Make the tree a red-black tree again, in which `node` may have a red parent."""
        while (parent := node.parent) and parent.red and (above := parent.parent):
            side = above.children.index(parent)
            uncle = above.children[1 - side]
            if uncle and uncle.red:
                parent.red = uncle.red = False
                above.red, node = True, above
                continue
            if parent.children[1 - side] is node:
                self._rotate(parent, side)
                node, parent = parent, node
            parent.red, above.red = False, True
            self._rotate(above, 1 - side)
        if self.root:
            self.root.red = False

    def _rotate(self, node: Node, side: int) -> None:
        """Move a node down to one side; its child of the other side takes its place."""
        up = node.children[1 - side]
        assert up
        inner, above = up.children[side], node.parent
        node.children[1 - side], up.children[side] = inner, node
        if inner:
            inner.parent = node
        if above:
            above.children[above.children.index(node)] = up
        else:
            self.root = up
        node.parent, up.parent = up, above
