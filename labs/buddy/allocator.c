/*
 * The student's page allocator, as a program: answers the calls that the driver (driver.c) sends, until
 * the driver has ended. The student's code can only answer calls, not print results.
 */
#include "allocator.h"

static struct zone *zone;

static u64 perform(struct call call)
{
	switch (call.what) {
	case INIT:
		buddy_init(zone);
		return 0;
	case ALLOC:
		return (uintptr_t)buddy_alloc(zone, call.a);
	case FREE:
		buddy_free(zone, (struct page *)(uintptr_t)call.a, call.b);
		return 0;
	}
	return buddy_check(zone);
}

int main(void)
{
	size_t size;
	char *memory = map_memory(&size);

	zone = place_zone(memory, size);
	zone->name = "driven"; /* a string of this program's */
	answer_calls(perform);
	return 0;
}
