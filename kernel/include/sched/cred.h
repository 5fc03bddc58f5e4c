/*
 * Who a process is: users, groups. All begin as root. syscall/cred.c has Linux's rules of who may become
 * whom; nothing else is forbidden to a user who is not root, so this is an identity, no protection.
 */
#ifndef SCHED_CRED_H
#define SCHED_CRED_H

#include "types.h"

#define NR_GROUPS 32u

struct ids {
	u32 real, effective, saved;
};

struct cred {
	struct ids user, group;
	u32 nr_groups;
	u32 groups[NR_GROUPS];
};

#endif
