/*
 * nth KIND FIRST LAST PROGRAM [ARGUMENT...]: runs the program again and again, and each time the Nth
 * event of that kind fails (read, write, alloc; read+, write+: and all after it), with N from FIRST until
 * there is no Nth event, or LAST. SLACK: allowed difference in used slots, for pages of init.
 *
 * After each, the program runs once more without failures: the machine must still work. Then the
 * kernel's own check must say ok, and the amounts in use, of every kind, must be the same as before. A
 * program ends with 0 or the errno of the failure. Each N with an error prints a line; the last line counts.
 */
#include "lib.h"
#include <sys/mman.h>

#define HELP "usage: nth [-s SLACK] read[+]|write[+]|alloc FIRST LAST PROGRAM [ARGUMENT...]\n"

enum { WARM_UP = 3, SETTLED_MS = 5 };

/* Pages and objects in use, except those that the machine may keep on purpose. */
struct counts {
	long slots, objects, frames, isolated, writeback;
};

static char text[65536], fail_line[1024];
static char **program;
static int slack, nr_wrong, nr_tried, nr_ended[256];

static bool put(const char *path, const char *what)
{
	int fd = open(path, O_WRONLY);
	bool done = fd >= 0 && write(fd, what, strlen(what)) == (ssize_t)strlen(what);

	if (fd >= 0)
		close(fd);
	return done;
}

/* If the injected failure hits this write, it does so only once. */
static void must_write(const char *path, const char *what)
{
	if (!put(path, what) && !put(path, what))
		die_errno(path);
}

static void must_read(const char *path)
{
	if (read_file(path, text, sizeof(text)) < 0)
		die_errno(path);
}

static long value(const char *key)
{
	return (long)file_value(text, key);
}

/* A child of a killed program may not have ended yet. */
static void wait_for_orphans(void)
{
	static long fewest;

	for (int tries = 0; tries < 1000; tries++) {
		long stacks;

		must_read("/proc/meminfo");
		stacks = value("KernelStack");
		if (!fewest)
			fewest = stacks;
		if (stacks <= fewest)
			break;
		sleep_ms(SETTLED_MS);
	}
}

static struct counts look(void)
{
	struct counts c;

	wait_for_orphans();
	sync();
	must_write("/proc/sys/vm/drop_caches", "3");
	must_read("/proc/meminfo");
	c.frames = value("MemTotal") - value("MemFree") - value("AnonPages") - value("Buffers") -
		   value("Cached") - value("Slab") - value("PageTables") - value("KernelStack") -
		   value("VmallocUsed");
	must_read("/proc/vmstat");
	c.slots = value("nr_swap_free");
	c.objects = value("nr_slab_objects");
	c.isolated = value("nr_isolated");
	c.writeback = value("nr_writeback");
	return c;
}

/*
 * Returns the status like a shell; if the program cannot be started, the errno of that. The child sets
 * the failing event, because then the parent already has its own copies of the pages that it will write to.
 */
static int run(const char *order)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		die_errno("fork");
	if (!pid) {
		sleep_ms(SETTLED_MS);
		if (order)
			must_write("/proc/fail", order);
		execvp(program[0], program);
		_exit(errno);
	}
	waitpid(pid, &status, 0);
	return status_code(status);
}

static void wrong(const char *kind, int n, const char *what, long have, long want)
{
	nr_wrong++;
	printf("nth: %s:%d: %s %ld, expected %ld; %s\n", kind, n, what, have, want, fail_line);
}

static void compare(const char *kind, int n, const struct counts *now, const struct counts *was)
{
	if (labs(now->slots - was->slots) > slack)
		wrong(kind, n, "free slots", now->slots, was->slots);
	if (now->objects != was->objects)
		wrong(kind, n, "objects", now->objects, was->objects);
	if (now->frames != was->frames)
		wrong(kind, n, "frames (KiB)", now->frames, was->frames);
	if (now->isolated || now->writeback)
		wrong(kind, n, "pages in flight", now->isolated + now->writeback, 0);
	must_read("/proc/vm/check");
	if (strcmp(text, "ok\n")) {
		wrong(kind, n, "check", 0, 1);
		printf("%s", text);
	}
}

static bool allowed(const char *kind, int status)
{
	if (!strcmp(kind, "alloc"))
		return !status || status == ENOMEM || status == 128 + SIGKILL;
	if (!strcmp(kind, "write+") && (status == 128 + SIGKILL || status == ENOMEM))
		return true; /* swap that cannot be written counts as no swap */
	return !status || status == EIO || (*kind == 'r' && status == 128 + SIGBUS);
}

/* Runs the program with the Nth event failing. Returns false if there was no Nth event. */
static bool try(const char *kind, int n)
{
	char order[32];
	int status;

	snprintf(order, sizeof(order), "%.*s:%d%s", (int)strcspn(kind, "+"), kind, n,
		 strchr(kind, '+') ? "+" : "");
	status = run(order);
	if (read_file("/proc/fail", text, sizeof(text)) < 0)
		must_read("/proc/fail"); /* this read was the failing event */
	must_write("/proc/fail", "none");
	text[strcspn(text, "\n")] = '\0';
	snprintf(fail_line, sizeof(fail_line), "%.1000s", text);
	snprintf(order, sizeof(order), "process %d)", (int)getpid());
	if (strstr(text, "never came") || strstr(text, order))
		return false;
	nr_tried++;
	nr_ended[status & 255]++;
	if (!allowed(kind, status))
		wrong(kind, n, "status", status, 0);
	status = run(NULL);
	if (status)
		wrong(kind, n, "status of the run after it", status, 0);
	return true;
}

int main(int argc, char **argv)
{
	struct counts before, now;
	int first, last, n;

	help_if_asked(argc, argv, HELP);
	if (argc > 2 && !strcmp(argv[1], "-s")) {
		slack = parse_number(argv[2], "SLACK", 0, 100);
		argc -= 2;
		argv += 2;
	}
	if (argc < 5)
		usage_error(HELP);
	first = parse_number(argv[2], "FIRST", 1, 1000000000);
	last = parse_number(argv[3], "LAST", first, 1000000000);
	program = argv + 4;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		die_errno("mlockall");
	for (n = 0; n < WARM_UP; n++) {
		int status = run(NULL);

		if (status)
			wrong(argv[1], 0, "status", status, 0);
		before = look();
	}
	for (n = first; n <= last && try(argv[1], n); n++) {
		now = look();
		compare(argv[1], n, &now, &before);
		now.slots = before.slots; /* so that allowed differences do not add up */
		before = now;
	}
	printf("R nth kind=%s tried=%d wrong=%d ended:", argv[1], nr_tried, nr_wrong);
	for (n = 0; n < 256; n++)
		if (nr_ended[n])
			printf(" %d=%d", n, nr_ended[n]);
	printf("\n");
	return nr_wrong != 0;
}
