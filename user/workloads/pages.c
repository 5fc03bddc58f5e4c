/*
 * pages: a script of single memory accesses, by a family of processes, one operation at a time.
 *
 * An observer outside the machine can then tell, for each access, how the kernel handled it: which
 * frame the page is in, whether the frame was cleared or copied, whether a page table was
 * allocated. So only the script may touch memory for the first time: everything else that the
 * program needs is touched before the first operation.
 *
 * An operation is the number of its process (the first is 0), a letter, and numbers.
 *
 *	P m FIRST LAST   maps pages FIRST to LAST of the array, without touching them
 *	P u FIRST LAST   unmaps them
 *	P r PAGE [VALUE] reads a word, which should be VALUE
 *	P w PAGE [VALUE] writes it
 *	P k PAGE [VALUE] makes the kernel write it, from a pipe, and reads it
 *	P f CHILD        forks process CHILD
 *	P x CHILD        ends its child CHILD, and waits until it has ended
 *
 * The array is at ARRAY in every process. Before each operation the process reads its own page at
 * NAMES, which tells the observer that an operation of this process begins. Processes pass the turn
 * to each other through pipes: a message is the number of the next operation.
 */
#include "lab.h"
#include <sys/resource.h>

#define HELP                                                                                       \
	"usage: pages [-v] [OPERATION...]\n"                                                       \
	"Do these operations, or those in the file /ops, one a line: 'PROCESS r|w|k PAGE\n"        \
	"[VALUE]' (read, write, have the kernel write), 'PROCESS m|u FIRST LAST' (map,\n"          \
	"unmap pages), 'PROCESS f|x CHILD' (fork, end). The first process is 0. -v: one\n"         \
	"line per operation, with the page faults that it took.\n"

#define NAMES ((char *)0x50000000)
#define ARRAY ((char *)0x60000000)

enum {
	MAX_PROCESSES = 8,
	MAX_PAGE = (0xB0000000 - 0x60000000) / PAGE_SIZE_BYTES - 1,
	MAX_OPS = 1 << 14,
	STACK_BYTES = 32 << 10,
	END = -1, /* in place of an operation's number */
};

struct op {
	uint8_t process;
	char verb;
	bool has_second;
	uint32_t first, second;
};

static struct op ops[MAX_OPS];
static int nr_ops, me, nr_corrupt;
static int turn[MAX_PROCESSES][2], data[2]; /* pipes */
static pid_t child[MAX_PROCESSES];
static bool verbose;

static volatile uint32_t *word_of(uint32_t page)
{
	return (volatile uint32_t *)(ARRAY + (size_t)page * PAGE_SIZE_BYTES);
}

/* --- the script --- */

static bool op_is_sound(const struct op *op, unsigned process)
{
	uint32_t last = strchr("mu", op->verb) ? op->second : op->first;

	if (process >= MAX_PROCESSES || !strchr("murwkfx", op->verb))
		return false;
	if (strchr("fx", op->verb))
		return op->first < MAX_PROCESSES && op->first != process;
	return op->first <= last && last <= MAX_PAGE;
}

static void parse_op(const char *text)
{
	struct op op = { 0 };
	unsigned process;
	int nr = sscanf(text, "%u %c %u %u", &process, &op.verb, &op.first, &op.second);

	if (nr_ops == MAX_OPS || nr < 3 || !op_is_sound(&op, process)) {
		warn_user("operation %d, '%s', is none, or one too many", nr_ops + 1, text);
		exit(2);
	}
	op.process = process;
	op.has_second = nr == 4;
	ops[nr_ops++] = op;
}

static void parse_file(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[64];

	if (!file)
		die_errno(path);
	while (fgets(line, sizeof(line), file))
		parse_op(line);
	fclose(file);
}

/* --- one operation --- */

