/*
 * Linux 2.0: each process in turn gives up a few pages, and every page has an age.
 *
 * One accessed bit says only whether a page was used since the last look. An age remembers several
 * looks. It begins at 3. If a look finds the page used, the age rises by 3 (to at most 20);
 * otherwise it falls by 1, and at 0 the page is evicted. So a page that was used often survives
 * many looks that find it unused.
 *
 *	look finds it used       age + 3, at most 20     stays
 *	not used, age above 1    age - 1                 stays
 *	not used, age 1 or 0     age 0                   evicted
 *
 * The looks walk through the address spaces, in order of address, and the processes form a circle.
 * The process whose turn it is gives up 1/32 of its resident pages, but at least 4 (swap_cnt); then
 * the turn passes to the next process. The turn also passes when the walk reaches its last page. A
 * large process gives up more, in proportion. S. Jiang and X. Zhang saw a danger of thrashing in
 * this: all processes lose pages at the same time, and none can build up its working set.
 *
 * Pages that are mapped by no process have ages, too, and a clock of their own, shrink_mmap. The
 * two sources take turns, each until it fails: shrink_mmap when its hand has gone round once,
 * swap_out when every process has been walked through without success.
 *
 * Differences from Linux. In Linux the priority limits how many pages shrink_mmap looks at and how
 * many processes swap_out tries; here the scan's budget limits the pages looked at. In Linux the
 * end of a walk also counts as one of swap_cnt. Here shrink_mmap's clock is in order of insertion,
 * in Linux in order of frames. In Linux a page that has become dirty since it was read from the
 * swap area counts as used at the first look. Linux 2.0 frees a page when it has been written, used
 * or not: its swap cache only records which pages have an unchanged copy. Here a use during the
 * write rescues the page. The policy interface does not say at which address a file is mapped:
 * pages of files follow the others. A shared page belongs to the process that faulted it in. At
 * priority 0, when the budget is spent, the page with the lowest age among those looked at is
 * evicted.
 *
 * Linux 2.0.39, mm/vmscan.c (swap_out), mm/filemap.c (shrink_mmap), include/linux/swapctl.h. S.
 * Jiang and X. Zhang, "TPF: a dynamic system thrashing protection facility", Software: Practice and
 * Experience 32(3), 2002, section 2.1, where ages fall by 3.
 */
#include "lib/rbtree.h"
#include "mm/policy.h"

#define CLUSTER_FRACTION 32 /* a turn takes 1/32 of the resident pages */
#define CLUSTER_MIN 4

struct linux20_page {
	union {
		struct rb_node node;    /* of a process: in order of address */
		struct list_head cache; /* of no process: on the cache list */
	};
	bool used; /* a use that the accessed bit does not show */
	u8 age;
};
POLICY_PAGE_FITS(struct linux20_page);

struct linux20_mm {
	struct list_head turn;
	struct rb_root pages;
	u32 nr;           /* pages in the tree */
	u32 swap_cnt;     /* pages still to be given up in this turn */
	u64 swap_address; /* where the walk continues */
};
POLICY_MM_FITS(struct linux20_mm);

/* One select: its scan, and the eligible page with the lowest age among those that stayed. */
struct search {
	struct vm_scan *scan;
	struct page *oldest;
};

static u32 max_age = 20, advance = 3, decline = 1, initial_age = 3;
static struct list_head cache;     /* pages mapped by no process; the hand is before the first */
static struct list_head processes; /* the process whose turn it is comes first */
static u32 nr_cached, nr_processes;
static bool in_processes; /* whether it is the turn of swap_out or of shrink_mmap */
static u64 nr_turns, nr_walks, nr_rejuvenated;

static const struct vm_param linux20_params[] = {
	{ "max_age", &max_age, 1, 255, NULL, "maximum age of a page" },
	{ "advance", &advance, 0, 255, NULL, "increase in age if a page was used" },
	{ "decline", &decline, 1, 255, NULL, "decrease in age if a page was not used" },
	{ "initial_age", &initial_age, 0, 255, NULL, "age of a new page" },
	{ 0 },
};

static struct linux20_page *linux20_data(struct page *page)
{
	return policy_page(page);
}

static struct linux20_mm *linux20_mm(struct mm_struct *mm)
{
	return policy_mm(mm);
}

static struct page *page_of(struct rb_node *node)
{
	return policy_page_of(rb_entry(node, struct linux20_page, node));
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
		list_add_tail(&linux20_data(page)->cache, &cache);
		nr_cached++;
		return;
	}
	link = &linux20_mm(mm)->pages.rb_node;
	while (*link) {
		parent = *link;
		link = &parent->rb_child[address_of(page) >= address_of(page_of(parent))];
	}
	rb_link_node(&linux20_data(page)->node, parent, link);
	rb_insert_color(&linux20_data(page)->node, &linux20_mm(mm)->pages);
	linux20_mm(mm)->nr++;
}

/* Takes the page out of mm's tree or, with mm NULL, out of the list `cache`. */
static void delist(struct page *page, struct mm_struct *mm)
{
	if (mm) {
		rb_erase(&linux20_data(page)->node, &linux20_mm(mm)->pages);
		linux20_mm(mm)->nr--;
	} else {
		list_del(&linux20_data(page)->cache);
		nr_cached--;
	}
}

static int linux20_init(void)
{
	INIT_LIST_HEAD(&cache);
	INIT_LIST_HEAD(&processes);
	nr_cached = nr_processes = 0;
	nr_turns = nr_walks = nr_rejuvenated = 0;
	in_processes = false;
	return 0;
}

