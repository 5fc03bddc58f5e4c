/*
 * The names of the system: uname, its names in /proc/sys/kernel, and the two names that root may set.
 *
 * Programs use sysname and release to find out which calls exist: old C libraries refuse to start on
 * a release before 3.2, and 6.1 has all the calls implemented here. The version names Tidemark.
 */
#include "arch/uaccess.h"
#include "calls.h"
#include "errno.h"
#include "fs/proc.h"
#include "internal.h"
#include "lib/string.h"

#define NAME_SIZE 65u

static struct utsname {
	char sysname[NAME_SIZE], nodename[NAME_SIZE], release[NAME_SIZE], version[NAME_SIZE],
		machine[NAME_SIZE], domainname[NAME_SIZE];
} names = {
	.sysname = "Linux",
	.nodename = "tidemark",
	.release = "6.1.0-tidemark",
	.version = "#1 Tidemark",
	.machine = "i686",
	.domainname = "(none)",
};

long sys_uname(void *user)
{
	return copy_to_user(user, &names, sizeof(names));
}

/* The rest of the old name is erased. */
static long set_name(char *name, const char *user, s32 n)
{
	char new[NAME_SIZE] = { 0 };

	if (!is_root())
		return -EPERM;
	if (n < 0 || n >= (s32)NAME_SIZE)
		return -EINVAL;
	if (copy_from_user(new, user, n))
		return -EFAULT;
	memcpy(name, new, sizeof(new));
	return 0;
}

long sys_sethostname(const char *user, s32 n)
{
	return set_name(names.nodename, user, n);
}

long sys_setdomainname(const char *user, s32 n)
{
	return set_name(names.domainname, user, n);
}

/* The names as files in /proc/sys/kernel. */

static void show_line(struct seq_file *m, const char *name)
{
	seq_printf(m, "%s\n", name);
}

static void ostype_show(struct seq_file *m)
{
	show_line(m, names.sysname);
}

static void osrelease_show(struct seq_file *m)
{
	show_line(m, names.release);
}

static void version_show(struct seq_file *m)
{
	show_line(m, names.version);
}

static void hostname_show(struct seq_file *m)
{
	show_line(m, names.nodename);
}

static void domainname_show(struct seq_file *m)
{
	show_line(m, names.domainname);
}

static int hostname_store(char *text)
{
	strlcpy(names.nodename, text, NAME_SIZE);
	return 0;
}

static int domainname_store(char *text)
{
	strlcpy(names.domainname, text, NAME_SIZE);
	return 0;
}

static const struct proc_file files[] = {
	{ "sys/kernel/domainname", domainname_show, domainname_store },
	{ "sys/kernel/hostname", hostname_show, hostname_store },
	{ "sys/kernel/osrelease", osrelease_show, NULL },
	{ "sys/kernel/ostype", ostype_show, NULL },
	{ "sys/kernel/version", version_show, NULL },
	{ 0 },
};

PROC_FILES(files);
