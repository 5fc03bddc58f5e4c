/*
 * mode=past: runs up to a place and reports what happened before it: which instructions wrote to a
 * part of memory, and which instructions were executed.
 *
 * A place is a moment of QEMU's clock (place.c, clock.c).
 *
 * The accessed and dirty bits that a processor sets while it walks page tables are not stores of an
 * instruction, and are not seen.
 *
 * Options: out=FILE; those of clock.h; until=NS: stop there, instead of at the end of the run.
 * write=LOW-HIGH: physical addresses. pcs=ADDRESS:ADDRESS...: instructions. esp=, cr3=: only with this
 * stack pointer, this page directory. page=INDEX_AT:INDEX:OWNER_AT:OWNER: only if eax points to a
 * struct page with these values at these offsets.
 * FILE gets one line for each of the last events before the end, with decimal numbers:
 *
 *   w 1204417 3222373104 151040        place, instruction, the word at LOW afterwards
 *   x 1204417 3222373104 1 2 3 4       place, instruction, eax, edx, ecx, esp
 */
#include "clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NR_EVENTS = 1 << 16 };

struct event {
	char kind;
	int64_t place;
	uint32_t pc, words[4];
};

static const char *out_name;
static FILE *out;
static struct pcs pcs;
static uint64_t write_low = 1, write_high, esp, cr3;
static uint32_t index_at, page_index, owner_at, page_owner;
static struct event events[NR_EVENTS];
static uint64_t nr_events;

static void finish(void)
{
	uint64_t first = nr_events < NR_EVENTS ? 0 : nr_events - NR_EVENTS;

	for (uint64_t i = first; i < nr_events; i++) {
		const struct event *e = &events[i % NR_EVENTS];

		fprintf(out, "%c %lld %u %u", e->kind, (long long)e->place, e->pc, e->words[0]);
		if (e->kind == 'x')
			fprintf(out, " %u %u %u", e->words[1], e->words[2], e->words[3]);
		fputc('\n', out);
	}
	if (fclose(out))
		fail("%s cannot be written: %s", out_name, strerror(errno));
}

static void finish_early(void)
{
	finish();
	_exit(0);
}

static void put(char kind, int64_t place, uint32_t pc, const uint32_t *words)
{
	struct event *e = &events[nr_events++ % NR_EVENTS];

	e->kind = kind;
	e->place = place;
	e->pc = pc;
	memcpy(e->words, words, sizeof(e->words));
}

static void on_access(unsigned int cpu, uint32_t info, uint64_t address, void *pc)
{
	uint32_t words[4] = { 0 };
	struct qemu_plugin_hwaddr *at;
	uint64_t low;

	(void)cpu;
	if (!clock_started || !qemu_plugin_mem_is_store(info))
		return;
	at = qemu_plugin_get_hwaddr(info, address);
	if (!at || qemu_plugin_hwaddr_is_io(at))
		return;
	low = qemu_plugin_hwaddr_phys_addr(at);
	if (low >= write_high || low + (1u << qemu_plugin_mem_size_shift(info)) <= write_low)
		return;
	words[0] = read_word(KERNEL_BASE + (write_low & ~3u));
	put('w', clock_now(1), (uintptr_t)pc, words);
}

/* Does eax point to the struct page of this page of this address space? */
static bool is_page(void)
{
	uint32_t page = read_register(EAX);

	return read_word(page + index_at) == page_index && read_word(page + owner_at) == page_owner;
}

static void on_pc(unsigned int cpu, void *pc)
{
	uint32_t words[] = { read_register(EAX), read_register(EDX), read_register(ECX),
			     read_register(ESP) };

	(void)cpu;
	if (clock_started && (!esp || esp == words[3]) && (!cr3 || cr3 == current_cr3) &&
	    (!page_owner || is_page()))
		put('x', clock_now(0), (uintptr_t)pc, words);
}

static void translate(struct qemu_plugin_tb *tb)
{
	size_t nr = qemu_plugin_tb_n_insns(tb);

	for (size_t i = 0; i < nr; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t pc = qemu_plugin_insn_vaddr(insn);
		void *data = (void *)(uintptr_t)pc;

		clock_watch(insn);
		if (is_among(&pcs, pc))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_pc, CB_R_REGS, data);
		if (write_high)
			qemu_plugin_register_vcpu_mem_cb(insn, on_access, CB_NO_REGS, MEM_RW, data);
		count_insn(insn, 0);
	}
}

static bool set_write(const char *value)
{
	char *end;

	write_low = strtoull(value, &end, 0);
	if (*end != '-')
		return false;
	write_high = strtoull(end + 1, &end, 0);
	return !*end;
}

/* INDEX_AT:INDEX:OWNER_AT:OWNER */
static bool set_page(const char *value)
{
	uint32_t *const numbers[] = { &index_at, &page_index, &owner_at, &page_owner };
	char *end = (char *)value - 1;

	for (size_t i = 0; i < 4; i++) {
		*numbers[i] = strtoul(end + 1, &end, 0);
		if (*end != (i < 3 ? ':' : '\0'))
			return false;
	}
	return true;
}

static bool option(const char *name, const char *value)
{
	static const struct number numbers[] = {
		{ "esp", &esp },
		{ "cr3", &cr3 },
	};

	if (!strcmp(name, "pcs"))
		return pcs_option(&pcs, value);
	if (!strcmp(name, "page"))
		return set_page(value);
	if (!strcmp(name, "write"))
		return set_write(value);
	if (!strcmp(name, "out"))
		out_name = value;
	else if (!strcmp(name, "until"))
		clock_until = strtoll(value, NULL, 0);
	else
		return clock_option(name, value) || NUMBER_OPTION(numbers, name, value);
	return true;
}

static void start(void)
{
	if (!out_name || !clock_given())
		fail("mode=past needs out=, main= and clock=");
	out = fopen(out_name, "w");
	if (!out)
		fail("%s cannot be written: %s", out_name, strerror(errno));
	counters_init(1);
	clock_is_over = finish_early;
}

const struct mode past_mode = {
	.name = "past",
	.option = option,
	.start = start,
	.translate = translate,
	.finish = finish,
};
