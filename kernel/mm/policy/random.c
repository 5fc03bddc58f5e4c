/*
 * Random: every page is equally likely to be evicted.
 *
 * The policy knows nothing and remembers nothing, which makes it the baseline for all the others. A
 * policy that does worse than chance makes an assumption that is wrong for this program. LRU and
 * FIFO do worse on a loop that is a little larger than memory: they always evict the page that is
 * needed next, and every reference is a fault. Random keeps some of the loop by luck. No order of
 * references can defeat it, and it has no anomaly of its own, but it is as likely to evict a hot
 * page as a page that is never used again.
 *
 * A page is drawn from a bag (lib/bag.h) in time logarithmic in the number of pages. Accessed bits
 * are not read, so their imprecision does not matter. The numbers come from the policy's own
 * generator, which is reset when the policy is switched on: the same seed gives the same run, and
 * the numbers that programs get from the kernel's generator do not change.
 *
 * Drawing a page that the scan may not take is a wasted draw. After DRAWS draws the scan goes on
 * from the last page by number, so that it ends; from then on the pages are no longer quite equally
 * likely.
 *
 * L. Belady, "A study of replacement algorithms for a virtual-storage computer", IBM Systems
 * Journal 5(2), 1966, where the algorithm is called RAND.
 */
#include "lib/bag.h"
#include "mm/policy.h"

#define DRAWS 32

struct random_page {
	struct bag_node node;
};
POLICY_PAGE_FITS(struct random_page);

static u32 seed = 1;
static struct bag pages;
static u64 nr_in_vain; /* draws of pages that the scan may not take */

static const struct vm_param random_params[] = {
	{ "seed", &seed, 0, UINT32_MAX, NULL, "seed of the random draws" },
	{ 0 },
};

static struct random_page *random_data(struct page *page)
{
	return policy_page(page);
}

static int random_init(void)
{
	pages = (struct bag){ 0 };
	nr_in_vain = 0;
	return 0;
}

static void random_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			  struct page_id from)
{
	(void)mm, (void)how, (void)from;
	bag_add(&pages, &random_data(page)->node);
}

static void random_remove(struct page *page, enum vm_out why)
{
	(void)why;
	bag_remove(&pages, &random_data(page)->node);
}

static struct page *random_select(struct vm_scan *scan)
{
	u32 number = 0;

	for (u32 tries = 0; pages.nr && vm_scan_more(scan); tries++) {
		struct bag_node *node;
		struct page *page;

		number = tries < DRAWS ? bag_draw(&pages, seed) : number % pages.nr + 1;
		node = *bag_place(&pages, number);
		page = policy_page_of(container_of(node, struct random_page, node));
		if (vm_eligible(scan, page)) {
			bag_remove(&pages, node);
			return page;
		}
		nr_in_vain++;
	}
	return NULL;
}

static void random_putback(struct page *page, enum vm_put why)
{
	(void)why;
	bag_add(&pages, &random_data(page)->node);
}

static int random_check(void)
{
	return bag_check(&pages);
}

static void random_show(struct seq_file *m)
{
	show_u64(m, "pages", pages.nr);
	show_u64(m, "drawn_in_vain", nr_in_vain);
}

/* Not named "random", which is a function of the C library. */
static const struct vm_policy random_policy = {
	.name = "random",
	.summary = "any page, all equally likely",
	.params = random_params,
	.init = random_init,
	.insert = random_insert,
	.remove = random_remove,
	.select = random_select,
	.putback = random_putback,
	.check = random_check,
	.show = random_show,
};
VM_POLICY(random_policy);
