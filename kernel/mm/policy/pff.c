/*
 * PFF: the rate of a process's page faults decides how much memory it gets.
 *
 * The working set needs the time of each page's last use, and a periodic search for it. Chu and
 * Opderbeck look at the faults instead. A fault soon after the previous one means that the process
 * has too few pages: the process grows by the page that faulted. A fault is late if it comes more
 * than T = 1/P of the process's own time after the previous one, where P is the fault frequency
 * thought to be right. A late fault means that the process may have too many pages: it loses those
 * it has not used.
 *
 *	since its last fault   the process
 *	at most T              grows by a page
 *	more than T            loses the pages that were not used; all bits are cleared
 *
 * Only faults that bring a page in count. To claim a page that was read ahead, or to find a page
 * resident, is not such a fault. A process that does not fault keeps what it has, even if it no
 * longer needs it, and a process that moves from phase to phase grows in between.
 *
 * Different from the paper: a hook called from a fault must be short, and to clear all bits at each
 * fault would be long. But bits cleared at a fault matter only if the next fault is late. So they are
 * cleared at the first tick at which the process has run for SETTLE_US since its last fault, or for
 * half of T; while faults are frequent, never. After a late fault the next tick examines the pages:
 * the unused ones leave (->surplus), and the bits are cleared. A page used only in the few
 * milliseconds between the previous fault and that clearing is therefore lost.
 *
 * If no frame is free and no process shrinks, the paper stops a process. Here the hand of a CLOCK
 * over the pages of all processes gives up one, and load control is left to guards (mm/guard.h).
 * Both the hand and the walk clear accessed bits, so each records the use for the other. Pages of
 * no process, those read ahead and those only read and written, belong to the hand alone.
 *
 * W. Chu and H. Opderbeck, "The page fault frequency replacement algorithm", AFIPS Fall Joint
 * Computer Conference, 1972.
 */
#include "mm/policy.h"

#define TICK_MS 5
#define SETTLE_US 5000u

struct pff_page {
	struct list_head node;   /* on the circle, or on `leaving` */
	struct list_head of_set; /* on its process's list; an empty list: of no process */
	bool leaving;
	bool used_set;  /* used since the bits of its process were last cleared */
	bool used_hand; /* used since the hand last passed it */
};
POLICY_PAGE_FITS(struct pff_page);

struct pff_mm {
	struct list_head set; /* pages of the process, oldest first */
	u32 nr, nr_leaving;
	u32 fault_us; /* low bits of the virtual time of the last fault */
	bool faulted; /* since the bits were cleared */
	bool late;    /* and one of these faults was late */
};
POLICY_MM_FITS(struct pff_mm);

static u32 interval_ms = 10;
static LIST_HEAD(circle); /* the hand is before the first page */
static LIST_HEAD(leaving);
static u32 nr_circle, nr_leaving;
static u64 nr_late, nr_left, nr_clock;

static const struct vm_param pff_params[] = {
	{ "interval_ms", &interval_ms, 1, 60000, "ms",
	  "T: faults further apart shrink the process; process virtual time" },
	{ 0 },
};

static struct pff_page *pff_data(struct page *page)
{
	return policy_page(page);
}

static struct pff_mm *pff_mm(struct mm_struct *mm)
{
	return policy_mm(mm);
}

#define for_each_pff(mm) for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm))

static int pff_init(void)
{
	INIT_LIST_HEAD(&circle);
	INIT_LIST_HEAD(&leaving);
	nr_circle = nr_leaving = 0;
	nr_late = nr_left = nr_clock = 0;
	return 0;
}

static void pff_mm_init(struct mm_struct *mm)
{
	INIT_LIST_HEAD(&pff_mm(mm)->set);
	pff_mm(mm)->fault_us = mm_vtime(mm) / 1000;
}

/* Adds the page to the pages of process mm, if any (NULL: none). */
static void join_set(struct pff_page *p, struct mm_struct *mm)
{
	INIT_LIST_HEAD(&p->of_set);
	if (!mm)
		return;
	list_add_tail(&p->of_set, &pff_mm(mm)->set);
	pff_mm(mm)->nr++;
	pff_mm(mm)->nr_leaving += p->leaving;
}

static void leave_set(struct pff_page *p, struct mm_struct *mm)
{
	list_del(&p->of_set);
	if (!mm)
		return;
	pff_mm(mm)->nr--;
	pff_mm(mm)->nr_leaving -= p->leaving;
}

/* Puts the page on the circle, behind the hand. */
static void enlist(struct page *page)
{
	struct pff_page *p = pff_data(page);

	list_add_tail(&p->node, &circle);
	nr_circle++;
	p->leaving = false;
	p->used_set = true;
	join_set(p, page_mm(page));
}

static void delist(struct page *page)
{
	struct pff_page *p = pff_data(page);

	list_del(&p->node);
	nr_leaving -= p->leaving;
	nr_circle -= !p->leaving;
	leave_set(p, page_mm(page));
}

/* Moves a page to or from `leaving`. Only pages of processes leave. */
static void set_leaving(struct page *page, bool leaves)
{
	struct pff_page *p = pff_data(page);
	int change = leaves - p->leaving;

	if (!change)
		return;
	p->leaving = leaves;
	list_move_tail(&p->node, leaves ? &leaving : &circle);
	nr_leaving += change;
	nr_circle -= change;
	pff_mm(page_mm(page))->nr_leaving += change;
}

