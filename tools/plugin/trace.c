/*
 * mode=trace: every reference of every program to a page, in order, as a stream.
 *
 * A reference is an instruction fetch, a load or a store at an address below KERNEL_BASE, by the
 * program itself or (loads and stores) by the kernel on its behalf: copies from and to user memory. An
 * access that crosses a page boundary refers to both pages. An instruction that faults has been
 * fetched, may have loaded something, and does both again when it is repeated. The access that faulted
 * has not happened.
 *
 * Cost decides the design. Translated code counts instructions without a call. The plugin is called
 * once per block of code, to compare the page with the previous one, and once per load or store, to
 * write one word: the page, whether the access is a store, and the number of instructions begun since
 * the last word. So fetches add no cost of their own, and a reference costs four bytes.
 *
 * stream.c describes the words of the stream. The six from SPACES to FREED record what a policy knows of
 * its anonymous pages, which is more than `tidemark trace` needs. They come with the options mm_init=,
 * remove=, pin= and zap=, addresses of the kernel's policy_call_mm_init, policy_call_remove, page_pin
 * and zap_range.
 *
 * The n-th BIRTH is the n-th "mm" event, which has the name; the reader combines them.
 *
 * Options: out=FILE, which may be a pipe; birth=, death=, insert=: addresses of the kernel's functions
 * telemetry_mm, pgd_destroy and policy_call_insert; those of files.c; kinds=data: fetches are counted,
 * but pages of code are not recorded (no CODE and TAIL).
 */
#include "files.h"
#include "stream.h"

#include <string.h>

enum { PAGE_INDEX = 24, PAGE_OWNER = 32, MM_PGD = 0 }; /* offsets: mm/page.h, mm/mm.h */
enum { OUT_PINNED = 1 }; /* enum vm_out */
#define LONGEST_ACCESS 64 /* bytes; QEMU splits longer accesses */

static const char *out_name;
static uint64_t birth, death, mm_init, insert, remove_page, pin, zap;
static bool data_only;
static uint32_t code_page = ~0u;

static void put_file(uint32_t what, uint32_t number)
{
	stream_put(TAG_FILE, what << HOW_SHIFT | number);
}

/* Called when a program is about to refer to one of its pages, which is in this frame: writes which
 * page of a file it is, if that has changed. */
static void say_what_it_shows(uint32_t page, uint64_t frame)
{
	file_page now = files_in_frame(frame), *said = files_said(page);

	if (now == *said)
		return;
	*said = now;
	stream_settle();
	if (now) {
		stream_put(TAG_STORE, now >> HOW_SHIFT);
		put_file(FILE_INDEX, now & VPN);
	}
	put_file(now ? FILE_PAGE : FILE_NONE, page);
}

static uint64_t frame_of_access(uint32_t info, uint32_t address)
{
	struct qemu_plugin_hwaddr *at = qemu_plugin_get_hwaddr(info, address);

	return at && !qemu_plugin_hwaddr_is_io(at) ? qemu_plugin_hwaddr_phys_addr(at) / PAGE_SIZE
						   : 0;
}

static void on_file_used(file_page page, bool written)
{
	stream_settle();
	stream_put(TAG_STORE, page >> HOW_SHIFT);
	put_file(written ? FILE_WRITE : FILE_READ, page & VPN);
}

static void on_file_came(file_page page, uint32_t how, bool dirty)
{
	stream_settle();
	stream_put(TAG_STORE, page >> HOW_SHIFT);
	put_file(FILE_CAME, dirty << 3 | how);
}

static void on_file_gone(file_page first, uint32_t last)
{
	stream_settle();
	stream_put(TAG_STORE, first >> HOW_SHIFT);
	put_file(FILE_INDEX, first & VPN);
	put_file(FILE_GONE, last);
}

