/* The registers with which a program entered the kernel, for the parts that know no processor. */
#include "arch/task.h"
#include "arch/x86/regs.h"
#include "arch/x86/segment.h"

u32 regs_ip(const struct pt_regs *regs)
{
	return regs->ip;
}

u32 regs_sp(const struct pt_regs *regs)
{
	return regs->sp;
}

u32 regs_digest(const struct pt_regs *regs)
{
	const u32 words[] = { regs->ip, regs->sp, regs->ax, regs->bx, regs->cx,
			      regs->dx, regs->si, regs->di, regs->bp, regs->flags };
	u32 digest = 0;

	for (u32 i = 0; i < ARRAY_SIZE(words); i++)
		digest = digest * 31 + words[i];
	return digest;
}

bool regs_page_fault(const struct pt_regs *regs)
{
	return regs->trapno == TRAP_PAGE_FAULT;
}

bool regs_in_syscall(const struct pt_regs *regs)
{
	return regs->trapno == TRAP_SYSCALL;
}

/* Moves eip back to the int $0x80, which is two bytes long. */
void regs_restart_syscall(struct pt_regs *regs)
{
	regs->ax = regs->orig_ax;
	regs->ip -= 2;
}

long regs_result(const struct pt_regs *regs)
{
	return regs->ax;
}

void regs_set_result(struct pt_regs *regs, long value)
{
	regs->ax = value;
}
