/*
 * Clock2Q+, S3-FIFO with a correlation window: uses right after a page came do not count.
 *
 * A program that touches a page seldom does it once. A record is read and then changed, a loop goes
 * over the words of a page: a burst of uses that belong together (correlated references). S3-FIFO
 * with one bit takes the burst for a proof that the page will be needed again, and main fills with
 * pages whose burst is over. Clock2Q+ lets the newest pages of the small queue lie in a window:
 *
 *	   new                                        again, while it has a ghost
 *	    v                                                        v
 *	[ window, 5 % | rest of small, 5 % ] --used in the rest--> [ main, a CLOCK, 90 % ]
 *	                      | not used                             | not used
 *	                      v                                      v
 *	                evicted, ghost                            evicted
 *
 * While small has its tenth or more, the next page is sought at its end, else at the end of main.
 * Until the first page has to leave, those for which small has no room go to main. Ghosts are half
 * as many as frames, and 8 at least.
 *
 * The bits. One per page is all that Clock2Q+ asks for. A cache leaves the bit of a page in the
 * window unset; a kernel cannot, but it can clear it when the page leaves the window, and nobody
 * looks at it before. So it is exact. One page leaves for each that comes: the cost is constant.
 *
 * Sizes are shares of vm_frames(), asked at each insert and select; what is too long after a change
 * shrinks as pages come and leave. Small has one frame at least, and the window half of it rounded
 * up: with less than 20 frames small is nothing but the window. There are places for as many ghosts
 * as there could ever be frames.
 *
 * Not in the paper: the search ends with the first page that leaves; what the scan may not have
 * goes to the head of its queue; when small has only such pages main is asked; and at priority 0,
 * after a look at every page, the oldest that the scan may have goes, used or not. DONTNEED puts a
 * page to the end of small. A page that was only read ahead leaves no ghost, and one whose ghost is
 * still there goes to main when it is claimed. Left out: the paper's care for dirty pages.
 *
 * Y. Zhai, B. Marthen, S. Balivada and others, "Clock2Q+: a simple and efficient replacement
 * algorithm for metadata cache in VMware vSAN", VLDB 2026, arXiv 2511.21958.
 */
#include "mm/ghost.h"
#include "mm/policy.h"

enum c2q_queue { WINDOW, SMALL, MAIN, NR_QUEUES }; /* SMALL: the rest of it */

struct c2q_page {
	struct list_head node;
	u8 queue;
	bool used;    /* by a use that the core saw */
	bool claimed; /* somebody has asked for it, it is not only read ahead */
};
POLICY_PAGE_FITS(struct c2q_page);

#define MIN_GHOSTS 8u /* for an instruction that needs several pages, with 3 frames */

static u32 small_percent = 10;
static u32 window_percent = 50; /* of small */
static u32 ghost_percent = 50;  /* of all */

static struct list_head queue[NR_QUEUES]; /* newest first */
static u32 nr[NR_QUEUES];
static LIST_HEAD(ghost_queue); /* newest first */
static struct ghosts ghosts;
static bool filling; /* no page has had to leave yet */
static u64 nr_promoted, nr_reinserted, nr_ghost_hits;

static struct c2q_page *c2q_data(struct page *page)
{
	return policy_page(page);
}

/* How many frames are small's. */
static u32 small_share(void)
{
	return MAX(vm_frames() * (u64)small_percent / 100, 1u);
}

/* How many of these the window has. */
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

/* The burst of uses of pages that leave the window is over, or so we believe. */
static void slide_window(void)
{
	u32 share = window_share();

	for (int i = 0; i < 2 && nr[WINDOW] > share; i++) {
		struct page *page = oldest(WINDOW);

		page_referenced(page);
		move(page, SMALL);
	}
}

/* What is read ahead is not asked for yet: its ghost waits for the claim. */
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

/* Whose end comes next; of small so many were skipped. */
static enum c2q_queue next_queue(u32 share, u32 skipped)
{
	if (nr[MAIN] && (nr_small() < share || skipped >= nr_small()))
		return MAIN;
	return !nr[WINDOW] || skipped < nr[SMALL] ? SMALL : WINDOW;
}

/* The page that leaves, still in its queue. */
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
	for (int i = 0; i < 2 && ghosts.nr >= limit; i++) /* two, if the limit has sunk */
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
	.summary = "Clock2Q+: S3-FIFO where uses right after a page came do not count",
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
