/*
 * mode=evidence, control flow: the kernel executes only its text as it was linked, and passes between
 * that text and the student's code only at permitted points.
 *
 * There is no execute protection here, so bytes anywhere can be code, and a jump can go to the middle
 * of a function, which then acts for the student. So each instruction in the kernel's half is checked
 * when QEMU translates it: it must lie in code=, and be what lay there when the kernel began. Whenever
 * control passes from a block of the student's code to one of the kernel's, or back, the transfer must
 * be one of these:
 *
 *	a call to one of entries=, which returns into the student's code or, if it was a tail call,
 *	to the return address of the calling function
 *	the return of a student's function to its caller, with the callee-saved registers restored;
 *	otherwise the kernel would go on with a stack and variables that the student chose
 *	an interrupt or an exception, vectors=, and the return from it
 *
 * A block of the student's code that runs on into another file's code ends where that code begins.
 *
 * An interrupt can come between a block of the student's code and one of the kernel's. But code that
 * jumps to a vector imitates an interrupt, and its frame on the stack may say anything. So the place
 * where an interrupted kernel resumes is checked then, as if there had been no interrupt.
 *
 * A place is an address with the stack pointer there. Tasks have their own stacks, so their places
 * are distinct, and no return can be used twice.
 *
 * Some functions access any address that they are given (memset, the red-black tree, snprintf). The
 * loads and stores of deputies=, ranges of code, count as the student's own while the student's code
 * has called one of servants=. What interrupts them does not count, nor what they call by contract
 * (kzalloc): its arguments are checked, and its result is given to the student, as if the student's
 * code had called it. Functions in tellers=, such as
 * printk, have memory of their own; of them only the loads of readers= count: the format and its strings.
 *
 * The grader looks for instructions for devices, interrupts and control registers in the object file,
 * in the order in which they stand there. This file looks for them in the bytes that are executed,
 * however control reached them.
 */
#include "evidence.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PLACES = 1024, MAX_ADDRESSES = 256, NMI = 2, FIRST_INTERRUPT = 32 };
/* Exceptions that push an error code: bits by their numbers. */
#define WITH_ERROR_CODE 0x60227D00u

struct addresses {
	size_t nr;
	uint32_t at[MAX_ADDRESSES];
};

/* A place to which control must return: the instruction, and the stack pointer there. */
struct places {
	size_t nr;
	struct place {
		uint32_t pc, esp;
		struct visit visit; /* the visit that resumes there */
	} at[MAX_PLACES];
};

static struct addresses entries, vectors, servants, tellers;
static uint32_t code_low, code_high;
static uint8_t *linked; /* the code as it was when the kernel began */

static struct places to_student, to_kernel;
static struct places delayed; /* places in the kernel that were reached from the student's code */
static bool inside; /* the last block in the kernel's half was the student's */
static uint32_t last_block; /* of the student's code */
static enum { NOBODY, TELLER, SERVANT } serving; /* the kernel function that runs for the student */
static struct place served; /* the place to which that function returns */
static bool suspended; /* that function is interrupted, or has called a function with a contract */
static struct place resumed;
static bool calls; /* the latter */

static bool is_students(uint32_t pc)
{
	return region_contains(TEXT, pc);
}

static bool among(const struct addresses *addresses, uint32_t pc)
{
	for (size_t i = 0; i < addresses->nr; i++)
		if (addresses->at[i] == pc)
			return true;
	return false;
}

/* Adds a place as the newest, the last. If there is no room, drops the oldest: its task never
 * returned. */
static void expect(struct places *places, uint32_t pc, uint32_t esp, struct visit visit)
{
	for (size_t i = places->nr; i-- > 0;)
		if (places->at[i].esp == esp) {
			places->at[i] = (struct place){ pc, esp, visit };
			return;
		}
	if (places->nr == MAX_PLACES)
		memmove(places->at, places->at + 1, --places->nr * sizeof(*places->at));
	places->at[places->nr++] = (struct place){ pc, esp, visit };
}

