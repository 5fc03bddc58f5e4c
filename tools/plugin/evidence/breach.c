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
 * Option. violation=: address of world_violation, which the kernel calls when a rule is broken.
 */
#include "evidence.h"

/* The last event of a frame: a program's reference, and the student's access after it. */
struct frame {
	uint16_t space; /* 0: nothing */
	uint16_t offset;
	uint32_t page;
	uint32_t suspect; /* address of the student's instruction, or 0 */
};

static uint64_t violation;

static struct frame frames[NR_FRAMES];

static void confirm_suspect(uint32_t frame)
{
	struct frame *f = &frames[frame];

	if (f->suspect)
		record_breach(PROGRAMS_PAGE, f->suspect,
			      KERNEL_BASE + frame * PAGE_SIZE + f->offset);
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

void breach_access(uint32_t pc, uint32_t info, uint32_t address)
{
	bool stores = qemu_plugin_mem_is_store(info);

	if (address < KERNEL_BASE)
		record_breach(USER_MEMORY, pc, address);
	else if (rights_on_stack(address))
		return;
	else if (stores && region_contains(IMAGE, address) && !region_contains(OWN, address))
		record_breach(KERNEL_DATA, pc, address);
	else if (stores && region_is_cores_field(address))
		record_breach(STRUCT_PAGE, pc, address);
	else if (region_contains(IMAGE, address) || region_in_pages(address))
		return;
	else if (!rights_may(address, stores))
		record_breach(is_programs(address) ? PROGRAMS_PAGE : MEMORY, pc, address);
	else if (address < DIRECT_MAP_END)
		suspect_frame(pc, address);
}

/* At world_violation(v): the third word of *v is the rule's name (observe/events.h). */
static void on_violation(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	record_breach(RULE_OF_SEAM, violation, read_word(read_register(EAX) + 8));
}

void breach_translate(struct qemu_plugin_insn *insn, uint32_t pc)
{
	if (pc == violation)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_violation, CB_R_REGS, NULL);
}

bool breach_option(const char *name, const char *value)
{
	static const struct number numbers[] = { { "violation", &violation } };

	return NUMBER_OPTION(numbers, name, value);
}

void breach_start(void)
{
	if (region_given(TEXT) && (!region_given(OWN) || !region_given(IMAGE) || !violation))
		fail("mode=evidence needs own=, image= and violation= with text=");
}
