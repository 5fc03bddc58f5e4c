/* Reverse mapping; the theory is in mm/rmap.h. */
#include "mm/rmap.h"

#include "arch/irq.h"
#include "errno.h"
#include "fs/vfs.h"
#include "internal.h"
#include "lib/assert.h"
#include "mm/policy_core.h"
#include "mm/slab.h"
#include "sched/current.h"

int family_create(struct mm_struct *mm)
{
	struct anon_family *f = kmalloc(sizeof(*f), GFP_KERNEL);

	if (!f)
		return -ENOMEM;
	INIT_LIST_HEAD(&f->mms);
	f->moved = RB_ROOT;
	list_add_tail(&mm->family_node, &f->mms);
	mm->family = f;
	return 0;
}

void family_join(struct mm_struct *child, struct mm_struct *parent)
{
	child->family = parent->family;
	list_add_tail(&child->family_node, &parent->family->mms);
}

void family_leave(struct mm_struct *mm)
{
	list_del(&mm->family_node);
	if (list_empty(&mm->family->mms))
		kfree(mm->family);
	mm->family = NULL;
}

/* Resizes the account of another task. An interrupt may wake that task, which also changes the
 * account. */
static out_of_line void resize_other(struct acct_clock *acct, int n)
{
	unsigned long flags = irq_save();

	acct_resize(acct, n);
	irq_restore(flags);
}

static void rss_changed(struct mm_struct *mm, int n)
{
	u32 rss = mm_rss_pages(mm);

	if (rss > mm->count.max_rss)
		mm->count.max_rss = rss;
	if (likely(mm->task == current))
		acct_resize(&current->acct, n);
	else if (mm->task)
		resize_other(&mm->task->acct, n);
}

void mm_count_anon(struct mm_struct *mm, int n)
{
	mm->count.anon += n;
	rss_changed(mm, n);
}

void mm_count_file(struct mm_struct *mm, int n)
{
	mm->count.file += n;
	rss_changed(mm, n);
}

void page_add_anon(struct page *page, struct vm_area_struct *vma, u32 addr)
{
	struct mm_struct *mm = vma->mm;

	page_set(page, PG_anon);
	page->family = mm->family;
	page->index = (addr >> PAGE_SHIFT) - vma->moved;
	if (!page->owner)
		page->owner = mm;
	page->mapcount++;
	mm_count_anon(mm, 1);
}

/* Returns true if addr maps the page in mm. */
static bool visit(struct page *page, struct mm_struct *mm, u32 addr,
		  void (*fn)(struct rmap_entry *e, void *arg), void *arg)
{
	struct rmap_entry e = { mm, addr, entry_of(page, mm, addr) };

	if (e.pte)
		fn(&e, arg);
	return e.pte;
}

/* For an anonymous page: looks into every region that mremap has moved. Returns the number of entries found. */
static u32 walk_moved(struct page *page, void (*fn)(struct rmap_entry *e, void *arg), void *arg)
{
	struct interval *i;
	u32 nr = 0;

	for_each_interval(i, &page->family->moved, page->index, page->index) {
		struct vm_area_struct *vma = rb_entry(i, struct vm_area_struct, home);

		nr += visit(page, vma->mm, (page->index + vma->moved) << PAGE_SHIFT, fn, arg);
	}
	return nr;
}

/* For a page of a file: looks at its address in every region that maps it. */
static void walk_regions(struct page *page, void (*fn)(struct rmap_entry *e, void *arg), void *arg)
{
	u32 left = page->mapcount, index = page->file_index;
	struct interval *i;

	if (!left)
		return;
	for_each_interval(i, &page->inode->cache.regions, index, index) {
		struct vm_area_struct *vma = rb_entry(i, struct vm_area_struct, mapping);

		left -= visit(page, vma->mm, vma_addr(vma, index), fn, arg);
		if (!left)
			return;
	}
	panic("rmap: page %#x is mapped %u times more than can be found", page_pfn(page), left);
}

void rmap_walk(struct page *page, void (*fn)(struct rmap_entry *e, void *arg), void *arg)
{
	struct mm_struct *owner = page->owner, *mm, *next;
	u32 left = page->mapcount, home = page->index << PAGE_SHIFT;

	if (!page_test(page, PG_anon)) {
		walk_regions(page, fn, arg);
		return;
	}
	if (left && owner && visit(page, owner, home, fn, arg))
		left--;
	if (left)
		left -= walk_moved(page, fn, arg);
	if (!left)
		return;
	list_for_each_entry_safe(mm, next, &page->family->mms, family_node) {
		if (mm != owner && visit(page, mm, home, fn, arg) && --left == 0)
			return;
	}
	panic("rmap: page %#x is mapped %u times more than can be found", page_pfn(page), left);
}

static void first_user(struct rmap_entry *e, void *arg)
{
	struct mm_struct **mm = arg;

	if (!*mm)
		*mm = e->mm;
}

void page_disown(struct page *page)
{
	struct mm_struct *heir = NULL;

	rmap_walk(page, first_user, &heir);
	policy_call_moved(page, heir);
}
