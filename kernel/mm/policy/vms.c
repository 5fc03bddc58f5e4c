/*
 * VAX/VMS: a resident set for each process, first in, first out, and a second chance for all.
 *
 * The VAX has no accessed bits, so the system cannot tell which pages were used. VMS uses the
 * simplest order, FIFO, and corrects its errors. Each process has a resident set, a queue with a
 * limit. A page that leaves the queue stays in memory for a while, on a list shared by all
 * processes: the modified list if it must be written, else the free list. Its process can no longer
 * use it without a fault, but such a fault (a minor one, without a read) puts it back into the set.
 * So a page that is used is rescued; a page that is not used reaches the head of the free list, and
 * its frame is reused:
 *
 *	resident set --oldest--> modified list --written--> free list --> its frame is reused
 *	     ^       --clean, oldest------------------------> tail    head
 *	     `------------------- used: a minor fault -------'
 *
 * The modified list is also a buffer. When it is too long, it is written down to half its limit,
 * many pages at once: many pages die or are used again before that, and one large write costs less
 * than many small ones. Free and modified list together are a queue in the order of last use, as
 * far as VMS can see it. The larger the resident sets, the more it is FIFO; the smaller, the more
 * it is LRU, and the more minor faults there are. R. Turner and H. Levy call it segmented FIFO
 * (SIGMETRICS 1981).
 *
 * Accessed bits do not decide here. A page leaves a set by page_trap, not by VM_DETACH. page_trap
 * acts immediately, within the very fault that makes the set too long, as in VMS.
 *
 * Limits. In VMS each user has a limit, and memory must be large enough for all limits, or whole
 * processes are swapped out. Here all sets together may have resident_percent of memory. When they
 * have more, the process that faults gives up its oldest page if it has more than an even share,
 * else the process with the most pages does. So a single process may have all of it. A process
 * keeps min_pages: an instruction may need six at a time (its own bytes, what it reads and what it
 * writes, each across the end of a page), and with fewer it could never complete. When both lists
 * are empty, the largest set's oldest page is evicted.
 *
 * Pages of no process (read ahead, or only read and written) are in no set, but on the lists, from
 * which a claim takes them. Left out: the swapper, and clusters of pages that are read together.
 *
 * H. Levy and P. Lipman, "Virtual memory management in the VAX/VMS operating system", IEEE Computer
 * 15(3), 1982.
 */
#include "mm/policy.h"

#define FIRST_PASS 12 /* priority of the first pass */

enum vms_place { RESIDENT, FREE, MODIFIED };

struct vms_page {
	struct list_head node;
	enum vms_place place;
};
POLICY_PAGE_FITS(struct vms_page);

struct vms_mm {
	struct list_head set; /* oldest first */
	u32 nr;
};
POLICY_MM_FITS(struct vms_mm);

static u32 resident_percent = 70, modified_percent = 10, cluster = 32, min_pages = 8;
static LIST_HEAD(free_list); /* both lists: next victim first */
static LIST_HEAD(modified_list);
static u32 nr_free, nr_modified;
static u32 nr_resident, nr_sets; /* pages in sets; sets that are not empty */
static bool writing;             /* launder: the modified list became too long */
static u32 nr_written;           /* pages laundered since the last eviction */
static u64 nr_rescued, nr_laundered, nr_emergency;

static const struct vm_param vms_params[] = {
	{ "resident_percent", &resident_percent, 1, 99, "%", "memory that resident sets may have" },
	{ "modified_percent", &modified_percent, 1, 50, "%", "memory that waits to be written" },
	{ "cluster", &cluster, 1, 100, NULL, "pages laundered for each evicted page" },
	{ "min_pages", &min_pages, 6, 1000, NULL, "minimum pages of a resident set" },
	{ 0 },
};

static struct vms_page *vms_data(struct page *page)
{
	return policy_page(page);
}

static struct vms_mm *vms_mm(struct mm_struct *mm)
{
	return policy_mm(mm);
}

