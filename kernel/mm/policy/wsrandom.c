/*
 * Working sets, with random victims: any page outside all working sets is as good as another.
 *
 * The working set of a process is the set of pages that it used in the last tau of its own virtual
 * time (time in user mode). Denning's policy (ws.c) makes processes wait whose sets do not fit, and
 * gives back pages as soon as they leave a set. Textbooks often keep only the replacement: a page
 * has a time stamp, the victim is a page whose stamp is too old, and which of them does not matter.
 * So here the victim is drawn at random from the pages outside all sets, and only if none of these
 * can be taken, from all pages. A page stays until a frame is needed. No process ever has to wait;
 * guards can do that (mm/guard.h).
 *
 *	         fault, a use found at a look
 *	       +-------------------------------+
 *	       v                               |
 *	    inside --- look: older than tau -> outside --- drawn, and not used ---> evicted
 *	       |
 *	       +--- drawn, only if no page outside can be taken -------------------> evicted
 *
 * Looks. When a process has run for a quarter of tau since its last look, the next tick looks at its
 * pages: a page with its accessed bit set gets the current time as its stamp, and is inside; one
 * whose stamp is older than tau is outside. So a page leaves between tau and 1.5 tau after its last
 * use. A process that does not run is not looked at, and its pages do not age. A look takes no more
 * than LOOKS pages of a process, the next look the pages after them: in a larger process a page is
 * kept for longer. A page outside that is drawn, and has been used since the last look, is inside
 * again, and the draw is repeated.
 *
 * Unowned pages (read ahead, or only used by read and write) are treated as one more process, whose
 * clock is machine time. A page that passes to another process is in its set, as used just now.
 *
 * The pages inside and those outside are two bags (lib/bag.h), from which a page is drawn in
 * logarithmic time. After DRAWS draws that the scan may not take, it goes on by number, so that it
 * ends. At priority 0 a page outside is taken even if it has been used.
 *
 * What is lost against ws: pages outside are evicted in no order, so those that lie side by side in
 * the swap area do not leave together. And when the sets of all processes fill memory, this is the
 * policy random: no set is protected, and the pages of a process that sleeps stay like all others.
 *
 * J. Tucek, "Linux Virtual Memory Manager", bachelor's thesis, Brno University of Technology, 2007,
 * section 2.4, describes the working set in this way, with random victims, and with time stamps
 * that are updated at every clock interrupt. The set itself: P. Denning, "The working set model for
 * program behavior", CACM 11(5), 1968.
 */
#include "lib/bag.h"
#include "mm/policy.h"

#define LOOKS 2048u /* about 1 ms */
#define TICK_MS 50u /* at most */
#define DRAWS 8
#define NS_SHIFT 20 /* time stamps are in units of 1,048,576 ns */

struct wsrandom_page {
	struct bag_node node;
	struct list_head of_process;
	u32 inside : 1;
	u32 used : 31; /* low bits of the time of its last known use */
};
POLICY_PAGE_FITS(struct wsrandom_page);

/* Of a process, or of the unowned pages. */
struct wsrandom_mm {
	struct list_head pages; /* the next look begins with the first */
	u32 nr;
	u64 looked; /* time of the last look, ns */
};
POLICY_MM_FITS(struct wsrandom_mm);

static u32 tau_ms = 200, seed = 1;
static struct bag inside, outside;
static struct wsrandom_mm unowned;
static u64 nr_came_back, nr_from_sets, nr_in_vain;

static const struct vm_param wsrandom_params[] = {
	{ "tau_ms", &tau_ms, 4, 60000, "ms", "window of the working set, process virtual time" },
	{ "seed", &seed, 0, UINT32_MAX, NULL, "seed of the random draws" },
	{ 0 },
};

static struct wsrandom_page *wsrandom_data(struct page *page)
{
	return policy_page(page);
}

static struct wsrandom_mm *set_of(struct mm_struct *mm)
{
	return mm ? policy_mm(mm) : &unowned;
}

static u64 clock_of(struct mm_struct *mm)
{
	return mm ? mm_vtime(mm) : vm_now();
}

static void set_init(struct wsrandom_mm *set)
{
	*set = (struct wsrandom_mm){ 0 };
	INIT_LIST_HEAD(&set->pages);
}

static int wsrandom_init(void)
{
	inside = outside = (struct bag){ 0 };
	set_init(&unowned);
	nr_came_back = nr_from_sets = nr_in_vain = 0;
	return 0;
}

static void wsrandom_mm_init(struct mm_struct *mm)
{
	set_init(set_of(mm));
}

static struct bag *bag_of(const struct wsrandom_page *p)
{
	return p->inside ? &inside : &outside;
}

static void put_into(struct wsrandom_page *p, bool set)
{
	p->inside = set;
	bag_add(bag_of(p), &p->node);
}

static void move(struct wsrandom_page *p, bool set)
{
	if (p->inside == set)
		return;
	bag_remove(bag_of(p), &p->node);
	put_into(p, set);
}

static void note_use(struct wsrandom_page *p, u64 now)
{
	p->used = now >> NS_SHIFT;
	move(p, true);
}