static void put_access(uint32_t info, uint32_t address, bool stores)
{
	uint32_t offset = address % PAGE_SIZE, page = address - offset;
	bool crosses = __builtin_expect(offset > PAGE_SIZE - LONGEST_ACCESS, 0) &&
		       offset + (1u << qemu_plugin_mem_size_shift(info)) > PAGE_SIZE &&
		       page + PAGE_SIZE < KERNEL_BASE;

	if (files_any) {
		say_what_it_shows(page / PAGE_SIZE, frame_of_access(info, address));
		if (crosses)
			say_what_it_shows(page / PAGE_SIZE + 1,
					  frame_of_access(info, page + PAGE_SIZE));
	}
	stream_access(page, stores);
	if (crosses)
		stream_access(page + PAGE_SIZE, stores);
}

/*
 * For loads and stores alike, because QEMU 7 confuses callbacks for one of them. A program's
 * instruction can refer to the kernel's half too: loading a segment register does.
 */
static void on_access(unsigned int cpu, uint32_t info, uint64_t address, void *data)
{
	(void)cpu;
	(void)data;
	if (address < KERNEL_BASE && current_cr3)
		put_access(info, address, qemu_plugin_mem_is_store(info));
}

/* Encodes the page of instructions, and the frame that held them when they were translated. They
 * cannot have moved since: a write to that frame has them translated again. */
static void *code_place(uint32_t page, uint64_t frame)
{
	return (void *)(uintptr_t)(frame << HOW_SHIFT | page);
}

static void on_code_page(unsigned int cpu, void *place)
{
	uint32_t page = (uintptr_t)place & VPN;

	(void)cpu;
	if (files_any)
		say_what_it_shows(page, (uintptr_t)place >> HOW_SHIFT);
	if (page == code_page)
		return;
	stream_settle();
	code_page = page;
	stream_put(TAG_CODE, code_page);
}

/* Called before the instruction is counted. */
static void on_insn_in_two_pages(unsigned int cpu, void *page)
{
	uint32_t second = (uintptr_t)page + 1;

	(void)cpu;
	if (files_any)
		say_what_it_shows(second, files_frame_of_page(second));
	stream_tail(second);
}

static void on_birth(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	stream_settle();
	stream_put(TAG_BIRTH, 0);
}

/* At pgd_destroy(pgd): the kernel passes the first argument in eax, and pgd lies in its direct
 * map. */
static void on_death(unsigned int cpu, void *data)
{
	uint32_t frame = (read_register(EAX) - KERNEL_BASE) / PAGE_SIZE;

	(void)cpu;
	(void)data;
	stream_settle();
	stream_put(TAG_DEATH, frame);
	files_space_gone(frame);
}

static uint32_t cr3_of(uint32_t mm)
{
	return (read_word(mm + MM_PGD) - KERNEL_BASE) / PAGE_SIZE;
}

/* At policy_call_mm_init(mm). */
static void on_mm_init(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	stream_settle();
	stream_put(TAG_SPACES, cr3_of(read_register(EAX)));
}

/* At policy_call_insert(page, mm, how, from). `from` is a struct on the stack, with the store
 * first. */
static void on_insert(unsigned int cpu, void *data)
{
	uint32_t page = read_register(EAX), mm = read_register(EDX), how = read_register(ECX);
	uint32_t from = read_register(ESP) + sizeof(uint32_t), store = read_word(from);

	(void)cpu;
	(void)data;
	files_insert(page, how, store, read_word(from + sizeof(uint32_t)));
	if (!mm || !mm_init || files_is_file(page))
		return;
	stream_settle();
	stream_put(TAG_OF, cr3_of(mm));
	stream_put(TAG_CAME, (store ? 0 : NEW) | how << HOW_SHIFT | read_word(page + PAGE_INDEX));
}

static void put_locked(uint32_t page)
{
	uint32_t mm = read_word(page + PAGE_OWNER);

	if (!mm || files_is_file(page))
		return;
	stream_settle();
	stream_put(TAG_OF, cr3_of(mm));
	stream_put(TAG_LOCKED, read_word(page + PAGE_INDEX));
}

