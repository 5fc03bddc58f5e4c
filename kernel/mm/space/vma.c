/*
 * Regions of an address space.
 *
 * Every region is in mm->vmas, a red-black tree by address, and in mm->vma_list in the same order:
 * the tree finds the region of an address in O(log n), the list gives neighbours. Regions do not
 * overlap; neighbours that exactly continue each other are merged. vma_find first tries the region
 * that it returned last, since successive faults often hit the same region.
 *
 * mmap without an address takes the highest hole below USER_MMAP_TOP. hole_hint remembers where
 * the last search ended, so that a thousand mmaps do not walk over a thousand regions; an munmap
 * above it moves it up again. With vm.legacy_va_layout=1, new programs have the layout of Linux 2.4:
 * the lowest hole above USER_MMAP_LEGACY, found by a walk over the regions, which takes O(n).
 */
#include "errno.h"
#include "fs/vfs.h"
#include "internal.h"
#include "lib/param.h"
#include "mm/demand.h"
#include "mm/rmap.h"
#include "mm/slab.h"

u32 max_map_count = 65530;

PARAM_U32("vm.max_map_count", max_map_count, 16, 1u << 20, "regions", "that a process may have");

u32 legacy_va_layout;

PARAM_U32("vm.legacy_va_layout", legacy_va_layout, 0, 1, NULL,
	  "1: mmap of new programs takes the lowest hole, not the highest");

static struct kmem_cache *vma_cache;

void vma_init_cache(void)
{
	vma_cache = kmem_cache_create("vm_area_struct", sizeof(struct vm_area_struct), 0, NULL);
}

/* A shared mapping counts as a writer of its file even while read-only: mprotect may enable writes. */
static bool is_writer(const struct vm_area_struct *vma)
{
	return (vma->flags & (VM_SHARED | VM_NOWRITE)) == VM_SHARED;
}

/* Creates a region that is not yet in the tree or in the list; vma_insert adds it. */
struct vm_area_struct *vma_new(struct mm_struct *mm, u32 start, u32 end, u32 flags,
			       struct inode *inode, u32 pgoff)
{
	struct vm_area_struct *vma = kmem_cache_alloc(vma_cache, GFP_KERNEL);

	if (!vma)
		return NULL;
	vma->mm = mm;
	vma->start = start;
	vma->end = end;
	vma->flags = flags;
	vma->inode = inode;
	vma->pgoff = pgoff;
	vma->ops = inode ? &file_vm_ops : NULL;
	vma->moved = 0;
	vma->ahead = (struct readahead){ .mapped = true };
	if (inode) {
		inode_get(inode);
		vma->mapping.first = pgoff;
		vma->mapping.last = pgoff + vma_pages(vma) - 1;
		interval_insert(&vma->mapping, &inode->cache.regions);
		if (is_writer(vma))
			inode_count_writers(inode, 1);
	}
	return vma;
}

void vma_set_moved(struct vm_area_struct *vma, u32 pages)
{
	vma->moved = pages;
	if (!pages)
		return;
	vma->home.first = (vma->start >> PAGE_SHIFT) - pages;
	vma->home.last = vma->home.first + vma_pages(vma) - 1;
	interval_insert(&vma->home, &vma->mm->family->moved);
}

void vma_free(struct vm_area_struct *vma)
{
	if (vma->moved)
		interval_erase(&vma->home, &vma->mm->family->moved);
	if (vma->inode) {
		interval_erase(&vma->mapping, &vma->inode->cache.regions);
		if (is_writer(vma))
			inode_count_writers(vma->inode, -1);
		inode_put(vma->inode);
	}
	kmem_cache_free(vma_cache, vma);
}

struct vm_area_struct *vma_find(struct mm_struct *mm, u32 addr)
{
	struct vm_area_struct *vma = mm->last_vma, *best = NULL;
	struct rb_node *n = mm->vmas.rb_node;

	if (vma && vma->start <= addr && addr < vma->end)
		return vma;
	while (n) {
		vma = rb_entry(n, struct vm_area_struct, rb);
		if (vma->end > addr) {
			best = vma;
			if (vma->start <= addr)
				break;
			n = n->rb_left;
		} else {
			n = n->rb_right;
		}
	}
	if (best)
		mm->last_vma = best;
	return best;
}

struct vm_area_struct *vma_prev(struct vm_area_struct *vma)
{
	if (vma->list.prev == &vma->mm->vma_list)
		return NULL;
	return list_entry(vma->list.prev, struct vm_area_struct, list);
}

struct vm_area_struct *vma_next(struct vm_area_struct *vma)
{
	if (vma->list.next == &vma->mm->vma_list)
		return NULL;
	return list_entry(vma->list.next, struct vm_area_struct, list);
}

static inline __attribute__((always_inline)) void count_pages(struct vm_area_struct *vma, int sign)
{
	struct mm_counters *c = &vma->mm->count;
	int n = sign * (int)vma_pages(vma);
	bool promised = vm_is_promised(vma->flags);

	if (sign < 0)
		demand_peaks();
	c->total_vm += n;
	if (unlikely(vma->flags & VM_LOCKED))
		c->locked_vm += n;
	if (promised)
		vm_committed += n;
	if ((promised || !vma->inode) && !(vma->flags & VM_HUGE)) {
		c->demand += n;
		demand_sum += vma->mm->task ? n : 0;
	}
}

