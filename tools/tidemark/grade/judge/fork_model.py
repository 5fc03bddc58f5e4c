"""Which frames processes share after forks: a model of demand-zero and copy-on-write, compared with observed frames.

    an untouched page has no frame; a page that was only read is in the zero frame, which all such pages share
    the first write moves a page to a frame that is cleared for it then
    after a fork, parent and child share the frame; the first process that writes gets a copy, made then
    the last process that has a frame keeps it when it writes
    a table is cleared for a range of 4 MiB in which a page is touched, and freed when nothing is mapped in the range

The model decides nothing else: which frame a page gets is the kernel's choice.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tidemark.grade.witness.evidence import (
    BIRTH,
    COPY,
    FILE_READ,
    FLUSH,
    READ,
    REF,
    STORE,
    TABLES,
    WRITE,
    ZERO,
    Evidence,
)

NAMES, ARRAY = 0x50000000 >> 12, 0x60000000 >> 12  # as in user/workloads/pages.c, in pages
MAX_PROCESSES, PAGES_PER_TABLE = 8, 1024
ZEROS = "the frame of zeros"


def change(number: int) -> str:
    """ "2 tables more", "1 table fewer" or "as many tables", for a change of their number."""
    count = f"{abs(number)} table{'s' * (abs(number) > 1)}"
    return f"{count} {'fewer' if number < 0 else 'more'}" if number else "as many tables"


@dataclass(frozen=True)
class Operation:
    """One line of a script for the workload `pages`; `place` counts from 1."""

    place: int
    process: int
    verb: str
    first: int
    second: int = 0

    def __str__(self) -> str:
        pages = f"pages {self.first} to {self.second}" if self.second > self.first else f"page {self.first}"
        does = {
            "m": f"maps {pages}",
            "u": f"unmaps {pages}",
            "r": f"reads page {self.first}",
            "w": f"writes page {self.first}",
            "k": f"has the kernel write page {self.first}",
            "f": f"forks process {self.first}",
            "x": f"has process {self.first} end",
        }
        return f"operation {self.place}, process {self.process} {does[self.verb]}"


class Wrong(Exception):
    """The kernel differs from the model; the text says how."""


@dataclass
class Step:
    """What was observed in one operation: the frame that its page was in, cleared frames, copies (from, to), whether
    pages were read from or written to the disk, by how much the number of its process's tables changed, and whether the
    student's code flushed the TLB.
    """

    frame: int | None = None
    cleared: list[int] = field(default_factory=list)
    copied: list[tuple[int, int]] = field(default_factory=list)
    paged: bool = False
    tables: int = 0
    flushed: bool = False

    def where(self) -> int:
        """The frame that its page was in. Raises Wrong if the page was never referenced."""
        if self.frame is None:
            raise Wrong("it never got that far")
        return self.frame


@dataclass(eq=False)
class Copy:
    """A page that was written to, its frame, and the processes that have it."""

    page: int
    users: set[int]
    frame: int


def steps_of(evidence: Evidence, script: list[Operation]) -> list[Step]:
    """A Step for each operation that began. Before each operation its process reads its own page at NAMES."""
    steps, tables = [Step()], Counter[int]()
    columns = (evidence.events[name].tolist() for name in ("kind", "space", "a", "b"))
    for kind, space, a, b in zip(*columns):
        step = steps[-1]
        if kind == TABLES:
            step.tables += a - tables[space]
            tables[space] = a
        elif kind == REF and NAMES <= a < NAMES + MAX_PROCESSES:
            if len(steps) > len(script):
                break
            steps.append(Step())
        elif kind in (REF, STORE) and len(steps) > 1 and a == ARRAY + script[len(steps) - 2].first:
            step.frame = b
        elif kind == ZERO:
            step.cleared.append(b)
        elif kind == COPY:
            step.copied.append((a, b))
        elif kind == FLUSH:
            step.flushed = True
        elif kind in (READ, WRITE):
            step.paged = True
    return steps[1:]


@dataclass
class Family:
    """The state of all processes, by process number. `pages`: the pages that it has touched (None: only read);
    `mapped`: the pages that it has mapped; `areas`: the ranges of 4 MiB for which it needs a page table.

    The state of the frames, by frame number. `live`: the page that was written and is in the frame; `filled`: the
    operation that last cleared the frame or copied to it, and the frame it was copied from (None: it was cleared);
    `written`: the last write to the frame. `zeros` is the number of the zero frame.

    `clears`, `copies`: unneeded clears or copies are wrong, too; `tables`: the tables are counted, too.
    """

    clears: bool
    copies: bool
    tables: bool
    filled: dict[int, tuple[int, int | None]] = field(default_factory=dict)
    written: dict[int, Operation] = field(default_factory=dict)
    pages: dict[int, dict[int, Copy | None]] = field(default_factory=lambda: {0: {}})
    mapped: dict[int, set[int]] = field(default_factory=lambda: {0: set()})
    areas: dict[int, set[int]] = field(default_factory=lambda: {0: set()})
    live: dict[int, Copy] = field(default_factory=dict)
    zeros: int | None = None

    def follow(self, one: Operation, step: Step) -> None:
        """Judge one operation. Raises Wrong if the kernel did something else than the model."""
        if step.paged:
            raise Wrong("pages were written to the disk, or read from it: too much memory is in use")
        if one.verb in "rwk":
            step.where()
        self.filled |= dict.fromkeys(step.cleared, (one.place, None))
        self.filled |= {frame: (one.place, source) for source, frame in step.copied}
        self.check_copied(one, step)
        before = len(self.areas[one.process])
        actions = {"r": self.read, "w": self.write, "k": self.write, "f": self.fork, "x": self.end}
        actions.get(one.verb, self.drop)(one, step)
        if one.verb in "rwk" and self.clears:
            self.check_cleared(one, step)
        if self.tables:
            self.check_tables(step, len(self.areas[one.process]) - before)

    def whose(self, frame: int, one: Operation) -> str:
        """The other users of a frame, and for which page, in words."""
        copy = self.live[frame]
        others = sorted(copy.users - {one.process}) if copy.page == one.first else sorted(copy.users)
        users = " and ".join(f"process {other}" for other in others)
        page = "the same page" if copy.page == one.first else f"page {copy.page}"
        return f"frame {frame}, which {users} {'use' if len(others) > 1 else 'uses'} for {page}"

    def leave(self, process: int, page: int) -> None:
        """A process gives up the contents of a page."""
        copy = self.pages[process].pop(page, None)
        if copy:
            copy.users.remove(process)
            if not copy.users:
                del self.live[copy.frame]

    def check_copied(self, one: Operation, step: Step) -> None:
        """Raises Wrong if a page is copied that is not being written."""
        wanted = self.pages[one.process].get(one.first) if one.verb in "wk" else None
        for source, frame in step.copied:
            copy = self.live.get(source)
            if not copy or copy is wanted:
                continue
            text = f"page {copy.page} was copied, from frame {source} to frame {frame}"
            if one.verb == "f":
                raise Wrong(f"{text} (expected: parent and child share it until one of them writes)")
            raise Wrong(f"{text}, although no process wrote to it")

    def check_cleared(self, one: Operation, step: Step) -> None:
        """Raises Wrong unless one frame is cleared for a new page, one for a new table, and no others."""
        areas, area = self.areas[one.process], one.first // PAGES_PER_TABLE
        new = area not in areas
        areas.add(area)
        nr, page = len(step.cleared), step.frame in step.cleared
        if nr == page + new or (new and not self.tables):
            return
        reasons = ["one for the page"] * page + ["one for the table of its 4 MiB"] * new
        expected = f"expected: {' and '.join(reasons) or 'none'}"
        if nr < page + new:
            raise Wrong(
                "no frame was cleared for a table: the range's last table was never freed, or GFP_ZERO did not "
                f"clear this one ({expected})"
            )
        raise Wrong(f"{nr} frames were cleared ({expected})")

    def check_tables(self, step: Step, expected: int) -> None:
        """Raises Wrong unless the page directory names a table for each range with a page that is touched and mapped,
        and a table is freed with a flush: QEMU, unlike processors, keeps no directory entries: no run shows it."""
        if step.tables != expected:
            raise Wrong(f"its page directory names {change(step.tables)} (expected: {change(expected)})")
        if expected < 0 and not step.flushed:
            raise Wrong("a table was freed and the TLB not flushed: a processor may still walk through that table")

    def read(self, one: Operation, step: Step) -> None:
        """A load: a written page is in its frame, an unwritten page in the zero frame."""
        frame, copy = step.where(), self.pages[one.process].get(one.first)
        if copy:
            return self.stays(one, copy, frame)
        if frame in self.live:
            raise Wrong(f"no process has written to it, but it is in {self.whose(frame, one)}")
        if frame in self.filled or self.zeros not in (None, frame):
            raise Wrong(f"it got frame {frame} for itself (expected: {ZEROS}, which all unwritten pages share)")
        self.zeros = frame
        self.pages[one.process][one.first] = None

    def stays(self, one: Operation, copy: Copy, frame: int) -> None:
        """Raises Wrong unless a page is in the frame that it was in."""
        if frame == copy.frame:
            return
        if frame == self.zeros:
            raise Wrong(f"it is in {ZEROS}: what was written to it is lost")
        there = self.whose(frame, one) if frame in self.live else f"frame {frame}"
        raise Wrong(f"it is in {there} (expected: frame {copy.frame}, where it was)")

    def write(self, one: Operation, step: Step) -> None:
        """A store: the page must be in a frame that no other process has."""
        frame, copy = step.where(), self.pages[one.process].get(one.first)
        moved, alone = not copy or frame != copy.frame, copy is not None and copy.users == {one.process}
        if copy and alone and moved and self.copies:
            self.needless(one, copy, frame)
        if not copy or not alone or moved:
            self.check_moved(one, step, copy)
            self.check_new(one, copy, frame)
            self.leave(one.process, one.first)
            copy = Copy(one.first, {one.process}, frame)
        self.pages[one.process][one.first] = self.live[frame] = copy
        self.written[frame] = one

    def needless(self, one: Operation, copy: Copy, frame: int) -> None:
        """The only process that had a page got another frame for it: raises Wrong."""
        if self.filled.get(frame) == (one.place, copy.frame):
            raise Wrong(
                f"it was copied, from frame {copy.frame} to frame {frame}, although no other process had it any more "
                "(expected: it stays where it is)"
            )
        self.stays(one, copy, frame)

    def check_moved(self, one: Operation, step: Step, copy: Copy | None) -> None:
        """Raises Wrong if a program does not find what the kernel wrote for it."""
        made = [to for source, to in step.copied if copy and source == copy.frame] or ([] if copy else step.cleared)
        if one.verb == "k" and made and step.frame == (copy.frame if copy else self.zeros):
            raise Wrong(
                f"the kernel wrote to frame {made[-1]}, but the program still finds frame {step.frame} there: its "
                "entry, or what the TLB holds of it, is the old one"
            )

    def check_new(self, one: Operation, copy: Copy | None, frame: int) -> None:
        """Raises Wrong unless a written page's new frame is unshared, and was filled just then from the old one."""
        if frame == self.zeros:
            raise Wrong(f"what was written is in {ZEROS}, {frame}, which all unwritten pages share")
        if frame in self.live:
            expected = "a copy" if copy else "a frame of its own"
            raise Wrong(f"it is in {self.whose(frame, one)} (expected: {expected})")
        place, source = self.filled.get(frame, (0, None))
        if not copy and self.zeros is None and source not in {None, *self.filled, *self.live}:
            self.zeros = source  # it was filled earlier, and reads show that it holds zeros
        if place == one.place and (source == copy.frame if copy else source in (None, self.zeros)):
            return
        if copy:
            raise Wrong(f"it got frame {frame}, which was not copied from frame {copy.frame}, where it was")
        last = self.written.get(frame)
        if source is not None or place <= (last.place if last else 0):
            text = f": what process {last.process} wrote to page {last.first} is still in it" if last else ""
            raise Wrong(f"it got frame {frame}, which was not cleared{text}")
        if self.clears:
            raise Wrong(f"it got frame {frame}, cleared at operation {place}, before any process wrote to it")

    def fork(self, one: Operation, step: Step) -> None:
        """The child has all that its parent has. (The time at which its tables are made is not judged.)"""
        self.pages[one.first] = dict(self.pages[one.process])
        self.mapped[one.first] = set(self.mapped[one.process])
        self.areas[one.first] = set()
        for copy in filter(None, self.pages[one.first].values()):
            copy.users.add(one.first)

    def end(self, one: Operation, step: Step) -> None:
        """A process has ended."""
        for page in list(self.pages[one.first]):
            self.leave(one.first, page)
        del self.pages[one.first]

    def drop(self, one: Operation, step: Step) -> None:
        """Pages are mapped anew, or unmapped. A table is freed when nothing is mapped in its range any more."""
        pages, mapped = range(one.first, one.second + 1), self.mapped[one.process]
        for page in pages:
            self.leave(one.process, page)
        if one.verb == "m":
            mapped.update(pages)
            return
        mapped.difference_update(pages)
        self.areas[one.process] &= {page // PAGES_PER_TABLE for page in mapped}


def torn_fork(evidence: Evidence) -> str:
    """A page in which a child found what its parent wrote after the fork, in a sentence; "" if there is none. For runs
    that went wrong before their script could report it.

    A fork clears tables for the child, and these are the last frames cleared before the child first runs. Whatever its
    parent stores to later must not be the frame in which the child finds the page.
    """
    columns = (evidence.events[name].tolist() for name in ("kind", "space", "a", "b"))
    stored: dict[int, dict[int, tuple[int, int]]] = {}  # by frame and page: (space, event index)
    forked: dict[int, int] = {}  # by space: event index of the last clear before it first ran
    cleared = 0
    for at, (kind, space, a, b) in enumerate(zip(*columns)):
        if kind == BIRTH:
            forked[space] = cleared
        elif kind in (ZERO, COPY, READ, FILE_READ):
            stored.pop(b, None)
            cleared = at if kind == ZERO else cleared
        elif kind in (REF, STORE):
            writer, when = stored.get(b, {}).get(a, (space, 0))
            if writer != space and when > forked.get(space, at):
                return (
                    f"after a fork, the parent wrote to its page at {a << 12:#x}, and the child has that page in the "
                    f"same frame, {b}: the parent's entry, or what the TLB held of it, still allowed writing"
                )
            if kind == STORE:
                stored.setdefault(b, {})[a] = space, at
    return ""
