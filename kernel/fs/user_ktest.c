#include "ktest_user.h"

#include "arch/uaccess.h"
#include "lib/ktap.h"
#include "mm/mm.h"
#include "sched/current.h"

static struct mm_struct *before; /* current's address space, restored at the end */

void *ktest_user_begin(u32 bytes)
{
	struct mm_struct *mm = mm_create();
	long addr = 0;

	before = current->mm;
	EXPECT(mm);
	if (!mm)
		return NULL;
	mm_attach(current, mm);
	addr = do_mmap(mm, 0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, NULL, 0);
	EXPECT(addr > 0 || addr < -4095);
	return (void *)addr;
}

void ktest_user_end(void)
{
	struct mm_struct *mm = current->mm;

	if (before) {
		mm_attach(current, before);
	} else {
		current->mm = NULL;
		current->pgd = NULL;
		mmu_switch(kernel_pgd);
	}
	mm_destroy(mm);
}

void ktest_user_write(void *user, const void *from, u32 n)
{
	EXPECT_EQ(copy_to_user(user, from, n), 0);
}

void ktest_user_read(void *to, const void *user, u32 n)
{
	EXPECT_EQ(copy_from_user(to, user, n), 0);
}
