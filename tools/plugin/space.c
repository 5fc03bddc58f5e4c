/*
 * The current address space. It changes when the kernel executes mov to cr3; the operand is read from
 * the register that the instruction names.
 *
 * Before the first such instruction in the kernel's half of the address space there are no programs,
 * only the BIOS and the boot code, whose addresses look like a program's.
 */
#include "plugin.h"

uint32_t current_cr3;
void (*space_switches)(uint32_t cr3);

static void on_mov_to_cr3(unsigned int cpu, void *number)
{
	uint32_t cr3 = read_register((intptr_t)number) & ~(PAGE_SIZE - 1);

	(void)cpu;
	if (cr3 == current_cr3)
		return;
	if (space_switches)
		space_switches(cr3);
	current_cr3 = cr3;
}

/* 0F 22 /3: mov cr3, register. */
void space_watch(struct qemu_plugin_insn *insn)
{
	const uint8_t *bytes = qemu_plugin_insn_haddr(insn);

	if (qemu_plugin_insn_vaddr(insn) >= KERNEL_BASE && qemu_plugin_insn_size(insn) == 3 &&
	    bytes && bytes[0] == 0x0F && bytes[1] == 0x22 && (bytes[2] & 0xF8) == 0xD8)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mov_to_cr3, CB_R_REGS,
						       (void *)(intptr_t)(bytes[2] & 7));
}
