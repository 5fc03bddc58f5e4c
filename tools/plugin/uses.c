/*
 * The first use of each frame by programs after a moment.
 *
 * A use is a load, a store or an instruction fetch at an address below KERNEL_BASE, by the program itself or
 * (loads and stores) by the kernel on its behalf; and read(2) and write(2) of a page of a file, where the
 * kernel notes it (cache_note_io). One bit for each frame says whether it was used already.
 *
 * The frame of instructions is found while they are translated: QEMU gives their address in its own memory, and
 * the address of the kernel's code, which lies at a fixed place in the guest, tells where guest memory begins
 * there.
 */
#include "uses.h"

enum { NR_FRAMES = 1 << 20, PAGE_BYTES = 64, LONGEST_ACCESS = 64 };

void (*uses_found)(uint32_t frame, uint32_t page, int begun);

static uint64_t note_io;
static uint32_t mem_map;
static bool begun_to_watch;
static uint8_t used[NR_FRAMES];
static const uint8_t *ram;

void uses_begin(uint32_t pages)
{
	mem_map = pages;
	begun_to_watch = true;
}

void uses_forget(uint32_t frame)
{
	used[frame] = 0;
}

static void use(uint64_t frame, uint32_t page, int begun)
{
	if (frame >= NR_FRAMES || used[frame])
		return;
	used[frame] = 1;
	uses_found(frame, page, begun);
}

static void use_address(uint32_t info, uint32_t address)
{
	struct qemu_plugin_hwaddr *at = qemu_plugin_get_hwaddr(info, address);

	if (at && !qemu_plugin_hwaddr_is_io(at))
		use(qemu_plugin_hwaddr_phys_addr(at) / PAGE_SIZE, address / PAGE_SIZE, 1);
}

static void on_access(unsigned int cpu, uint32_t info, uint64_t address, void *data)
{
	uint32_t last = address + (1u << qemu_plugin_mem_size_shift(info)) - 1;

	(void)cpu, (void)data;
	if (!begun_to_watch || address >= KERNEL_BASE || !current_cr3)
		return;
	use_address(info, address);
	if (address / PAGE_SIZE != last / PAGE_SIZE && last < KERNEL_BASE)
		use_address(info, last);
}

/* Encodes the page of instructions, and the frame that held them when they were translated. They cannot have
 * moved since: a write to that frame has them translated again. */
static void *code_place(uint32_t page, uint64_t frame)
{
	return (void *)(uintptr_t)(frame << 20 | page);
}

static void on_code(unsigned int cpu, void *place)
{
	(void)cpu;
	if (begun_to_watch)
		use((uintptr_t)place >> 20, (uintptr_t)place % (1 << 20), 0);
}

/* cache_note_io(page) */
static void on_note_io(unsigned int cpu, void *data)
{
	(void)cpu, (void)data;
	if (begun_to_watch)
		use((read_register(EAX) - mem_map) / PAGE_BYTES, 0, 0);
}

static void watch_code(struct qemu_plugin_insn *insn, uint32_t page)
{
	const uint8_t *at = qemu_plugin_insn_haddr(insn);

	if (ram && at >= ram)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_code, CB_NO_REGS,
						       code_place(page, (at - ram) / PAGE_SIZE));
}

void uses_watch(struct qemu_plugin_tb *tb)
{
	uint32_t page = ~0u;

	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t pc = qemu_plugin_insn_vaddr(insn);

		if (pc >= KERNEL_BASE && qemu_plugin_insn_haddr(insn))
			ram = (const uint8_t *)qemu_plugin_insn_haddr(insn) - (pc - KERNEL_BASE);
		if (pc == note_io)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_note_io, CB_R_REGS, NULL);
		if (pc < KERNEL_BASE && current_cr3 && pc / PAGE_SIZE != page) {
			page = pc / PAGE_SIZE;
			watch_code(insn, page);
		}
		qemu_plugin_register_vcpu_mem_cb(insn, on_access, CB_NO_REGS, MEM_RW, NULL);
	}
}

bool uses_option(const char *name, const char *value)
{
	static const struct number numbers[] = { { "note_io", &note_io } };

	return NUMBER_OPTION(numbers, name, value);
}
