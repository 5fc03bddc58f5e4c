/*
 * Start-up, one line per subsystem, in order of dependency; and the ways the machine ends.
 *
 * arch/x86 has set up a stack and the first page tables, and saved the boot loader's information.
 */
#include "main.h"

#include "arch/machine.h"
#include "arch/time.h"
#include "drivers/console.h"
#include "drivers/swapdisk.h"
#include "drivers/tty.h"
#include "fs/vfs.h"
#include "lib/assert.h"
#include "lib/ktap.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "lib/stages.h"
#include "lib/string.h"
#include "mm/bootmem.h"
#include "mm/control.h"
#include "mm/guard_core.h"
#include "mm/policy_core.h"
#include "mm/reclaim.h"
#include "mm/slab.h"
#include "mm/swap.h"
#include "mm/zone.h"
#include "proc/task.h"
#include "sched/task.h"
#include "sched/sched.h"

char run_command[512];
int power_off_status;
static bool run_tests;

PARAM_STR("run", run_command, "run one command line, print what it cost, power off", AT_BOOT);
PARAM_BOOL("ktest", run_tests, "run the tests inside the kernel, then power off", AT_BOOT);
PARAM_STR("ktest.suites", ktap_suites, "which of their suites (walk,anon); none: all", AT_BOOT);

static void parse_command_line(void)
{
	static char line[sizeof(boot_info.cmdline)], err[1600];

	policy_register_params();
	guard_register_params();
	strlcpy(line, boot_info.cmdline, sizeof(line));
	if (!param_parse_line(line, err, sizeof(err)))
		return;
	printk("command line: ");
	console_write(err, strlen(err)); /* printk's buffer is too small for all names */
	printk("\n");
	machine_exit(EXIT_REFUSED);
}

static void load_initramfs(void)
{
	const struct mem_range *fs = &boot_info.initramfs;

	if (fs->start == fs->end)
		panic("no initramfs: start QEMU with -initrd, or use make qemu");
	initramfs_unpack(phys_to_virt(fs->start), phys_to_virt(fs->end));
}

static void print_line(const char *line)
{
	printk("%s\n", line);
}

static void test_thread(void *arg)
{
	(void)arg;
	run_stage(disks);
	machine_exit(ktap_run(print_line) ? EXIT_FAILED : EXIT_OK);
}

static void stuck(void)
{
	hang("every task sleeps and nothing is left that could wake one");
}

void kernel_main(void)
{
	console_init();
	printk("Tidemark\n");
	arch_init();
	run_stage(first);
	seam_init();
	parse_command_line();
	clock_begin();
	mm_init();
	policy_init();
	guard_init();
	sched_init();
	time_init();
	proc_init();
	vfs_init();
	run_stage(files);
	tty_init();
	load_initramfs();
	swap_on(swapdisk_open());
	kswapd_init();
	kvmd_init();
	run_stage(parts);
	slab_boot_done();
	watchdog_init();
	if (run_tests) {
		run_stage(running); /* the tests run instead of init */
		kthread_create("ktest", 0, test_thread, NULL);
	} else {
		proc_start_init();
	}
	cpu_idle(run_mode() ? stuck : NULL); /* a run= boot reads no input */
}

void power_off(int status)
{
	power_off_status = status;
	run_stage(end);
	printk(status ? "power off: status %d\n" : "power off\n", status);
	machine_exit(status ? EXIT_FAILED : EXIT_OK);
}

void hang(const char *why)
{
	struct task_struct *t;

	printk("hang: %s\n%5s %5s %-15s %s\n", why, "PID", "STATE", "COMMAND", "WORK");
	for_each_task(t)
		printk("%5d %5d %-15s %#x\n", t->pid, t->state, t->comm, t->work);
	machine_exit(EXIT_HANG);
}
