/* Tests of this folder that need the real machine. */
#include "arch/irq.h"
#include "arch/mmu.h"
#include "arch/task.h"
#include "arch/time.h"
#include "arch/uaccess.h"
#include "errno.h"
#include "internal.h"
#include "lib/ktap.h"
#include "lib/string.h"
#include "mm/zone.h"

#define WILD ((void *)0x10)

KTEST(pte, present_entry_keeps_frame_and_bits)
{
	pte_t e = pte_make(0x12345, false);

	EXPECT(pte_present(e) && !pte_none(e) && !pte_is_swap(e) && !pte_noaccess(e));
	EXPECT_EQ(pte_pfn(e), 0x12345);
	EXPECT(!pte_write(e) && pte_young(e) && !pte_dirty(e));
	e = pte_mkdirty(pte_mkold(pte_mkwrite(e)));
	EXPECT(pte_write(e) && !pte_young(e) && pte_dirty(e));
	e = pte_mkclean(pte_mkyoung(pte_wrprotect(e)));
	EXPECT(!pte_write(e) && pte_young(e) && !pte_dirty(e));
	EXPECT_EQ(pte_pfn(e), 0x12345);
}

KTEST(pte, swap_entry_of_slot_0_is_not_empty)
{
	static const u32 slots[] = { 0, 1, 0x800000, 0xFFFFFF };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(slots); i++) {
		pte_t e = pte_swap(slots[i]);

		EXPECT(pte_is_swap(e) && !pte_present(e) && !pte_none(e) && !pte_noaccess(e));
		EXPECT_EQ(pte_swap_slot(e), slots[i]);
	}
	EXPECT(pte_none(pte_zero()) && !pte_is_swap(pte_zero()));
}

KTEST(pte, noaccess_keeps_the_mapping)
{
	pte_t e = pte_mkdirty(pte_make(0xFFFFF, true));
	pte_t n = pte_mknoaccess(e);

	EXPECT(pte_noaccess(n) && !pte_present(n) && !pte_is_swap(n) && !pte_none(n));
	EXPECT(pte_dirty(n) && pte_write(n));
	EXPECT_EQ(pte_pfn(n), 0xFFFFF);
	EXPECT_EQ(pte_mkaccess(n).v, e.v);
}

KTEST(uaccess, wild_pointer_is_efault)
{
	char buf[16] = "";

	EXPECT_EQ(copy_from_user(buf, WILD, sizeof(buf)), -EFAULT);
	EXPECT_EQ(copy_to_user(WILD, buf, sizeof(buf)), -EFAULT);
	EXPECT_EQ(copy_from_user(buf, WILD, 3), -EFAULT);
	EXPECT_EQ(clear_user(WILD, 5), -EFAULT);
	EXPECT_EQ(strncpy_from_user(buf, WILD, sizeof(buf)), -EFAULT);
	EXPECT_EQ(get_user_u32((u32 *)buf, WILD), -EFAULT);
	EXPECT_EQ(put_user_u32(WILD, 1), -EFAULT);
}

KTEST(uaccess, kernel_address_is_efault)
{
	char buf[16] = "";
	u32 word = 7;

	EXPECT_EQ(copy_from_user(buf, &word, sizeof(word)), -EFAULT);
	EXPECT_EQ(put_user_u32(&word, 1), -EFAULT);
	EXPECT_EQ(word, 7);
	EXPECT_EQ(strncpy_from_user(buf, (char *)&word, sizeof(buf)), -EFAULT);
	EXPECT_EQ(strncpy_from_user(buf, WILD, 0), -ENAMETOOLONG);
}

KTEST(uaccess, access_ok_at_the_border)
{
	EXPECT(access_ok((void *)(TASK_SIZE - 4), 4));
	EXPECT(!access_ok((void *)(TASK_SIZE - 4), 5));
	EXPECT(access_ok((void *)TASK_SIZE, 0));
	EXPECT(!access_ok((void *)4, 0xFFFFFFFFu));
	EXPECT(access_ok(NULL, TASK_SIZE));
}

KTEST(mmu, kmap_slots_are_a_stack)
{
	u32 high = LOWMEM_MAX >> PAGE_SHIFT;
	u8 *a = kmap_pfn(high), *b = kmap_pfn(high + 1);

	EXPECT_EQ(b - a, PAGE_SIZE);
	EXPECT(kernel_page_mapped((u32)a) && kernel_page_mapped((u32)b));
	kunmap(b);
	EXPECT(!kernel_page_mapped((u32)b));
	EXPECT_EQ(kmap_pfn(high + 2), b);
	kunmap(b);
	kunmap(a);
	EXPECT(!kernel_page_mapped((u32)a));
}

KTEST(mmu, low_frame_needs_no_slot)
{
	u8 *p = kmap_pfn(256);

	EXPECT_EQ(p, phys_to_virt(256 << PAGE_SHIFT));
	kunmap(p);
}

KTEST(mmu, page_below_a_kernel_stack_is_a_guard)
{
	u8 *stack = kernel_stack_alloc();

	if (!stack)
		return ktap_skip("no memory for a stack");
	EXPECT(kernel_page_mapped((u32)stack));
	EXPECT(kernel_page_mapped((u32)stack + KERNEL_STACK_SIZE - 1));
	EXPECT(!kernel_page_mapped((u32)stack - 1));
	EXPECT(kernel_stack_guard((u32)stack - 1));
	EXPECT(!kernel_stack_guard((u32)stack));
	memset(stack, 0xA5, KERNEL_STACK_SIZE);
	kernel_stack_free(stack);
	EXPECT_EQ(kernel_stack_alloc(), stack);
	kernel_stack_free(stack);
	EXPECT(kernel_stack_reap() >= KERNEL_STACK_SIZE / PAGE_SIZE);
	EXPECT(!kernel_page_mapped((u32)stack));
}

