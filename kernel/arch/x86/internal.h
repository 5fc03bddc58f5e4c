/* Shared by the files of this folder. */
#ifndef ARCH_X86_INTERNAL_H
#define ARCH_X86_INTERNAL_H

#include "arch/x86/regs.h"
#include "arch/x86/segment.h"
#include "types.h"

struct task_struct;
struct thread_struct;
struct tss;

/* boot/boot.S */
extern u32 kernel_pgdir[1024];
extern u8 boot_stack[];

/* boot_info.c */
void arch_start(u32 magic, u32 info_pa);

/* entry.S */
extern const u32 trap_stubs[NR_TRAPS]; /* addresses of the entry points */
void entry_syscall(void);
void entry_sysenter(void); /* sysenter_entry.S */
extern u32 sysenter_return;
void double_fault_entry(void);
void ret_from_fork(void);
void kernel_thread_start(void);
void switch_stack(u32 *save_sp, u32 sp);
void __noreturn enter_user(struct pt_regs *regs);
void regs_load_fs_gs(u32 fs, u32 gs); /* loads 0 for an invalid selector */

/* descriptors.c: GDT, IDT, TSS */
void descriptors_init(void);
void descriptors_load_tls(const u64 tls[3]);
void tss_set_stack(u32 top);
/* Stores the registers that the double fault interrupted. */
void tss_interrupted(struct pt_regs *regs);
extern struct tss cpu_tss; /* read by sysenter_entry.S */
#define DOUBLE_FAULT_STACK_SIZE 4096
extern u8 double_fault_stack[DOUBLE_FAULT_STACK_SIZE];

/* panic.c */
void __noreturn report_hang(struct pt_regs *regs);

/* watchdog.c: the watchdog has fired. Returns true to wait the same time again. */
bool watchdog_waits_again(void);

/* irq.c */
void irq_init(void);
void irq_connect(void); /* after mmu_init, before the first interrupt */
void irq_handle(const struct pt_regs *regs); /* calls the handler of an interrupt */

/* fpu.c */
#define FPU_STATE_SIZE 512
void fpu_init(void);
void fpu_device_not_available(void); /* handles the trap; may sleep */
void fpu_switch(struct task_struct *next);
int fpu_fork(struct task_struct *child, struct task_struct *parent);
void fpu_drop(struct task_struct *t);
/* For signal frames: returns current's state in memory, or NULL if it has none. */
void *fpu_saved_state(void);
/* Replaces current's state. Returns 0, -ENOMEM or -EFAULT. May sleep. */
int fpu_restore_user(const void *user_state);

/* time.c */
extern u64 clock_start; /* cycles at boot; tools/plugin counts from here */
extern u32 clock_reader; /* user address of the vDSO's read_cycles */

/* watchdog.c */
#define WATCHDOG_SECONDS 2

/* mmu.c */
bool kernel_page_mapped(u32 va); /* may the kernel read va? */

/* page.c */
#define WIDE 512u
/* Copies n bytes, a multiple of WIDE, one side of which is user memory. Never sleeps: returns the
 * number of bytes that are left when a page is missing, or 0. */
size_t copy_user_wide(void *to, const void *from, size_t n);

/* kstack.c */
bool kernel_stack_guard(u32 addr); /* is addr in a stack's guard page? */

/* backtrace.c */
void print_regs(const struct pt_regs *regs);

#endif
