/*
 * mode=cover: the set of kernel instructions that were executed.
 *
 * Each instruction has its own counter, which translated code increments without a call. When a
 * block is translated again, instructions already known to be executed are no longer counted. An
 * instruction that faults counts, because it has begun.
 *
 * Options: out=FILE. FILE appears complete when QEMU ends: the sorted addresses of the executed
 * instructions, as 32-bit words.
 */
#include "plugin.h"

#include <string.h>

enum { LARGEST = 4 << 20 }; /* a kernel, bytes */

static const char *out_name;

static void translate(struct qemu_plugin_tb *tb)
{
	size_t nr = qemu_plugin_tb_n_insns(tb);

	for (size_t i = 0; i < nr; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t offset = qemu_plugin_insn_vaddr(insn) - KERNEL_BASE;

		if (offset < LARGEST && !counters[offset])
			count_insn(insn, offset);
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
		fail("mode=cover needs out=");
	counters_init(LARGEST);
}

static void finish(void)
{
	FILE *file = open_whole(out_name);

	for (uint32_t i = 0; i < LARGEST; i++) {
		uint32_t pc = KERNEL_BASE + i;

		if (counters[i])
			fwrite(&pc, sizeof(pc), 1, file);
	}
	close_whole(file, out_name);
}

const struct mode cover_mode = {
	.name = "cover",
	.option = option,
	.start = start,
	.translate = translate,
	.finish = finish,
};
