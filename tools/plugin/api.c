/*
 * The differences between the QEMU versions that load the plugin.
 *
 * The plugin has a variable that says for which version of QEMU's plugin API it was built. QEMU 7.2
 * has version 1 and refuses later ones. 9.0 accepts 2 up to its own version, because counters
 * updated without a call are no longer variables but elements of a "scoreboard". 11.1 accepts
 * nothing below 7, where callbacks lost one argument and gained another. QEMU reads the variable
 * after the plugin's constructors have run, so a constructor asks QEMU for its version and sets it.
 *
 * Registers are read by a handle for each name since API 2, and before that by the function that
 * QEMU's own gdb stub calls. Memory: by an API call since API 4, before that as the gdb stub does.
 */
#include "plugin.h"

#include <stdlib.h>
#include <string.h>

#define BUILT_WITH_MODULES                                                                         \
	"; one built with --enable-modules does, as those of Debian and Ubuntu are"

enum { NR_REGISTERS = 8 };

EXPORT int qemu_plugin_version = 1;

uint64_t *counters;

static struct qemu_plugin_scoreboard *scoreboard;
static struct byte_array *bytes;
static void (*translate_block)(struct qemu_plugin_tb *);
static void (*finish_all)(void);

__attribute__((constructor)) static void choose_api(void)
{
	const struct version *now = qmp_query_version ? qmp_query_version(NULL) : NULL;

	if (now && now->qemu->major * 100 + now->qemu->minor >= 1101)
		qemu_plugin_version = 7;
	else if (!qemu_plugin_register_vcpu_insn_exec_inline)
		qemu_plugin_version = 2;
}

void api_init(void)
{
	bytes = g_byte_array_new();
	if (!qemu_get_cpu || (!qemu_plugin_get_registers && !x86_cpu_gdb_read_register))
		fail("this QEMU does not export qemu_get_cpu and x86_cpu_gdb_read_register, "
		     "without which address spaces cannot be told apart" BUILT_WITH_MODULES);
}

static void on_translate(struct qemu_plugin_tb *tb)
{
	if (scoreboard)
		counters = qemu_plugin_scoreboard_find(scoreboard, 0);
	translate_block(tb);
}

static void on_translate_before_7(uint64_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	on_translate(tb);
}

static void on_exit_of_qemu(void)
{
	finish_all();
}

void api_register(uint64_t id, void (*translate)(struct qemu_plugin_tb *), void (*finish)(void))
{
	translate_block = translate;
	finish_all = finish;
	qemu_plugin_register_vcpu_tb_trans_cb(id,
					      qemu_plugin_version < 7
						      ? (void (*)(void))on_translate_before_7
						      : (void (*)(void))on_translate,
					      NULL);
	qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
}

/* QEMU's handle of a register. Handles can only be obtained while the CPU runs. */
static void *handle_of(int number)
{
	static const char *const names[NR_REGISTERS] = { "eax", "ecx", "edx", "ebx",
							 "esp", "ebp", "esi", "edi" };
	static void *handles[NR_REGISTERS];
	struct register_array *all = handles[number] ? NULL : qemu_plugin_get_registers();

	for (unsigned int i = 0; all && i < all->len; i++) {
		const struct register_entry *entry =
			(void *)((char *)all->data + i * g_array_get_element_size(all));

		for (int n = 0; n < NR_REGISTERS; n++)
			if (!strcmp(entry->name, names[n]))
				handles[n] = entry->handle;
	}
	return handles[number];
}

uint32_t read_register(int number)
{
	uint32_t value;

	g_byte_array_set_size(bytes, 0);
	if (qemu_plugin_get_registers)
		qemu_plugin_read_register(handle_of(number), bytes);
	else
		x86_cpu_gdb_read_register(qemu_get_cpu(0), bytes, number);
	if (bytes->len < sizeof(value))
		fail("QEMU does not give the value of a register");
	memcpy(&value, bytes->data, sizeof(value));
	return value;
}

void read_memory(uint32_t address, void *to, size_t size)
{
	bool is_read;

	if (qemu_plugin_read_memory_vaddr) {
		is_read = qemu_plugin_read_memory_vaddr(address, bytes, size);
		memcpy(to, bytes->data, is_read ? size : 0);
	} else {
		if (!cpu_memory_rw_debug)
			fail("this QEMU does not export cpu_memory_rw_debug" BUILT_WITH_MODULES);
		is_read = !cpu_memory_rw_debug(qemu_get_cpu(0), address, to, size, false);
	}
	if (!is_read)
		fail_of_guest("the guest's memory at %#x cannot be read", address);
}

uint32_t read_word(uint32_t address)
{
	uint32_t word;

	read_memory(address, &word, sizeof(word));
	return word;
}

uint64_t read_long(uint32_t address)
{
	uint64_t value;

	read_memory(address, &value, sizeof(value));
	return value;
}

/* Since API 2 these replace the scoreboard's counters until there is a CPU, which may never happen. */
void counters_init(size_t nr)
{
	counters = calloc(nr, sizeof(*counters));
	if (!counters)
		fail("out of memory");
	if (qemu_plugin_version >= 2)
		scoreboard = qemu_plugin_scoreboard_new(nr * sizeof(*counters));
}

void count_insn(struct qemu_plugin_insn *insn, size_t index)
{
	struct scoreboard_entry entry = { scoreboard, index * sizeof(*counters) };

	if (qemu_plugin_version < 2)
		qemu_plugin_register_vcpu_insn_exec_inline(insn, INLINE_ADD_U64, &counters[index],
							   1);
	else
		qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(insn, INLINE_ADD_U64, entry, 1);
}

void count_block(struct qemu_plugin_tb *tb, size_t index)
{
	struct scoreboard_entry entry = { scoreboard, index * sizeof(*counters) };
	size_t nr = qemu_plugin_tb_n_insns(tb);

	if (qemu_plugin_version < 2)
		qemu_plugin_register_vcpu_tb_exec_inline(tb, INLINE_ADD_U64, &counters[index], nr);
	else
		qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, INLINE_ADD_U64, entry, nr);
}
