/*
 * Linux 2.2: one process after another gives up pages, the largest first, in order of address. A page
 * that was given up stays in memory for a while, and a use rescues it.
 *
 * Two clocks. swap_out unmaps pages, and has dirty ones written; shrink_mmap frees them. In between
 * a page is in the page cache or the swap cache, and no process maps it:
 *
 *	mapped ---swap_out: not used---> cached ---shrink_mmap: not used---> evicted
 *	   ^                               |
 *	   `--------rescued: a fault-------'
 *
 * swap_out chooses a process and walks through its address space, from where it stopped the last
 * time. A page that was used since then loses its accessed bit and is passed; a page whose bit is
 * clear is unmapped. So each process has a clock of its own, whose hand moves in order of address.
 * The question that remains is whose hand moves:
 *
 *	round begins          every process gets a swap_cnt: its current number of mapped pages
 *	pages are needed      the walk of the process with the largest swap_cnt continues
 *	its walk ends         at its last page: swap_cnt is 0; the next walk begins at address 0
 *	all swap_cnt are 0    the next round begins
 *
 * So a process gives up pages until its walk has ended, however many it has left, and only then is
 * it the next process's turn. S. Jiang and X. Zhang found that this protects against thrashing
 * better than taking a few pages from every process (2.0, 2.4): the others can meanwhile build up
 * their working sets.
 *
 * shrink_mmap goes through all frames in order of their numbers and skips those that are mapped. A
 * page used by read or write since the hand passed loses a software bit, PG_referenced, and stays.
 * At priority 12 it looks at a quarter of all frames, below 4 at each frame twice. When it finds
 * nothing, swap_out unmaps a cluster of pages, and then it looks again. If a page of the cluster is
 * being written, the scan ends first, so that the core waits. At priority 0 swap_out's page is
 * evicted at once: the first unused one, at worst the first that was passed because of a use.
 *
 * Differences from Linux. A cluster is 32 pages there, and less here in a small memory. Left out: a
 * page that swap_out passes becomes PG_referenced, too, until shrink_mmap's hand passes it. There
 * the priority limits the number of processes tried; here the scan's budget limits the number of
 * pages. The policy interface does not say at which address a file is mapped: pages of files follow
 * the others, in order of the file. A page that several processes share belongs to the process that
 * faulted it in, and is unmapped from all at the same time.
 *
 * Linux 2.2.14, mm/vmscan.c (swap_out) and mm/filemap.c (shrink_mmap). S. Jiang and X. Zhang, "TPF:
 * a dynamic system thrashing protection facility", Software: Practice and Experience 32(3), 2002,
 * section 2.2.
 */
#include "lib/rbtree.h"
#include "mm/policy.h"

#define CLUSTER 32 /* SWAP_CLUSTER_MAX */

struct linux22_page {
	struct rb_node node;
	bool cached;   /* in `cache`, not in its process's tree */
	bool unmapped; /* by swap_out, since it was in its process's tree */
	bool used;     /* a use that the accessed bit does not show */
};
POLICY_PAGE_FITS(struct linux22_page);

struct linux22_mm {
	struct rb_root pages; /* in order of address */
	u32 nr;               /* pages in the tree */
	u32 swap_cnt;         /* `nr` when the round began; 0: the walk has ended */
	u64 swap_address;     /* where the walk continues */
};
POLICY_MM_FITS(struct linux22_mm);

static struct rb_root cache; /* pages that no process maps, in order of frame number */
static u32 nr_cached;
static u32 hand;              /* the next frame at which shrink_mmap looks */
static u32 to_swap_out;       /* rest of the cluster; 0: it is shrink_mmap's turn */
static struct page *to_write; /* in the cache: unmapped just now, and dirty */
static bool wrote;            /* a page of this cluster was given to be written */
static u64 nr_rounds, nr_walks, nr_passed, nr_unmapped, nr_rescued;

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

/* Returns the process in whose tree the page belongs, or NULL if it belongs in the cache. */
static struct mm_struct *mapped_by(struct page *page)
{
	return page_is_mapped(page) ? page_mm(page) : NULL;
}

/* Returns the page's place in the order of its tree: in the cache its frame, otherwise its address.
 * Mapped files follow the process's own memory. */
static u64 place_of(struct page *page)
{
	if (linux22_data(page)->cached)
		return page_pfn(page);
	return (u64)page_is_file(page) << 32 | page_vpn(page);
}

/* Puts the page into the tree of mm or, with mm NULL, into the cache. */
static void enlist(struct page *page, struct mm_struct *mm)
{
	struct linux22_page *p = linux22_data(page);
	struct rb_root *root = mm ? &linux22_mm(mm)->pages : &cache;
	struct rb_node *parent = NULL, **link = &root->rb_node;

	p->cached = !mm;
	while (*link) {
		parent = *link;
		link = &parent->rb_child[place_of(page) >= place_of(page_of(parent))];
	}
	rb_link_node(&p->node, parent, link);
	rb_insert_color(&p->node, root);
	if (!mm) {
		nr_cached++;
		return;
	}
	linux22_mm(mm)->nr++;
	nr_rescued += p->unmapped;
	p->unmapped = false;
}

/* Takes the page out of the cache, or out of the tree of mm. */
static void delist(struct page *page, struct mm_struct *mm)
{
	struct linux22_page *p = linux22_data(page);

	if (page == to_write)
		to_write = NULL;
	rb_erase(&p->node, p->cached ? &cache : &linux22_mm(mm)->pages);
	*(p->cached ? &nr_cached : &linux22_mm(mm)->nr) -= 1;
}