static bool was_expected(struct places *places, uint32_t pc, uint32_t esp, struct visit *visit)
{
	for (size_t i = places->nr; i-- > 0;)
		if (places->at[i].esp == esp && places->at[i].pc == pc) {
			*visit = places->at[i].visit;
			places->nr--;
			memmove(places->at + i, places->at + i + 1,
				(places->nr - i) * sizeof(*places->at));
			return true;
		}
	return false;
}

static uint32_t vector_of(uint32_t pc)
{
	uint32_t number = 0;

	while (number < vectors.nr && vectors.at[number] != pc)
		number++;
	return number;
}

/* Returns the place that an interrupt pushed, at the first instruction of its handler. */
static struct place interrupted(uint32_t esp, uint32_t pc)
{
	uint32_t number = vector_of(pc);

	if (number < FIRST_INTERRUPT && WITH_ERROR_CODE >> number & 1)
		esp += 4;
	return (struct place){ .pc = read_word(esp), .esp = esp + 12 };
}

/*
 * Is this frame forged? True if it returns to a program, or belongs to an exception in the kernel, which may resume
 * elsewhere (a fixup): the student's code causes neither. A double fault is a task of its own and has no frame; an NMI
 * arrives like an interrupt.
 */
static bool is_forged(struct place interrupted, uint32_t vector)
{
	if (!interrupted.pc)
		return false;
	return (read_word(interrupted.esp - 8) & 3) ||
	       (vector < FIRST_INTERRUPT && vector != NMI && !is_students(interrupted.pc));
}

static const int callee_saved[NR_KEPT] = { EBX, EBP, ESI, EDI };

static void check_registers(const struct visit *visit, uint32_t pc)
{
	for (int i = 0; i < NR_KEPT; i++)
		if (read_register(callee_saved[i]) != visit->kept[i])
			record_breach(REGISTERS, last_block, pc);
}

static void called(uint32_t pc, uint32_t esp)
{
	uint32_t back = read_word(esp);
	struct visit visit = rights_call(last_block, pc, esp), begun;

	/* The very last instruction may be a call that does not return: the code after it is another file's. */
	if (is_students(back) || is_students(back - 1)) {
		expect(is_students(back) ? &to_student : &delayed, back, esp + 4, visit);
	} else if (was_expected(&to_kernel, back, esp + 4, &begun)) {
		check_registers(&begun, pc);
	} else {
		record_breach(CONTROL, last_block, pc);
		return;
	}
	if (!suspended && (among(&servants, pc) || among(&tellers, pc))) {
		serving = among(&servants, pc) ? SERVANT : TELLER;
		served = (struct place){ .pc = back, .esp = esp + 4 };
	}
}

static void left(uint32_t pc)
{
	uint32_t esp = read_register(ESP);
	struct visit visit;

	inside = false;
	if (among(&vectors, pc)) {
		struct place place = interrupted(esp, pc);

		if (is_forged(place, vector_of(pc)))
			record_breach(CONTROL, last_block, place.pc);
		expect(is_students(place.pc) ? &to_student : &delayed, place.pc, place.esp,
		       rights_leave(last_block, esp));
	} else if (among(&entries, pc)) {
		called(pc, esp);
	} else if (was_expected(&to_kernel, pc, esp, &visit)) {
		check_registers(&visit, pc);
	} else {
		record_breach(CONTROL, last_block, pc);
	}
}

static void end_service(uint32_t pc)
{
	uint32_t esp = read_register(ESP);

	if (suspended) {
		suspended = pc != resumed.pc || esp != resumed.esp;
		if (!suspended && calls)
			rights_return(resumed.visit);
	} else if (among(&vectors, pc)) {
		suspended = true;
		calls = false;
		resumed = interrupted(esp, pc);
	} else if (serving == SERVANT && rights_has_contract(pc)) {
		suspended = calls = true;
		resumed =
			(struct place){ read_word(esp), esp + 4, rights_call(last_block, pc, esp) };
	}
	if (!suspended && pc == served.pc && esp == served.esp)
		serving = NOBODY;
}

