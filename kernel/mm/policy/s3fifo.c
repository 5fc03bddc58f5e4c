/*
 * S3-FIFO, with one bit: new pages must prove in a small queue that they are used, before they
 * enter a large one.
 *
 * Most new pages are used once, or in one short burst. LRU and CLOCK keep each of them for a whole
 * turn through memory. S3-FIFO puts a new page into a small queue of a tenth of memory. A page that
 * has not been used when it reaches the end of that queue is evicted: quick demotion. Three FIFO
 * queues:
 *
 *	            new                      again, while it has a ghost
 *	             v                                   v
 *	[ small, 10 % ] --used--> [ main, 90 % ] <--used, again--+
 *	      | not used                | not used               |
 *	      v                         v                        |
 *	   evicted, ghost            evicted     (used: from its end to its head)
 *
 * There are as many ghosts as main has frames, but at least 8. While small has its tenth or more,
 * the victim is sought at the end of small, else at the end of main. So the first pages fill small
 * until memory is full, and then small shrinks to its tenth. The kernel asks for one frame at a
 * time: the search ends with the first page that is evicted, even if that is a page of main, which
 * promoted pages have made too long.
 *
 * The bits. In the paper each page counts its uses up to 3, a page needs two uses in small to get
 * into main, and main gives a page as many additional turns as it has uses. The hardware keeps one
 * bit, so here one use is enough and main is a plain CLOCK. This changes two things. A page used
 * once more soon after its insertion, in the same burst, goes to main although it is not needed
 * later (clock2q has a remedy). And in main, a page used often has no advantage over one used once.
 * Uses that the core saw (touch) could be counted, but then pages that are read would have an
 * advantage over pages that are mapped. Looking late loses nothing: at the end of a queue, the bit
 * says whether the page was used in that queue.
 *
 * Sizes are shares of vm_frames(), read at each select; a queue that is too long after a change
 * shrinks as pages are evicted. The table has room for as many ghosts as there could ever be
 * frames.
 *
 * Not in the paper: a page that the scan may not take goes to the head of its queue; if small has
 * only such pages, main is searched. At priority 0, after a look at every page, the oldest page
 * that the scan may take is evicted, used or not. DONTNEED puts a page at the end of small. A page
 * that was only read ahead leaves no ghost; if it still has a ghost when it is claimed, it goes to
 * main.
 *
 * J. Yang, Y. Zhang, Z. Qiu, Y. Yue and K. Rashmi, "FIFO queues are all you need for cache
 * eviction", SOSP 2023: algorithm 1.
 */
#include "mm/ghost.h"
#include "mm/policy.h"

enum s3_queue { SMALL, MAIN, NR_QUEUES };

struct s3_page {
	struct list_head node;
	u8 queue;
	bool used;    /* set by a use that the core saw */
	bool claimed; /* a process has asked for it; false: only read ahead */
};
POLICY_PAGE_FITS(struct s3_page);

#define MIN_GHOSTS 8u /* so that an instruction that needs several pages works with 3 frames */

static u32 small_percent = 10;

static struct list_head queue[NR_QUEUES]; /* newest first */
static u32 nr[NR_QUEUES];
static LIST_HEAD(ghost_queue); /* newest first */
static struct ghosts ghosts;
static u64 nr_promoted, nr_reinserted, nr_ghost_hits;

static struct s3_page *s3_data(struct page *page)
{
	return policy_page(page);
}

/* Returns the size of small, in frames. */
static u32 small_share(void)
{
	return MAX(vm_frames() * (u64)small_percent / 100, 1u);
}

static void enlist(struct page *page, enum s3_queue to)
{
	struct s3_page *p = s3_data(page);

	p->queue = to;
	p->used = false;
	list_add(&p->node, &queue[to]);
	nr[to]++;
}

static void delist(struct page *page)
{
	list_del(&s3_data(page)->node);
	nr[s3_data(page)->queue]--;
}

static void move(struct page *page, enum s3_queue to)
{
	delist(page);
	enlist(page, to);
}

static bool was_used(struct page *page)
{
	return page_referenced(page) || s3_data(page)->used;
}

static int s3_init(void)
{
	for (int q = 0; q < NR_QUEUES; q++) {
		INIT_LIST_HEAD(&queue[q]);
		nr[q] = 0;
	}
	INIT_LIST_HEAD(&ghost_queue);
	nr_promoted = nr_reinserted = nr_ghost_hits = 0;
	return ghosts_init(&ghosts, MAX(max_pfn, MIN_GHOSTS));
}

static void s3_exit(void)
{
	ghosts_exit(&ghosts);
}

