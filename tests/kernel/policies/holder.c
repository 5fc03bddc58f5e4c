/*
 * Keeps a reference to each page that it gives until the page is put back: all pages are in use, as if their users
 * waited.
 */
#include "base.h"

#include "mm/frames.h"

static struct page *holder_select(struct vm_scan *scan)
{
	struct page *page = base_select(scan);

	if (page)
		page_get(page);
	return page;
}

static void holder_putback(struct page *page, enum vm_put why)
{
	page_put(page);
	base_putback(page, why);
}

static const struct vm_policy holder = {
	.name = "holder",
	.summary = "every page that it gives is in use",
	.insert = base_insert,
	.remove = base_remove,
	.select = holder_select,
	.putback = holder_putback,
	.check = base_check,
};
VM_POLICY(holder);
