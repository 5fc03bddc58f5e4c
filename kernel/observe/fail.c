/*
 * Failure injection: fail=read:N,write:N,alloc:N on the command line, or written to /proc/fail.
 *
 * Disk errors and lack of memory are rare, and each takes a path through the kernel that is
 * otherwise unused. Runs are exact: the same command line gives the same events in the same order.
 * So instead of injecting random failures, all can be tried, one per run: N = 1, 2, 3 ... until
 * there is no Nth event any more. And a command that shows an error reproduces it.
 *
 *	read, write   requests to any disk, as they are made: the Nth moves nothing and ends with -EIO
 *	alloc         frames and objects of the slab allocator: the Nth yields NULL. An object that
 *	              needs a new slab is counted before the frames of that slab.
 *	mute          requests of both directions: the Nth gets no answer, so that after 30 s its disk
 *	              is given up (drivers/block.c), like one that was pulled out
 *
 * Each kind fails once, or with N+ from then on, or with N-M up to the Mth. Counting continues, so
 * that the report knows the number of events. Allocations are counted from init's first instruction
 * on: the kernel cannot start without those before. After a write to /proc/fail, counting starts
 * there.
 */
#include "observe/fail.h"

#include "arch/irq.h"
#include "arch/machine.h"
#include "drivers/block.h"
#include "fs/proc.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "lib/seq_file.h"
#include "lib/stages.h"
#include "lib/string.h"
#include "observe/events.h"
#include "sched/current.h"

#define MAX_CALLERS 6u
#define VALID                                                                                      \
	"none, or read:N, write:N, alloc:N, mute:N with commas between them; N+: the Nth and all " \
	"after; N-M: to the Mth"

enum fail_kind { FAIL_READ, FAIL_WRITE, FAIL_ALLOC, FAIL_MUTE, NR_FAIL_KINDS };

static const char *const kind_names[NR_FAIL_KINDS] = { "read", "write", "alloc", "mute" };

static struct failure {
	u32 nth, last; /* first and last failing event; nth 0: none */
	u32 seen; /* irq */
	char comm[TASK_COMM_LEN];
	int pid;
	const char *bdev;
	u32 sector;
	u32 callers[MAX_CALLERS + 1]; /* the first of them is in this file */
} failures[NR_FAIL_KINDS];

static bool started, init_runs;

/* Parses N, N+ or N-M, from 1 on. */
static const char *parse_range(char *text, struct failure *to)
{
	char *plus = strchr(text, '+'), *minus = strchr(text, '-');

	if (minus)
		*minus = '\0';
	else if (plus && !plus[1])
		*plus = '\0';
	if (parse_u32(text, &to->nth) || (minus && parse_u32(minus + 1, &to->last)))
		return "N is not a number";
	if (!to->nth)
		return "N is 0, and events count from 1";
	if (!minus)
		to->last = plus ? ~0u : to->nth;
	return to->last < to->nth ? "M is less than N" : NULL;
}

/* Parses one word, kind:N. */
static const char *parse_word(char *word, struct failure *to)
{
	char *colon = strchr(word, ':');
	u32 kind = 0;

	if (!colon)
		return "a word is not kind:N";
	*colon = '\0';
	while (kind < NR_FAIL_KINDS && strcmp(word, kind_names[kind]))
		kind++;
	if (kind == NR_FAIL_KINDS)
		return "no such kind of event";
	if (to[kind].nth)
		return "a kind of event is there twice";
	return parse_range(colon + 1, &to[kind]);
}

/* Counts an event. Returns true if it fails; sets *first if it is the Nth. */
static bool fails(struct failure *f, bool *first)
{
	if (!f->nth || ++f->seen < f->nth)
		return false;
	*first = f->seen == f->nth;
	if (*first) {
		strlcpy(f->comm, current->comm, sizeof(f->comm));
		f->pid = current->pid;
	}
	return f->seen <= f->last;
}

static bool count_alloc(void)
{
	struct failure *f = &failures[FAIL_ALLOC];

	bool first = false, failed = init_runs && fails(f, &first);

	if (first)
		backtrace_callers(f->callers, MAX_CALLERS + 1);
	return failed;
}

static bool request_fails(u32 kind, const struct block_device *bdev, u32 sector)
{
	struct failure *f = &failures[kind];
	bool first = false, failed = fails(f, &first);

	if (first) {
		f->bdev = bdev->name;
		f->sector = sector;
	}
	return failed;
}

static enum fail_how count_request(const struct block_device *bdev, u32 sector, bool write)
{
	bool failed = request_fails(write ? FAIL_WRITE : FAIL_READ, bdev, sector);

	if (request_fails(FAIL_MUTE, bdev, sector))
		return FAILS_MUTE;
	return failed ? FAILS : FAILS_NOT;
}

