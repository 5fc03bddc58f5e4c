/*
 * Shared by the plugin's files, with the part of QEMU's interface that they use. That part is declared
 * here because distributions do not package QEMU's header.
 *
 * One plugin suits QEMU 7.2 (plugin API 1) to 11.1 (API 7); api.c has the differences. Functions that
 * some versions lack are weak. The functions from qmp_query_version on are not part of the API: they
 * are available if QEMU exports all its symbols, as it does when it is built with modules.
 */
#ifndef PLUGIN_H
#define PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define KERNEL_BASE 0xC0000000u
#define PAGE_SIZE 4096u
#define EXPORT __attribute__((visibility("default")))
#define MAY_LACK __attribute__((weak))

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_scoreboard;
struct qemu_plugin_hwaddr;
struct scoreboard_entry {
	struct qemu_plugin_scoreboard *scoreboard;
	size_t offset;
};
struct byte_array { /* GLib's GByteArray */
	uint8_t *data;
	unsigned int len;
};
struct register_array { /* a GArray; newer ones have more fields */
	struct register_entry {
		void *handle;
		const char *name;
	} *data;
	unsigned int len;
};
struct version { /* QEMU's VersionInfo */
	const struct {
		int64_t major, minor;
	} *qemu;
};
enum { CB_NO_REGS, CB_R_REGS };
enum { MEM_RW = 3 };
enum { INLINE_ADD_U64 };
typedef void exec_callback(unsigned int cpu, void *data);
typedef void mem_callback(unsigned int cpu, uint32_t info, uint64_t address, void *data);

/* The callbacks get (id, tb), and (id, data) at the end; since API 7 (tb, data), and (data). */
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*)(void), void *data);
void qemu_plugin_register_atexit_cb(uint64_t id, void (*)(void), void *data);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, exec_callback *, int, void *);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, exec_callback *, int,
					    void *);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, mem_callback *, int, int rw,
				      void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
unsigned int qemu_plugin_mem_size_shift(uint32_t info);
bool qemu_plugin_mem_is_store(uint32_t info);
/* Only in the callback that received this info; valid until the next call. NULL: not known. */
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(uint32_t info, uint64_t address);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *);

MAY_LACK void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *, int op, void *,
							 uint64_t);
MAY_LACK void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *, int op,
								  struct scoreboard_entry,
								  uint64_t);
MAY_LACK void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, int op, void *,
						       uint64_t);
MAY_LACK void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(struct qemu_plugin_tb *, int op,
								struct scoreboard_entry, uint64_t);
MAY_LACK struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t size);
MAY_LACK void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *, unsigned int cpu);

MAY_LACK struct register_array *qemu_plugin_get_registers(void);
MAY_LACK int qemu_plugin_read_register(void *handle, struct byte_array *); /* API 6: bool */
MAY_LACK bool qemu_plugin_read_memory_vaddr(uint64_t address, struct byte_array *, size_t);

MAY_LACK struct version *qmp_query_version(void **error);
MAY_LACK int x86_cpu_gdb_read_register(void *cpu, struct byte_array *, int number);
MAY_LACK void *qemu_get_cpu(int index);
MAY_LACK int cpu_memory_rw_debug(void *cpu, uint64_t address, void *buffer, size_t, bool write);
MAY_LACK int64_t qemu_clock_get_ns(int clock);
MAY_LACK void timer_init_full(void *timer, void *group, int clock, int scale, int attributes,
			      void (*)(void *), void *data);
MAY_LACK void timer_mod_ns(void *timer, int64_t ns);
MAY_LACK void *qemu_get_aio_context(void);
MAY_LACK void aio_bh_schedule_oneshot_full(void *context, void (*)(void *), void *data,
					   const char *name);
MAY_LACK void cpu_stop_current(void);
MAY_LACK __attribute__((noreturn)) void cpu_loop_exit_restore(void *cpu, uintptr_t host_pc);
MAY_LACK int vm_stop(int state);
MAY_LACK void *qemu_add_vm_change_state_handler(void (*)(void *, bool running, int state), void *);
MAY_LACK bool runstate_is_running(void);
MAY_LACK bool cpu_is_stopped(void *cpu);
unsigned int g_array_get_element_size(void *array);
struct byte_array *g_byte_array_new(void);
struct byte_array *g_byte_array_set_size(struct byte_array *, unsigned int size);

