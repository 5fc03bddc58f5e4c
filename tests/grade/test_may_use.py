"""What students' files may use: all that the headers of policies and guards offer, as the handouts say."""

from __future__ import annotations

import re

import pytest
from grading import graded, messages, solution
from tidemark.grade.build import object_rules
from tidemark.grade.hand_out import may_use
from tidemark.grade.intake import lab
from tidemark.grade.model import Outcome
from tidemark.machine import qemu
from trials import changed, trial

pytestmark = pytest.mark.graded

FIFO, CLOCK, TOKEN = "kernel/mm/policy/fifo.c", "kernel/mm/policy/clock.c", "kernel/mm/guard/token.c"
BELADY, BY_HAND = "fifo: Belady's string with 3 frames", "clock: second chances, by hand"
FUNCTION = re.compile(r"^(?!static|typedef|#)[a-z][\w *]*?\b(\w+)\(", re.MULTILINE)
OFFERS = {"[policy]": ("policy.h", "ghost.h"), "[guard]": ("policy.h", "ghost.h", "guard.h")}
LABS = [name for name in lab.names(qemu.ROOT) if lab.load(qemu.ROOT, name).may_use]


def offered(header: str) -> set[str]:
    """The functions that a header declares and does not define."""
    text = may_use.COMMENT.sub("", (qemu.ROOT / "kernel/include/mm" / header).read_text())
    return set(FUNCTION.findall(re.sub(r"\{[^{}]*\}", ";", text)))


@pytest.mark.parametrize("group", OFFERS)
def test_what_the_headers_offer_may_be_used(group: str) -> None:
    functions = set().union(*map(offered, OFFERS[group]))
    assert {"page_id_of", "ghost_find", "vm_slots"} <= functions
    assert functions - object_rules.GROUPS[group] == set()


@pytest.mark.parametrize("name", LABS)
def test_handout_lists_what_may_be_used(name: str) -> None:
    assignment = lab.load(qemu.ROOT, name)
    made = may_use.text(qemu.ROOT, assignment)
    assert made in (assignment.folder / "handout.md").read_text(), "python -m tidemark.grade.hand_out.may_use writes it"
    by_the_compiler = object_rules.ARITHMETIC | {"memcpy", "memset"}
    assert {*re.findall(r"`(\w+)`", made), *by_the_compiler} >= object_rules.symbols_allowed(assignment)


IN_POLICY = """
	u64 sum = page_id_of(page).index + page_is_file(page) + page_is_mapped(page) + page_is_executable(page);

	sum += page_young(page) + page_dirty(page) + page_vpn(page) + vm_slots() + (vm_future() != NULL) + mix64(vm_now());
	here = page_id_of(page);
	if (mm)
		sum += mm_vtime(mm) + mm_sleeps(mm) + mm_demand(mm) + mm_rss(mm);
	used += sum;
	if (ghost_find(&ghosts, here))
		ghost_drop(&ghosts, ghost_find(&ghosts, here));
	if (here.store && ghost_add(&ghosts, here))
		list_add(&ghost_find(&ghosts, here)->node, &remembered);
"""
WITH_GHOSTS = """
static struct ghosts ghosts;
static struct page_id here;
static LIST_HEAD(remembered);
static u64 used;

static int clock_init(void)
{
	return ghosts_init(&ghosts, 500);
}

static void clock_exit(void)
{
	ghosts_exit(&ghosts);
}
"""


def test_policy_may_call_what_is_offered(tmp_path_factory: pytest.TempPathFactory) -> None:
    """In the kernel, under the plugin, which sees what code accesses without a right to."""
    tried = trial("clock", tmp_path_factory.mktemp("may-use"))
    source = changed(
        solution(CLOCK), '#include "mm/policy.h"\n', f'#include "mm/ghost.h"\n#include "lib/mix64.h"\n{WITH_GHOSTS}'
    )
    source = changed(source, "\t(void)mm, (void)how, (void)from;\n", f"\t(void)how, (void)from;\n{{{IN_POLICY}}}\n")
    source = changed(
        source, '\t.name = "clock",\n', '\t.name = "clock",\n\t.init = clock_init,\n\t.exit = clock_exit,\n'
    )
    (tried.machine.tree / CLOCK).write_text(source)
    verdict = tried.judge(tried.test("clock: processes that come and go"))
    assert object_rules.offences(tried.machine.tree, tried.machine.lab) == {}
    # These calls take time, so other pages are read; the budget is not what is tested here.
    assert verdict.outcome in (Outcome.RIGHT, Outcome.OVER_BUDGET), verdict.message


