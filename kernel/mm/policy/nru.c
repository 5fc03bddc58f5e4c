/*
 * Not recently used: evicts a page that was not used recently, and a clean one before a dirty one.
 *
 * The processor keeps two bits for each page: accessed and dirty. Every tick clears the accessed
 * bits, so a set bit means: used since the tick. The two bits make four classes, and a page of the
 * lowest class that is not empty is evicted:
 *
 *	class  used since the tick  dirty
 *	  0            no             no     not in use, and need not be written
 *	  1            no             yes    not in use; its eviction costs a write
 *	  2            yes            no     in use, but its eviction is cheap
 *	  3            yes            yes    evicted last
 *
 * That class 1 comes before class 2 is the policy's assumption: a recent use says more than a write
 * saved. Within a class, the page that was inserted first is evicted. (Textbooks take one at
 * random, or the first; the first does not depend on luck.) What NRU lacks is a memory: a page last
 * used before the tick counts as old as a page never used. If all pages are used between two ticks,
 * NRU is FIFO.
 *
 * The policy is not told when a page changes its class, and looking at all pages for each frame
 * would be too slow. But between two ticks a page can only rise: a bit may be set, not cleared. So
 * each page is kept in the class in which it was last seen, and its real class is never lower. If
 * the first page of the lowest class has risen, it is moved up, and the next one is looked at; the
 * first page that has not risen is the right one. A page rises at most three times between ticks,
 * so looking costs little however many pages there are. (A select that has moved very many pages
 * goes on without moving.) A class is a tree in order of insertion, because pages do not rise in
 * that order. Only the tick looks at every page, some at each call.
 *
 * The access that faults the page in does not count as a use. A page that a scan may not take, for
 * example one that is still being read, counts as inserted and used just now, so that the next scan
 * does not meet it.
 *
 * A. Tanenbaum, "Modern Operating Systems", 4th edition, Pearson 2015, section 3.4.2.
 */
#include "lib/rbtree.h"
#include "mm/policy.h"

enum { DIRTY = 1, USED = 2, NR_CLASSES = 4 };

#define PIECE 1024 /* upper bound on pages that one call of tick looks at */
#define MAX_MOVES 32768 /* of pages in one select; a hook must not take long */

struct nru_page {
	u64 arrival;
	struct rb_node node;
	u8 class; /* in which it was last seen */
	bool used; /* used since the tick, reported by touch() */
};
POLICY_PAGE_FITS(struct nru_page);

/* The state of one select. */
struct search {
	struct vm_scan *scan;
	u64 end;   /* pages with a later arrival were put off during this select */
	u32 moves; /* moves still allowed */
	struct nru_page *best;
	u32 class; /* class of the best page */
};

static struct rb_root classes[NR_CLASSES]; /* in order of arrival */
static u32 length[NR_CLASSES];
static u64 next_arrival, nr_risen, nr_ticks;
static u64 tick_arrival; /* where the tick continues, */
static u32 tick_class;   /* and in which class */

static struct nru_page *nru_data(struct page *page)
{
	return policy_page(page);
}

static u32 class_of(struct page *page)
{
	return USED * (nru_data(page)->used || page_young(page)) + DIRTY * page_dirty(page);
}

static void enlist(struct nru_page *p, u32 class)
{
	struct rb_node **link = &classes[class].rb_node, *parent = NULL;

	while (*link) {
		parent = *link;
		link = p->arrival < rb_entry(parent, struct nru_page, node)->arrival
			       ? &parent->rb_left
			       : &parent->rb_right;
	}
	rb_link_node(&p->node, parent, link);
	rb_insert_color(&p->node, &classes[class]);
	p->class = class;
	length[class]++;
}

static void delist(struct nru_page *p)
{
	rb_erase(&p->node, &classes[p->class]);
	length[p->class]--;
}

static void move(struct nru_page *p, u32 class)
{
	delist(p);
	enlist(p, class);
}

static void arrive(struct page *page, u32 class)
{
	nru_data(page)->arrival = next_arrival++;
	enlist(nru_data(page), class);
}

/* Forgets a use, as a tick does. */
static void forget_use(struct nru_page *p)
{
	struct page *page = policy_page_of(p);

	page_referenced(page);
	p->used = false;
	if (p->class & USED)
		move(p, page_dirty(page) ? DIRTY : 0);
}

static int nru_init(void)
{
	for (u32 i = 0; i < NR_CLASSES; i++) {
		classes[i] = RB_ROOT;
		length[i] = 0;
	}
	next_arrival = nr_risen = nr_ticks = tick_arrival = tick_class = 0;
	return 0;
}

