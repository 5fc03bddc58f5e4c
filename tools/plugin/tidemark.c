/*
 * tidemark: a QEMU plugin that watches a Tidemark guest from outside.
 *
 *   -plugin tidemark.so,mode=trace,out=FILE,...      every reference of every program: trace.c
 *   -plugin tidemark.so,mode=profile,out=FILE,...    instructions by kernel function: profile.c
 *   -plugin tidemark.so,mode=evidence,out=FILE,...   pages, and a student's code: evidence.c
 *   -plugin tidemark.so,mode=count,out=FILE          instructions between marks: count.c
 *   -plugin tidemark.so,mode=cover,out=FILE          what the kernel executed at all: cover.c
 *   -plugin tidemark.so,mode=place,status=FILE,...   stops the machine at a place: place.c
 *   -plugin tidemark.so,mode=past,out=FILE,...       what happened before a place: past.c
 *
 * The guest cannot notice. In an exact run its clock counts instructions, and the plugin adds none:
 * telemetry and console have the same bytes with and without it.
 *
 * This file is what the modes share: options, counters, and which address space is in use. That
 * changes when the kernel executes mov to cr3, whose operand is read from the register it names.
 * Before the first one in the kernel's own half of the address space there are no programs, only
 * the BIOS and the boot code, whose addresses look like a program's.
 */
#include "plugin.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

EXPORT int qemu_plugin_version = 1;

uint64_t *counters;
uint32_t current_cr3;

static struct qemu_plugin_scoreboard *scoreboard;
static struct byte_array *register_bytes;
static const struct mode *mode;

void fail(const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fputs("tidemark plugin: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	_exit(PLUGIN_FAILED);
}

static void partial_name(char *partial, size_t size, const char *name)
{
	snprintf(partial, size, "%s.partial", name);
}

FILE *open_whole(const char *name)
{
	char partial[4096];
	FILE *file;

	partial_name(partial, sizeof(partial), name);
	file = fopen(partial, "w");
	if (!file)
		fail("%s cannot be written: %s", partial, strerror(errno));
	return file;
}

void close_whole(FILE *file, const char *name)
{
	char partial[4096];
	bool bad = ferror(file);

	partial_name(partial, sizeof(partial), name);
	if (fclose(file) || bad || rename(partial, name))
		fail("%s cannot be written: %s", name, strerror(errno));
}

uint32_t read_register(int number)
{
	uint32_t value;

	g_byte_array_set_size(register_bytes, 0);
	if (x86_cpu_gdb_read_register(qemu_get_cpu(0), register_bytes, number) < 4)
		fail("QEMU does not give the value of a register");
	memcpy(&value, register_bytes->data, sizeof(value));
	return value;
}

void read_memory(uint32_t address, void *to, size_t size)
{
	if (!cpu_memory_rw_debug)
		fail("this QEMU does not export cpu_memory_rw_debug; one built with "
		     "--enable-modules does");
	if (cpu_memory_rw_debug(qemu_get_cpu(0), address, to, size, false))
		fail("the guest's memory at %#x cannot be read", address);
}

uint32_t read_word(uint32_t address)
{
	uint32_t word;

	read_memory(address, &word, sizeof(word));
	return word;
}

/* QEMU reads this variable before it calls the plugin. */
__attribute__((constructor)) static void choose_api(void)
{
	if (!qemu_plugin_register_vcpu_insn_exec_inline)
		qemu_plugin_version = 2;
}

/* Under API 2 these stand in for the scoreboard's until there is a CPU, which may never come. */
void counters_init(size_t nr)
{
	counters = calloc(nr, sizeof(*counters));
	if (!counters)
		fail("out of memory");
	if (qemu_plugin_version == 2)
		scoreboard = qemu_plugin_scoreboard_new(nr * sizeof(*counters));
}

void count_insn(struct qemu_plugin_insn *insn, size_t index)
{
	struct scoreboard_entry entry = { scoreboard, index * sizeof(*counters) };

	if (qemu_plugin_version == 1)
		qemu_plugin_register_vcpu_insn_exec_inline(insn, INLINE_ADD_U64, &counters[index],
							   1);
	else
		qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(insn, INLINE_ADD_U64, entry, 1);
}

static void on_mov_to_cr3(unsigned int cpu, void *number)
{
	uint32_t cr3 = read_register((intptr_t)number) & ~(PAGE_SIZE - 1);

	(void)cpu;
	if (cr3 == current_cr3)
		return;
	if (mode->switch_space)
		mode->switch_space(cr3);
	current_cr3 = cr3;
}

/* 0F 22 /3: mov cr3, register. */
static void watch_cr3(struct qemu_plugin_insn *insn)
{
	const uint8_t *bytes = qemu_plugin_insn_haddr(insn);

	if (qemu_plugin_insn_size(insn) == 3 && bytes && bytes[0] == 0x0F && bytes[1] == 0x22 &&
	    (bytes[2] & 0xF8) == 0xD8)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mov_to_cr3, CB_R_REGS,
						       (void *)(intptr_t)(bytes[2] & 7));
}

static void on_translate(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t nr = qemu_plugin_tb_n_insns(tb);

	(void)id;
	if (scoreboard)
		counters = qemu_plugin_scoreboard_find(scoreboard, 0);
	for (size_t i = 0; i < nr; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (qemu_plugin_insn_vaddr(insn) >= KERNEL_BASE)
			watch_cr3(insn);
	}
	mode->translate(tb);
}

static void on_exit_of_qemu(uint64_t id, void *data)
{
	(void)id;
	(void)data;
	mode->finish();
}

static bool set_option(const char *name, const char *value)
{
	static const struct mode *const modes[] = { &trace_mode, &profile_mode, &evidence_mode,
						    &count_mode, &cover_mode,   &place_mode,
						    &past_mode,  &frames_mode };

	if (strcmp(name, "mode"))
		return mode && mode->option(name, value);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(value, modes[i]->name))
			mode = modes[i];
	return mode;
}

static bool set_options(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		char *value = strchr(argv[i], '=');

		if (value)
			*value++ = '\0';
		if (!value || !set_option(argv[i], value)) {
			fprintf(stderr, "tidemark plugin: bad option %s=%s; mode= comes first\n",
				argv[i], value ? value : "");
			return false;
		}
	}
	return true;
}

EXPORT int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	(void)info;
	if (!set_options(argc, argv))
		return 1;
	if (!mode)
		fail("mode= is missing: trace, profile, evidence, count, cover, place, past or frames");
	if (!x86_cpu_gdb_read_register || !qemu_get_cpu)
		fail("this QEMU does not export x86_cpu_gdb_read_register, without which address "
		     "spaces cannot be told apart; one built with --enable-modules does, as those "
		     "of Debian and Ubuntu are");
	register_bytes = g_byte_array_new();
	mode->start();
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
	return 0;
}
