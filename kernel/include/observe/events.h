/*
 * Events: what happens in one part of the kernel and interests others.
 *
 * Whoever it happens to raises the event and knows nobody who listens; who wants to know listens,
 * from its init function on. This header includes nothing of the parts that raise, so everybody may
 * include it. To add an event, add a line to EVENTS: X(oom, struct task_struct) makes
 *
 *	void event_oom(struct task_struct *);               raises it
 *	void listen_oom(void (*)(struct task_struct *));    listens
 *
 * Listeners are called at once, in the order in which they began to listen, in the context of who
 * raises. There is a small table of them, filled while the machine starts; nothing is allocated.
 */
#ifndef OBSERVE_EVENTS_H
#define OBSERVE_EVENTS_H

#include "types.h"

struct page;
struct task_struct;

/* A broken rule of the policy seam or the guard seam. */
struct violation {
	const char *kind;        /* "policy" or "guard" */
	const char *name;        /* whose it is */
	const char *rule;        /* one word */
	const char *hook;        /* in which it was broken */
	const char *what;        /* a sentence */
	const struct page *page; /* that it is about; NULL: none */
};
STATIC_ASSERT(offsetof(struct violation, rule) == 2 * sizeof(void *)); /* tools/plugin/breach.c */

/* clang-format off */
#define EVENTS(X)                                                                                  \
	X(violation, const struct violation) /* a policy or a guard broke a rule */                \
	X(policy_switch, const char)        /* another policy: its name */                         \
	X(oom, struct task_struct)          /* this one is about to be killed for memory */        \
	X(new_mm, struct task_struct)       /* it has a new address space, in which nothing ran */ \
	X(exit, struct task_struct)         /* it ends; its memory and its accounts are whole */   \
	X(tick, void)                       /* irq: HZ times a second while anything runs */       \
	X(idle_begins, void)                /* irq off: nobody can run any more */               \
	X(idle_ends, void)                  /* irq off: somebody can again */                     \
	X(quiet, void)                      /* irq: the clock stands, nothing is being changed */    \
	X(panic, void)                      /* the message is out; time to say more */
/* clang-format on */

enum event {
#define X(name, type) EVENT_##name,
	EVENTS(X)
#undef X
		NR_EVENTS
};

void event_raise(enum event event, void *what);
void event_listen(enum event event, void (*listener)(void *what));

#define X(name, type)                                                                              \
	static inline void event_##name(type *what)                                                \
	{                                                                                          \
		event_raise(EVENT_##name, (void *)what);                                           \
	}                                                                                          \
	static inline void listen_##name(void (*listener)(type * what))                            \
	{                                                                                          \
		event_listen(EVENT_##name, (void (*)(void *))listener);                            \
	}
EVENTS(X)
#undef X

#endif