static void on_kernels_block(unsigned int cpu, void *data)
{
	uint32_t pc = (uintptr_t)data;
	struct visit visit;

	(void)cpu;
	if (!inside && delayed.nr && was_expected(&delayed, pc, read_register(ESP), &visit)) {
		rights_return(visit);
		inside = true;
	}
	if (inside)
		left(pc);
	if (serving)
		end_service(pc);
}

static void on_students_block(unsigned int cpu, void *data)
{
	uint32_t pc = (uintptr_t)data, esp;
	struct visit visit;

	(void)cpu;
	last_block = pc;
	if (inside)
		return;
	inside = true;
	esp = read_register(ESP);
	if (serving)
		end_service(pc);
	if (was_expected(&to_student, pc, esp, &visit)) {
		rights_return(visit);
		return;
	}
	rights_enter(pc, esp);
	visit = (struct visit){ 0 };
	for (int i = 0; i < NR_KEPT; i++)
		visit.kept[i] = read_register(callee_saved[i]);
	expect(&to_kernel, read_word(esp), esp + 4, visit);
}

/* Returns the first instruction after the student's code, if a block runs on into it; the linker chose what follows. */
static struct qemu_plugin_insn *beyond(struct qemu_plugin_tb *tb)
{
	size_t nr = qemu_plugin_tb_n_insns(tb);

	for (size_t i = 1; i < nr; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (!is_students(qemu_plugin_insn_vaddr(insn)))
			return insn;
	}
	return NULL;
}

void flow_translate_block(struct qemu_plugin_tb *tb)
{
	uint32_t pc = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0));
	bool students = is_students(pc);
	struct qemu_plugin_insn *next = students ? beyond(tb) : NULL;

	if (!entries.nr)
		return;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, students ? on_students_block : on_kernels_block,
					     CB_R_REGS, (void *)(uintptr_t)pc);
	if (next)
		qemu_plugin_register_vcpu_insn_exec_cb(
			next, on_kernels_block, CB_R_REGS,
			(void *)(uintptr_t)qemu_plugin_insn_vaddr(next));
}

/* --- instructions --- */

static void on_other_code(unsigned int cpu, void *data)
{
	(void)cpu;
	record_breach(CODE, (uintptr_t)data, (uintptr_t)data);
}

static void on_forbidden(unsigned int cpu, void *data)
{
	(void)cpu;
	record_breach(INSTRUCTION, (uintptr_t)data, (uintptr_t)data);
}

/* The second byte after 0F. In the gaps lie movnti, bswap, conditional moves and setcc. */
static bool is_of_vectors(uint8_t byte)
{
	return (byte >= 0x10 && byte < 0x18) || (byte >= 0x28 && byte < 0x30) ||
	       (byte >= 0x50 && byte < 0x80) || byte == 0xC2 || (byte >= 0xC4 && byte < 0xC7) ||
	       (byte >= 0xD0 && byte < 0xFF);
}

/*
 * Is this an instruction that a student's code must not contain? The tables hold opcodes: one of
 * one byte, the other of the byte after 0F.
 */
