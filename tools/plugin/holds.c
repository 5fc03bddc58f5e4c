/*
 * mode=holds: when the kernel is inside some functions, as if a lock were taken at their first instruction
 * and released when they return.
 *
 * The return of a function is the first ret with the stack pointer that the function had at its first
 * instruction. This holds for a function that jumps to another at its end, too. The functions must not
 * sleep. They may call each other: each call is recorded.
 *
 * Time is the number of instructions that the processor has begun, in the kernel and in programs. It does
 * not advance while the processor waits, because a waiting processor executes nothing. An interrupt
 * inside a function counts as part of it.
 *
 * Options: out=FILE; pcs=ADDRESS:ADDRESS..., the functions; after=ADDRESS: nothing is recorded before this
 * instruction first runs. FILE gets a line for each return: the function's place in pcs, from 0, and the
 * times of its first instruction and of its return. The last line is the word "end" and the last time:
 * without it the file is incomplete.
 */
#include "plugin.h"

#include <errno.h>
#include <string.h>

enum { RET = 0xC3, DEEPEST = 8 };

static const char *out_name;
static FILE *out;
static struct pcs functions;
static uint64_t after;
static bool begun;
static struct {
	uint32_t function, esp;
	uint64_t time;
} calls[DEEPEST];
static size_t depth;

static void on_begin(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	begun = true;
}

static void on_call(unsigned int cpu, void *function)
{
	(void)cpu;
	if (!begun)
		return;
	if (depth == DEEPEST)
		fail_of_guest("the functions of mode=holds call each other too deeply");
	calls[depth].function = (uintptr_t)function;
	calls[depth].esp = read_register(ESP);
	calls[depth++].time = counters[0];
}

static void on_ret(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (!depth || read_register(ESP) != calls[depth - 1].esp)
		return;
	depth--;
	fprintf(out, "%u %llu %llu\n", calls[depth].function, (unsigned long long)calls[depth].time,
		(unsigned long long)counters[0]);
}

static void watch(struct qemu_plugin_insn *insn)
{
	uint64_t pc = qemu_plugin_insn_vaddr(insn);
	const uint8_t *bytes = qemu_plugin_insn_haddr(insn);

	if (pc == after)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_begin, CB_NO_REGS, NULL);
	for (uintptr_t i = 0; i < functions.nr; i++)
		if (pc == functions.at[i])
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_call, CB_R_REGS, (void *)i);
	if (pc >= KERNEL_BASE && bytes && bytes[0] == RET)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_ret, CB_R_REGS, NULL);
}

static void translate(struct qemu_plugin_tb *tb)
{
	size_t nr = qemu_plugin_tb_n_insns(tb);

	for (size_t i = 0; i < nr; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		watch(insn);
		count_insn(insn, 0);
	}
}

static bool option(const char *name, const char *value)
{
	const struct number numbers[] = { { "after", &after } };

	if (!strcmp(name, "pcs"))
		return pcs_option(&functions, value);
	if (strcmp(name, "out"))
		return NUMBER_OPTION(numbers, name, value);
	out_name = value;
	return true;
}

static void start(void)
{
	if (!out_name || !functions.nr || !after)
		fail("mode=holds needs out=, pcs= and after=");
	out = fopen(out_name, "w");
	if (!out)
		fail("%s cannot be written: %s", out_name, strerror(errno));
	counters_init(1);
}

static void finish(void)
{
	bool bad;

	fprintf(out, "end %llu\n", (unsigned long long)counters[0]);
	bad = ferror(out);
	if (fclose(out) || bad)
		fail("%s cannot be written: %s", out_name, strerror(errno));
}

const struct mode holds_mode = {
	.name = "holds",
	.option = option,
	.start = start,
	.translate = translate,
	.finish = finish,
};
