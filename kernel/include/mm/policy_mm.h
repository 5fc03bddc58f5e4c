/* The policy's and the guards' own data in an address space, without the rest of mm_struct. */
#ifndef MM_POLICY_MM_H
#define MM_POLICY_MM_H

struct mm_struct;

/* Sizes in bytes; GUARD_MM_SIZE is per guard. */
#define POLICY_MM_SIZE 96
#define GUARD_MM_SIZE 32
#define MAX_GUARDS 4 /* active at the same time */

void *policy_mm(struct mm_struct *mm);
void *guard_mm(struct mm_struct *mm);

#endif
