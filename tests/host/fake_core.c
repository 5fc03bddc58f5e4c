/* The fake core: see host/fake_core.h. */
#include "host/fake_core.h"
#include "lib/assert.h"
#include "lib/future.h"
#include "mm/guard.h"
#include "mm/slab.h"
#include <stdlib.h>
#include <string.h>

#define NR_VPAGES 256

u64 core_now_ns;
u32 core_frames, core_nr_errors;
const char *core_expects;
void (*core_on_violation)(const struct violation *v);

static LIST_HEAD(mms);
static const struct page_id no_id;

/* Functions that mm/seam/rules.c needs from its environment. */

const u32 world_check_every = 1; /* the interval between checks is 1, plus 1 for every 16 pages */

void world_violation(const struct violation *v)
{
	if (core_expects && !strcmp(core_expects, v->rule)) {
		core_expects = NULL;
		return;
	}
	if (core_on_violation) {
		core_on_violation(v);
		return;
	}
	core_nr_errors++;
	ktap_note("%s %s, rule %s, hook %s: %s", v->kind, v->name, v->rule, v->hook, v->what);
	ktap_fail(__FILE__, __LINE__, v->what);
}

void world_stop(const struct violation *v)
{
	panic("%s %s, rule %s: %s", v->kind, v->name, v->rule, v->what);
}

void world_scanned(u32 nr)
{
	(void)nr;
}

void world_switched(void)
{
}

/* Functions that a policy may call. */

bool page_referenced(struct page *page)
{
	return page_test_and_clear(page, PG_young);
}

bool page_young(struct page *page)
{
	return page_test(page, PG_young);
}

bool page_dirty(struct page *page)
{
	return page_test(page, PG_dirty);
}

void page_trap(struct page *page)
{
	page_set(page, PG_sampled);
}

struct mm_struct *page_mm(struct page *page)
{
	return page->owner;
}

/* Here PG_slab marks a page of a file; .slot is its number. */
bool page_is_file(const struct page *page)
{
	return page_test(page, PG_slab);
}

/* Here PG_reclaim marks a page that select gave to be detached, PG_placed one that has been detached. */
bool page_is_mapped(const struct page *page)
{
	if (page_test(page, PG_placed))
		return false;
	return !page_is_file(page) || page->index % 2;
}

bool page_is_executable(const struct page *page)
{
	return page_is_file(page) && page->index % 4 == 1;
}

struct page_id page_id_of(const struct page *page)
{
	bool is_file = page_is_file(page);

	return (struct page_id){ is_file ? 2 : 0, is_file ? page->slot : 0 };
}

u32 page_vpn(const struct page *page)
{
	return page->index;
}

u32 vm_slots(void)
{
	return 4 * max_pfn;
}

u64 vm_now(void)
{
	return core_now_ns;
}

u64 mm_vtime(struct mm_struct *mm)
{
	return mm->vtime_ns;
}

bool mm_sleeps(struct mm_struct *mm)
{
	return mm->sleeps;
}

/* There is no read-ahead here; weak, for tests that count the calls. */
__attribute__((weak)) void vm_prepage(struct mm_struct *mm)
{
	(void)mm;
}

/* Weak, for tests of guards that keep the demand elsewhere. */
__attribute__((weak)) u32 mm_demand(struct mm_struct *mm)
{
	return mm->demand;
}

u32 mm_rss(struct mm_struct *mm)
{
	u32 n = 0;

	for (u32 pfn = 0; pfn < max_pfn; pfn++)
		n += mem_map[pfn].owner == mm;
	return n;
}

u32 vm_frames(void)
{
	return core_frames;
}

/* There is no future. */
void *vm_future(void)
{
	static struct future_file none;

	none = (struct future_file){ .magic = FUTURE_MAGIC };
	return &none;
}

struct mm_struct *vm_next_mm(struct mm_struct *mm)
{
	struct list_head *next = mm ? mm->all.next : mms.next;

	return next == &mms ? NULL : list_entry(next, struct mm_struct, all);
}

void *policy_mm(struct mm_struct *mm)
{
	return mm->policy;
}

/* Memory for a policy's data besides its pages; weak, for the tests of the kernel's own allocator. */

__attribute__((weak)) void *kzalloc(size_t size, gfp_t gfp)
{
	(void)gfp;
	return calloc(1, size);
}

__attribute__((weak)) void kfree(const void *p)
{
	free((void *)p);
}

/* The core's side of the interface. */

u32 core_owned(u32 mask)
{
	u32 n = 0;

	for (int i = 0; i < MAX_ZONES; i++)
		n += mask >> i & 1 ? zones[i].nr_owned : 0;
	return n;
}

void core_set_zone(u32 pfn, enum zone_index zone)
{
	mem_map[pfn].flags &= ~(3u << PG_zone_shift);
	mem_map[pfn].flags |= (u32)zone << PG_zone_shift;
}

void core_start(const struct vm_policy *policy, u32 nr_frames)
{
	host_ram_create(nr_frames);
	for (u32 pfn = 0; pfn < nr_frames; pfn++)
		core_set_zone(pfn, ZONE_NORMAL);
	core_frames = nr_frames;
	core_nr_errors = 0;
	swap_nr_free = 1;
	policy_start(policy);
}

void core_expect_count(void)
{
	policy_call_check();
}

void core_insert(struct page *page, struct mm_struct *mm, enum vm_in how, struct page_id from)
{
	page->owner = mm;
	page_clear(page, PG_placed);
	policy_call_insert(page, mm, how, from);
}