IN_GUARD = """
static bool token_tick(void)
{
	struct mm_struct *first = vm_queued(false), *mm = vm_next_mm(NULL);
	struct page *page = mm ? vm_next_page(mm, NULL) : NULL;

	nr_spared += vm_free(2) + (first != vm_queued(true)) + vm_idle() / 1000000000;
	if (mm)
		vm_prepage_some(mm, mm_touched(mm) + mm_pid(mm) > 9 ? 1 : 0);
	if (page && vm_next_page(mm, page)) {
		vm_demote(page, VM_UNREFERENCE);
		vm_hint(page, VM_TOUCH_WILLNEED);
		if (page_id_of(page).store)
			vm_prefetch(page_id_of(page));
	}
	vm_make_room(1);
	return false;
}
"""


def test_guard_may_call_what_is_offered(tmp_path_factory: pytest.TempPathFactory) -> None:
    tried = trial("thrashing", tmp_path_factory.mktemp("may-use"))
    source = changed(
        solution(TOKEN), "static const struct vm_guard token", f"{IN_GUARD}\nstatic const struct vm_guard token"
    )
    tried.lay(changed(source, "\t.show = token_show,\n", "\t.show = token_show,\n\t.tick = token_tick,\n"))
    verdict = tried.judge(tried.test("nothing is lost on the way"))
    assert object_rules.offences(tried.machine.tree, tried.machine.lab) == {}
    assert verdict.outcome is Outcome.RIGHT, verdict.message


FORGED = """
	static struct ghost *chunk[1];
	static struct ghosts forged = { .chunks = chunk, .capacity = 1 };

	chunk[0] = (struct ghost *)phys_to_virt(0x300000);
	ghost_find(&forged, (struct page_id){ 1, 0 });
"""
RESULT = "((void (*)(void *, struct page *))page_id_of)((u8 *)page + 8, page);"


@pytest.mark.parametrize("lines", [FORGED, RESULT], ids=["forged ghosts", "forged result"])
def test_what_is_offered_acts_on_no_memory_of_others(lines: str, tmp_path: object) -> None:
    source = changed(solution(FIFO), '#include "mm/policy.h"\n', '#include "mm/ghost.h"\n')
    source = changed(
        source, "\t(void)mm, (void)how, (void)from;\n", f"\t(void)mm, (void)how, (void)from;\n{{{lines}}}\n"
    )
    made = graded(tmp_path, "clock", {FIFO: source}, titles=[BELADY])
    assert made.tests[0].verdict.outcome is Outcome.BROKE_RULE, messages(made)


REFUSED = {
    "another name": ('.name = "clock"', '.name = "Clock"', "registers 'Clock'; the assignment asks for 'clock'"),
    "not static": (
        "static int clock_check(void)\n",
        "int clock_check(void);\nint clock_check(void)\n",
        "which the assignment does not ask for: make it static",
    ),
    "not for policies": (
        "static struct clock_page *clock_data",
        "void vm_hint(struct page *page, enum vm_touch touch);\nstatic void hint(struct page *p)\n"
        "{\n\tvm_hint(p, 0);\n}\n"
        "static void (*volatile hints)(struct page *p) __attribute__((used)) = hint;\n"
        "static struct clock_page *clock_data",
        "uses vm_hint, which is not among",
    ),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_refusal_costs_its_file_and_names_the_line(mistake: str, tmp_path: object) -> None:
    old, new, said = REFUSED[mistake]
    made = graded(tmp_path, "clock", {CLOCK: changed(solution(CLOCK), old, new)}, titles=[BELADY, BY_HAND])
    fifo, clock = made.tests
    assert fifo.verdict.outcome is Outcome.RIGHT and clock.verdict.outcome is Outcome.BROKE_RULE, messages(made)
    assert re.search(rf"^kernel/mm/policy/clock\.c:\d+:? .*{re.escape(said)}", clock.verdict.message), messages(made)
