/*
 * The files of /proc/<pid>: Linux's formats, field by field. Values that this kernel does not have
 * are 0, and lines of `status` that it cannot fill are left out.
 *
 * The text of `cmdline` and `environ` is read from the process's own memory through its page tables. A show
 * function must not sleep, so swapped-out pages are not read: if the first page of the arguments is
 * swapped out, only the name of the task is shown. A kernel thread has no arguments.
 */
#include "procfs.h"

#include "internal.h"

#include "mm/mm.h"
#include "mm/page.h"
#include "sched/task.h"

#define PAGE_KIB (PAGE_SIZE >> 10)
#define TTY_NR (5u << 8 | 1) /* /dev/console */
#define CMDLINE_MAX 4096u
#define EXIT_SIGNAL SIGCHLD

static char state_letter(const struct task_struct *t)
{
	switch (t->state) {
	case TASK_RUNNING:
		return 'R';
	case TASK_INTERRUPTIBLE:
		return 'S';
	case TASK_UNINTERRUPTIBLE:
		return 'D';
	case TASK_ZOMBIE:
		return 'Z';
	default:
		return 'X';
	}
}

static const char *state_name(char letter)
{
	switch (letter) {
	case 'R':
		return "running";
	case 'S':
		return "sleeping";
	case 'D':
		return "disk sleep";
	case 'Z':
		return "zombie";
	default:
		return "dead";
	}
}

static int parent_pid(const struct task_struct *t)
{
	return t->parent ? t->parent->pid : 0;
}

/* Returns the signals that are ignored (SIG_IGN) or, otherwise, handled by a function. */
static u64 signal_mask(const struct task_struct *t, bool ignored)
{
	u64 mask = 0;

	if (!t->sig.hand)
		return 0;
	for (u32 i = 0; i < NSIG; i++) {
		u32 handler = t->sig.hand->actions[i].handler;

		if (ignored ? handler == SIG_IGN : handler != SIG_IGN && handler != SIG_DFL)
			mask |= 1ull << i;
	}
	return mask;
}

/* Fields 1 to 13. */
static void stat_identity(struct seq_file *m, struct task_struct *t)
{
	bool user = !(t->flags & TF_KTHREAD);

	seq_printf(m, "%d (%s) %c %d %d %d", t->pid, t->comm, state_letter(t), parent_pid(t),
		   t->pgid, t->sid);
	seq_printf(m, " %u -1 %u", user ? TTY_NR : 0, t->flags);
	seq_printf(m, " %llu %llu %llu %llu", t->nr_minflt, t->child_minflt, t->nr_majflt,
		   t->child_majflt);
}

/* Fields 14 to 22: times in ticks, priority, threads. */
static void stat_times(struct seq_file *m, struct task_struct *t)
{
	seq_printf(m, " %llu %llu %llu %llu", ns_to_ticks(task_utime_ns(t)),
		   ns_to_ticks(task_stime_ns(t)), ns_to_ticks(t->child_utime_ns),
		   ns_to_ticks(t->child_stime_ns));
	seq_printf(m, " %d %d 1 0 %llu", 20 + t->nice, t->nice, ns_to_ticks(t->start_ns));
}

/* Fields 23 to 30: sizes and addresses of the address space. */
static void stat_memory(struct seq_file *m, struct task_struct *t)
{
	const struct mm_struct *mm = t->mm;

	if (!mm) {
		seq_puts(m, " 0 0 4294967295 0 0 0 0 0");
		return;
	}
	seq_printf(m, " %u %u 4294967295 %u %u %u", mm->count.total_vm * PAGE_SIZE,
		   mm_rss_pages(mm), mm->start_code, mm->end_code, mm->start_stack);
	seq_printf(m, " %u %u", regs_sp(task_regs(t)), regs_ip(task_regs(t)));
}

