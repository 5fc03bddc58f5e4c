/*
 * Clock2Q+: S3-FIFO with a correlation window. Uses shortly after a page is inserted do not count.
 *
 * A program rarely touches a page only once. A record is read and then changed; a loop goes over
 * the words of a page: a burst of uses that belong together (correlated references). S3-FIFO with
 * one bit takes the burst as proof that the page will be needed again, and main fills with pages
 * whose burst is over. Clock2Q+ puts the newest pages of the small queue into a window:
 *
 *	   new                                        again, while it has a ghost
 *	    v                                                        v
 *	[ window, 5 % | rest of small, 5 % ] --used in the rest--> [ main, a CLOCK, 90 % ]
 *	                      | not used                             | not used
 *	                      v                                      v
 *	                evicted, ghost                            evicted
 *
 * While small holds its tenth of memory or more, the victim is sought at the end of small, else at
 * the end of main. Before the first eviction, new pages go to main when small is full. There are
 * half as many ghosts as frames, but at least 8.
 *
 * The bits. Clock2Q+ needs only one bit per page. A cache does not set the bit of a page in the
 * window. A kernel cannot prevent that, but it can clear the bit when the page leaves the window,
 * and the bit is not read before. So the policy is exact. For each page that is inserted one page
 * leaves the window: the cost is constant.
 *
 * Sizes are shares of vm_frames(), read at each insert and select. A queue that is too long after a
 * change shrinks as pages are inserted and evicted. Small has at least one frame, and the window is
 * half of small, rounded up: with fewer than 20 frames, small is nothing but the window. The table
 * has room for as many ghosts as there could ever be frames.
 *
 * Not in the paper: the search ends with the first page that is evicted. A page that the scan may
 * not take goes to the head of its queue; if small has only such pages, main is searched. At
 * priority 0, after a look at every page, the oldest page that the scan may take is evicted, used
 * or not. DONTNEED puts a page at the end of small. A page that was only read ahead leaves no
 * ghost; if it still has a ghost when it is claimed, it goes to main. Left out: the paper's
 * treatment of dirty pages.
 *
 * Y. Zhai, B. Marthen, S. Balivada and others, "Clock2Q+: a simple and efficient replacement
 * algorithm for metadata cache in VMware vSAN", VLDB 2026, arXiv 2511.21958.
 */
#include "mm/ghost.h"
#include "mm/policy.h"

enum c2q_queue { WINDOW, SMALL, MAIN, NR_QUEUES }; /* SMALL: the rest of the small queue */

struct c2q_page {
	struct list_head node;
	u8 queue;
	bool used;    /* set by a use that the core saw */
	bool claimed; /* a process has asked for it; false: only read ahead */
};
POLICY_PAGE_FITS(struct c2q_page);

#define MIN_GHOSTS 8u /* so that an instruction that needs several pages works with 3 frames */

static u32 small_percent = 10;
static u32 window_percent = 50; /* of small */
static u32 ghost_percent = 50;  /* of all frames */

static struct list_head queue[NR_QUEUES]; /* newest first */
static u32 nr[NR_QUEUES];
static LIST_HEAD(ghost_queue); /* newest first */
static struct ghosts ghosts;
static bool filling; /* no victim has been needed yet */
static u64 nr_promoted, nr_reinserted, nr_ghost_hits;

static struct c2q_page *c2q_data(struct page *page)
{
	return policy_page(page);
}

/* Returns the size of small, in frames. */
static u32 small_share(void)
{
	return MAX(vm_frames() * (u64)small_percent / 100, 1u);
}

/* Returns the size of the window, which is part of small. */
static u32 window_share(void)
{
	return (small_share() * window_percent + 99) / 100;
}

static u32 nr_small(void)
{
	return nr[WINDOW] + nr[SMALL];
}

static void enlist(struct page *page, enum c2q_queue to)
{
	struct c2q_page *p = c2q_data(page);

	p->queue = to;
	p->used = false;
	list_add(&p->node, &queue[to]);
	nr[to]++;
}

static void delist(struct page *page)
{
	list_del(&c2q_data(page)->node);
	nr[c2q_data(page)->queue]--;
}

static void move(struct page *page, enum c2q_queue to)
{
	delist(page);
	enlist(page, to);
}

static bool was_used(struct page *page)
{
	return page_referenced(page) || c2q_data(page)->used;
}

static int c2q_init(void)
{
	for (int q = 0; q < NR_QUEUES; q++) {
		INIT_LIST_HEAD(&queue[q]);
		nr[q] = 0;
	}
	INIT_LIST_HEAD(&ghost_queue);
	filling = true;
	nr_promoted = nr_reinserted = nr_ghost_hits = 0;
	return ghosts_init(&ghosts, MAX(max_pfn, MIN_GHOSTS));
}

static void c2q_exit(void)
{
	ghosts_exit(&ghosts);
}

static struct page *oldest(enum c2q_queue q)
{
	return policy_page_of(list_last_entry(&queue[q], struct c2q_page, node));
}

/* Moves pages out of the window. Their burst of uses is assumed to be over. */
static void slide_window(void)
{
	u32 share = window_share();

	for (int i = 0; i < 2 && nr[WINDOW] > share; i++) {
		struct page *page = oldest(WINDOW);

		page_referenced(page);
		move(page, SMALL);
	}
}

