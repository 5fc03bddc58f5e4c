/* The parts of an ELF file that execve uses. */
#ifndef PROC_ELF_H
#define PROC_ELF_H

#include "types.h"

#define ELF_MAX_SEGMENTS 16
#define ELF_HEAD_SIZE 4096u /* headers must lie in the first ELF_HEAD_SIZE bytes */

#define ELF_ADDRESS_MAX 0xB7000000u /* USER_MMAP_TOP: mappings and the stack lie above */

struct elf_segment {
	u32 vaddr, filesz, memsz, offset;
	bool write, exec;
};

struct elf_image {
	u32 entry;
	u32 phdr_va; /* where the program headers are mapped, or 0 */
	u32 phnum, phentsize;
	u32 nr_segments;
	struct elf_segment segment[ELF_MAX_SEGMENTS]; /* ascending, no two on one page */
};

/*
 * Checks the first n bytes of a file of file_size bytes. Returns 0 if *image is safe to map, or
 * -ENOEXEC if it is not a static i386 executable, or if its headers are inconsistent.
 */
int elf_parse(const void *head, size_t n, u64 file_size, struct elf_image *image);

#endif
