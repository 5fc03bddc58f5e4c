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
 *   -plugin tidemark.so,mode=alloc,out=FILE,...      the kernel's allocations and frees: alloc.c
 *   -plugin tidemark.so,mode=holds,out=FILE,...      calls of some functions, as a lock's holders: holds.c
 *   -plugin tidemark.so,mode=events,out=FILE,...     switches, faults, requests, evictions: events.c
 *
 * The guest cannot notice the plugin. In an exact run its clock counts instructions, and the plugin
 * adds none: telemetry and console output are byte for byte the same with and without it.
 *
 * This file chooses the mode and gives it the options. The modes share output.c, options.c, space.c
 * (the current address space) and api.c (the differences between QEMU's versions).
 */
#include "plugin.h"

#include <stdio.h>
#include <string.h>

static const struct mode *mode;

static void on_translate(struct qemu_plugin_tb *tb)
{
	size_t nr = qemu_plugin_tb_n_insns(tb);

	for (size_t i = 0; i < nr; i++)
		space_watch(qemu_plugin_tb_get_insn(tb, i));
	mode->translate(tb);
}

static bool set_option(const char *name, const char *value)
{
	static const struct mode *const modes[] = { &trace_mode, &profile_mode, &evidence_mode,
						    &count_mode, &cover_mode,   &place_mode,
						    &past_mode,  &frames_mode,  &alloc_mode,
						    &holds_mode, &events_mode };

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
		fail("mode= is missing: trace, profile, evidence, count, cover, place, past, frames, alloc, "
		     "holds or events");
	api_init();
	space_switches = mode->switch_space;
	mode->start();
	api_register(id, on_translate, mode->finish);
	return 0;
}