/* A page that is read ahead is not in use yet: its ghost stays until the page is claimed. */
static void c2q_insert(struct page *page, struct mm_struct *mm, enum vm_in how, struct page_id from)
{
	struct ghost *ghost = ghost_find(&ghosts, how == VM_IN_CLAIM ? page_id_of(page) : from);
	bool claimed = how != VM_IN_PREFETCH;

	(void)mm;
	if (ghost && claimed) {
		nr_ghost_hits++;
		ghost_drop(&ghosts, ghost);
		enlist(page, MAIN);
	} else {
		enlist(page, filling && nr_small() >= small_share() ? MAIN : WINDOW);
	}
	c2q_data(page)->claimed = claimed;
	slide_window();
}

static void c2q_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	struct c2q_page *p = c2q_data(page);

	(void)mm;
	if (how != VM_TOUCH_DONTNEED) {
		p->used = true;
		return;
	}
	page_referenced(page);
	move(page, SMALL);
	list_move_tail(&p->node, &queue[SMALL]);
}

static void c2q_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(page);
}

/* Returns the queue whose end is looked at next. skipped: pages of small already skipped. */
static enum c2q_queue next_queue(u32 share, u32 skipped)
{
	if (nr[MAIN] && (nr_small() < share || skipped >= nr_small()))
		return MAIN;
	return !nr[WINDOW] || skipped < nr[SMALL] ? SMALL : WINDOW;
}

/* Returns the page to evict, which is still in its queue. */
static struct page *victim(struct vm_scan *scan)
{
	u32 share = small_share(), skipped = 0;

	while (nr_small() + nr[MAIN]) {
		bool any = !scan->priority && scan->budget <= nr_small() + nr[MAIN];
		enum c2q_queue q = next_queue(any ? 0 : share, skipped);
		struct page *page = oldest(q);

		if (!vm_scan_more(scan))
			return NULL;
		if (!vm_eligible(scan, page)) {
			skipped += q != MAIN;
			list_move(&c2q_data(page)->node, &queue[q]);
		} else if (!any && q != WINDOW && was_used(page)) {
			(q == SMALL ? nr_promoted++ : nr_reinserted++);
			move(page, MAIN);
		} else {
			return page;
		}
	}
	return NULL;
}

static struct page *c2q_select(struct vm_scan *scan)
{
	struct page *page = victim(scan);

	filling = false;
	if (page)
		delist(page);
	return page;
}

static void c2q_putback(struct page *page, enum vm_put why)
{
	enlist(page, why == VM_PUT_USED || c2q_data(page)->queue == MAIN ? MAIN : SMALL);
}

static void c2q_evicted(struct page *page, struct page_id to)
{
	u32 limit = MIN(MAX(vm_frames() * (u64)ghost_percent / 100, MIN_GHOSTS), ghosts.capacity);
	struct ghost *ghost;

	if (c2q_data(page)->queue == MAIN || !c2q_data(page)->claimed)
		return;
	for (int i = 0; i < 2 && ghosts.nr >= limit; i++) /* two, if the limit has shrunk */
		ghost_drop(&ghosts, list_last_entry(&ghost_queue, struct ghost, node));
	ghost = ghost_add(&ghosts, to);
	if (ghost)
		list_add(&ghost->node, &ghost_queue);
}

static void c2q_forget(struct page_id id)
{
	struct ghost *ghost = ghost_find(&ghosts, id);

	if (ghost)
		ghost_drop(&ghosts, ghost);
}

static int c2q_check(void)
{
	for (int q = 0; q < NR_QUEUES; q++)
		if (vm_list_length(&queue[q]) != (int)nr[q])
			return -1;
	return nr_small() + nr[MAIN];
}

static void c2q_show(struct seq_file *m)
{
	show_u64(m, "window", nr[WINDOW]);
	show_u64(m, "rest_of_small", nr[SMALL]);
	show_u64(m, "main", nr[MAIN]);
	show_u64(m, "ghosts", ghosts.nr);
	show_u64(m, "promoted", nr_promoted);
	show_u64(m, "reinserted", nr_reinserted);
	show_u64(m, "ghost_hits", nr_ghost_hits);
}

static const struct vm_param params[] = {
	{ "small_percent", &small_percent, 1, 99, "%", "share of the queue for new pages" },
	{ "window_percent", &window_percent, 0, 100, "%", "share of the window in that queue" },
	{ "ghost_percent", &ghost_percent, 0, 100, "%", "ghosts for each hundred frames" },
	{ 0 },
};

static const struct vm_policy clock2q = {
	.name = "clock2q",
	.summary = "Clock2Q+: S3-FIFO that ignores uses shortly after a page is inserted",
	.params = params,
	.init = c2q_init,
	.exit = c2q_exit,
	.insert = c2q_insert,
	.touch = c2q_touch,
	.remove = c2q_remove,
	.select = c2q_select,
	.putback = c2q_putback,
	.evicted = c2q_evicted,
	.forget = c2q_forget,
	.check = c2q_check,
	.show = c2q_show,
};
VM_POLICY(clock2q);
