/*
 * mode=frames: the owner of each frame of memory, at each of the kernel's samples.
 *
 * The guest takes no part: the plugin reads its array of struct page from outside, at the beginning of
 * the function that takes samples. So the run is the same with and without the plugin.
 *
 * Options: out=FILE; at=, pages=, max_pfn=: addresses of the kernel's sample_now, and of its
 * variables mem_map and max_pfn. FILE appears when QEMU ends; until then it is FILE.partial, and
 * grows line by line. It has one line for each sample, in order: a JSON list of [owner, frames], which
 * are runs of neighbouring frames from frame 0 on. owner is the page directory (CR3) of the process
 * that faulted the page in, or one of the small numbers below.
 */
#include "plugin.h"

#include <stdlib.h>
#include <string.h>

enum { FREE, KERNEL, OF_A_FILE, NOBODY };
/* struct page and its flags as in kernel/include/mm/page.h, which asserts these values. */
enum { STRUCT_PAGE = 64, FLAGS_AT = 0, COUNT_AT = 4, OWNER_AT = 32 };
enum { RESERVED = 1 << 0, SLAB = 1 << 2, ANON = 1 << 8, FILECACHE = 1 << 17 };

static const char *out_name;
static uint64_t at, pages, max_pfn;
static FILE *out;

static uint32_t field(const uint8_t *page, int offset)
{
	uint32_t word;

	memcpy(&word, page + offset, sizeof(word));
	return word;
}

/* Returns the page directory of an address space; its first word points to it. Caches the last answer. */
static uint32_t directory(uint32_t mm)
{
	static uint32_t known, answer;

	if (mm != known) {
		answer = read_word(mm) - KERNEL_BASE;
		known = mm;
	}
	return answer;
}

static uint32_t owner_of(const uint8_t *page)
{
	uint32_t flags = field(page, FLAGS_AT), owner = field(page, OWNER_AT);

	if (flags & (RESERVED | SLAB))
		return KERNEL;
	if (flags & ANON)
		return owner ? directory(owner) : NOBODY;
	if (flags & FILECACHE)
		return OF_A_FILE;
	return field(page, COUNT_AT) ? KERNEL : FREE;
}

static void write_owners(const uint8_t *all, uint32_t nr)
{
	const char *before = "[";

	for (uint32_t i = 0, first = 0; i < nr; first = i) {
		uint32_t owner = owner_of(all + i * STRUCT_PAGE);

		while (++i < nr && owner_of(all + i * STRUCT_PAGE) == owner)
			;
		fprintf(out, "%s[%u,%u]", before, owner, i - first);
		before = ",";
	}
	fputs("]\n", out);
	fflush(out); /* `tidemark watch` reads it while it grows */
}

static void on_sample(unsigned int cpu, void *data)
{
	uint32_t nr = read_word(max_pfn), array = read_word(pages);
	uint8_t *all = malloc((size_t)nr * STRUCT_PAGE);

	(void)cpu;
	(void)data;
	if (!all)
		fail("out of memory");
	read_memory(array, all, (size_t)nr * STRUCT_PAGE);
	write_owners(all, nr);
	free(all);
}

static void translate(struct qemu_plugin_tb *tb)
{
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (qemu_plugin_insn_vaddr(insn) == at)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_sample, CB_R_REGS, NULL);
	}
}

static bool option(const char *name, const char *value)
{
	static const struct number numbers[] = {
		{ "at", &at },
		{ "pages", &pages },
		{ "max_pfn", &max_pfn },
	};

	if (strcmp(name, "out"))
		return NUMBER_OPTION(numbers, name, value);
	out_name = value;
	return true;
}

static void start(void)
{
	if (!out_name || !at || !pages || !max_pfn)
		fail("mode=frames needs out=, at=, pages= and max_pfn=");
	out = open_whole(out_name);
}

static void finish(void)
{
	close_whole(out, out_name);
}

const struct mode frames_mode = {
	.name = "frames",
	.option = option,
	.start = start,
	.translate = translate,
	.finish = finish,
};
