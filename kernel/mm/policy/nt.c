/*
 * Windows NT: a working set for each process, which is trimmed once a second when memory is low.
 *
 * A working set here is what a process has in memory, not Denning's (ws.c). While enough memory is
 * available, it only grows. Memory is low when the available frames, which are free or have a page
 * of the standby list, are less than low_percent. Then two things happen. A process that has its
 * maximum or more replaces a page of its own when it faults (local replacement); other processes
 * still grow. And once in period_ms the balance set manager trims processes, at most to their
 * minimum, until high_percent is available. A page that leaves a set stays in memory for a while:
 *
 *	working set --clean----> standby list --> its frame is reused
 *	     ^      --modified--> modified list --written--> standby list
 *	     `------------- used: a minor fault ----------'
 *
 * The manager asks those first that need their pages least. A process that has not faulted lately
 * gives up all pages above its minimum; if that is not enough, one with few faults gives up half of
 * them; then each process a quarter. "Lately" is a rate: each period halves it and adds its faults,
 * minor ones, too, so a process that was trimmed too far is spared. The maximum of a process that
 * has more than few_faults in a period grows by a quarter if high_percent is available.
 *
 * Which page. NT 3.1 is FIFO, so that it suits all processors (Custer). On a single x86 processor NT
 * 4.0 reads the accessed bits: a used page loses its bit and is passed, as in CLOCK. This file is
 * that version. A fault looks at LOOKS pages at most; trimming takes only pages that were not used.
 *
 * NT descends from VMS, and this file from vms.c, which has the same lists. There all sets together
 * have a limit, always, and order is FIFO: pages leave sets all the time, and the lists correct the
 * errors. Here sets are limited only while memory is low, faults decide how large they are, and the
 * lists are short. When both lists are empty, NT wakes the manager, and the fault waits; here select
 * takes a page of the process that the manager would ask first. In a fault a page leaves its set by
 * page_trap, which acts at once, and for the manager by VM_DETACH.
 *
 * Minimum and maximum are at most a quarter and a half of memory. Left out: the swapper, clusters, the
 * foreground's privileges. Pages of no process are in no set, but on the lists.
 *
 * H. Custer, "Inside Windows NT", 1993, chapter 6; M. Russinovich, "Inside memory management, part
 * 2", Windows NT Magazine, 1998; Microsoft's articles Q98216 and Q108449.
 */
#include "mm/policy.h"

#define FIRST_PASS 12 /* priority of the first pass */
#define LOOKS 16
#define CLUSTER 16 /* pages written for each evicted page, at most */

enum nt_place { SET, STANDBY, MODIFIED };

struct nt_page {
	struct list_head node;
	enum nt_place place;
};
POLICY_PAGE_FITS(struct nt_page);

struct nt_mm {
	struct list_head set; /* next victim first */
	u32 nr, max;
	u32 faults, rate; /* in this period; halved in each period, as of the last tick */
	u32 quota;        /* pages that the manager will take */
};
POLICY_MM_FITS(struct nt_mm);

static u32 min_pages = 20, max_pages = 45, low_percent = 5, high_percent = 10;
static u32 few_faults = 10, modified_percent = 10, period_ms = 1000;
static LIST_HEAD(standby); /* both lists: next victim first */
static LIST_HEAD(modified);
static u32 nr_set, nr_standby, nr_modified;
static bool writing;    /* the modified list became too long */
static u32 nr_written;  /* pages laundered since the last eviction */
static u64 nr_replaced, nr_trimmed, nr_rescued, nr_at_once;

static const struct vm_param nt_params[] = {
	{ "min_pages", &min_pages, 6, 100000, NULL, "trimming leaves a process this many pages" },
	{ "max_pages", &max_pages, 6, 1000000, NULL,
	  "a process with more replaces its own pages while memory is low; it grows" },
	{ "low_percent", &low_percent, 1, 50, "%", "memory is low if less is available" },
	{ "high_percent", &high_percent, 1, 90, "%", "trimming makes this share available" },
	{ "few_faults", &few_faults, 1, 100000, NULL, "faults in a period that are few" },
	{ "modified_percent", &modified_percent, 1, 50, "%", "memory that waits to be written" },
	{ "period_ms", &period_ms, 10, 60000, "ms", "interval of the balance set manager" },
	{ 0 },
};

static struct nt_page *nt_data(struct page *page)
{
	return policy_page(page);
}

static struct nt_mm *nt_mm(struct mm_struct *mm)
{
	return policy_mm(mm);
}

#define for_each_nt(mm) for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm))

static u32 share(u32 percent)
{
	return MAX((u64)vm_frames() * percent / 100, 1u);
}

static u32 least(void)
{
	return MIN(min_pages, vm_frames() / 4);
}

static u32 first_max(void)
{
	return MIN(max_pages, vm_frames() / 2);
}

/* Frames that are free, or whose pages are on the standby list. */
static u32 available(void)
{
	u32 frames = vm_frames(), taken = nr_set + nr_modified;

	return frames > taken ? frames - taken : 0;
}

