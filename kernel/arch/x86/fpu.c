/*
 * FPU and SSE state, switched lazily.
 *
 * The CPU's registers belong to fpu_owner, or are unowned. While another task runs, CR0.TS is set,
 * and its first FPU instruction traps (#NM): the owner's state is saved, and the task's state is
 * loaded, or created if it never had one. A task without FPU instructions costs nothing. The kernel
 * itself is compiled without these instructions.
 *
 * Invariant: TS is clear only while fpu_owner == current.
 */
#include "arch/task.h"
#include "arch/uaccess.h"
#include "arch/x86/cpu.h"
#include "errno.h"
#include "internal.h"
#include "lib/assert.h"
#include "lib/string.h"
#include "mm/slab.h"
#include "sched/current.h"

#define MXCSR_DEFAULT 0x1F80u
#define FXSAVE_MXCSR 6      /* index of the word */
#define FXSAVE_MXCSR_MASK 7

static struct task_struct *fpu_owner;
static bool ts_set;
static struct kmem_cache *fpu_cache;
static u32 mxcsr_mask = 0xFFBF;

static void set_ts(void)
{
	if (!ts_set)
		stts();
	ts_set = true;
}

static void clear_ts(void)
{
	if (ts_set)
		clts();
	ts_set = false;
}

static void fxsave(void *to)
{
	__asm__ volatile("fxsave (%0)" ::"r"(to) : "memory");
}

static void fxrstor(const void *from)
{
	__asm__ volatile("fxrstor (%0)" ::"r"(from) : "memory");
}

void fpu_init(void)
{
	static u32 state[FPU_STATE_SIZE / 4] __attribute__((aligned(16)));

	write_cr4(read_cr4() | CR4_OSFXSR | CR4_OSXMMEXCPT);
	write_cr0((read_cr0() & ~(CR0_EM | CR0_TS)) | CR0_MP | CR0_NE);
	__asm__ volatile("fninit");
	fxsave(state);
	if (state[FXSAVE_MXCSR_MASK])
		mxcsr_mask = state[FXSAVE_MXCSR_MASK];
	set_ts();
}

/* Returns a fresh state with the values of FNINIT: all exceptions masked, round to nearest. */
static void *new_state(void)
{
	u32 *state;

	if (!fpu_cache)
		fpu_cache = kmem_cache_create("fpu_state", FPU_STATE_SIZE, 16, NULL);
	state = fpu_cache ? kmem_cache_alloc(fpu_cache, GFP_KERNEL) : NULL;
	if (!state)
		return NULL;
	memset(state, 0, FPU_STATE_SIZE);
	state[0] = 0x37F;
	state[FXSAVE_MXCSR] = MXCSR_DEFAULT;
	return state;
}

/* Saves the owner's registers in its memory. It stays the owner. */
static void save_owner(void)
{
	clear_ts();
	fxsave(fpu_owner->thread.fpu);
}

static void give_to_current(void)
{
	unsigned long flags = irq_save();

	if (fpu_owner != current) {
		if (fpu_owner)
			save_owner();
		clear_ts();
		fxrstor(current->thread.fpu);
		fpu_owner = current;
	}
	clear_ts();
	irq_restore(flags);
}

void fpu_device_not_available(void)
{
	if (!current->thread.fpu)
		current->thread.fpu = new_state();
	if (current->thread.fpu)
		give_to_current();
	else
		force_signal(SIGKILL, 0);
}

void fpu_switch(struct task_struct *next)
{
	if (fpu_owner == next)
		clear_ts();
	else
		set_ts();
}

int fpu_fork(struct task_struct *child, struct task_struct *parent)
{
	child->thread.fpu = NULL;
	if (!parent->thread.fpu)
		return 0;
	child->thread.fpu = new_state();
	if (!child->thread.fpu)
		return -ENOMEM;
	ASSERT(parent == current);
	if (fpu_owner == parent)
		save_owner();
	memcpy(child->thread.fpu, parent->thread.fpu, FPU_STATE_SIZE);
	return 0;
}

void fpu_drop(struct task_struct *t)
{
	if (fpu_owner == t) {
		fpu_owner = NULL;
		set_ts();
	}
	if (t->thread.fpu)
		kmem_cache_free(fpu_cache, t->thread.fpu);
	t->thread.fpu = NULL;
}

void *fpu_saved_state(void)
{
	if (fpu_owner == current)
		save_owner();
	return current->thread.fpu;
}

/* Clears the reserved bits of MXCSR, since FXRSTOR would fault if one were set. */
int fpu_restore_user(const void *user_state)
{
	u32 *state = current->thread.fpu ? current->thread.fpu : new_state();
	int error;

	if (!state)
		return -ENOMEM;
	current->thread.fpu = state;
	if (fpu_owner == current)
		fpu_owner = NULL;
	set_ts();
	error = copy_from_user(state, user_state, FPU_STATE_SIZE);
	state[FXSAVE_MXCSR] &= mxcsr_mask;
	return error;
}