static bool is_forbidden(const uint8_t *bytes, size_t size)
{
	static const uint8_t one[] = "\x06\x07\x0E\x16\x17\x1E\x1F\x6C\x6D\x6E\x6F\x8E\x9A\x9D"
				     "\xC4\xC5\xCA\xCB\xCC\xCD\xCE\xCF\xE4\xE5\xE6\xE7\xEA\xEC"
				     "\xED\xEE\xEF\xF1\xF4\xFA\xFB\xD8\xD9\xDA\xDB\xDC\xDD\xDE\xDF";
	static const uint8_t two[] = "\x01\x05\x06\x07\x08\x09\x20\x21\x22\x23\x30\x32\x34\x35"
				     "\xA0\xA1\xA8\xA9\xAE\xB2\xB4\xB5";
	size_t at = 0;

	while (at + 1 < size &&
	       memchr("\x26\x2E\x36\x3E\x64\x65\x66\x67\xF0\xF2\xF3", bytes[at], 11))
		at++;
	if (bytes[at] == 0x0F && at + 1 < size) /* lldt and the like are 0F 00 */
		return !bytes[at + 1] || memchr(two, bytes[at + 1], sizeof(two) - 1) ||
		       is_of_vectors(bytes[at + 1]);
	if (bytes[at] == 0xFF && at + 1 < size) /* far call and jump through memory */
		return (bytes[at + 1] >> 3 & 7) == 3 || (bytes[at + 1] >> 3 & 7) == 5;
	return memchr(one, bytes[at], sizeof(one) - 1);
}

static bool is_as_linked(uint32_t pc, const uint8_t *bytes, size_t size)
{
	if (pc < code_low || pc + size > code_high)
		return !linked; /* until then, the BIOS runs */
	if (!linked) {
		linked = malloc(code_high - code_low);
		if (!linked)
			fail("out of memory");
		read_memory(code_low, linked, code_high - code_low);
	}
	return !bytes || !memcmp(linked + pc - code_low, bytes, size);
}

/* QEMU attributes an interrupt's pushes to the last instruction before it, so ask whether this code still runs. */
static void on_students_access(unsigned int cpu, uint32_t info, uint64_t address, void *data)
{
	(void)cpu;
	if (inside)
		breach_access((uintptr_t)data, info, address);
}

/* @data: does the instruction belong to readers=, too? */
static void on_deputys_access(unsigned int cpu, uint32_t info, uint64_t address, void *data)
{
	(void)cpu;
	if (suspended)
		return;
	if (serving == SERVANT || (serving == TELLER && data && !qemu_plugin_mem_is_store(info)))
		breach_access(last_block, info, address);
}

void flow_translate(struct qemu_plugin_insn *insn, uint32_t pc)
{
	const uint8_t *bytes = qemu_plugin_insn_haddr(insn);
	size_t size = qemu_plugin_insn_size(insn);

	if (is_students(pc))
		qemu_plugin_register_vcpu_mem_cb(insn, on_students_access, CB_NO_REGS, MEM_RW,
						 (void *)(uintptr_t)pc);
	if (!code_high)
		return;
	if (!is_as_linked(pc, bytes, size))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_other_code, CB_NO_REGS,
						       (void *)(uintptr_t)pc);
	if (is_students(pc) && bytes && is_forbidden(bytes, size))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_forbidden, CB_NO_REGS,
						       (void *)(uintptr_t)pc);
	if ((servants.nr || tellers.nr) && region_contains(DEPUTIES, pc))
		qemu_plugin_register_vcpu_mem_cb(insn, on_deputys_access, CB_NO_REGS, MEM_RW,
						 (void *)(uintptr_t)region_contains(READERS, pc));
}

static bool set_addresses(struct addresses *addresses, const char *value)
{
	for (;; value++) {
		char *end;

		if (addresses->nr == MAX_ADDRESSES)
			return false;
		addresses->at[addresses->nr++] = strtoul(value, &end, 0);
		value = end;
		if (*value != ':')
			return !*value;
	}
}

bool flow_option(const char *name, const char *value)
{
	char *end;

	if (!strcmp(name, "entries"))
		return set_addresses(&entries, value);
	if (!strcmp(name, "vectors"))
		return set_addresses(&vectors, value);
	if (!strcmp(name, "servants"))
		return set_addresses(&servants, value);
	if (!strcmp(name, "tellers"))
		return set_addresses(&tellers, value);
	if (strcmp(name, "code"))
		return false;
	code_low = strtoul(value, &end, 0);
	code_high = *end == '-' ? strtoul(end + 1, NULL, 0) : 0;
	return code_high > code_low;
}