KTEST(mmu, new_directory_has_the_kernel_only)
{
	pgd_t *pgd = pgd_create();

	if (!pgd)
		return ktap_skip("no memory for a directory");
	EXPECT(!pgd_has_table(pgd, 0) && !pgd_has_table(pgd, TASK_SIZE - 1));
	EXPECT(pgd[KERNEL_BASE / TABLE_SPAN].v == kernel_pgd[KERNEL_BASE / TABLE_SPAN].v);
	EXPECT(pgd_has_table(pgd, VMALLOC_END - 1));
	EXPECT(pte_lookup(pgd, 0x400000) == NULL);
	pgd_destroy(pgd);
}

KTEST(mmu, large_page_has_no_table)
{
	pgd_t *pgd = pgd_create();

	if (!pgd)
		return ktap_skip("no memory for a directory");
	EXPECT(!pgd_large_pfn(pgd, TABLE_SPAN));
	pgd_set_large(pgd, TABLE_SPAN, 3 * PTRS_PER_PTE, true, false);
	EXPECT(!pgd_has_table(pgd, TABLE_SPAN) && !pte_lookup(pgd, TABLE_SPAN));
	EXPECT_EQ(pgd_large_pfn(pgd, 2 * TABLE_SPAN - 1), 3 * PTRS_PER_PTE);
	EXPECT(pgd_large_allows(pgd, TABLE_SPAN, false) &&
	       !pgd_large_allows(pgd, TABLE_SPAN, true));
	pgd_set_large(pgd, TABLE_SPAN, 3 * PTRS_PER_PTE, false, true);
	EXPECT(!pgd_large_allows(pgd, TABLE_SPAN, false));
	EXPECT_EQ(pgd_large_pfn(pgd, TABLE_SPAN), 3 * PTRS_PER_PTE);
	pgd_clear_large(pgd, TABLE_SPAN);
	EXPECT(!pgd_large_pfn(pgd, TABLE_SPAN) && !pgd[1].v);
	pgd_destroy(pgd);
}

KTEST(walk, table_is_made_for_the_first_entry_in_it)
{
	pgd_t *pgd = pgd_create();
	u32 nr_tables = 0;
	pte_t *e;

	if (!pgd)
		return ktap_skip("no memory for a directory");
	e = pte_alloc(pgd, 0x401000, &nr_tables);
	EXPECT(e && pte_none(*e));
	EXPECT_EQ(pte_alloc(pgd, 0x402000, &nr_tables), e + 1);
	EXPECT_EQ(pte_lookup(pgd, 0x401000), e);
	EXPECT_EQ(nr_tables, 1);
	EXPECT(!pgd_has_table(pgd, 0) && !pgd_has_table(pgd, 0x800000));
	pgd_free_tables(pgd, 0, TASK_SIZE);
	EXPECT(!pgd_has_table(pgd, 0x401000));
	pgd_destroy(pgd);
}

KTEST(walk, tables_of_a_range_are_given_back)
{
	pgd_t *pgd = pgd_create();
	u32 nr_tables = 0, nr_free = nr_free_pages();

	if (!pgd)
		return ktap_skip("no memory for a directory");
	for (u32 i = 0; i < 4; i++)
		EXPECT(pte_alloc(pgd, i * TABLE_SPAN, &nr_tables));
	EXPECT_EQ(nr_free_pages(), nr_free - 4);
	EXPECT_EQ(pgd_free_tables(pgd, TABLE_SPAN, 3 * TABLE_SPAN), 2);
	EXPECT_EQ(nr_free_pages(), nr_free - 2);
	EXPECT(pgd_has_table(pgd, 0) && !pgd_has_table(pgd, TABLE_SPAN));
	EXPECT(!pgd_has_table(pgd, 2 * TABLE_SPAN) && pgd_has_table(pgd, 3 * TABLE_SPAN));
	EXPECT_EQ(pgd_free_tables(pgd, 0, TASK_SIZE), 2);
	pgd_destroy(pgd);
}

KTEST(mmu, pages_are_cleared_and_copied)
{
	u8 *stack = kernel_stack_alloc();

	if (!stack)
		return ktap_skip("no memory");
	memset(stack, 0x5A, PAGE_SIZE);
	copy_page(stack + PAGE_SIZE, stack);
	clear_page(stack);
	EXPECT_EQ(stack[0] | stack[PAGE_SIZE - 1], 0);
	EXPECT_EQ(stack[PAGE_SIZE] & stack[2 * PAGE_SIZE - 1], 0x5A);
	kernel_stack_free(stack);
}

KTEST(time, clock_is_monotonic)
{
	u64 last = clock_ns(), now;
	int i;

	for (i = 0; i < 1000; i++, last = now) {
		now = clock_ns();
		if (now < last)
			break;
	}
	EXPECT_EQ(i, 1000);
	EXPECT(clock_realtime_ns() > 1577836800000000000ull); /* 2020 */
}

KTEST(time, conversion_is_monotonic_at_2_32)
{
	EXPECT(cycles_to_ns(1ull << 32) >= cycles_to_ns(0xFFFFFFFF));
	EXPECT(cycles_to_ns((1ull << 32) + 1000) >= cycles_to_ns(1ull << 32));
	EXPECT_EQ(cycles_to_ns(0), 0);
}

KTEST(irq, save_and_restore_nest)
{
	unsigned long outer = irq_save(), inner = irq_save();

	EXPECT(irqs_disabled());
	irq_restore(inner);
	EXPECT(irqs_disabled());
	irq_restore(outer);
	EXPECT(!irqs_disabled());
	EXPECT(!in_interrupt());
}
