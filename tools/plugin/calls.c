/* Callbacks where functions of the kernel begin and return. A return is a ret among the instructions of the
 * function: a function that ends by jumping to another one returns there. */
#include "calls.h"
#include "symbols.h"

#include <string.h>

static const struct call *call_of[MAX_FUNCTIONS];

bool calls_is_of(const char *name, const char *function)
{
	size_t length = strcspn(name, ".");

	return strlen(function) == length && !strncmp(name, function, length);
}

void calls_find(const struct call *calls, size_t nr, const char *symbols_name)
{
	symbols_read(symbols_name);
	for (size_t i = 0; i < nr; i++) {
		bool found = false;

		for (size_t f = 0; f < symbols_count(); f++)
			if (calls_is_of(symbol_name(f), calls[i].name)) {
				call_of[f] = &calls[i];
				found = true;
			}
		if (!found)
			fail("%s has no %s: it is of another kernel", symbols_name, calls[i].name);
	}
}

static bool is_return(struct qemu_plugin_insn *insn)
{
	const uint8_t *bytes = qemu_plugin_insn_haddr(insn);

	return bytes && qemu_plugin_insn_size(insn) == 1 && *bytes == 0xC3;
}

void calls_watch(struct qemu_plugin_insn *insn)
{
	uint64_t pc = qemu_plugin_insn_vaddr(insn);
	size_t function = symbol_of(pc);
	const struct call *call = pc < KERNEL_BASE ? NULL : call_of[function];
	exec_callback *called = !call                         ? NULL
				: symbol_begins(function, pc) ? call->begins
				: is_return(insn)             ? call->returns
							      : NULL;

	if (called)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, called, CB_R_REGS, (void *)call->name);
}
