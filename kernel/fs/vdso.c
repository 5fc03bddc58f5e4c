/*
 * The vDSO: maps two pages into each new program, above its stack, where it needs no page table of
 * its own:
 *
 *	[vvar]   read-only       how to compute the time from the TSC; the kernel updates it
 *	[vdso]   and executable  the library (kernel/arch/x86/vdso), the same for all
 *
 * Each is a file in memory without a path, of one page that is never evicted. So its region is like
 * any other, but mapped at once, because nearly every program uses it: it is inherited and unmapped, and a write to the library, if mprotect permits it, makes
 * a private copy. [vvar] never becomes writable.
 *
 * The auxiliary vector tells where the library is (AT_SYSINFO_EHDR), and where its function for a
 * system call is (AT_SYSINFO). Both addresses are the same in all programs: a call by sysenter
 * returns into the library without a look at the caller. A program without these pages makes its
 * calls by int $0x80.
 */
#include "arch/vdso.h"

#include "arch/mmu.h"
#include "fs/fs_type.h"
#include "internal.h"
#include "lib/printf.h"
#include "lib/stages.h"
#include "lib/string.h"
#include "mm/mm.h"
#include "mm/page.h"
#include "observe/events.h"

#define ELF_ENTRY 24u /* offset of the entry point in an ELF header */

enum { AT_SYSINFO = 32, AT_SYSINFO_EHDR = 33 };

extern const char vdso_image[], vdso_image_end[];

static const struct fs_type vdso_type = { .name = "vdso" };
static struct super_block vdso_sb;
static struct inode *clock_file, *library;
static u32 vsyscall; /* user address of __kernel_vsyscall */

/* Creates a file of one page of zeros. The file and *page keep their references. Returns NULL if out
 * of memory. */
static struct inode *one_page_file(char *name, struct page **page)
{
	struct inode *inode = ramfs_inode(&vdso_sb, S_IFREG | 0444, 0);

	if (!inode)
		return NULL;
	inode->private = name;
	inode->size = PAGE_SIZE;
	if (!vfs_get_page(inode, 0, page))
		return inode;
	inode_put(inode);
	return NULL;
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

static int map(struct mm_struct *mm, u32 addr, u32 prot, u32 flags, struct inode *inode)
{
	long at = do_mmap(mm, addr, PAGE_SIZE, prot, MAP_PRIVATE | MAP_FIXED | flags, inode, 0);

	return at == (long)addr ? mm_map_cached(mm, addr) : at;
}

static void map_into(struct new_program *new)
{
	new->err = map(new->mm, USER_CLOCK, PROT_READ, MAP_NOWRITE, clock_file)
			   ?: map(new->mm, USER_VDSO, PROT_READ | PROT_EXEC, 0, library);
	new->aux[new->nr_aux].type = AT_SYSINFO;
	new->aux[new->nr_aux++].value = vsyscall;
	new->aux[new->nr_aux].type = AT_SYSINFO_EHDR;
	new->aux[new->nr_aux++].value = USER_VDSO;
}

static void vdso_init(void)
{
	struct page *clock_page, *code;

	super_init(&vdso_sb, &vdso_type);
	vdso_sb.unnamed = true;
	clock_file = one_page_file("[vvar]", &clock_page);
	library = clock_file ? one_page_file("[vdso]", &code) : NULL;
	if (!library) {
		printk("vdso: no memory\n");
		return;
	}
	fill_library(code);
	clock_page_init(page_pfn(clock_page), vsyscall + READ_CYCLES);
	listen_new_program(map_into);
}

AT_STAGE(parts, 60, vdso_init);
