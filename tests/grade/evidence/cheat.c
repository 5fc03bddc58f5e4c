/*
 * A FIFO that does something forbidden if cheat.deed= says so: tests/grade/test_evidence.py
 * expects each deed to be detected from outside. It is built into a separate kernel.
 */
#include "arch/x86/segment.h"
#include "errno.h"
#include "lib/printf.h"
#include "lib/seq_file.h"
#include "lib/string.h"
#include "mm/policy.h"
#include "mm/slab.h"

#define PROGRAM_TEXT 0x08048000u

enum deed {
	NONE,
	USER_MEMORY,
	PROGRAMS_PAGE,
	KERNEL_DATA,
	STRUCT_PAGE,
	RULE_OF_SEAM,
	CODE_IN_DATA,
	MIDDLE_OF_FUNCTION,
	SERVANT,
	FALSE_RETURN,
	HIDDEN_INSTRUCTION,
	FALSE_ENTRY,
	TASK,
	OTHERS_MEMORY,
	FORGED_PROCESS,
	STACK_IN_DATA,
	FREED_MEMORY,
	FORGED_INTERRUPT,
	DIVISION,
	NO_RETURN,
	PRINTING,
	SCAN_AS_FILE,
	FORGED_FILE,
	FORGED_SCAN,
	FILE_ON_STACK,
	UNKNOWN_GIFT,
	CALLERS_REGISTERS,
	CALLERS_VARIABLES,
	MANY_CALLS,
	NR_DEEDS
};

static u32 deed, nr_selects, nr_shows;
static LIST_HEAD(queue);
static u32 *freed;

static const struct vm_param params[] = {
	{ "deed", &deed, 0, NR_DEEDS - 1, "", "what it does" },
	{ 0 },
};

static struct page *oldest(void)
{
	return list_empty(&queue) ? NULL : policy_page_of(queue.next);
}

static u32 load(const volatile u32 *word)
{
	return *word;
}

static void store(volatile u32 *word, u32 value)
{
	*word = value;
}

/* Returns the address of the end of a core function. */
static u8 *some_return(void)
{
	u8 *at = (u8 *)vm_now;

	while (*at != 0xC3)
		at++;
	return at;
}

static void call(void *code)
{
	((void (*)(void))code)();
}

static void return_falsely(void)
{
	__asm__ volatile("push $1f; push %0; jmp *%1; 1:"
			 :
			 : "b"(some_return()), "c"(vm_now)
			 : "eax", "edx", "memory", "cc");
}

/* A call of vm_now returns to a function's first instruction, with the core's code below. */
static void enter_falsely(void)
{
	__asm__ volatile("push $1f; push %0; push $2f; jmp *%1; .p2align 4; 2: ret; 1:"
			 :
			 : "b"(some_return()), "c"(vm_now)
			 : "eax", "edx", "memory", "cc");
}

static void do_hidden_instruction(void)
{
	__asm__ volatile("jmp 1f + 1; 1: mov $0x9090060F, %%eax" : : : "eax"); /* clts */
}

/* Calls the kernel with another stack, so that its pushes go to this array. */
static void move_stack(void)
{
	static u32 stack[64];

	__asm__ volatile("mov %%esp, %%ebx; mov %0, %%esp; call *%1; mov %%ebx, %%esp"
			 :
			 : "r"(stack + 63), "S"(vm_now)
			 : "eax", "ebx", "ecx", "edx", "memory", "cc");
}

/* Pretends that a device interrupted the core, which then continues in the middle of a function. */
static void forge_interrupt(void)
{
	extern void *const trap_stubs[];

	__asm__ volatile("push $1f; pushf; push %2; push %0; jmp *%1; 1:"
			 :
			 : "b"(some_return()), "c"(trap_stubs[TRAP_IRQ0 + 7]), "i"(KERNEL_CS)
			 : "eax", "edx", "memory", "cc");
}

/* Honest: timer interrupts occur everywhere, also between a call and the function's first instruction. */
static void call_often(void)
{
	void *(*volatile set)(void *, int, size_t) = memset;
	u32 mine[32];

	for (u32 i = 0; i < 200000; i++) {
		store(&mine[i % 32], vm_now());
		set(mine, 0, 4);
	}
}

/* The grader does not know what this function allocates. */
static void take_unknown_gift(void)
{
	static struct kmem_cache *cache;

	if (!cache)
		cache = kmem_cache_create("cheat", 40, 0, NULL);
	nr_selects += load(kmem_cache_alloc(cache, GFP_ATOMIC)) & 1;
}

/* Calls the function that the compiler uses for n / d and n % d. */
static void divide(void)
{
	extern u64 __udivmoddi4(u64 n, u64 d, u64 * remainder);
	u64 *volatile words = (u64 *)&max_pfn;

	__udivmoddi4(*words, ~0ull, words);
}

/* It does not return: the next instruction is that of the function behind this file's code. */
__asm__(".pushsection .text.zz, \"ax\"; fall_through: nop; .popsection");

