/*
 * Address spaces as a whole: created empty, copied at fork, attached to a task, destroyed.
 *
 * A fork copies the page tables, not the pages: parent and child lose the right to write to private
 * pages, and the first to write gets its own copy (mm/space/anon.c). Destroying takes no lock,
 * since no other task could hold it. Until the last entry is gone, reclaim may find the address
 * space through the reverse map; all entries are removed without sleeping.
 */
#include "mm/mm.h"

#include "anon.h"
#include "errno.h"
#include "lib/assert.h"
#include "lib/string.h"
#include "mm/demand.h"
#include "mm/fault.h"
#include "internal.h"
#include "mm/guard_core.h"
#include "mm/policy_core.h"
#include "mm/rmap.h"
#include "mm/slab.h"
#include "mm/starve.h"
#include "observe/events.h"
#include "sched/current.h"

LIST_HEAD(mm_list);

static struct kmem_cache *mm_cache;

void mm_init_caches(void)
{
	vma_init_cache();
	mm_cache = kmem_cache_create("mm_struct", sizeof(struct mm_struct), 0, NULL);
}

static struct mm_struct *mm_new(void)
{
	struct mm_struct *mm = kmem_cache_alloc(mm_cache, GFP_KERNEL);

	if (!mm)
		return NULL;
	memset(mm, 0, sizeof(*mm));
	mm->pgd = pgd_create();
	if (!mm->pgd) {
		kmem_cache_free(mm_cache, mm);
		return NULL;
	}
	INIT_LIST_HEAD(&mm->vma_list);
	mutex_init(&mm->lock);
	mm->hole_hint = USER_MMAP_TOP;
	mm->legacy_layout = legacy_va_layout;
	return mm;
}

static void mm_announce(struct mm_struct *mm)
{
	static u32 last_id;

	mm->id = ++last_id;
	list_add_tail(&mm->all, &mm_list);
	policy_call_mm_init(mm);
}

struct mm_struct *mm_create(void)
{
	struct mm_struct *mm = mm_new();

	if (!mm)
		return NULL;
	if (family_create(mm)) {
		pgd_destroy(mm->pgd);
		kmem_cache_free(mm_cache, mm);
		return NULL;
	}
	mm_announce(mm);
	return mm;
}

/* The address space loses its task; its virtual time stops. */
static void detach(struct mm_struct *mm)
{
	mm->vtime_ns = mm_vtime(mm);
	mm->task = NULL;
}

void mm_attach(struct task_struct *t, struct mm_struct *mm)
{
	demand_peaks(); /* with the previous address space */
	if (t->mm) {
		demand_sum -= t->mm->count.demand;
		detach(t->mm);
	}
	demand_sum += mm->count.demand;
	acct_resize(&t->acct, mm_rss_pages(mm) - t->acct.rss);
	t->mm = mm;
	t->pgd = mm->pgd;
	mm->task = t;
	if (t == current)
		mmu_switch(mm->pgd);
}

static int copy_region(struct mm_struct *child, struct vm_area_struct *vma)
{
	struct vm_area_struct *copy;

	if (vm_is_promised(vma->flags) && !vm_may_commit(vma_pages(vma)))
		return -ENOMEM;
	copy = vma_new(child, vma->start, vma->end, vma->flags & ~VM_LOCKED, vma->inode,
		       vma->pgoff);
	if (!copy)
		return -ENOMEM;
	vma_set_moved(copy, vma->moved);
	vma_insert(copy);
	return vma->flags & VM_HUGE ? huge_copy(child, vma) : copy_range(child, vma);
}

static void copy_layout(struct mm_struct *to, const struct mm_struct *from)
{
	to->start_code = from->start_code;
	to->end_code = from->end_code;
	to->start_data = from->start_data;
	to->end_data = from->end_data;
	to->start_brk = from->start_brk;
	to->brk = from->brk;
	to->start_stack = from->start_stack;
	to->arg_start = from->arg_start;
	to->arg_end = from->arg_end;
	to->env_end = from->env_end;
	to->hole_hint = from->hole_hint;
	to->legacy_layout = from->legacy_layout;
}

