/*
 * Memory at boot.
 *
 * The loader's map says which physical memory exists. mem= says how much of it, from address 0 up,
 * the allocator manages. The memory above is the store of the simulated swap disk; above that are
 * the image of the simulated data disk and the future (lib/future.h), if they have been loaded
 * there. Until the buddy allocator works, memory is taken by moving a pointer up from the end of
 * the kernel image, around the initramfs, and is never freed: mem_map, page tables, little else.
 * Then every usable frame that has not been taken is freed into its zone.
 */
#include "mm/bootmem.h"

#include "arch/machine.h"
#include "future.h"
#include "lib/assert.h"
#include "lib/param.h"
#include "lib/string.h"
#include "mm/slab.h"
#include "mm/zone.h"

#define MIB (1ull << 20)
#define MEM_MIN (4 * MIB)
#define MEM_MAX (2048 * MIB)
#define DMA_LIMIT (16 * MIB)

extern char __kernel_start[], __kernel_end[];

struct page *mem_map;
u32 max_pfn;

static struct bootmem_store store;
static u64 mem_limit;               /* first mem=, then the end of managed memory */
static u64 lowmem_limit = LOWMEM_MAX; /* first lowmem=, then the border to HIGHMEM */
static u32 bump;      /* next free physical byte */
static u32 low_bump = PAGE_SIZE; /* the same below the kernel, a last resort for small machines */

PARAM_SIZE("mem", mem_limit, MEM_MIN, MEM_MAX, "memory that the kernel manages", AT_BOOT);
PARAM_SIZE("lowmem", lowmem_limit, 4 * MIB, LOWMEM_MAX, "border between NORMAL and HIGHMEM",
	   AT_BOOT);

static u64 ram_end(void)
{
	return boot_info.ram[boot_info.nr_ram - 1].end;
}

static bool in_ram(u64 start, u64 end)
{
	for (int i = 0; i < boot_info.nr_ram; i++)
		if (boot_info.ram[i].start <= start && end <= boot_info.ram[i].end)
			return true;
	return false;
}

/* Skips the initramfs if the memory would overlap it. */
void *boot_alloc(size_t bytes, size_t align)
{
	const struct mem_range *fs = &boot_info.initramfs;
	u32 start = ALIGN_UP(bump, align), low = ALIGN_UP(low_bump, align);

	if (start < fs->end && start + bytes > fs->start)
		start = ALIGN_UP((u32)fs->end, align);
	if (in_ram(start, start + bytes) && start + bytes <= MIN(mem_limit, lowmem_limit)) {
		bump = start + bytes;
	} else {
		if (!in_ram(low, low + bytes))
			panic("no memory for boot structures: %zu bytes at %#x; use a larger mem=",
			      bytes, start);
		start = low;
		low_bump = start + bytes;
	}
	return memset(phys_to_virt(start), 0, bytes);
}

/* The end of the memory that the kernel and the swap disk may use. */
static u64 store_end(void)
{
	u64 end = MIN(ram_end(), 0xFFFFFFFFull);

	if (store.end)
		end = MIN(end, store.end);
	return future_at ? MIN(end, future_at) : end;
}

/* Without mem=, the store gets the size it asks for, at most (and by default) the upper half of memory. */
static void settle_limits(void)
{
	u64 end = store_end() & ~(MIB - 1);

	if (ram_end() < MEM_MIN - MIB)
		panic("%llu KiB of memory; 4 MiB are needed", ram_end() >> 10);
	if (!mem_limit)
		mem_limit = end - (store.needed ? MIN(store.size ?: end / 2, end / 2) : 0);
	mem_limit = MIN(MIN(mem_limit, ram_end()), MEM_MAX) & ~(u64)(PAGE_SIZE - 1);
	if (mem_limit < 8 * MIB) /* the kernel's memory may not fit into the first 4 MiB */
		lowmem_limit = mem_limit;
	else
		lowmem_limit = MIN(lowmem_limit, mem_limit) & ~(4 * MIB - 1);
}

void bootmem_store_range(u64 *start, u64 *end)
{
	*start = ALIGN_UP(mem_limit, (u64)PAGE_SIZE);
	*end = MAX(*start, store_end() & ~(u64)(PAGE_SIZE - 1));
	for (int i = 0; i < boot_info.nr_ram; i++)
		if (boot_info.ram[i].start <= *start && *start < boot_info.ram[i].end)
			*end = MIN(*end, boot_info.ram[i].end & ~(u64)(PAGE_SIZE - 1));
	if (store.size)
		*end = MIN(*end, *start + store.size);
}

