/*
 * How much memory may be committed, that is, promised to programs.
 *
 * A program may map much more than it ever writes to. Committed memory is the sum of all private
 * writable regions (Committed_AS in /proc/meminfo). Each page of them costs a frame or a slot at
 * its first write. By then it is too late to refuse, and the OOM killer must kill a process. So the
 * question is how much to commit. overcommit_memory says, as on Linux:
 *
 *	0  no single request larger than all frames and slots together (Linux's default)
 *	1  everything (the default here, so that overcommitment can be observed)
 *	2  in total at most CommitLimit: overcommit_ratio percent of the frames, and all slots;
 *	   then the OOM killer is not needed, and programs get -ENOMEM from a system call instead
 *
 * Checked by mmap, brk, mremap, mprotect, fork, and when a stack grows.
 */
#include "internal.h"
#include "lib/param.h"
#include "mm/swap.h"
#include "mm/zone.h"

enum { HEURISTIC, ALWAYS, NEVER };

u32 vm_committed;

static u32 overcommit_memory = ALWAYS;
static u32 overcommit_ratio = 50;

PARAM_U32("vm.overcommit_memory", overcommit_memory, 0, 2, NULL,
	  "promises: 0: none larger than memory and swap, 1: all, 2: in sum up to CommitLimit");
PARAM_U32("vm.overcommit_ratio", overcommit_ratio, 0, 1000, "%", "of the frames, in CommitLimit");

/* There are fewer than 2^20 frames, so the product does not overflow. */
u32 vm_commit_limit(void)
{
	return nr_managed_pages() * overcommit_ratio / 100 + swap_nr_usable;
}

bool vm_may_commit(u32 pages)
{
	if (overcommit_memory == ALWAYS)
		return true;
	if (overcommit_memory == HEURISTIC)
		return pages <= nr_managed_pages() + swap_nr_usable;
	return vm_committed + pages <= vm_commit_limit();
}
