#!/usr/bin/env python3
"""Generates from the list of the telemetry's members, kernel/observe/schema.h, and the list of the counters: the tables
between `<!-- schema:NAME -->` and `<!-- end -->` in the documents, and the types tools/tidemark/telemetry/records.py.

       tools/schema.py           writes them
        tools/schema.py --check   only lists those that are out of date; exit status 1 if there are any
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCHEMA, COUNTERS = "kernel/observe/schema.h", "kernel/include/observe/counters.h"
RECORDS = "tools/tidemark/telemetry/records.py"

PLAIN = {"text": "str", "int": "int", "u32": "int", "u64": "int", "s64": "int", "padded": "int"}
PARTS = {"object": "{}", "objects": "list[{}]"}
OTHERS = {"numbers": "list[int]", "rows": "list[list[int]]", "counts": "dict[str, int]"}
KINDS = ("FACT", "LEVEL", "COUNTER", "PART", "OPTIONAL")

TABLE = re.compile(r"^(?:/\* ([^*]*?) \*/\n)?#define (RECORD|PART)_(\w+)\(M\)((?:.*\\\n)+.*\n)", re.MULTILINE)
TEXT = r'((?:"[^"]*"\s*)+)'
MEMBER = re.compile(rf'M\((\w+),\s*(\w+),\s*(\w+),\s*"([^"]*)",\s*(.*?),\s*{TEXT}\)\s*(?=M\(|$)', re.DOTALL)
NUMBER = re.compile(r"^#define TELEMETRY_SCHEMA (\d+)$", re.MULTILINE)
COUNTER = re.compile(rf"^\s*X\((\w+),\s*{TEXT}\)", re.MULTILINE)

HEAD = '''"""The telemetry's records and their members, as JSON gives them. docs/reference/telemetry.md explains them.

