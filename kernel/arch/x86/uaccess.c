/*
 * Access to user memory from the kernel. Each instruction that accesses it has an entry in the
 * exception table. If a fault can be resolved (a nonresident page), the instruction continues.
 * Otherwise it continues at its fixup. String instructions keep their progress in ecx, so the fixup is
 * simply the code that follows, and ecx is then the number of units not moved.
 */
#include "arch/uaccess.h"
#include "arch/x86/cpu.h"
#include "arch/x86/regs.h"
#include "errno.h"
#include "internal.h"

struct ex_table_entry {
	u32 from, last, to;
};

extern const struct ex_table_entry __ex_table_start[], __ex_table_end[];

static const struct ex_table_entry *find_fixup(const struct pt_regs *regs)
{
	const struct ex_table_entry *e;

	for (e = __ex_table_start; e < __ex_table_end; e++)
		if (e->from <= regs->ip && regs->ip <= e->last)
			return e;
	return NULL;
}

bool has_fixup(const struct pt_regs *regs)
{
	return find_fixup(regs);
}

bool fixup_exception(struct pt_regs *regs)
{
	const struct ex_table_entry *e = find_fixup(regs);

	if (e)
		regs->ip = e->to;
	return e;
}

/* Copies four bytes per iteration, then the rest. Returns nonzero after a fault. */
static size_t copy_words(void *to, const void *from, size_t n)
{
	size_t left = n;

	__asm__ volatile("shr $2, %0\n"
			 "1:\trep movsl\n\t"
			 "mov %3, %0\n"
			 "2:\trep movsb\n"
			 "3:\n\t" EX_TABLE(1b, 3b) EX_TABLE(2b, 3b)
			 : "+c"(left), "+D"(to), "+S"(from)
			 : "r"(n & 3)
			 : "memory");
	return left;
}

/* Copies large areas in pieces. If a page is missing, the rest of the piece is copied by words, which
 * may sleep. */
static out_of_line int copy_pieces(char *to, const char *from, size_t n)
{
	for (size_t piece; n >= WIDE; to += piece, from += piece, n -= piece) {
		size_t left;

		piece = ALIGN_DOWN(MIN(n, PAGE_SIZE), WIDE);
		left = copy_user_wide(to, from, piece);
		if (left && copy_words(to + piece - left, from + piece - left, left))
			return -EFAULT;
	}
	return copy_words(to, from, n) ? -EFAULT : 0;
}

static int copy_user(void *to, const void *from, size_t n)
{
	if (n >= WIDE)
		return copy_pieces(to, from, n);
	return copy_words(to, from, n) ? -EFAULT : 0;
}

int copy_from_user(void *to, const void *user_from, size_t n)
{
	if (!access_ok(user_from, n))
		return -EFAULT;
	return copy_user(to, user_from, n);
}

int copy_to_user(void *user_to, const void *from, size_t n)
{
	if (!access_ok(user_to, n))
		return -EFAULT;
	return copy_user(user_to, from, n);
}

int clear_user(void *user_to, size_t n)
{
	size_t left = n >> 2;

	if (!access_ok(user_to, n))
		return -EFAULT;
	__asm__ volatile("1:\trep stosl\n\t"
			 "mov %2, %0\n"
			 "2:\trep stosb\n"
			 "3:\n\t" EX_TABLE(1b, 3b) EX_TABLE(2b, 3b)
			 : "+c"(left), "+D"(user_to)
			 : "r"(n & 3), "a"(0)
			 : "memory");
	return left ? -EFAULT : 0;
}

int strncpy_from_user(char *to, const char *user_from, size_t max)
{
	const char *from = user_from;
	size_t left = (u32)from < TASK_SIZE ? MIN(max, TASK_SIZE - (u32)from) : 0;
	size_t limit = left;
	int error = -EFAULT;

	if (!left)
		return max ? -EFAULT : -ENAMETOOLONG;
	__asm__ volatile("1:\tlodsb\n\t"
			 "stosb\n\t"
			 "test %%al, %%al\n\t"
			 "jz 2f\n\t"
			 "dec %1\n\t"
			 "jnz 1b\n"
			 "2:\txor %0, %0\n"
			 "3:\n\t" EX_TABLE(1b, 3b)
			 : "+r"(error), "+r"(left), "+S"(from), "+D"(to)::"eax", "memory");
	if (error)
		return error;
	if (left)
		return limit - left;
	return limit == max ? -ENAMETOOLONG : -EFAULT;
}