/* A page comes, as used just now. */
static void enlist(struct page *page)
{
	struct wsrandom_page *p = wsrandom_data(page);
	struct wsrandom_mm *set = set_of(page_mm(page));

	p->used = clock_of(page_mm(page)) >> NS_SHIFT;
	put_into(p, true);
	list_add_tail(&p->of_process, &set->pages);
	set->nr++;
}

static void delist(struct page *page)
{
	struct wsrandom_page *p = wsrandom_data(page);

	bag_remove(bag_of(p), &p->node);
	list_del(&p->of_process);
	set_of(page_mm(page))->nr--;
}

static void wsrandom_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			    struct page_id from)
{
	(void)mm, (void)how, (void)from;
	enlist(page);
}

static void wsrandom_remove(struct page *page, enum vm_out why)
{
	(void)why;
	delist(page);
}

static void wsrandom_putback(struct page *page, enum vm_put why)
{
	(void)why;
	enlist(page);
}

static void wsrandom_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	(void)mm;
	if (how != VM_TOUCH_DONTNEED) {
		note_use(wsrandom_data(page), clock_of(page_mm(page)));
		return;
	}
	page_referenced(page); /* uses before this no longer count */
	move(wsrandom_data(page), false);
}

/* May this page be evicted? A page outside that has been used since the last look is inside again. */
static bool wanted(struct vm_scan *scan, struct page *page)
{
	struct wsrandom_page *p = wsrandom_data(page);

	if (!vm_eligible(scan, page)) {
		nr_in_vain++;
		return false;
	}
	if (p->inside || !scan->priority || !page_referenced(page))
		return true;
	nr_came_back++;
	note_use(p, clock_of(page_mm(page)));
	return false;
}

/* Draws pages, and then tries the others by number; a page that was moved leaves its number to the
 * last one. Returns NULL if the scan may take none. */
static struct page *draw(struct bag *bag, struct vm_scan *scan)
{
	u32 number = 0, most = DRAWS + bag->nr;

	for (u32 tries = 0; bag->nr && tries < most && vm_scan_more(scan); tries++) {
		struct bag_node *node;
		struct page *page;
		u32 before = bag->nr;

		number = tries < DRAWS ? bag_draw(bag, seed) : number % bag->nr + 1;
		node = *bag_place(bag, number);
		page = policy_page_of(container_of(node, struct wsrandom_page, node));
		if (wanted(scan, page))
			return page;
		number -= bag->nr != before;
	}
	return NULL;
}

static struct page *wsrandom_select(struct vm_scan *scan)
{
	struct page *page = draw(&outside, scan);

	if (!page) {
		page = draw(&inside, scan);
		nr_from_sets += !!page;
	}
	if (page)
		delist(page);
	return page;
}

static void look_at(struct wsrandom_page *p, u64 now)
{
	u32 age = ((u32)(now >> NS_SHIFT) - p->used) & ~0u >> 1; /* 31 bits */

	if (page_referenced(policy_page_of(p)))
		note_use(p, now);
	else if (age > tau_ms * 1000000ull >> NS_SHIFT)
		move(p, false);
}

static void look_at_set(struct mm_struct *mm)
{
	struct wsrandom_mm *set = set_of(mm);
	u64 now = clock_of(mm);

	if (now - set->looked < tau_ms * 250000ull)
		return;
	set->looked = now;
	for (u32 left = MIN(set->nr, LOOKS); left; left--) {
		struct wsrandom_page *p =
			list_first_entry(&set->pages, struct wsrandom_page, of_process);

		list_move_tail(&p->of_process, &set->pages);
		look_at(p, now);
	}
}

static bool wsrandom_tick(void)
{
	look_at_set(NULL);
	for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm))
		look_at_set(mm);
	vm_tick_after(MIN(tau_ms / 4, TICK_MS));
	return false;
}

static int wsrandom_check(void)
{
	int in = bag_check(&inside), out = bag_check(&outside);
	int sum = vm_list_length(&unowned.pages);

	if (in < 0 || out < 0 || sum != (int)unowned.nr)
		return -1;
	for (struct mm_struct *mm = vm_next_mm(NULL); mm; mm = vm_next_mm(mm)) {
		int n = vm_list_length(&set_of(mm)->pages);

		if (n != (int)set_of(mm)->nr)
			return -1;
		sum += n;
	}
	return sum == in + out ? sum : -1;
}

static void wsrandom_show(struct seq_file *m)
{
	show_u64(m, "inside", inside.nr);
	show_u64(m, "outside", outside.nr);
	show_u64(m, "drawn_used", nr_came_back);
	show_u64(m, "drawn_from_sets", nr_from_sets);
	show_u64(m, "drawn_in_vain", nr_in_vain);
}

static const struct vm_policy wsrandom = {
	.name = "wsrandom",
	.summary = "a random page outside all working sets",
	.tick_ms = TICK_MS,
	.params = wsrandom_params,
	.init = wsrandom_init,
	.mm_init = wsrandom_mm_init,
	.insert = wsrandom_insert,
	.touch = wsrandom_touch,
	.remove = wsrandom_remove,
	.select = wsrandom_select,
	.putback = wsrandom_putback,
	.tick = wsrandom_tick,
	.check = wsrandom_check,
	.show = wsrandom_show,
};
VM_POLICY(wsrandom);