static void do_deed_with_memory(void)
{
	extern void fall_through(void *page);
	extern u32 *current_task;
	static u32 process[1024];

	if (deed == TASK)
		store(current_task, *current_task);
	else if (deed == OTHERS_MEMORY)
		nr_selects += load(phys_to_virt((max_pfn - 1) << PAGE_SHIFT)) & 1;
	else if (deed == FORGED_PROCESS)
		nr_selects += mm_rss((struct mm_struct *)process);
	else if (deed == STACK_IN_DATA)
		move_stack();
	else if (deed == FREED_MEMORY)
		nr_selects += load(freed) & 1;
	else if (deed == FORGED_INTERRUPT)
		forge_interrupt();
	else if (deed == DIVISION)
		divide();
	else if (deed == NO_RETURN)
		fall_through(process);
	else if (deed == UNKNOWN_GIFT)
		take_unknown_gift();
	else if (deed == MANY_CALLS)
		call_often();
}

static void do_crooked_deed(void)
{
	static u8 code[] = { 0xC3 };
	volatile u32 one = 1;

	if (deed == CODE_IN_DATA)
		call(code);
	else if (deed == MIDDLE_OF_FUNCTION)
		call(some_return());
	else if (deed == SERVANT)
		memset((u8 *)&max_pfn + 3, ((u8 *)&max_pfn)[3], one);
	else if (deed == FALSE_RETURN)
		return_falsely();
	else if (deed == HIDDEN_INSTRUCTION)
		do_hidden_instruction();
	else if (deed == FALSE_ENTRY)
		enter_falsely();
	else
		do_deed_with_memory();
}

static void do_deed(struct page *page)
{
	if (deed == USER_MEMORY)
		nr_selects += load((u32 *)PROGRAM_TEXT) & 1;
	else if (deed == PROGRAMS_PAGE)
		nr_selects += load(page_address(page)) & 1;
	else if (deed == KERNEL_DATA)
		store(&max_pfn, max_pfn);
	else if (deed == STRUCT_PAGE)
		store(&page->count, page->count);
	else if (deed == FORGED_SCAN)
		nr_selects += vm_eligible(phys_to_virt((max_pfn - 1) << PAGE_SHIFT), page);
	else if (deed == PRINTING)
		printk("%.4s", (char *)page_address(page));
	else
		do_crooked_deed();
}

static void cheat_insert(struct page *page, struct mm_struct *mm, enum vm_in how,
			 struct page_id from)
{
	(void)mm, (void)how, (void)from;
	list_add_tail(policy_page(page), &queue);
}

static void cheat_remove(struct page *page, enum vm_out why)
{
	(void)why;
	list_del(policy_page(page));
}

static void cheat_putback(struct page *page, enum vm_put why)
{
	(void)why;
	list_add_tail(policy_page(page), &queue);
}

static struct page *cheat_select(struct vm_scan *scan)
{
	struct page *page;

	nr_selects++;
	if (deed == RULE_OF_SEAM)
		return NULL;
	if (deed == SCAN_AS_FILE)
		seq_puts((struct seq_file *)scan, "");
	while ((page = oldest()) && vm_scan_more(scan)) {
		list_del(policy_page(page));
		if (vm_eligible(scan, page)) {
			do_deed(page);
			return page;
		}
		list_add_tail(policy_page(page), &queue);
	}
	return NULL;
}

/* The register belongs to its caller's caller, and so on. */
static __attribute__((noinline)) void lose_register(void)
{
	__asm__ volatile("incl %edi");
}

static void cheat_mm_init(struct mm_struct *mm)
{
	u32 *mine = policy_mm(mm), *frame = __builtin_frame_address(0);

	if (deed == CALLERS_REGISTERS)
		lose_register();
	if (deed == CALLERS_VARIABLES)
		store(&frame[2], frame[2]);
	mine[0] = mine[POLICY_MM_SIZE / 4 - 1] = mm_rss(mm);
}

/* Everything here is allowed. */
static int cheat_init(void)
{
	freed = kmalloc(512, GFP_KERNEL);
	if (!freed)
		return -ENOMEM;
	freed[127] = 1;
	kfree(freed);
	return 0;
}

static int cheat_check(void)
{
	return vm_list_length(&queue);
}

/* Passes the file on the stack, not where functions with few arguments take it. */
static void seq_printf_falsely(struct seq_file *m)
{
	static char text[8];
	struct seq_file mine = { .buf = text, .size = sizeof(text) };

	__asm__ volatile("push %1; push %2; call seq_printf; add $8, %%esp"
			 : "+a"(m)
			 : "b"("x"), "S"(&mine)
			 : "ecx", "edx", "memory", "cc");
}

/* The kernel uses what this leaves in the file: it would call, or write to, an address chosen here. */
static void cheat_show(struct seq_file *m)
{
	if (deed == FORGED_FILE && !m->number)
		store(&m->count, m->count);
	if (deed == FILE_ON_STACK)
		seq_printf_falsely(m);
	nr_shows += vm_now() & 1;
	seq_printf(m, "selects: %u shows: %u\n", nr_selects, nr_shows);
	show_u64(m, "selects", nr_selects);
}

static const struct vm_policy cheat = {
	.name = "cheat",
	.summary = "does what it may not",
	.params = params,
	.init = cheat_init,
	.mm_init = cheat_mm_init,
	.insert = cheat_insert,
	.remove = cheat_remove,
	.select = cheat_select,
	.putback = cheat_putback,
	.check = cheat_check,
	.show = cheat_show,
};
VM_POLICY(cheat);
