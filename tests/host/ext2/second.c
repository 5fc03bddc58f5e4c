/*
 * A second program, so that one flushes while the other changes files. On one processor they take turns only where a
 * program waits. Two such places are enough here: the second program's call begins between two calls of the
 * first or in a kmalloc, which may wait for memory, and it waits for its flush until the script says that the
 * flush ends.
 */
#include "host.h"

#include "lib/assert.h"

#include <stdio.h>
#include <string.h>
#include <ucontext.h>

static enum { IDLE, BEGINS_LATER, WAITS, ENDS } state;
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

long second_begin(const char *command, bool at_kmalloc, long (*run)(char *command))
{
	if (state != IDLE)
		return -EBUSY;
	snprintf(line, sizeof(line), "%s", command);
	perform = run;
	state = BEGINS_LATER;
	if (!at_kmalloc)
		start();
	return 0;
}

void second_may_begin(void)
{
	if (state == BEGINS_LATER)
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
	second_may_begin();
	while (state == WAITS)
		change(&first, &second);
	state = IDLE;
	return answer;
}