static void map(uint32_t first, uint32_t last)
{
	size_t size = (size_t)(last - first + 1) * PAGE_SIZE_BYTES;

	if (mmap((void *)word_of(first), size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		die_errno("mmap");
}

static void unmap(uint32_t first, uint32_t last)
{
	if (munmap((void *)word_of(first), (size_t)(last - first + 1) * PAGE_SIZE_BYTES))
		die_errno("munmap");
}

static void let_kernel_write(uint32_t page, uint32_t value)
{
	if (write(data[1], &value, sizeof(value)) != sizeof(value) ||
	    read(data[0], (void *)word_of(page), sizeof(value)) != sizeof(value))
		die_errno("pipe");
}

static void tell(int process, int what)
{
	if (write(turn[process][1], &what, sizeof(what)) != sizeof(what))
		die_errno("turn");
}

static void end_child(int process)
{
	int status;

	tell(process, END);
	nr_corrupt += waitpid(child[process], &status, 0) < 0 || status;
	child[process] = 0;
}

/* Returns in the parent, and in the child, which has another process number from here on. */
static void fork_child(int process)
{
	pid_t pid = fork();

	if (pid < 0)
		die_errno("fork");
	child[process] = pid;
	if (pid)
		return;
	me = process;
	nr_corrupt = 0;
	memset(child, 0, sizeof(child));
}

static void do_op(const struct op *op)
{
	switch (op->verb) {
	case 'm':
		map(op->first, op->second);
		break;
	case 'u':
		unmap(op->first, op->second);
		break;
	case 'r':
		nr_corrupt += *word_of(op->first) != op->second && op->has_second;
		break;
	case 'w':
		*word_of(op->first) = op->second;
		break;
	case 'k':
		let_kernel_write(op->first, op->second);
		nr_corrupt += *word_of(op->first) != op->second;
		break;
	case 'f':
		fork_child(op->first);
		break;
	case 'x':
		end_child(op->first);
		break;
	}
}

static long nr_faults(void)
{
	static struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

static void show_op(const struct op *op, long before)
{
	long faults = nr_faults() - before;

	if (me != op->process) /* in the child after a fork */
		return;
	printf("%d %c %u", me, op->verb, op->first);
	if (strchr("mu", op->verb))
		printf("-%u", op->second);
	printf(": %ld fault%s\n", faults, faults == 1 ? "" : "s");
	fflush(stdout);
}

/* --- taking turns --- */

static int wait_for_turn(void)
{
	int at;

	if (read(turn[me][0], &at, sizeof(at)) != sizeof(at))
		die_errno("turn");
	return at;
}

static int do_own_op(int at)
{
	const struct op *op = &ops[at];
	long before = verbose ? nr_faults() : 0;

	(void)*(volatile char *)(NAMES + me * PAGE_SIZE_BYTES);
	do_op(op);
	if (verbose)
		show_op(op, before);
	return me == op->process ? at + 1 : wait_for_turn();
}

/* The first process ends the others; each process ends its own children. */
static void run(void)
{
	int at = 0;

	while (at != END && (at < nr_ops || me)) {
		int process = at < nr_ops ? ops[at].process : 0;

		if (process == me) {
			at = do_own_op(at);
		} else {
			tell(process, at);
			at = wait_for_turn();
		}
	}
	for (int i = 0; i < MAX_PROCESSES; i++)
		if (child[i])
			end_child(i);
}

/* Touches everything that will be used later. */
static void prepare(void)
{
	volatile char stack[STACK_BYTES];
	char *names = mmap(NAMES, MAX_PROCESSES * PAGE_SIZE_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (names == MAP_FAILED || pipe(data))
		die_errno("mmap");
	for (int i = 0; i < MAX_PROCESSES; i++) {
		names[i * PAGE_SIZE_BYTES] = 1;
		if (pipe(turn[i]))
			die_errno("pipe");
	}
	for (size_t i = 0; i < sizeof(stack); i += PAGE_SIZE_BYTES)
		stack[i] = 1;
}

int main(int argc, char **argv)
{
	help_if_asked(argc, argv, HELP);
	verbose = lab_flag(&argc, argv, "-v");
	lab_operands(argc, argv, 0, MAX_OPS, HELP);
	for (int i = 1; i < argc; i++)
		parse_op(argv[i]);
	if (argc == 1)
		parse_file("/ops");
	prepare();
	run();
	if (me)
		_exit(nr_corrupt != 0);
	printf("R pages operations=%d corrupt=%d\n", nr_ops, nr_corrupt);
	return nr_corrupt != 0;
}
