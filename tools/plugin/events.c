/*
 * mode=events: what the kernel does with pages and tasks, event by event, each at its virtual nanosecond.
 *
 * The guest takes no part: the plugin is called when some of the kernel's functions begin or return. It reads
 * their arguments, and what it needs of tasks and pages, from the guest's memory. Times are those of the
 * kernel's clock, as in telemetry.
 *
 * Options: out=FILE; symbols=FILE: the output of `nm -n` for the kernel; current=, zero=, pages=: addresses of
 * the kernel's variables current_task, clock_zero and mem_map; those of clock.h; after=N: once there are N
 * events, also an event for the first use of each frame (uses.c). FILE appears when QEMU ends. It consists of
 * records, struct event. docs/reference/events.md says what their numbers mean for each kind.
 */
#include "calls.h"
#include "clock.h"
#include "uses.h"

enum kind {
	TASK,
	SWITCH,
	WAKE,
	FAULT,
	FAULT_END,
	REQUEST,
	DONE,
	SELECT,
	PUTBACK,
	EVICT,
	DROP,
	INSERT,
	REMOVE,
	HOLD,
	ADMIT,
	USE,
};

/* Of a page: pid is its owner's, page its number in the owner's address space or in its file; store and
 * number are its page_id (mm/policy.h). */
struct event {
	uint64_t ns;
	uint32_t kind;
	int32_t pid;
	uint32_t page, frame, how, other, store, number;
};

/* Offsets and values of the kernel's structures. STATIC_ASSERTs beside these name this file. */
enum { TASK_STATE = 44, TASK_FLAGS = 48, TASK_PID = 52, TASK_COMM = 68, TASK_ON_RQ = 132 };
enum {
	TASK_ACCOUNT = 148,
	TASK_MINFLT = 716,
	TASK_MAJFLT = 724,
	COMM_LEN = 16,
	MAX_PIDS = 1 << 15
};
enum { INTERRUPTIBLE = 1, UNINTERRUPTIBLE = 2, KTHREAD = 1, ADMITTING = 4 /* enum acct */ };
enum { MM_TASK = 112, INODE_STORE = 156, PAGE_BYTES = 64, NR_FRAMES = 1 << 20 };
enum { SWAPCACHE = 1 << 9, FILECACHE = 1 << 17, SWAP_STORE = 1 };
enum { SCAN_ZONES = 4, SCAN_PRIORITY = 8, SCAN_TRIM = 12, SCAN_ACT = 20 };
#define ONLY_CAPPED 0x80000000u

struct page {
	uint32_t flags, count, mapcount, lru[2], inode, index, slot, owner;
};
struct bio {
	uint32_t node[2], bdev, sector, nr_sectors, nr;
	uint8_t kind, write;
	uint16_t pad;
	uint32_t error;
};

static const char *out_name, *symbols_name;
static uint64_t current_at, zero_at, pages_at, after = UINT64_MAX;
static FILE *out;
static uint64_t nr_events;
static uint32_t scan; /* the argument of the call of policy_call_select that has not returned */
static uint32_t why[NR_FRAMES]; /* of the last SELECT of each frame */
static char names[MAX_PIDS][COMM_LEN];
static bool held[MAX_PIDS];
static struct {
	uint64_t minor, major;
	uint32_t page;
	bool open;
} faults[MAX_PIDS];

static void write_event(struct event e, int begun)
{
	e.ns = clock_tsc(begun) - read_long(zero_at);
	fwrite(&e, sizeof(e), 1, out);
}

static void put(struct event e)
{
	if (!clock_started)
		return;
	write_event(e, 0);
	if (++nr_events == after)
		uses_begin(read_word(pages_at));
}

/* --- tasks --- */

static uint32_t current(void)
{
	return read_word(current_at);
}

static int32_t pid_of(uint32_t task)
{
	int32_t pid = read_word(task + TASK_PID);

	if (pid < 0 || pid >= MAX_PIDS)
		fail_of_guest("a task with the number %d", pid);
	return pid;
}

static void say_name(uint32_t task, int32_t pid)
{
	struct event e = { .kind = TASK, .pid = pid };
	char name[COMM_LEN];

	read_memory(task + TASK_COMM, name, sizeof(name));
	if (!memcmp(name, names[pid], sizeof(name)))
		return;
	memcpy(names[pid], name, sizeof(name));
	memcpy(&e.page, name, sizeof(name));
	put(e);
}

