/*
 * Maps a program: whole pages of the file, privately, followed by zero pages.
 *
 * The last file page of a segment also holds the beginning of its bss: the rest of that page
 * contains other data of the file, and is cleared.
 *
 * A movable program with an interpreter lies at ELF_DYN_BASE. Interpreters, and movable programs
 * without one, lie in the highest hole, like other mappings. Addresses are not randomised.
 */
#include "errno.h"
#include "internal.h"
#include "mm/mm.h"

STATIC_ASSERT(ELF_ADDRESS_MAX == USER_MMAP_TOP);

static const u8 zeros[256];

static int clear_range(struct mm_struct *mm, u32 from, u32 to)
{
	while (from < to) {
		u32 n = MIN(to - from, sizeof(zeros));
		int err = mm_write(mm, from, zeros, n);

		if (err)
			return err;
		from += n;
	}
	return 0;
}

static int map_file_part(struct mm_struct *mm, struct inode *inode, const struct elf_segment *s,
			 u32 prot)
{
	u32 start = ALIGN_DOWN(s->vaddr, PAGE_SIZE);
	u32 end = PAGE_ALIGN(s->vaddr + s->filesz);
	long addr;

	if (!s->filesz)
		return 0;
	addr = do_mmap(mm, start, end - start, prot, MAP_PRIVATE | MAP_FIXED, inode,
		       s->offset >> PAGE_SHIFT);
	if (is_error(addr))
		return addr;
	if (s->memsz == s->filesz)
		return 0;
	return clear_range(mm, s->vaddr + s->filesz, end);
}

static int map_zero_part(struct mm_struct *mm, const struct elf_segment *s, u32 prot)
{
	u32 start = s->filesz ? PAGE_ALIGN(s->vaddr + s->filesz) : ALIGN_DOWN(s->vaddr, PAGE_SIZE);
	u32 end = PAGE_ALIGN(s->vaddr + s->memsz);
	long addr;

	if (start >= end)
		return 0;
	addr = do_mmap(mm, start, end - start, prot, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, NULL,
		       0);
	return is_error(addr) ? (int)addr : 0;
}

/* Chooses where a movable image lies. Nothing is mapped there. Returns 0 or -ENOMEM. */
static int place(struct mm_struct *mm, struct elf_image *image)
{
	u32 span = elf_span(image), start = image->interp_size ? ELF_DYN_BASE : 0;
	long at;

	if (span > ELF_ADDRESS_MAX - start)
		return -ENOMEM;
	at = do_mmap(mm, start, span, 0, MAP_PRIVATE | MAP_ANONYMOUS, NULL, 0);
	if (is_error(at))
		return at;
	elf_move(image, at);
	return do_munmap(mm, at, span);
}

int elf_load(struct mm_struct *mm, struct inode *inode, struct elf_image *image)
{
	int err = image->movable ? place(mm, image) : 0;

	for (u32 i = 0; i < image->nr_segments && !err; i++) {
		const struct elf_segment *s = &image->segment[i];
		u32 prot = PROT_READ | (s->write ? PROT_WRITE : 0) | (s->exec ? PROT_EXEC : 0);

		err = map_file_part(mm, inode, s, prot);
		if (!err)
			err = map_zero_part(mm, s, prot);
	}
	return err;
}

void elf_describe(struct mm_struct *mm, const struct elf_image *image)
{
	const struct elf_segment *s = image->segment;

	mm->start_code = s->vaddr;
	for (; s < image->segment + image->nr_segments; s++) {
		if (s->exec)
			mm->end_code = s->vaddr + s->filesz;
		if (s->write && !mm->start_data)
			mm->start_data = s->vaddr;
		if (s->write)
			mm->end_data = s->vaddr + s->filesz;
		mm->start_brk = mm->brk = PAGE_ALIGN(s->vaddr + s->memsz);
	}
}
