/*
 * Random: every page is as likely to go as any other.
 *
 * The policy knows nothing and remembers nothing, and that is its use: it is the yardstick of the
 * others. One that does worse than chance has a belief that is wrong for this program. LRU and FIFO
 * do on a loop that is a little larger than memory: they always take the page that is needed next,
 * and every reference is a fault. Random keeps some of the loop by luck. It cannot be fooled by any
 * order of references, and it has no anomaly of its own making, but it takes the hot page as
 * gladly as the one that nobody wants.
 *
 * A page is drawn from a bag (lib/bag.h), in the logarithm of the number of pages. Accessed bits
 * are not read, so it does not matter that they are all that a kernel sees of the uses. The numbers
 * come from a generator of the policy's own, which begins anew when the policy is switched on: the
 * same seed gives the same run, and what programs get from the kernel's generator is not disturbed.
 *
 * A page that the scan may not have is drawn in vain. After DRAWS of them the scan goes on from
 * the last one by number, so that it comes to an end; then the choice is no longer quite even.
 *
 * L. Belady, "A study of replacement algorithms for a virtual-storage computer", IBM Systems
 * Journal 5(2), 1966, where it is called RAND.
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
static u64 nr_in_vain; /* draws of pages that a scan could not have */

static const struct vm_param random_params[] = {
	{ "seed", &seed, 0, UINT32_MAX, NULL, "other draws for each" },
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

/* Not named "random", which is a function of C libraries. */
static const struct vm_policy random_policy = {
	.name = "random",
	.summary = "any page, each as likely as the others",
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
