/* What execve needs to know of an ELF file. */
#ifndef PROC_ELF_H
#define PROC_ELF_H

#include "types.h"

#define ELF_MAX_SEGMENTS 16
#define ELF_HEAD_SIZE 4096u /* headers must lie in the first so many bytes */

#define ELF_ADDRESS_MAX 0xB7000000u /* USER_MMAP_TOP: above lie mappings and the stack */

struct elf_segment {
	u32 vaddr, filesz, memsz, offset;
	bool write, exec;
};

struct elf_image {
	u32 entry;
	u32 phdr_va; /* where the program headers are mapped; 0: nowhere */
	u32 phnum, phentsize;
	u32 nr_segments;
	struct elf_segment segment[ELF_MAX_SEGMENTS]; /* ascending, no two on one page */
};

/*
 * Checks the first n bytes of a file of file_size bytes. 0: *image is safe to map;
 * -ENOEXEC: not a static i386 executable, or its headers contradict the file or each other.
 */
int elf_parse(const void *head, size_t n, u64 file_size, struct elf_image *image);

#endif
