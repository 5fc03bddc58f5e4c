/*
 * Reverse mapping of anonymous pages: who maps this frame?
 *
 * A forked address space maps a shared page at the same address as its parent did. So a page
 * need only know its virtual page number and its family: the address spaces that descend from one
 * execve. The walk looks at that address in each member's page table, the one that faulted the
 * page in first, and ends when it has seen mapcount entries. (This is the "anonmm" design of
 * Hugh Dickins' 2004 patches; Linux took anon_vma instead because mremap moves pages. Here
 * mremap copies.) A page table entry is found again without any list to keep.
 */
#ifndef MM_RMAP_H
#define MM_RMAP_H

#include "lib/list.h"
#include "mm/mm.h"
#include "mm/page.h"

struct anon_family {
	struct list_head mms; /* of mm_struct.family_node */
};

/* A family of its own: 0 or -ENOMEM. */
int family_create(struct mm_struct *mm);
void family_join(struct mm_struct *child, struct mm_struct *parent);
void family_leave(struct mm_struct *mm); /* the last one frees it */

/* Records that mm maps the anonymous page at addr: family, index, owner, mapcount, RSS. The
 * caller writes the entry and holds the reference that becomes the entry's. */
void page_add_anon(struct page *page, struct mm_struct *mm, u32 addr);
/* The owner's last interest in the page is gone, but others still have one: passes it on. */
void page_disown(struct page *page);

struct rmap_entry {
	struct mm_struct *mm;
	u32 addr;
	pte_t *pte;
};

/* The entry for addr, if it maps the page (present or trapped), or NULL. */
static inline pte_t *entry_of(const struct page *page, struct mm_struct *mm, u32 addr)
{
	pte_t *pte = pte_lookup(mm->pgd, addr);

	if (!pte || !(pte_present(*pte) || pte_noaccess(*pte)) || pte_pfn(*pte) != page_pfn(page))
		return NULL;
	return pte;
}

/* The entry of mm that maps the anonymous page (present or trapped), or NULL. Inline, since every
 * look at an accessed bit asks for it. */
static inline pte_t *rmap_entry(const struct page *page, struct mm_struct *mm)
{
	return entry_of(page, mm, page->index << PAGE_SHIFT);
}

/* Calls fn for every entry that maps the page (present or trapped); fn may change the entry. */
void rmap_walk(struct page *page, void (*fn)(struct rmap_entry *e, void *arg), void *arg);

/* RSS of mm changes by n pages: settles space-time first. */
void mm_count_anon(struct mm_struct *mm, int n);
void mm_count_file(struct mm_struct *mm, int n);

#endif
