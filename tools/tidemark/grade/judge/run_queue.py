"""The rules of CFS: what each operation may do to a run queue (kernel/sched/fair.h), judged from the state before it.

Designs that update min_vruntime at different times come to different states, and each of them may be right. So no
sequence of states is expected: each operation is judged by itself. Rounding is not judged, nor what a rule leaves open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tidemark.grade.judge.driven import Wrong
from tidemark.grade.judge.kinds.shares import WEIGHTS

LATENCY, GRANULARITY, WAKEUP = 6_000_000, 750_000, 1_000_000  # ns; labs/cfs/queue.c sets them
NICE_0 = 1024
WRAP, HALF = 1 << 64, 1 << 63  # of a vruntime


@dataclass(frozen=True)
class State:
    """What the driver prints of the queue. Entities are counted from 0; -1: none."""

    least: int
    curr: int
    first: int
    nr: int
    load: int
    check: int
    slice: int
    vruntimes: list[int]
    ran: list[int]  # since they were picked
    tree: list[int] | None = None  # None: it is not a tree of entities
    balanced: bool = True

    def runnable(self) -> list[int]:
        """The entities in the tree, and curr."""
        return [*(self.tree or []), *([self.curr] if self.curr >= 0 else [])]

    def smallest(self) -> int | None:
        """The smallest vruntime of all runnable entities."""
        values = [self.vruntimes[entity] for entity in self.runnable()]
        return min(values, key=lambda value: after(value, values[0])) if values else None


@dataclass
class Model:
    """What is known of the entities, and the state after the last operation."""

    weights: dict[int, int] = field(default_factory=dict)
    state: State | None = None


def after(a: int, b: int) -> int:
    """By how much vruntime a is larger than b."""
    return (a - b + HALF) % WRAP - HALF


def later(a: int, b: int) -> int:
    """The larger of two vruntimes."""
    return a if after(a, b) > 0 else b


def slack(value: float) -> float:
    """By how much a result may differ from an exact one."""
    return 1 + abs(value) / 1000


def weight(nice: int) -> int:
    """The weight of a nice value."""
    return int(WEIGHTS.split()[nice + 20])


def fair_slice(nr: int, load: int, own: int) -> float:
    """The slice of an entity of this weight."""
    return max(LATENCY, nr * GRANULARITY if nr > LATENCY // GRANULARITY else 0) * own / load


def near(got: int, expected: float, what: str) -> None:
    """Raises Wrong if a number is not the expected one, as far as rounding allows."""
    if abs(got - expected) > slack(expected):
        raise Wrong(f"{what} is {got:,}; it must be {expected:,.0f}")


def vruntime_is(state: State, entity: int, expected: float, base: int, why: str) -> None:
    """Raises Wrong unless an entity's vruntime is `base` and `expected` more."""
    if abs(after(state.vruntimes[entity], base) - expected) > slack(expected):
        off = after(state.vruntimes[entity], round(base + expected))
        raise Wrong(f"the vruntime of entity {entity} is {abs(off):,} too {'large' if off > 0 else 'small'}: {why}")


def only_changed(before: State, now: State, *but: int) -> None:
    """Raises Wrong if another entity's vruntime has changed."""
    for entity, (old, new) in enumerate(zip(before.vruntimes, now.vruntimes)):
        if old != new and entity not in but:
            raise Wrong(f"the vruntime of entity {entity} changed by {after(new, old):,}")


def inserted(state: State, tree: Sequence[int], entity: int) -> list[int]:
    """The tree with an entity more: among equals, it is the last."""
    own = state.vruntimes[entity]
    place = sum(after(own, state.vruntimes[other]) >= 0 for other in tree)
    return [*tree[:place], entity, *tree[place:]]


def check_tree(now: State, expected: Sequence[int]) -> None:
    """Raises Wrong unless the tree holds these entities in this order."""
    if now.tree is None:
        raise Wrong("what the root leads to is not a tree of entities")
    if now.tree != list(expected):
        raise Wrong(f"the tree has the entities {now.tree}; by vruntime, and then by arrival, it must have {expected}")
    if now.first != (now.tree or [-1])[0]:
        raise Wrong(f"leftmost is entity {now.first}; the first of the tree is {(now.tree or [-1])[0]}")
    if not now.balanced:
        raise Wrong("the tree is not a red-black tree: rb_check finds an error")


def check_counts(model: Model, now: State) -> None:
    """Raises Wrong if the queue's counts are wrong, or fair_check says that they are."""
    runnable, weights = now.runnable(), model.weights
    for name, count, right_count in (
        ("nr_running", now.nr, len(runnable)),
        ("load", now.load, sum(weights[entity] for entity in runnable)),
    ):
        if count != right_count:
            raise Wrong(f"{name} is {count}; it must be {right_count}")
    if now.curr >= 0:
        near(now.slice, fair_slice(now.nr, now.load, weights[now.curr]), f"fair_slice of entity {now.curr}")
    if now.check:
        raise Wrong(f"fair_check returns {now.check}, although the queue is in order")


def check_least(before: State, now: State, charged: bool) -> None:
    """Raises Wrong if min_vruntime falls, or exceeds the smallest vruntime; after a charge it must equal that."""
    if after(now.least, before.least) < 0:
        raise Wrong(f"min_vruntime falls by {after(before.least, now.least):,}")
    least = [value for value in (before.smallest(), now.smallest()) if value is not None]
    most = max([before.least, *least], key=lambda value: after(value, before.least))
    if after(now.least, most) > 0:
        raise Wrong(f"min_vruntime is {after(now.least, most):,} more than the smallest vruntime")
    smallest = now.smallest()
    if charged and smallest is not None and now.least != later(before.least, smallest):
        raise Wrong(f"min_vruntime is {after(smallest, now.least):,} less than the smallest vruntime")


