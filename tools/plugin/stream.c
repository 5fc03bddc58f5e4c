/*
 * The stream of mode=trace: how references are written.
 *
 * It consists of 32-bit words, little endian. A word below KERNEL_BASE is a load or a store:
 *
 *   page << 12 | store << 11 | fetches        first this number of fetches (0 to 2047) of the current code
 *                                             page, the last by the instruction that loads or
 *                                             stores; then the reference to this page
 *
 * and other words are 3 << 30 | tag << 26 | value:
 *
 *   BEGIN   version    the first word
 *   CODE    page       from here on, fetches are from this page
 *   FETCHES n          n fetches
 *   TAIL    page       the instruction fetched last reaches into this page
 *   SPACE   cr3 >> 12  from here on, everything is in the address space of this page directory
 *   BIRTH   0          the kernel writes an "mm" event into its telemetry
 *   DEATH   cr3 >> 12  this page directory is freed; the next one there is another address space
 *   END     n          the last word: n (modulo 2^26) words come before it
 *   SPACES  cr3 >> 12  the policy is told of a new address space
 *   OF      cr3 >> 12  the address space of the next word
 *   CAME    page       the policy receives a page: new << 24 | how << 20 | page; new: it was
 *                      not read from disk, how: enum vm_in
 *   LOCKED  page       mlock takes this page from the policy
 *   FROM    page       first page of the range that the next word ends
 *   FREED   page       the process no longer has anything in the range, which ends before this page
 *
 *   STORE   store      the file of the next word
 *   FILE    what << 20 | number   INDEX: the page of the file that the next word is about. PAGE: a page
 *                      of the current space maps that page from here on; NONE: a page no longer maps
 *                      a page of a file, as in the beginning. READ, WRITE: a system call for the
 *                      current space has read or written a page of the file. CAME: the policy
 *                      receives a page, for the current space; the number is dirty << 3 | how. GONE:
 *                      the pages from that of INDEX to this one are no longer in memory, nor is
 *                      anything known of them
 *
 * A stream without END was cut off. If the stream cannot be written, QEMU ends at once with status
 * PLUGIN_FAILED, because a trace with a gap is useless.
 */
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { STREAM_VERSION = 4, NR_WORDS = 1 << 16 };
#define VALUE_BITS 26
#define MAX_VALUE ((1u << VALUE_BITS) - 1)
#define STORE (1u << 11)
#define MAX_FETCHES (STORE - 1)

static int out = -1;
static const char *out_name;

static uint32_t words[NR_WORDS];
static size_t nr_words;
static uint64_t nr_flushed;
static uint64_t settled; /* the part of counters[0], instructions begun, that is in the stream */

static void flush(void)
{
	const char *from = (const char *)words;
	size_t left = nr_words * sizeof(words[0]);

	while (left) {
		ssize_t n = write(out, from, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			fail("the trace is lost, %s cannot be written: %s", out_name,
			     strerror(errno));
		from += n;
		left -= n;
	}
	nr_flushed += nr_words;
	nr_words = 0;
}

static inline void put(uint32_t word)
{
	words[nr_words++] = word;
	if (nr_words == NR_WORDS)
		flush();
}

void stream_put(uint32_t tag, uint32_t value)
{
	put(3u << 30 | tag << VALUE_BITS | value);
}

static void put_fetches(uint64_t n)
{
	for (; n > MAX_VALUE; n -= MAX_VALUE)
		stream_put(TAG_FETCHES, MAX_VALUE);
	if (n)
		stream_put(TAG_FETCHES, n);
}

void stream_settle(void)
{
	put_fetches(counters[0] - settled);
	settled = counters[0];
}

void stream_access(uint32_t page, bool stores)
{
	uint64_t fetches = counters[0] - settled;

	settled = counters[0];
	if (__builtin_expect(fetches > MAX_FETCHES, 0)) {
		put_fetches(fetches);
		fetches = 0;
	}
	put(page | (stores ? STORE : 0) | fetches);
}

void stream_tail(uint32_t page)
{
	put_fetches(counters[0] - settled + 1);
	settled = counters[0] + 1;
	stream_put(TAG_TAIL, page);
}

void stream_open(const char *name)
{
	out_name = name;
	out = open(out_name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (out < 0)
		fail("%s cannot be written: %s", out_name, strerror(errno));
	stream_put(TAG_BEGIN, STREAM_VERSION);
}

void stream_close(void)
{
	stream_settle();
	stream_put(TAG_END, (nr_flushed + nr_words) & MAX_VALUE);
	flush();
	if (close(out))
		fail("the trace is lost, %s cannot be written: %s", out_name, strerror(errno));
}