/* At policy_call_remove(page, why). */
static void on_remove(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (read_register(EDX) == OUT_PINNED)
		put_locked(read_register(EAX));
}

/* At page_pin(page), which calls policy_call_remove for a page that the policy has, and may inline
 * it. */
static void on_pin(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	put_locked(read_register(EAX));
}

/* At zap_range(vma, start, end). A vma begins with its mm. */
static void on_zap(unsigned int cpu, void *data)
{
	uint32_t mm = read_word(read_register(EAX));

	(void)cpu;
	(void)data;
	stream_settle();
	stream_put(TAG_OF, cr3_of(mm));
	stream_put(TAG_FROM, read_register(EDX) / PAGE_SIZE);
	stream_put(TAG_FREED, read_register(ECX) / PAGE_SIZE);
}

static void switch_space(uint32_t cr3)
{
	stream_settle();
	stream_put(TAG_SPACE, cr3 / PAGE_SIZE);
}

static void translate_kernel(struct qemu_plugin_insn *insn, uint64_t pc)
{
	exec_callback *called = pc == death         ? on_death
				: pc == mm_init     ? on_mm_init
				: pc == insert      ? on_insert
				: pc == remove_page ? on_remove
				: pc == pin         ? on_pin
				: pc == zap         ? on_zap
						    : files_callback(pc);

	files_frame_of_insn(insn); /* finds where guest memory begins */
	if (pc == birth)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_birth, CB_NO_REGS, NULL);
	if (called)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, called, CB_R_REGS, NULL);
}

static void translate_user(struct qemu_plugin_insn *insn, uint64_t pc, uintptr_t *page)
{
	uint64_t last = pc + qemu_plugin_insn_size(insn) - 1;

	if (!data_only && pc / PAGE_SIZE != *page) {
		*page = pc / PAGE_SIZE;
		qemu_plugin_register_vcpu_insn_exec_cb(
			insn, on_code_page, CB_NO_REGS,
			code_place(*page, files_frame_of_insn(insn)));
	}
	if (!data_only && last / PAGE_SIZE != *page)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_insn_in_two_pages, CB_NO_REGS,
						       (void *)*page);
	count_insn(insn, 0);
}

static void translate(struct qemu_plugin_tb *tb)
{
	size_t nr = qemu_plugin_tb_n_insns(tb);
	uintptr_t page = ~0ul;

	for (size_t i = 0; i < nr; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t pc = qemu_plugin_insn_vaddr(insn);

		if (pc >= KERNEL_BASE)
			translate_kernel(insn, pc);
		else if (current_cr3)
			translate_user(insn, pc, &page);
		qemu_plugin_register_vcpu_mem_cb(insn, on_access, CB_NO_REGS, MEM_RW, NULL);
	}
}

static bool option(const char *name, const char *value)
{
	static const struct number numbers[] = {
		{ "birth", &birth },   { "death", &death },        { "mm_init", &mm_init },
		{ "insert", &insert }, { "remove", &remove_page }, { "zap", &zap },
		{ "pin", &pin },
	};

	if (!strcmp(name, "out"))
		out_name = value;
	else if (!strcmp(name, "kinds") && (!strcmp(value, "all") || !strcmp(value, "data")))
		data_only = value[0] == 'd';
	else
		return NUMBER_OPTION(numbers, name, value) || files_option(name, value);
	return true;
}

static void start(void)
{
	if (!out_name || !birth || !death || !insert)
		fail("mode=trace needs out=, birth=, death= and insert=");
	files_used = on_file_used;
	files_came = on_file_came;
	files_gone = on_file_gone;
	counters_init(1);
	stream_open(out_name);
}

const struct mode trace_mode = {
	.name = "trace",
	.option = option,
	.start = start,
	.translate = translate,
	.switch_space = switch_space,
	.finish = stream_close,
};
