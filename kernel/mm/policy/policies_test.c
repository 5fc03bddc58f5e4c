/*
 * Tests for every policy, including one that is just a file in this folder: random use of the
 * policy interface, while the fake core checks the rules of mm/policy.h.
 *
 * The test world has a few processes with pages that are resident, evicted or not yet inserted. A
 * page that is being read ahead is locked. A selected page stays isolated for a while, in which its
 * process may end. Frames lie in three zones, and scans request some of them.
 */
#include "host/fake_core.h"

#include "lib/seq_file.h"
#include "lib/string.h"
#include <stdlib.h>

enum {
	NR_FRAMES = 96,
	FEWEST_FRAMES = 3,
	MAX_MMS = 6,
	MAX_ISOLATED = 12,
	NR_OPS = 30000,
	CHECK_EVERY = 200,
	NR_FILE_PAGES = 200
};

static u32 seed;
static u32 nr_frames;
static struct page *isolated[MAX_ISOLATED];
static u32 nr_isolated;
static u32 next_slot;

static u32 below(u32 n)
{
	return ktap_random(&seed) % n;
}

static struct mm_struct *some_mm(void)
{
	return core_mm(below(core_nr_mm()));
}

static bool holds_nothing(const struct page *page)
{
	return !page_test(page, PG_owned) && !page_test(page, PG_isolated) &&
	       !page_test(page, PG_mlocked);
}

static void op_fault(struct page *page)
{
	struct page_id from = { 0 };

	if (!holds_nothing(page))
		return;
	page_clear(page, PG_young);
	page_clear(page, PG_locked);
	page_clear(page, PG_slab);
	if (next_slot && below(2))
		from = (struct page_id){ 1, next_slot - below(MIN(next_slot, 50u)) };
	if (!below(4)) { /* of a file */
		page_set(page, PG_slab);
		page->slot = 1 + below(NR_FILE_PAGES);
		from = page_id_of(page);
	}
	if (page_is_file(page) && below(2)) {
		core_insert(page, NULL, VM_IN_READ, from);
	} else if (below(8)) {
		core_insert(page, some_mm(), VM_IN_FAULT, from);
	} else {
		page_set(page, PG_locked);
		core_insert(page, NULL, VM_IN_PREFETCH, from);
	}
}

static void op_use(struct page *page)
{
	if (!page_test(page, PG_owned))
		return;
	if (!page->owner && page_is_file(page)) {
		core_touch(page, VM_TOUCH_IO);
	} else if (!page->owner) { /* read ahead: claimed by its first user */
		page_clear(page, PG_locked);
		core_remove(page, VM_OUT_MOVED);
		core_insert(page, some_mm(), VM_IN_CLAIM, (struct page_id){ 0 });
	} else if (below(3)) {
		page_set(page, PG_young);
	} else {
		core_touch(page, (enum vm_touch)below(VM_TOUCH_DONTNEED + 1));
	}
}

static void op_lock(struct page *page)
{
	if (below(2))
		page_set(page, PG_locked);
	else
		page_clear(page, PG_locked);
}

static void op_free_or_pin(struct page *page)
{
	if (page_test(page, PG_mlocked)) {
		page_clear(page, PG_mlocked);
		core_insert(page, page->owner, VM_IN_ADOPT, (struct page_id){ 0 });
	} else if (page_test(page, PG_owned) && page->owner && !below(4)) {
		page_set(page, PG_mlocked);
		core_remove(page, VM_OUT_PINNED);
	} else if (page_test(page, PG_owned) && !below(3)) {
		core_remove(page, VM_OUT_FREED);
		page->owner = NULL;
	}
}

static void op_select(void)
{
	struct vm_scan scan = policy_scan(1 + below(ZONES_ALL), below(3) ? below(13) : 0);
	struct page *page;

	if (nr_isolated == MAX_ISOLATED)
		return;
	if (!below(6)) {
		scan.mm = some_mm();
		scan.trim = true;
	}
	page = core_select(&scan);
	if (page)
		isolated[nr_isolated++] = page;
}

