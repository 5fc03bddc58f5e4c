/*
 * Reverse mapping of anonymous pages: which page-table entries map this frame?
 *
 * A forked address space maps a shared page at the same address as its parent does. So a page need
 * only record its virtual page number and its family: the address spaces that descend from one
 * execve. The walk looks at that address in each member's page table, beginning with the owner,
 * which faulted the page in, and ends when it has seen mapcount entries. (This is the "anonmm"
 * design of Hugh Dickins' 2004 patches; Linux chose anon_vma instead.) Thus page-table entries are
 * found without maintaining any list of them.
 *
 * mremap moves a page away from that address in one process, while relatives still map it there. So the
 * page keeps its number, its home, and the region remembers by how much it has been moved. The family has
 * an interval tree of its moved regions by home; the walk looks there, too. A process without relatives has
 * no need of that: mremap gives its pages new numbers (mm/space/mremap.c).
 */
#ifndef MM_RMAP_H
#define MM_RMAP_H

#include "lib/list.h"
#include "mm/mm.h"
#include "mm/page.h"

struct anon_family {
	struct list_head mms; /* of mm_struct.family_node */
	struct rb_root moved; /* of vm_area_struct.home */
};

/* Creates a new family with mm as its only member. Returns 0 or -ENOMEM. */
int family_create(struct mm_struct *mm);
void family_join(struct mm_struct *child, struct mm_struct *parent);
void family_leave(struct mm_struct *mm); /* the last member frees the family */

/* Records that the region maps the anonymous page at addr: sets family, index, owner, mapcount, RSS. The
 * caller writes the entry and holds the reference that becomes the entry's. */
void page_add_anon(struct page *page, struct vm_area_struct *vma, u32 addr);
/* Called when the owner gives the page up: passes ownership on to a process that still maps it, if any. */
void page_disown(struct page *page);

/* The virtual page number of an anonymous page in its owner (mm/space/mremap.c). */
u32 vpn_in_owner(const struct page *page);

struct rmap_entry {
	struct mm_struct *mm;
	u32 addr;
	pte_t *pte;
};

/* Returns the entry for addr if it maps the page (present or trapped), otherwise NULL. */
static inline pte_t *entry_of(const struct page *page, struct mm_struct *mm, u32 addr)
{
	pte_t *pte = pte_lookup(mm->pgd, addr);

	if (!pte || !(pte_present(*pte) || pte_noaccess(*pte)) || pte_pfn(*pte) != page_pfn(page))
		return NULL;
	return pte;
}

/* Returns mm's entry that maps the anonymous page (present or trapped), or NULL: then look for it with
 * rmap_walk, since mremap may have moved it. Inline, since every test of an accessed bit calls it. */
static inline pte_t *rmap_entry(const struct page *page, struct mm_struct *mm)
{
	return entry_of(page, mm, page->index << PAGE_SHIFT);
}

/* Calls fn for every entry that maps the page (present or trapped); fn may change the entry. */
void rmap_walk(struct page *page, void (*fn)(struct rmap_entry *e, void *arg), void *arg);

/* Changes the RSS of mm by n pages; first adds up space-time with the old RSS. */
void mm_count_anon(struct mm_struct *mm, int n);
void mm_count_file(struct mm_struct *mm, int n);

#endif
