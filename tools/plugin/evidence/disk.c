/*
 * mode=evidence, the disk for files: what the kernel writes to it, byte for byte, and in which order.
 *
 * Writes and flushes are requests, and the kernel calls one function before it serves each of them. What
 * follows until the next request belongs to it: a write of some sectors, or nothing, if it is a flush. So
 * what is on the medium after a power cut at any request can be computed outside (tidemark.grade.judge.media).
 *
 * FILE has, for each record FILE_WRITE, the first byte on the disk and the number of bytes, both
 * 32 bits, little endian, and then the bytes.
 *
 * Options: writes=FILE; request=: address of the kernel's powercut_before.
 */
#include "evidence.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *out_name;
static FILE *out;
static uint64_t request;

static void put(const void *bytes, size_t size)
{
	if (fwrite(bytes, size, 1, out) != 1)
		fail("%s cannot be written: %s", out_name, strerror(errno));
}

void disk_written(uint32_t to, uint32_t from, uint32_t size)
{
	const uint32_t header[] = { to, size };
	uint8_t bytes[PAGE_SIZE];

	if (!out)
		return;
	if (size > PAGE_SIZE)
		fail_of_guest("the kernel writes %u bytes of a page to a disk", size);
	read_memory(from, bytes, size);
	put(header, sizeof(header));
	put(bytes, size);
}

/* At powercut_before(request). */
static void on_request(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	record_put(REQUEST, 0, 0, 0);
}

void disk_translate(struct qemu_plugin_insn *insn, uint64_t pc)
{
	if (out && pc == request)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_request, CB_NO_REGS, NULL);
}

bool disk_option(const char *name, const char *value)
{
	static const struct number numbers[] = { { "request", &request } };

	if (strcmp(name, "writes"))
		return NUMBER_OPTION(numbers, name, value);
	out_name = value;
	return true;
}

void disk_start(void)
{
	if (!out_name)
		return;
	if (!request)
		fail("writes= needs request=");
	out = fopen(out_name, "wb");
	if (!out)
		fail("%s cannot be written: %s", out_name, strerror(errno));
}

void disk_end(void)
{
	if (out && fclose(out))
		fail("%s cannot be written: %s", out_name, strerror(errno));
}
