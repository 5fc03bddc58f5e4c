/*
 * Files of /proc that programs ask about the processor and the kernel: cpuinfo, and those of sys/kernel
 * and sys/fs that do not depend on uname (syscall/uname.c has these). The "random" identifiers come
 * from the kernel's pseudo-random bytes: they repeat with seed=.
 */
#include "arch/cpuid.h"
#include "arch/time.h"
#include "fs/pipe.h"
#include "fs/proc.h"
#include "fs/files.h"
#include "lib/random.h"
#include "lib/string.h"
#include "sched/task.h"

#define SAMPLE_CYCLES 1000000000ull

static void cpuinfo_show(struct seq_file *m)
{
	u32 khz = SAMPLE_CYCLES * 1000000 / cycles_to_ns(SAMPLE_CYCLES);
	struct cpu_identity id;
	const char *name;

	cpu_identify(&id);
	seq_printf(m, "processor\t: 0\nvendor_id\t: %s\ncpu family\t: %u\nmodel\t\t: %u\n",
		   id.vendor, id.family, id.model);
	seq_printf(m, "model name\t: %s\nstepping\t: %u\ncpu MHz\t\t: %u.%03u\n", id.model_name,
		   id.stepping, khz / 1000, khz % 1000);
	seq_printf(m,
		   "fpu\t\t: yes\nfpu_exception\t: yes\ncpuid level\t: %u\nwp\t\t: yes\nflags\t\t:",
		   id.max_leaf);
	for (u32 i = 0; i < NR_CPU_FEATURES; i++)
		if ((name = cpu_feature_name(i)))
			seq_printf(m, " %s", name);
	seq_printf(m,
		   "\nbogomips\t: %u.%02u\naddress sizes\t: %u bits physical, 32 bits virtual\n\n",
		   khz / 500, khz % 500 / 5, id.address_bits);
}

static void pid_max_show(struct seq_file *m)
{
	seq_printf(m, "%u\n", PID_MAX + 1);
}

/* A random UUID: version 4 of RFC 4122. */
static void put_uuid(struct seq_file *m, const u8 *bytes)
{
	for (u32 i = 0; i < 16; i++) {
		u8 byte = i == 6 ? (bytes[i] & 0x0f) | 0x40 : bytes[i];

		if (i == 8)
			byte = (byte & 0x3f) | 0x80;
		seq_printf(m, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", byte);
	}
	seq_putc(m, '\n');
}

static void uuid_show(struct seq_file *m)
{
	u8 bytes[16];

	random_bytes(bytes, sizeof(bytes));
	put_uuid(m, bytes);
}

/* Drawn when it is first read, so that a run that does not read it draws the same numbers as before. */
static void boot_id_show(struct seq_file *m)
{
	static u8 bytes[16];
	static bool drawn;

	if (!drawn)
		random_bytes(bytes, sizeof(bytes));
	drawn = true;
	put_uuid(m, bytes);
}

static void nr_open_show(struct seq_file *m)
{
	seq_printf(m, "%u\n", NR_OPEN);
}

static void pipe_max_show(struct seq_file *m)
{
	seq_printf(m, "%u\n", PIPE_MAX_SIZE);
}

static const struct proc_file files[] = {
	{ "cpuinfo", cpuinfo_show, NULL },
	{ "sys/fs/nr_open", nr_open_show, NULL },
	{ "sys/fs/pipe-max-size", pipe_max_show, NULL },
	{ "sys/kernel/pid_max", pid_max_show, NULL },
	{ "sys/kernel/random/boot_id", boot_id_show, NULL },
	{ "sys/kernel/random/uuid", uuid_show, NULL },
	{ 0 },
};

PROC_FILES(files);
