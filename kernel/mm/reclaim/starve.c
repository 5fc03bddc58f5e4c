/*
 * Every process makes progress, however few frames there are.
 *
 * Problem. An instruction may need several pages at once: its operands, its stack. With three
 * frames and two processes this can happen: A waits for its second page while B takes A's first
 * page for itself, and then the other way round. Each fault is served, but no instruction is ever
 * completed. No policy can prevent this, since every choice of a victim is the wrong one.
 *
 * Idea: starvation shows as a process that faults repeatedly with exactly the same registers. A
 * process that makes progress does not do so, because a completed instruction has moved on. If a
 * process has to read the same page repeatedly in this way (STARVED_AFTER), it gets a turn:
 *
 *   - no other process is given a frame (frames_charge waits), so this one gets the next free frame;
 *   - the pages that its instruction has obtained are not eligible, so no choice can be wrong.
 *
 * The turn ends when the instruction is completed: the process has spent time in user mode and has
 * not faulted, or has faulted with other registers. A process that starved meanwhile is next.
 *
 * The turn always ends. Fewer pages are kept than there are frames, so at least one frame is available:
 * it is eligible, or in flight (being read or written) and becomes eligible later. An instruction that
 * needs more frames than exist gives up its turn after TURN_FAULTS; a process that sleeps for another
 * reason (the policy holds it back), at once; and in any case the turn ends after TURN_NS.
 *
 * Left out: faults of the kernel on a program's behalf. The kernel needs one page of the program at
 * a time, and uses it before any other process runs. A word that straddles two pages needs both:
 * with all but one frame locked, the kernel tries in vain until SIGKILL.
 */
#include "mm/starve.h"

#include "arch/task.h"
#include "arch/time.h"
#include "mm/reclaim.h"
#include "mm/rmap.h"
#include "mm/frames.h"
#include "sched/current.h"

#define STARVED_AFTER 2u
#define TURN_FAULTS 16u
#define TURN_NS 10000000000ull
#define MAX_KEPT 4u /* an instruction may need two pages of data and two of stack */

static struct {
	u32 vpn[MAX_KEPT]; /* the pages kept for the turn's task; the newest is last */
	u32 nr, faults;
	u64 user_cycles; /* user time of its task at its last fault */
	u64 since_ns;
} turn;

/* With frames=N, at least one frame must stay available. */
static u32 max_kept(void)
{
	return frames_cap ? MIN(MAX_KEPT, frames_cap - 1) : MAX_KEPT;
}

static void keep(u32 addr)
{
	u32 vpn = addr >> PAGE_SHIFT, i;

	for (i = 0; i < turn.nr && turn.vpn[i] != vpn; i++)
		;
	if (i == turn.nr && turn.nr >= max_kept())
		i = 0;
	if (i < turn.nr) {
		turn.nr--;
		for (; i < turn.nr; i++)
			turn.vpn[i] = turn.vpn[i + 1];
	}
	turn.vpn[turn.nr++] = vpn;
	turn.user_cycles = current->acct.cycles[ACCT_USER];
}

static void end_turn(void)
{
	starved_mm->task->starve.again = 0;
	starved_mm = NULL;
}

/* A digest of the registers with which current faulted; 0 if it entered the kernel in another way. */
static u32 faulting_state(void)
{
	const struct pt_regs *regs = task_regs(current);

	return regs_page_fault(regs) ? regs_digest(regs) | 1 : 0;
}

/* Is the page kept for the instruction that starved? */
static bool kept(const struct page *page)
{
	for (u32 i = 0; i < turn.nr; i++)
		if (entry_of(page, starved_mm, turn.vpn[i] << PAGE_SHIFT))
			return true;
	return false;
}

static void begin_turn(u32 addr)
{
	starved_mm = current->mm;
	starve_kept = kept;
	turn.nr = turn.faults = 0;
	turn.since_ns = clock_ns();
	keep(addr);
}

/* The same page was read twice in a row: with the same registers, too? */
static out_of_line void read_again(struct starve *s, u32 addr)
{
	u32 state = faulting_state();

	s->again = state == s->state ? s->again + 1 : 0;
	s->state = state;
	s->others = 0;
	if (state && s->again >= STARVED_AFTER && !starved_mm)
		begin_turn(addr);
}

void starve_note_major(u32 addr)
{
	struct starve *s = &current->starve;
	u32 vpn = addr >> PAGE_SHIFT;

	if (unlikely(s->vpn == vpn))
		read_again(s, addr);
	else if (++s->others == MAX_KEPT)
		*s = (struct starve){ .vpn = vpn };
}

void starve_fault(u32 addr)
{
	if (faulting_state() == current->starve.state && ++turn.faults < TURN_FAULTS)
		keep(addr);
	else
		end_turn();
}

static bool turn_is_over(void)
{
	const struct task_struct *t = starved_mm->task;

	return t->acct.cycles[ACCT_USER] != turn.user_cycles || t->in_admit ||
	       clock_ns() - turn.since_ns > TURN_NS;
}

bool starve_others_wait(void)
{
	if (starved_mm == current->mm)
		return false;
	if (!turn_is_over())
		return true;
	end_turn();
	return false;
}

void starve_mm_exit(struct mm_struct *mm)
{
	if (starved_mm == mm)
		starved_mm = NULL;
}
