/*
 * System calls on users and groups, with Linux's rules: a process whose effective user is root may take
 * any identity, another one only those that it has (its real, effective or saved id). -1 leaves an id as
 * it is. setuid by root sets all three, so that there is no way back.
 */
#include "sched/cred.h"
#include "arch/uaccess.h"
#include "calls.h"
#include "errno.h"
#include "internal.h"
#include "sched/current.h"

#define SAME_ID UINT32_MAX

bool is_root(void)
{
	return !current->cred.user.effective;
}

long sys_getuid(void)
{
	return current->cred.user.real;
}

long sys_geteuid(void)
{
	return current->cred.user.effective;
}

long sys_getgid(void)
{
	return current->cred.group.real;
}

long sys_getegid(void)
{
	return current->cred.group.effective;
}

static int set_id(struct ids *ids, u32 id)
{
	if (id == SAME_ID)
		return -EINVAL;
	if (is_root())
		*ids = (struct ids){ id, id, id };
	else if (id == ids->real || id == ids->saved)
		ids->effective = id;
	else
		return -EPERM;
	return 0;
}

long sys_setuid(u32 id)
{
	return set_id(&current->cred.user, id);
}

long sys_setgid(u32 id)
{
	return set_id(&current->cred.group, id);
}

static bool may_be(const struct ids *ids, u32 id)
{
	return id == SAME_ID || is_root() || id == ids->real || id == ids->effective ||
	       id == ids->saved;
}

/* The saved id follows the effective one if the process takes a new real or effective one. */
static int set_re(struct ids *ids, u32 real, u32 effective)
{
	u32 old = ids->real;

	if (!may_be(ids, effective) || !may_be(ids, real) ||
	    (!is_root() && real != SAME_ID && real != ids->real && real != ids->effective))
		return -EPERM;
	if (effective != SAME_ID)
		ids->effective = effective;
	if (real != SAME_ID)
		ids->real = real;
	if (real != SAME_ID || (effective != SAME_ID && effective != old))
		ids->saved = ids->effective;
	return 0;
}

long sys_setreuid32(u32 real, u32 effective)
{
	return set_re(&current->cred.user, real, effective);
}

long sys_setregid32(u32 real, u32 effective)
{
	return set_re(&current->cred.group, real, effective);
}

static int set_res(struct ids *ids, u32 real, u32 effective, u32 saved)
{
	if (!may_be(ids, real) || !may_be(ids, effective) || !may_be(ids, saved))
		return -EPERM;
	*ids = (struct ids){ real == SAME_ID ? ids->real : real,
			     effective == SAME_ID ? ids->effective : effective,
			     saved == SAME_ID ? ids->saved : saved };
	return 0;
}

long sys_setresuid32(u32 real, u32 effective, u32 saved)
{
	return set_res(&current->cred.user, real, effective, saved);
}

long sys_setresgid32(u32 real, u32 effective, u32 saved)
{
	return set_res(&current->cred.group, real, effective, saved);
}

static int put_ids(const struct ids *ids, u32 *real, u32 *effective, u32 *saved)
{
	if (put_user_u32(real, ids->real) || put_user_u32(effective, ids->effective) ||
	    put_user_u32(saved, ids->saved))
		return -EFAULT;
	return 0;
}

long sys_getresuid32(u32 *real, u32 *effective, u32 *saved)
{
	return put_ids(&current->cred.user, real, effective, saved);
}

long sys_getresgid32(u32 *real, u32 *effective, u32 *saved)
{
	return put_ids(&current->cred.group, real, effective, saved);
}

/* Stores the groups, unless n is 0, and returns their number. */
long sys_getgroups32(s32 n, u32 *user)
{
	const struct cred *c = &current->cred;

	if (n < 0 || (n && (u32)n < c->nr_groups))
		return -EINVAL;
	if (n && copy_to_user(user, c->groups, c->nr_groups * sizeof(u32)))
		return -EFAULT;
	return c->nr_groups;
}

long sys_setgroups32(u32 n, const u32 *user)
{
	struct cred *c = &current->cred;
	u32 new[NR_GROUPS];

	if (!is_root())
		return -EPERM;
	if (n > NR_GROUPS)
		return -EINVAL;
	if (copy_from_user(new, user, n * sizeof(u32)))
		return -EFAULT;
	c->nr_groups = n;
	for (u32 i = 0; i < n; i++)
		c->groups[i] = new[i];
	return 0;
}
