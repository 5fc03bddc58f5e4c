"""gdb's tm- commands, each at a stop of a guest that pages, compared with another source about the same moment: the
kernel's own /proc file, printed right after the stop; its telemetry; QEMU's view of the page tables; its next actions.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import gdbtools  # noqa: F401  (makes tm importable)
import pytest
from debugger import EVERYTHING, NO_TRACEBACK, Session, ask_at, each_marked, line_of, marked, rows, session
from tidemark.machine import qemu
from tm import defines

COMMANDS = ["tm-ps", "tm-vma", "tm-pt", "tm-page", "tm-why", "tm-zones", "tm-buddy", "tm-slab", "tm-lists", "tm-rq"]
COMMANDS += ["tm-break-fault"]
KIB = 4
PAGING = {"MEM": "16M", "CMDLINE": "lowmem=8M sample_ms=20"}
THRASHER = 15  # the pid of a process that pages
OF_PROCESS = (f"{THRASHER}/maps", f"{THRASHER}/status", f"{THRASHER}/vm")
PROC = ("zoneinfo", "buddyinfo", "slabinfo", "sched", *OF_PROCESS, "vm/policy")


# --- a run that pages, stopped where the kernel is about to print a /proc file ---


SHOWN = {  # the kernel functions that print the files of PROC, and the commands given there
    "zoneinfo_show": "tm-zones",
    "buddyinfo_show": "tm-buddy",
    "slab_show": "tm-slab",
    "proc_maps_show": f"tm-vma {THRASHER}",
    "status_show": f"tm-vma {THRASHER}",
    "pid_vm_show": "tm-ps",
    "policy_show": "tm-lists 0",
}


@pytest.fixture(scope="module")
def paging() -> Session:
    """Four processes compute, so that a sample finds several ready. Then six thrash, and a shell prints /proc files
    meanwhile. gdb gives its commands where each file is printed (the last time, if the kernel's first buffer was too
    small), so that the file shows the same moment; and at a sample of the telemetry."""
    steps = ["tbreak sched_for_each_queued if fair_rq.nr_running > 3", "continue", *marked("sample", "tm-rq")]
    # In /proc/sched, with interrupts off; only once, because a step there moves QEMU's clock far ahead.
    steps += ask_at("show_entity", "tm-rq", stop="tbreak")
    for function, command in SHOWN.items():
        steps += ask_at(function, command)
    files = " ".join(f"/proc/{name}" for name in PROC)
    command = f"spin 100 0 0 0 0; thrash 6 3072 9999 1000& sleep .4; cat {files}"
    return session(command, "thrash", *steps, "continue", VM="2q", **PAGING)


def numbers_of(pattern: str, text: str) -> list[int]:
    """The groups of every match, as numbers."""
    return [int(number) for number in re.findall(pattern, text)]


def test_zones_are_those_of_zoneinfo(paging: Session) -> None:
    said = rows(paging.answers("zoneinfo_show")[-1])[1:]
    truth = [
        numbers_of(rf"^ +{word}:? +(\d+)$", paging.console.replace("pages free", "free"))
        for word in ("start_pfn", "managed", "free", "min", "low", "high", "policy")
    ]
    columns = (1, 3, 4, 5, 6, 7, 8)
    for column, expected in zip(columns, map(list, truth)):
        assert [int(row[column]) for row in said] == expected or not expected, (column, said)
    assert [row[0] for row in said] == ["DMA", "Normal", "HighMem"]
    free = numbers_of(r"pages free +(\d+)", paging.console)
    assert [int(row[4]) for row in said] == free and min(free[0], free[2]) > 0


def test_buddy_lists_are_those_of_buddyinfo(paging: Session) -> None:
    counts: dict[str, list[int]] = {}
    sums: dict[str, int] = {}
    for line in re.findall(r"^Node 0, zone +(\w+ .*)$", paging.console, re.MULTILINE):
        name, *blocks = line.split()
        if len(blocks) == defines.MAX_ORDER:
            counts[name] = [int(n) for n in blocks]
            sums[name] = sum(n << order for order, n in enumerate(counts[name]))
    for row in rows(paging.answers("buddyinfo_show")[-1])[1:]:
        if row[1] == "all":
            assert int(row[2]) == sums[row[0]]
            continue
        assert int(row[2]) == counts[row[0]][int(row[1])]
        counts[row[0]][int(row[1])] = 0
    assert not any(map(any, counts.values())) and sums["DMA"] > 0


def test_slab_caches_are_those_of_slabinfo(paging: Session) -> None:
    truth = {
        name: (int(used), int(total), int(size), int(per_slab), int(slabs))
        for name, used, total, size, per_slab, slabs in re.findall(
            r"^(\S+) +(\d+) +(\d+) +(\d+) +(\d+) +\d+ : tunables.* (\d+) +\d+$", paging.console, re.MULTILINE
        )
    }
    said = {row[0]: [int(n) for n in row[1:]] for row in rows(paging.answers("slab_show")[-1])[1:]}
    assert len(truth) > 15 and said.keys() == truth.keys()
    for name, (size, per_slab, used, total, partial, full, empty, _) in said.items():
        assert (used, total, size, per_slab, partial + full + empty) == truth[name], name


def test_run_queue_is_that_of_proc_sched(paging: Session) -> None:
    answer = paging.answers("show_entity")[-1]
    queue = re.findall(
        r"^([> ]) +(\d+) (\S+) +-?\d+ +(\d+) +(\d+) ",
        paging.console.split("nr_running ")[1].split("r--p")[0],
        re.MULTILINE,
    )
    waiting = [(pid, weight) for mark, pid, _, weight, _ in queue if mark == " "]
    drawn = [
        (pid, weight)
        for pid, weight in re.findall(r"^[^a-z(]*?(\d+) \(\S+\) +(?:red|black).*weight (\d+)$", answer, re.M)
    ]
    assert drawn == waiting
    assert f"on the processor: {next(pid for mark, pid, *_ in queue if mark == '>')} (cat)" in answer


def test_run_queue_is_that_of_the_telemetry(paging: Session) -> None:
    """The tree of a sample, with parents, colours and vruntime."""
    answer = paging.answer("sample")
    said = re.findall(r"^([ |]*[/\\]?-*) *(\d+) \(\S+\) +(red|black) +vruntime ([\d,.]+) ms", answer, re.MULTILINE)
    assert len(said) > 2, answer
    samples = [json.loads(line) for line in paging.telemetry.splitlines() if '"ev":"sample"' in line]
    trees = [sample["rq"] for sample in samples]
    flat = [(int(pid), colour == "black", ms.replace(",", "")) for _, pid, colour, ms in said]
    matching = [t for t in trees if [(pid, bool(black), f"{v / 1e6:.3f}") for pid, v, black, _ in t] == flat]
    assert matching, (flat, trees[:40])
    parents = {pid: parent for pid, _, _, parent in matching[0]}
    for branch, pid, _, _ in said:
        depth, at = 0, int(pid)
        while parents[at]:
            depth, at = depth + 1, parents[at]
        assert len(branch.rstrip("- ")) == max(4 * depth - 3, 0), answer


def test_regions_are_those_of_maps(paging: Session) -> None:
    truth = re.findall(r"^([0-9a-f]{8}-[0-9a-f]{8}) (\S{4}) \S+ \S+ \d+ *(\S*)$", paging.console, re.MULTILINE)
    said = rows(paging.answers("proc_maps_show")[-1])[2:]
    assert truth and [(row[0], row[1]) for row in said] == [(where, rights) for where, rights, _ in truth]
    names = [" ".join(row[7:]).removesuffix("grows down").strip() for row in said]
    assert names == [name for *_, name in truth]


def test_pages_of_the_regions_add_up_to_status(paging: Session) -> None:
    said = rows(paging.answers("status_show")[-1])[2:]
    resident, swapped = (sum(int(row[column]) for row in said) * KIB for column in (3, 6))
    assert resident == numbers_of(r"VmRSS:\s+(\d+) kB", paging.console)[0]
    assert swapped == numbers_of(r"VmSwap:\s+(\d+) kB", paging.console)[0] > 0
    assert sum(int(row[2]) for row in said) * KIB == numbers_of(r"VmSize:\s+(\d+) kB", paging.console)[0]


def test_processes_are_those_of_proc(paging: Session) -> None:
    answer = paging.answers("pid_vm_show")[-1]
    (row,) = [row for row in rows(answer) if row[0] == str(THRASHER)]
    truth = dict(re.findall(r"^(rss|swap|minflt|majflt) (\d+)$", paging.console, re.MULTILINE))
    assert row[6:10] == [str(int(truth["rss"]) * KIB), str(int(truth["swap"]) * KIB), truth["minflt"], truth["majflt"]]
    assert [row[-1] for row in rows(answer) if row[0] == ">"] == ["cat"]
    assert {"kswapd", "kvmd", "init", "thrash", "cat"} <= {row[-1] for row in rows(answer)[1:]}


def test_lists_of_2q_are_as_long_as_its_show_says(paging: Session) -> None:
    answer = paging.answers("policy_show")[-1]
    lengths = dict(re.findall(r"^zone(\d)_active: (\d+)", paging.console, re.MULTILINE))
    inactive = dict(re.findall(r"^zone(\d)_inactive: (\d+)", paging.console, re.MULTILINE))
    assert "policy 2q, kernel/mm/policy/2q.c" in answer and int(inactive["0"]) > 0
    for zone in "012":
        for index, truth in (("0", inactive[zone]), ("1", lengths[zone])):
            name = f"zone[{zone}].kind[0].list[{index}]"
            assert (
                f"{name}: {truth}\n" in answer
                if truth != "0"
                else re.search(rf"^empty: .*{re.escape(name)}", answer, re.M)
            )


# --- single moments: nothing set up yet, user mode, a fault, the policy's choice, inconsistent lists ---

ARRAY = 0xB6C00000  # of a process of thrash that has 4 MiB: mmap's highest hole

# Looks up with tm-pt every page that QEMU's own walk finds in the user half.
COMPARE_TLB = """python
import re
for line in gdb.execute("monitor info tlb", to_string=True).splitlines():
    va, pa, flags = re.match(r"(\\w+): (\\w+) (\\S+)", line).groups()
    if int(va, 16) < 0xc0000000:
        print("tlb", va[8:], pa[8:], flags)
        print(gdb.execute(f"tm-pt current_task->pid 0x{va}", to_string=True).splitlines()[2])