/* thread_switch(prev, next) */
static void on_switch(unsigned int cpu, void *data)
{
	uint32_t prev = read_register(EAX), next = read_register(EDX);
	uint32_t account = read_word(prev + TASK_ACCOUNT);
	int32_t from = pid_of(prev), to = pid_of(next);

	(void)cpu, (void)data;
	say_name(prev, from);
	say_name(next, to);
	if (account == ADMITTING && !held[from]) {
		held[from] = true;
		put((struct event){ .kind = HOLD, .pid = from });
	}
	put((struct event){ .kind = SWITCH, .pid = to, .other = from, .how = account });
}

/* wake_up_process(task) */
static void on_wake(unsigned int cpu, void *data)
{
	uint32_t task = read_register(EAX), state = read_word(task + TASK_STATE);

	(void)cpu, (void)data;
	if ((state == INTERRUPTIBLE || state == UNINTERRUPTIBLE) &&
	    !(read_word(task + TASK_ON_RQ) & 0xFF))
		put((struct event){ .kind = WAKE,
				    .pid = pid_of(task),
				    .how = read_word(task + TASK_ACCOUNT),
				    .other = pid_of(current()) });
}

/* The return of policy_admit_current() */
static void on_admitted(unsigned int cpu, void *data)
{
	int32_t pid = pid_of(current());

	(void)cpu, (void)data;
	if (held[pid])
		put((struct event){ .kind = ADMIT, .pid = pid });
	held[pid] = false;
}

/* handle_mm_fault(mm, address, fault) */
static void on_fault(unsigned int cpu, void *data)
{
	uint32_t task = current(), page = read_register(EDX) / PAGE_SIZE;
	int32_t pid = pid_of(task);

	(void)cpu, (void)data;
	say_name(task, pid);
	faults[pid].minor = read_long(task + TASK_MINFLT);
	faults[pid].major = read_long(task + TASK_MAJFLT);
	faults[pid].page = page;
	faults[pid].open = true;
	put((struct event){
		.kind = FAULT, .pid = pid, .page = page, .how = read_register(ECX) & 1 });
}

static void on_fault_end(unsigned int cpu, void *data)
{
	uint32_t task = current();
	int32_t pid = pid_of(task);
	bool minor = read_long(task + TASK_MINFLT) != faults[pid].minor;
	bool major = read_long(task + TASK_MAJFLT) != faults[pid].major;

	(void)cpu, (void)data;
	if (faults[pid].open)
		put((struct event){ .kind = FAULT_END,
				    .pid = pid,
				    .page = faults[pid].page,
				    .how = major ? 2 : minor });
	faults[pid].open = false;
}

/* --- disks --- */

static struct event of_bio(enum kind kind, uint32_t at)
{
	struct bio bio;

	read_memory(at, &bio, sizeof(bio));
	return (struct event){ .kind = kind,
			       .pid = pid_of(current()),
			       .page = bio.sector,
			       .frame = bio.nr,
			       .how = kind == DONE ? bio.error
						   : (uint32_t)bio.kind << 1 | bio.write,
			       .other = bio.nr_sectors,
			       .number = at };
}

/* block_submit(bio) */
static void on_submit(unsigned int cpu, void *data)
{
	(void)cpu, (void)data;
	put(of_bio(REQUEST, read_register(EAX)));
}

/* bio_put(bio), which every bio's end function calls */
static void on_done(unsigned int cpu, void *data)
{
	(void)cpu, (void)data;
	put(of_bio(DONE, read_register(EAX)));
}

/* --- pages --- */

static int32_t owner_of(uint32_t mm)
{
	uint32_t task = mm ? read_word(mm + MM_TASK) : 0;

	return task ? pid_of(task) : 0;
}

static struct event of_page(enum kind kind, uint32_t at)
{
	struct page page;
	struct event e = { .kind = kind };

	read_memory(at, &page, sizeof(page));
	e.pid = owner_of(page.owner);
	e.frame = (at - read_word(pages_at)) / PAGE_BYTES % NR_FRAMES;
	if (page.flags & FILECACHE) {
		e.store = page.inode ? read_word(page.inode + INODE_STORE) : 0;
		e.page = e.number = page.index;
		return e;
	}
	e.page = page.owner ? page.index : 0; /* read ahead: not mapped yet */
	e.store = page.flags & SWAPCACHE ? SWAP_STORE : 0;
	e.number = e.store ? page.slot : 0;
	return e;
}

/* policy_call_select(scan) */
static void on_select(unsigned int cpu, void *data)
{
	(void)cpu, (void)data;
	scan = read_register(EAX);
}

enum { BY_KTHREAD, DIRECT, FOR_CAP, TRIM };

