/*
 * mode=evidence: the history of all pages, for a grader that trusts nothing the guest prints.
 *
 * A program's loads and stores are recorded with the frame that they access, one record for each run
 * of accesses to one page. A frame gets its contents in three ways, all through two functions of the
 * kernel: it is cleared, copied from another frame, or copied from the store of the modelled disk,
 * which is memory above mem=. An evicted page is copied to that store. So the order of these records
 * is the history of every page, and the kernel's own counters and output are not needed. (Not
 * recorded are reads from files in memory, and the kernel's own accesses to a program's memory.)
 * The breaches that breach.c finds are recorded in between.
 *
 * A modelled disk for files lies above that store. Copies to and from it move pages of files, and
 * metadata that a file system keeps on it. A part of a page counts as a page.
 *
 * FILE is an array of struct record, little endian. A file without END was cut off. Each record has
 * the address space in use (0: none yet, then numbered in order of appearance; page directories are
 * reused, so a freed one becomes a new space), and the number of instructions begun: of programs
 * alone, and of programs and kernel.
 *
 *	REF, STORE   a: virtual page, b: frame
 *	READ, WRITE  a: block of the store, b: frame
 *	ZERO         b: frame
 *	COPY         a: from this frame, b: to this frame
 *	SWITCH       to this record's space
 *	BIRTH, EXIT  of this record's space
 *	BREACH       rule: the rule; a: address of the instruction, b: address that it accessed. For
 *	             RULE_OF_SEAM, b is the address of the rule's name
 *	BUDGET       more instructions than budget=, or more than MAX_RECORDS records; QEMU is about to
 *	             end with PLUGIN_OVER_BUDGET
 *	FILE_READ, FILE_WRITE  a: page of the disk for files, b: frame
 *	KILLED       kernel code in killers= sends SIGKILL: out of memory, a program is killed
 *	TABLES       a: with tables=1, the number of page tables in the program's half of the page directory;
 *	             comes before the first reference with a number that is new for the space
 *	END          a, b: low and high half of QEMU's virtual time in ns, 0 after BUDGET (it cannot be
 *	             read between two instructions)
 *
 * Options: out=FILE; store=BYTES: address of the store; files=BYTES: address of the disk for files,
 * if there is one; directory=, copy=, sectors=, clear=, death=, signal=: addresses of the kernel's
 * kernel_pgdir, copy_page, copy_sectors, clear_page, pgd_destroy and signal_send; refs=0: no REF and
 * STORE records, so no page of a program is known; refs=2: one record for a run of loads and stores to one page,
 * with the kind of the first, which suffices to know when a page was used; tables=1; budget=N; and those of breach.c.
 */
#include "evidence/evidence.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PRESENT (1u << 0) /* in an entry of a page table */
#define LARGE (1u << 7)
enum { LONGEST_ACCESS = 64 }; /* bytes; QEMU splits longer accesses */
enum { MAX_SPACES = 1 << 16, MAX_RECORDS = 1 << 24 };
enum { NO_REFERENCES, EACH_KIND, EITHER_KIND };
enum { CLOCK_VIRTUAL = 1 };
enum { USER, KERNEL, NR_COUNTERS };

struct record {
	uint8_t kind, rule;
	uint16_t space;
	uint32_t a, b;
	uint64_t user, all;
} __attribute__((packed));

static const char *out_name;
static FILE *out;
static uint64_t store, files = ~0ull, directory, copy, sectors, clear, death, signals,
		       references = EACH_KIND, budget = ~0ull, tables;

static uint64_t nr_records;
static uint16_t space_of[NR_FRAMES]; /* indexed by the frame of the page directory */
static uint16_t current_space, nr_spaces = 1;
static uint32_t last_page = ~0u, last_kind; /* of the current run of references */

static uint64_t nr_instructions(void)
{
	return counters[USER] + counters[KERNEL];
}

static void put_of(uint16_t space, enum kind kind, uint8_t rule, uint32_t a, uint32_t b)
{
	struct record record = { kind, rule, space, a, b, counters[USER], nr_instructions() };

	last_page = ~0u;
	nr_records++;
	if (fwrite(&record, sizeof(record), 1, out) != 1)
		fail("%s cannot be written: %s", out_name, strerror(errno));
}

void evidence_put(enum kind kind, uint8_t rule, uint32_t a, uint32_t b)
{
	put_of(current_space, kind, rule, a, b);
}

uint32_t evidence_border(void)
{
	return store / PAGE_SIZE;
}

/* --- references of programs --- */

