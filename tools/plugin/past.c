/*
 * mode=past: runs up to a place and reports what happened before it: which instructions wrote to a
 * part of memory, and which instructions were executed.
 *
 * A place is a moment of QEMU's clock (place.c). Here instructions are counted. Whenever the guest
 * reads that clock with rdtsc, the count is adjusted to the clock: between two reads both advance
 * together, except while the processor waits.
 *
 * The accessed and dirty bits that a processor sets while it walks page tables are not stores of an
 * instruction, and are not seen.
 *
 * Options: out=FILE, main=, clock=: as for mode=place. faults=ADDRESS:ADDRESS...: entry points of
 * the kernel's fault handlers. until=NS: stop there, instead of at the end of the run.
 * write=LOW-HIGH: physical addresses. pcs=ADDRESS:ADDRESS...: instructions. esp=, cr3=: only with this
 * stack pointer, this page directory. page=INDEX_AT:INDEX:OWNER_AT:OWNER: only if eax points to a
 * struct page with these values at these offsets.
 * FILE gets one line for each of the last events before the end, with decimal numbers:
 *
 *   w 1204417 3222373104 151040        place, instruction, the word at LOW afterwards
 *   x 1204417 3222373104 1 2 3 4       place, instruction, eax, edx, ecx, esp
 */
#include "plugin.h"

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
static uint64_t main_pc, clock_at;
static struct pcs pcs, faults, clocks; /* clocks: instructions after a rdtsc */
static uint64_t write_low = 1, write_high, esp, cr3;
static uint32_t index_at, page_index, owner_at, page_owner;
static int64_t until = INT64_MAX, offset; /* QEMU's clock since clock_start, minus instructions */
static uint64_t clock_start, read_at = UINT64_MAX;
static bool started;
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

/* Returns the current place. Past the end, writes the events and does not return. */
static int64_t place_now(int begun)
{
	int64_t place = counters[0] - begun + offset;

	if (place < until)
		return place;
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
	if (!started || !qemu_plugin_mem_is_store(info))
		return;
	at = qemu_plugin_get_hwaddr(info, address);
	if (!at || qemu_plugin_hwaddr_is_io(at))
		return;
	low = qemu_plugin_hwaddr_phys_addr(at);
	if (low >= write_high || low + (1u << qemu_plugin_mem_size_shift(info)) <= write_low)
		return;
	words[0] = read_word(KERNEL_BASE + (write_low & ~3u));
	put('w', place_now(1), (uintptr_t)pc, words);
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
	if (started && (!esp || esp == words[3]) && (!cr3 || cr3 == current_cr3) &&
	    (!page_owner || is_page()))
		put('x', place_now(0), (uintptr_t)pc, words);
}

static void on_rdtsc(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	read_at = counters[0];
	if (started)
		place_now(0);
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
	if (started)
		return;
	clock_start = read_word(clock_at) | (uint64_t)read_word(clock_at + 4) << 32;
	offset -= clock_start;
	started = true;
}

/* The instruction that faulted was counted here, but not by QEMU, and will be counted again. */
static void on_fault(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	offset--;
}

static void watch_clock(struct qemu_plugin_insn *insn, uint64_t pc)
{
	const uint8_t *bytes = qemu_plugin_insn_haddr(insn);

	if (is_among(&clocks, pc))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, after_rdtsc, CB_R_REGS, NULL);
	if (qemu_plugin_insn_size(insn) != 2 || !bytes || bytes[0] != 0x0F || bytes[1] != 0x31)
		return;
	qemu_plugin_register_vcpu_insn_exec_cb(insn, on_rdtsc, CB_NO_REGS, NULL);
	if (!is_among(&clocks, pc + 2) && clocks.nr < MAX_PCS)
		clocks.at[clocks.nr++] = pc + 2;
}

static void translate(struct qemu_plugin_tb *tb)
{
	size_t nr = qemu_plugin_tb_n_insns(tb);

	for (size_t i = 0; i < nr; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t pc = qemu_plugin_insn_vaddr(insn);
		void *data = (void *)(uintptr_t)pc;

		watch_clock(insn, pc);
		if (pc == main_pc)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_main, CB_R_REGS, NULL);
		if (is_among(&faults, pc))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_fault, CB_NO_REGS, NULL);
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
		{ "main", &main_pc },
		{ "clock", &clock_at },
		{ "esp", &esp },
		{ "cr3", &cr3 },
	};

	if (!strcmp(name, "pcs"))
		return pcs_option(&pcs, value);
	if (!strcmp(name, "faults"))
		return pcs_option(&faults, value);
	if (!strcmp(name, "page"))
		return set_page(value);
	if (!strcmp(name, "write"))
		return set_write(value);
	if (!strcmp(name, "out"))
		out_name = value;
	else if (!strcmp(name, "until"))
		until = strtoll(value, NULL, 0);
	else
		return NUMBER_OPTION(numbers, name, value);
	return true;
}

static void start(void)
{
	if (!out_name || !main_pc || !clock_at)
		fail("mode=past needs out=, main= and clock=");
	out = fopen(out_name, "w");
	if (!out)
		fail("%s cannot be written: %s", out_name, strerror(errno));
	counters_init(1);
}

const struct mode past_mode = {
	.name = "past",
	.option = option,
	.start = start,
	.translate = translate,
	.finish = finish,
};