/* The page's recorded uses stay, and a leaving page still leaves. If it now has no process, it
 * becomes the next page under the hand. */
static void pff_moved(struct page *page, struct mm_struct *from, struct mm_struct *to)
{
	struct pff_page *p = pff_data(page);
	bool next = p->leaving && !to;

	leave_set(p, from);
	if (next) {
		p->leaving = false;
		list_move(&p->node, &circle);
		nr_leaving--;
		nr_circle++;
	}
	join_set(p, to);
}

/* Reads the accessed bit, for both the hand and the walk. */
static void look(struct page *page)
{
	if (page_referenced(page))
		pff_data(page)->used_set = pff_data(page)->used_hand = true;
}

static void note_fault(struct mm_struct *mm)
{
	struct pff_mm *m = pff_mm(mm);
	u32 now_us = mm_vtime(mm) / 1000;

	if (now_us - m->fault_us > interval_ms * 1000) {
		m->late = true;
		nr_late++;
	}
	m->faulted = true;
	m->fault_us = now_us;
}

static void pff_insert(struct page *page, struct mm_struct *mm, enum vm_in how, struct page_id from)
{
	(void)from;
	if (mm && how == VM_IN_FAULT)
		note_fault(mm);
	enlist(page);
}

static void pff_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	struct pff_page *p = pff_data(page);
	bool needed = how != VM_TOUCH_DONTNEED;

	(void)mm;
	page_referenced(page);
	p->used_set = p->used_hand = needed;
	if (page_mm(page))
		set_leaving(page, !needed);
	else if (!needed)
		list_move(&p->node, &circle);
}

static void pff_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(page);
}

/* Takes a leaving page. A page used since then stays; at priority 0 accessed bits are not read. */
static struct page *take_leaving(struct vm_scan *scan)
{
	for (u32 left = nr_leaving; left && vm_scan_more(scan); left--) {
		struct pff_page *p = list_first_entry(&leaving, struct pff_page, node);
		struct page *page = policy_page_of(p);

		if (!vm_eligible(scan, page)) {
			list_move_tail(&p->node, &leaving);
			continue;
		}
		if (scan->priority || scan->trim)
			look(page);
		if (!p->used_set)
			return page;
		set_leaving(page, false);
	}
	return NULL;
}

static struct page *take_by_clock(struct vm_scan *scan)
{
	while (nr_circle && vm_scan_more(scan)) {
		struct pff_page *p = list_first_entry(&circle, struct pff_page, node);
		struct page *page = policy_page_of(p);

		if (vm_eligible(scan, page)) {
			look(page);
			if (!p->used_hand) {
				nr_clock++;
				return page;
			}
			p->used_hand = false;
		}
		list_move_tail(&p->node, &circle);
	}
	return NULL;
}

static struct page *pff_select(struct vm_scan *scan)
{
	struct page *page = take_leaving(scan);

	if (page)
		nr_left++;
	else if (!scan->trim)
		page = take_by_clock(scan);
	if (page)
		delist(page);
	return page;
}

static void pff_putback(struct page *page, enum vm_put why)
{
	(void)why;
	enlist(page);
}

/* Clears the bits of a process; after a late fault the unused pages leave. */
static void examine(struct mm_struct *mm)
{
	struct pff_mm *m = pff_mm(mm);
	struct pff_page *p;

	list_for_each_entry(p, &m->set, of_set) {
		struct page *page = policy_page_of(p);

		look(page);
		if (m->late)
			set_leaving(page, !p->used_set);
		p->used_set = false;
	}
	m->faulted = m->late = false;
}

static bool has_settled(struct mm_struct *mm)
{
	u32 ran_us = (u32)(mm_vtime(mm) / 1000) - pff_mm(mm)->fault_us;

	return ran_us >= MIN(SETTLE_US, interval_ms * 500);
}

static bool pff_tick(void)
{
	for_each_pff(mm)
	{
		const struct pff_mm *m = pff_mm(mm);

		if (m->late || (m->faulted && has_settled(mm)))
			examine(mm);
	}
	return false;
}

static u32 pff_surplus(struct mm_struct *mm)
{
	return pff_mm(mm)->nr_leaving;
}

static int pff_check(void)
{
	if (vm_list_length(&circle) != (int)nr_circle ||
	    vm_list_length(&leaving) != (int)nr_leaving)
		return -1;
	for_each_pff(mm) if (vm_list_length(&pff_mm(mm)->set) != (int)pff_mm(mm)->nr) return -1;
	return nr_circle + nr_leaving;
}

static void pff_show(struct seq_file *m)
{
	show_u64(m, "circle", nr_circle);
	show_u64(m, "leaving", nr_leaving);
	show_u64(m, "late_faults", nr_late);
	show_u64(m, "left", nr_left);
	show_u64(m, "taken_by_clock", nr_clock);
}

static const struct vm_policy pff = {
	.name = "pff",
	.summary = "page fault frequency: a process that faults rarely shrinks",
	.tick_ms = TICK_MS,
	.params = pff_params,
	.init = pff_init,
	.mm_init = pff_mm_init,
	.insert = pff_insert,
	.touch = pff_touch,
	.remove = pff_remove,
	.moved = pff_moved,
	.select = pff_select,
	.putback = pff_putback,
	.surplus = pff_surplus,
	.tick = pff_tick,
	.check = pff_check,
	.show = pff_show,
};
VM_POLICY(pff);
