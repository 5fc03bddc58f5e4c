/*
 * SIEVE: CLOCK whose spared pages stay where they are.
 *
 * FIFO with second chance (CLOCK) puts a spared page behind the newest one. So old pages that are
 * used mix with new pages that will never be used again, and the hand reaches the new ones only
 * after a whole turn. SIEVE leaves a spared page at its place in the queue and only moves the hand:
 *
 *	newest [ g f e d c b a ] oldest		the hand goes from the oldest to the newest
 *	             ^ hand
 *
 *	visited:     the page loses the mark and stays; the hand moves on
 *	not visited: the page is evicted; the hand moves on
 *	past the newest page, the hand starts again at the oldest one
 *
 * New pages enter at the newest end, ahead of the hand. The pages behind the hand have survived an
 * inspection; the pages ahead of it are new, and are evicted soon if they are not used. This is the
 * quick demotion of pages that are used once, without a second queue.
 *
 * The mark of the paper is one bit that each hit sets and only the hand reads. An accessed bit is
 * exactly that, so in a kernel SIEVE is exact; uses that the core saw (touch) set a bit of the
 * policy's own beside it. The queue has no fixed size: the policy need not know the number of
 * frames, nor when that number changes.
 *
 * Not in the paper: the hand passes a page that the scan may not take, as it passes a visited one,
 * but leaves its mark. A page that is no longer needed (DONTNEED) is put where the hand stands.
 *
 * Y. Zhang, J. Yang, Y. Yue, Y. Vigfusson and K. Rashmi, "SIEVE is simpler than LRU: an efficient
 * turn-key eviction algorithm for web caches", NSDI 2024.
 */
#include "mm/policy.h"

struct sieve_page {
	struct list_head node;
	u32 visited; /* set by a use that the core saw */
};
POLICY_PAGE_FITS(struct sieve_page);

static LIST_HEAD(queue);        /* newest first */
static struct list_head *hand;  /* the page to look at next, or the list's head */
static u64 nr_spared, nr_turns; /* visited pages passed; times the hand started again */

static struct sieve_page *sieve_data(struct page *page)
{
	return policy_page(page);
}

static int sieve_init(void)
{
	INIT_LIST_HEAD(&queue);
	hand = &queue;
	nr_spared = nr_turns = 0;
	return 0;
}

static void sieve_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			 struct page_id from)
{
	(void)mm, (void)how, (void)from;
	list_add(&sieve_data(page)->node, &queue);
}

static void delist(struct sieve_page *p)
{
	if (hand == &p->node)
		hand = hand->prev;
	list_del(&p->node);
}

static void sieve_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	struct sieve_page *p = sieve_data(page);

	(void)mm;
	p->visited = how != VM_TOUCH_DONTNEED;
	if (p->visited)
		return;
	page_referenced(page);
	if (hand != &p->node)
		list_move(&p->node, hand);
	hand = &p->node;
}

static void sieve_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(sieve_data(page));
}

static bool visited(struct page *page)
{
	struct sieve_page *p = sieve_data(page);
	bool was = page_referenced(page) || p->visited;

	p->visited = false;
	return was;
}

/* Returns the page at the hand. The queue must not be empty. */
static struct sieve_page *at_hand(void)
{
	if (hand == &queue) {
		nr_turns++;
		hand = queue.prev;
	}
	return list_entry(hand, struct sieve_page, node);
}

static struct page *sieve_select(struct vm_scan *scan)
{
	while (!list_empty(&queue) && vm_scan_more(scan)) {
		struct sieve_page *p = at_hand();
		struct page *page = policy_page_of(p);

		if (vm_eligible(scan, page)) {
			if (!visited(page)) {
				delist(p);
				return page;
			}
			nr_spared++;
		}
		hand = hand->prev;
	}
	return NULL;
}

static void sieve_putback(struct page *page, enum vm_put why)
{
	sieve_data(page)->visited = why == VM_PUT_USED;
	list_add(&sieve_data(page)->node, &queue);
}

static int sieve_check(void)
{
	return vm_list_length(&queue);
}

static void sieve_show(struct seq_file *m)
{
	show_u64(m, "queue", sieve_check());
	show_u64(m, "spared", nr_spared);
	show_u64(m, "turns", nr_turns);
}

static const struct vm_policy sieve = {
	.name = "sieve",
	.summary = "SIEVE: CLOCK whose spared pages stay in their places",
	.init = sieve_init,
	.insert = sieve_insert,
	.touch = sieve_touch,
	.remove = sieve_remove,
	.select = sieve_select,
	.putback = sieve_putback,
	.check = sieve_check,
	.show = sieve_show,
};
VM_POLICY(sieve);
