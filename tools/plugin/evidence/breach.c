/*
 * mode=evidence, the student's code: forbidden accesses to memory.
 *
 * The kernel's code and data hold no secrets, so the student's code may load from them freely. It may
 * not touch a program's memory, neither below KERNEL_BASE nor through the direct map. It may store
 * only into its own part of the kernel's image, and of a struct page only into the policy's fields.
 *
 * A program's page in the direct map is the hard case, because frames are reused without notice,
 * for example by a slab after a process has ended. So an access to a frame that a program has
 * referred to only makes the frame suspect. The access is a breach if the next event of the frame
 * is that the same program refers to it as the same page, or that it is written to the store: then
 * that page was in it all the time. If the frame is cleared, copied to or read into before that, it
 * may have had another owner.
 *
 * The kernel itself checks the rules of the policy interface (mm/seam/rules.c). The plugin records
 * each violation that the kernel finds, because the kernel replaces a broken policy by one that works.
 *
 * Options. A range is LOW-HIGH, HIGH excluded; several are separated by colons. text=, own=: the
 * student's code, and where it may store. image=: the kernel's image. violation=: address of
 * world_violation, which the kernel calls when a rule is broken. pages=: address of the variable
 * mem_map; page_size=; policy=LOW-HIGH: the policy's part of a struct page. Without these three,
 * stores into struct pages are not checked. flow.c and rights.c have the other options; for their
 * ranges see enum region.
 */
#include "evidence.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_RANGES = 256, MAX_BREACHES = 64 };

struct ranges {
	size_t nr;
	struct {
		uint32_t low, high;
	} at[MAX_RANGES];
};

/* The last event of a frame: a program's reference, and the student's access after it. */
struct frame {
	uint16_t space; /* 0: nothing */
	uint16_t offset;
	uint32_t page;
	uint32_t suspect; /* address of the student's instruction, or 0 */
};

static struct ranges ranges[NR_REGIONS];
static const char *const names[NR_REGIONS] = {
	"text",    "own",       "image",   "policy",  "deputies",
	"readers", "selectors", "showers", "passers", "killers",
};
static uint64_t violation, mem_map_pointer, page_size;

static struct frame frames[NR_FRAMES];
static struct {
	uint32_t pc;
	enum rule rule;
} breaches[MAX_BREACHES];
static size_t nr_breaches;

bool breach_lies_in(enum region region, uint32_t address)
{
	const struct ranges *r = &ranges[region];

	for (size_t i = 0; i < r->nr; i++)
		if (address >= r->at[i].low && address < r->at[i].high)
			return true;
	return false;
}

/* Each instruction is reported once for each rule that it breaks. */
void breach_put(enum rule rule, uint32_t pc, uint32_t address)
{
	for (size_t i = 0; i < nr_breaches; i++)
		if (breaches[i].pc == pc && breaches[i].rule == rule)
			return;
	if (nr_breaches == MAX_BREACHES)
		return;
	breaches[nr_breaches].pc = pc;
	breaches[nr_breaches++].rule = rule;
	evidence_put(BREACH, rule, pc, address);
}

static void confirm_suspect(uint32_t frame)
{
	struct frame *f = &frames[frame];

	if (f->suspect)
		breach_put(PROGRAMS_PAGE, f->suspect, KERNEL_BASE + frame * PAGE_SIZE + f->offset);
}

void breach_referred(uint16_t space, uint32_t page, uint32_t frame)
{
	struct frame *f = &frames[frame];

	if (f->space == space && f->page == page)
		confirm_suspect(frame);
	*f = (struct frame){ .space = space, .page = page };
}

void breach_written(uint32_t frame)
{
	confirm_suspect(frame);
	breach_filled(frame);
}

void breach_filled(uint32_t frame)
{
	frames[frame] = (struct frame){ 0 };
}

/* Returns the offset of an address within its struct page, or page_size if it is not in one. */
static uint32_t in_page(uint32_t address)
{
	static uint32_t mem_map;

	if (!page_size)
		return 0;
	if (!mem_map)
		mem_map = read_word(mem_map_pointer);
	if (address < mem_map || (address - mem_map) / page_size >= evidence_border())
		return page_size;
	return (address - mem_map) % page_size;
}