static void count_events(bool on)
{
	fail_count_alloc = on ? count_alloc : NULL;
	fail_count_request = on ? count_request : NULL;
}

/* Sets all kinds or, on error, none. "none": no more failures. */
static const char *parse(const char *text)
{
	struct failure new[NR_FAIL_KINDS] = { 0 };
	char copy[80], *word = copy, *comma;
	unsigned long flags;

	if (strlcpy(copy, text, sizeof(copy)) >= sizeof(copy))
		return "too long";
	for (bool none = !strcmp(text, "none"); word && !none; word = comma) {
		const char *err;

		comma = strchr(word, ',');
		if (comma)
			*comma++ = '\0';
		err = parse_word(word, new);
		if (err)
			return err;
	}
	flags = irq_save();
	memcpy(failures, new, sizeof(failures));
	count_events(started && strcmp(text, "none"));
	irq_restore(flags);
	return NULL;
}

static void list(char *buf, size_t size)
{
	strlcpy(buf, VALID, size);
}

static void format_range(const struct failure *f, char *buf, size_t size)
{
	if (f->last == ~0u || f->last == f->nth)
		snprintf(buf, size, "%u%s", f->nth, f->last == f->nth ? "" : "+");
	else
		snprintf(buf, size, "%u-%u", f->nth, f->last);
}

static void show_value(char *buf, size_t size)
{
	char range[24];
	size_t n = 0;

	for (u32 i = 0; i < NR_FAIL_KINDS; i++) {
		if (!failures[i].nth)
			continue;
		format_range(&failures[i], range, sizeof(range));
		n += scnprintf(buf + n, size - n, "%s%s:%s", n ? "," : "", kind_names[i], range);
	}
	if (!n)
		strlcpy(buf, "none", size);
}

PARAM_CALL("fail", parse, list, show_value, "the Nth request or allocation fails");

/* Formats the place: "sda, sector 1234", or the callers, innermost first. */
static void format_place(const struct failure *f, char *buf, size_t size)
{
	char name[64];
	size_t n = 0;

	if (f->bdev) {
		snprintf(buf, size, "%s, sector %u", f->bdev, f->sector);
		return;
	}
	for (u32 i = 1; i <= MAX_CALLERS && f->callers[i]; i++)
		n += scnprintf(buf + n, size - n, "%s%s", i > 1 ? " < " : "",
			       ksym_name(f->callers[i], name, sizeof(name)));
}

static void format_line(u32 kind, char *buf, size_t size)
{
	const struct failure *f = &failures[kind];
	char place[320], range[24];

	if (f->seen < f->nth) {
		snprintf(buf, size, "fail: %s %u never came: %u there were", kind_names[kind],
			 f->nth, f->seen);
		return;
	}
	format_place(f, place, sizeof(place));
	format_range(f, range, sizeof(range));
	snprintf(buf, size, "fail: %s %s of %u failed (%s, by %s, process %d)", kind_names[kind],
		 range, f->seen, place, f->comm, f->pid);
}

static void for_each_line(void (*fn)(const char *line, void *arg), void *arg)
{
	char line[480];

	for (u32 i = 0; i < NR_FAIL_KINDS; i++) {
		if (!failures[i].nth)
			continue;
		format_line(i, line, sizeof(line));
		fn(line, arg);
	}
}

static void print_line(const char *line, void *arg)
{
	(void)arg;
	printk("%s\n", line);
}

void fail_report(void)
{
	for_each_line(print_line, NULL);
}

static void show_line(const char *line, void *arg)
{
	seq_printf(arg, "%s\n", line);
}

static void show(struct seq_file *m)
{
	for_each_line(show_line, m);
}

static int store(char *text)
{
	return param_set("fail", text, NULL, 0);
}

static void panicked(void *what)
{
	(void)what;
	fail_report();
}

static const struct proc_file files[] = { { "fail", show, store }, { 0 } };

PROC_FILES(files);

/* Refuses fail= together with cut=: it would be unclear which of them made a run go wrong. */
static void refuse_with_cut(void)
{
	char cut[16];

	if (param_get("cut", cut, sizeof(cut)) < 0 || !strcmp(cut, "0"))
		return;
	printk("command line: fail= and cut= at once: give one of them\n");
	machine_exit(EXIT_REFUSED);
}

static void fail_init_runs(void)
{
	init_runs = true;
}

AT_STAGE(running, 10, fail_init_runs);

static void fail_start(void)
{
	bool any = false;

	listen_panic(panicked);
	started = true;
	for (u32 i = 0; i < NR_FAIL_KINDS; i++)
		any |= !!failures[i].nth;
	if (any)
		refuse_with_cut();
	count_events(any);
}

AT_STAGE(parts, 60, fail_start);
AT_STAGE(report, 40, fail_report);
