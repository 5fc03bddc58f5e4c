"""Definitions carried out step by step, slowly, as the other side of a theorem about a fast computation.

Each takes a string of page numbers and a size in pages (or a window in references), and returns numbers as
tidemark.papers.on_strings names them.
"""

from __future__ import annotations

from collections.abc import Iterator

String = tuple[int, ...]


def every(length: int, pages: int) -> Iterator[String]:
    """Every string of `length` references to at most `pages` pages, up to the names of the pages: a page that is new
    has the next number."""
    grown: list[String] = [()]
    for _ in range(length):
        grown = [(*one, page) for one in grown for page in range(min(len(set(one)) + 1, pages))]
    return iter(grown)


def lru(string: list[int], frames: int) -> dict[str, float]:
    """LRU in one memory: a list in order of last use, which loses its oldest page."""
    memory: list[int] = []
    faults = 0
    for page in string:
        if page in memory:
            memory.remove(page)
        else:
            faults += 1
            if len(memory) == frames:
                del memory[0]
        memory.append(page)
    return {"faults": faults}


def working_set(string: list[int], window: int) -> dict[str, float]:
    """Denning's definition (1968): the working set at a time is the pages of the last `window` references."""
    faults = space = 0
    for at, page in enumerate(string):
        faults += page not in string[max(at - window, 0) : at]
        space += len(set(string[max(at + 1 - window, 0) : at + 1]))
    return {"faults": faults, "space": space, "last": len(set(string[-window:]))}


def search(string: list[int], frames: int) -> dict[str, float]:
    """The least faults of any demand paging: each eviction is tried. `least` has the contents of memory that can be
    reached, each with the fewest faults on the way."""
    least: dict[frozenset[int], int] = {frozenset(): 0}
    for page in string:
        after: dict[frozenset[int], int] = {}
        for memory, faults in least.items():
            if page in memory:
                choices = [memory]
            elif len(memory) < frames:
                choices = [memory | {page}]
            else:
                choices = [memory - {victim} | {page} for victim in memory]
            for one in choices:
                after[one] = min(after.get(one, len(string)), faults + (page not in memory))
        least = after
    return {"faults": min(least.values())}


def most_probable(string: list[int], frames: int) -> dict[str, float]:
    """A0 (Aho, Denning and Ullman, 1971) if page numbers are in order of falling probability: the frames - 1 most
    probable pages stay once they are in memory, and the last frame has the other page that was used last."""
    memory: set[int] = set()
    faults, other = 0, -1
    for page in string:
        if page < frames - 1:
            faults += page not in memory
            memory.add(page)
        else:
            faults += page != other
            other = page
    return {"faults": faults}
