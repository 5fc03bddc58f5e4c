/* The parts of an ELF file that execve uses. */
#ifndef PROC_ELF_H
#define PROC_ELF_H

#include "types.h"

#define ELF_MAX_SEGMENTS 16
#define ELF_HEAD_SIZE 4096u /* headers must lie in the first ELF_HEAD_SIZE bytes */

#define ELF_PATH_MAX 4096u /* of an interpreter, with its NUL */
#define ELF_DYN_BASE                                                                               \
	0x56555000u /* of programs that can lie anywhere; as on Linux without randomisation */
#define ELF_ADDRESS_MAX 0xB7000000u /* USER_MMAP_TOP: mappings and the stack lie above */

struct elf_segment {
	u32 vaddr, filesz, memsz, offset;
	bool write, exec;
};

struct elf_image {
	bool movable; /* ET_DYN: addresses count from where it is loaded */
	u32 entry;
	u32 phdr_va; /* where the program headers are mapped, or 0 */
	u32 phnum, phentsize;
	u32 interp_offset,
		interp_size; /* in the file: the interpreter's path with its NUL; size 0: none */
	u32 base;         /* where the interpreter is loaded, or 0; set by execve */
	u32 nr_segments;
	struct elf_segment segment[ELF_MAX_SEGMENTS]; /* ascending, no two on one page */
};

/*
 * Checks the first n bytes of a file of file_size bytes. Returns 0 if *image is safe to map, or
 * -ENOEXEC if it is not an i386 executable, or if its headers are inconsistent.
 */
int elf_parse(const void *head, size_t n, u64 file_size, struct elf_image *image);

/* Returns the length in bytes of the range of pages from the first segment to the last. */
u32 elf_span(const struct elf_image *image);

/* Moves a movable image: its first page will be at `start`, and span bytes from there are free. */
void elf_move(struct elf_image *image, u32 start);

#endif
