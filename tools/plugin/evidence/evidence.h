/*
 * Shared by the files of mode=evidence, from the bottom to the top: a file uses only those before it.
 *
 *	record.c   the file of records
 *	disk.c     what is written to the disk for files
 *	regions.c  what lies at an address: the student's code, the kernel's image, struct pages
 *	rights.c   which memory the student's code may access and pass to the kernel
 *	breach.c   forbidden accesses to memory
 *	flow.c     how control passes between the kernel and the student's code
 *	../evidence.c  the mode: references of programs, frames, address spaces
 */
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
	TABLES,
	FLUSH,
	REQUEST,
	ENDED
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

/* The counters: instructions begun by programs, and by the kernel. */
enum { USER, KERNEL, NR_COUNTERS };

#pragma GCC visibility push(hidden)

/* record.c. Each X_option returns false if X.c has no such option; X_start comes after all options. */
bool record_option(const char *name, const char *value);
void record_start(void);
/* Adds a record for the current address space; @rule is for BREACH. Ends a run of references. */
void record_put(enum kind kind, uint8_t rule, uint32_t a, uint32_t b);
/* Adds a record for another address space. */
void record_put_of(uint16_t space, enum kind kind, uint8_t rule, uint32_t a, uint32_t b);
/* Records that an instruction broke a rule, once for each instruction and rule. */
void record_breach(enum rule rule, uint32_t pc, uint32_t address);
/* Adds END, and closes the file. */
void record_end(uint64_t virtual_ns);
/* Ends QEMU if there were more instructions than budget=, too many before any program ran, or too many records. */
void record_check_budget(void);
/* The current address space. */
extern uint16_t record_space;
/* The current run of references to one page. */
#define NO_PAGE (~0u)
extern struct run {
	uint32_t page;
	enum kind kind; /* of the first */
} record_run;

/* disk.c */
bool disk_option(const char *name, const char *value);
void disk_start(void);
void disk_translate(struct qemu_plugin_insn *insn, uint64_t pc);
/* Bytes of a page, at address @from, are written to the disk for files at byte @to. */
void disk_written(uint32_t to, uint32_t from, uint32_t size);
/* Closes the file. */
void disk_end(void);

/* regions.c */
bool region_option(const char *name, const char *value);
void region_start(void);
/* Was the option given? */
bool region_given(enum region region);
bool region_contains(enum region region, uint32_t address);
/* Returns the first frame of the store, which is the first above the kernel's memory. */
uint32_t region_border(void);
/* Does the address lie in a struct page? At its beginning? In a field that does not belong to the policy? */
bool region_in_pages(uint32_t address);
bool region_is_page(uint32_t address);
bool region_is_cores_field(uint32_t address);

/*
 * rights.c. A visit is one call from the kernel into the student's code: the stack address of its return address,
 * the function called, and its first argument. While the student's code calls the kernel: what that call allocates and
 * its size in bytes. After the visit: the registers that the kernel expects back.
 */
enum { NR_KEPT = 4 };
struct visit {
	uint32_t top, from, argument, gives, size, kept[NR_KEPT];
};
bool rights_option(const char *name, const char *value);
void rights_translate(struct qemu_plugin_insn *insn, uint32_t pc);
/* Call when the kernel calls the student's code at @pc. */
void rights_enter(uint32_t pc, uint32_t esp);
/* Call when the student's code is interrupted at @pc, or calls the kernel; rights_return() ends
 * either. */
struct visit rights_leave(uint32_t pc, uint32_t esp);
struct visit rights_call(uint32_t pc, uint32_t entry, uint32_t esp);
/* Does contracts= list the function that begins here? */
bool rights_has_contract(uint32_t entry);
void rights_return(struct visit visit);
/* May the code access this address? Not for the kernel's image and struct pages, which breach.c checks. */
bool rights_may(uint32_t address, bool stores);
bool rights_on_stack(uint32_t address);

/* breach.c */
bool breach_option(const char *name, const char *value);
void breach_start(void);
void breach_translate(struct qemu_plugin_insn *insn, uint32_t pc);
/* Checks an access by the student's code. */
void breach_access(uint32_t pc, uint32_t info, uint32_t address);
/* Events of a frame: a program refers to it, it is written to the store, it gets other contents. */
void breach_referred(uint16_t space, uint32_t page, uint32_t frame);
void breach_written(uint32_t frame);
void breach_filled(uint32_t frame);

/* flow.c */
bool flow_option(const char *name, const char *value);
void flow_translate_block(struct qemu_plugin_tb *tb);
void flow_translate(struct qemu_plugin_insn *insn, uint32_t pc);

#pragma GCC visibility pop

#endif
