/*
 * Linux 2.2: one process after another gives up pages, the largest first, in order of address.
 *
 * There is no list of pages. swap_out chooses a process and walks through its address space, from
 * where it stopped the last time. A page that was used since then loses its accessed bit and is
 * passed; the first page whose bit is clear is evicted. So each process has a clock of its own,
 * whose hand moves in order of address. The question that remains is whose hand moves:
 *
 *	round begins          every process gets a swap_cnt: its current number of resident pages
 *	a page is needed      the walk of the process with the largest swap_cnt continues
 *	its walk ends         at its last page: swap_cnt is 0; the next walk begins at address 0
 *	all swap_cnt are 0    the next round begins
 *
 * So a process gives up pages until its walk has ended, however many it has left, and only then is
 * it the next process's turn. S. Jiang and X. Zhang found that this protects against thrashing
 * better than taking a few pages from every process (2.0, 2.4): the others can meanwhile build up
 * their working sets.
 *
 * Pages that are mapped by no process (read ahead, or read by system calls) are looked at first, by
 * shrink_mmap, another clock, with a software bit, PG_referenced. Here its clock is in order of
 * insertion, in Linux in order of frames.
 *
 * Differences from Linux. In Linux a page that swap_out unmaps stays in the swap cache until
 * shrink_mmap finds it there, and a use can rescue it; here only a use while it is being written
 * can. In Linux the priority limits the number of processes tried; here the scan's budget limits
 * the number of pages. The policy interface does not say at which address a file is mapped: pages
 * of files follow the others, in order of the file. A page that several processes share belongs to
 * the process that faulted it in. At priority 0, when the budget is spent, the first page that was
 * passed because of a use is evicted.
 *
 * Linux 2.2.14, mm/vmscan.c (swap_out) and mm/filemap.c (shrink_mmap). S. Jiang and X. Zhang, "TPF:
 * a dynamic system thrashing protection facility", Software: Practice and Experience 32(3), 2002,
 * section 2.2.
 */
#include "lib/rbtree.h"
#include "mm/policy.h"

struct linux22_page {
	union {
		struct rb_node node;    /* of a process: in order of address */
		struct list_head cache; /* of no process: on the cache list */
	};
	bool used; /* a use that the accessed bit does not show */
};
POLICY_PAGE_FITS(struct linux22_page);

struct linux22_mm {
	struct rb_root pages;
	u32 nr;           /* pages in the tree */
	u32 swap_cnt;     /* resident pages when the round began; 0: the walk has ended */
	u64 swap_address; /* where the walk continues */
};
POLICY_MM_FITS(struct linux22_mm);

static struct list_head cache; /* pages mapped by no process; the hand is before the first */
static u32 nr_cached;
static u64 nr_rounds, nr_walks, nr_passed;

static struct linux22_page *linux22_data(struct page *page)
{
	return policy_page(page);
}

static struct linux22_mm *linux22_mm(struct mm_struct *mm)
{
	return policy_mm(mm);
}

static struct page *page_of(struct rb_node *node)
{
	return policy_page_of(rb_entry(node, struct linux22_page, node));
}

/* Returns the page's place in the address space. Mapped files follow the process's own memory. */
static u64 address_of(const struct page *page)
{
	return (u64)page_is_file(page) << 32 | page_vpn(page);
}

static void enlist(struct page *page)
{
	struct mm_struct *mm = page_mm(page);
	struct rb_node *parent = NULL, **link;

	if (!mm) {
		list_add_tail(&linux22_data(page)->cache, &cache);
		nr_cached++;
		return;
	}
	link = &linux22_mm(mm)->pages.rb_node;
	while (*link) {
		parent = *link;
		link = &parent->rb_child[address_of(page) >= address_of(page_of(parent))];
	}
	rb_link_node(&linux22_data(page)->node, parent, link);
	rb_insert_color(&linux22_data(page)->node, &linux22_mm(mm)->pages);
	linux22_mm(mm)->nr++;
}

/* Takes the page out of mm's tree or, with mm NULL, out of the list `cache`. */
static void delist(struct page *page, struct mm_struct *mm)
{
	if (mm) {
		rb_erase(&linux22_data(page)->node, &linux22_mm(mm)->pages);
		linux22_mm(mm)->nr--;
	} else {
		list_del(&linux22_data(page)->cache);
		nr_cached--;
	}
}

static int linux22_init(void)
{
	INIT_LIST_HEAD(&cache);
	nr_cached = 0;
	nr_rounds = nr_walks = nr_passed = 0;
	return 0;
}

static void linux22_mm_init(struct mm_struct *mm)
{
	*linux22_mm(mm) = (struct linux22_mm){ .pages = RB_ROOT };
}

static void linux22_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			   struct page_id from)
{
	(void)mm, (void)how, (void)from;
	linux22_data(page)->used = false;
	enlist(page);
}

static void linux22_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	(void)mm;
	if (how == VM_TOUCH_DONTNEED)
		page_referenced(page);
	linux22_data(page)->used = how != VM_TOUCH_DONTNEED;
}