static void linux20_mm_init(struct mm_struct *mm)
{
	*linux20_mm(mm) = (struct linux20_mm){ .pages = RB_ROOT };
	list_add_tail(&linux20_mm(mm)->turn, &processes);
	nr_processes++;
}

static void linux20_mm_exit(struct mm_struct *mm)
{
	list_del(&linux20_mm(mm)->turn);
	nr_processes--;
}

static void linux20_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			   struct page_id from)
{
	(void)mm, (void)how, (void)from;
	linux20_data(page)->used = false;
	linux20_data(page)->age = MIN(initial_age, max_age);
	enlist(page);
}

static void linux20_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	(void)mm;
	linux20_data(page)->used = how != VM_TOUCH_DONTNEED;
	if (how == VM_TOUCH_DONTNEED) {
		page_referenced(page);
		linux20_data(page)->age = 0;
	}
}

static void linux20_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(page, page_mm(page));
}

/* All processes that map a page share its age, so the age stays. */
static void linux20_moved(struct page *page, struct mm_struct *from, struct mm_struct *to)
{
	(void)to;
	delist(page, from);
	enlist(page);
}

/* Ages the page. Returns true if it is to be evicted; a page that stays may become s->oldest. */
static bool age(struct search *s, struct page *page)
{
	struct linux20_page *p = linux20_data(page);
	bool used;

	if (!vm_eligible(s->scan, page))
		return false;
	used = page_referenced(page) || p->used;
	p->used = false;
	nr_rejuvenated += used;
	if (used)
		p->age = MIN(p->age + advance, max_age);
	else
		p->age = p->age > decline ? p->age - decline : 0;
	if (!used && !p->age)
		return true;
	if (!s->oldest || p->age < linux20_data(s->oldest)->age)
		s->oldest = page;
	return false;
}

/* Ages each page of the cache once. Returns the first that can be evicted, or NULL if all pages
 * stay or the budget is spent. */
static struct page *shrink_mmap(struct search *s)
{
	for (u32 left = nr_cached; left && vm_scan_more(s->scan); left--) {
		struct linux20_page *p = list_first_entry(&cache, struct linux20_page, cache);

		if (age(s, policy_page_of(p)))
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
static struct page *swap_out_process(struct linux20_mm *m, struct search *s)
{
	struct rb_node *at;

	for (at = first_from(&m->pages, m->swap_address); at; at = rb_next(at)) {
		if (!vm_scan_more(s->scan))
			return NULL;
		m->swap_address = address_of(page_of(at)) + 1;
		if (age(s, page_of(at)))
			return page_of(at);
	}
	m->swap_address = 0;
	nr_walks++;
	return NULL;
}

static void next_process(void)
{
	list_move_tail(processes.next, &processes);
	nr_turns++;
}

/* Returns a page of the process whose turn it is, or NULL when nr_processes + 1 walks have ended. */
static struct page *swap_out(struct search *s)
{
	u32 failures = 0;

	while (nr_processes && failures <= nr_processes && s->scan->budget) {
		struct linux20_mm *m = list_first_entry(&processes, struct linux20_mm, turn);
		struct page *page = swap_out_process(m, s);

		if (!m->swap_cnt)
			m->swap_cnt = MAX(m->nr / CLUSTER_FRACTION, CLUSTER_MIN);
		if (page) {
			if (!--m->swap_cnt)
				next_process();
			return page;
		}
		if (m->swap_address) /* the budget is spent */
			return NULL;
		next_process();
		failures++;
	}
	return NULL;
}

static struct page *linux20_select(struct vm_scan *scan)
{
	struct search s = { .scan = scan };
	struct page *page = NULL;
	u32 budget;

	do {
		budget = scan->budget;
		for (int source = 0; source < 2 && !page && scan->budget; source++) {
			page = in_processes ? swap_out(&s) : shrink_mmap(&s);
			if (!page && scan->budget)
				in_processes = !in_processes;
		}
	} while (!page && scan->budget && scan->budget != budget);
	if (!page && !scan->priority)
		page = s.oldest;
	if (page)
		delist(page, page_mm(page));
	return page;
}

static void linux20_putback(struct page *page, enum vm_put why)
{
	linux20_data(page)->used = why == VM_PUT_USED;
	enlist(page);
}

static int linux20_check(void)
{
	int sum = nr_cached;

	if (vm_list_length(&cache) != sum)
		return -1;
	for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm)) {
		if (rb_check(&linux20_mm(mm)->pages) != (int)linux20_mm(mm)->nr)
			return -1;
		sum += linux20_mm(mm)->nr;
	}
	return sum;
}

static void linux20_show(struct seq_file *m)
{
	u32 mapped = 0;

	for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm))
		mapped += linux20_mm(mm)->nr;
	show_u64(m, "of_processes", mapped);
	show_u64(m, "of_none", nr_cached);
	show_u64(m, "turns", nr_turns);
	show_u64(m, "walks_ended", nr_walks);
	show_u64(m, "rejuvenated", nr_rejuvenated);
}

static const struct vm_policy linux20 = {
	.name = "linux20",
	.summary = "Linux 2.0: processes give up pages in turn, pages have ages",
	.params = linux20_params,
	.init = linux20_init,
	.mm_init = linux20_mm_init,
	.mm_exit = linux20_mm_exit,
	.insert = linux20_insert,
	.touch = linux20_touch,
	.remove = linux20_remove,
	.moved = linux20_moved,
	.select = linux20_select,
	.putback = linux20_putback,
	.check = linux20_check,
	.show = linux20_show,
};
VM_POLICY(linux20);