static uint32_t frame_of(uint32_t info, uint32_t address)
{
	struct qemu_plugin_hwaddr *at = qemu_plugin_get_hwaddr(info, address);
	uint64_t frame;

	if (!at || qemu_plugin_hwaddr_is_io(at))
		fail_of_guest("a program's access to %#x did not go to memory", address);
	frame = qemu_plugin_hwaddr_phys_addr(at) / PAGE_SIZE;
	if (frame >= NR_FRAMES)
		fail_of_guest("a program's page lies above 4 GiB");
	return frame;
}

static void note_tables(void)
{
	static uint16_t known[MAX_SPACES];
	uint32_t entries[KERNEL_BASE >> 22];
	uint16_t nr = 0;

	read_memory(KERNEL_BASE + current_cr3, entries, sizeof(entries));
	for (size_t i = 0; i < KERNEL_BASE >> 22; i++)
		nr += entries[i] & PRESENT;
	if (nr == known[current_space])
		return;
	known[current_space] = nr;
	evidence_put(TABLES, 0, nr, 0);
}

static void put_reference(enum kind kind, uint32_t page, uint32_t frame)
{
	if (tables)
		note_tables();
	breach_referred(current_space, page, frame);
	evidence_put(kind, 0, page, frame);
	last_page = page;
	last_kind = kind;
}

static void on_reference(unsigned int cpu, uint32_t info, uint64_t address, void *data)
{
	uint32_t page = address / PAGE_SIZE, offset = address % PAGE_SIZE;
	enum kind kind = qemu_plugin_mem_is_store(info) ? STORE : REF;

	(void)cpu;
	(void)data;
	if (address >= KERNEL_BASE)
		return;
	if (page != last_page || (kind != last_kind && references == EACH_KIND))
		put_reference(kind, page, frame_of(info, address));
	if (__builtin_expect(offset > PAGE_SIZE - LONGEST_ACCESS, 0) &&
	    offset + (1u << qemu_plugin_mem_size_shift(info)) > PAGE_SIZE &&
	    ++page < KERNEL_BASE / PAGE_SIZE)
		put_reference(kind, page, frame_of(info, page * PAGE_SIZE));
}

/* --- frames that the kernel clears and copies --- */

/* Reads an entry of a table, given its physical address; tables lie in the direct map. */
static uint32_t read_entry(uint32_t table, uint32_t index)
{
	uint32_t entry = read_word(table + index % 1024 * 4);

	if (!(entry & PRESENT) || entry & LARGE)
		fail_of_guest("the kernel copies a page at an address that is not mapped");
	return entry & ~(PAGE_SIZE - 1);
}

/*
 * Memory above the direct map, such as the store, has a virtual address only while it is copied. That
 * address is in the kernel's half, which all page directories share.
 */
static uint32_t physical_page(uint32_t address)
{
	uint32_t table;

	if (address >= KERNEL_BASE && address < DIRECT_MAP_END)
		return (address - KERNEL_BASE) / PAGE_SIZE;
	table = KERNEL_BASE + read_entry(directory, address >> 22);
	return read_entry(table, address / PAGE_SIZE) / PAGE_SIZE;
}

static void on_clear(unsigned int cpu, void *data)
{
	uint32_t frame = physical_page(read_register(EAX));

	(void)cpu;
	(void)data;
	breach_filled(frame);
	evidence_put(ZERO, 0, 0, frame);
}

/* Returns the first frame of the disk for files. */
static uint32_t files_border(void)
{
	return files / PAGE_SIZE < NR_FRAMES ? files / PAGE_SIZE : NR_FRAMES;
}

/* copy_page(to, from), copy_sectors(to, from, n): the kernel passes the first arguments in eax and edx. */
static void on_copy(unsigned int cpu, void *data)
{
	uint32_t border = evidence_border(), of_files = files_border();
	uint32_t to = physical_page(read_register(EAX)), from = physical_page(read_register(EDX));

	(void)cpu;
	(void)data;
	if (to >= of_files) {
		evidence_put(FILE_WRITE, 0, to - of_files, from);
		return;
	}
	if (to >= border) {
		breach_written(from);
		evidence_put(WRITE, 0, to - border, from);
		return;
	}
	breach_filled(to);
	if (from >= of_files)
		evidence_put(FILE_READ, 0, from - of_files, to);
	else if (from >= border)
		evidence_put(READ, 0, from - border, to);
	else
		evidence_put(COPY, 0, from, to);
}

/* --- address spaces --- */

