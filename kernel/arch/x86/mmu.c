/*
 * Page directories, kernel mappings, and the TLB. The walk is in walk.c.
 *
 * Every page directory has the same upper quarter: the direct map in 4 MiB pages, the page tables
 * of the vmalloc area, and one page table for kmap. These tables exist from boot and the upper
 * quarter never changes afterwards, so nothing needs to be copied from one directory to another.
 * Its entries are global: they stay in the TLB when cr3 is reloaded.
 *
 * The TLB holds entries of the CPU's current address space only (every switch reloads cr3), so only
 * changes to the current one need a flush.
 */
#include "arch/mmu.h"
#include "arch/x86/cpu.h"
#include "internal.h"
#include "lib/assert.h"
#include "lib/string.h"
#include "mm/bootmem.h"
#include "mm/page.h"
#include "mm/zone.h"

#define LARGE_PAGE (4u << 20)
#define KERNEL_PTE (PTE_P | PTE_RW | PTE_A | PTE_D | PTE_G)
#define KERNEL_TABLE_PDE (PTE_P | PTE_RW | PTE_A)
#define FIRST_KERNEL_PDE (KERNEL_BASE >> 22)
#define NR_KMAP_SLOTS 8

pgd_t *kernel_pgd = (pgd_t *)kernel_pgdir;
pgd_t *mmu_current = (pgd_t *)kernel_pgdir;

static u32 lowmem_pfns = LOWMEM_MAX >> PAGE_SHIFT;
static pte_t *kmap_table;
static u32 kmap_depth;

pgd_t *pgd_create(void)
{
	struct page *page = alloc_page(GFP_KERNEL);
	pgd_t *pgd;

	if (!page)
		return NULL;
	pgd = page_address(page);
	memset(pgd, 0, FIRST_KERNEL_PDE * sizeof(*pgd));
	memcpy(pgd + FIRST_KERNEL_PDE, kernel_pgd + FIRST_KERNEL_PDE,
	       (PTRS_PER_PGD - FIRST_KERNEL_PDE) * sizeof(*pgd));
	return pgd;
}

void pgd_destroy(pgd_t *pgd)
{
	ASSERT(pgd != mmu_current && pgd != kernel_pgd);
	free_pages(virt_page(pgd), 0);
}

void mmu_switch(pgd_t *pgd)
{
	mmu_current = pgd;
	write_cr3(virt_to_phys(pgd));
}

void tlb_flush_page(pgd_t *pgd, u32 va)
{
	if (pgd == mmu_current)
		invlpg(va);
}

void tlb_flush_all(pgd_t *pgd)
{
	if (pgd == mmu_current)
		write_cr3(virt_to_phys(pgd));
}

static pte_t *vmalloc_entry(u32 va)
{
	ASSERT(va >= VMALLOC_START && va < VMALLOC_END);
	return pte_lookup(kernel_pgd, va);
}

void kernel_map_page(u32 va, u32 pfn)
{
	pte_t *e = vmalloc_entry(va);

	ASSERT(pte_none(*e));
	e->v = pfn << PAGE_SHIFT | KERNEL_PTE;
}

void kernel_unmap_page(u32 va)
{
	*vmalloc_entry(va) = pte_zero();
	invlpg(va);
}

bool kernel_page_mapped(u32 va)
{
	pgd_t dir = kernel_pgd[va / LARGE_PAGE];

	if (!(dir.v & PTE_P))
		return false;
	return (dir.v & PTE_PS) || pte_present(*pte_lookup(kernel_pgd, va));
}

/* An interrupt between the first two lines takes and returns the next slot. */
void *kmap_pfn(u32 pfn)
{
	u32 slot;

	if (pfn < lowmem_pfns)
		return phys_to_virt(pfn << PAGE_SHIFT);
	slot = kmap_depth++;
	ASSERT(slot < NR_KMAP_SLOTS);
	kmap_table[slot].v = pfn << PAGE_SHIFT | KERNEL_PTE;
	return (void *)(FIXMAP_START + slot * PAGE_SIZE);
}

void kunmap(void *addr)
{
	u32 va = (u32)addr & PAGE_MASK;
	u32 slot = (va - FIXMAP_START) >> PAGE_SHIFT;

	if (va < FIXMAP_START)
		return;
	ASSERT(slot + 1 == kmap_depth);
	kmap_table[slot] = pte_zero();
	invlpg(va);
	kmap_depth--;
}

static pte_t *kernel_table(u32 va)
{
	pte_t *table = boot_alloc(PAGE_SIZE, PAGE_SIZE);

	kernel_pgd[va / LARGE_PAGE].v = virt_to_phys(table) | KERNEL_TABLE_PDE;
	return table;
}

/* boot.S has mapped the whole range of low memory, and the first 4 MiB twice. */
void mmu_init(u32 lowmem_end, u32 start, u32 end)
{
	u32 va, pa;

	ASSERT(lowmem_end <= LOWMEM_MAX);
	lowmem_pfns = lowmem_end >> PAGE_SHIFT;
	for (va = VMALLOC_START; va < VMALLOC_END; va += LARGE_PAGE)
		kernel_table(va);
	kmap_table = kernel_table(FIXMAP_START);
	for (pa = ALIGN_UP(lowmem_end, LARGE_PAGE); pa < VMALLOC_START - KERNEL_BASE;
	     pa += LARGE_PAGE)
		if (pa >= end || pa + LARGE_PAGE <= start)
			kernel_pgd[(KERNEL_BASE + pa) / LARGE_PAGE].v = 0;
	kernel_pgd[0].v = 0;
	write_cr4(read_cr4() ^ CR4_PGE);
	write_cr4(read_cr4() ^ CR4_PGE);
}