static int nt_init(void)
{
	INIT_LIST_HEAD(&standby);
	INIT_LIST_HEAD(&modified);
	nr_set = nr_standby = nr_modified = nr_written = 0;
	nr_replaced = nr_trimmed = nr_rescued = nr_at_once = 0;
	writing = false;
	return 0;
}

static void nt_mm_init(struct mm_struct *mm)
{
	INIT_LIST_HEAD(&nt_mm(mm)->set);
	nt_mm(mm)->max = first_max();
}

/* Takes the page off its list, or out of the set of mm. */
static void delist(struct nt_page *p, struct mm_struct *mm)
{
	list_del(&p->node);
	if (p->place == STANDBY) {
		nr_standby--;
	} else if (p->place == MODIFIED) {
		nr_modified--;
	} else {
		nr_set--;
		nt_mm(mm)->nr--;
	}
}

/* Puts the page on the modified or the standby list. */
static void shelve(struct page *page)
{
	struct nt_page *p = nt_data(page);

	p->place = page_dirty(page) ? MODIFIED : STANDBY;
	list_add_tail(&p->node, p->place == MODIFIED ? &modified : &standby);
	nr_modified += p->place == MODIFIED;
	nr_standby += p->place == STANDBY;
}

/* The process's next use of the page is a fault now; a bit set later means that it was used. */
static void leave_set(struct page *page)
{
	delist(nt_data(page), page_mm(page));
	page_referenced(page);
	page_trap(page);
	shelve(page);
}

/* Local replacement. If the first LOOKS pages are all in use, the next one leaves, as in FIFO. */
static void replace(struct nt_mm *m)
{
	struct page *page = policy_page_of(m->set.next);

	for (u32 looks = MIN(LOOKS, m->nr); looks && page_referenced(page); looks--) {
		list_move_tail(m->set.next, &m->set);
		page = policy_page_of(m->set.next);
	}
	leave_set(page);
	nr_replaced++;
}

static void enlist(struct page *page)
{
	struct nt_mm *m = page_mm(page) ? nt_mm(page_mm(page)) : NULL;

	if (!m) {
		shelve(page);
		return;
	}
	if (m->nr && m->nr >= m->max && available() < share(low_percent))
		replace(m);
	nt_data(page)->place = SET;
	list_add_tail(&nt_data(page)->node, &m->set);
	m->nr++;
	nr_set++;
}

static void nt_insert(struct page *page, struct mm_struct *mm, enum vm_in how, struct page_id from)
{
	(void)from;
	if (mm && how != VM_IN_ADOPT)
		nt_mm(mm)->faults++;
	enlist(page);
}

static void nt_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	bool in_set = nt_data(page)->place == SET, needed = how != VM_TOUCH_DONTNEED;

	if (in_set && !needed) {
		leave_set(page);
	} else if (!in_set && needed) {
		nr_rescued++;
		if (mm && how == VM_TOUCH_MINOR)
			nt_mm(mm)->faults++;
		delist(nt_data(page), page_mm(page));
		enlist(page);
	}
}

static void nt_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(nt_data(page), page_mm(page));
}

/* As in vms.c: a page that is on a list stays there, except when its first process maps it. */
static void nt_moved(struct page *page, struct mm_struct *from, struct mm_struct *to)
{
	(void)to;
	if (from && nt_data(page)->place != SET)
		return;
	delist(nt_data(page), from);
	enlist(page);
}

/* The balance set manager. */

/* Returns the number of pages that a process offers in one of three rounds. */
static u32 offer(const struct nt_mm *m, u32 round)
{
	u32 keeps = least() + m->quota, spare = m->nr > keeps ? m->nr - keeps : 0;

	if (round == 0)
		return m->rate ? 0 : spare;
	if (round == 1)
		return m->rate > few_faults ? 0 : (spare + 1) / 2;
	return (spare + 3) / 4;
}

static void plan_trims(u32 need)
{
	for (u32 round = 0; round < 3; round++) {
		for_each_nt(mm)
		{
			struct nt_mm *m = nt_mm(mm);
			u32 n = MIN(offer(m, round), need);

			m->quota += n;
			need -= n;
			if (n)
				m->max = MIN(m->max, MAX(first_max(), m->nr - m->quota));
		}
	}
}

static bool nt_tick(void)
{
	u32 have = available(), high = MAX(share(high_percent), share(low_percent));

	for_each_nt(mm)
	{
		struct nt_mm *m = nt_mm(mm);

		if (have >= high && m->faults > few_faults && m->nr >= m->max)
			m->max += m->max / 4 + 1;
		m->rate = m->rate / 2 + m->faults;
		m->faults = m->quota = 0;
	}
	if (have < share(low_percent))
		plan_trims(high - have);
	vm_tick_after(period_ms);
	return false;
}

static u32 nt_surplus(struct mm_struct *mm)
{
	return MIN(nt_mm(mm)->quota, nt_mm(mm)->nr);
}

