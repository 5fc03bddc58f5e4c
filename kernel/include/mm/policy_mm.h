/* The policy's own data in an address space, without showing the rest of mm_struct. */
#ifndef MM_POLICY_MM_H
#define MM_POLICY_MM_H

struct mm_struct;

#define POLICY_MM_SIZE 64 /* bytes */

void *policy_mm(struct mm_struct *mm);

#endif
