/*
 * mode=evidence, memory: what a policy or a guard may access, and pass to the kernel.
 *
 * The student's code may store into its own variables, the policy's part of struct pages, its frames on
 * the stack, and memory that the kernel gave it: by kmalloc and similar functions, and its data in a
 * process. It may read all that, the kernel's image, and all struct pages. Everything else is off limits:
 * tasks, page tables, programs' pages, the kernel's frames on the stack, and files in memory, one of
 * which holds the reference string.
 *
 * The kernel's functions trust the addresses that they are called with. So contracts= says what each
 * argument must be: a process, a struct page, or an allocation. It also says which functions allocate;
 * every word of an allocation is remembered. births= and deaths= tell which processes exist.
 *
 * The code's frames on the stack lie below the return address of the function that the kernel called.
 * Above it lies the struct vm_scan that select is called with; no other hook may use it.
 *
 * Options, without which none of this is checked: contracts=ENTRY-CODE, or several separated by colons,
 * CODE as below; births=, deaths=: functions that the kernel calls for a process that begins or
 * ends; process=, scan=: sizes of struct mm_struct and struct vm_scan in bytes.
 */
#include "evidence.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CONTRACTS = 64, WORD = 4 };
/* Bytes of the stack: its size; the limit of the student's frames; and what passers= put
 * above the return address: a struct page_id. */
enum { STACK_SIZE = 8192, DEEPEST = 6144, ARGUMENTS = 8 };

/*
 * CODE: bits 0 to 3 say what the first argument must be; from bit 4 on, the second; from bit 8 on, what the function
 * gives; from bit 12 on, its size; bit 31: it takes any number of arguments, all of them on the stack.
 * tidemark.grade.witness.contracts writes it.
 */
#define VARIADIC (1u << 31)
enum argument {
	ANY,
	PROCESS,
	PROCESS_OR_NONE,
	PAGE,
	PAGE_OR_NONE,
	GIVEN_BACK,
	THE_HOOKS,
	A_SCAN,
	A_RESULT,
};
enum gives { NOTHING, AS_ASKED, SO_MANY };

/* The state of a word of memory: the first or a later word of an allocation, or the first of a process. */
enum { OTHERS, FIRST, MORE, PROCESSES };

static struct contract {
	uint32_t entry, code;
} contracts[MAX_CONTRACTS];
static size_t nr_contracts;
static uint32_t births, deaths, process_size, scan_size;

static uint8_t *words[NR_FRAMES];
static uint32_t dying; /* the process whose end the policy is being told, or was told last */
static struct visit now;

static bool is_direct(uint32_t address)
{
	return address >= KERNEL_BASE && address < DIRECT_MAP_END;
}

static uint8_t kind_of(uint32_t address)
{
	const uint8_t *frame = is_direct(address) ? words[address / PAGE_SIZE] : NULL;

	return frame ? frame[address % PAGE_SIZE / WORD] : OTHERS;
}

static void set_kind(uint32_t address, uint8_t kind)
{
	uint8_t **frame = &words[address / PAGE_SIZE];

	if (!is_direct(address))
		return;
	if (!*frame)
		*frame = calloc(PAGE_SIZE / WORD, 1);
	if (!*frame)
		fail("out of memory");
	(*frame)[address % PAGE_SIZE / WORD] = kind;
}

static void give(uint32_t address, uint32_t size)
{
	set_kind(address, FIRST); /* kmalloc(0) also returns an address, which must be given back */
	for (uint32_t offset = WORD; offset < size; offset += WORD)
		set_kind(address + offset, MORE);
}

static void take_back(uint32_t address)
{
	do {
		set_kind(address, OTHERS);
		address += WORD;
	} while (kind_of(address) == MORE);
}

/* --- processes --- */

static void forget_process(uint32_t mm)
{
	for (uint32_t offset = 0; offset < process_size; offset += WORD)
		set_kind(mm + offset, OTHERS);
}

static void on_birth(unsigned int cpu, void *data)
{
	uint32_t mm = read_register(EAX);

	(void)cpu;
	(void)data;
	forget_process(mm);
	set_kind(mm, PROCESSES);
	if (mm == dying)
		dying = 0;
}

/* A process ends. The policy is called next, so the process is forgotten only when another one
 * ends. */
static void on_death(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (dying)
		forget_process(dying);
	dying = read_register(EAX);
}

void rights_translate(struct qemu_plugin_insn *insn, uint32_t pc)
{
	if (pc == births)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_birth, CB_R_REGS, NULL);
	if (pc == deaths)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_death, CB_R_REGS, NULL);
}

/* --- calls --- */

static bool may_read(uint32_t address)
{
	return region_contains(OWN, address) || rights_may(address, false);
}

static bool may_store(uint32_t address)
{
	return region_contains(OWN, address) || rights_may(address, true) ||
	       (region_in_pages(address) && !region_is_cores_field(address));
}

