/*
 * Start-up, one line per subsystem, in order of dependency; and the ways the machine ends.
 *
 * arch/x86 has set up a stack and the first page tables, and saved the boot loader's information.
 */
#include "main.h"

#include "arch/machine.h"
#include "arch/time.h"
#include "drivers/console.h"
#include "drivers/disks.h"
#include "drivers/simdisk.h"
#include "drivers/swapdisk.h"
#include "fs/tty.h"
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
#include "mm/mm.h"
#include "mm/policy_core.h"
#include "mm/reclaim.h"
#include "mm/slab.h"
#include "mm/swap.h"
#include "mm/zone.h"
#include "observe/events.h"
#include "proc/task.h"
#include "sched/sched.h"

static bool run_tests;

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

/* From the memory map to a working kmalloc and address spaces. */
static void mm_init(void)
{
	u32 nr_slots;

	bootmem_init(run_command,
		     &(struct bootmem_store){ .needed = swapdisk_in_memory(),
					      .size = simdisk_model(SIMDISK_SWAP)->size,
					      .end = simdisk_model(SIMDISK_DATA)->at });
	disks_find();
	nr_slots = swapdisk_find();
	if (nr_slots)
		swap_boot_alloc(nr_slots);
	bootmem_end();
	mm_init_caches();
	page_init();
	printk("memory: %u KiB managed, %u KiB free\n", max_pfn * 4, nr_free_pages() * 4);
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

/* *status is the exit status of the machine's command. */
static void power_off(const int *status)
{
	run_status = *status;
	run_stage(end);
	printk(*status ? "power off: status %d\n" : "power off\n", *status);
	machine_exit(*status ? EXIT_FAILED : EXIT_OK);
}

void kernel_main(void)
{
	console_init();
	printk("Tidemark\n");
	arch_init();
	run_stage(first);
	seam_init();
	listen_power_off(power_off);
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
	cpu_idle(!run_mode()); /* a run= boot reads no input */
}