static void switch_space(uint32_t cr3)
{
	uint16_t *space = &space_of[cr3 / PAGE_SIZE];

	if (!*space) {
		if (nr_spaces == MAX_SPACES - 1)
			fail_of_guest("more than %d address spaces", MAX_SPACES - 2);
		*space = nr_spaces++;
		put_of(*space, BIRTH, 0, 0, 0);
	}
	current_space = *space;
	evidence_put(SWITCH, 0, 0, 0);
}

/* pgd_destroy(pgd) */
static void on_death(unsigned int cpu, void *data)
{
	uint32_t frame = physical_page(read_register(EAX));

	(void)cpu;
	(void)data;
	if (space_of[frame])
		put_of(space_of[frame], EXIT, 0, 0, 0);
	space_of[frame] = 0;
}

/* signal_send(task, number) */
static void on_signal(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (read_register(EDX) == SIGKILL && breach_lies_in(KILLERS, read_word(read_register(ESP))))
		evidence_put(KILLED, 0, 0, 0);
}

/* --- the end --- */

static void finish_at(uint64_t virtual_ns)
{
	evidence_put(END, 0, virtual_ns, virtual_ns >> 32);
	if (fclose(out))
		fail("%s cannot be written: %s", out_name, strerror(errno));
}

static void finish(void)
{
	finish_at(qemu_clock_get_ns(CLOCK_VIRTUAL));
}

/* Checked only in the kernel: the timer takes every program there. */
static void on_kernel_block(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (nr_instructions() <= budget && nr_records <= MAX_RECORDS)
		return;
	evidence_put(BUDGET, 0, 0, 0);
	finish_at(0);
	_exit(PLUGIN_OVER_BUDGET);
}

static void translate_kernel(struct qemu_plugin_insn *insn, uint64_t pc)
{
	exec_callback *called = pc == copy || pc == sectors ? on_copy
				: pc == clear               ? on_clear
				: pc == death               ? on_death
				: pc == signals             ? on_signal
							    : NULL;

	if (called)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, called, CB_R_REGS, NULL);
	breach_translate(insn, pc);
	flow_translate(insn, pc);
	count_insn(insn, KERNEL);
}

static void translate_user(struct qemu_plugin_insn *insn)
{
	if (references)
		qemu_plugin_register_vcpu_mem_cb(insn, on_reference, CB_NO_REGS, MEM_RW, NULL);
	count_insn(insn, USER);
}

static void translate(struct qemu_plugin_tb *tb)
{
	size_t nr = qemu_plugin_tb_n_insns(tb);

	if (qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0)) >= KERNEL_BASE) {
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_kernel_block, CB_NO_REGS, NULL);
		flow_translate_block(tb);
	}
	for (size_t i = 0; i < nr; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t pc = qemu_plugin_insn_vaddr(insn);

		if (pc >= KERNEL_BASE)
			translate_kernel(insn, pc);
		else if (current_cr3)
			translate_user(insn);
	}
}

static bool option(const char *name, const char *value)
{
	uint64_t number = strtoull(value, NULL, 0);

	if (!strcmp(name, "out"))
		out_name = value;
	else if (!strcmp(name, "store"))
		store = number;
	else if (!strcmp(name, "files"))
		files = number;
	else if (!strcmp(name, "sectors"))
		sectors = number;
	else if (!strcmp(name, "directory"))
		directory = number;
	else if (!strcmp(name, "copy"))
		copy = number;
	else if (!strcmp(name, "clear"))
		clear = number;
	else if (!strcmp(name, "death"))
		death = number;
	else if (!strcmp(name, "signal"))
		signals = number;
	else if (!strcmp(name, "refs"))
		references = number;
	else if (!strcmp(name, "tables"))
		tables = number;
	else if (!strcmp(name, "budget"))
		budget = number;
	else
		return breach_option(name, value);
	return true;
}

static void start(void)
{
	if (!out_name || !store || !directory || !copy || !clear || !death)
		fail("mode=evidence needs out=, store=, directory=, copy=, clear= and death=");
	if (!cpu_memory_rw_debug || !qemu_clock_get_ns)
		fail("this QEMU does not export cpu_memory_rw_debug and qemu_clock_get_ns; one "
		     "built with --enable-modules does");
	breach_start();
	out = fopen(out_name, "wb");
	if (!out)
		fail("%s cannot be written: %s", out_name, strerror(errno));
	counters_init(NR_COUNTERS);
}

const struct mode evidence_mode = {
	.name = "evidence",
	.option = option,
	.start = start,
	.translate = translate,
	.switch_space = switch_space,
	.finish = finish,
};