static void stat_show(struct seq_file *m, struct task_struct *t)
{
	const struct mm_struct *mm = t->mm;

	stat_identity(m, t);
	stat_times(m, t);
	stat_memory(m, t);
	/* 31 to 44: signals (the first 31 of them), wait channel, swap, CPU, policy, guests */
	seq_printf(m, " %u %u %u %u 0 0 0 %d 0 0 0 0 0 0", (u32)t->sig.pending & 0x7fffffff,
		   (u32)t->sig.blocked & 0x7fffffff, (u32)signal_mask(t, true) & 0x7fffffff,
		   (u32)signal_mask(t, false) & 0x7fffffff, EXIT_SIGNAL);
	/* 45 to 52: data, heap, arguments, environment, exit code */
	if (mm)
		seq_printf(m, " %u %u %u %u %u %u %u %d\n", mm->start_data, mm->end_data,
			   mm->start_brk, mm->arg_start, mm->arg_end, mm->arg_end, mm->env_end,
			   t->exit_code);
	else
		seq_printf(m, " 0 0 0 0 0 0 0 %d\n", t->exit_code);
}

/* Returns the pages of the regions with (flags & mask) == want. */
static u32 region_pages(const struct mm_struct *mm, u32 mask, u32 want)
{
	const struct vm_area_struct *vma;
	u32 bytes = 0;

	list_for_each_entry(vma, &mm->vma_list, list)
		if ((vma->flags & mask) == want)
			bytes += vma->end - vma->start;
	return bytes / PAGE_SIZE;
}

static void put_kib(struct seq_file *m, const char *name, u32 pages)
{
	seq_printf(m, "%s:\t%8u kB\n", name, pages * PAGE_KIB);
}

static void status_memory(struct seq_file *m, const struct mm_struct *mm)
{
	const struct mm_counters *c = &mm->count;
	u32 code = PAGE_ALIGN(mm->end_code) - (mm->start_code & PAGE_MASK);

	put_kib(m, "VmSize", c->total_vm);
	put_kib(m, "VmLck", c->locked_vm);
	put_kib(m, "VmHWM", MAX(c->max_rss, mm_rss_pages(mm)));
	put_kib(m, "VmRSS", mm_rss_pages(mm));
	put_kib(m, "RssAnon", c->anon);
	put_kib(m, "RssFile", c->file);
	put_kib(m, "VmData", region_pages(mm, VM_WRITE | VM_SHARED | VM_GROWSDOWN, VM_WRITE));
	put_kib(m, "VmStk", region_pages(mm, VM_GROWSDOWN, VM_GROWSDOWN));
	put_kib(m, "VmExe", code / PAGE_SIZE);
	put_kib(m, "VmPTE", c->ptes);
	put_kib(m, "VmSwap", c->swapents);
}

/* Prints the ids: real, effective, saved, and for files, which is always the effective one. */
static void put_ids(struct seq_file *m, const char *name, const struct ids *ids)
{
	seq_printf(m, "%s:\t%u\t%u\t%u\t%u\n", name, ids->real, ids->effective, ids->saved,
		   ids->effective);
}

static void status_show(struct seq_file *m, struct task_struct *t)
{
	char letter = state_letter(t);

	seq_printf(m, "Name:\t%s\nUmask:\t0%u%u%u\nState:\t%c (%s)\n", t->comm, t->umask >> 6 & 7,
		   t->umask >> 3 & 7, t->umask & 7, letter, state_name(letter));
	seq_printf(m, "Tgid:\t%d\nPid:\t%d\nPPid:\t%d\n", t->pid, t->pid, parent_pid(t));
	put_ids(m, "Uid", &t->cred.user);
	put_ids(m, "Gid", &t->cred.group);
	seq_puts(m, "Groups:\t");
	for (u32 i = 0; i < t->cred.nr_groups; i++)
		seq_printf(m, "%u ", t->cred.groups[i]);
	seq_putc(m, '\n');
	if (t->mm)
		status_memory(m, t->mm);
	seq_puts(m, "Threads:\t1\n");
	seq_printf(m, "SigPnd:\t%016llx\nSigBlk:\t%016llx\n", t->sig.pending, t->sig.blocked);
	seq_printf(m, "SigIgn:\t%016llx\nSigCgt:\t%016llx\n", signal_mask(t, true),
		   signal_mask(t, false));
	seq_printf(m, "voluntary_ctxt_switches:\t%llu\nnonvoluntary_ctxt_switches:\t%llu\n",
		   t->nvcsw, t->nivcsw);
}

