/*
 * Checks whether a file is a program that may be mapped. Nothing in a header is trusted: before
 * anything is changed, offsets and sizes are checked against the file, and addresses against user
 * space and against each other. Sums are computed in 64 bits, so that none can wrap.
 *
 * Two kinds of ELF32 executables are accepted: with fixed addresses (ET_EXEC), and with addresses
 * that count from where the program is loaded (ET_DYN), such as position-independent programs and
 * dynamic linkers. A dynamically linked program names its dynamic linker in PT_INTERP, the
 * "interpreter"; execve loads both and starts the interpreter.
 * Source: System V ABI, chapter 5, and its i386 supplement.
 */
#include "elf.h"
#include "arch/mmu.h"
#include "errno.h"
#include "lib/string.h"

enum { ET_EXEC = 2, ET_DYN = 3, EM_386 = 3, PT_LOAD = 1, PT_INTERP = 3, PF_X = 1, PF_W = 2 };

struct elf_header {
	u8 ident[16]; /* magic, class, byte order, version */
	u16 type, machine;
	u32 version, entry, phoff, shoff, flags;
	u16 ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};

struct program_header {
	u32 type, offset, vaddr, paddr, filesz, memsz, flags, align;
};

STATIC_ASSERT(sizeof(struct elf_header) == 52);
STATIC_ASSERT(sizeof(struct program_header) == 32);

static bool header_valid(const struct elf_header *h, size_t n)
{
	static const u8 ident[7] = { 0x7f, 'E', 'L', 'F', 1 /* 32 bits */, 1 /* LSB */, 1 };

	return !memcmp(h->ident, ident, sizeof(ident)) &&
	       (h->type == ET_EXEC || h->type == ET_DYN) && h->machine == EM_386 &&
	       h->version == 1 && h->phentsize == sizeof(struct program_header) && h->phnum > 0 &&
	       h->phoff <= n && h->phnum <= (n - h->phoff) / sizeof(struct program_header);
}

static bool segment_valid(const struct program_header *p, u64 file_size, u32 lowest)
{
	return p->filesz <= p->memsz && (u64)p->offset + p->filesz <= file_size &&
	       p->vaddr >= lowest && (u64)p->vaddr + p->memsz <= ELF_ADDRESS_MAX &&
	       !((p->vaddr ^ p->offset) & (PAGE_SIZE - 1)) &&
	       (p->filesz == p->memsz || p->flags & PF_W);
}

static void note_headers(struct elf_image *image, const struct program_header *p, u32 phoff)
{
	u64 end = (u64)phoff + image->phnum * sizeof(struct program_header);

	if (phoff >= p->offset && end <= (u64)p->offset + p->filesz)
		image->phdr_va = p->vaddr + (phoff - p->offset);
}

static bool note_interpreter(struct elf_image *image, const struct program_header *p, u64 file_size)
{
	if (p->filesz < 2 || p->filesz > ELF_PATH_MAX || (u64)p->offset + p->filesz > file_size)
		return false;
	if (!image->interp_size) { /* as on Linux, the first one counts */
		image->interp_offset = p->offset;
		image->interp_size = p->filesz;
	}
	return true;
}

static bool entry_valid(const struct elf_image *image)
{
	const struct elf_segment *s = image->segment;

	for (; s < image->segment + image->nr_segments; s++) {
		if (s->exec && image->entry - s->vaddr < s->memsz)
			return true;
	}
	return false;
}

int elf_parse(const void *head, size_t n, u64 file_size, struct elf_image *image)
{
	struct elf_header h;
	struct program_header p;
	u32 lowest;

	if (n < sizeof(h))
		return -ENOEXEC;
	memcpy(&h, head, sizeof(h));
	if (!header_valid(&h, n))
		return -ENOEXEC;
	*image = (struct elf_image){ .movable = h.type == ET_DYN,
				     .entry = h.entry,
				     .phnum = h.phnum,
				     .phentsize = h.phentsize };
	lowest = image->movable ? 0 : PAGE_SIZE; /* page 0 is never mapped */
	for (u32 i = 0; i < h.phnum; i++) {
		memcpy(&p, (const char *)head + h.phoff + i * sizeof(p), sizeof(p));
		if (p.type == PT_INTERP && !note_interpreter(image, &p, file_size))
			return -ENOEXEC;
		if (p.type != PT_LOAD || !p.memsz)
			continue;
		if (image->nr_segments == ELF_MAX_SEGMENTS || !segment_valid(&p, file_size, lowest))
			return -ENOEXEC;
		note_headers(image, &p, h.phoff);
		image->segment[image->nr_segments++] = (struct elf_segment){
			.vaddr = p.vaddr,
			.filesz = p.filesz,
			.memsz = p.memsz,
			.offset = p.offset,
			.write = p.flags & PF_W,
			.exec = p.flags & PF_X,
		};
		lowest = ALIGN_UP(p.vaddr + p.memsz, PAGE_SIZE);
	}
	return entry_valid(image) ? 0 : -ENOEXEC;
}

u32 elf_span(const struct elf_image *image)
{
	const struct elf_segment *last = &image->segment[image->nr_segments - 1];

	return PAGE_ALIGN(last->vaddr + last->memsz) -
	       ALIGN_DOWN(image->segment[0].vaddr, PAGE_SIZE);
}

void elf_move(struct elf_image *image, u32 start)
{
	u32 distance = start - ALIGN_DOWN(image->segment[0].vaddr, PAGE_SIZE);

	image->entry += distance;
	if (image->phdr_va)
		image->phdr_va += distance;
	for (u32 i = 0; i < image->nr_segments; i++)
		image->segment[i].vaddr += distance;
}