#define for_each_vms(mm) for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm))

static u32 share(u32 percent)
{
	return (u64)vm_frames() * percent / 100;
}

static int vms_init(void)
{
	INIT_LIST_HEAD(&free_list);
	INIT_LIST_HEAD(&modified_list);
	nr_free = nr_modified = nr_resident = nr_sets = nr_written = 0;
	nr_rescued = nr_laundered = nr_emergency = 0;
	writing = false;
	return 0;
}

static void vms_mm_init(struct mm_struct *mm)
{
	INIT_LIST_HEAD(&vms_mm(mm)->set);
}

/* Takes the page off its list, or out of the set of mm. */
static void delist(struct vms_page *p, struct mm_struct *mm)
{
	list_del(&p->node);
	if (p->place == FREE) {
		nr_free--;
	} else if (p->place == MODIFIED) {
		nr_modified--;
	} else {
		nr_resident--;
		nr_sets -= --vms_mm(mm)->nr == 0;
	}
}

/* Puts the page on the modified or the free list. */
static void shelve(struct page *page)
{
	struct vms_page *p = vms_data(page);

	if (page_dirty(page)) {
		p->place = MODIFIED;
		list_add_tail(&p->node, &modified_list);
		nr_modified++;
	} else {
		p->place = FREE;
		list_add_tail(&p->node, &free_list);
		nr_free++;
	}
}

/* Moves the page to a list. The process's next use is a fault now; a bit set later means that it
 * was used (see putback). */
static void leave_set(struct page *page)
{
	delist(vms_data(page), page_mm(page));
	page_referenced(page);
	page_trap(page);
	shelve(page);
}

static struct mm_struct *largest_set(void)
{
	struct mm_struct *largest = NULL;

	for_each_vms(mm) if (!largest || vms_mm(mm)->nr > vms_mm(largest)->nr) largest = mm;
	return largest;
}

/* If all sets together are too large, removes an oldest page. mm has just got a page. */
static bool shorten(struct mm_struct *mm)
{
	u32 limit = share(resident_percent);

	if (nr_resident <= MAX(limit, min_pages))
		return false;
	if (vms_mm(mm)->nr <= MAX(limit / nr_sets, min_pages))
		mm = largest_set();
	if (vms_mm(mm)->nr <= min_pages)
		return false;
	leave_set(policy_page_of(list_first_entry(&vms_mm(mm)->set, struct vms_page, node)));
	return true;
}

/* Removes up to two pages for one, so that sets shrink if memory does; never the page that joins. */
static void join_set(struct page *page)
{
	struct vms_mm *m = vms_mm(page_mm(page));

	vms_data(page)->place = RESIDENT;
	list_add_tail(&vms_data(page)->node, &m->set);
	nr_resident++;
	nr_sets += m->nr++ == 0;
	if (shorten(page_mm(page)))
		shorten(page_mm(page));
}

static void enlist(struct page *page)
{
	if (page_mm(page))
		join_set(page);
	else
		shelve(page);
}

static void vms_insert(struct page *page, struct mm_struct *mm, enum vm_in how, struct page_id from)
{
	(void)mm, (void)how, (void)from;
	enlist(page);
}

static void vms_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	bool resident = vms_data(page)->place == RESIDENT;

	(void)mm;
	if (how == VM_TOUCH_DONTNEED && resident) {
		leave_set(page);
	} else if (how != VM_TOUCH_DONTNEED && !resident) {
		nr_rescued++;
		delist(vms_data(page), page_mm(page));
		enlist(page);
	}
}

static void vms_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(vms_data(page), page_mm(page));
}

/* Puts the page into the set of its new process; without one, onto a list. A page that is on a list
 * stays there, as its next use is a fault, except when its first process maps it: then there may be
 * none. */
static void vms_moved(struct page *page, struct mm_struct *from, struct mm_struct *to)
{
	(void)to;
	if (from && vms_data(page)->place != RESIDENT)
		return;
	delist(vms_data(page), from);
	enlist(page);
}