/* Inserts the region into the tree; its place in the list follows from the parent found on the way. */
void vma_insert(struct vm_area_struct *vma)
{
	struct mm_struct *mm = vma->mm;
	struct rb_node **link = &mm->vmas.rb_node, *parent = NULL;
	struct list_head *before = &mm->vma_list;

	while (*link) {
		struct vm_area_struct *v = rb_entry(*link, struct vm_area_struct, rb);

		parent = *link;
		if (vma->start < v->start) {
			link = &parent->rb_left;
		} else {
			before = &v->list;
			link = &parent->rb_right;
		}
	}
	rb_link_node(&vma->rb, parent, link);
	rb_insert_color(&vma->rb, &mm->vmas);
	list_add(&vma->list, before);
	mm->map_count++;
	count_pages(vma, 1);
}

void vma_remove(struct vm_area_struct *vma)
{
	struct mm_struct *mm = vma->mm;

	rb_erase(&vma->rb, &mm->vmas);
	list_del(&vma->list);
	if (mm->last_vma == vma)
		mm->last_vma = NULL;
	if (vma->end > mm->hole_hint && vma->end <= USER_MMAP_TOP)
		mm->hole_hint = vma->end;
	mm->map_count--;
	count_pages(vma, -1);
}

/* The order of the regions does not change, so tree and list stay valid. Only regions that map no file
 * and have not been moved grow downwards. An empty region is about to get its old size again. */
void vma_resize(struct vm_area_struct *vma, u32 start, u32 end)
{
	count_pages(vma, -1);
	vma->start = start;
	vma->end = end;
	if (vma->inode && start != end)
		interval_set_last(&vma->mapping, vma->pgoff + vma_pages(vma) - 1);
	if (vma->moved && start != end)
		interval_set_last(&vma->home, vma->home.first + vma_pages(vma) - 1);
	count_pages(vma, 1);
}

static bool continues(const struct vm_area_struct *a, const struct vm_area_struct *b)
{
	if (a->end != b->start || a->flags != b->flags || a->inode != b->inode ||
	    a->moved != b->moved)
		return false;
	return !a->inode || a->pgoff + vma_pages(a) == b->pgoff;
}

static void absorb_next(struct vm_area_struct *vma, struct vm_area_struct *next)
{
	u32 end = next->end;

	vma_remove(next);
	vma_free(next);
	vma_resize(vma, vma->start, end);
}

struct vm_area_struct *vma_merge(struct vm_area_struct *vma)
{
	struct vm_area_struct *prev = vma_prev(vma), *next = vma_next(vma);

	if (next && continues(vma, next))
		absorb_next(vma, next);
	if (!prev || !continues(prev, vma))
		return vma;
	absorb_next(prev, vma);
	return prev;
}

int vma_split_at(struct mm_struct *mm, u32 addr)
{
	struct vm_area_struct *vma = vma_find(mm, addr), *upper;
	u32 end;

	if (!vma || vma->start >= addr)
		return 0;
	if (vma->flags & VM_HUGE && addr % TABLE_SPAN)
		return -EINVAL;
	if (mm->map_count >= max_map_count)
		return -ENOMEM;
	end = vma->end;
	upper = vma_new(mm, addr, end, vma->flags, vma->inode,
			vma->pgoff + ((addr - vma->start) >> PAGE_SHIFT));
	if (!upper)
		return -ENOMEM;
	upper->ahead.advice = vma->ahead.advice;
	vma_set_moved(upper, vma->moved);
	vma_resize(vma, vma->start, addr);
	vma_insert(upper);
	return 0;
}

static u32 hole_below(struct mm_struct *mm, u32 top, u32 len)
{
	while (top >= len + PAGE_SIZE) {
		struct vm_area_struct *vma = vma_find(mm, top - len);

		if (!vma || vma->start >= top)
			return top - len;
		top = vma->start;
	}
	return 0;
}

static u32 hole_above(struct mm_struct *mm, u32 from, u32 len)
{
	struct vm_area_struct *vma = vma_find(mm, from);

	while (from < USER_MMAP_TOP) {
		u32 end = vma ? MIN(vma->start, USER_MMAP_TOP) : USER_MMAP_TOP;

		if (end > from && end - from >= len)
			return from;
		if (!vma)
			return 0;
		from = vma->end;
		vma = vma_next(vma);
	}
	return 0;
}

u32 vma_find_hole(struct mm_struct *mm, u32 len)
{
	u32 addr;

	if (mm->legacy_layout)
		return hole_above(mm, USER_MMAP_LEGACY, len);
	addr = hole_below(mm, mm->hole_hint, len);

	if (!addr && mm->hole_hint != USER_MMAP_TOP)
		addr = hole_below(mm, USER_MMAP_TOP, len);
	if (addr)
		mm->hole_hint = addr;
	return addr;
}
