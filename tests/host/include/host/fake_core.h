/*
 * The environment of the policy interface for host tests: the rules are the kernel's own
 * (mm/seam/rules.c), but pages are only names, and the test plays the program that uses them. A page's
 * accessed bit is PG_young, its address space is page->owner.
 *
 * A broken rule is a failed expectation; core_nr_errors counts them, so that a random test can stop
 * at the first one and report where it occurred.
 */
#ifndef HOST_FAKE_CORE_H
#define HOST_FAKE_CORE_H

#include "host/host.h"
#include "mm/rules.h"
#include "mm/zone.h"

struct mm_struct {
	u64 policy[POLICY_MM_SIZE / 8];
	u64 guard[GUARD_MM_SIZE / 8]; /* of the guard under test */
	struct list_head all;
	u64 vtime_ns;
	u32 demand;  /* mm_demand(), pages */
	bool sleeps; /* sleeps voluntarily */
};

extern u64 core_now_ns;     /* vm_now() */
extern u32 core_frames;     /* vm_frames() */
extern const char *core_expects; /* the rule to be broken next; NULL again after that */
extern void (*core_on_violation)(const struct violation *v); /* NULL: a violation is a failure */
extern u32 core_nr_errors;  /* rules broken since core_start */

/* Activates the policy, with this many frames, all in ZONE_NORMAL, and no address space. */
void core_start(const struct vm_policy *policy, u32 nr_frames);
/* Removes all pages and address spaces, expects the policy to hold nothing, and deactivates it. */
void core_stop(void);
/* Hands everything over to another policy, like mm/seam/handover.c. */
void core_switch(const struct vm_policy *next);

/* Calls select. Checks the rules of a scan: the page is owned, eligible, not given twice; none is given only if
 * there is none (at priority 0, from anywhere). The page is isolated. */
struct page *core_select(struct vm_scan *scan);
/* Passes from priority 12 to 0, as reclaim does. */
struct page *core_reclaim(u32 zones);
/* DONE: a page that select gave to be detached is not mapped (PG_placed) until core_touch(VM_TOUCH_MINOR). */
void core_putback(struct page *page, enum vm_put why);
void core_evicted(struct page *page, struct page_id to);
/* The isolated page's user died: calls no hook. */
void core_drop_isolated(struct page *page);

void core_insert(struct page *page, struct mm_struct *mm, enum vm_in how, struct page_id from);
void core_touch(struct page *page, enum vm_touch how);
void core_remove(struct page *page, enum vm_out why);

struct mm_struct *core_mm_new(void);
/* Frees it; its owned pages go to the heir (as if shared), or are removed if heir is NULL. */
void core_mm_end(struct mm_struct *mm, struct mm_struct *heir);
struct mm_struct *core_mm(u32 i); /* the i-th; NULL if there are fewer */
u32 core_nr_mm(void);

u32 core_owned(u32 zones);
void core_set_zone(u32 pfn, enum zone_index zone);
/* Expects the policy to hold exactly what the core gave it. */
void core_expect_count(void);

/*
 * One process refers to pages 0 .. 255 in the order of refs, each reference taking step_us of its
 * virtual time, with nr_frames frames. Returns the number of faults. The access that faults is not a use.
 */
u32 core_play(const struct vm_policy *policy, u32 nr_frames, const u8 *refs, u32 n, u32 step_us);
/* Expects the policy to have as many faults as the naive one on 60 random strings. */
void core_compare(const struct vm_policy *policy,
		  u32 (*naive)(u32 nr_frames, const u8 *refs, u32 n));

#endif
