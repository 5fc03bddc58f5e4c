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
	FAULT_PRESENT = 4, /* the entry was present: a violation of its rights */
};

/* Called by the trap entry with the faulting address. Interrupts as they were. May sleep. */
void do_page_fault(struct pt_regs *regs, u32 addr, u32 fault);

/*
 * Makes addr usable for a read or a write, as a fault there would. 0, or -EFAULT (no region or
 * no right), -ENOMEM, -EIO. Takes mm->lock; may sleep.
 */
int handle_mm_fault(struct mm_struct *mm, u32 addr, u32 fault);

/*
 * The page that addr shows, as after a read or a write there, with a reference, so that its frame
 * stays what it is even if reclaim unmaps it. 0, or as handle_mm_fault. Takes mm->lock; may sleep.
 */
int get_user_page(struct mm_struct *mm, u32 addr, bool write, struct page **page);

/* Supplied by arch: continues at the fixup of a user copy; false: there is none. */
bool fixup_exception(struct pt_regs *regs);
/* Is it one? Elsewhere the kernel has no business with user addresses. */
bool has_fixup(const struct pt_regs *regs);
void __noreturn die(struct pt_regs *regs, const char *what, u32 addr);

#endif
