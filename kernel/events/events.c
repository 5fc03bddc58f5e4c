/* Events and their listeners: observe/events.h. */
#include "observe/events.h"

#include "lib/assert.h"

#define MAX_LISTENERS 3

static void (*listeners[NR_EVENTS][MAX_LISTENERS])(void *what);

void event_listen(enum event event, void (*listener)(void *what))
{
	u32 i = 0;

	while (i < MAX_LISTENERS && listeners[event][i])
		i++;
	ASSERT(i < MAX_LISTENERS);
	listeners[event][i] = listener;
}

void event_raise(enum event event, void *what)
{
	for (u32 i = 0; i < MAX_LISTENERS && listeners[event][i]; i++)
		listeners[event][i](what);
}
