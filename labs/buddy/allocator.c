/*
 * The student's page allocator, as a program: answers the calls that the driver (driver.c) sends, until
 * the driver has ended. The student's code can only answer calls, not print results.
 */
#include "allocator.h"
#include <string.h>
#include <unistd.h>

static struct answer perform(struct zone *zone, struct call call)
{
	struct answer answer = { 0 };
	jmp_buf panicked;

	host_panic_exit = &panicked;
	if (setjmp(panicked))
		memcpy(answer.panic, host_panic_message, sizeof(answer.panic));
	else if (call.what == INIT)
		buddy_init(zone);
	else if (call.what == ALLOC)
		answer.page = buddy_alloc(zone, call.order);
	else if (call.what == FREE)
		buddy_free(zone, call.page, call.order);
	else
		answer.error = buddy_check(zone);
	return answer;
}

int main(void)
{
	struct zone *zone = map_shared(MEMORY);
	struct call call;

	zone->name = "driven"; /* a string of this program's */
	while (read(CALLS, &call, sizeof(call)) == sizeof(call)) {
		struct answer answer = perform(zone, call);

		if (write(CALLS, &answer, sizeof(answer)) < 0)
			break;
	}
	return 0;
}
