/*
 * mode=evidence, the way that control takes: what the kernel executes is its text as it was linked,
 * and between that and the student's code it passes through doors alone.
 *
 * There is no protection against execution here, so bytes anywhere can be code, and a jump can go to
 * the middle of a function that then acts in the student's name. So each instruction in the
 * kernel's half is looked at when QEMU translates it: it lies in code=, and is what lay there when
 * the kernel began. And whenever a block of the student's code is followed by one of the kernel's, or
 * the other way, that is one of these:
 *
 *	a call to one of entries=, which returns into the student's code, or, when it was the last
 *	thing that a function did, to where that would have returned to
 *	the return of a function of the student's to the place that called it, with the registers that are
 *	the caller's, or the kernel would go on with a stack and variables of the student's choice
 *	an interrupt or an exception, vectors=, and the return from it
 *
 * A block of the student's that runs on into the next file's code ends where that begins.
 *
 * An interrupt can come between a block of the student's and one of the kernel's. And who jumps to a
 * vector makes an interrupt of it, whose frame on the stack may say anything: so where an interrupt
 * goes on in the kernel is looked at then, as if there had been none.
 *
 * A place is an address and the stack pointer there, so that tasks, which have their own stacks, are
 * kept apart, and no return can be used twice.
 *
 * Some functions do what they are told with any address (memset, the red-black tree, snprintf): what
 * deputies=, ranges of code, load and store while the student's code has called one of servants=
 * counts as its own doing. What interrupts them does not. Of one of tellers=, such as printk, which
 * have memory of their own, what readers=, a part of them, load does: the format and its strings.
 *
 * Instructions for devices, interrupts and control registers are looked for in the object file by
 * the grader, in the order in which they stand there; here, in the bytes that are executed, however
 * one got there.
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

/* Where control shall come back to: instruction, and stack pointer when it has. */
struct places {
	size_t nr;
	struct place {
		uint32_t pc, esp;
		struct visit visit; /* that goes on there */
	} at[MAX_PLACES];
};

static struct addresses entries, vectors, servants, tellers;
static uint32_t code_low, code_high;
static uint8_t *linked; /* the code as it was when the kernel began */

static struct places to_student, to_kernel;
static struct places delayed; /* in the kernel: who is there has come from the student's code */
static bool inside; /* the last block of the kernel's half was the student's */
static uint32_t last_block; /* of the student's */
static enum { NOBODY, TELLER, SERVANT } serving; /* who runs for the student */
static struct place served; /* where that returns to */
static bool suspended; /* and is interrupted */
static struct place resumed;

bool flow_inside(void)
{
	return inside;
}

static bool among(const struct addresses *addresses, uint32_t pc)
{
	for (size_t i = 0; i < addresses->nr; i++)
		if (addresses->at[i] == pc)
			return true;
	return false;
}

/* The newest comes last. When there is no room the oldest goes: its task never came back. */
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

/* What an interrupt pushed, at the first instruction of its handler. */
static struct place interrupted(uint32_t esp, uint32_t pc)
{
	uint32_t number = vector_of(pc);

	if (number < FIRST_INTERRUPT && WITH_ERROR_CODE >> number & 1)
		esp += 4;
	return (struct place){ .pc = read_word(esp), .esp = esp + 12 };
}

/*
 * Does it return to a program, or is it an exception in the kernel, which may go on elsewhere (a fixup)? The student's
 * code causes neither. A double fault, which is a task of its own, has no frame; an NMI comes as an interrupt does.
 */
static bool is_forged(struct place interrupted, uint32_t vector)
{
	if (!interrupted.pc)
		return false;
	return (read_word(interrupted.esp - 8) & 3) ||
	       (vector < FIRST_INTERRUPT && vector != NMI && !breach_is_students(interrupted.pc));
}

static const int callee_saved[NR_KEPT] = { EBX, EBP, ESI, EDI };

static void check_registers(const struct visit *visit, uint32_t pc)
{
	for (int i = 0; i < NR_KEPT; i++)
		if (read_register(callee_saved[i]) != visit->kept[i])
			breach_put(REGISTERS, last_block, pc);
}

