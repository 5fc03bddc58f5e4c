/* Shared by the files of mode=evidence: evidence.c records, breach.c and flow.c watch a student's code. */
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

/* The rules that can be broken; tidemark.grade.witness.evidence has the messages. */
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
 * The options that are ranges: the student's code, where it may store, the kernel's image, the policy's part of a
 * struct page; and kernel code: the functions that act for the student (flow.c), those that call select, those that
 * call show, those that call hooks with arguments on the stack, and those that kill programs when out of memory.
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

/* Adds a record for the current address space; @rule is for BREACH. Ends a run of references. */
void evidence_put(enum kind kind, uint8_t rule, uint32_t a, uint32_t b);
/* Returns the first frame of the store, which is the first above the kernel's memory. */
uint32_t evidence_border(void);

/* Returns false if breach.c has no such option. */
bool breach_option(const char *name, const char *value);
void breach_start(void);
void breach_translate(struct qemu_plugin_insn *insn, uint32_t pc);
/* Records that an instruction broke a rule, once for each instruction and rule. */
void breach_put(enum rule rule, uint32_t pc, uint32_t address);
/* Checks an access by the student's code. */
void breach_access(uint32_t pc, uint32_t info, uint32_t address);
bool breach_is_students(uint32_t pc);
bool breach_lies_in(enum region region, uint32_t address);
bool breach_is_page(uint32_t address);
/*
 * For rights.c. A visit is one call from the kernel into the student's code: the stack address of its return address,
 * the function called, and its first argument. While the student's code calls the kernel: what that call allocates and
 * its size in bytes. After the visit: the registers that the kernel expects back.
 */
enum { NR_KEPT = 4 };
struct visit {
	uint32_t top, from, argument, gives, size, kept[NR_KEPT];
};
bool owned_option(const char *name, const char *value);
void owned_translate(struct qemu_plugin_insn *insn, uint32_t pc);
/* The kernel calls the student's code at @pc. */
void owned_enter(uint32_t pc, uint32_t esp);
/* The student's code is interrupted at @pc, or calls the kernel; owned_return() ends either. */
struct visit owned_leave(uint32_t pc, uint32_t esp);
struct visit owned_call(uint32_t pc, uint32_t entry, uint32_t esp);
void owned_return(struct visit visit);
/* May the code access this address? Not for the kernel's image and struct pages, which breach.c checks. */
bool owned_may(uint32_t address, bool stores);
bool owned_on_stack(uint32_t address);
/* Returns false if flow.c has no such option. */
bool flow_option(const char *name, const char *value);
/* Is the student's code running? QEMU attributes an interrupt's pushes to the last instruction before it. */
bool flow_inside(void);
void flow_translate_block(struct qemu_plugin_tb *tb);
void flow_translate(struct qemu_plugin_insn *insn, uint32_t pc);
/* Events of a frame: a program refers to it, it is written to the store, it gets other contents. */
void breach_referred(uint16_t space, uint32_t page, uint32_t frame);
void breach_written(uint32_t frame);
void breach_filled(uint32_t frame);

#pragma GCC visibility pop

#endif