/* The core completes its work on an isolated page. */
static void op_answer(void)
{
	struct page *page;
	u32 i;

	if (!nr_isolated)
		return;
	i = below(nr_isolated);
	page = isolated[i];
	isolated[i] = isolated[--nr_isolated];
	switch (below(3)) {
	case 0:
		core_putback(page, (enum vm_put)below(VM_PUT_IOERR + 1));
		break;
	case 1:
		core_evicted(page, page_is_file(page) ? page_id_of(page)
						      : (struct page_id){ 1, ++next_slot });
		break;
	default:
		core_drop_isolated(page);
	}
}

static void op_process(void)
{
	struct mm_struct *mm, *heir;

	if (core_nr_mm() < MAX_MMS && below(2)) {
		core_mm_new();
		return;
	}
	mm = some_mm();
	heir = some_mm();
	if (core_nr_mm() == 1 || heir == mm)
		return;
	for (u32 pfn = 0; pfn < nr_frames; pfn++)
		if (mem_map[pfn].owner == mm && page_test(&mem_map[pfn], PG_mlocked))
			mem_map[pfn].owner = heir;
	core_mm_end(mm, below(2) ? heir : NULL);
}

/* Time passes, and ticks come. At least one process must always be allowed to run. */
static void op_tick(void)
{
	struct mm_struct *mm = some_mm();
	bool anybody = false;

	mm->vtime_ns += below(100) * 1000000ull;
	core_now_ns += below(200) * 1000000ull;
	for (int i = 0; vm_policy->tick && vm_policy->tick(); i++)
		EXPECT(i < 1000);
	if (vm_policy->surplus)
		EXPECT(vm_policy->surplus(mm) <= core_owned(ZONES_ALL));
	for (mm = core_mm(0); mm; mm = vm_next_mm(mm))
		anybody |= !vm_policy->may_run || vm_policy->may_run(mm);
	EXPECT(anybody);
}

static void op_forget(void)
{
	if (!vm_policy->forget)
		return;
	if (next_slot)
		vm_policy->forget((struct page_id){ 1, 1 + below(next_slot) });
	vm_policy->forget((struct page_id){ 2, 1 + below(NR_FILE_PAGES) });
}

static void show(void)
{
	static char text[4096];
	struct seq_file m;

	seq_init(&m, text, sizeof(text));
	if (vm_policy->show)
		vm_policy->show(&m);
	EXPECT(!m.overflow && (!m.count || text[m.count - 1] == '\n'));
}

static void random_op(void)
{
	struct page *page = &mem_map[below(nr_frames)];

	switch (below(34)) {
	case 0 ... 11:
		op_fault(page);
		break;
	case 12 ... 17:
		op_use(page);
		break;
	case 18:
		op_lock(page);
		break;
	case 19:
		op_free_or_pin(page);
		break;
	case 20 ... 24:
		op_select();
		break;
	case 25 ... 28:
		op_answer();
		break;
	case 29:
		op_forget();
		break;
	case 30:
		op_tick();
		break;
	case 31 ... 32:
		policy_call_moved(page, below(4) ? some_mm() : NULL);
		break;
	default:
		if (!below(8))
			op_process();
	}
}

static void begin_with(const struct vm_policy *policy, u32 frames)
{
	nr_frames = frames;
	core_start(policy, frames);
	for (u32 pfn = 0; pfn < frames; pfn++)
		core_set_zone(pfn, (enum zone_index)(pfn * MAX_ZONES / frames));
	nr_isolated = next_slot = 0;
	core_mm_new();
}

static void begin(const struct vm_policy *policy)
{
	begin_with(policy, NR_FRAMES);
}

static void end(void)
{
	while (nr_isolated)
		core_drop_isolated(isolated[--nr_isolated]);
	core_stop();
}

