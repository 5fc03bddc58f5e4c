/*
 * What the plugin writes besides its records: the message with which it ends QEMU, and whole files.
 *
 * A file is written as NAME.partial, and renamed to NAME when it is complete. Only a regular file is
 * replaced in this way. Anything else (a device, a FIFO, a link) stays and is written to directly.
 */
#include "plugin.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
