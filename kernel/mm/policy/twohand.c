/*
 * Two-handed CLOCK: one hand clears the accessed bits, and a second hand, some pages behind it,
 * evicts the pages that have not been used since.
 *
 * CLOCK has one hand, which reads a bit, clears it, and comes back after a whole turn. So "used"
 * means: in the time of one turn. That time grows with memory. With little memory the hand is soon
 * back; with much memory nearly every page is used at some time in a turn, nearly every bit is set,
 * and the hand has to pass nearly all pages before it finds a victim. Then it has cleared them all
 * at nearly the same time, and the next victims are taken in the order of the circle: FIFO. The
 * second hand separates the two: how long a page has to be used again is the distance between the
 * hands, and no longer the size of memory.
 *
 *	             front hand: clears the bit          back hand: the bit is
 *	                  |                                   |
 *	    ahead         v            between                v     set: passed; it is the last again
 *	  [ m l k j i h g ]       [ f e d c b a ]  - - - - - - -    clear: evicted
 *	    ^ new pages             spread % of all pages
 *
 * The circle is two lists. `ahead` are the pages that the front hand has not reached, and `between`
 * those that it has cleared and the back hand has not reached; each begins with the page that is
 * next. A new page, and a page that the back hand has passed, is the last of `ahead`: just behind
 * the back hand. Both hands move together, one page at a time, and only when a frame is needed. If
 * pages have left or come since, the hand that is too far behind catches up first.
 *
 * The spread says what counts as not used. With a small one, a page must be used again at once, and
 * most pages are evicted in the order in which the hands reach them. With a large one, this is
 * CLOCK again. It is a share of the pages, so that it cannot be larger than the circle; but hands
 * that are a whole circle apart meet, and the front hand would clear the bit that the back hand
 * comes to read. So at most all pages but one lie between them, and at least one.
 *
 * Different from 4.3BSD and SVR4: there the hands go over the frames, in the order of their
 * addresses, at a rate that depends on how short memory is, even before it is needed; so the spread,
 * a fixed number of pages, is a time (in Solaris: one second at the fastest rate). Here the hands
 * move on demand, and the time is the spread divided by the number of pages looked at in a second.
 *
 * One unit of the scan's budget is a step of both hands. The front hand also clears the bits of
 * pages that the scan may not take, because a later scan may. Uses that the core saw (touch) set a
 * mark beside the bit.
 *
 * M. McKusick, K. Bostic, M. Karels and J. Quarterman, "The Design and Implementation of the 4.4BSD
 * Operating System", Addison-Wesley 1996, section 5.12; the algorithm is that of 4.3BSD. U. Vahalia,
 * "UNIX Internals: The New Frontiers", Prentice Hall 1996, on 4.3BSD and SVR4. For Solaris:
 * setupclock() in illumos, usr/src/uts/common/os/vm_pageout.c.
 */
#include "mm/policy.h"

struct twohand_page {
	struct list_head node;
	bool used; /* a use that the core saw, since the front hand passed */
	bool between;
};
POLICY_PAGE_FITS(struct twohand_page);

static u32 spread = 25;
static LIST_HEAD(ahead);
static LIST_HEAD(between);
static u32 nr_ahead, nr_between;
static u64 nr_spared; /* pages that the back hand passed, because they were used */

static const struct vm_param twohand_params[] = {
	{ "spread", &spread, 1, 100, "%", "distance between the hands, share of all pages" },
	{ 0 },
};

static struct twohand_page *twohand_data(struct page *page)
{
	return policy_page(page);
}

static int twohand_init(void)
{
	INIT_LIST_HEAD(&ahead);
	INIT_LIST_HEAD(&between);
	nr_ahead = nr_between = 0;
	nr_spared = 0;
	return 0;
}

static void put_ahead(struct twohand_page *p)
{
	p->between = false;
	list_add_tail(&p->node, &ahead);
	nr_ahead++;
}

static void take_off(struct twohand_page *p)
{
	list_del(&p->node);
	if (p->between)
		nr_between--;
	else
		nr_ahead--;
}

static void twohand_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			   struct page_id from)
{
	(void)mm, (void)how, (void)from;
	put_ahead(twohand_data(page));
}

static void twohand_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	(void)mm;
	if (how == VM_TOUCH_DONTNEED)
		page_referenced(page);
	twohand_data(page)->used = how != VM_TOUCH_DONTNEED;
}

static void twohand_remove(struct page *page, enum vm_out why)
{
	(void)why;
	take_off(twohand_data(page));
}

/* Returns the number of pages that should lie between the hands. */
static u32 distance(void)
{
	u32 nr = nr_ahead + nr_between, wanted = (u64)nr * spread / 100;

	return MAX(MIN(wanted, nr - 1), 1u);
}

/* Was the page used since the front hand passed it? Forgets the use. */
static bool test_and_clear(struct twohand_page *p)
{
	bool used = page_referenced(policy_page_of(p)) || p->used;

	p->used = false;
	return used;
}

static void move_front_hand(void)
{
	struct twohand_page *p = list_first_entry(&ahead, struct twohand_page, node);

	test_and_clear(p);
	p->between = true;
	list_move_tail(&p->node, &between);
	nr_ahead--;
	nr_between++;
}

/* Returns the page at the back hand if it must go, otherwise passes it and returns NULL. */
static struct page *move_back_hand(struct vm_scan *scan)
{
	struct twohand_page *p = list_first_entry(&between, struct twohand_page, node);
	bool eligible = vm_eligible(scan, policy_page_of(p));

	take_off(p);
	if (eligible && !test_and_clear(p))
		return policy_page_of(p);
	nr_spared += eligible;
	put_ahead(p);
	return NULL;
}

static struct page *twohand_select(struct vm_scan *scan)
{
	struct page *page = NULL;

	while (!page && nr_ahead + nr_between && vm_scan_more(scan)) {
		if (nr_between < distance())
			move_front_hand();
		if (nr_between >= distance())
			page = move_back_hand(scan);
	}
	return page;
}

static void twohand_putback(struct page *page, enum vm_put why)
{
	(void)why;
	put_ahead(twohand_data(page));
}

static int twohand_check(void)
{
	int front = vm_list_length(&ahead), back = vm_list_length(&between);

	return front == (int)nr_ahead && back == (int)nr_between ? front + back : -1;
}

static void twohand_show(struct seq_file *m)
{
	show_u64(m, "ahead", nr_ahead);
	show_u64(m, "between", nr_between);
	show_u64(m, "passed_used", nr_spared);
}

static const struct vm_policy twohand = {
	.name = "twohand",
	.summary = "CLOCK with two hands: the first clears, the second evicts",
	.params = twohand_params,
	.init = twohand_init,
	.insert = twohand_insert,
	.touch = twohand_touch,
	.remove = twohand_remove,
	.select = twohand_select,
	.putback = twohand_putback,
	.check = twohand_check,
	.show = twohand_show,
};
VM_POLICY(twohand);
