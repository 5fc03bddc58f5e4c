"""Checks that the kernel's records follow the schema: its members, in its order, with its types."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from tidemark.telemetry.records import MEMBERS, Member

BITS = {"u32": (0, 2**32), "padded": (0, 2**32), "u64": (0, 2**64), "int": (-(2**31), 2**31), "s64": (-(2**63), 2**63)}
OPEN = ("sample.guard",)  # after the members of the schema come those that the guard shows


@cache
def listed(path: str) -> dict[str, Member]:
    """The members directly below `path`, in the schema's order."""
    depth = path.count(".") + 1
    return {
        name.rpartition(".")[2]: member
        for name, member in MEMBERS.items()
        if name.startswith(path + ".") and name.count(".") == depth
    }


def is_number(value: object, kind: str = "u64") -> bool:
    """Is it a whole number that fits the type?"""
    low, high = BITS[kind]
    return isinstance(value, int) and not isinstance(value, bool) and low <= value < high


def of_value(path: str, kind: str, value: object) -> Iterator[str]:
    """The errors of one value; none if it follows the schema."""
    if kind == "text":
        right = isinstance(value, str)
    elif kind in BITS:
        right = is_number(value, kind)
    elif kind == "numbers":
        right = isinstance(value, list) and all(map(is_number, value))
    elif kind == "counts":
        right = isinstance(value, dict) and all(map(is_number, value.values()))
    elif kind == "object":
        right = isinstance(value, dict)
        yield from of_object(path, value) if isinstance(value, dict) else ()
    else:
        right = isinstance(value, list)
        for element in value if isinstance(value, list) else ():
            if kind == "rows":
                element = dict(zip(listed(path), element, strict=True))
            yield from of_object(path, element)
    if not right:
        yield f"{path} is not of type {kind}: {value!r}"


def of_object(path: str, found: dict) -> Iterator[str]:
    """The errors in the members of an object."""
    expected = listed(path)
    names = [name for name, member in expected.items() if member.kind != "OPTIONAL" or name in found]
    shown = list(found)[len(names) :] if path in OPEN else []
    if list(found) != names + shown:
        yield f"{path} has {list(found)}, the schema says {names}"
        return
    for name in names:
        yield from of_value(f"{path}.{name}", expected[name].type, found[name])
    for name in shown:
        yield from of_value(f"{path}.{name}", "u64", found[name])


def problems(record: dict) -> list[str]:
    """The differences between a record and the schema."""
    common = listed("any")
    head = {name: record[name] for name in common if name in record}
    rest = {name: value for name, value in record.items() if name not in common}
    if list(record)[: len(common)] != list(common):
        return [f"it does not begin with {list(common)}: {record}"]
    return [*of_object("any", head), *of_object(record["ev"], rest)]


def paths(record: dict) -> Iterator[str]:
    """The members of the schema that a record contains."""

    def under(path: str, value: object) -> Iterator[str]:
        if path in MEMBERS:
            yield path
        for element in value if isinstance(value, list) else [value]:
            if isinstance(element, list):
                element = dict(zip(listed(path), element))
            for name, inner in element.items() if isinstance(element, dict) else ():
                yield from under(f"{path}.{name}", inner)

    for name, value in record.items():
        yield from under(f"any.{name}" if name in listed("any") else f"{record['ev']}.{name}", value)


def shrunk(before: dict, after: dict, path: str = "sample") -> Iterator[str]:
    """Counters that decrease from one sample to the later one; for processes in both samples only."""
    for name, member in listed(path).items():
        if name not in before or name not in after:
            continue
        if member.kind == "COUNTER" and after[name] < before[name]:
            yield f"{path}.{name} went from {before[name]} to {after[name]}"
        elif member.type == "object":
            yield from shrunk(before[name], after[name], f"{path}.{name}")
        elif member.type == "objects":
            earlier = {element["pid"]: element for element in before[name]}
            for element in after[name]:
                yield from shrunk(earlier.get(element["pid"], element), element, f"{path}.{name}")