/* Returns reason << 8 | priority << 4 | enum vm_act. */
static uint32_t why_of(uint32_t task)
{
	uint32_t reason = read_word(scan + SCAN_TRIM) & 0xFF           ? TRIM
			  : read_word(scan + SCAN_ZONES) & ONLY_CAPPED ? FOR_CAP
			  : read_word(task + TASK_FLAGS) & KTHREAD     ? BY_KTHREAD
								       : DIRECT;

	return reason << 8 | read_word(scan + SCAN_PRIORITY) << 4 | read_word(scan + SCAN_ACT);
}

static void on_selected(unsigned int cpu, void *data)
{
	uint32_t page = read_register(EAX), task = current();
	struct event e;

	(void)cpu, (void)data;
	if (!page)
		return;
	say_name(task, pid_of(task));
	e = of_page(SELECT, page);
	e.how = why[e.frame] = why_of(task);
	e.other = pid_of(task);
	put(e);
}

/* policy_call_putback(page, why), policy_call_remove(page, why) */
static void on_given_or_taken(unsigned int cpu, void *name)
{
	enum kind kind = strcmp(name, "policy_call_remove") ? PUTBACK : REMOVE;
	struct event e = of_page(kind, read_register(EAX));

	(void)cpu;
	e.how = read_register(EDX);
	put(e);
}

/* policy_call_evicted(page, to), policy_drop_isolated(page) */
static void on_gone(unsigned int cpu, void *name)
{
	enum kind kind = strcmp(name, "policy_call_evicted") ? DROP : EVICT;
	struct event e = of_page(kind, read_register(EAX));

	(void)cpu;
	e.how = why[e.frame];
	e.other = pid_of(current());
	put(e);
}

/* policy_call_insert(page, mm, how, from); `from` is a struct on the stack. */
static void on_insert(unsigned int cpu, void *data)
{
	uint32_t mm = read_register(EDX), from = read_register(ESP) + sizeof(uint32_t);
	struct event e = of_page(INSERT, read_register(EAX));

	(void)cpu, (void)data;
	if (mm)
		e.pid = owner_of(mm)
				?: pid_of(current()); /* execve builds a space that has no task yet */
	e.how = read_register(ECX);
	e.store = read_word(from);
	e.number = read_word(from + sizeof(uint32_t));
	uses_forget(e.frame);
	put(e);
}

static void on_use(uint32_t frame, uint32_t page, int begun)
{
	struct event e = { .kind = USE, .pid = pid_of(current()), .page = page, .frame = frame };

	write_event(e, begun);
}

static const struct call calls[] = {
	{ "thread_switch", on_switch, NULL },
	{ "wake_up_process", on_wake, NULL },
	{ "policy_admit_current", NULL, on_admitted },
	{ "handle_mm_fault", on_fault, on_fault_end },
	{ "block_submit", on_submit, NULL },
	{ "bio_put", on_done, NULL },
	{ "policy_call_select", on_select, on_selected },
	{ "policy_call_putback", on_given_or_taken, NULL },
	{ "policy_call_evicted", on_gone, NULL },
	{ "policy_drop_isolated", on_gone, NULL },
	{ "policy_call_insert", on_insert, NULL },
	{ "policy_call_remove", on_given_or_taken, NULL },
};

static void translate(struct qemu_plugin_tb *tb)
{
	if (after != UINT64_MAX)
		uses_watch(tb);
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		clock_watch(insn);
		calls_watch(insn);
		count_insn(insn, 0);
	}
}

static bool option(const char *name, const char *value)
{
	static const struct number numbers[] = {
		{ "current", &current_at },
		{ "zero", &zero_at },
		{ "pages", &pages_at },
		{ "after", &after },
	};

	if (!strcmp(name, "out"))
		out_name = value;
	else if (!strcmp(name, "symbols"))
		symbols_name = value;
	else
		return NUMBER_OPTION(numbers, name, value) || clock_option(name, value) ||
		       uses_option(name, value);
	return true;
}

static void start(void)
{
	if (!out_name || !symbols_name || !current_at || !zero_at || !pages_at || !clock_given())
		fail("mode=events needs out=, symbols=, current=, zero=, pages=, main= and clock=");
	calls_find(calls, sizeof(calls) / sizeof(calls[0]), symbols_name);
	counters_init(1);
	uses_found = on_use;
	out = open_whole(out_name);
}

static void finish(void)
{
	close_whole(out, out_name);
}

const struct mode events_mode = {
	.name = "events",
	.option = option,
	.start = start,
	.translate = translate,
	.finish = finish,
};
