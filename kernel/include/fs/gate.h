/*
 * Changes of files that are on the disk all or not at all, if the file system has a log.
 *
 * A change is what lies between log_begin and log_end. Without a log, both do nothing.
 */
#ifndef FS_GATE_H
#define FS_GATE_H

#include "fs/vfs.h"
#include "types.h"

/* A log, in which a system call's changes are atomic. Both may sleep, and may be nested. */
struct log_operations {
	/* Called before a change, with no lock of a directory or a page. */
	void (*begin)(struct super_block *sb);
	/* Called after it; err: its result. Returns true if the change failed because what was freed cannot be
	 * reused before a commit, which has happened now. */
	bool (*end)(struct super_block *sb, int err);
};

/* Begins changes that must be on the disk all or not at all. log_end ends them. */
static inline void log_begin(struct super_block *sb)
{
	if (unlikely(sb->log))
		sb->log->begin(sb);
}

/* Returns true if the changes, which ended with err, must be tried again. */
static inline bool log_end(struct super_block *sb, int err)
{
	return unlikely(sb->log) && sb->log->end(sb, err);
}

/*
 * For logs: the gate between changes and commits (fs/gate.c). All may sleep.
 */
/* Begins a change, when the gate is open; gate_leave ends it. A task inside may enter again. */
void gate_enter(void);
void gate_leave(void);
/* Is the task inside, or has it closed the gate? */
bool gate_is_mine(void);
u32 gate_nr_inside(void); /* number of tasks inside */
/* Closes the gate and waits until no task is inside. The caller must not be inside. */
void gate_close(void);
void gate_open(void);

#endif