static void called(uint32_t pc, uint32_t esp)
{
	uint32_t back = read_word(esp);
	struct visit visit = owned_call(last_block, pc, esp), begun;

	/* The last instruction of all may call what does not return: behind it is another file's code. */
	if (breach_is_students(back) || breach_is_students(back - 1)) {
		expect(breach_is_students(back) ? &to_student : &delayed, back, esp + 4, visit);
	} else if (was_expected(&to_kernel, back, esp + 4, &begun)) {
		check_registers(&begun, pc);
	} else {
		breach_put(CONTROL, last_block, pc);
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
			breach_put(CONTROL, last_block, place.pc);
		expect(breach_is_students(place.pc) ? &to_student : &delayed, place.pc, place.esp,
		       owned_leave(last_block, esp));
	} else if (among(&entries, pc)) {
		called(pc, esp);
	} else if (was_expected(&to_kernel, pc, esp, &visit)) {
		check_registers(&visit, pc);
	} else {
		breach_put(CONTROL, last_block, pc);
	}
}

static void end_service(uint32_t pc)
{
	uint32_t esp = read_register(ESP);

	if (suspended) {
		suspended = pc != resumed.pc || esp != resumed.esp;
	} else if (among(&vectors, pc)) {
		suspended = true;
		resumed = interrupted(esp, pc);
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
		owned_return(visit);
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
		owned_return(visit);
		return;
	}
	owned_enter(pc, esp);
	visit = (struct visit){ 0 };
	for (int i = 0; i < NR_KEPT; i++)
		visit.kept[i] = read_register(callee_saved[i]);
	expect(&to_kernel, read_word(esp), esp + 4, visit);
}

/* A block of the student's that has no end goes on in whatever the linker put behind it. */
static struct qemu_plugin_insn *beyond(struct qemu_plugin_tb *tb)
{
	size_t nr = qemu_plugin_tb_n_insns(tb);

	for (size_t i = 1; i < nr; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (!breach_is_students(qemu_plugin_insn_vaddr(insn)))
			return insn;
	}
	return NULL;
}

void flow_translate_block(struct qemu_plugin_tb *tb)
{
	uint32_t pc = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0));
	bool students = breach_is_students(pc);
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
	breach_put(CODE, (uintptr_t)data, (uintptr_t)data);
}

static void on_forbidden(unsigned int cpu, void *data)
{
	(void)cpu;
	breach_put(INSTRUCTION, (uintptr_t)data, (uintptr_t)data);
}

/* Behind 0F. Between them lie movnti, bswap, and what moves under a condition or sets a byte. */
static bool is_of_vectors(uint8_t byte)
{
	return (byte >= 0x10 && byte < 0x18) || (byte >= 0x28 && byte < 0x30) ||
	       (byte >= 0x50 && byte < 0x80) || byte == 0xC2 || (byte >= 0xC4 && byte < 0xC7) ||
	       (byte >= 0xD0 && byte < 0xFF);
}

/*
 * Ports, interrupts, far jumps, segments, the floating-point unit and vectors, whose stores newer QEMUs do not
 * report; after 0F: descriptor tables, control registers, MSRs, fxsave, MMX and SSE.
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
	if (bytes[at] == 0x0F && at + 1 < size) /* lldt and its like are 0F 00 */
		return !bytes[at + 1] || memchr(two, bytes[at + 1], sizeof(two) - 1) ||
		       is_of_vectors(bytes[at + 1]);
	if (bytes[at] == 0xFF && at + 1 < size) /* far call and jump through memory */
		return (bytes[at + 1] >> 3 & 7) == 3 || (bytes[at + 1] >> 3 & 7) == 5;
	return memchr(one, bytes[at], sizeof(one) - 1);
}

static bool is_as_linked(uint32_t pc, const uint8_t *bytes, size_t size)
{
	if (pc < code_low || pc + size > code_high)
		return !linked; /* until then, the BIOS */
	if (!linked) {
		linked = malloc(code_high - code_low);
		if (!linked)
			fail("out of memory");
		read_memory(code_low, linked, code_high - code_low);
	}
	return !bytes || !memcmp(linked + pc - code_low, bytes, size);
}

/* @data: is it a reader's, too? */
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

	if (!code_high)
		return;
	if (!is_as_linked(pc, bytes, size))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_other_code, CB_NO_REGS,
						       (void *)(uintptr_t)pc);
	if (breach_is_students(pc) && bytes && is_forbidden(bytes, size))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_forbidden, CB_NO_REGS,
						       (void *)(uintptr_t)pc);
	if ((servants.nr || tellers.nr) && breach_lies_in(DEPUTIES, pc))
		qemu_plugin_register_vcpu_mem_cb(insn, on_deputys_access, CB_NO_REGS, MEM_RW,
						 (void *)(uintptr_t)breach_lies_in(READERS, pc));
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
		return owned_option(name, value);
	code_low = strtoul(value, &end, 0);
	code_high = *end == '-' ? strtoul(end + 1, NULL, 0) : 0;
	return code_high > code_low;
}
