/*
 * The vDSO: maps two pages into each new program, above its stack, where they need no page table of
 * their own:
 *
 *	page 0   the library (kernel/arch/x86/vdso)
 *	page 1   how to compute the time from the TSC; the kernel updates it
 *
 * They are a file in memory without a path, whose pages are never evicted, and are the same for all
 * programs. Their region, [vdso], is like any other: a fork copies it, munmap removes it, and a write,
 * if mprotect permits it, makes a private copy. But it is mapped at once, because nearly every program uses it.
 *
 * The auxiliary vector tells where the library is (AT_SYSINFO_EHDR), and where its function for a
 * system call is (AT_SYSINFO). Both addresses are the same in all programs: a call by sysenter
 * returns into the library without a look at the caller. A program without these pages makes its
 * calls by int $0x80. With vm.vdso_enabled=0 new programs do not get them.
 */
#include "arch/vdso.h"

#include "arch/mmu.h"
#include "fs/fs_type.h"
#include "internal.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "lib/stages.h"
#include "lib/string.h"
#include "mm/mm.h"
#include "mm/page.h"
#include "observe/events.h"

#define VDSO_PAGES 2u
#define ELF_ENTRY 24u /* offset of the entry point in an ELF header */

enum { AT_SYSINFO = 32, AT_SYSINFO_EHDR = 33 };

extern const char vdso_image[], vdso_image_end[];

static const struct fs_type vdso_type = { .name = "vdso" };
static struct super_block vdso_sb;
static struct inode *file;
static u32 vsyscall; /* user address of __kernel_vsyscall */
static u32 enabled = 1;

PARAM_U32("vm.vdso_enabled", enabled, 0, 1, NULL, "1: new programs get the vDSO");

/* Creates the file, with pages of zeros. Their references are kept. Returns false if out of memory. */
static bool create_file(struct page *pages[VDSO_PAGES])
{
	file = ramfs_inode(&vdso_sb, S_IFREG | 0444, 0);
	if (!file)
		return false;
	file->private = "[vdso]";
	file->size = VDSO_PAGES * PAGE_SIZE;
	for (u32 i = 0; i < VDSO_PAGES; i++)
		if (vfs_get_page(file, i, &pages[i]))
			return false;
	return true;
}

static void fill_library(struct page *page)
{
	char *at = kmap(page);
	u32 entry;

	memcpy(at, vdso_image, vdso_image_end - vdso_image);
	memcpy(&entry, at + ELF_ENTRY, sizeof(entry));
	vsyscall = USER_VDSO + entry;
	if (!sysenter_init(vsyscall + VSYSCALL_RETURN))
		memset(at + entry + VSYSCALL_ENTER, 0x90 /* nop */, VSYSCALL_ENTER_SIZE);
	kunmap(at);
}

static void map_into(struct new_program *new)
{
	long at;

	if (!enabled)
		return;
	at = do_mmap(new->mm, USER_VDSO, VDSO_PAGES * PAGE_SIZE, PROT_READ | PROT_EXEC,
		     MAP_PRIVATE | MAP_FIXED, file, 0);
	new->err = at == (long)USER_VDSO ? mm_map_cached(new->mm, USER_VDSO) : at;
	new->aux[new->nr_aux].type = AT_SYSINFO;
	new->aux[new->nr_aux++].value = vsyscall;
	new->aux[new->nr_aux].type = AT_SYSINFO_EHDR;
	new->aux[new->nr_aux++].value = USER_VDSO;
}

static void vdso_init(void)
{
	struct page *pages[VDSO_PAGES];

	super_init(&vdso_sb, &vdso_type);
	vdso_sb.unnamed = true;
	if (!create_file(pages)) {
		printk("vdso: no memory\n");
		return;
	}
	fill_library(pages[0]);
	clock_page_init(page_pfn(pages[1]), vsyscall + READ_CYCLES);
	listen_new_program(map_into);
}

AT_STAGE(parts, 60, vdso_init);