struct mm_struct *mm_fork(struct task_struct *child)
{
	struct mm_struct *parent = current->mm, *mm = mm_new();
	struct vm_area_struct *vma;
	int err = 0;

	if (!mm)
		return NULL;
	family_join(mm, parent);
	mm_announce(mm);
	copy_layout(mm, parent);
	mutex_lock(&parent->lock);
	list_for_each_entry(vma, &parent->vma_list, list) {
		err = copy_region(mm, vma);
		if (err)
			break;
	}
	mutex_unlock(&parent->lock);
	if (err) {
		mm_destroy(mm);
		return NULL;
	}
	mm_attach(child, mm);
	return mm;
}

void mm_destroy(struct mm_struct *mm)
{
	struct vm_area_struct *vma, *next;
	struct tally t = { 0 };

	ASSERT(!mm->lock.owner);
	list_for_each_entry_safe(vma, next, &mm->vma_list, list) {
		u32 start = vma->start, end = vma->end;

		zap_range(vma, start, end, &t);
		vma_remove(vma);
		vma_free(vma);
		free_tables_around(mm, start, end);
	}
	tally_settle(mm, &t);
	ASSERT(!mm->count.anon && !mm->count.file && !mm->count.swapents);
	if (mmu_current == mm->pgd)
		mmu_switch(kernel_pgd);
	starve_mm_exit(mm);
	guard_call_mm_exit(mm);
	policy_call_mm_exit(mm);
	list_del(&mm->all);
	family_leave(mm);
	if (mm->task)
		acct_resize(&mm->task->acct, -mm->task->acct.rss);
	pgd_destroy(mm->pgd);
	kmem_cache_free(mm_cache, mm);
	event_mm_freed(NULL);
}

/* Faults in a page of mm for writing and returns it in *page. Returns 0 or -errno. */
static int writable_page(struct mm_struct *mm, u32 addr, struct page **page)
{
	pte_t *pte;
	int err;

	do {
		err = handle_mm_fault(mm, addr, FAULT_WRITE);
		if (err)
			return err;
		pte = pte_lookup(mm->pgd, addr);
	} while (!pte_present(*pte) || !pte_write(*pte));
	*pte = pte_mkdirty(*pte);
	*page = pfn_page(pte_pfn(*pte));
	return 0;
}

int mm_write(struct mm_struct *mm, u32 addr, const void *from, size_t n)
{
	while (n) {
		u32 offset = addr & ~PAGE_MASK, part = MIN(n, PAGE_SIZE - offset);
		struct page *page;
		int err = writable_page(mm, addr, &page);
		char *va;

		if (err)
			return err;
		va = kmap(page);
		memcpy(va + offset, from, part);
		kunmap(va);
		addr += part;
		from = (const char *)from + part;
		n -= part;
	}
	return 0;
}

struct mm_struct *mm_after(u32 id)
{
	struct mm_struct *mm;

	for_each_mm(mm)
		if (mm->id > id)
			return mm;
	return NULL;
}

void *policy_mm(struct mm_struct *mm)
{
	return mm->policy;
}

u32 mm_rss(struct mm_struct *mm)
{
	return mm_rss_pages(mm);
}

u64 mm_vtime(struct mm_struct *mm)
{
	return mm->task ? cycles_to_ns(acct_vtime_cycles(&mm->task->acct)) : mm->vtime_ns;
}

bool mm_sleeps(struct mm_struct *mm)
{
	return mm->task && mm->task->acct.now == ACCT_SLEEP;
}

struct mm_struct *vm_next_mm(struct mm_struct *mm)
{
	struct list_head *next = mm ? mm->all.next : mm_list.next;

	return next == &mm_list ? NULL : list_entry(next, struct mm_struct, all);
}
