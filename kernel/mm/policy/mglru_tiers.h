/*
 * MGLRU's feedback: which tiers of pages are protected, and which kind of page is evicted.
 *
 * Protecting pages that were used several times by system calls is right only if such pages are
 * used again. A refault shows it: the fault of a page that was evicted from the generation that
 * still is the oldest of its kind. Each eviction leaves a shadow entry with the tier and min_seq. For
 * each kind and tier, refaults are counted, and the pages that were evicted or protected: since
 * min_seq last went up, plus half of the count before, and so on.
 *
 *	ratio of a tier = refaults / (evicted + protected)
 *
 * Evicted are the tiers from 0 on up to the first whose ratio is more than twice that of tier 0.
 * So nothing is protected until pages were read back. If both kinds are equally old, their tiers 0
 * are compared in the same way, each ratio divided by the kind's weight: swappiness, or
 * 200 - swappiness for files. Then the tiers of the chosen kind are compared with tier 0 of the
 * other. Fewer than 32 refaults say nothing. (Linux calls this a PID controller; it has the
 * proportional part only.)
 *
 * There are as many shadow entries as frames, and the oldest is dropped first.
 *
 * Linux 6.1, mm/vmscan.c (read_ctrl_pos, positive_ctrl_err, get_type_to_scan), mm/workingset.c.
 */
#ifndef MGLRU_TIERS_H
#define MGLRU_TIERS_H

#include "mglru_areas.h" /* enum kind */
#include "mm/ghost.h"

#define NR_TIERS 4
#define MAX_REFS 8      /* the top of tier 3, the last */
#define MIN_REFAULTS 32 /* MIN_LRU_BATCH */

static struct tier {
	u32 refaulted, total;         /* since min_seq went up */
	u32 avg_refaulted, avg_total; /* decaying, before that */
} tiers[NR_KINDS][NR_TIERS];

static struct ghosts shadows; /* data: min_seq * NR_TIERS + tier */
static LIST_HEAD(by_age);     /* shadow entries, newest first */
static u64 nr_refaults;
static u32 swappiness = 60;

static const struct vm_param tiers_params[] = {
	{ "swappiness", &swappiness, 1, 200, NULL,
	  "weight of anonymous pages; weight of files is 200 minus this" },
	{ 0 },
};

static int tiers_init(void)
{
	for (int i = 0; i < NR_KINDS * NR_TIERS; i++)
		tiers[i / NR_TIERS][i % NR_TIERS] = (struct tier){ 0 };
	INIT_LIST_HEAD(&by_age);
	nr_refaults = 0;
	return ghosts_init(&shadows, max_pfn);
}

static void tiers_exit(void)
{
	ghosts_exit(&shadows);
}

/* Returns log2(uses), rounded up. */
static u32 tier_of(u32 uses)
{
	return uses <= 2 ? uses / 2 : 2 + (uses > 4);
}

static void tiers_forget(struct page_id id)
{
	struct ghost *shadow = ghost_find(&shadows, id);

	if (shadow)
		ghost_drop(&shadows, shadow);
}

static void tiers_evicted(enum kind kind, u32 tier, u32 min_seq, struct page_id to)
{
	struct ghost *shadow;

	if (shadows.nr == shadows.capacity)
		ghost_drop(&shadows, list_last_entry(&by_age, struct ghost, node));
	shadow = ghost_add(&shadows, to);
	shadow->data = min_seq * NR_TIERS + tier;
	list_add(&shadow->node, &by_age);
	tiers[kind][tier].total++;
}

/* The page was read. Returns true, and counts it, if it was evicted from the oldest generation. */
static bool tiers_refault(enum kind kind, u32 min_seq, struct page_id from)
{
	struct ghost *shadow = from.store ? ghost_find(&shadows, from) : NULL;
	bool recent = shadow && shadow->data / NR_TIERS == min_seq;

	if (recent) {
		tiers[kind][shadow->data % NR_TIERS].refaulted++;
		nr_refaults++;
	}
	if (shadow)
		ghost_drop(&shadows, shadow);
	return recent;
}

/* Call when min_seq of this kind has gone up: starts new counts, and halves the old ones. */
static void tiers_carry_over(enum kind kind)
{
	for (struct tier *t = tiers[kind]; t < &tiers[kind][NR_TIERS]; t++) {
		t->avg_refaulted = (t->avg_refaulted + t->refaulted) / 2;
		t->avg_total = (t->avg_total + t->total) / 2;
		t->refaulted = t->total = 0;
	}
}

/* Is the ratio of a tier at most gain / base_gain times that of the base? (positive_ctrl_err) */
static bool refaults_no_more(const struct tier *t, u32 gain, const struct tier *base, u32 base_gain)
{
	u64 refaulted = t->avg_refaulted + t->refaulted, total = t->avg_total + t->total;
	u64 base_refaulted = base->avg_refaulted + base->refaulted;
	u64 base_total = base->avg_total + base->total;

	return refaulted < MIN_REFAULTS || refaulted * (base_total + MIN_REFAULTS) * base_gain <=
						   (base_refaulted + 1) * total * gain;
}

/* Returns the last of the tiers from 0 on that refault no more than the base. */
static u32 last_tier_by(enum kind kind, u32 gain, const struct tier *base, u32 base_gain)
{
	u32 tier = 1;

	while (tier < NR_TIERS && refaults_no_more(&tiers[kind][tier], gain, base, base_gain))
		tier++;
	return tier - 1;
}

/* Returns the last tier of this kind that is not protected. */
static u32 last_tier(enum kind kind)
{
	return last_tier_by(kind, 2, tiers[kind], 1);
}

/* Returns the kind that gives up a page; *tier: the last tier of it that is not protected. */
static enum kind tiers_choose_kind(bool anon_is_older, u32 *tier)
{
	const u32 gain[NR_KINDS] = { swappiness, 200 - swappiness };
	enum kind kind;

	if (anon_is_older) {
		*tier = last_tier(ANON);
		return ANON;
	}
	kind = refaults_no_more(tiers[FILES], gain[FILES], tiers[ANON], gain[ANON]) ? FILES : ANON;
	*tier = last_tier_by(kind, gain[kind], tiers[!kind], gain[!kind]);
	return kind;
}

#endif