/* Returns false, and prints a note, if a rule was broken. */
static bool random_ops(u32 n)
{
	for (u32 i = 0; i < n && !core_nr_errors; i++) {
		random_op();
		if (i % CHECK_EVERY == 0) {
			core_expect_count();
			show();
		}
		if (core_nr_errors)
			ktap_note("policy %s, operation %u", vm_policy->name, i);
	}
	return !core_nr_errors;
}

KTEST(policies, keep_the_rules_under_random_use)
{
	u32 first = ktap_seed_noted();

	for (u32 i = 0; policy_at(i); i++) {
		seed = first;
		begin(policy_at(i));
		random_ops(NR_OPS);
		end();
	}
}

enum param_end { LEAST, MOST, BEFORE };

/* Sets all parameters of a policy to their minimum, their maximum, or their previous values. */
static void set_params(const struct vm_param *params, enum param_end to)
{
	static u32 before[16];

	for (u32 i = 0; params && params[i].name; i++) {
		if (to == LEAST)
			before[i] = *params[i].value;
		*params[i].value = to == LEAST  ? params[i].min
				   : to == MOST ? params[i].max
						: before[i];
	}
}

KTEST(policies, keep_the_rules_at_the_ends_of_their_parameters_and_with_3_frames)
{
	u32 first = ktap_seed_noted();

	for (u32 i = 0; policy_at(i); i++)
		for (enum param_end to = LEAST; to <= BEFORE; to++) {
			set_params(policy_at(i)->params, to);
			for (u32 few = 0; few < 2; few++) {
				seed = first;
				begin_with(policy_at(i), few ? FEWEST_FRAMES : NR_FRAMES);
				random_ops(NR_OPS / 10);
				end();
			}
		}
}

KTEST(policies, say_what_they_are_each_in_words_of_its_own)
{
	for (u32 i = 0; policy_at(i); i++) {
		const struct vm_param *p = policy_at(i)->params;

		EXPECT(policy_at(i)->summary && *policy_at(i)->summary);
		for (u32 k = 0; k < i; k++) {
			EXPECT(strcmp(policy_at(i)->name, policy_at(k)->name));
			EXPECT(strcmp(policy_at(i)->summary, policy_at(k)->summary));
		}
		for (; p && p->name; p++)
			EXPECT(p->help && *p->help && p->min <= *p->value && *p->value <= p->max);
	}
}

/* Switches policies during random use: pages that the core holds are returned to another policy. */
KTEST(policies, conserve_pages_when_switched)
{
	u32 nr = 0, owned;

	seed = ktap_seed_noted();
	while (policy_at(nr))
		nr++;
	begin(policy_at(0));
	for (int i = 0; i < 60 && random_ops(500); i++) {
		if (vm_policy->tick) /* perhaps leaving a tick unfinished */
			vm_policy->tick();
		owned = core_owned(ZONES_ALL);
		core_switch(policy_at(below(nr)));
		EXPECT_EQ(core_owned(ZONES_ALL), owned);
		core_expect_count();
	}
	end();
}

/* All resident pages were used just now, and still a page must be evicted. */
KTEST(policies, give_a_page_when_all_were_used)
{
	for (u32 i = 0; policy_at(i); i++) {
		struct page *page;

		begin(policy_at(i));
		for (u32 pfn = 0; pfn < NR_FRAMES; pfn++) {
			core_insert(&mem_map[pfn], core_mm(0), VM_IN_FAULT, (struct page_id){ 0 });
			page_set(&mem_map[pfn], PG_young);
			core_touch(&mem_map[pfn], VM_TOUCH_MINOR);
			core_touch(&mem_map[pfn], VM_TOUCH_MINOR);
		}
		page = core_reclaim(ZONES_ALL);
		EXPECT(page);
		if (page)
			core_drop_isolated(page);
		end();
	}
}