static bool is_proper(enum argument wanted, uint32_t given)
{
	switch (wanted) {
	case PROCESS_OR_NONE:
		return !given || kind_of(given) == PROCESSES;
	case PROCESS:
		return kind_of(given) == PROCESSES;
	case PAGE_OR_NONE:
		return !given || region_is_page(given);
	case PAGE:
		return region_is_page(given);
	case GIVEN_BACK:
		return !given || kind_of(given) == FIRST;
	case THE_HOOKS:
		return given == now.argument && region_contains(SHOWERS, now.from);
	case A_SCAN: /* or a copy of it */
		return may_read(given) && may_read(given + scan_size - WORD);
	case A_RESULT: /* two words */
		return may_store(given) && may_store(given + WORD);
	default:
		return true;
	}
}

static void check_arguments(uint32_t pc, const struct contract *contract, uint32_t esp)
{
	static const int registers[] = { EAX, EDX };

	for (int i = 0; i < 2; i++) {
		enum argument wanted = contract->code >> 4 * i & 15;
		uint32_t given = contract->code & VARIADIC ? read_word(esp + WORD + WORD * i)
							   : read_register(registers[i]);

		if (!is_proper(wanted, given))
			record_breach(ARGUMENT, pc, contract->entry);
		else if (wanted == GIVEN_BACK && given)
			take_back(given);
	}
}

static const struct contract *contract_of(uint32_t entry)
{
	for (size_t i = 0; i < nr_contracts; i++)
		if (contracts[i].entry == entry)
			return &contracts[i];
	return NULL;
}

static uint32_t size_given(const struct contract *contract)
{
	if ((contract->code >> 8 & 15) == AS_ASKED)
		return read_register(EAX);
	return (contract->code & ~VARIADIC) >> 12;
}

bool rights_has_contract(uint32_t entry)
{
	return contract_of(entry);
}

struct visit rights_leave(uint32_t pc, uint32_t esp)
{
	if (nr_contracts && now.top + WORD - esp > DEEPEST)
		record_breach(STACK, pc, esp);
	return now;
}

struct visit rights_call(uint32_t pc, uint32_t entry, uint32_t esp)
{
	const struct contract *contract = contract_of(entry);
	struct visit visit = rights_leave(pc, esp);

	if (!contract)
		return visit;
	check_arguments(pc, contract, esp);
	visit.gives = contract->code >> 8 & 15;
	visit.size = size_given(contract);
	return visit;
}

void rights_return(struct visit visit)
{
	uint32_t result = read_register(EAX);

	now = (struct visit){ .top = visit.top, .from = visit.from, .argument = visit.argument };
	if (!visit.gives || !result)
		return;
	give(result, visit.size);
	if (visit.gives == SO_MANY) /* a part of something, which is never given back */
		set_kind(result, MORE);
}

void rights_enter(uint32_t pc, uint32_t esp)
{
	if (nr_contracts && (region_contains(OWN, esp) || kind_of(esp) != OTHERS))
		record_breach(STACK, pc, esp);
	now = (struct visit){ .top = esp, .from = read_word(esp), .argument = read_register(EAX) };
}

bool rights_may(uint32_t address, bool stores)
{
	uint8_t kind = kind_of(address);

	if (!nr_contracts || kind == FIRST || kind == MORE)
		return true;
	/* Including the return address itself: an interrupt right after the last `ret` pushes the flags there, and
	 * QEMU attributes that to the `ret`. Code that changes the address does not return to where flow.c expects. */
	if (address - (now.top - DEEPEST) < DEEPEST + WORD)
		return true;
	if (address - now.top - WORD < ARGUMENTS && region_contains(PASSERS, now.from))
		return true;
	if (now.argument - now.top < STACK_SIZE && address - now.argument < scan_size &&
	    region_contains(SELECTORS, now.from))
		return true;
	return !stores && address - now.top < STACK_SIZE;
}

bool rights_on_stack(uint32_t address)
{
	return nr_contracts && address - (now.top - DEEPEST) < DEEPEST;
}

/* --- options --- */

static bool set_contracts(const char *value)
{
	for (;; value++) {
		char *end;

		if (nr_contracts == MAX_CONTRACTS)
			return false;
		contracts[nr_contracts].entry = strtoul(value, &end, 0);
		if (*end != '-')
			return false;
		contracts[nr_contracts++].code = strtoul(end + 1, &end, 0);
		value = end;
		if (*value != ':')
			return !*value;
	}
}

bool rights_option(const char *name, const char *value)
{
	uint32_t number = strtoul(value, NULL, 0);

	if (!strcmp(name, "contracts"))
		return set_contracts(value);
	if (!strcmp(name, "births"))
		births = number;
	else if (!strcmp(name, "deaths"))
		deaths = number;
	else if (!strcmp(name, "process"))
		process_size = number;
	else if (!strcmp(name, "scan"))
		scan_size = number;
	else
		return false;
	return true;
}
