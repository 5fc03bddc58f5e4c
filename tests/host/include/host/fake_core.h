/*
 * The world of the policy seam for host tests: the rules are the kernel's own (mm/seam/rules.c),
 * but pages are only names and the program that uses them is the test. A page's accessed bit is
 * PG_young, its address space is page->owner.
 *
 * A broken rule is a failed expectation; core_nr_errors counts them, so that a random test can stop
 * at the first one and say where it was.
 */
#ifndef HOST_FAKE_CORE_H
#define HOST_FAKE_CORE_H

#include "host/host.h"
#include "mm/rules.h"
#include "mm/zone.h"

struct mm_struct {
	u64 policy[POLICY_MM_SIZE / 8];
	u64 guard[GUARD_MM_SIZE / 8]; /* of the guard that is tested */
	struct list_head all;
	u64 vtime_ns;
	bool sleeps; /* of its own will */
};

extern u64 core_now_ns;     /* vm_now() */
extern u32 core_frames;     /* vm_frames() */
extern const char *core_expects; /* the rule that is to be broken next; NULL again when it was */
extern void (*core_on_violation)(const struct violation *v); /* NULL: it is a failure */
extern u32 core_nr_errors;  /* rules broken since core_start */

/* Switches the policy on, with this many frames, all in ZONE_NORMAL, and no address space. */
void core_start(const struct vm_policy *policy, u32 nr_frames);
/* Takes all pages and address spaces away, expects the policy to hold nothing, switches it off. */
void core_stop(void);
/* Hands everything to another policy, as mm/seam/handover.c does. */
void core_switch(const struct vm_policy *next);

/* The rules that a scan must keep are checked here: owned, eligible, not twice, none only when
 * there is none (at priority 0, from anywhere). The page is isolated. */
struct page *core_select(struct vm_scan *scan);
/* Passes from priority 12 to 0, as reclaim does. */
struct page *core_reclaim(u32 zones);
void core_putback(struct page *page, enum vm_put why);
void core_evicted(struct page *page, struct page_id to);
/* The isolated page's user died: no hook. */
void core_drop_isolated(struct page *page);

void core_insert(struct page *page, struct mm_struct *mm, enum vm_in how, struct page_id from);
void core_touch(struct page *page, enum vm_touch how);
void core_remove(struct page *page, enum vm_out why);

struct mm_struct *core_mm_new(void);
/* Frees it; its owned pages go to the heir (as if shared), or are removed when that is NULL. */
void core_mm_end(struct mm_struct *mm, struct mm_struct *heir);
struct mm_struct *core_mm(u32 i); /* the i-th, NULL: there are fewer */
u32 core_nr_mm(void);

u32 core_owned(u32 zones);
void core_set_zone(u32 pfn, enum zone_index zone);
/* What the policy holds is what the core gave it. */
void core_expect_count(void);

/*
 * One process refers to pages 0 .. 255 in the order of refs, each reference taking step_us of its
 * virtual time, with nr_frames frames. Returns the faults. The access that faults is not a use.
 */
u32 core_play(const struct vm_policy *policy, u32 nr_frames, const u8 *refs, u32 n, u32 step_us);
/* On 60 random strings the policy has as many faults as the naive one. */
void core_compare(const struct vm_policy *policy,
		  u32 (*naive)(u32 nr_frames, const u8 *refs, u32 n));

#endif
