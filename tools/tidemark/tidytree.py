"""Where the nodes of a binary tree go in a drawing: E. Reingold, J. Tilford, "Tidier drawings of trees", IEEE
Transactions on Software Engineering SE-7(2), 1981.

    1  nodes of a level lie on a line, and at least `separation` apart
    2  a left child is left of its parent, a right child right of it; the parent of two is centred over them
    3  a tree and its mirror image are drawn as mirror images; a subtree is drawn the same wherever it occurs

From the leaves up, the two subtrees of a node are put as close together as 1 allows. For that, the right contour of the
left one (its last node on each level) and the left contour of the right one are followed down as far as both reach.
Every node keeps only its children's distance from it, half of that between them, so that a subtree moves as one.

What makes it O(n): the contour continues, from a leaf, where it left the shorter subtree. There a leaf that has no
children gets a *thread* to the next node of the contour. A thread is set in O(1) when two subtrees are joined, because
each knows its outermost nodes on its lowest level, and following contours costs the height of the shorter subtree:
summed over all joins, no more than n.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol


class Branching(Protocol):
    """What is drawn: anything with two children, either of which may be None."""

    left: Branching | None
    right: Branching | None


@dataclass(frozen=True)
class Place:
    """A node's place: x in the unit of `separation`, the leftmost is 0; the root's depth is 0."""

    node: Branching
    x: float
    depth: int


class Spot:
    """A node while it is placed. `offset`: its children's distance from it. `thread`: where the contour goes on from
    a leaf, `thread_x` to the right of it. `outer`: the leftmost and the rightmost spot on the lowest level of its
    subtree, each with its x against this one."""

    __slots__ = ("height", "left", "node", "offset", "outer", "right", "thread", "thread_x")

    def __init__(self, node: Branching, left: Spot | None, right: Spot | None) -> None:
        self.node, self.left, self.right = node, left, right
        self.offset, self.thread, self.thread_x = 0.0, None, 0.0
        self.height = 1 + max(left.height if left else 0, right.height if right else 0)
        self.outer: tuple[tuple[Spot, float], tuple[Spot, float]] = ((self, 0.0), (self, 0.0))


def along(spot: Spot, right: bool) -> tuple[Spot | None, float]:
    """The next spot down the right (left) contour, and how far to the right of `spot` it is."""
    children = ((spot.right, spot.offset), (spot.left, -spot.offset))
    for child, x in children if right else reversed(children):
        if child:
            return child, x
    return spot.thread, spot.thread_x


def join(spot: Spot, separation: float) -> None:
    """Put the two subtrees of `spot` side by side, and set the thread that continues the shorter one's contour."""
    left, right = spot.left, spot.right
    left_x = right_x = 0.0
    distance = separation
    while left and right:
        distance = max(distance, left_x - right_x + separation)
        (left, left_by), (right, right_by) = along(left, right=True), along(right, right=False)
        left_x, right_x = left_x + left_by, right_x + right_by
    spot.offset = distance / 2
    (leftmost, leftmost_x), (rightmost, rightmost_x) = spot.left.outer[0], spot.right.outer[1]
    if left:
        rightmost.thread, rightmost.thread_x = left, left_x - distance - rightmost_x
    elif right:
        leftmost.thread, leftmost.thread_x = right, right_x + distance - leftmost_x


def settle(spot: Spot, separation: float) -> None:
    """Find `spot`'s offset and its outer nodes; its subtrees are settled."""
    if spot.left and spot.right:
        join(spot, separation)
    else:
        spot.offset = separation / 2
    left, right = spot.left, spot.right
    if not left and not right:
        return
    deep_left = left if left and (not right or left.height >= right.height) else right
    deep_right = right if right and (not left or right.height >= left.height) else left
    (first, first_x), (last, last_x) = deep_left.outer[0], deep_right.outer[1]
    first_x += -spot.offset if deep_left is left else spot.offset
    last_x += -spot.offset if deep_right is left else spot.offset
    spot.outer = ((first, first_x), (last, last_x))


def from_above(root: Branching) -> Iterator[Branching]:
    """The nodes, parents before children."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [child for child in (node.right, node.left) if child is not None]


def layout(root: Branching | None, separation: float = 1.0) -> list[Place]:
    """The place of every node, parents before children. O(n), and no recursion."""
    if root is None:
        return []
    spots: dict[int | None, Spot | None] = {None: None}
    for node in reversed(list(from_above(root))):
        children = [spots[None if child is None else id(child)] for child in (node.left, node.right)]
        spots[id(node)] = spot = Spot(node, *children)
        settle(spot, separation)
    places, waiting = [], [(spots[id(root)], 0.0, 0)]
    while waiting:
        spot, x, depth = waiting.pop()
        places.append(Place(spot.node, x, depth))
        for child, by in ((spot.right, spot.offset), (spot.left, -spot.offset)):
            if child:
                waiting.append((child, x + by, depth + 1))
    leftmost = min(place.x for place in places)
    return [Place(place.node, place.x - leftmost, place.depth) for place in places]
