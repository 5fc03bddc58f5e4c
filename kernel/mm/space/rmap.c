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

/* An interrupt may wake the task, which changes its account. */
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

void page_add_anon(struct page *page, struct mm_struct *mm, u32 addr)
{
	page_set(page, PG_anon);
	page->family = mm->family;
	page->index = addr >> PAGE_SHIFT;
	if (!page->owner)
		page->owner = mm;
	page->mapcount++;
	mm_count_anon(mm, 1);
}

static bool visit(struct page *page, struct mm_struct *mm,
		  void (*fn)(struct rmap_entry *e, void *arg), void *arg)
{
	struct rmap_entry e = { mm, page->index << PAGE_SHIFT, rmap_entry(page, mm) };

	if (e.pte)
		fn(&e, arg);
	return e.pte;
}

/* For a page of a file: looks at its address in every region that maps the file. */
static void walk_regions(struct page *page, void (*fn)(struct rmap_entry *e, void *arg), void *arg)
{
	u32 left = page->mapcount;
	struct vm_area_struct *vma;

	if (!left)
		return;
	list_for_each_entry(vma, &page->inode->cache.regions, mapping) {
		u32 n = page->file_index - vma->pgoff;
		struct rmap_entry e = { .mm = vma->mm, .addr = vma->start + (n << PAGE_SHIFT) };

		if (n >= vma_pages(vma))
			continue;
		e.pte = entry_of(page, vma->mm, e.addr);
		if (!e.pte)
			continue;
		fn(&e, arg);
		if (!--left)
			return;
	}
	panic("rmap: page %#x is mapped %u times more than can be found", page_pfn(page), left);
}

void rmap_walk(struct page *page, void (*fn)(struct rmap_entry *e, void *arg), void *arg)
{
	struct mm_struct *owner = page->owner, *mm, *next;
	u32 left = page->mapcount;

	if (!page_test(page, PG_anon)) {
		walk_regions(page, fn, arg);
		return;
	}
	if (left && owner && visit(page, owner, fn, arg))
		left--;
	if (!left)
		return;
	list_for_each_entry_safe(mm, next, &page->family->mms, family_node) {
		if (mm != owner && visit(page, mm, fn, arg) && --left == 0)
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
