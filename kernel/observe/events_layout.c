/* Where tools/plugin/events.c finds the fields that it reads. It has the same numbers. */
#include <drivers/block.h>
#include <lib/assert.h>
#include <mm/mm.h>
#include <mm/page.h>
#include <mm/policy.h>
#include <sched/current.h>

STATIC_ASSERT(offsetof(struct bio, bdev) == 8 && offsetof(struct bio, nr) == 20);
STATIC_ASSERT(offsetof(struct bio, kind) == 24 && offsetof(struct bio, error) == 28);

STATIC_ASSERT(offsetof(struct mm_struct, task) == 112);

STATIC_ASSERT(offsetof(struct page, inode) == 20 && offsetof(struct page, slot) == 28);
STATIC_ASSERT(PG_swapcache == 9);

STATIC_ASSERT(offsetof(struct task_struct, state) == 44 && offsetof(struct task_struct, pid) == 52);
STATIC_ASSERT(offsetof(struct task_struct, comm) == 68 &&
	      offsetof(struct task_struct, acct) == 148);
STATIC_ASSERT(offsetof(struct task_struct, nr_minflt) == 716 && TF_KTHREAD == 1);
STATIC_ASSERT(offsetof(struct task_struct, se.on_rq) == 132 && ACCT_ADMIT == 4);

STATIC_ASSERT(offsetof(struct vm_scan, zones) == 4 && offsetof(struct vm_scan, priority) == 8);
STATIC_ASSERT(offsetof(struct vm_scan, trim) == 12 && offsetof(struct vm_scan, act) == 20);
