/*
 * Page-table entries of 32-bit paging (Intel SDM vol. 3, 4.3).
 *
 *	present    frame << 12 | D A US RW P
 *	noaccess   the same with P clear and bit 7 set: the CPU faults, the rest is kept
 *	swap       slot << 8 | bit 1: so that slot 0 differs from an empty entry
 *
 * Bit 7 (PAT) is never used in present entries; in a swap entry it is clear. Bit 9, which the CPU
 * leaves to software, records a use that the sampler has moved out of A.
 */
#ifndef ARCH_X86_PTE_H
#define ARCH_X86_PTE_H

#define PTE_P 0x001u
#define PTE_RW 0x002u
#define PTE_US 0x004u
#define PTE_A 0x020u
#define PTE_D 0x040u
#define PTE_PS 0x080u /* directory entries: a 4 MiB page */
#define PTE_G 0x100u
#define PTE_TAKEN 0x200u
#define PTE_NOACCESS 0x080u
#define PTE_SWAP 0x002u
#define PTE_SWAP_SHIFT 8

static inline pte_t pte_zero(void)
{
	return (pte_t){ 0 };
}

static inline bool pte_none(pte_t e)
{
	return e.v == 0;
}

static inline bool pte_same(pte_t a, pte_t b)
{
	return a.v == b.v;
}

static inline bool pte_present(pte_t e)
{
	return e.v & PTE_P;
}

static inline bool pte_noaccess(pte_t e)
{
	return (e.v & (PTE_P | PTE_NOACCESS)) == PTE_NOACCESS;
}

static inline bool pte_is_swap(pte_t e)
{
	return (e.v & (PTE_P | PTE_NOACCESS | PTE_SWAP)) == PTE_SWAP;
}

static inline bool pte_write(pte_t e)
{
	return e.v & PTE_RW;
}

static inline bool pte_young(pte_t e)
{
	return e.v & (PTE_A | PTE_TAKEN);
}

static inline u32 pte_accessed(pte_t e)
{
	return e.v / PTE_A & 1;
}

static inline bool pte_dirty(pte_t e)
{
	return e.v & PTE_D;
}

static inline u32 pte_pfn(pte_t e)
{
	return e.v >> PAGE_SHIFT;
}

static inline pte_t pte_make(u32 pfn, bool write)
{
	return (pte_t){ pfn << PAGE_SHIFT | PTE_P | PTE_US | PTE_A | (write ? PTE_RW : 0) };
}

static inline pte_t pte_wrprotect(pte_t e)
{
	return (pte_t){ e.v & ~PTE_RW };
}

static inline pte_t pte_mkwrite(pte_t e)
{
	return (pte_t){ e.v | PTE_RW };
}

static inline pte_t pte_mkold(pte_t e)
{
	return (pte_t){ e.v & ~(PTE_A | PTE_TAKEN) };
}

static inline pte_t pte_take_use(pte_t e)
{
	return (pte_t){ (e.v & ~PTE_A) | PTE_TAKEN };
}

static inline pte_t pte_mkyoung(pte_t e)
{
	return (pte_t){ e.v | PTE_A };
}

static inline pte_t pte_mkclean(pte_t e)
{
	return (pte_t){ e.v & ~PTE_D };
}

static inline pte_t pte_mkdirty(pte_t e)
{
	return (pte_t){ e.v | PTE_D };
}

static inline pte_t pte_mknoaccess(pte_t e)
{
	return (pte_t){ (e.v & ~PTE_P) | PTE_NOACCESS };
}

static inline pte_t pte_mkaccess(pte_t e)
{
	return (pte_t){ (e.v & ~PTE_NOACCESS) | PTE_P };
}

static inline pte_t pte_swap(u32 slot)
{
	return (pte_t){ slot << PTE_SWAP_SHIFT | PTE_SWAP };
}

static inline u32 pte_swap_slot(pte_t e)
{
	return e.v >> PTE_SWAP_SHIFT;
}

#endif
