"""gdb's tm- commands compared with what happens next: faults as predicted by tm-why; stops in the middle of changes;
the lists of policies that the commands do not know."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import gdbtools  # noqa: F401  (makes tm importable)
import pytest
from bad_kernels import bad_kernel  # noqa: F401  (a fixture)
from debugger import EVERYTHING, NO_TRACEBACK, Session, ask_at, each_marked, line_of, marked, rows, session
from tidemark.machine import qemu
from tm import why

# --- tm-why, compared with what then happens ---

# At faults of a process: tm-why's prediction and, after the fault, the kernel's counters and tm-why's answer.
FOLLOW_FAULTS = """python
def counted():
    return [int(gdb.parse_and_eval("current_task->nr_" + name)) for name in ("minflt", "majflt")]

def says(address, write):
    lines = gdb.execute("tm-why %d" % address, to_string=True).splitlines()
    return next((l for l in lines if l.startswith(("reading", "writing")[write])), lines[-1])

def follow(nr, condition):
    stop = gdb.Breakpoint("do_page_fault")
    stop.condition = condition
    for _ in range(nr):
        gdb.execute("continue", to_string=True)
        address, write = int(gdb.parse_and_eval("addr")), int(gdb.parse_and_eval("fault & FAULT_WRITE")) != 0
        pid, before, said = int(gdb.parse_and_eval("current_task->pid")), counted(), says(address, write)
        stop.enabled = False
        gdb.execute("finish", to_string=True)
        assert int(gdb.parse_and_eval("current_task->pid")) == pid
        change = [b - a for a, b in zip(before, counted())]
        print("FAULT", change, said, "AFTER", says(address, write))
        stop.enabled = True
    stop.delete()
