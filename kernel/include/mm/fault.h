/* Page faults. */
#ifndef MM_FAULT_H
#define MM_FAULT_H

#include "types.h"

struct pt_regs;
struct mm_struct;
struct page;

enum fault_flags {
	FAULT_WRITE = 1,   /* the access was a store */
	FAULT_USER = 2,    /* from user mode */
	FAULT_PRESENT = 4, /* the entry was present: the access violated its rights */
};

/* Called by the trap entry with the faulting address. Leaves interrupts as they were. May sleep. */
void do_page_fault(struct pt_regs *regs, u32 addr, u32 fault);

/*
 * Makes addr usable for a read or a write, as a page fault at addr would. Returns 0, or -EFAULT if
 * no region permits the access, -ENOMEM, -EIO. Takes mm->lock. May sleep.
 */
int handle_mm_fault(struct mm_struct *mm, u32 addr, u32 fault);

/*
 * Returns the page mapped at addr (below TASK_SIZE), with a reference: the frame keeps its contents
 * even if reclaim unmaps it. NULL if the access would fault. Takes mm->lock and may sleep to get it.
 */
struct page *get_user_page(struct mm_struct *mm, u32 addr, bool write);

/* Ignores the use that ended the last fault of current. Called when it next enters the kernel. */
void swallow_faulting_use(void);

#endif
