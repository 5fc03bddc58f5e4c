/*
 * Signal frames in the layout of Linux i386, which C libraries, debuggers and unwinders expect: the
 * interrupted registers on the user stack, below them the stack that the handler expects as a C
 * function, and above them the FPU's state. A handler with SA_SIGINFO gets the "rt" frame. The
 * handler returns into the restorer, which calls (rt_)sigreturn with the frame in its place. With
 * SA_ONSTACK the frame is at the top of the alternative stack, unless the program is on it already.
 *
 * Nothing in a frame is trusted on the way back: code and stack segment are forced, only those
 * flags are restored that a program may set itself, and the other selectors may fail to load.
 */
#include "arch/task.h"
#include "arch/uaccess.h"
#include "errno.h"
#include "internal.h"
#include "lib/string.h"
#include "sched/signal.h"
#include "sched/current.h"

/* As on Linux. The first 76 bytes (gs to ss) have the layout of struct pt_regs. */
struct sigcontext {
	u32 gs, fs, es, ds, di, si, bp, sp, bx, dx, cx, ax, trapno, err, ip, cs, flags;
	u32 sp_at_signal, ss;
	u32 fpstate; /* user address of struct fpstate, or 0 */
	u32 oldmask, cr2;
};

STATIC_ASSERT(sizeof(struct sigcontext) == 88);

/* The old FSAVE image, with only the control words filled in, then an FXSAVE image. */
#define FSAVE_SIZE 112
struct fpstate {
	u32 cw, sw, tag, legacy[(FSAVE_SIZE - 12) / 4];
	u8 fxsave[FPU_STATE_SIZE];
};

STATIC_ASSERT(sizeof(struct fpstate) == 624);

struct sigframe {
	u32 return_to;
	int sig;
	struct sigcontext sc;
	struct fpstate unused;
	u32 mask_high;
	u8 retcode[8];
};

/* For a fault, its address; otherwise the sender's pid and uid, then the status of a child. */
struct siginfo {
	int signo, error, code;
	union {
		u32 addr;
		struct {
			u32 pid, uid, status;
		};
		u32 pad[29];
	};
};

STATIC_ASSERT(sizeof(struct siginfo) == 128);

struct ucontext {
	u32 flags, link;
	struct altstack stack;
	struct sigcontext sc;
	u64 mask;
};

STATIC_ASSERT(sizeof(struct ucontext) == 116);

struct rt_sigframe {
	u32 return_to;
	int sig;
	u32 info_ptr, context_ptr;
	struct siginfo info;
	struct ucontext context;
	u8 retcode[8];
};

/* popl %eax; mov $119, %eax; int $0x80; and mov $173, %eax; int $0x80 */
static const u8 trampoline[8] = { 0x58, 0xB8, 119, 0, 0, 0, 0xCD, 0x80 };
static const u8 rt_trampoline[8] = { 0xB8, 173, 0, 0, 0, 0xCD, 0x80, 0x90 };

static void fill_context(struct sigcontext *sc, const struct pt_regs *regs, u32 fpstate, u64 mask)
{
	memcpy(sc, regs, sizeof(*regs));
	sc->gs &= 0xFFFF;
	sc->fs &= 0xFFFF;
	sc->es &= 0xFFFF;
	sc->ds &= 0xFFFF;
	sc->sp = regs->sp;
	sc->cs &= 0xFFFF;
	sc->ss &= 0xFFFF;
	sc->fpstate = fpstate;
	sc->oldmask = mask;
	sc->cr2 = current->thread.fault_addr;
}

/* Writes the FPU state at `at`. Returns 0 or -EFAULT. */
static int push_fpstate(u32 at, const void *state)
{
	u32 head[FSAVE_SIZE / 4] = { 0 };
	struct fpstate *user = (struct fpstate *)at;

	head[0] = 0xFFFF0000 | *(const u16 *)state;
	head[1] = 0xFFFF0000 | *((const u16 *)state + 1);
	head[2] = 0xFFFFFFFF;
	if (copy_to_user(user, head, FSAVE_SIZE) ||
	    copy_to_user(user->fxsave, state, FPU_STATE_SIZE))
		return -EFAULT;
	return 0;
}

/* Aligned as the ABI requires at a function's entry: the return address is below a multiple of
 * 16. */
static u32 frame_address(u32 sp, u32 size)
{
	return ALIGN_DOWN(sp - size + 4, 16u) - 4;
}

static int push_sigframe(struct pt_regs *regs, int sig, const struct k_sigaction *sa, u64 oldmask,
			 u32 fpstate, u32 at)
{
	struct sigframe *user = (struct sigframe *)at;
	u32 mask_high = oldmask >> 32;
	struct sigcontext sc;
	u32 head[2] = { sa->restorer, sig };

	if (!(sa->flags & SA_RESTORER))
		head[0] = (u32)user->retcode;
	fill_context(&sc, regs, fpstate, oldmask);
	if (copy_to_user(user, head, sizeof(head)) || copy_to_user(&user->sc, &sc, sizeof(sc)) ||
	    copy_to_user(&user->mask_high, &mask_high, sizeof(mask_high)) ||
	    copy_to_user(user->retcode, trampoline, sizeof(trampoline)))
		return -EFAULT;
	regs->ax = sig;
	regs->dx = regs->cx = 0;
	return 0;
}

