/* Options and references: see vmsim.h. */
#include "vmsim.h"

#include "lib/future.h"
#include "lib/printf.h"
#include "lib/string.h"
#include <unistd.h>

#define USAGE                                                                                      \
	"usage: POLICY [--frames N] [--set NAME=VALUE]... [--future FILE] [--explain]\n"           \
	"       POLICY [--frames N] [--set NAME=VALUE]... --script (script.c)\n"                   \
	"       POLICY [--frames N] [--set NAME=VALUE]... --many (many.c)\n"                       \
	"Runs the policy over the references on standard input: triples of 32-bit numbers,\n"      \
	"page, number of references, and nanoseconds they take. A triple with 0 references\n"      \
	"gives instead of a page the kind of the following references (REF_*). Prints JSON (report.c).\n"

enum { DEFAULT_FRAMES = 3, MAX_FRAMES = 1 << 24, RUNS_AT_ONCE = 1 << 13 };

struct run {
	u32 page, count, ns;
};

static struct run runs[RUNS_AT_ONCE];
static bool scripted, many;

static void __noreturn __printf(1, 2) refuse(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fflush(stdout);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(EXIT_USAGE);
}

static u32 option_number(const char *name, const char *value, u32 min, u32 max)
{
	char *end = NULL;
	u64 n = value && *value >= '0' && *value <= '9' ? strtoull(value, &end, 10) : 0;

	if (!end || *end || n < min || n > max)
		refuse("%s=%s: give a number from %u to %u", name, value ?: "", min, max);
	return n;
}

/* NAME=VALUE, or POLICY.NAME=VALUE as on the kernel's command line. */
static void set_parameter(const char *text)
{
	const struct vm_policy *policy = seam_policy();
	const char *value = text ? strchr(text, '=') : NULL, *name = text;
	size_t prefix = strlen(policy->name);

	if (!value)
		refuse("--set %s: give NAME=VALUE", text ?: "");
	if (!strncmp(name, policy->name, prefix) && name[prefix] == '.')
		name += prefix + 1;
	for (const struct vm_param *p = policy->params; p && p->name; p++)
		if (strlen(p->name) == (size_t)(value - name) &&
		    !strncmp(name, p->name, value - name)) {
			*p->value = option_number(p->name, value + 1, p->min, p->max);
			return;
		}
	refuse("--set %s: policy %s has no such parameter", text, policy->name);
}

static void *read_future(const char *name)
{
	const char *wrong;

	FILE *file = name ? fopen(name, "rb") : NULL;
	long size = 0;
	char *all;

	if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0)
		refuse("--future %s: %m", name ?: "");
	rewind(file);
	all = malloc(size + 1);
	if (!all || fread(all, 1, size, file) != (size_t)size)
		refuse("--future %s: cannot be read", name);
	fclose(file);
	wrong = future_wrong((void *)all, size);
	if (wrong)
		refuse("--future %s: %s", name, wrong);
	return all;
}

static u32 parse_options(int argc, char **argv)
{
	u32 nr_frames = DEFAULT_FRAMES;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--explain"))
			report_explains = true;
		else if (!strcmp(argv[i], "--script"))
			scripted = true;
		else if (!strcmp(argv[i], "--many"))
			many = true;
		else if (!strcmp(argv[i], "--frames"))
			nr_frames = option_number("frames", argv[++i], 1, MAX_FRAMES);
		else if (!strcmp(argv[i], "--set"))
			set_parameter(argv[++i]);
		else if (!strcmp(argv[i], "--future"))
			sim_future = read_future(argv[++i]);
		else
			refuse("%s", USAGE);
	}
	return nr_frames;
}

/* Appends to the data in the buffer. Returns false at the end of the input. */
static bool fill(size_t *used)
{
	ssize_t n = read(STDIN_FILENO, (char *)runs + *used, sizeof(runs) - *used);

	if (n < 0)
		refuse("standard input: %m");
	*used += n;
	return n > 0;
}

static u32 kind_of(u32 number)
{
	if (number >= REF_KINDS || (number & REF_CALL && !(number & REF_FILE)))
		refuse("kind %u: there is no such kind of reference", number);
	return number;
}

static void run_all(void)
{
	size_t used = 0, whole;
	u32 kind = 0;

	while (fill(&used)) {
		whole = used / sizeof(*runs);
		for (size_t i = 0; i < whole; i++) {
			if (runs[i].count)
				process_run(runs[i].page, runs[i].count, runs[i].ns, kind);
			else
				kind = kind_of(runs[i].page);
		}
		used %= sizeof(*runs);
		memmove(runs, runs + whole, used);
	}
	if (used)
		refuse("standard input ends within a run");
}

int main(int argc, char **argv)
{
	u32 nr_frames;

	if (!seam_policy())
		refuse("the file registers no policy: VM_POLICY(...) is missing");
	nr_frames = parse_options(argc, argv);
	host_watch();
	process_start(nr_frames);
	if (scripted) {
		script_run();
		return 0;
	}
	if (many) {
		many_run();
		return 0;
	}
	run_all();
	process_end();
	report_result();
	return 0;
}