/* Fields: size resident shared text lib data dirty, in pages. */
static void statm_show(struct seq_file *m, struct task_struct *t)
{
	const struct mm_struct *mm = t->mm;

	if (!mm) {
		seq_puts(m, "0 0 0 0 0 0 0\n");
		return;
	}
	seq_printf(m, "%u %u %u %u 0 %u 0\n", mm->count.total_vm, mm_rss_pages(mm), mm->count.file,
		   (PAGE_ALIGN(mm->end_code) - (mm->start_code & PAGE_MASK)) / PAGE_SIZE,
		   region_pages(mm, VM_WRITE | VM_SHARED, VM_WRITE));
}

static void comm_show(struct seq_file *m, struct task_struct *t)
{
	seq_printf(m, "%s\n", t->comm);
}

/* Prints the resident bytes of [start, end) of another address space, up to the first nonresident
 * page. Returns the number of bytes printed. */
static u32 put_user_text(struct seq_file *m, struct mm_struct *mm, u32 start, u32 end)
{
	u32 at = start;

	while (at < end) {
		u32 stop = MIN(end, (at & PAGE_MASK) + PAGE_SIZE);
		pte_t *pte = pte_lookup(mm->pgd, at);
		const char *va;

		if (!pte || !pte_present(*pte))
			break;
		va = kmap_pfn(pte_pfn(*pte));
		for (; at < stop; at++)
			seq_putc(m, va[at & ~PAGE_MASK]);
		kunmap((void *)((u32)va & PAGE_MASK));
	}
	return at - start;
}

static void cmdline_show(struct seq_file *m, struct task_struct *t)
{
	struct mm_struct *mm = t->mm;
	u32 len;

	if (!mm || mm->arg_end <= mm->arg_start)
		return;
	len = MIN(mm->arg_end - mm->arg_start, CMDLINE_MAX);
	if (!put_user_text(m, mm, mm->arg_start, mm->arg_start + len))
		seq_printf(m, "%s%c", t->comm, '\0');
}

static void environ_show(struct seq_file *m, struct task_struct *t)
{
	struct mm_struct *mm = t->mm;

	if (mm && mm->env_end > mm->arg_end)
		put_user_text(m, mm, mm->arg_end, mm->env_end);
}

/* Returns the file that the program's code is mapped from. */
static struct inode *exe_target(struct task_struct *t)
{
	const struct vm_area_struct *vma;

	if (!t->mm)
		return NULL;
	list_for_each_entry(vma, &t->mm->vma_list, list)
		if (vma->start <= t->mm->start_code && t->mm->start_code < vma->end)
			return vma->inode;
	return NULL;
}

static struct inode *cwd_target(struct task_struct *t)
{
	return t->cwd;
}

static struct inode *root_target(struct task_struct *t)
{
	return !t->mm ? NULL : t->root ?: vfs_root;
}

static const struct proc_pid_file files[] = {
	{ .name = "cmdline", .show = cmdline_show },
	{ .name = "comm", .show = comm_show },
	{ .name = "cwd", .target = cwd_target },
	{ .name = "environ", .show = environ_show },
	{ .name = "exe", .target = exe_target },
	{ .name = "maps", .show = proc_maps_show },
	{ .name = "root", .target = root_target },
	{ .name = "stat", .show = stat_show },
	{ .name = "statm", .show = statm_show },
	{ .name = "status", .show = status_show },
	{ 0 },
};

PROC_PID_FILES(files);