static int linux22_init(void)
{
	cache = RB_ROOT;
	nr_cached = hand = to_swap_out = 0;
	to_write = NULL;
	wrote = false;
	nr_rounds = nr_walks = nr_passed = nr_unmapped = nr_rescued = 0;
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
	enlist(page, mapped_by(page));
}

/* A page of the cache that is mapped now has been rescued by this fault. */
static void linux22_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	(void)mm;
	if (linux22_data(page)->cached && mapped_by(page)) {
		delist(page, NULL);
		enlist(page, mapped_by(page));
	}
	if (how == VM_TOUCH_DONTNEED)
		page_referenced(page);
	linux22_data(page)->used = how != VM_TOUCH_DONTNEED;
}

static void linux22_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(page, page_mm(page));
}

/* The page keeps its record of a use. If `to` is a process, it maps the page, or is about to. */
static void linux22_moved(struct page *page, struct mm_struct *from, struct mm_struct *to)
{
	delist(page, from);
	enlist(page, to);
}

/* Was the page used since the last call? Clears the accessed bits and the policy's bit. */
static bool test_and_clear_used(struct page *page)
{
	bool used = page_referenced(page) || linux22_data(page)->used;

	linux22_data(page)->used = false;
	nr_passed += used;
	return used;
}

/* May the scan take this page? If not, because it was used, *passed is set to it, unless it is set
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

/* Returns the first page of a tree whose place is at or above this one, or NULL if there is none. */
static struct rb_node *first_from(const struct rb_root *root, u64 place)
{
	struct rb_node *at = root->rb_node, *best = NULL;

	while (at)
		if (place_of(page_of(at)) >= place) {
			best = at;
			at = at->rb_left;
		} else {
			at = at->rb_right;
		}
	return best;
}

/* Returns a cached page to evict, or NULL. The hand jumps over frames without a cached page. They
 * cost nothing of the budget, but the limit counts them. */
static struct page *shrink_mmap(struct vm_scan *scan, struct page **passed)
{
	u32 left = 2 * max_pfn >> scan->priority / 4;

	for (;;) {
		struct rb_node *node = first_from(&cache, hand);
		u32 frame = node ? page_pfn(page_of(node)) : max_pfn;

		if (frame - hand >= left) {
			hand += left;
			return NULL;
		}
		left -= frame - hand;
		hand = node ? frame : 0;
		if (!node)
			continue;
		if (!vm_scan_more(scan))
			return NULL;
		left--;
		hand++;
		if (may_go(scan, page_of(node), passed))
			return page_of(node);
	}
}

/* Continues the walk. Returns NULL if it has ended or the budget is spent. */
static struct page *swap_out_process(struct linux22_mm *m, struct vm_scan *scan,
				     struct page **passed)
{
	struct rb_node *at;

	for (at = first_from(&m->pages, m->swap_address); at; at = rb_next(at)) {
		if (!vm_scan_more(scan))
			return NULL;
		m->swap_address = place_of(page_of(at)) + 1;
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

/* Returns the number of pages that swap_out unmaps before it is shrink_mmap's turn. */
static u32 cluster(void)
{
	return MIN(vm_frames() / 64 + 1, CLUSTER);
}

/* Returns NULL if no page is to be written by this scan. */
static struct page *next_to_write(struct vm_scan *scan)
{
	struct page *page = to_write;

	if (!page || !scan->priority || !vm_eligible(scan, page))
		return NULL;
	scan->act = VM_LAUNDER;
	wrote = true;
	return page;
}

/* Returns NULL also at the end of a cluster of which pages are being written: the pass ends. */
static struct page *next_of_swap_out(struct vm_scan *scan, struct page **passed)
{
	struct page *page;

	if (!scan->priority)
		return swap_out(scan, passed);
	page = to_swap_out ? swap_out(scan, passed) : NULL;
	to_swap_out = page ? to_swap_out - 1 : 0;
	wrote &= page != NULL;
	scan->act = VM_DETACH;
	return page;
}

/* shrink_mmap's turn begins when swap_out has unmapped its cluster. */
static struct page *find_page(struct vm_scan *scan, struct page **passed)
{
	struct page *page = next_to_write(scan);

	if (!page && (!scan->priority || (!to_swap_out && !wrote))) {
		page = shrink_mmap(scan, passed);
		to_swap_out = page ? 0 : cluster();
	}
	return page ?: next_of_swap_out(scan, passed);
}

static struct page *linux22_select(struct vm_scan *scan)
{
	struct page *passed = NULL, *page = find_page(scan, &passed);

	if (!page && !scan->priority)
		page = passed;
	if (page)
		delist(page, page_mm(page));
	return page;
}

static void put_unmapped(struct page *page)
{
	linux22_data(page)->unmapped = true;
	nr_unmapped++;
	enlist(page, NULL);
	if (page_dirty(page))
		to_write = page;
}

/* A fault may have mapped a page again while it was being written. */
static void linux22_putback(struct page *page, enum vm_put why)
{
	struct linux22_page *p = linux22_data(page);

	p->used = why == VM_PUT_USED;
	if (why == VM_PUT_DONE && !p->cached)
		put_unmapped(page);
	else
		enlist(page, mapped_by(page));
}

static int linux22_check(void)
{
	int sum = nr_cached;

	if (rb_check(&cache) != sum)
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
	show_u64(m, "cached", nr_cached);
	show_u64(m, "unmapped", nr_unmapped);
	show_u64(m, "rescued", nr_rescued);
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
