/* What the files of mode=evidence share: evidence.c records, breach.c and flow.c watch a student's code. */
#ifndef EVIDENCE_H
#define EVIDENCE_H

#include "plugin.h"

#define DIRECT_MAP_END (KERNEL_BASE + (896u << 20))

enum { NR_FRAMES = 1 << 20 };
enum kind {
	REF,
	STORE,
	READ,
	WRITE,
	ZERO,
	COPY,
	SWITCH,
	BIRTH,
	EXIT,
	BREACH,
	BUDGET,
	END,
	FILE_READ,
	FILE_WRITE,
	KILLED,
	TABLES
};

/* What can be broken; tidemark.grade.witness.evidence has the sentences. */
enum rule {
	USER_MEMORY,
	PROGRAMS_PAGE,
	KERNEL_DATA,
	STRUCT_PAGE,
	RULE_OF_SEAM,
	CODE,
	CONTROL,
	INSTRUCTION,
	MEMORY,
	ARGUMENT,
	STACK,
	REGISTERS
};

/*
 * What is given as ranges: the student's code, what it may store into, the kernel's image, the policy's part of a
 * struct page; code of the kernel: which counts as the student's own doing (flow.c), which calls select, show,
 * and hooks with arguments on the stack, and which kills programs for want of memory.
 */
enum region {
	TEXT,
	OWN,
	IMAGE,
	POLICY,
	DEPUTIES,
	READERS,
	SELECTORS,
	SHOWERS,
	PASSERS,
	KILLERS,
	NR_REGIONS
};

#pragma GCC visibility push(hidden)

/* Adds a record of the address space in use; @rule is for BREACH. Ends a run of references. */
void evidence_put(enum kind kind, uint8_t rule, uint32_t a, uint32_t b);
/* Where the store begins: the first frame above those of the kernel. */
uint32_t evidence_border(void);

/* false: not an option of breach.c */
bool breach_option(const char *name, const char *value);
void breach_start(void);
void breach_translate(struct qemu_plugin_insn *insn, uint32_t pc);
/* An instruction broke a rule; each breaks each once. */
void breach_put(enum rule rule, uint32_t pc, uint32_t address);
/* The student's code accesses an address: is it its business? */
void breach_access(uint32_t pc, uint32_t info, uint32_t address);
bool breach_is_students(uint32_t pc);
bool breach_lies_in(enum region region, uint32_t address);
bool breach_is_page(uint32_t address);
/*
 * Of owned.c. A visit of the student's code: where on the stack its first function's return address lies, which
 * it is, and what that was called with; while it calls the kernel, what this gives it, and of how many bytes. When
 * it is over: the registers that the kernel wants back.
 */
enum { NR_KEPT = 4 };
struct visit {
	uint32_t top, from, argument, gives, size, kept[NR_KEPT];
};
bool owned_option(const char *name, const char *value);
void owned_translate(struct qemu_plugin_insn *insn, uint32_t pc);
/* The kernel calls the student's code, at @pc. */
void owned_enter(uint32_t pc, uint32_t esp);
/* It is left at @pc, interrupted or by a call; and the end of that. */
struct visit owned_leave(uint32_t pc, uint32_t esp);
struct visit owned_call(uint32_t pc, uint32_t entry, uint32_t esp);
void owned_return(struct visit visit);
/* Is what lies there its own, or for it to read? Of the kernel's image and struct pages others know. */
bool owned_may(uint32_t address, bool stores);
bool owned_on_stack(uint32_t address);
/* Of flow.c; false: not an option of it. */
bool flow_option(const char *name, const char *value);
/* Is it the student's code that runs? What an interrupt pushes is taken by QEMU for the last instruction's doing. */
bool flow_inside(void);
void flow_translate_block(struct qemu_plugin_tb *tb);
void flow_translate(struct qemu_plugin_insn *insn, uint32_t pc);
/* Tidings of a frame: a program referred to it, it goes to the store, it gets other contents. */
void breach_referred(uint16_t space, uint32_t page, uint32_t frame);
void breach_written(uint32_t frame);
void breach_filled(uint32_t frame);

#pragma GCC visibility pop

#endif