static void linux22_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(page, page_mm(page));
}

/* The page keeps its record of a use. */
static void linux22_moved(struct page *page, struct mm_struct *from, struct mm_struct *to)
{
	(void)to;
	delist(page, from);
	enlist(page);
}

/* Was the page used since the last call? Clears the accessed bits and the policy's bit. */
static bool test_and_clear_used(struct page *page)
{
	bool used = page_referenced(page) || linux22_data(page)->used;

	linux22_data(page)->used = false;
	nr_passed += used;
	return used;
}

/* May this page be evicted? If not, because it was used, *passed is set to it, unless it is set
 * already. */
static bool may_go(struct vm_scan *scan, struct page *page, struct page **passed)
{
	if (!vm_eligible(scan, page))
		return false;
	if (!test_and_clear_used(page))
		return true;
	if (!*passed)
		*passed = page;
	return false;
}

/* Looks once at each page that no process maps. Returns a page to evict, or NULL. */
static struct page *shrink_mmap(struct vm_scan *scan, struct page **passed)
{
	for (u32 left = nr_cached; left && vm_scan_more(scan); left--) {
		struct linux22_page *p = list_first_entry(&cache, struct linux22_page, cache);

		if (may_go(scan, policy_page_of(p), passed))
			return policy_page_of(p);
		list_move_tail(&p->cache, &cache);
	}
	return NULL;
}

/* Returns the first page of a process at or above this address, or NULL if there is none. */
static struct rb_node *first_from(const struct rb_root *pages, u64 address)
{
	struct rb_node *at = pages->rb_node, *best = NULL;

	while (at)
		if (address_of(page_of(at)) >= address) {
			best = at;
			at = at->rb_left;
		} else {
			at = at->rb_right;
		}
	return best;
}

/* Continues the walk. Returns NULL if it has ended or the budget is spent. */
static struct page *swap_out_process(struct linux22_mm *m, struct vm_scan *scan,
				     struct page **passed)
{
	struct rb_node *at;

	for (at = first_from(&m->pages, m->swap_address); at; at = rb_next(at)) {
		if (!vm_scan_more(scan))
			return NULL;
		m->swap_address = address_of(page_of(at)) + 1;
		if (may_go(scan, page_of(at), passed))
			return page_of(at);
	}
	m->swap_cnt = 0;
	m->swap_address = 0;
	nr_walks++;
	return NULL;
}

static struct linux22_mm *largest_swap_cnt(void)
{
	struct linux22_mm *best = NULL;

	for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm))
		if (linux22_mm(mm)->swap_cnt > (best ? best->swap_cnt : 0))
			best = linux22_mm(mm);
	return best;
}

static void begin_round(void)
{
	for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm))
		linux22_mm(mm)->swap_cnt = linux22_mm(mm)->nr;
	nr_rounds++;
}

static struct page *swap_out(struct vm_scan *scan, struct page **passed)
{
	struct page *page = NULL;

	while (!page && scan->budget) {
		struct linux22_mm *m = largest_swap_cnt();

		if (!m) {
			begin_round();
			m = largest_swap_cnt();
		}
		if (!m)
			break;
		page = swap_out_process(m, scan, passed);
	}
	return page;
}

static struct page *linux22_select(struct vm_scan *scan)
{
	struct page *passed = NULL, *page = shrink_mmap(scan, &passed);

	if (!page)
		page = swap_out(scan, &passed);
	if (!page && !scan->priority)
		page = passed;
	if (page)
		delist(page, page_mm(page));
	return page;
}

static void linux22_putback(struct page *page, enum vm_put why)
{
	linux22_data(page)->used = why == VM_PUT_USED;
	enlist(page);
}

static int linux22_check(void)
{
	int sum = nr_cached;

	if (vm_list_length(&cache) != sum)
		return -1;
	for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm)) {
		if (rb_check(&linux22_mm(mm)->pages) != (int)linux22_mm(mm)->nr)
			return -1;
		sum += linux22_mm(mm)->nr;
	}
	return sum;
}

static void linux22_show(struct seq_file *m)
{
	u32 mapped = 0;

	for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm))
		mapped += linux22_mm(mm)->nr;
	show_u64(m, "of_processes", mapped);
	show_u64(m, "of_none", nr_cached);
	show_u64(m, "rounds", nr_rounds);
	show_u64(m, "walks_ended", nr_walks);
	show_u64(m, "passed_used", nr_passed);
}

static const struct vm_policy linux22 = {
	.name = "linux22",
	.summary = "Linux 2.2: the largest process gives up pages in order of address",
	.init = linux22_init,
	.mm_init = linux22_mm_init,
	.insert = linux22_insert,
	.touch = linux22_touch,
	.remove = linux22_remove,
	.moved = linux22_moved,
	.select = linux22_select,
	.putback = linux22_putback,
	.check = linux22_check,
	.show = linux22_show,
};
VM_POLICY(linux22);