Written by tools/schema.py from kernel/observe/schema.h: change that file, and run tools/schema.py.
"""

# fmt: off
# ruff: noqa: E501

from __future__ import annotations

from typing import Literal, NamedTuple, TypedDict

SCHEMA = {}


class Member(NamedTuple):
    """What the schema says of a member. `kind` is FACT, LEVEL, COUNTER, PART or OPTIONAL."""

    type: str
    kind: str
    unit: str
    meaning: str
'''


class SchemaError(Exception):
    """A line of the list cannot be read; the text names it."""


@dataclass(frozen=True)
class Member:
    """One line of the list."""

    type: str
    name: str
    kind: str
    unit: str
    meaning: str


@dataclass(frozen=True)
class Table:
    """The members of a record, or of a part of one."""

    name: str
    is_record: bool
    about: str
    members: list[Member]


def joined(text: str) -> str:
    """Concatenates adjacent string literals, as the C compiler does."""
    return "".join(re.findall(r'"([^"]*)"', text))


def checked(table: str, member: Member) -> Member:
    """Returns `member`; raises SchemaError if its type or its kind is not one of those that the list explains."""
    for what, allowed in ((member.type, (*PLAIN, *PARTS, *OTHERS)), (member.kind, KINDS)):
        if what not in allowed:
            raise SchemaError(f"{SCHEMA}: {table}, {member.name}: {what} is none of {', '.join(allowed)}")
    return member


def members(table: str, body: str) -> list[Member]:
    """The lines of one list. Raises SchemaError if a line has another form."""
    text = body.replace("\\\n", "\n").strip()
    found, at = [], 0
    for match in MEMBER.finditer(text):
        if match.start() != at:
            break
        kind, name, way, unit, _, meaning = match.groups()
        found.append(checked(table, Member(kind, name, way, unit, joined(meaning))))
        at = match.end()
    if at != len(text):
        raise SchemaError(f"{SCHEMA}: {table}: cannot read {text[at : at + 80]!r}")
    return found


def read(root: Path = ROOT) -> dict[str, Table]:
    """All tables by name, in the order of the list; the counters are the part `vm`."""
    tables = {}
    for about, kind, name, body in TABLE.findall((root / SCHEMA).read_text("utf-8")):
        about = " ".join(about.replace("\n *", " ").split())
        tables[name.lower()] = Table(name.lower(), kind == "RECORD", about, members(name, body))
    counters = COUNTER.findall((root / COUNTERS).read_text("utf-8"))
    counted = [Member("u64", name, "COUNTER", "", joined(meaning)) for name, meaning in counters]
    return tables | {"vm": Table("vm", False, "Event counters.", counted)}


def markdown(table: Table) -> str:
    """The table of a record, a part or the counters, for a document."""
    rows: list[tuple[str, ...]]
    if table.name == "vm":
        rows = [("name", "counts"), *((f"`{member.name}`", member.meaning) for member in table.members)]
    else:
        rows = [("member", "type", "unit", "is", "meaning")]
        for member in table.members:
            kind = "" if member.kind in ("FACT", "PART") else member.kind.lower()
            rows.append((f"`{member.name}`", member.type, member.unit, kind, member.meaning))
    lines = [rows[0], ("---",) * len(rows[0]), *rows[1:]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def with_tables(text: str, tables: dict[str, Table]) -> str:
    """A document with its tables filled in. Raises SchemaError for the place of a table that does not exist."""

    def filled(found: re.Match[str]) -> str:
        if found[1] not in tables:
            raise SchemaError(f"a document has a place for schema:{found[1]}, which {SCHEMA} does not have")
        return f"<!-- schema:{found[1]} -->\n\n{markdown(tables[found[1]])}\n\n<!-- end -->"

    return re.sub(r"<!-- schema:(\w+) -->\n.*?<!-- end -->", filled, text, flags=re.DOTALL)


def title(name: str) -> str:
    """The class name of a table."""
    return "Record" if name == "any" else name.capitalize()


def annotation(member: Member) -> str:
    """The Python type of a member."""
    if member.type in PARTS:
        return PARTS[member.type].format(title(member.name))
    return PLAIN.get(member.type) or OTHERS[member.type]


def python_class(table: Table) -> Iterator[str]:
    """The lines of a TypedDict; optional members are in a class of their own. `ev` distinguishes the records."""
    always = [f"    {m.name}: {annotation(m)}" for m in table.members if m.kind != "OPTIONAL" and m.name != "ev"]
    sometimes = [f"    {m.name}: {annotation(m)}" for m in table.members if m.kind == "OPTIONAL"]
    about = [f'    """{table.about}"""', ""] if table.about else []
    name, base = title(table.name), "TypedDict"
    if table.is_record and table.name != "any":
        always.insert(0, f'    ev: Literal["{table.name}"]')
        base = "Record"
    yield from ["", "", f"class {'_' if sometimes else ''}{name}({base}):", *about, *always]
    if sometimes:
        yield from ["", "", f"class {name}(_{name}, total=False):", *about, *sometimes]


def described(tables: dict[str, Table], table: Table, path: str) -> Iterator[str]:
    """An entry of MEMBERS for each member of a table and of its parts."""
    for member in table.members:
        name = f"{path}.{member.name}"
        values = ", ".join(f'"{value}"' for value in (member.type, member.kind, member.unit, member.meaning))
        yield f'    "{name}": Member({values}),'
        if member.name in tables and member.type in (*PARTS, "rows"):
            yield from described(tables, tables[member.name], name)


def python(tables: dict[str, Table], number: str) -> str:
    """The text of tools/tidemark/telemetry/records.py; `number` is the number of the schema."""
    lines = [HEAD.format(number).rstrip("\n")]
    for table in sorted(tables.values(), key=lambda table: (table.is_record, table.is_record and table.name != "any")):
        lines += python_class(table) if table.name != "rq" else []
    lines += ["", "", "# By path: `sample.vm.pgfault`, `sample.procs.rss`.", "MEMBERS: dict[str, Member] = {"]
    for table in tables.values():
        lines += described(tables, table, table.name) if table.is_record else []
    return "\n".join([*lines, "}", ""])


def outputs(root: Path = ROOT) -> dict[Path, str]:
    """The files generated from the list, with their expected content."""
    tables = read(root)
    number = NUMBER.search((root / SCHEMA).read_text("utf-8"))
    if number is None:
        raise SchemaError(f"{SCHEMA} has no TELEMETRY_SCHEMA")
    new = {root / RECORDS: python(tables, number[1])}
    for path in sorted((root / "docs").rglob("*.md")):
        text = path.read_text("utf-8")
        if "<!-- schema:" in text:
            new[path] = with_tables(text, tables)
    return new


def main() -> int:
    stale = [path for path, text in outputs().items() if not path.exists() or path.read_text("utf-8") != text]
    for path in stale:
        name = path.relative_to(ROOT)
        if "--check" in sys.argv[1:]:
            print(f"{name} is not what {SCHEMA} says: run tools/schema.py", file=sys.stderr)
        else:
            path.write_text(outputs()[path], "utf-8")
            print(f"wrote {name}")
    return 1 if stale and "--check" in sys.argv[1:] else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SchemaError as error:
        sys.exit(str(error))