/* Returns the first page that the scan may take: any, or one that was not used since the last look. */
static struct page *first_of(struct list_head *list, u32 length, struct vm_scan *scan, bool any)
{
	while (length-- && vm_scan_more(scan)) {
		struct page *page = policy_page_of(list_first_entry(list, struct nt_page, node));

		if (vm_eligible(scan, page) && (any || !page_referenced(page)))
			return page;
		list_move_tail(list->next, list);
	}
	return NULL;
}

static struct page *first_of_set(struct nt_mm *m, struct vm_scan *scan)
{
	return first_of(&m->set, m->nr, scan, !scan->priority && !scan->trim);
}

static struct page *trim(struct vm_scan *scan)
{
	struct nt_mm *m = nt_mm(scan->mm);
	struct page *page = m->quota ? first_of_set(m, scan) : NULL;

	m->quota = page ? m->quota - 1 : 0;
	nr_trimmed += page != NULL;
	scan->act = VM_DETACH;
	return page;
}

/* Returns the process that the manager would ask first: above its minimum, with the fewest faults,
 * and of several the largest. NULL if there is none. */
static struct mm_struct *first_to_trim(void)
{
	struct mm_struct *first = NULL;

	for_each_nt(mm)
	{
		struct nt_mm *m = nt_mm(mm), *f = first ? nt_mm(first) : NULL;
		u32 rate = m->rate / 2 + m->faults, f_rate = f ? f->rate / 2 + f->faults : 0;

		if (m->nr > least() && (!f || rate < f_rate || (rate == f_rate && m->nr > f->nr)))
			first = mm;
	}
	return first;
}

/* Called if both lists have no page for this scan. The first pass waits for pages being written. */
static struct page *take_at_once(struct vm_scan *scan)
{
	struct mm_struct *first = first_to_trim();
	struct page *page = NULL;

	if (scan->priority == FIRST_PASS)
		return NULL;
	if (first)
		page = first_of_set(nt_mm(first), scan);
	for_each_nt(mm) if (!page && mm != first) page = first_of_set(nt_mm(mm), scan);
	nr_at_once += page != NULL;
	return page;
}

static bool must_write(void)
{
	u32 limit = MAX(share(modified_percent), 2u);

	if (nr_modified > limit)
		writing = true;
	else if (nr_modified <= limit / 2)
		writing = false;
	return writing && nr_written < CLUSTER;
}

static struct page *find_page(struct vm_scan *scan)
{
	struct page *page;

	if (scan->trim)
		return trim(scan);
	if (scan->priority && must_write()) {
		page = first_of(&modified, nr_modified, scan, true);
		if (page)
			scan->act = VM_LAUNDER;
		return page;
	}
	page = first_of(&standby, nr_standby, scan, true);
	if (!page)
		page = first_of(&modified, nr_modified, scan, true);
	return page ?: take_at_once(scan);
}

static struct page *nt_select(struct vm_scan *scan)
{
	struct page *page = find_page(scan);

	if (!page)
		return NULL;
	delist(nt_data(page), page_mm(page));
	nr_written = scan->act == VM_LAUNDER ? nr_written + 1 : 0;
	return page;
}

/* DONE: a page of a set was detached, or a page of a list was written, and perhaps used meanwhile. */
static void nt_putback(struct page *page, enum vm_put why)
{
	bool used = why == VM_PUT_USED || page_referenced(page);

	if (used || (nt_data(page)->place == SET && why != VM_PUT_DONE)) {
		enlist(page);
		return;
	}
	if (page_mm(page) && nt_data(page)->place != SET)
		page_trap(page);
	shelve(page);
}

static int nt_check(void)
{
	u32 sum = 0;

	if (vm_list_length(&standby) != (int)nr_standby ||
	    vm_list_length(&modified) != (int)nr_modified)
		return -1;
	for_each_nt(mm)
	{
		if (vm_list_length(&nt_mm(mm)->set) != (int)nt_mm(mm)->nr)
			return -1;
		sum += nt_mm(mm)->nr;
	}
	return sum == nr_set ? (int)(sum + nr_standby + nr_modified) : -1;
}

static void nt_show(struct seq_file *m)
{
	show_u64(m, "standby", nr_standby);
	show_u64(m, "modified", nr_modified);
	show_u64(m, "working_sets", nr_set);
	show_u64(m, "available", available());
	show_u64(m, "replaced", nr_replaced);
	show_u64(m, "trimmed", nr_trimmed);
	show_u64(m, "rescued", nr_rescued);
	show_u64(m, "taken_at_once", nr_at_once);
}

static const struct vm_policy nt = {
	.name = "nt",
	.summary = "Windows NT: working sets that are trimmed when memory is low",
	.tick_ms = 1000,
	.params = nt_params,
	.init = nt_init,
	.mm_init = nt_mm_init,
	.insert = nt_insert,
	.touch = nt_touch,
	.remove = nt_remove,
	.moved = nt_moved,
	.select = nt_select,
	.putback = nt_putback,
	.surplus = nt_surplus,
	.tick = nt_tick,
	.check = nt_check,
	.show = nt_show,
};
VM_POLICY(nt);