static struct page *first_of(struct list_head *list, u32 length, struct vm_scan *scan)
{
	while (length-- && vm_scan_more(scan)) {
		struct vms_page *p = list_first_entry(list, struct vms_page, node);

		if (vm_eligible(scan, policy_page_of(p)))
			return policy_page_of(p);
		list_move_tail(&p->node, list);
	}
	return NULL;
}

/* Called if both lists have no page for this scan. The first pass waits for pages being written. */
static struct page *first_of_sets(struct vm_scan *scan)
{
	struct mm_struct *largest = largest_set();
	struct page *page = NULL;

	if (scan->priority == FIRST_PASS)
		return NULL;
	nr_emergency++;
	if (largest)
		page = first_of(&vms_mm(largest)->set, vms_mm(largest)->nr, scan);
	for_each_vms(mm)
	{
		if (page || scan->priority)
			break;
		if (mm != largest)
			page = first_of(&vms_mm(mm)->set, vms_mm(mm)->nr, scan);
	}
	return page;
}

static bool must_write(void)
{
	u32 limit = MAX(share(modified_percent), 2u);

	if (nr_modified > limit)
		writing = true;
	else if (nr_modified <= limit / 2)
		writing = false;
	return writing && nr_written < cluster;
}

static struct page *find_page(struct vm_scan *scan)
{
	struct page *page;

	if (scan->priority && must_write()) {
		page = first_of(&modified_list, nr_modified, scan);
		if (page)
			scan->act = VM_LAUNDER;
		return page;
	}
	page = first_of(&free_list, nr_free, scan);
	if (!page)
		page = first_of(&modified_list, nr_modified, scan);
	return page ?: first_of_sets(scan);
}

static struct page *vms_select(struct vm_scan *scan)
{
	struct page *page = find_page(scan);

	if (!page)
		return NULL;
	delist(vms_data(page), page_mm(page));
	if (scan->act == VM_LAUNDER) {
		nr_written++;
		nr_laundered++;
	} else {
		nr_written = 0;
	}
	return page;
}

/* If the page was used during its writeback, its next use is not a fault any more. */
static void vms_putback(struct page *page, enum vm_put why)
{
	bool used = why == VM_PUT_USED || page_referenced(page);

	if (used || vms_data(page)->place == RESIDENT) {
		enlist(page);
		return;
	}
	if (page_mm(page))
		page_trap(page);
	shelve(page);
}

static int vms_check(void)
{
	u32 sets = 0, sum = 0;

	if (vm_list_length(&free_list) != (int)nr_free ||
	    vm_list_length(&modified_list) != (int)nr_modified)
		return -1;
	for_each_vms(mm)
	{
		if (vm_list_length(&vms_mm(mm)->set) != (int)vms_mm(mm)->nr)
			return -1;
		sum += vms_mm(mm)->nr;
		sets += vms_mm(mm)->nr > 0;
	}
	return sum == nr_resident && sets == nr_sets ? (int)(sum + nr_free + nr_modified) : -1;
}

static void vms_show(struct seq_file *m)
{
	show_u64(m, "free_list", nr_free);
	show_u64(m, "modified_list", nr_modified);
	show_u64(m, "resident", nr_resident);
	show_u64(m, "resident_sets", nr_sets);
	show_u64(m, "rescued", nr_rescued);
	show_u64(m, "laundered", nr_laundered);
	show_u64(m, "asked_of_sets", nr_emergency);
}

static const struct vm_policy vms = {
	.name = "vms",
	.summary = "VAX/VMS: FIFO for each process, free and modified list for all",
	.params = vms_params,
	.init = vms_init,
	.mm_init = vms_mm_init,
	.insert = vms_insert,
	.touch = vms_touch,
	.remove = vms_remove,
	.moved = vms_moved,
	.select = vms_select,
	.putback = vms_putback,
	.check = vms_check,
	.show = vms_show,
};
VM_POLICY(vms);
