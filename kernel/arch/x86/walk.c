/*
 * The two-level walk: from an address to its page-table entry (Intel SDM vol. 3, 4.3).
 *
 *	 31         22 21         12 11          0
 *	+-------------+-------------+-------------+
 *	|  directory  |    table    |   offset    |
 *	+-------------+-------------+-------------+
 *
 * The upper 10 bits select one of the 1024 entries of the page directory, which holds the frame of
 * a page table. The next 10 bits select one of that table's entries, which holds the frame of the
 * page. A table maps 4 MiB, and an address space of 3 GiB would need 768 of them. But a program
 * uses a few regions far apart: text and heap, mappings, stack. So a table is allocated when an
 * entry in it is first needed, and freed when the range that it maps is empty again.
 *
 * A directory entry is empty, or refers to a table, or is a 4 MiB page (PTE_PS; large.c). It grants
 * all rights to its table: each page's own entry narrows them. New tables hold only empty entries.
 * The CPU never keeps those in its TLB, so a new table needs no flush, but a freed table does.
 *
 * No locks: code that changes the user half of a directory holds the mm->lock of its address space,
 * or the last reference to it.
 */
#include "arch/mmu.h"
#include "lib/assert.h"
#include "mm/page.h"
#include "mm/zone.h"

#define TABLE_PDE (PTE_P | PTE_RW | PTE_US | PTE_A)

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
	return (pgd_entry(pgd, va)->v & (PTE_P | PTE_PS)) == PTE_P;
}

pte_t *pte_lookup(pgd_t *pgd, u32 va)
{
	pgd_t dir = *pgd_entry(pgd, va);

	return (dir.v & (PTE_P | PTE_PS)) == PTE_P ? entry_in(dir, va) : NULL;
}

/* lab: tables */
pte_t *pte_alloc(pgd_t *pgd, u32 va, u32 *nr_tables)
{
	pgd_t *dir = pgd_entry(pgd, va);
	struct page *table;

	if (!(dir->v & PTE_P)) {
		table = alloc_page(GFP_KERNEL | GFP_ZERO);
		if (!table)
			return NULL;
		dir->v = page_pfn(table) << PAGE_SHIFT | TABLE_PDE;
		++*nr_tables;
	}
	return entry_in(*dir, va);
}

u32 pgd_free_tables(pgd_t *pgd, u32 start, u32 end)
{
	u32 freed = 0;

	ASSERT(!(start % TABLE_SPAN) && !(end % TABLE_SPAN) && end <= KERNEL_BASE);
	for (u32 i = start / TABLE_SPAN; i < end / TABLE_SPAN; i++) {
		if (!(pgd[i].v & PTE_P))
			continue;
		free_pages(pfn_page(pgd[i].v >> PAGE_SHIFT), 0);
		pgd[i].v = 0;
		freed++;
	}
	if (freed)
		tlb_flush_all(pgd);
	return freed;
}
/* lab: end */
