/*
 * mode=evidence: the history of all pages, for a grader that trusts nothing the guest prints.
 *
 * A program's loads and stores are recorded with the frame that they access, one record for each run
 * of accesses to one page. A frame gets its contents in three ways, all through two functions of the
 * kernel: it is cleared, copied from another frame, or copied from the store of the modelled disk,
 * which is memory above mem=. An evicted page is copied to that store. So the order of these records
 * is the history of every page, and the kernel's own counters and output are not needed. (Not
 * recorded are reads from files in memory, and the kernel's own accesses to a program's memory.)
 * What a student's code does against the rules is recorded in between. evidence/ has the parts of this
 * mode: the format of the records (record.c), and the checks (breach.c, flow.c, rights.c).
 *
 * A modelled disk for files lies above that store. Copies to and from it move pages of files, and
 * metadata that a file system keeps on it. A part of a page counts as a page.
 *
 * Options: files=BYTES: address of the disk for files, if there is one; directory=, copy=, sectors=,
 * clear=, death=, signal=: addresses of the kernel's kernel_pgdir, copy_page, copy_sectors, clear_page,
 * pgd_destroy and signal_send; refs=0: no REF and STORE records, so no page of a program is known;
 * refs=2: one record for a run of loads and stores to one page, with the kind of the first, which
 * suffices to know when a page was used; tables=1, with flush_page=, flush_all=: addresses of the kernel's
 * tlb_flush_page and tlb_flush_all; requests=1, with request_end=: the address of its block_end; and those of
 * the files in evidence/.
 */
#include "evidence/evidence.h"

#include <signal.h>

#define PRESENT (1u << 0) /* in an entry of a page table */
#define LARGE (1u << 7)
enum { LONGEST_ACCESS = 64 }; /* bytes; QEMU splits longer accesses */
enum { MAX_SPACES = 1 << 16 };
enum { NO_REFERENCES, EACH_KIND, EITHER_KIND };
enum { CLOCK_VIRTUAL = 1 };

static uint64_t files = ~0ull, directory, copy, sectors, clear, death, signals,
		references = EACH_KIND, tables, flush_page, flush_all, requests, request_end;

static uint16_t space_of[NR_FRAMES]; /* indexed by the frame of the page directory */
static uint16_t nr_spaces = 1;

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
		nr += (entries[i] & (PRESENT | LARGE)) == PRESENT;
	if (nr == known[record_space])
		return;
	known[record_space] = nr;
	record_put(TABLES, 0, nr, 0);
}

static void put_reference(enum kind kind, uint32_t page, uint32_t frame)
{
	if (tables)
		note_tables();
	breach_referred(record_space, page, frame);
	record_put(kind, 0, page, frame);
	record_run = (struct run){ page, kind };
}

static void on_reference(unsigned int cpu, uint32_t info, uint64_t address, void *data)
{
	uint32_t page = address / PAGE_SIZE, offset = address % PAGE_SIZE;
	enum kind kind = qemu_plugin_mem_is_store(info) ? STORE : REF;

	(void)cpu;
	(void)data;
	if (address >= KERNEL_BASE)
		return;
	if (page != record_run.page || (kind != record_run.kind && references == EACH_KIND))
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
	record_put(ZERO, 0, 0, frame);
}

/* Returns the first frame of the disk for files. */
static uint32_t files_border(void)
{
	return files / PAGE_SIZE < NR_FRAMES ? files / PAGE_SIZE : NR_FRAMES;
}

/* At copy_page(to, from) and copy_sectors(to, from, n): the kernel passes the arguments in eax, edx and
 * ecx. data: copy_sectors. */
static void on_copy(unsigned int cpu, void *data)
{
	uint32_t border = region_border(), of_files = files_border();
	uint32_t to = physical_page(read_register(EAX)), from = physical_page(read_register(EDX));

	(void)cpu;
	if (to >= of_files) {
		record_put(FILE_WRITE, 0, to - of_files, from);
		disk_written((to - of_files) * PAGE_SIZE + read_register(EAX) % PAGE_SIZE,
			     read_register(EDX), data ? read_register(ECX) : PAGE_SIZE);
		return;
	}
	if (to >= border) {
		breach_written(from);
		record_put(WRITE, 0, to - border, from);
		return;
	}
	breach_filled(to);
	if (from >= of_files)
		record_put(FILE_READ, 0, from - of_files, to);
	else if (from >= border)
		record_put(READ, 0, from - border, to);
	else
		record_put(COPY, 0, from, to);
}

/* --- address spaces --- */

