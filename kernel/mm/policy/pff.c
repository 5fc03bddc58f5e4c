/*
 * PFF: each process gets memory by how often it faults.
 *
 * The working set needs the time of each page's last use, and somebody who looks for it all the
 * time. Chu and Opderbeck look at the faults instead. One that comes soon after the one before says
 * that the process has too few pages: it grows by the page it asks for. One that comes late, more
 * than T = 1/P of the process's own time after the one before, P being the frequency of faults that
 * is thought right, says that it may have too many: then those that it has not used leave it.
 *
 *	since its last fault   the process
 *	at most T              grows by a page
 *	more than T            loses the pages that were not used; all bits are cleared
 *
 * Only faults that bring a page in count: to claim what was read ahead, or to find a page in
 * memory, is not one. A process that does not fault keeps what it has, also when it needs it no
 * longer, and one that goes from phase to phase grows in between.
 *
 * Not as in the paper: the pages are looked through at the first tick after the late fault, not in
 * it, as hooks of faults must be short, and leave then (->surplus). Bits are cleared only when a
 * process shrinks, as textbooks have it. So "not used" means since it last shrank; to clear them at
 * each fault would be a walk for each fault.
 *
 * When no frame is free, and nobody shrinks, the paper stops a process. Here the hand of a CLOCK
 * over the pages of all gives one, and load control is left to guards (mm/guard.h). Hand and walk
 * both clear accessed bits, so each leaves a note for the other. Pages of no process, those read
 * ahead and those only read and written, are the hand's alone.
 *
 * W. Chu and H. Opderbeck, "The page fault frequency replacement algorithm", AFIPS Fall Joint
 * Computer Conference, 1972.
 */
#include "mm/policy.h"

struct pff_page {
	struct list_head node;   /* on the circle, or leaving */
	struct list_head of_set; /* in its process's list; an empty ring: of no process */
	bool leaving;
	bool used_set;  /* used since its process last shrank */
	bool used_hand; /* used since the hand last came */
};
POLICY_PAGE_FITS(struct pff_page);

struct pff_mm {
	struct list_head set; /* its pages, oldest first */
	u32 nr, nr_leaving;
	u32 fault_us; /* low bits of the virtual time of its last fault */
	bool shrink;  /* that one came late */
};
POLICY_MM_FITS(struct pff_mm);

static u32 interval_ms = 10;
static LIST_HEAD(circle); /* the hand is before the first */
static LIST_HEAD(leaving);
static u32 nr_circle, nr_leaving;
static u64 nr_late, nr_left, nr_clock;

static const struct vm_param pff_params[] = {
	{ "interval_ms", &interval_ms, 1, 60000, "ms",
	  "T: faults further apart shrink, process virtual time" },
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

/* mm NULL: of no process. */
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

/* Only pages of processes leave. */
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

/* Its uses stay noted, and so what was to leave does; but of no process, it is the next under the hand. */
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

/* Asks for the accessed bit, for the hand and for the walk. */
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
		m->shrink = true;
		nr_late++;
	}
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

/* One that was used meanwhile stays; at priority 0 any will do. */
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

static void shrink(struct mm_struct *mm)
{
	struct pff_page *p;

	pff_mm(mm)->shrink = false;
	list_for_each_entry(p, &pff_mm(mm)->set, of_set) {
		struct page *page = policy_page_of(p);

		look(page);
		set_leaving(page, !p->used_set);
		p->used_set = false;
	}
}

static bool pff_tick(void)
{
	for_each_pff(mm) if (pff_mm(mm)->shrink) shrink(mm);
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
	.summary = "page fault frequency: who faults rarely shrinks",
	.tick_ms = 10,
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