bool breach_is_page(uint32_t address)
{
	return !in_page(address);
}

/* Is this address a field of a struct page that does not belong to the policy? */
static bool is_cores_field(uint32_t address)
{
	uint32_t at = in_page(address);

	return at < page_size && !breach_lies_in(POLICY, at);
}

static bool is_programs(uint32_t address)
{
	return address < DIRECT_MAP_END && frames[(address - KERNEL_BASE) / PAGE_SIZE].space;
}

static void suspect_frame(uint32_t pc, uint32_t address)
{
	struct frame *f = &frames[(address - KERNEL_BASE) / PAGE_SIZE];

	if (!f->space || f->suspect)
		return;
	f->suspect = pc;
	f->offset = address % PAGE_SIZE;
}

bool breach_is_students(uint32_t pc)
{
	return breach_lies_in(TEXT, pc);
}

void breach_access(uint32_t pc, uint32_t info, uint32_t address)
{
	bool stores = qemu_plugin_mem_is_store(info);

	if (address < KERNEL_BASE)
		breach_put(USER_MEMORY, pc, address);
	else if (owned_on_stack(address))
		return;
	else if (stores && breach_lies_in(IMAGE, address) && !breach_lies_in(OWN, address))
		breach_put(KERNEL_DATA, pc, address);
	else if (stores && is_cores_field(address))
		breach_put(STRUCT_PAGE, pc, address);
	else if (breach_lies_in(IMAGE, address) || in_page(address) < page_size)
		return;
	else if (!owned_may(address, stores))
		breach_put(is_programs(address) ? PROGRAMS_PAGE : MEMORY, pc, address);
	else if (address < DIRECT_MAP_END)
		suspect_frame(pc, address);
}

static void on_access(unsigned int cpu, uint32_t info, uint64_t address, void *data)
{
	(void)cpu;
	if (flow_inside())
		breach_access((uintptr_t)data, info, address);
}

/* world_violation(v): the third word of *v is the rule's name (observe/events.h). */
static void on_violation(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	breach_put(RULE_OF_SEAM, violation, read_word(read_register(EAX) + 8));
}

void breach_translate(struct qemu_plugin_insn *insn, uint32_t pc)
{
	if (pc == violation)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_violation, CB_R_REGS, NULL);
	owned_translate(insn, pc);
	if (breach_lies_in(TEXT, pc))
		qemu_plugin_register_vcpu_mem_cb(insn, on_access, CB_NO_REGS, MEM_RW,
						 (void *)(uintptr_t)pc);
}

static bool set_ranges(struct ranges *ranges, const char *value)
{
	for (;; value++) {
		char *end;
		uint32_t low = strtoul(value, &end, 0);

		if (*end != '-' || ranges->nr == MAX_RANGES)
			return false;
		ranges->at[ranges->nr].low = low;
		ranges->at[ranges->nr++].high = strtoul(end + 1, &end, 0);
		value = end;
		if (*value != ':')
			return !*value;
	}
}

bool breach_option(const char *name, const char *value)
{
	uint64_t number = strtoull(value, NULL, 0);

	for (size_t i = 0; i < NR_REGIONS; i++)
		if (!strcmp(name, names[i]))
			return set_ranges(&ranges[i], value);
	if (!strcmp(name, "violation"))
		violation = number;
	else if (!strcmp(name, "pages"))
		mem_map_pointer = number;
	else if (!strcmp(name, "page_size"))
		page_size = number;
	else
		return flow_option(name, value);
	return true;
}

void breach_start(void)
{
	if (ranges[TEXT].nr && (!ranges[OWN].nr || !ranges[IMAGE].nr || !violation))
		fail("mode=evidence needs own=, image= and violation= with text=");
	if (page_size && (!mem_map_pointer || !ranges[POLICY].nr))
		fail("mode=evidence needs pages= and policy= with page_size=");
}
