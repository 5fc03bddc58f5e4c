/*
 * A second program, so that one flushes while the other changes files. On one processor they take turns only where a
 * program waits. The second program's call begins between two calls of the first, or in one of them:
 * in a kmalloc, which may wait for memory, or in a read of metadata. It waits for its flush until the
 * script says that the flush ends.
 */
#include "host.h"

#include "lib/assert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

static enum { IDLE, AT_KMALLOC, AT_READ, WAITS, ENDS } state;
static u32 reads; /* AT_READ: before it begins */
static ucontext_t first, second;
static bool is_second; /* whose turn is it? */
static char stack[1 << 18], line[256];
static long (*perform)(char *command);
static long answer;

static void call(void)
{
	answer = perform(line);
	state = ENDS;
	is_second = false;
}

static void change(ucontext_t *from, ucontext_t *to)
{
	is_second = to == &second;
	if (swapcontext(from, to))
		panic("no change to the other program\n");
}

static void start(void)
{
	state = WAITS;
	getcontext(&second);
	second.uc_stack.ss_sp = stack;
	second.uc_stack.ss_size = sizeof(stack);
	second.uc_link = &first;
	makecontext(&second, call, 0);
	change(&first, &second);
}

long second_begin(const char *command, const char *when, long (*run)(char *command))
{
	if (state != IDLE)
		return -EBUSY;
	snprintf(line, sizeof(line), "%s", command);
	perform = run;
	reads = atoi(when);
	state = reads ? AT_READ : AT_KMALLOC;
	if (!strcmp(when, "now"))
		start();
	return 0;
}

void second_may_begin(bool is_read)
{
	if (is_read ? state == AT_READ && !--reads : state == AT_KMALLOC)
		start();
}

void second_waits(void)
{
	if (!is_second || state != WAITS)
		return;
	change(&second, &first);
}

long second_finish(void)
{
	if (state == IDLE)
		return -EINVAL;
	if (state == AT_KMALLOC || state == AT_READ)
		start();
	while (state == WAITS)
		change(&first, &second);
	state = IDLE;
	return answer;
}