static int push_rt_sigframe(struct pt_regs *regs, int sig, const struct k_sigaction *sa,
			    u64 oldmask, u32 fpstate, u32 at)
{
	struct rt_sigframe *user = (struct rt_sigframe *)at;
	struct rt_sigframe frame = {
		.return_to = sa->flags & SA_RESTORER ? sa->restorer : (u32)user->retcode,
		.sig = sig,
		.info_ptr = (u32)&user->info,
		.context_ptr = (u32)&user->context,
		.info.signo = sig,
		.context.stack = current->sig.altstack,
		.context.mask = oldmask,
	};

	if (current->thread.fault_sig == sig)
		frame.info.addr = current->thread.fault_addr;
	else
		signal_origin(sig, &frame.info.code, &frame.info.pid, &frame.info.status);
	fill_context(&frame.context.sc, regs, fpstate, oldmask);
	memcpy(frame.retcode, rt_trampoline, sizeof(rt_trampoline));
	if (copy_to_user(user, &frame, sizeof(frame)))
		return -EFAULT;
	regs->ax = sig;
	regs->dx = (u32)&user->info;
	regs->cx = (u32)&user->context;
	return 0;
}

int thread_push_signal(struct pt_regs *regs, int sig, const struct k_sigaction *sa, u64 oldmask)
{
	bool rt = sa->flags & SA_SIGINFO;
	const void *state = fpu_saved_state();
	bool on_altstack = signal_on_altstack(regs->sp);
	u32 fpstate = 0, at, sp = regs->sp;
	int error;

	if (sa->flags & SA_ONSTACK && current->sig.altstack.size && !on_altstack) {
		sp = current->sig.altstack.sp + current->sig.altstack.size;
		on_altstack = true;
	}
	if (state) {
		sp = fpstate = ALIGN_DOWN(sp - sizeof(struct fpstate), 64u);
		if (push_fpstate(fpstate, state))
			return -EFAULT;
	}
	at = frame_address(sp, rt ? sizeof(struct rt_sigframe) : sizeof(struct sigframe));
	if (on_altstack && !signal_on_altstack(at)) /* the frame does not fit */
		return -EFAULT;
	if (rt)
		error = push_rt_sigframe(regs, sig, sa, oldmask, fpstate, at);
	else
		error = push_sigframe(regs, sig, sa, oldmask, fpstate, at);
	if (error)
		return error;
	if (current->thread.fault_sig == sig)
		current->thread.fault_sig = 0;
	regs->sp = at;
	regs->ip = sa->handler;
	regs->cs = USER_CS;
	regs->ds = regs->es = regs->ss = USER_DS;
	regs->flags &= ~(FLAGS_DF | FLAGS_RF | FLAGS_TF | FLAGS_VM);
	return 0;
}

/* If the program had no FPU state, any state left by the handler is dropped. */
static int restore_fpstate(u32 fpstate)
{
	if (fpstate)
		return fpu_restore_user(((struct fpstate *)fpstate)->fxsave) ? -EFAULT : 0;
	fpu_drop(current);
	return 0;
}

static int restore_context(struct pt_regs *regs, const struct sigcontext *sc)
{
	if (restore_fpstate(sc->fpstate))
		return -EFAULT;
	memcpy(regs, sc, sizeof(*regs));
	regs->sp = sc->sp; /* as on Linux: a handler that moves the stack changes this copy */
	regs->cs = USER_CS;
	regs->ss = USER_DS;
	regs->flags = (sc->flags & FLAGS_USER) | FLAGS_FIXED | FLAGS_IF;
	regs->trapno = regs->error_code = 0;
	regs_load_fs_gs(regs->fs, regs->gs);
	return 0;
}

/* The restorer has popped the return address and, in the old frame, the signal's number. */
int thread_pop_signal(struct pt_regs *regs, bool rt, u64 *mask)
{
	struct sigcontext sc;
	struct altstack stack;
	u32 mask_high;

	if (rt) {
		struct rt_sigframe *user = (struct rt_sigframe *)(regs->sp - 4);

		if (copy_from_user(&sc, &user->context.sc, sizeof(sc)) ||
		    copy_from_user(mask, &user->context.mask, sizeof(*mask)) ||
		    copy_from_user(&stack, &user->context.stack, sizeof(stack)))
			return -EFAULT;
		signal_set_altstack(&stack, sc.sp); /* a handler may have changed it */
	} else {
		struct sigframe *user = (struct sigframe *)(regs->sp - 8);

		if (copy_from_user(&sc, &user->sc, sizeof(sc)) ||
		    get_user_u32(&mask_high, &user->mask_high))
			return -EFAULT;
		*mask = (u64)mask_high << 32 | sc.oldmask;
	}
	return restore_context(regs, &sc);
}