/* Only one page is eligible for the scan, among many that are not. */
KTEST(policies, find_the_only_eligible_page)
{
	seed = ktap_seed_noted();
	for (u32 p = 0; policy_at(p); p++)
		for (int i = 0; i < 50; i++) {
			struct page *only;

			begin(policy_at(p));
			core_mm_new();
			for (u32 pfn = 0; pfn < NR_FRAMES; pfn++) {
				core_insert(&mem_map[pfn], core_mm(below(2)), VM_IN_FAULT,
					    (struct page_id){ 0 });
				page_set(&mem_map[pfn], PG_locked);
			}
			only = &mem_map[below(NR_FRAMES)];
			page_clear(only, PG_locked);
			for (u32 n = below(3); n; n--)
				core_touch(only, VM_TOUCH_MINOR);
			EXPECT_EQ(core_reclaim(1u << page_zone_index(only)), only);
			if (page_test(only, PG_isolated))
				core_drop_isolated(only);
			end();
		}
}

/* Brings in the page `from`. Evicts a page if no frame is free; it can be read again from `to`. */
static void pass_through(struct page_id from, struct page_id to)
{
	struct page *page = &mem_map[0];

	while (page < mem_map + nr_frames && !holds_nothing(page))
		page++;
	if (page == mem_map + nr_frames) {
		page = core_reclaim(ZONES_ALL);
		EXPECT(page);
		if (!page)
			return;
		core_evicted(page, to);
	}
	page_clear(page, PG_young);
	core_insert(page, core_mm(0), VM_IN_FAULT, from);
}

/*
 * No ghost is forgotten before the end. First every slot gets a ghost, and pages are evicted to
 * slots that have one. Then pages of files, of which there can be more than slots, push the old
 * ghosts out.
 */
KTEST(policies, remember_no_more_than_they_have_room_for)
{
	seed = ktap_seed_noted();
	for (u32 i = 0; policy_at(i); i++) {
		u32 slots, files = 20000;

		begin(policy_at(i));
		slots = vm_slots();
		for (u32 n = 1; n <= slots; n++)
			pass_through((struct page_id){ 0 }, (struct page_id){ 1, n });
		for (u32 n = 0; n < 10 * slots; n++)
			pass_through((struct page_id){ 1, 1 + below(slots) },
				     (struct page_id){ 1, 1 + below(slots) });
		for (u32 n = 1; n <= files && !core_nr_errors; n++)
			pass_through((struct page_id){ 2, n - below(MIN(n, 400u)) },
				     (struct page_id){ 2, n });
		core_expect_count();
		for (u32 n = 1; vm_policy->forget && n <= files; n++)
			vm_policy->forget((struct page_id){ 1 + n % 2, n });
		for (u32 n = 1; vm_policy->forget && n <= files; n++)
			vm_policy->forget((struct page_id){ 2 - n % 2, n });
		random_ops(1000);
		end();
	}
}

/* The number of processes that begin and end; PROCESSES=n in the environment sets it. */
static u32 nr_processes(void)
{
	const char *n = getenv("PROCESSES");

	return n ? strtoul(n, NULL, 0) : 20000;
}

/* Each process has a page, and takes over from the previous one. The sanitizer finds references
 * that a policy keeps to an address space that ended, because its memory is freed. */
KTEST(policies, keep_nothing_of_processes_that_have_ended)
{
	for (u32 i = 0; policy_at(i); i++) {
		struct mm_struct *last;

		begin_with(policy_at(i), 4);
		last = core_mm(0);
		for (u32 n = nr_processes(); n; n--) {
			struct mm_struct *mm = core_mm_new();

			core_insert(&mem_map[n % 4], mm, VM_IN_FAULT, (struct page_id){ 0 });
			page_set(&mem_map[n % 4], PG_young);
			core_now_ns += 1000000;
			mm->vtime_ns += 1000000;
			if (n % 64 == 0) {
				struct page *page = core_reclaim(ZONES_ALL);

				for (u32 k = 0; vm_policy->tick && vm_policy->tick() && k < 100;)
					k++;
				if (page)
					core_putback(page, VM_PUT_BUSY);
			}
			core_mm_end(last, NULL);
			last = mm;
		}
		core_expect_count();
		end();
	}
}
