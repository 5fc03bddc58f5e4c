/*
 * The two-level walk: from an address to its page-table entry (Intel SDM vol. 3, 4.3).
 *
 *	 31         22 21         12 11          0
 *	+-------------+-------------+-------------+
 *	|  directory  |    table    |   offset    |
 *	+-------------+-------------+-------------+
 *
 * Eager: programs tend to use neighbouring pages next, so the tables of 16 MiB are allocated
 * together and kept until the process ends. It works. Find out what it costs, and whether its
 * expectation comes true; labs/paging/handout.md has the task.
 *
 * No locks: code that changes the user half of a directory holds the mm->lock of its address space,
 * or the last reference to it.
 */
#include "arch/mmu.h"
#include "lib/assert.h"
#include "mm/page.h"
#include "mm/zone.h"

#define TABLE_PDE (PTE_P | PTE_RW | PTE_US | PTE_A)
#define GROUP 4u /* tables allocated together */

static pgd_t *pgd_entry(pgd_t *pgd, u32 va)
{
	return pgd + va / TABLE_SPAN;
}

static pte_t *entry_in(pgd_t dir, u32 va)
{
	return (pte_t *)phys_to_virt(dir.v & PAGE_MASK) + va / PAGE_SIZE % PTRS_PER_PTE;
}

bool pgd_has_table(pgd_t *pgd, u32 va)
{
	return pgd_entry(pgd, va)->v & PTE_P;
}

pte_t *pte_lookup(pgd_t *pgd, u32 va)
{
	pgd_t dir = *pgd_entry(pgd, va);

	return (dir.v & (PTE_P | PTE_PS)) == PTE_P ? entry_in(dir, va) : NULL;
}

/* Fills a directory entry with a table of empty entries. Returns false if out of memory. */
static bool add_table(pgd_t *dir)
{
	struct page *table = alloc_page(GFP_KERNEL | GFP_ZERO);

	if (!table)
		return false;
	dir->v = page_pfn(table) << PAGE_SHIFT | TABLE_PDE;
	return true;
}

pte_t *pte_alloc(pgd_t *pgd, u32 va, u32 *nr_tables)
{
	pgd_t *dir = pgd_entry(pgd, ALIGN_DOWN(va, GROUP * TABLE_SPAN));

	for (u32 i = 0; i < GROUP; i++) {
		if (dir[i].v & PTE_P)
			continue;
		if (!add_table(&dir[i]))
			return NULL;
		++*nr_tables;
	}
	return entry_in(*pgd_entry(pgd, va), va);
}

u32 pgd_free_tables(pgd_t *pgd, u32 start, u32 end)
{
	u32 freed = 0;

	ASSERT(!(start % TABLE_SPAN) && !(end % TABLE_SPAN) && end <= KERNEL_BASE);
	if (end - start < TASK_SIZE) /* only part of an address space */
		return 0;
	for (u32 i = 0; i < TASK_SIZE / TABLE_SPAN; i++) {
		if (!(pgd[i].v & PTE_P))
			continue;
		free_pages(pfn_page(pgd[i].v >> PAGE_SHIFT), 0);
		pgd[i].v = 0;
		freed++;
	}
	tlb_flush_all(pgd);
	return freed;
}
