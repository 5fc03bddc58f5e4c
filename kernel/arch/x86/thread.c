/*
 * The CPU's part of a task: kernel stacks and their contents, task switching, thread-local storage.
 *
 * At the top of every kernel stack is the struct pt_regs of the entry from user mode. Below it, a
 * task that is not running has the registers saved by switch_stack: edi, esi, ebx, ebp, return
 * address. A new task is created by writing them as if it had been switched away from.
 */
#include "arch/task.h"
#include "arch/uaccess.h"
#include "arch/x86/cpu.h"
#include "errno.h"
#include "internal.h"
#include "lib/string.h"
#include "sched/current.h"

struct switch_frame {
	u32 di, si, bx, bp, ip;
};

/* The argument of set_thread_area. */
struct user_desc {
	u32 entry_number, base, limit;
	u32 seg_32bit : 1, contents : 2, read_exec_only : 1, limit_in_pages : 1;
	u32 seg_not_present : 1, useable : 1, unused : 25;
};

STATIC_ASSERT(sizeof(struct user_desc) == 16);

static u32 stack_top(const struct task_struct *t)
{
	return (u32)t->stack + KERNEL_STACK_SIZE;
}

struct pt_regs *task_regs(struct task_struct *t)
{
	return (struct pt_regs *)stack_top(t) - 1;
}

static void push_switch_frame(struct task_struct *t, void (*start)(void), u32 bx, u32 si)
{
	struct switch_frame *frame = (struct switch_frame *)task_regs(t) - 1;

	*frame = (struct switch_frame){ .si = si, .bx = bx, .ip = (u32)start };
	t->thread.sp = (u32)frame;
}

void thread_init_kernel(struct task_struct *t, void (*fn)(void *), void *arg)
{
	memset(&t->thread, 0, sizeof(t->thread));
	push_switch_frame(t, kernel_thread_start, (u32)fn, (u32)arg);
}

int thread_init_fork(struct task_struct *child, struct task_struct *parent, u32 sp)
{
	struct pt_regs *regs = task_regs(child);

	if (!regs_in_syscall(task_regs(parent))) /* the parent is in virtual-8086 mode */
		return -EPERM;
	child->thread = parent->thread;
	*regs = *task_regs(parent);
	regs->ax = 0;
	if (sp)
		regs->sp = sp;
	push_switch_frame(child, ret_from_fork, 0, 0);
	return fpu_fork(child, parent);
}

void thread_init_exec(u32 entry, u32 sp)
{
	struct thread_struct *thread = &current->thread;

	*task_regs(current) = (struct pt_regs){
		.ds = USER_DS,
		.es = USER_DS,
		.ss = USER_DS,
		.cs = USER_CS,
		.ip = entry,
		.sp = sp,
		.flags = FLAGS_IF | FLAGS_FIXED,
	};
	fpu_drop(current);
	memset(thread->tls, 0, sizeof(thread->tls));
	descriptors_load_tls(thread->tls);
	regs_load_fs_gs(0, 0);
}

u32 cpu_features(void)
{
	return cpuid_features();
}

void thread_free(struct task_struct *t)
{
	fpu_drop(t);
}

void __noreturn thread_enter_user(void)
{
	enter_user(task_regs(current));
}

/* Also switches fs and gs: the kernel does not change them, so the CPU still holds prev's
 * values. */
void thread_switch(struct task_struct *prev, struct task_struct *next)
{
	u32 fs, gs;

	__asm__ volatile("mov %%fs, %0\n\tmov %%gs, %1" : "=r"(fs), "=r"(gs));
	fpu_switch(next);
	tss_set_stack(stack_top(next));
	descriptors_load_tls(next->thread.tls);
	switch_stack(&prev->thread.sp, next->thread.sp);
	regs_load_fs_gs(fs, gs);
}

/* As on Linux: 32-bit data segments only. All zero, or "not present and read-only", clears the
 * entry. */
static bool user_desc_empty(const struct user_desc *d)
{
	return !d->base && !d->limit && !d->contents && !d->seg_32bit && !d->limit_in_pages &&
	       d->read_exec_only == d->seg_not_present;
}

static u64 descriptor(const struct user_desc *d)
{
	u32 access = 0xF1 | (!d->read_exec_only) << 1 | (d->contents & 1) << 2;
	u32 flags = 4 | d->limit_in_pages << 3 | d->useable;
	u32 low = (d->limit & 0xFFFF) | d->base << 16;
	u32 high = (d->base >> 16 & 0xFF) | access << 8 | (d->limit & 0xF0000) | flags << 20 |
		   (d->base & 0xFF000000);

	return low | (u64)high << 32;
}

static int find_free_entry(void)
{
	int i;

	for (i = 0; i < NR_TLS; i++) {
		if (!current->thread.tls[i])
			return GDT_TLS_FIRST + i;
	}
	return -ESRCH;
}

int thread_set_area(void *user)
{
	struct user_desc d;
	int entry;

	if (copy_from_user(&d, user, sizeof(d)))
		return -EFAULT;
	if (!user_desc_empty(&d) && (!d.seg_32bit || d.contents > 1 || d.seg_not_present))
		return -EINVAL;
	entry = d.entry_number;
	if (entry == -1) {
		entry = find_free_entry();
		if (entry < 0)
			return entry;
		if (put_user_u32(user, entry))
			return -EFAULT;
	}
	if (entry < GDT_TLS_FIRST || entry >= GDT_TLS_FIRST + NR_TLS)
		return -EINVAL;
	current->thread.tls[entry - GDT_TLS_FIRST] = user_desc_empty(&d) ? 0 : descriptor(&d);
	descriptors_load_tls(current->thread.tls);
	return 0;
}