/* A page that is read ahead is not in use yet: its ghost stays until the page is claimed. */
static void s3_insert(struct page *page, struct mm_struct *mm, enum vm_in how, struct page_id from)
{
	struct ghost *ghost = ghost_find(&ghosts, how == VM_IN_CLAIM ? page_id_of(page) : from);
	bool claimed = how != VM_IN_PREFETCH;

	(void)mm;
	if (ghost && claimed) {
		nr_ghost_hits++;
		ghost_drop(&ghosts, ghost);
		enlist(page, MAIN);
	} else {
		enlist(page, SMALL);
	}
	s3_data(page)->claimed = claimed;
}

static void s3_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	struct s3_page *p = s3_data(page);

	(void)mm;
	if (how != VM_TOUCH_DONTNEED) {
		p->used = true;
		return;
	}
	page_referenced(page);
	move(page, SMALL);
	list_move_tail(&p->node, &queue[SMALL]);
}

static void s3_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(page);
}

static struct page *oldest(enum s3_queue q)
{
	return policy_page_of(list_last_entry(&queue[q], struct s3_page, node));
}

/* Returns the page to evict, which is still in its queue. */
static struct page *victim(struct vm_scan *scan)
{
	u32 share = small_share(), skipped = 0; /* pages of small skipped */

	while (nr[SMALL] + nr[MAIN]) {
		bool any = !scan->priority && scan->budget <= nr[SMALL] + nr[MAIN];
		bool from_small = (any || nr[SMALL] >= share) && skipped < nr[SMALL];
		enum s3_queue q = from_small || !nr[MAIN] ? SMALL : MAIN;
		struct page *page = oldest(q);

		if (!vm_scan_more(scan))
			return NULL;
		if (!vm_eligible(scan, page)) {
			skipped += q == SMALL;
			list_move(&s3_data(page)->node, &queue[q]);
		} else if (!any && was_used(page)) {
			(q == SMALL ? nr_promoted++ : nr_reinserted++);
			move(page, MAIN);
		} else {
			return page;
		}
	}
	return NULL;
}

static struct page *s3_select(struct vm_scan *scan)
{
	struct page *page = victim(scan);

	if (page)
		delist(page);
	return page;
}

static void s3_putback(struct page *page, enum vm_put why)
{
	enlist(page, why == VM_PUT_USED ? MAIN : s3_data(page)->queue);
}

static void s3_evicted(struct page *page, struct page_id to)
{
	u32 frames = vm_frames(), main_share = frames - MIN(small_share(), frames);
	u32 limit = MIN(MAX(main_share, MIN_GHOSTS), ghosts.capacity);
	struct ghost *ghost;

	if (s3_data(page)->queue == MAIN || !s3_data(page)->claimed)
		return;
	for (int i = 0; i < 2 && ghosts.nr >= limit; i++) /* two, if the limit has shrunk */
		ghost_drop(&ghosts, list_last_entry(&ghost_queue, struct ghost, node));
	ghost = ghost_add(&ghosts, to);
	if (ghost)
		list_add(&ghost->node, &ghost_queue);
}

static void s3_forget(struct page_id id)
{
	struct ghost *ghost = ghost_find(&ghosts, id);

	if (ghost)
		ghost_drop(&ghosts, ghost);
}

static int s3_check(void)
{
	for (int q = 0; q < NR_QUEUES; q++)
		if (vm_list_length(&queue[q]) != (int)nr[q])
			return -1;
	return nr[SMALL] + nr[MAIN];
}

static void s3_show(struct seq_file *m)
{
	show_u64(m, "small", nr[SMALL]);
	show_u64(m, "main", nr[MAIN]);
	show_u64(m, "ghosts", ghosts.nr);
	show_u64(m, "small_share", small_share());
	show_u64(m, "promoted", nr_promoted);
	show_u64(m, "reinserted", nr_reinserted);
	show_u64(m, "ghost_hits", nr_ghost_hits);
}

static const struct vm_param params[] = {
	{ "small_percent", &small_percent, 1, 99, "%", "share of the queue for new pages" },
	{ 0 },
};

static const struct vm_policy s3fifo = {
	.name = "s3fifo",
	.summary = "S3-FIFO with one bit: a small queue, a main one, ghosts",
	.params = params,
	.init = s3_init,
	.exit = s3_exit,
	.insert = s3_insert,
	.touch = s3_touch,
	.remove = s3_remove,
	.select = s3_select,
	.putback = s3_putback,
	.evicted = s3_evicted,
	.forget = s3_forget,
	.check = s3_check,
	.show = s3_show,
};
VM_POLICY(s3fifo);