void core_touch(struct page *page, enum vm_touch how)
{
	if (how == VM_TOUCH_MINOR)
		page_clear(page, PG_placed);
	policy_call_touch(page, page->owner, how);
}

void core_remove(struct page *page, enum vm_out why)
{
	policy_call_remove(page, why);
}

struct page *core_select(struct vm_scan *scan)
{
	struct page *page = policy_call_select(scan);

	if (!page && !scan->priority && !scan->trim && !scan->mm)
		policy_blame(scan->zones, 0);
	if (page && scan->act == VM_DETACH)
		page_set(page, PG_reclaim);
	return core_nr_errors ? NULL : page;
}

struct page *core_reclaim(u32 mask)
{
	struct page *page = NULL;

	for (int priority = DEF_PRIORITY; priority >= 0 && !page; priority--) {
		struct vm_scan scan = policy_scan(mask, priority);

		page = core_select(&scan);
	}
	return page;
}

void core_putback(struct page *page, enum vm_put why)
{
	if (page_test_and_clear(page, PG_reclaim) && why == VM_PUT_DONE)
		page_set(page, PG_placed);
	policy_call_putback(page, why);
}

void core_evicted(struct page *page, struct page_id to)
{
	policy_call_evicted(page, to);
	page->owner = NULL;
	page_clear(page, PG_reclaim);
}

void core_drop_isolated(struct page *page)
{
	page_clear(page, PG_reclaim);
	policy_drop_isolated(page);
	page->owner = NULL;
}

struct mm_struct *core_mm_new(void)
{
	struct mm_struct *mm = calloc(1, sizeof(*mm));

	list_add_tail(&mm->all, &mms);
	policy_call_mm_init(mm);
	return mm;
}

void *guard_mm(struct mm_struct *mm)
{
	return mm->guard;
}

static void leave_page(struct page *page, struct mm_struct *heir)
{
	if (page_test(page, PG_owned) && !heir)
		core_remove(page, VM_OUT_FREED);
	policy_call_moved(page, heir);
}

void core_mm_end(struct mm_struct *mm, struct mm_struct *heir)
{
	for (u32 pfn = 0; pfn < max_pfn; pfn++)
		if (mem_map[pfn].owner == mm)
			leave_page(&mem_map[pfn], heir);
	policy_call_mm_exit(mm);
	list_del(&mm->all);
	free(mm);
}

struct mm_struct *core_mm(u32 i)
{
	struct mm_struct *mm = vm_next_mm(NULL);

	while (mm && i--)
		mm = vm_next_mm(mm);
	return mm;
}

u32 core_nr_mm(void)
{
	u32 n = 0;

	for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm))
		n++;
	return n;
}

void core_stop(void)
{
	for (u32 pfn = 0; pfn < max_pfn; pfn++)
		if (page_test(&mem_map[pfn], PG_owned))
			core_remove(&mem_map[pfn], VM_OUT_FREED);
	core_expect_count();
	while (core_mm(0))
		core_mm_end(core_mm(0), NULL);
	if (vm_policy->exit)
		vm_policy->exit();
	host_ram_destroy();
}

void core_switch(const struct vm_policy *next)
{
	if (next == vm_policy)
		return;
	EXPECT_EQ(next->init ? next->init() : 0, 0);
	policy_take_over(next, false);
}

/* Returns a free frame, after an eviction if necessary. */
static struct page *free_frame(struct page **where)
{
	struct page_id id = { 1, 0 };
	struct page *page;

	for (u32 pfn = 0; pfn < max_pfn; pfn++)
		if (!mem_map[pfn].owner)
			return &mem_map[pfn];
	page = core_reclaim(ZONES_ALL);
	if (!page)
		return NULL;
	id.index = page->index + 1;
	where[page->index] = NULL;
	core_evicted(page, id);
	return page;
}

u32 core_play(const struct vm_policy *policy, u32 nr_frames, const u8 *refs, u32 n, u32 step_us)
{
	struct page *where[NR_VPAGES] = { NULL };
	struct mm_struct *mm;
	u32 faults = 0;

	core_start(policy, nr_frames);
	mm = core_mm_new();
	for (u32 i = 0; i < n; i++) {
		struct page *page = where[refs[i]];

		mm->vtime_ns += step_us * 1000ull;
		core_now_ns += step_us * 1000ull;
		if (page) {
			page_set(page, PG_young);
			continue;
		}
		faults++;
		page = free_frame(where);
		EXPECT(page);
		if (!page)
			break;
		where[refs[i]] = page;
		page->index = refs[i];
		page_clear(page, PG_young);
		core_insert(page, mm, VM_IN_FAULT, no_id);
	}
	core_expect_count();
	core_stop();
	return faults;
}

void core_compare(const struct vm_policy *policy,
		  u32 (*naive)(u32 nr_frames, const u8 *refs, u32 n))
{
	u32 seed = ktap_seed_noted();
	static u8 refs[2000];

	for (int round = 0; round < 60; round++) {
		u32 frames = 1 + ktap_random(&seed) % 50, pages = 1 + ktap_random(&seed) % 80;

		for (u32 i = 0; i < sizeof(refs); i++)
			refs[i] = ktap_random(&seed) % pages;
		EXPECT_EQ(core_play(policy, frames, refs, sizeof(refs), 10),
			  naive(frames, refs, sizeof(refs)));
	}
}