def check_start(model: Model, before: State, now: State, entity: int, is_new: bool) -> None:
    """The vruntime of an entity that wakes up or starts."""
    own = model.weights[entity]
    if is_new:
        old = before.vruntimes[before.curr] if before.curr >= 0 else before.least
        more = fair_slice(before.nr + 1, before.load + own, own) * NICE_0 / own
        why = "a new one starts at min_vruntime and its slice"
    else:
        old, more = before.vruntimes[entity], -LATENCY / 2
        why = "one that wakes starts at min_vruntime less half a latency"
    if after(old, before.least) > more:
        more, why = after(old, before.least), "no entity starts before its own vruntime"
    vruntime_is(now, entity, more, before.least, why)


def check_question(says: bool, certain: bool, excluded: bool, what: str, why: str) -> None:
    """Raises Wrong if a function says yes where no is certain, or no where yes is."""
    if says and excluded:
        raise Wrong(f"{what} returns true, although {why}")
    if not says and certain:
        raise Wrong(f"{what} returns false, although {why}")


def check_wakeup(model: Model, now: State, entity: int, says: bool) -> None:
    """The answer of fair_wakeup_preempts."""
    if now.curr < 0:
        return check_question(says, True, False, "fair_wakeup_preempts", "no entity runs")
    behind = after(now.vruntimes[now.curr], now.vruntimes[entity])
    margin = WAKEUP * NICE_0 / model.weights[entity]
    why = f"the entity is {behind:,} behind curr, and the margin is {margin:,.0f}"
    certain, excluded = behind > margin + slack(margin), behind < margin - slack(margin)
    return check_question(says, certain, excluded or behind == margin, "fair_wakeup_preempts", why)


def check_tick(model: Model, now: State, says: bool) -> None:
    """The answer of fair_tick_preempts. How the slice is compared with the lead, as time or as vruntime of curr, is
    left open."""
    what = "fair_tick_preempts"
    if not now.tree:
        return check_question(says, False, True, what, "there is no other entity")
    own = model.weights[now.curr]
    weights = [model.weights[entity] for entity in now.runnable()]  # the student's counts may be wrong
    span, ran = fair_slice(len(weights), sum(weights), own), now.ran[now.curr]
    lead = after(now.vruntimes[now.curr], now.vruntimes[now.tree[0]])
    leads = sorted((span, span * NICE_0 / own))
    used, long = ran > span + slack(span), ran >= GRANULARITY
    unused = ran < span - slack(span)
    why = f"curr has run for {ran:,} ns, its slice is {span:,.0f}, and its lead {lead:,}"
    certain = used or (long and lead > leads[1] + slack(leads[1]))
    return check_question(says, certain, unused and not (long and lead > leads[0] - slack(leads[0])), what, why)


def check_yield(before: State, now: State) -> None:
    """The vruntime of curr after a yield."""
    curr, last = before.curr, before.vruntimes[before.tree[-1]] if before.tree else before.least
    if after(now.vruntimes[curr], last) < 0:
        raise Wrong(f"curr is {after(last, now.vruntimes[curr]):,} before the last of the tree")
    if after(now.vruntimes[curr], before.vruntimes[curr]) < 0:
        raise Wrong(f"the vruntime of curr falls by {after(before.vruntimes[curr], now.vruntimes[curr]):,}")
    if after(now.vruntimes[curr], later(last, before.vruntimes[curr])) > LATENCY:
        raise Wrong(f"curr is {after(now.vruntimes[curr], last):,} behind the last of the tree")


def check_changes(model: Model, what: str, numbers: Sequence[int], result: str, before: State, now: State) -> None:
    """Raises Wrong if an operation changes vruntimes wrongly, or answers its question wrongly."""
    curr = before.curr
    if what == "n" or (what == "w" and result != "none"):
        only_changed(before, now, numbers[0])
        check_start(model, before, now, numbers[0], what == "n")
        check_wakeup(model, now, numbers[0], result != "0")
    elif what == "t" and curr >= 0:
        only_changed(before, now, curr)
        more = numbers[0] * NICE_0 / model.weights[curr]
        vruntime_is(now, curr, more, before.vruntimes[curr], f"{numbers[0]:,} ns are charged")
        if now.ran[curr] != before.ran[curr] + numbers[0]:
            raise Wrong(
                f"sum_exec of curr is {now.ran[curr]:,} more than slice_start, not {before.ran[curr] + numbers[0]:,}"
            )
        check_tick(model, now, result != "0")
    elif what == "y" and result != "none":
        only_changed(before, now, curr)
        check_yield(before, now)
    else:
        only_changed(before, now)


def next_queue(what: str, numbers: Sequence[int], result: str, before: State, now: State) -> tuple[int, Sequence[int]]:
    """(curr, the order of the tree) as they must be after an operation."""
    curr, tree = before.curr, list(before.tree or [])
    if what == "n" or (what == "w" and result != "none"):
        return curr, inserted(now, tree, numbers[0])
    if what == "s":
        return -1, tree
    if what == "p" and tree:
        first, *rest = inserted(now, tree, curr) if curr >= 0 else tree
        return first, rest
    return curr, tree
