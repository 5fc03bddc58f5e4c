/*
 * mode=evidence, the record: the file to which everything that was observed is written, in order.
 *
 * FILE is an array of struct record, little endian. A file without END was cut off. Each record has
 * the address space in use (0: none yet, then numbered in order of appearance; page directories are
 * reused, so a freed one becomes a new space), and the number of instructions begun: of programs
 * alone, and of programs and kernel. Those of programs count by blocks (count_block).
 *
 *	REF, STORE   a: virtual page, b: frame
 *	READ, WRITE  a: block of the store, b: frame
 *	ZERO         b: frame
 *	COPY         a: from this frame, b: to this frame
 *	SWITCH       to this record's space
 *	BIRTH, EXIT  of this record's space
 *	BREACH       rule: the rule; a: address of the instruction, b: address that it accessed. For
 *	             RULE_OF_SEAM, b is the address of the rule's name
 *	BUDGET       more instructions than budget=, more than MAX_RECORDS records, or no program within MOST_BEFORE
 *	             instructions; QEMU is about to end with PLUGIN_OVER_BUDGET
 *	FILE_READ, FILE_WRITE  a: page of the disk for files, b: frame
 *	KILLED       kernel code in killers= sends SIGKILL: out of memory, a program is killed
 *	TABLES       a: with tables=1, the number of page tables in the program's half of the page directory;
 *	             comes before the first reference with a number that is new for the space
 *	FLUSH        with tables=1: the student's code calls flush_page= or flush_all=, which flush the TLB
 *	REQUEST      with writes=: the kernel begins to serve a write or a flush of the disk for files
 *	ENDED        with requests=1: a disk that takes time has ended a request, whose copies come before
 *	END          a, b: low and high half of QEMU's virtual time in ns, 0 after BUDGET (it cannot be
 *	             read between two instructions)
 *
 * Options: out=FILE; budget=N instructions.
 */
#include "evidence.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_BREACHES = 64, MAX_RECORDS = 1 << 24 };
enum { MOST_BEFORE = 100000000 }; /* instructions until a program runs, which takes 3 million */

struct record {
	uint8_t kind, rule;
	uint16_t space;
	uint32_t a, b;
	uint64_t user, all;
} __attribute__((packed));

static const char *out_name;
static FILE *out;
static uint64_t nr_records, budget = ~0ull;
static struct {
	uint32_t pc;
	enum rule rule;
} breaches[MAX_BREACHES];
static size_t nr_breaches;

uint16_t record_space;
struct run record_run = { .page = NO_PAGE };

static uint64_t nr_instructions(void)
{
	return counters[USER] + counters[KERNEL];
}

void record_put_of(uint16_t space, enum kind kind, uint8_t rule, uint32_t a, uint32_t b)
{
	struct record record = { kind, rule, space, a, b, counters[USER], nr_instructions() };

	record_run.page = NO_PAGE;
	nr_records++;
	if (fwrite(&record, sizeof(record), 1, out) != 1)
		fail("%s cannot be written: %s", out_name, strerror(errno));
}

void record_put(enum kind kind, uint8_t rule, uint32_t a, uint32_t b)
{
	record_put_of(record_space, kind, rule, a, b);
}

void record_breach(enum rule rule, uint32_t pc, uint32_t address)
{
	for (size_t i = 0; i < nr_breaches; i++)
		if (breaches[i].pc == pc && breaches[i].rule == rule)
			return;
	if (nr_breaches == MAX_BREACHES)
		return;
	breaches[nr_breaches].pc = pc;
	breaches[nr_breaches++].rule = rule;
	record_put(BREACH, rule, pc, address);
}

void record_end(uint64_t virtual_ns)
{
	record_put(END, 0, virtual_ns, virtual_ns >> 32);
	if (fclose(out))
		fail("%s cannot be written: %s", out_name, strerror(errno));
}

void record_check_budget(void)
{
	uint64_t most = counters[USER] || budget < MOST_BEFORE ? budget : MOST_BEFORE;

	if (nr_instructions() <= most && nr_records <= MAX_RECORDS)
		return;
	record_put(BUDGET, 0, 0, 0);
	record_end(0);
	_exit(PLUGIN_OVER_BUDGET);
}

bool record_option(const char *name, const char *value)
{
	static const struct number numbers[] = { { "budget", &budget } };

	if (strcmp(name, "out"))
		return NUMBER_OPTION(numbers, name, value);
	out_name = value;
	return true;
}

void record_start(void)
{
	if (!out_name)
		fail("mode=evidence needs out=");
	out = fopen(out_name, "wb");
	if (!out)
		fail("%s cannot be written: %s", out_name, strerror(errno));
	counters_init(NR_COUNTERS);
}
