"""Walks over linked structures that may be half changed: bounded, trusting nothing they read.

Both walks yield what they reach and then, if something was wrong, raise Torn. A list that is just being changed
(lib/list.h sets the forward link last) can still be followed forwards; a wrong backward link is reported at the end.
A tree that is being rotated shows the nodes that can still be reached from its root.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from .errors import Torn, Unreadable

LIMIT = 1 << 20  # no list is longer: there are fewer frames, and fewer small objects
POINTER = 4
DEPTH = 64  # a red-black tree of 2^32 nodes is not deeper
BLACK = 1  # bit 0 of the word that holds the parent
LEFT, RIGHT = 4, 8  # where a node keeps its children

T = TypeVar("T")
Word = Callable[[int], int]


def gather(items: Iterable[T]) -> tuple[list[T], str]:
    """Returns what a walk yields, and what was wrong with it; empty if nothing was."""
    got: list[T] = []
    try:
        for item in items:
            got.append(item)
    except Torn as torn:
        return got, str(torn)
    return got, ""


def list_nodes(word: Word, head: int, limit: int = LIMIT) -> Iterator[int]:
    """The addresses of the nodes of a struct list_head ring, in order, without the head. `word` reads 32 bits.

    Raises Torn: after `limit` nodes, at a cycle, if a link leads to no memory or, at the very end, if a backward link
    is wrong."""
    seen = {head}
    at, odd = head, ""
    while True:
        after = follow(word, at, 0, at)
        back = follow(word, after, POINTER, at) if after else 0
        if not after:
            raise Torn("it is not initialised" if at == head else f"{at:#x} links to 0")
        if back != at and not odd:
            odd = f"{after:#x} links back to {back:#x} instead of {at:#x}: it is being changed"
        if after == head:
            break
        if after in seen:
            raise Torn(f"{at:#x} links to {after:#x} again: a cycle after {len(seen) - 1} entries")
        if len(seen) > limit:
            raise Torn(f"more than {limit} entries")
        yield after
        seen.add(after)
        at = after
    if odd:
        raise Torn(odd)


def follow(word: Word, node: int, offset: int, at: int) -> int:
    """A word of the node that the entry `at` links to. Raises Torn if there is no memory."""
    try:
        return word(node + offset)
    except Unreadable:
        raise Torn(f"{at:#x} links to {node:#x}, where no memory is") from None


@dataclass(frozen=True)
class TreeNode:
    """A node of a red-black tree: its address, its depth below the root, and which child it is ("" for the root)."""

    address: int
    depth: int
    side: str
    black: bool
    parent: int


def tree_nodes(word: Word, root: int) -> Iterator[TreeNode]:
    """The nodes below a struct rb_root's rb_node, in order of their keys. `word` reads 32 bits.

    Raises Torn if a node comes twice, a link leads to no memory, or a node names a parent other than the one above
    it."""
    seen: set[int] = set()
    waiting: list[TreeNode] = []  # nodes reached whose left subtrees are still being visited
    address, parent, side, depth, odd = root, 0, "", 0, ""
    while address or waiting:
        while address:
            if address in seen or depth > DEPTH:
                raise Torn(f"{parent:#x} leads to {address:#x} again: a cycle")
            seen.add(address)
            up = follow(word, address, 0, parent)
            if up & ~BLACK != parent and not odd:
                odd = f"{address:#x} hangs from {parent:#x}, but says {up & ~BLACK:#x}: it is being changed"
            waiting.append(TreeNode(address, depth, side, bool(up & BLACK), parent))
            address, parent, side, depth = follow(word, address, LEFT, address), address, "left", depth + 1
        node = waiting.pop()
        yield node
        address, parent, side, depth = (
            follow(word, node.address, RIGHT, node.address),
            node.address,
            "right",
            node.depth + 1,
        )
    if odd:
        raise Torn(odd)
