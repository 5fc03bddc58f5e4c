/*
 * Events: they tell other parts of the kernel what happens in one part.
 *
 * The part where it happens raises the event and does not know the listeners; each listener
 * registers in its init function. This header includes nothing of the raising parts, so any file
 * may include it. To add an event, add a line to EVENTS: X(oom, struct task_struct) makes
 *
 *	void event_oom(struct task_struct *);               raises it
 *	void listen_oom(void (*)(struct task_struct *));    listens
 *
 * Listeners are called at once, in the order of their registration, in the context of the raising
 * code. They are kept in a small table, filled at boot; nothing is allocated.
 */
#ifndef OBSERVE_EVENTS_H
#define OBSERVE_EVENTS_H

#include "types.h"

struct mm_struct;
struct page;
struct task_struct;

/* A broken rule of the policy interface or the guard interface. */
struct violation {
	const char *kind;        /* "policy" or "guard" */
	const char *name;        /* of the policy or guard */
	const char *rule;        /* one word */
	const char *hook;        /* the hook that broke it */
	const char *what;        /* a sentence */
	const struct page *page; /* the page concerned, or NULL */
};
STATIC_ASSERT(offsetof(struct violation, rule) == 2 * sizeof(void *)); /* evidence/breach.c */

/* The address space of a new program is being built. A listener may map something there and add to
 * the auxiliary vector that the program finds on its stack. */
struct new_program {
	struct mm_struct *mm;
	struct {
		u32 type, value;
	} aux[2];
	u32 nr_aux;
	int err; /* 0, or -errno: execve fails */
};

/* clang-format off */
#define EVENTS(X)                                                                                  \
	X(violation, const struct violation) /* a policy or a guard broke a rule */                \
	X(policy_switch, const char)        /* another policy, by name */                          \
	X(oom, struct task_struct)          /* task about to be killed for memory */               \
	X(new_mm, struct task_struct)       /* task has a new address space, in which nothing ran */ \
	X(new_program, struct new_program)  /* execve is about to build the stack */ \
	X(exit, struct task_struct)         /* task exits; its memory and accounts are still intact */ \
	X(mm_freed, void)                   /* an address space has ended: its frames are free */  \
	X(reap, void)                       /* dead_tasks are off the CPU: they can be freed */    \
	X(tick, void)                       /* irq: HZ times a second while anything runs */       \
	X(idle_begins, void)                /* irq off: no task is runnable any more */            \
	X(idle_ends, void)                  /* irq off: a task is runnable again */                \
	X(quiet, void)                      /* irq: the clock stands still, no update is under way */ \
	X(power_off, const int)             /* the machine is to end, with this status; never returns */ \
	X(panic, void)                      /* the message is printed; time to add details */
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
