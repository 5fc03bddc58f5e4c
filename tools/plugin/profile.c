/*
 * mode=profile: the exact number of instructions that each kernel function has executed.
 *
 * Each instruction increments its function's counter in translated code, without a call. An instruction
 * that faults counts again when it is repeated. Instructions of programs are counted by address space.
 * Page directories are reused, so a row may stand for several processes, one after the other.
 *
 * Options: out=FILE; symbols=FILE: the output of `nm -n` for the kernel (build/tidemark.elf.nm);
 * stacks=FILE: the kernel's instructions also by call stack (stacks.c).
 *
 * FILE appears complete when QEMU ends. It is CSV: a title line, then one row for each function or
 * address space that executed anything:
 *
 *   function,instructions
 *   do_page_fault,1342       a function of the kernel, sorted by address
 *   (user 03d7a000),58392    programs, by the physical address of their page directory
 *   (boot),5484193           BIOS and boot code, before the first address space
 */
#include "stacks.h"
#include "symbols.h"

#include <stdio.h>
#include <string.h>

#define BIOS 0xFFF00000u /* up to the end of memory; the kernel has no code there */
enum { MAX_SPACES = 1 << 12, USER = MAX_FUNCTIONS };

struct space {
	uint32_t cr3;
	uint64_t instructions;
};

static const char *out_name, *symbols_name, *stacks_name;
static struct space spaces[MAX_SPACES]; /* spaces[0] has cr3 0: boot */
static size_t nr_spaces = 1, current_space;
static uint64_t settled; /* the part of counters[USER] already added to spaces */

static void translate(struct qemu_plugin_tb *tb)
{
	size_t nr = qemu_plugin_tb_n_insns(tb), before = USER;

	for (size_t i = 0; i < nr; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t pc = qemu_plugin_insn_vaddr(insn);
		size_t function = pc < KERNEL_BASE || pc >= BIOS ? (size_t)USER : symbol_of(pc);

		if (stacks_name && function != USER && function != before)
			stacks_at(insn, function, symbol_begins(function, pc));
		count_insn(insn, function);
		before = function;
	}
}

static void settle(void)
{
	spaces[current_space].instructions += counters[USER] - settled;
	settled = counters[USER];
}

static void switch_space(uint32_t cr3)
{
	settle();
	for (current_space = 1; current_space < nr_spaces; current_space++)
		if (spaces[current_space].cr3 == cr3)
			return;
	if (nr_spaces == MAX_SPACES)
		fail("more than %d page directories", MAX_SPACES);
	spaces[nr_spaces++].cr3 = cr3;
}

static bool option(const char *name, const char *value)
{
	if (!strcmp(name, "out"))
		out_name = value;
	else if (!strcmp(name, "symbols"))
		symbols_name = value;
	else if (!strcmp(name, "stacks"))
		stacks_name = value;
	else
		return false;
	return true;
}

static void start(void)
{
	if (!out_name || !symbols_name)
		fail("mode=profile needs out= and symbols=");
	symbols_read(symbols_name);
	counters_init(MAX_FUNCTIONS + 1);
	stacks_init(USER);
}

static void write_rows(FILE *file)
{
	fputs("function,instructions\n", file);
	for (size_t i = 0; i < symbols_count(); i++)
		if (counters[i])
			fprintf(file, "%s,%llu\n", symbol_name(i), (unsigned long long)counters[i]);
	for (size_t i = 1; i < nr_spaces; i++)
		if (spaces[i].instructions)
			fprintf(file, "(user %08x),%llu\n", spaces[i].cr3,
				(unsigned long long)spaces[i].instructions);
	fprintf(file, "(boot),%llu\n", (unsigned long long)spaces[0].instructions);
}

static void finish(void)
{
	FILE *file;

	settle();
	file = open_whole(out_name);
	write_rows(file);
	close_whole(file, out_name);
	if (!stacks_name)
		return;
	file = open_whole(stacks_name);
	stacks_write(file, symbol_name);
	close_whole(file, stacks_name);
}

const struct mode profile_mode = {
	.name = "profile",
	.option = option,
	.start = start,
	.translate = translate,
	.switch_space = switch_space,
	.finish = finish,
};