end"""

BROKEN = (  # what to break, how to break it, what to ask
    ("tasks", "init_process->all.next", "task_list.next", "tm-ps"),
    ("regions", "current_task->mm->vma_list.next->next", "(struct list_head *) 0", "tm-vma 7"),
    ("free blocks", "zones[0].free_area[0].list.next", "(struct list_head *) 0x10", "tm-buddy"),
    ("queue", "'fifo.c'::queue.next->next->next", "'fifo.c'::queue.next", "tm-lists"),
    ("slabs", "slab_caches.next->next", "(struct list_head *) 0xfffff000", "tm-slab"),
)


def break_and_mend(what: str, place: str, value: str, command: str) -> list[str]:
    """Steps: overwrites a link, gives the command, and restores the link."""
    asked = marked(what, command)
    return [f"set $place = &({place})", "set $was = *$place", f"set *$place = {value}", *asked, "set *$place = $was"]


@pytest.fixture(scope="module")
def moments() -> Session:
    """fifo, and three processes of thrash: 5 is their parent, 6 to 8 work."""
    work = line_of("user/workloads/thrash.c", "close(ch->start[1]);")
    queue = ["tbreak fifo_select", "continue", *marked("queue before", "tm-lists 3")]
    queue += marked("link", "tm-page queue.next")
    for _ in range(3):
        queue += [*marked("chosen", "finish", "tm-page $"), "tbreak fifo_select", "continue"]
    steps = [
        *each_marked("firmware", EVERYTHING),
        *("tbreak kernel_main", "continue"),
        *each_marked("boot", EVERYTHING),
        *(f"user-break thrash thrash.c:{work}", "continue", "delete"),
        *each_marked("user", ("tm-ps", "tm-why $sp")),
        *marked("tlb", COMPARE_TLB),
        *marked("set", f"tm-break-fault 7 {ARRAY >> 12:#x}"),
        *("continue", *marked("fault", 'printf "%u %d\\n", addr, current_task->pid'), "delete"),
        *marked("stack", "tm-page regs"),
        *each_marked("error", ERRORS),
        *(line for breakage in BROKEN for line in break_and_mend(*breakage)),
        *queue,
        *(line for c in (*COMMANDS, "tm") for line in marked(f"help {c}", f"help {c}")),
        *("kill", *marked("no machine", "tm-ps")),
        *("file", *marked("no symbols", "tm-ps", "tm-break-fault 1 1")),
    ]
    return session("thrash 3 4096 3", "thrash", *steps, VM="fifo", MEM="12M")


ERRORS = {
    "tm-vma": "usage: tm-vma PID",
    "tm-vma 99": "no process 99; there are 2 3 1 4 5 6 7",
    "tm-vma 2": r"2 \(kswapd\) is a kernel thread: it has no address space",
    "tm-vma nosuch": 'nosuch: No symbol "nosuch" in current context',
    "tm-vma 1 2": "syntax error",
    "tm-pt 7": "usage: tm-pt PID VA",
    "tm-pt 7 0x100000000": "not a 32-bit number",
    "tm-pt 2 0x8048000": "kernel thread",
    "tm-page": r"usage: tm-page PFN\|VA",
    "tm-page 0xb6c01000": r"address 0xb6c01000 is not mapped for 7 \(thrash\)",
    "tm-page 0xfffff000": "not mapped",
    "tm-why": "usage: tm-why VA",
    "tm-why *(int *)0": "Cannot access memory at address 0x0",
    "tm-ps 1": "usage: tm-ps;",
    "tm-lists -1": "COUNT is the number of entries",
    "tm-break-fault 7 0xb6c00000": "0xb6c00000 is not a page of a program; .* is 0xb6c00",
    "tm-break-fault 7": "usage: tm-break-fault PID VPN",
}


@pytest.mark.parametrize("line", ERRORS)
def test_mistake_is_answered_in_one_line(moments: Session, line: str) -> None:
    (said,) = moments.answer(f"error: {line}").splitlines()
    assert re.match(rf"{line.split()[0]}: .*{ERRORS[line]}", said), said


@pytest.mark.parametrize("command", EVERYTHING)
def test_machine_that_has_not_started_is_no_mistake_of_anybody(moments: Session, command: str) -> None:
    name = command.split()[0]
    assert moments.answer(f"firmware: {command}").startswith(f"{name}: the kernel has not started: paging is still off")
    said = moments.answer(f"boot: {command}")
    if name in ("tm-ps", "tm-rq"):
        assert ("no task has been made yet" if name == "tm-ps" else "the tree is empty") in said
    else:
        assert re.fullmatch(
            rf"{name}: .*(not set up yet|not made any task yet|switched on yet|no address space).*\n", said
        )


def test_no_machine_and_no_symbols(moments: Session) -> None:
    assert moments.answer("no machine").startswith("tm-ps: no machine is attached: run `make qemu-gdb`")
    missing = "the kernel's symbols are not loaded: `file build/tidemark.elf`"
    assert moments.answer("no symbols").splitlines() == [f"tm-ps: {missing}", f"tm-break-fault: {missing}"]


def test_every_command_has_help_with_an_example(moments: Session) -> None:
    for command in COMMANDS:
        said = moments.answer(f"help {command}")
        assert f"\n{command}" in said, said
        assert re.search(rf"^{command} .*{re.escape(said.splitlines()[0])}$", moments.answer("help tm"), re.MULTILINE)


def test_nothing_ends_in_a_traceback(moments: Session, paging: Session) -> None:
    for output in (moments.output, paging.output):
        assert not NO_TRACEBACK.search(output), NO_TRACEBACK.search(output)


def test_user_mode_is_as_good_a_stop_as_any(moments: Session) -> None:
    (running,) = [row for row in rows(moments.answer("user: tm-ps")) if row[0] == ">"]
    assert (running[4], running[-1]) == ("user", "thrash")
    assert re.search(r"^reading  no fault: frame 0x\w+ is mapped$", moments.answer("user: tm-why $sp"), re.MULTILINE)


def test_page_tables_are_those_that_qemu_walks(moments: Session) -> None:
    lines = moments.answer("tlb").splitlines()
    assert len(lines) > 10
    for tlb, said in zip(lines[::2], lines[1::2]):
        _, _, physical, flags = tlb.split()
        bits = re.search(r": frame 0x\w+, ([A-Z ]+)", said)[1].split()
        assert f"present: frame {int(physical, 16) >> 12:#x}," in said, (tlb, said)
        expected = [name for name, letter in (("RW", "W"), ("US", "U"), ("A", "A"), ("D", "D")) if letter in flags]
        assert bits == ["P", *expected], (tlb, said)


def test_breakpoint_at_one_page_of_one_process(moments: Session) -> None:
    assert re.search(r"stops when pid 7 \(thrash\) faults on page 0xb6c00", moments.answer("set"))
    assert moments.answer("fault") == f"{ARRAY} 7\n"


def test_frame_of_a_kernel_stack(moments: Session) -> None:
    assert "the kernel stack of pid 7 (thrash)" in moments.answer("stack")


TORN = {
    "tasks": r"the list of tasks is torn: 0x\w+ links to 0x\w+ again: a cycle after 3 entries",
    "regions": r"the list of regions is torn: 0x\w+ links to 0",
    "free blocks": "torn: 0x\\w+ links to 0x10, where no memory is",
    "queue": r"torn: 0x\w+ links to 0x\w+ again: a cycle after [23] entries",
    "slabs": "the list of caches is torn: 0x\\w+ links to 0xfffff000, where no memory is",
}


@pytest.mark.parametrize("what", TORN)
def test_list_that_does_not_hang_together_is_told(moments: Session, what: str) -> None:
    assert re.search(TORN[what], moments.answer(what)), moments.answer(what)


def test_fifo_chooses_in_the_order_of_tm_lists(moments: Session) -> None:
    """The next pages that fifo_select returns are the first, second and third of the queue that was shown."""
    shown = re.findall(r"^ +\d+  frame (0x\w+)", moments.answer("queue before"), re.MULTILINE)
    assert moments.answer("link").startswith(f"frame {int(shown[0], 16):#x}, ")
    chosen = [re.search(r"^frame (0x\w+),", text, re.MULTILINE)[1] for text in moments.answers("chosen")]
    assert [int(frame, 16) for frame in chosen] == [int(frame, 16) for frame in shown[:3]]


def test_pages_of_files_are_named(tmp_path: Path) -> None:
    """Text of a program on a disk, and the disk's own pages, with the names of the mount and of /dev; and lists of both
    kinds, whose 2q fields are bit fields."""
    shutil.copy(qemu.ROOT / "build/user/wc", tmp_path / "wc")
    fault = "tbreak file_fault if vma->inode->sb->bdev && vma->mm == current_task->mm"
    steps = ["tbreak cache_evict", "continue", *marked("page", "tm-page page"), *marked("lists", "tm-lists 2")]
    ran = session(
        "seqscan 16384 1; /mnt/wc /mnt/wc",
        "",
        *steps,
        *[fault, "continue", *marked("why", "tm-why addr")],
        VM="2q",
        MEM="12M",
        DISK=str(tmp_path),
    )
    assert "of the file /dev/sda" in ran.answer("page")
    lists = ran.answer("lists")
    assert "of the file /dev/sda" in lists and not re.search(r" list=\d", lists), lists
    assert re.search(r"(major|minor) fault: page \d+ of /mnt/wc is ", ran.answer("why"))
