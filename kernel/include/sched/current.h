/*
 * The task that runs, `current`, and what a task consists of. A process is one task with one address
 * space; a kernel thread is a task without one (it borrows the last user address space). No two tasks
 * share an mm.
 */
#ifndef SCHED_CURRENT_H
#define SCHED_CURRENT_H

#include "arch/mmu.h"
#include "arch/task.h"
#include "lib/list.h"
#include "sched/acct.h"
#include "sched/cred.h"
#include "sched/limits.h"
#include "sched/psi.h"
#include "sched/sched.h"
#include "sched/signal.h"
#include "sched/timer.h"
#include "sched/wait.h"
#include "types.h"

struct mm_struct;
struct files_struct;
struct inode;

#define TASK_COMM_LEN 16

/* task_struct.work: what to do before the task returns to user mode; checked by entry.S */
enum task_work {
	WORK_RESCHED = 1, /* another task should run */
	WORK_SIGNAL = 2,  /* a signal is pending and not blocked */
	WORK_ADMIT = 4,   /* ask the policy if the task may run */
};

enum task_flags {
	TF_KTHREAD = 1,
	TF_RECLAIM = 2,   /* works for reclaim: may use the reserve, must not reclaim */
	TF_OOM_VICTIM = 4, /* is being killed to free memory: may use the reserve */
	TF_EXITING = 8,
	TF_WRITING = 16, /* has queued writeback not yet submitted: like TF_RECLAIM */
};

struct task_struct {
	struct thread_struct thread;
	volatile u32 work;    /* irq; enum task_work */
	volatile enum task_state state; /* irq */
	u32 flags;            /* enum task_flags */
	int pid, pgid, sid;
	void *stack;          /* lowest address of the kernel stack */
	char comm[TASK_COMM_LEN];

	struct sched_entity se;
	int nice;

	struct mm_struct *mm;        /* NULL: kernel thread */
	pgd_t *pgd;                  /* of mm */
	struct acct_clock acct;
	struct files_struct *files;
	struct inode *cwd;
	struct inode *root; /* NULL: vfs_root; chroot sets another one */
	u32 umask;
	struct rlimit limits[NR_RLIMITS];
	struct cred cred;

	struct task_struct *parent;
	struct list_head children; /* of .sibling */
	struct list_head sibling;
	struct list_head all;      /* in task_list */
	struct wait_queue child_wait;
	int exit_code;             /* as wait4 reports it */

	struct signal_state sig;

	bool in_pagewait;          /* a sleep now counts as waiting for a page */
	bool in_iowait;
	bool in_admit;             /* a sleep now counts as waiting for admission */
	enum psi_class psi;        /* irq */
	u64 start_ns;
	u64 nr_minflt, nr_majflt;
	u64 child_utime_ns, child_stime_ns, child_minflt, child_majflt;
	u64 nvcsw, nivcsw;
	u32 fresh_va;              /* address of the last fault served; see mm/space/young.c */
	struct starve {
		u32 vpn;           /* a page recently read for it; mm/starve.h */
		u32 others;        /* pages read since then */
		u32 state, again;  /* its registers then; repetitions with these */
	} starve;
	bool restore_blocked;      /* in sigsuspend: saved_blocked is the caller's mask */
	u64 saved_blocked;
	struct timer alarm;        /* ITIMER_REAL */
	u64 alarm_interval_ns;     /* 0: once */
	u32 max_rss, child_max_rss; /* pages; max_rss is set at exit */
	u32 nr_changes;            /* of files, begun and not ended; fs/gate.c */
};

extern struct task_struct *current_task;
#define current current_task

static inline void task_set_work(struct task_struct *t, u32 bits)
{
	__asm__ volatile("orl %1, %0" : "+m"(t->work) : "ri"(bits));
}

static inline void task_clear_work(struct task_struct *t, u32 bits)
{
	__asm__ volatile("andl %1, %0" : "+m"(t->work) : "ri"(~bits));
}

#endif
