/*
 * far: far calls and returns access the stack as other instructions do. An invalid stack leads to SIGSEGV; a
 * page of the stack that is not present, or not yet the program's own copy, is brought in first. On Linux,
 * too, this must report no failures.
 */
#include "check.h"
#include "lab.h"

#define HELP "usage: far\n"
#define PAGE PAGE_SIZE_BYTES

enum { OTHERS = 6144, WRONG = 4, KERNEL = 0xC0100000, FLAGS = 0x202 };

/* Each takes the stack to use as its argument; the words on it lead to far_back, or far_entry returns by itself. */
__asm__(".text\n"
	"far_lret:	mov 4(%esp), %eax; mov %esp, far_saved; mov %eax, %esp; lret\n"
	"far_iret:	mov 4(%esp), %eax; mov %esp, far_saved; mov %eax, %esp; iret\n"
	"far_lcall:	mov 4(%esp), %eax; mov %esp, far_saved; mov %eax, %esp; lcall *far_target\n"
	"far_back:	mov far_saved, %esp; ret\n"
	"far_entry:	lret\n"
	".bss\n"
	"far_saved:	.long 0\n"
	".text\n");

void far_lret(void *stack), far_iret(void *stack), far_lcall(void *stack);
extern char far_back[], far_entry[];

struct {
	void *offset;
	uint16_t selector;
} far_target = { far_entry, 0 };

/* Invalid stacks. lcall with a stack in the kernel's memory is left out: QEMU before 9.1 would write
 * there (docs/reference/limits.md). */
static const struct {
	void (*run)(void *stack);
	uintptr_t stack;
} wrong[] = {
	{ far_lret, WRONG },  { far_iret, WRONG },  { far_lcall, WRONG },
	{ far_lret, KERNEL }, { far_iret, KERNEL },
};

static void test_wrong_stack(void)
{
	for (size_t n = 0; n < ARRAY_SIZE(wrong); n++) {
		int status = 0;
		pid_t pid = fork();

		if (!pid) {
			wrong[n].run((void *)wrong[n].stack);
			_exit(0);
		}
		CHECK(waitpid(pid, &status, 0) == pid);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	}
}

/* Evicts all resident pages by filling other memory. */
static void evict(void)
{
	char *others = lab_map(OTHERS);

	memset(others, 'o', OTHERS * PAGE);
	CHECK(!munmap(others, OTHERS * PAGE));
}

static void put_frame(uintptr_t *stack)
{
	stack[0] = (uintptr_t)far_back;
	stack[1] = far_target.selector;
	stack[2] = FLAGS;
}

/* Makes a far call with the stack pointer in the middle of a page. The call is the first write to the
 * page, or the first since a fork. */
static void call_on(uintptr_t *page)
{
	uintptr_t *top = page + 512;

	far_lcall(top);
	CHECK(top[-1] == far_target.selector && top[-2] == (uintptr_t)far_back);
	CHECK(!page[0] && !page[511 - 2]);
}

static void test_page_not_present(void)
{
	uintptr_t *stack = lab_map(2);

	call_on(stack);
	put_frame(stack + 1024);
	evict();
	far_lret(stack + 1024);
	evict();
	far_iret(stack + 1024);
	evict();
	far_lcall(stack + 1024);
	put_frame(stack + 1022); /* spans two pages */
	evict();
	far_iret(stack + 1022);
	CHECK(!munmap(stack, 2 * PAGE));
}

/* Copy on write: the child's call does not change the parent's page. */
static void test_page_of_two(void)
{
	uintptr_t *stack = lab_map(1);
	int status = 0;
	pid_t pid;

	stack[511] = 1;
	pid = fork();
	if (!pid) {
		call_on(stack);
		_exit(nr_failures);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	CHECK(stack[511] == 1 && !stack[510]);
	call_on(stack);
}

int main(int argc, char **argv)
{
	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 0, 0, HELP);
	__asm__("mov %%cs, %0" : "=r"(far_target.selector));
	test_wrong_stack();
	test_page_not_present();
	test_page_of_two();
	return check_report("far");
}