static void switch_space(uint32_t cr3)
{
	uint16_t *space = &space_of[cr3 / PAGE_SIZE];

	if (!*space) {
		if (nr_spaces == MAX_SPACES - 1)
			fail_of_guest("more than %d address spaces", MAX_SPACES - 2);
		*space = nr_spaces++;
		record_put_of(*space, BIRTH, 0, 0, 0);
	}
	record_space = *space;
	record_put(SWITCH, 0, 0, 0);
}

/* At pgd_destroy(pgd). */
static void on_death(unsigned int cpu, void *data)
{
	uint32_t frame = physical_page(read_register(EAX));

	(void)cpu;
	(void)data;
	if (space_of[frame])
		record_put_of(space_of[frame], EXIT, 0, 0, 0);
	space_of[frame] = 0;
}

/* At signal_send(task, number): records a SIGKILL that a function of the region KILLERS sends. */
static void on_signal(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (read_register(EDX) == SIGKILL &&
	    region_contains(KILLERS, read_word(read_register(ESP))))
		record_put(KILLED, 0, 0, 0);
}

/* At tlb_flush_page and tlb_flush_all. */
static void on_flush(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (tables && region_contains(TEXT, read_word(read_register(ESP))))
		record_put(FLUSH, 0, 0, 0);
}

/* At block_end(disk, error). The disks are variables of the kernel; another one is a copy of the student's code. */
static void on_request_end(unsigned int cpu, void *data)
{
	uint32_t disk;

	(void)cpu;
	(void)data;
	if (!requests)
		return;
	disk = read_register(EAX);
	if (region_contains(IMAGE, disk) && !region_contains(OWN, disk))
		record_put(ENDED, 0, 0, 0);
}

/* --- blocks that QEMU translates --- */

/* The timer takes every program to the kernel, so it suffices to check here. */
static void on_kernel_block(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	record_check_budget();
}

static void translate_kernel(struct qemu_plugin_insn *insn, uint64_t pc)
{
	exec_callback *called = pc == copy || pc == sectors           ? on_copy
				: pc == clear                         ? on_clear
				: pc == death                         ? on_death
				: pc == signals                       ? on_signal
				: pc == flush_page || pc == flush_all ? on_flush
				: pc == request_end                   ? on_request_end
								      : NULL;

	if (called)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, called, CB_R_REGS,
						       pc == sectors ? &sectors : NULL);
	disk_translate(insn, pc);
	breach_translate(insn, pc);
	rights_translate(insn, pc);
	flow_translate(insn, pc);
	count_insn(insn, KERNEL);
}

static void translate_user(struct qemu_plugin_insn *insn)
{
	if (references)
		qemu_plugin_register_vcpu_mem_cb(insn, on_reference, CB_NO_REGS, MEM_RW, NULL);
}

static void translate(struct qemu_plugin_tb *tb)
{
	size_t nr = qemu_plugin_tb_n_insns(tb);

	if (qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0)) >= KERNEL_BASE) {
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_kernel_block, CB_NO_REGS, NULL);
		flow_translate_block(tb);
	} else if (current_cr3) {
		count_block(tb, USER);
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
	static const struct number numbers[] = {
		{ "files", &files },
		{ "sectors", &sectors },
		{ "directory", &directory },
		{ "copy", &copy },
		{ "clear", &clear },
		{ "death", &death },
		{ "signal", &signals },
		{ "refs", &references },
		{ "tables", &tables },
		{ "flush_page", &flush_page },
		{ "flush_all", &flush_all },
		{ "requests", &requests },
		{ "request_end", &request_end },
	};

	return NUMBER_OPTION(numbers, name, value) || record_option(name, value) ||
	       disk_option(name, value) || region_option(name, value) ||
	       breach_option(name, value) || rights_option(name, value) || flow_option(name, value);
}

static void start(void)
{
	if (!region_border() || !directory || !copy || !clear || !death)
		fail("mode=evidence needs store=, directory=, copy=, clear= and death=");
	if (!cpu_memory_rw_debug || !qemu_clock_get_ns)
		fail("this QEMU does not export cpu_memory_rw_debug and qemu_clock_get_ns; one "
		     "built with --enable-modules does");
	region_start();
	breach_start();
	record_start();
	disk_start();
}

static void finish(void)
{
	record_end(qemu_clock_get_ns(CLOCK_VIRTUAL));
	disk_end();
}

const struct mode evidence_mode = {
	.name = "evidence",
	.option = option,
	.start = start,
	.translate = translate,
	.switch_space = switch_space,
	.finish = finish,
};
