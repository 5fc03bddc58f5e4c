/*
 * QEMU's clock in an exact run, at any instruction: see clock.h.
 *
 * Instructions are counted. Whenever the guest reads the clock with rdtsc, the count is adjusted to the
 * clock: between two reads both advance together, except while the processor waits. The kernel reads the
 * clock first after each wait.
 */
#include "clock.h"

bool clock_started;
int64_t clock_until = INT64_MAX;
void (*clock_is_over)(void);

static uint64_t main_pc, clock_at;
static struct pcs faults, clocks; /* clocks: instructions after a rdtsc */
static int64_t offset; /* QEMU's clock since clock_start, minus instructions */
static uint64_t clock_start, read_at = UINT64_MAX;

int64_t clock_now(int begun)
{
	int64_t place = counters[0] - begun + offset;

	if (place >= clock_until)
		clock_is_over();
	return place;
}

uint64_t clock_tsc(int begun)
{
	return clock_now(begun) + clock_start;
}

static void on_rdtsc(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	read_at = counters[0];
	if (clock_started)
		clock_now(0);
}

static void after_rdtsc(unsigned int cpu, void *data)
{
	uint64_t tsc;

	(void)cpu;
	(void)data;
	if (counters[0] != read_at + 1)
		return;
	tsc = read_register(EAX) | (uint64_t)read_register(EDX) << 32;
	offset = tsc - clock_start - counters[0];
}

static void on_main(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (clock_started)
		return;
	clock_start = read_long(clock_at);
	offset -= clock_start;
	clock_started = true;
}

/* The instruction that faulted was counted here, but not by QEMU, and will be counted again. */
static void on_fault(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	offset--;
}

void clock_watch(struct qemu_plugin_insn *insn)
{
	const uint8_t *bytes = qemu_plugin_insn_haddr(insn);
	uint64_t pc = qemu_plugin_insn_vaddr(insn);

	if (pc == main_pc)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_main, CB_R_REGS, NULL);
	if (is_among(&faults, pc))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_fault, CB_NO_REGS, NULL);
	if (is_among(&clocks, pc))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, after_rdtsc, CB_R_REGS, NULL);
	if (qemu_plugin_insn_size(insn) != 2 || !bytes || bytes[0] != 0x0F || bytes[1] != 0x31)
		return;
	qemu_plugin_register_vcpu_insn_exec_cb(insn, on_rdtsc, CB_NO_REGS, NULL);
	if (!is_among(&clocks, pc + 2) && clocks.nr < MAX_PCS)
		clocks.at[clocks.nr++] = pc + 2;
}

bool clock_option(const char *name, const char *value)
{
	const struct number numbers[] = { { "main", &main_pc }, { "clock", &clock_at } };

	if (!strcmp(name, "faults"))
		return pcs_option(&faults, value);
	return NUMBER_OPTION(numbers, name, value);
}

bool clock_given(void)
{
	return main_pc && clock_at;
}