struct source_functions { /* GLib's GSourceFuncs */
	int (*prepare)(void *source, int *timeout);
	int (*check)(void *source);
	int (*dispatch)(void *source, void *callback, void *data);
	void (*finalize)(void *source);
	void *closure[2];
};
void *g_source_new(struct source_functions *, unsigned int size);
void g_source_set_priority(void *source, int);
unsigned int g_source_attach(void *source, void *context);

/* Hidden, so that the plugin's names do not clash with QEMU's. */
#pragma GCC visibility push(hidden)

/* output.c */

/* Exit statuses of QEMU when the plugin ends it. The last one: because of what the guest did. */
enum { PLUGIN_FAILED = 70, PLUGIN_OVER_BUDGET, PLUGIN_GUESTS_FAULT };

/* Prints "tidemark plugin: ..." and ends QEMU, without running exit handlers. */
__attribute__((noreturn, format(printf, 1, 2))) void fail(const char *fmt, ...);
/* Same as fail(), if the guest did something that makes recording impossible. */
__attribute__((noreturn, format(printf, 1, 2))) void fail_of_guest(const char *fmt, ...);

/* Opens a file for writing that gets its name in close_whole: readers see all of it or nothing. */
FILE *open_whole(const char *name);
void close_whole(FILE *file, const char *name);

/* options.c */

/* Sets the numeric option @name. Returns false if @numbers has no such option. */
struct number {
	const char *name;
	uint64_t *to;
};
bool number_option(const struct number *numbers, size_t nr, const char *name, const char *value);
#define NUMBER_OPTION(numbers, name, value)                                                        \
	number_option(numbers, sizeof(numbers) / sizeof((numbers)[0]), name, value)

/* Addresses of instructions: ADDRESS:ADDRESS... */
enum { MAX_PCS = 64 };
struct pcs {
	uint64_t at[MAX_PCS];
	size_t nr;
};
bool pcs_option(struct pcs *pcs, const char *value);
bool is_among(const struct pcs *pcs, uint64_t pc);

/* api.c */

/* Call first. Fails if this QEMU lacks what every mode needs. */
void api_init(void);
/* Calls @translate for every block, and @finish at the end. */
void api_register(uint64_t id, void (*translate)(struct qemu_plugin_tb *), void (*finish)(void));
/* Reads a CPU register by its number in instruction encodings; only in a callback with CB_R_REGS. */
enum { EAX, ECX, EDX, EBX, ESP, EBP, ESI, EDI };
uint32_t read_register(int number);
/* Reads a word of the guest's memory at an address that is currently mapped. */
uint32_t read_word(uint32_t address);
uint64_t read_long(uint32_t address);
void read_memory(uint32_t address, void *to, size_t size);

/* Counters that translated code increments without a call. */
extern uint64_t *counters;
void counters_init(size_t nr);
/* Makes @insn increment counters[@index] whenever it begins, after its callbacks. */
void count_insn(struct qemu_plugin_insn *insn, size_t index);
/* Makes @tb add the number of its instructions to counters[@index] whenever it begins: much quicker, but after a fault in its
 * middle the rest counts, too. */
void count_block(struct qemu_plugin_tb *tb, size_t index);

/* space.c */

/* The page directory in use; 0 until the kernel, in its own half, loads one for the first time. */
extern uint32_t current_cr3;

/* Called, unless NULL, before another page directory is loaded; current_cr3 is still the old one. */
extern void (*space_switches)(uint32_t cr3);
/* Observes @insn if it loads a page directory. */
void space_watch(struct qemu_plugin_insn *insn);

/* The modes, one file each; tidemark.c runs the one that is chosen. */
struct mode {
	const char *name;
	/* Returns false if this mode has no such option. */
	bool (*option)(const char *name, const char *value);
	void (*start)(void);
	void (*translate)(struct qemu_plugin_tb *tb);
	/* See space_switches. */
	void (*switch_space)(uint32_t cr3);
	void (*finish)(void);
};

extern const struct mode trace_mode, profile_mode, evidence_mode, count_mode, cover_mode,
	place_mode, past_mode, frames_mode, alloc_mode, holds_mode, events_mode;

#pragma GCC visibility pop

#endif
