/*
 * tidemark: a QEMU plugin that watches a Tidemark guest from outside.
 *
 *   -plugin tidemark.so,mode=trace,out=FILE,...      every reference of every program: trace.c
 *   -plugin tidemark.so,mode=profile,out=FILE,...    instructions by kernel function: profile.c
 *   -plugin tidemark.so,mode=evidence,out=FILE,...   pages, and a student's code: evidence.c
 *   -plugin tidemark.so,mode=count,out=FILE          instructions between marks: count.c
 *   -plugin tidemark.so,mode=cover,out=FILE          kernel instructions executed: cover.c
 *   -plugin tidemark.so,mode=place,status=FILE,...   stops the machine at a place: place.c
 *   -plugin tidemark.so,mode=past,out=FILE,...       what happened before a place: past.c
 *   -plugin tidemark.so,mode=frames,out=FILE,...     owner of each frame of memory: frames.c
 *
 * The guest cannot notice the plugin. In an exact run its clock counts instructions, and the plugin
 * adds none: telemetry and console output are byte for byte the same with and without it.
 *
 * This file has what the modes share: options, and the current address space, which changes when the
 * kernel executes mov to cr3; the operand is read from the register that the instruction names. Before
 * the first such instruction in the kernel's half of the address space there are no programs, only
 * the BIOS and the boot code, whose addresses look like a program's.
 */
#include "plugin.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

uint32_t current_cr3;

static const struct mode *mode;

static void say(const char *fmt, va_list args)
{
	fflush(stdout);
	fputs("tidemark plugin: ", stderr);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
}

void fail(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(fmt, args);
	va_end(args);
	_exit(PLUGIN_FAILED);
}

void fail_of_guest(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(fmt, args);
	va_end(args);
	_exit(PLUGIN_GUESTS_FAULT);
}

/*
 * A file is written as NAME.partial, and renamed to NAME when it is complete. Only a regular file is
 * replaced in this way. Anything else (a device, a FIFO, a link) stays and is written to directly.
 */
static void partial_name(char *partial, size_t size, const char *name)
{
	struct stat there;
	bool replaced = lstat(name, &there) || S_ISREG(there.st_mode);

	snprintf(partial, size, "%s%s", name, replaced ? ".partial" : "");
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
	if (fclose(file) || bad || (strcmp(partial, name) && rename(partial, name)))
		fail("%s cannot be written: %s", name, strerror(errno));
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

static void on_translate(struct qemu_plugin_tb *tb)
{
	size_t nr = qemu_plugin_tb_n_insns(tb);

	for (size_t i = 0; i < nr; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (qemu_plugin_insn_vaddr(insn) >= KERNEL_BASE)
			watch_cr3(insn);
	}
	mode->translate(tb);
}

bool number_option(const struct number *numbers, size_t nr, const char *name, const char *value)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(name, numbers[i].name)) {
			*numbers[i].to = strtoull(value, NULL, 0);
			return true;
		}
	return false;
}

bool pcs_option(struct pcs *pcs, const char *value)
{
	for (; pcs->nr < MAX_PCS; value++) {
		char *end;

		pcs->at[pcs->nr++] = strtoull(value, &end, 0);
		value = end;
		if (*value != ':')
			return !*value;
	}
	return false;
}

bool is_among(const struct pcs *pcs, uint64_t pc)
{
	for (size_t i = 0; i < pcs->nr; i++)
		if (pcs->at[i] == pc)
			return true;
	return false;
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
	api_init();
	mode->start();
	api_register(id, on_translate, mode->finish);
	return 0;
}
