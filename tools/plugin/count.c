/*
 * mode=count: the number of instructions that the machine executes between two marks of a program.
 *
 * A mark is an instruction without effect, nopl NUMBER(%eax), executed by a program. At the mark, ecx
 * holds the number of calls made since the first of the two marks. (user/workloads/files.c has such
 * marks.) Everything the machine executes in between counts, including interrupts and other processes.
 * Waiting does not count, because a waiting processor executes nothing. Of Tidemark this file only
 * assumes that the kernel begins at KERNEL_BASE, as Linux for i386 does.
 *
 * An instruction that faults counts again when it is repeated. Each iteration of a repeated string
 * instruction counts, as it does in virtual time.
 *
 * Options: out=FILE. FILE gets a line for each pair of marks:
 *
 *   105031 5310 100          instructions of the kernel, instructions of programs, calls
 */
#include "plugin.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { BEGIN_MARK = 0x74696400, END_MARK };
enum { KERNEL, USER, NR_COUNTERS };

static const char *out_name;
static FILE *out;
static uint64_t at_begin[NR_COUNTERS];

static void on_begin(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	memcpy(at_begin, counters, sizeof(at_begin));
}

static void on_end(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	fprintf(out, "%llu %llu %u\n", (unsigned long long)(counters[KERNEL] - at_begin[KERNEL]),
		(unsigned long long)(counters[USER] - at_begin[USER]), read_register(ECX));
}

/* 0F 1F 80: nopl displacement(%eax). */
static void watch_mark(struct qemu_plugin_insn *insn)
{
	static const uint8_t nopl[] = { 0x0F, 0x1F, 0x80 };
	const uint8_t *bytes = qemu_plugin_insn_haddr(insn);
	uint32_t number;

	if (qemu_plugin_insn_size(insn) != sizeof(nopl) + sizeof(number) || !bytes ||
	    memcmp(bytes, nopl, sizeof(nopl)))
		return;
	memcpy(&number, bytes + sizeof(nopl), sizeof(number));
	if (number == BEGIN_MARK)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_begin, CB_NO_REGS, NULL);
	else if (number == END_MARK)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_end, CB_R_REGS, NULL);
}

static void translate(struct qemu_plugin_tb *tb)
{
	size_t nr = qemu_plugin_tb_n_insns(tb);

	for (size_t i = 0; i < nr; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		bool user = qemu_plugin_insn_vaddr(insn) < KERNEL_BASE;

		if (user)
			watch_mark(insn);
		count_insn(insn, user ? USER : KERNEL);
	}
}

static bool option(const char *name, const char *value)
{
	if (strcmp(name, "out"))
		return false;
	out_name = value;
	return true;
}

static void start(void)
{
	if (!out_name)
		fail("mode=count needs out=");
	out = fopen(out_name, "w");
	if (!out)
		fail("%s cannot be written: %s", out_name, strerror(errno));
	counters_init(NR_COUNTERS);
}

static void finish(void)
{
	bool bad = ferror(out);

	if (fclose(out) || bad)
		fail("%s cannot be written: %s", out_name, strerror(errno));
}

const struct mode count_mode = {
	.name = "count",
	.option = option,
	.start = start,
	.translate = translate,
	.finish = finish,
};
