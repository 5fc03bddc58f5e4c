/*
 * mode=place: stops the machine at a place of an exact run, for inspection with a debugger.
 *
 * A place is a number of nanoseconds of QEMU's clock since the kernel began. In an exact run each
 * instruction takes one nanosecond, so a place identifies an instruction. Unlike the number of
 * instructions executed, this clock is the same in every run (kernel/arch/x86/time.c explains why).
 * QEMU's own timers stop the machine at the exact nanosecond, so nothing is counted and nothing slows down.
 *
 * A place may also be given as a time of the kernel's clock, which stands still while the kernel
 * measures (kernel/sched/still.c), or as the Nth execution of an instruction, or of any of several.
 * Then the machine stops before the instruction begins.
 *
 * Stopping must not move the clock. But a stopped CPU looks idle, and QEMU's main thread skips idle
 * time before it checks whether the machine must stop; this also happens at every debugger stop. After
 * waiting, that thread first checks the sources of GLib's main loop. So the plugin adds a source of its
 * own there: if the CPU has stopped, it stops the whole machine.
 *
 * Options: status=FILE, which gets two 64-bit numbers: whether the machine has arrived, and the
 * time at which it last stopped. main=, clock= and zero=: addresses of the kernel's kernel_main, and
 * of its variables clock_start and clock_zero. at=NS, or time=NS of the kernel's clock, or
 * pc=ADDRESS:ADDRESS...,nth=N. Without any of these, the machine runs to the end.
 */
#include "plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { VIRTUAL_CLOCK = 1, RUN_STATE_DEBUG = 0, RUN_STATE_PAUSED = 4, TIMER_BYTES = 256 };
enum { SOURCE_BYTES = 256, PRIORITY_HIGH = -100 };

static struct {
	uint64_t arrived;
	int64_t now;
} *status;

static const char *status_name;
static uint64_t main_pc, clock_at, zero_at, nth = 1;
static struct pcs pcs;
static int64_t at = -1, time_ns = -1, clock_start;
static bool started;
static uint64_t timer[TIMER_BYTES / sizeof(uint64_t)];

/* Runs in QEMU's main thread. */
static void stop_machine(void *data)
{
	(void)data;
	status->arrived = 1;
	vm_stop(RUN_STATE_PAUSED);
}

static void arrive(void)
{
	aio_bh_schedule_oneshot_full(qemu_get_aio_context(), stop_machine, NULL, "place");
	cpu_stop_current();
}

static int never_ready(void *source, int *timeout)
{
	(void)source;
	*timeout = -1;
	return false;
}

static int has_cpu_stopped(void *source)
{
	(void)source;
	return status->arrived && runstate_is_running() && cpu_is_stopped(qemu_get_cpu(0));
}

static int stop_for_debugger(void *source, void *callback, void *data)
{
	(void)source;
	(void)callback;
	(void)data;
	vm_stop(RUN_STATE_DEBUG);
	return true;
}

/* Runs in QEMU's main thread. Returns when the kernel's clock reaches the time, if it does not stand still before. */
static int64_t due_at(void)
{
	int64_t zero;

	if (cpu_memory_rw_debug(qemu_get_cpu(0), zero_at, &zero, sizeof(zero), false))
		fail_of_guest("the guest's memory at %#x cannot be read", (uint32_t)zero_at);
	return zero + time_ns;
}

static void on_time(void *data)
{
	(void)data;
	if (time_ns >= 0 && due_at() > qemu_clock_get_ns(VIRTUAL_CLOCK))
		timer_mod_ns(timer, due_at());
	else
		arrive();
}

/* Translated code calls this; the return address of the call lies in that code. */
__attribute__((noinline)) static void on_pc(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (!started || !nth || --nth)
		return;
	arrive();
	cpu_loop_exit_restore(qemu_get_cpu(0), (uintptr_t)__builtin_return_address(0));
}

static void on_main(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (started)
		return;
	started = true;
	clock_start = read_word(clock_at) | (uint64_t)read_word(clock_at + 4) << 32;
	if (at < 0 && time_ns < 0)
		return;
	timer_init_full(timer, NULL, VIRTUAL_CLOCK, 1, 0, on_time, NULL);
	timer_mod_ns(timer, clock_start + (at < 0 ? time_ns : at));
}

static void on_state(void *data, bool running, int state)
{
	(void)data;
	(void)state;
	if (!running)
		status->now = qemu_clock_get_ns(VIRTUAL_CLOCK) - clock_start;
}

static void translate(struct qemu_plugin_tb *tb)
{
	size_t nr = qemu_plugin_tb_n_insns(tb);

	for (size_t i = 0; i < nr; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t address = qemu_plugin_insn_vaddr(insn);

		if (address == main_pc)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_main, CB_R_REGS, NULL);
		if (is_among(&pcs, address))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_pc, CB_R_REGS, NULL);
	}
}

static bool option(const char *name, const char *value)
{
	static const struct number numbers[] = {
		{ "main", &main_pc },
		{ "clock", &clock_at },
		{ "zero", &zero_at },
		{ "nth", &nth },
	};

	if (!strcmp(name, "pc"))
		return pcs_option(&pcs, value);
	if (!strcmp(name, "status"))
		status_name = value;
	else if (!strcmp(name, "at"))
		at = strtoll(value, NULL, 0);
	else if (!strcmp(name, "time"))
		time_ns = strtoll(value, NULL, 0);
	else
		return NUMBER_OPTION(numbers, name, value);
	return true;
}

static void open_status(void)
{
	int file = open(status_name, O_RDWR | O_CREAT | O_TRUNC, 0666);

	if (file < 0 || ftruncate(file, sizeof(*status)))
		fail("%s cannot be written: %s", status_name, strerror(errno));
	status = mmap(NULL, sizeof(*status), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (status == MAP_FAILED)
		fail("%s cannot be mapped: %s", status_name, strerror(errno));
	close(file);
}

static void start(void)
{
	static struct source_functions functions = { .prepare = never_ready,
						     .check = has_cpu_stopped,
						     .dispatch = stop_for_debugger };
	void *source;

	if (!status_name || !main_pc || !clock_at)
		fail("mode=place needs status=, main= and clock=");
	if (!cpu_loop_exit_restore || !cpu_stop_current || !vm_stop || !timer_init_full ||
	    !timer_mod_ns || !aio_bh_schedule_oneshot_full || !qemu_get_aio_context ||
	    !qemu_add_vm_change_state_handler || !qemu_clock_get_ns || !runstate_is_running ||
	    !cpu_is_stopped || (time_ns >= 0 && (!zero_at || !cpu_memory_rw_debug)))
		fail("this QEMU does not export the functions that stop a machine; one built with "
		     "--enable-modules does");
	open_status();
	source = g_source_new(&functions, SOURCE_BYTES);
	g_source_set_priority(source, PRIORITY_HIGH);
	g_source_attach(source, NULL);
	qemu_add_vm_change_state_handler(on_state, NULL);
}

static void finish(void)
{
}

const struct mode place_mode = {
	.name = "place",
	.option = option,
	.start = start,
	.translate = translate,
	.finish = finish,
};
