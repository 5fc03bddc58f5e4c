/*
 * Address translation without naming the CPU: page sizes, the memory map, page-table entries as
 * opaque values, and the TLB. Two levels: a page directory (pgd_t) of page tables (pte_t).
 *
 * An entry is empty, present (a frame and its rights), or a swap entry (not present, not
 * empty: the number of a slot). pte_young and pte_dirty report what the CPU recorded.
 */
#ifndef ARCH_MMU_H
#define ARCH_MMU_H

#include "types.h"

#define PAGE_SHIFT 12
#define PAGE_SIZE 4096u
#define PAGE_MASK (~(PAGE_SIZE - 1))
#define PAGE_ALIGN(x) ALIGN_UP((u32)(x), PAGE_SIZE)

/* The memory map; see docs/reference/kernel.md. */
#define KERNEL_BASE 0xC0000000u /* user space below; kernel and direct map from here */
#define TASK_SIZE KERNEL_BASE
#define LOWMEM_MAX (896u << 20)    /* maximum size of the direct map */
#define VMALLOC_START 0xF8000000u  /* kernel stacks and other page-mapped areas */
#define VMALLOC_END 0xFA000000u
#define FIXMAP_START 0xFFC00000u /* kmap slots; one page table */
#define USER_STACK_TOP 0xBFFFD000u
#define USER_VDSO USER_STACK_TOP /* two pages: in the page table of the stack */
#define USER_MMAP_TOP 0xB7000000u /* mmap searches downwards from here */
#define USER_MMAP_LEGACY (TASK_SIZE / 3) /* or upwards from here, with vm.legacy_va_layout */

typedef struct {
	u32 v;
} pte_t;
typedef struct {
	u32 v;
} pgd_t;

#define PTRS_PER_PGD 1024
#define PTRS_PER_PTE 1024
#define TABLE_SPAN (PAGE_SIZE * PTRS_PER_PTE) /* bytes that one page table maps */

/* Direct map, low memory only. */
static inline void *phys_to_virt(u32 pa)
{
	return (void *)(pa + KERNEL_BASE);
}

static inline u32 virt_to_phys(const void *va)
{
	return (u32)va - KERNEL_BASE;
}

#include "arch/x86/pte.h" /* pte_none, pte_present ... as inline functions, listed below */

/*
 * Supplied inline by arch/x86/pte.h:
 *   bool pte_same(pte_t, pte_t)
 *   bool pte_none(pte_t)  pte_present(pte_t)  pte_is_swap(pte_t)
 *   bool pte_write(pte_t) pte_young(pte_t)  pte_dirty(pte_t)
 *   u32  pte_pfn(pte_t)
 *   pte_t pte_make(u32 pfn, bool write)     a present user entry, young and clean
 *   pte_t pte_wrprotect(pte_t) pte_mkwrite(pte_t) pte_mkold(pte_t) pte_mkclean(pte_t)
 *   pte_t pte_mkyoung(pte_t)  pte_mkdirty(pte_t)
 *   u32  pte_accessed(pte_t)                1: a use since pte_take_use, which leaves the entry young; 0: none
 *   pte_t pte_take_use(pte_t)
 *   pte_t pte_mknoaccess(pte_t)  bool pte_noaccess(pte_t)
 *         a mapped frame whose next use must fault (PROT_NONE, page_trap); keeps pfn and dirty;
 *         pte_present() is false for it and pte_is_swap() too; pte_mkaccess(pte_t) undoes it
 *   pte_t pte_swap(u32 slot)  u32 pte_swap_slot(pte_t)    slot < 2^24
 *   pte_t pte_zero(void)
 */

/* Returns the entry for va, or NULL if it has no page table. */
pte_t *pte_lookup(pgd_t *pgd, u32 va);
/* Returns the entry for va. Allocates the page table if it is missing and adds the number allocated
 * to *nr_tables. Returns NULL if out of memory. May sleep. */
pte_t *pte_alloc(pgd_t *pgd, u32 va, u32 *nr_tables);

/* Returns a page directory with the kernel half filled in, or NULL if out of memory. May sleep. */
pgd_t *pgd_create(void);
/* Frees the directory. The caller has freed all user page tables. */
void pgd_destroy(pgd_t *pgd);
/* Frees the page tables that lie wholly inside [start, end), in the user half. The range must be 4
 * MiB aligned and hold only empty entries. Returns the number freed. */
u32 pgd_free_tables(pgd_t *pgd, u32 start, u32 end);
/* Returns true if [va, va + 4 MiB) has a page table. */
bool pgd_has_table(pgd_t *pgd, u32 va);

/* 4 MiB pages of the user half; pte_lookup returns NULL there. The first frame of the page that contains va, or 0. */
u32 pgd_large_pfn(pgd_t *pgd, u32 va);
/* Returns true if a 4 MiB page contains va and permits the access. */
bool pgd_large_allows(pgd_t *pgd, u32 va, bool write);
/* Maps frames pfn to pfn + 1023 at va, or changes the rights there; both are 4 MiB aligned, and there is no page table. */
void pgd_set_large(pgd_t *pgd, u32 va, u32 pfn, bool read, bool write);
/* Empties the entry. The caller flushes the TLB. */
void pgd_clear_large(pgd_t *pgd, u32 va);

/* Makes pgd the CPU's page directory. */
void mmu_switch(pgd_t *pgd);
extern pgd_t *mmu_current; /* the one the CPU uses now */
extern pgd_t *kernel_pgd;

/* Drops one translation, or all, if the CPU uses pgd. */
void tlb_flush_page(pgd_t *pgd, u32 va);
void tlb_flush_all(pgd_t *pgd);

/* Kernel mappings in [VMALLOC_START, VMALLOC_END), whose page tables exist from boot. */
void kernel_map_page(u32 va, u32 pfn);
void kernel_unmap_page(u32 va);

/*
 * A temporary kernel address for any frame. A low frame gets its direct-map address and needs no
 * slot. The slots are a stack of 8: call kunmap in reverse order, and do not sleep in between.
 */
void *kmap_pfn(u32 pfn);
void kunmap(void *addr);

/* Builds the page tables of vmalloc and kmap, and the direct map of [0, lowmem_end) and of [start,
 * end) (bytes). */
void mmu_init(u32 lowmem_end, u32 start, u32 end);

void clear_page(void *page); /* fills one frame with zeros */
void copy_page(void *to, const void *from);

#endif
