#include "events.c"

#include "lib/ktap.h"

static u32 heard;

static void first(const char *name)
{
	heard = heard * 10 + (name[0] == 'w' ? 1 : 9);
}

static void second(const char *name)
{
	heard = heard * 10 + (name[1] == 's' ? 2 : 9);
}

KTEST(events, reach_those_who_listen_in_their_order)
{
	event_policy_switch("ws");
	listen_policy_switch(first);
	listen_policy_switch(second);
	event_policy_switch("ws");
	event_tick(NULL);
	EXPECT_EQ(heard, 12);
}