bool bootmem_is_spare(u64 start, u64 end)
{
	return start >= mem_limit && in_ram(start, end);
}

static void zone_define(enum zone_index i, const char *name, u64 start, u64 end)
{
	struct zone *z = &zones[i];

	z->name = name;
	z->start_pfn = MIN(start, mem_limit) >> PAGE_SHIFT;
	z->end_pfn = MIN(end, mem_limit) >> PAGE_SHIFT;
	buddy_init(z);
	for (u32 pfn = z->start_pfn; pfn < z->end_pfn; pfn++)
		mem_map[pfn].flags = 1u << PG_reserved | (u32)i << PG_zone_shift;
}

/* Frees [start, end) into the zones, frame by frame; the buddy merges the frames. */
static void release_range(u64 start, u64 end)
{
	u32 first = ALIGN_UP(start, PAGE_SIZE) >> PAGE_SHIFT;
	u32 last = MIN(end, mem_limit) >> PAGE_SHIFT;

	for (u32 pfn = first; pfn < last; pfn++) {
		struct page *p = pfn_page(pfn);

		page_clear(p, PG_reserved);
		page_zone(p)->managed++;
		page_zone(p)->present++;
		buddy_free(page_zone(p), p, 0);
	}
}

/* Frees the parts of [start, end) that are not in holes, which are sorted by address. */
static void release_around(u64 start, u64 end, const struct mem_range *holes, int n)
{
	for (int i = 0; i < n; i++) {
		if (holes[i].end <= start || holes[i].start >= end)
			continue;
		if (holes[i].start > start)
			release_range(start, ALIGN_DOWN(holes[i].start, (u64)PAGE_SIZE));
		start = holes[i].end;
	}
	if (start < end)
		release_range(start, end);
}

static void release_all(void)
{
	struct mem_range kernel = { virt_to_phys(__kernel_start), ALIGN_UP(bump, PAGE_SIZE) };
	struct mem_range fs = boot_info.initramfs;
	struct mem_range holes[3] = { { 0, ALIGN_UP(low_bump,
						    PAGE_SIZE) } }; /* frame 0 stays unused */

	if (fs.start < kernel.end) /* boot structures lie above the initramfs, or around it */
		kernel.end = MAX(kernel.end, ALIGN_UP(fs.end, (u64)PAGE_SIZE));
	holes[1] = kernel;
	holes[2] = (struct mem_range){ ALIGN_DOWN(fs.start, (u64)PAGE_SIZE),
				       ALIGN_UP(fs.end, (u64)PAGE_SIZE) };
	for (int i = 0; i < boot_info.nr_ram; i++)
		release_around(boot_info.ram[i].start, boot_info.ram[i].end, holes,
			       fs.start >= kernel.end && fs.end > fs.start ? 3 : 2);
}

void bootmem_free_initramfs(const void *upto)
{
	struct mem_range *fs = &boot_info.initramfs;
	u64 end = ALIGN_DOWN((u64)virt_to_phys(upto), (u64)PAGE_SIZE);

	if (end <= fs->start)
		return;
	release_range(fs->start, end);
	fs->start = end;
}

void bootmem_init(const char *run, const struct bootmem_store *wanted)
{
	u32 future_end;

	if (!boot_info.nr_ram)
		panic("the boot loader gave no memory map");
	store = *wanted;
	settle_limits();
	bump = virt_to_phys(__kernel_end);
	future_end = future_check(mem_limit, run);
	mmu_init(lowmem_limit, future_at, future_end);
	max_pfn = mem_limit >> PAGE_SHIFT;
	mem_map = boot_alloc(max_pfn * sizeof(struct page), 64);
	zone_define(ZONE_DMA, "DMA", 0, MIN(DMA_LIMIT, lowmem_limit));
	zone_define(ZONE_NORMAL, "Normal", MIN(DMA_LIMIT, lowmem_limit), lowmem_limit);
	zone_define(ZONE_HIGHMEM, "HighMem", lowmem_limit, mem_limit);
}

void bootmem_end(void)
{
	release_all();
	zones_set_watermarks();
	slab_init();
}
