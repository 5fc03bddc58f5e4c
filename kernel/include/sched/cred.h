/*
 * The users and groups of a process. Every process begins as root. syscall/cred.c has Linux's rules on
 * which ids a process may take; nothing else is forbidden to other users than root, so the ids identify,
 * but do not protect.
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