end"""


@pytest.fixture(scope="module")
def followed() -> list[tuple[list[int], str, str]]:
    """(change of the minor and major faults, tm-why's answer before, and after) of 100 faults: 30 from the start of
    thrash, 30 while it pages with a cap of 60 frames, 30 while it pages in 8 MiB, and 10 of a reference string, which
    only writes. One process pages in each: with more processes, one may invalidate another's prediction before that has
    its frame."""

    def paging(nr: int, pid: int) -> list[str]:
        follow = marked("faults", FOLLOW_FAULTS, f"python follow({nr}, 'current_task->pid == {pid}')")
        return ["tbreak swap_in_slot", "continue", *follow]

    start = marked("faults", FOLLOW_FAULTS, "python follow(30, 'current_task->pid >= 4')")
    capped = session("thrash 1 512 3", "thrash", *start, *paging(30, 5), VM="clock", FRAMES="60")
    small = session("thrash 1 8192 3", "thrash", *paging(30, 5), VM="clock", MEM="8M", SWAP="sim:ssd")
    string = session("refstring --repeat 4 1-8", "refstring", *paging(10, 4), VM="fifo", FRAMES="4")
    answers = "".join(answer for made in (capped, small, string) for answer in made.answers("faults"))
    found = re.findall(r"FAULT \[(\d), (\d)\] (\w+  .*) AFTER (.*)$", answers, re.MULTILINE)
    assert len(found) == 100, string.output[-1000:]
    assert any(said.startswith("writing  major") for _, _, said, _ in found)
    return [([int(minor), int(major)], said[9:], after[9:]) for minor, major, said, after in found]


def test_why_tells_minor_from_major_faults(followed: list[tuple[list[int], str, str]]) -> None:
    kinds = {"minor fault": [1, 0], "major fault": [0, 1]}
    for change, said, _ in followed:
        assert kinds[said[:11]] == change, said
    assert len([said for _, said, _ in followed if said.startswith("major")]) > 20


def test_fault_that_was_served_is_none_any_more(followed: list[tuple[list[int], str, str]]) -> None:
    """Except for a copy on write that had to wait for a frame: the evicted page may have been the same one."""
    for _, said, after in followed:
        expected = ["minor fault: copy on write" if why.AGAIN in said else "no fault"]
        expected += ["major fault"] if "copy on write" in said and "a page must be evicted first" in said else []
        assert after.startswith(tuple(expected)), (said, after)


def test_every_kind_of_fault_was_there(followed: list[tuple[list[int], str, str]]) -> None:
    said = "\n".join(text for _, text, _ in followed)
    kinds = (
        "a new frame of zeros",
        "copy on write into a new frame",
        "no other entry or slot refers to frame",
        "of /bin/thrash",
    )
    kinds += ("the cap frames= is reached", "slot \\d+ is read", "in the swap cache holds slot")
    for kind in kinds:
        assert re.search(kind, said), (kind, said)


def test_why_knows_what_ends_in_sigsegv() -> None:
    """badstack makes four mistakes; the kernel sends a signal exactly for those that tm-why calls SIGSEGV."""
    ask = [*ask_at("force_signal", "tm-why addr", "tm-why $sp"), "continue"]
    made = session("badstack null text kernel recurse", "badstack", *ask)
    answers = made.answers("force_signal")
    assert len(answers) == 8 and not NO_TRACEBACK.search(made.output)
    reasons = ("a stack that may not grow so far", "there is no region below", "r-xp, which forbids writing")
    for said, reason in zip(answers[::2], (*reasons, "programs may not access 0xc0000000")):
        assert "SIGSEGV" in said and reason in said, said


# --- anywhere: in the middle of changes of lists and trees ---


@pytest.fixture(scope="module")
def anywhere() -> Session:
    """Stops between the stores that link a list or rotate a tree, and gives every command there."""
    lists = [line_of("kernel/include/lib/list.h", text) for text in ("prev->next = entry;", "prev->next = next;")]
    trees = [line_of("kernel/lib/rbtree.c", text) for text in ("set_parent(middle, n);", "up->rb_child[side] = n;")]
    steps = ["tbreak twoq_select", "continue"]
    for nr, place in enumerate((f"list.h:{lists[0]}", f"list.h:{lists[1]}", *(f"rbtree.c:{n}" for n in trees)) * 2):
        steps += [f"tbreak {place}", "continue", *each_marked(f"at {nr}", EVERYTHING), "delete"]
    return session("thrash 8 4096 9 50", "thrash", *steps, VM="2q", MEM="12M")


def test_every_command_answers_anywhere(anywhere: Session) -> None:
    assert not NO_TRACEBACK.search(anywhere.output), NO_TRACEBACK.search(anywhere.output)
    for nr in range(8):
        for command in EVERYTHING:
            said = anywhere.answer(f"at {nr}: {command}")
            assert said and "no machine is attached" not in said, (nr, command, anywhere.output[-2000:])


def test_list_in_the_middle_of_a_change_is_walked_all_the_same(anywhere: Session) -> None:
    """At one of these stops at least, some list is half linked, and its readable part is still shown."""
    told = [line for line in anywhere.output.splitlines() if "it is being changed" in line]
    assert told, "no stop was in the middle of a list that a command shows"


# --- policies: per process, and one that the commands have never seen ---


def list_lengths(answer: str) -> dict[str, int]:
    """The lists of tm-lists by name, with their numbers of entries."""
    return {name: int(n) for name, n in re.findall(r"^(?!policy)(\S.*): (\d+)(?:  \(.*\))?$", answer, re.MULTILINE)}


def test_lists_of_the_working_set_policy_belong_to_processes() -> None:
    """In total they contain as many pages as the zones say that the policy owns."""
    steps = [
        "tbreak ws_surplus if vm_events[3] > 40",
        "continue",
        *marked("lists", "tm-lists 1"),
        *marked("z", "tm-zones"),
    ]
    made = session("thrash 4 3072 30 3000", "thrash", *steps, VM="ws", MEM="12M")
    answer = made.answer("lists")
    owned = sum(int(row[8]) for row in rows(made.answer("z"))[1:])
    assert sum(list_lengths(answer).values()) == owned > 200
    assert len(re.findall(r"^pid \d+ \(thrash\) ws_mm.own.set.pages: \d+  \(size=", answer, re.MULTILINE)) >= 3, answer
    assert re.search(r"page 0xb6\w+  P RW US .*  used=\d+ where=\d+$", answer, re.MULTILINE), answer


@pytest.fixture(scope="module")
def strange_tree(bad_kernel: str) -> Path:  # noqa: F811
    """The tree whose kernel has tests/kernel/policies and a copy of TEMPLATE.c, with the programs."""
    tree = qemu.ROOT / Path(bad_kernel).parents[1]
    image = tree / qemu.INITRD
    partial = image.with_suffix(f".{os.getpid()}")
    shutil.copy2(qemu.ROOT / qemu.INITRD, partial)
    partial.rename(image)
    shutil.copytree(qemu.ROOT / "build/user", tree / "build/user", dirs_exist_ok=True)
    return tree


@pytest.mark.soak
def test_lists_of_a_copy_of_the_template(strange_tree: Path) -> None:
    steps = ["tbreak mine_select", "continue", *marked("lists", "tm-lists 2"), *marked("z", "tm-zones")]
    steps += marked("chosen", "finish", "tm-page $")
    made = session("thrash 3 4096 2", "thrash", *steps, root=strange_tree, VM="mine", MEM="12M")
    answer = made.answer("lists")
    assert answer.startswith("policy mine, kernel/mm/policy/mine.c\n")
    assert list_lengths(answer) == {"pages": sum(int(row[8]) for row in rows(made.answer("z"))[1:])}
    shown = [int(frame, 16) for frame in re.findall(r"^ +\d+  frame (0x\w+)", answer, re.MULTILINE)]
    assert len(shown) == 4
    assert int(re.search(r"^frame (0x\w+),", made.answer("chosen"), re.MULTILINE)[1], 16) == shown[0]


def test_lists_of_a_policy_with_ghosts(strange_tree: Path) -> None:
    """Heads in variables, in a structure, in each process; entries in pages, and in a pool that is not a list
    itself."""
    steps = ["tbreak ghosts_evicted if memory.nr == 20", "continue", *marked("lists", "tm-lists 2")]
    steps += marked("truth", 'printf "%u %u\\n", memory.nr, to.index', "tm-page page", "tm-zones")
    made = session("thrash 3 4096 2", "thrash", *steps, root=strange_tree, VM="ghosts", MEM="12M")
    answer = made.answer("lists")
    lengths = list_lengths(answer)
    assert lengths["memory.gone"] == 20 and lengths["free_ghosts"] == 64 - 20
    assert not any("pool" in name for name in lengths)
    assert re.search(r"^ +0  pool\[19\] slot=\d+$", answer, re.MULTILINE), answer
    mine = {name: n for name, n in lengths.items() if name.startswith("pid ")}
    assert len(mine) >= 5 and all(name.endswith(" policy+4") for name in mine), lengths
    owned = sum(int(row[8]) for row in rows(made.answer("truth")) if row[0] in ("DMA", "Normal", "HighMem"))
    assert sum(mine.values()) + lengths.get("strays", 0) == owned
    assert re.search(r"frame 0x\w+  pid \d+ \(thrash\) page 0x\w+  P RW US.*  visits=1$", answer, re.MULTILINE)
    assert not NO_TRACEBACK.search(made.output)


# --- tm-page ---

# Continues to a write to a page that two or three of four processes still share; shows each one's page-table entry.
SHARED = """python
import re
stop = gdb.Breakpoint("do_page_fault")
stop.condition = "(fault & FAULT_WRITE) && (fault & FAULT_PRESENT)"
shared = False
while not shared:
    gdb.execute("continue", to_string=True)
    address = int(gdb.parse_and_eval("addr")) & -4096
    said = gdb.execute(f"tm-pt current_task->pid {address}", to_string=True)
    frame = re.search(r"present: frame (0x[0-9a-f]+)", said)[1]
    shared = int(gdb.parse_and_eval(f"mem_map[{frame}].mapcount")) in (2, 3) and int(gdb.parse_and_eval("nr_forks")) > 6
print("FRAME", frame, "AT", hex(address))
for pid in range(4, 8):
    try:
        print(gdb.execute(f"tm-pt {pid} {address}", to_string=True))
    except gdb.error as error:
        print(error)
end"""


def test_shared_page_names_all_who_map_it() -> None:
    """At a write to a page shared since fork: the frame's mappings are those in the page tables."""
    page = "python gdb.execute(f'tm-page {frame}')"
    made = session("thrash 3 512 2", "thrash", *marked("tables", SHARED), *marked("page", page))
    said, tables = made.answer("page"), made.answer("tables")
    found = re.search(r"FRAME (0x\w+) AT (0x\w+)", tables)
    assert found, made.output
    frame, address = found.groups()
    mapping = re.findall(r"^pid (\d) .*\n.*\n.*: frame (0x\w+),", tables, re.MULTILINE)
    sharers = {pid for pid, at in mapping if at == frame}
    assert 1 < len(sharers) < len(mapping) == 4 and said.startswith(f"frame {frame}, ")
    mapped = re.findall(r"^mapped by   pid (\d) \(thrash\) at 0x(\w+): present, P", said, re.MULTILINE)
    assert {pid for pid, _ in mapped} == sharers and {int(at, 16) for _, at in mapped} == {int(address, 16)}
    assert f"of them {len(sharers)} from entries that map it" in said
    assert re.search(r"^flags       uptodate( dirty)? anon owned( young)?( sampled)?$", said, re.MULTILINE), said