static void nru_insert(struct page *page, struct mm_struct *mm, enum vm_in how, struct page_id from)
{
	(void)mm, (void)how, (void)from;
	/* The bit of the access that faulted may be set now, and is cleared soon (mm/space/young.c). */
	arrive(page, DIRTY * page_dirty(page));
}

static void nru_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	(void)mm;
	if (how == VM_TOUCH_DONTNEED)
		forget_use(nru_data(page));
	else
		nru_data(page)->used = true;
}

static void nru_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(nru_data(page));
}

static struct nru_page *entry(struct rb_node *node)
{
	return node ? rb_entry(node, struct nru_page, node) : NULL;
}

static void put_off(struct nru_page *p)
{
	delist(p);
	p->arrival = next_arrival++;
	p->used = true;
	enlist(p, p->class | USED);
}

/* Returns true if no later page can be better than the best one now. */
static bool consider(struct search *s, struct nru_page *p)
{
	u32 listed = p->class, class;

	if (!vm_eligible(s->scan, policy_page_of(p))) {
		if (s->moves) {
			s->moves--;
			put_off(p);
		}
		return false;
	}
	class = class_of(policy_page_of(p));
	if (class > listed && s->moves) {
		s->moves--;
		nr_risen++;
		move(p, class);
		return false;
	}
	if (!s->best || class < s->class || (class == s->class && p->arrival < s->best->arrival)) {
		s->best = p;
		s->class = class;
	}
	return class <= listed;
}

/* Returns true if the search is over. */
static bool search_class(struct search *s, u32 class)
{
	struct nru_page *next, *p = entry(rb_first(&classes[class]));

	for (; p && p->arrival < s->end; p = next) {
		next = entry(rb_next(&p->node));
		if (!vm_scan_more(s->scan)) {
			if (s->scan->priority)
				s->best = NULL; /* there may be a better page */
			return true;
		}
		if (consider(s, p))
			return true;
	}
	return s->best && s->class <= class;
}

static struct page *nru_select(struct vm_scan *scan)
{
	struct search s = { .scan = scan, .end = next_arrival, .moves = MAX_MOVES };

	for (u32 i = 0; i < NR_CLASSES; i++)
		if (search_class(&s, i))
			break;
	if (!s.best)
		return NULL;
	delist(s.best);
	return policy_page_of(s.best);
}

static void nru_putback(struct page *page, enum vm_put why)
{
	nru_data(page)->used = why == VM_PUT_USED;
	arrive(page, class_of(page));
}

/* Returns the first page of a class that arrived at `arrival` or later, or NULL if there is none. */
static struct nru_page *since(u32 class, u64 arrival)
{
	struct rb_node *node = classes[class].rb_node;
	struct nru_page *found = NULL;

	while (node) {
		struct nru_page *p = rb_entry(node, struct nru_page, node);

		if (p->arrival >= arrival)
			found = p;
		node = p->arrival >= arrival ? node->rb_left : node->rb_right;
	}
	return found;
}

/* Each call does a part of one class, from class 0 up: pages fall into classes already done. */
static bool nru_tick(void)
{
	struct nru_page *p = since(tick_class, tick_arrival);

	for (u32 left = PIECE; p && left; left--) {
		struct nru_page *next = entry(rb_next(&p->node));

		tick_arrival = p->arrival + 1;
		forget_use(p);
		p = next;
	}
	if (p)
		return true;
	tick_arrival = 0;
	if (++tick_class < NR_CLASSES)
		return true;
	tick_class = 0;
	nr_ticks++;
	return false;
}

static int nru_check(void)
{
	int sum = 0;

	for (u32 i = 0; i < NR_CLASSES; i++) {
		if (rb_check(&classes[i]) != (int)length[i])
			return -1;
		sum += length[i];
	}
	return sum;
}

static void nru_show(struct seq_file *m)
{
	static const char *const names[NR_CLASSES] = { "class_0", "class_1", "class_2", "class_3" };

	for (u32 i = 0; i < NR_CLASSES; i++)
		show_u64(m, names[i], length[i]);
	show_u64(m, "risen", nr_risen);
	show_u64(m, "ticks", nr_ticks);
}

static const struct vm_policy nru = {
	.name = "nru",
	.summary = "not recently used: four classes by accessed and dirty bit",
	.init = nru_init,
	.insert = nru_insert,
	.touch = nru_touch,
	.remove = nru_remove,
	.select = nru_select,
	.putback = nru_putback,
	.tick = nru_tick,
	.check = nru_check,
	.show = nru_show,
};
VM_POLICY(nru);
