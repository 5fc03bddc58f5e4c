/*
 * The kernel's call tree, with the number of instructions at each of its nodes.
 *
 * Every task has a stack, and its own list of frames here. A frame is a function, with the stack
 * pointer when it began. Of the guest only the stack pointer is read:
 *
 *	a function begins: its frame is pushed; frames that are not above it have ended, because a jump
 *	to a function (a tail call) replaces the caller
 *	the stack pointer is above a frame: its function has returned
 *	a function continues that is not the last frame's: it is one further down, or its beginning was
 *	never seen, as in a forked task, and it gets a frame
 *
 * An interrupt handler's frame lies on the frames that it interrupts. After a program's own
 * instructions the list is empty. After a task switch within one function, the instructions until the
 * next function count for the previous task.
 *
 * The instruction counts come from profile.c's counters by function: the growth of a function's counter
 * while the function was the last frame belongs to its node in the tree. So the sums by function are the profile.
 */
#include "stacks.h"

#include <stdlib.h>

enum { STACK_SHIFT = 13 }; /* log2 of KERNEL_STACK_SIZE, kernel/include/arch/task.h */
enum { MAX_STACKS = 1 << 12, MAX_DEPTH = 120, MAX_NODES = 1 << 18, ROOT = 0 };

struct node {
	uint32_t function, parent, child, sibling;
	uint64_t instructions;
};

struct stack {
	uint32_t number; /* its addresses without the last STACK_SHIFT bits */
	uint32_t depth;
	struct frame {
		uint32_t esp, node;
	} frames[MAX_DEPTH];
};

static struct node *nodes; /* nodes[0] is the root, which has no function */
static uint32_t nr_nodes = 1, now;
static struct stack *stacks[MAX_STACKS];
static size_t nr_stacks;
static uint64_t settled; /* part of the running function's counter already added */
static size_t outside;
static uint64_t seen_outside;

void stacks_init(size_t counter)
{
	outside = counter;
	nodes = calloc(MAX_NODES, sizeof(*nodes));
	if (!nodes)
		fail("out of memory");
	nodes[ROOT].function = UINT32_MAX;
}

static uint32_t called_from(uint32_t parent, uint32_t function)
{
	uint32_t node;

	for (node = nodes[parent].child; node; node = nodes[node].sibling)
		if (nodes[node].function == function)
			return node;
	if (nr_nodes == MAX_NODES)
		fail("more than %d stacks of functions", MAX_NODES);
	nodes[nr_nodes] = (struct node){ function, parent, 0, nodes[parent].child, 0 };
	nodes[parent].child = nr_nodes;
	return nr_nodes++;
}

/* The stack pointer of an empty stack is the address after the stack's end. */
static struct stack *stack_at(uint32_t esp)
{
	static struct stack *last;
	uint32_t number = (esp - 1) >> STACK_SHIFT;

	if (last && last->number == number)
		return last;
	for (size_t i = 0; i < nr_stacks; i++)
		if (stacks[i]->number == number)
			return last = stacks[i];
	if (nr_stacks == MAX_STACKS)
		fail("more than %d stacks", MAX_STACKS);
	last = calloc(1, sizeof(*last));
	if (!last)
		fail("out of memory");
	last->number = number;
	return stacks[nr_stacks++] = last;
}

static void push(struct stack *stack, uint32_t esp, uint32_t function)
{
	uint32_t parent = stack->depth ? stack->frames[stack->depth - 1].node : (uint32_t)ROOT;

	if (stack->depth == MAX_DEPTH)
		stack->depth--;
	stack->frames[stack->depth++] = (struct frame){ esp, called_from(parent, function) };
}

/* Pops frames down to the last one of @function. Returns false if there is none. */
static bool back_to(struct stack *stack, uint32_t function)
{
	for (uint32_t depth = stack->depth; depth; depth--)
		if (nodes[stack->frames[depth - 1].node].function == function) {
			stack->depth = depth;
			return true;
		}
	return false;
}

static void settle(void)
{
	if (now != ROOT)
		nodes[now].instructions += counters[nodes[now].function] - settled;
}

static void on_function(unsigned int cpu, void *data)
{
	uint32_t function = (uintptr_t)data >> 1, esp;
	bool begins = (uintptr_t)data & 1;
	struct stack *stack;

	(void)cpu;
	if (!begins && nodes[now].function == function)
		return;
	settle();
	esp = read_register(ESP);
	stack = stack_at(esp);
	if (counters[outside] != seen_outside) {
		seen_outside = counters[outside];
		stack->depth = 0;
	}
	while (stack->depth && stack->frames[stack->depth - 1].esp < esp + begins)
		stack->depth--;
	if (begins || !back_to(stack, function))
		push(stack, esp, function);
	now = stack->frames[stack->depth - 1].node;
	settled = counters[function];
}

void stacks_at(struct qemu_plugin_insn *insn, size_t function, bool begins)
{
	uintptr_t data = function << 1 | begins;

	qemu_plugin_register_vcpu_insn_exec_cb(insn, on_function, CB_R_REGS, (void *)data);
}

static void write_path(FILE *file, uint32_t node, const char *(*name_of)(size_t))
{
	if (nodes[node].parent != ROOT) {
		write_path(file, nodes[node].parent, name_of);
		fputc(';', file);
	}
	fputs(name_of(nodes[node].function), file);
}

void stacks_write(FILE *file, const char *(*name_of)(size_t function))
{
	settle();
	now = ROOT;
	for (uint32_t node = 1; node < nr_nodes; node++) {
		if (!nodes[node].instructions)
			continue;
		write_path(file, node, name_of);
		fprintf(file, " %llu\n", (unsigned long long)nodes[node].instructions);
	}
}
