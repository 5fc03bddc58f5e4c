/* Copies the boot loader's information out of its structures before they can be overwritten. */
#include "arch/machine.h"
#include "arch/mmu.h"
#include "arch/time.h"
#include "drivers/console.h"
#include "internal.h"
#include "lib/assert.h"
#include "lib/string.h"

enum { MB_MEMORY = 1, MB_CMDLINE = 4, MB_MODULES = 8, MB_MMAP = 64 };
#define MULTIBOOT_LOADER_MAGIC 0x2BADB002

struct multiboot_info {
	u32 flags, mem_lower, mem_upper, boot_device;
	u32 cmdline, mods_count, mods_addr, syms[4];
	u32 mmap_length, mmap_addr;
};

struct multiboot_module {
	u32 start, end, string, reserved;
};

struct multiboot_mmap {
	u32 size; /* of the remaining members */
	u64 base, length;
	u32 type; /* 1: usable */
} __attribute__((packed));

struct boot_info boot_info;

/* Adds a range and keeps the array sorted. Memory above 4 GiB cannot be addressed and is cut
 * off. */
static void add_ram(u64 start, u64 end)
{
	struct boot_info *b = &boot_info;
	int i;

	end = MIN(end, 1ull << 32);
	if (start >= end || b->nr_ram == (int)ARRAY_SIZE(b->ram))
		return;
	for (i = b->nr_ram++; i > 0 && b->ram[i - 1].start > start; i--)
		b->ram[i] = b->ram[i - 1];
	b->ram[i] = (struct mem_range){ start, end };
}

/* Joins ranges that touch or overlap, which a bad BIOS may report. */
static void merge_ram(void)
{
	struct boot_info *b = &boot_info;
	int i, n = 0;

	for (i = 1; i < b->nr_ram; i++) {
		if (b->ram[i].start <= b->ram[n].end)
			b->ram[n].end = MAX(b->ram[n].end, b->ram[i].end);
		else
			b->ram[++n] = b->ram[i];
	}
	b->nr_ram = MIN(b->nr_ram, n + 1);
}

static void read_memory_map(const struct multiboot_info *info)
{
	u32 at = info->mmap_addr, end = at + info->mmap_length;

	while ((info->flags & MB_MMAP) && at < end) {
		const struct multiboot_mmap *m = phys_to_virt(at);

		if (m->type == 1)
			add_ram(m->base, m->base + m->length);
		at += m->size + sizeof(m->size);
	}
	if (!boot_info.nr_ram && (info->flags & MB_MEMORY)) {
		add_ram(0, (u64)info->mem_lower << 10);
		add_ram(1 << 20, (1 << 20) + ((u64)info->mem_upper << 10));
	}
	merge_ram();
}

/* Refuses a long line, since the part cut off would be ignored silently. */
static void read_command_line(const char *line)
{
	if (strlcpy(boot_info.cmdline, line, sizeof(boot_info.cmdline)) >=
	    sizeof(boot_info.cmdline))
		panic("the command line is longer than %zu bytes", sizeof(boot_info.cmdline) - 1);
}

void arch_start(u32 magic, u32 info_pa)
{
	const struct multiboot_info *info = phys_to_virt(info_pa);

	clock_start = cycles_now();
	console_init();
	if (magic != MULTIBOOT_LOADER_MAGIC)
		panic("not started by a Multiboot loader (eax=%#x)", magic);
	read_memory_map(info);
	if (info->flags & MB_CMDLINE)
		read_command_line(phys_to_virt(info->cmdline));
	if ((info->flags & MB_MODULES) && info->mods_count) {
		const struct multiboot_module *m = phys_to_virt(info->mods_addr);

		boot_info.initramfs = (struct mem_range){ m->start, m->end };
	}
}
