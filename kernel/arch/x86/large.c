/*
 * 4 MiB pages in the user half: directory entries that hold a frame instead of a table (Intel SDM vol. 3,
 * 4.3, with CR4.PSE, which the direct map needs as well).
 *
 *	 31         22 21                      12       7      5  2  1  0
 *	+-------------+--------------------------+---+----+---+--+--+--+--+
 *	|    frame    |            0             | D | PS |   |A |US|RW|P |
 *	+-------------+--------------------------+---+----+---+--+--+--+--+
 *
 * An entry with PS is a large page even if P is clear: then no access is allowed (PROT_NONE), and the frame
 * is kept. Page tables never have PS. A and D are set from the start: large pages are never replaced.
 *
 * The caller holds the mm->lock of the address space, or the last reference to it.
 */
#include "arch/mmu.h"
#include "lib/assert.h"

#define LARGE_PDE (PTE_PS | PTE_US | PTE_A | PTE_D)

static pgd_t *entry_of(pgd_t *pgd, u32 va)
{
	ASSERT(va < KERNEL_BASE);
	return pgd + va / TABLE_SPAN;
}

u32 pgd_large_pfn(pgd_t *pgd, u32 va)
{
	pgd_t dir = *entry_of(pgd, va);

	return dir.v & PTE_PS ? dir.v >> PAGE_SHIFT & ~(PTRS_PER_PTE - 1) : 0;
}

bool pgd_large_allows(pgd_t *pgd, u32 va, bool write)
{
	u32 needed = PTE_PS | PTE_P | (write ? PTE_RW : 0);

	return (entry_of(pgd, va)->v & needed) == needed;
}

void pgd_set_large(pgd_t *pgd, u32 va, u32 pfn, bool read, bool write)
{
	pgd_t *dir = entry_of(pgd, va);

	ASSERT(!(pfn % PTRS_PER_PTE) && (!dir->v || dir->v & PTE_PS));
	dir->v = pfn << PAGE_SHIFT | LARGE_PDE | (read ? PTE_P : 0) | (write ? PTE_RW : 0);
}

void pgd_clear_large(pgd_t *pgd, u32 va)
{
	entry_of(pgd, va)->v = 0;
}
