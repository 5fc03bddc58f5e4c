/*
 * mode=cover: which instructions of the kernel were executed at all.
 *
 * Each instruction has a counter of its own, to which translated code adds without a call. An
 * instruction that was executed when its block is translated again is not counted any more. One
 * that faults counts: it has begun.
 *
 * Options: out=FILE. FILE appears when QEMU ends, at once and whole: the addresses, in order, of
 * the instructions that were executed, as 32-bit words.
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
