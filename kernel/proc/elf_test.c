#include "elf.c"
#include "lib/ktap.h"

#define FILE_SIZE 20000u

static struct {
	struct elf_header h;
	struct program_header p[3];
} file;
static struct elf_image image;

/* Makes a program as a linker does: text, then data with a bss. */
static void good(void)
{
	file.h = (struct elf_header){
		.ident = { 0x7f, 'E', 'L', 'F', 1, 1, 1 },
		.type = ET_EXEC,
		.machine = EM_386,
		.version = 1,
		.entry = 0x08048100,
		.phoff = sizeof(struct elf_header),
		.ehsize = sizeof(struct elf_header),
		.phentsize = sizeof(struct program_header),
		.phnum = 3,
	};
	file.p[0] = (struct program_header){ PT_LOAD, 0, 0x08048000, 0, 5000, 5000, 5, 4096 };
	file.p[1] = (struct program_header){ PT_LOAD, 0x2f00, 0x0804bf00, 0, 600, 9000, 6, 4096 };
	file.p[2] = (struct program_header){ 0x6474e551, 0, 0, 0, 0, 0, 6, 16 };
}

static int parse(void)
{
	return elf_parse(&file, sizeof(file), FILE_SIZE, &image);
}

KTEST(elf, accepts_static_program)
{
	good();
	EXPECT_EQ(parse(), 0);
	EXPECT_EQ(image.nr_segments, 2);
	EXPECT_EQ(image.entry, 0x08048100);
	EXPECT_EQ(image.phdr_va, 0x08048034);
	EXPECT(image.segment[0].exec && !image.segment[0].write);
	EXPECT(image.segment[1].write && !image.segment[1].exec);
}

KTEST(elf, refuses_truncated_header)
{
	good();
	for (size_t n = 0; n < sizeof(file); n++)
		EXPECT_EQ(elf_parse(&file, n, FILE_SIZE, &image), -ENOEXEC);
}

KTEST(elf, refuses_truncated_file)
{
	good();
	EXPECT_EQ(elf_parse(&file, sizeof(file), 0x2f00 + 599, &image), -ENOEXEC);
	EXPECT_EQ(elf_parse(&file, sizeof(file), 0x2f00 + 600, &image), 0);
}

#define REFUSES(name, change)                                                                      \
	KTEST(elf, refuses_##name)                                                                 \
	{                                                                                          \
		good();                                                                            \
		EXPECT_EQ(parse(), 0);                                                             \
		change;                                                                            \
		EXPECT_EQ(parse(), -ENOEXEC);                                                      \
	}

REFUSES(other_magic, file.h.ident[1] = 'e')
REFUSES(elf64, file.h.ident[4] = 2)
REFUSES(big_endian, file.h.ident[5] = 2)
REFUSES(object_file, file.h.type = 1)
REFUSES(other_machine, file.h.machine = 62)
REFUSES(odd_phentsize, file.h.phentsize = 33)
REFUSES(no_headers, file.h.phnum = 0)
REFUSES(many_headers, file.h.phnum = 0xffff)
REFUSES(phoff_beyond, file.h.phoff = 0xffffffe0)
REFUSES(no_segment, file.p[0].type = file.p[1].type = 0)
REFUSES(page_0, file.p[0].vaddr = 0)
REFUSES(kernel_address, file.p[1].vaddr = 0xc0000f00)
REFUSES(address_wraps, file.p[1].memsz = 0xf8000000)
REFUSES(offset_wraps, file.p[1].offset = 0xfffffffff00ull & 0xffffff00)
REFUSES(more_file_than_memory, file.p[0].filesz = 5001)
REFUSES(misaligned, file.p[1].offset++)
REFUSES(overlap, file.p[1].vaddr = 0x08048f00)
REFUSES(one_page_twice, file.p[1].vaddr = 0x08049f00)
REFUSES(wrong_order, file.p[1].vaddr = 0x08040f00)
REFUSES(read_only_bss, file.p[1].flags = 4)
REFUSES(entry_outside, file.h.entry = 0x08048000 + 5000)
REFUSES(entry_in_data, file.h.entry = 0x0804bf10)

/* Makes a position-independent program, whose addresses count from 0. */
static void movable(void)
{
	good();
	file.h.type = ET_DYN;
	file.h.entry -= 0x08048000;
	file.p[0].vaddr -= 0x08048000;
	file.p[1].vaddr -= 0x08048000;
}

KTEST(elf, moves_image)
{
	movable();
	EXPECT_EQ(parse(), 0);
	EXPECT(image.movable && !image.interp_size);
	EXPECT_EQ(elf_span(&image), 0x7000);
	elf_move(&image, 0x56555000);
	EXPECT_EQ(image.entry, 0x56555100);
	EXPECT_EQ(image.phdr_va, 0x56555034);
	EXPECT_EQ(image.segment[0].vaddr, 0x56555000);
	EXPECT_EQ(image.segment[1].vaddr, 0x56558f00);
}

KTEST(elf, moves_image_linked_elsewhere)
{
	movable();
	file.h.entry += 0x10000;
	file.p[0].vaddr += 0x10000;
	file.p[1].vaddr += 0x10000;
	EXPECT_EQ(parse(), 0);
	EXPECT_EQ(elf_span(&image), 0x7000);
	elf_move(&image, 0x56555000);
	EXPECT_EQ(image.entry, 0x56555100);
	EXPECT_EQ(image.segment[0].vaddr, 0x56555000);
}

KTEST(elf, refuses_movable_with_bad_segments)
{
	movable();
	file.p[0].type = file.p[1].type = 0;
	EXPECT_EQ(parse(), -ENOEXEC);
	movable();
	file.p[1].vaddr = 0xf00;
	EXPECT_EQ(parse(), -ENOEXEC);
	movable();
	file.p[1].memsz = ELF_ADDRESS_MAX;
	EXPECT_EQ(parse(), -ENOEXEC);
}

static int parse_with_interpreter(u32 offset, u32 size)
{
	movable();
	file.p[2] = (struct program_header){ PT_INTERP, offset, 0, 0, size, size, 4, 1 };
	return parse();
}

KTEST(elf, finds_interpreter)
{
	EXPECT_EQ(parse_with_interpreter(0x200, 19), 0);
	EXPECT_EQ(image.interp_offset, 0x200);
	EXPECT_EQ(image.interp_size, 19);
	EXPECT_EQ(parse_with_interpreter(FILE_SIZE - 19, 19), 0);
	EXPECT_EQ(parse_with_interpreter(FILE_SIZE - 18, 19), -ENOEXEC);
	EXPECT_EQ(parse_with_interpreter(0xffffffff, 19), -ENOEXEC);
	EXPECT_EQ(parse_with_interpreter(0x200, 1), -ENOEXEC);
	EXPECT_EQ(parse_with_interpreter(0x200, ELF_PATH_MAX + 1), -ENOEXEC);
}

KTEST(elf, random_damage_maps_nothing_bad)
{
	u32 seed = 7;

	ktap_note("seed %u", seed);
	for (int i = 0; i < 20000; i++) {
		if (i % 2)
			good();
		else
			parse_with_interpreter(0x200, 19);
		for (int k = 0; k < 3; k++) {
			u32 at = ktap_random(&seed) % sizeof(file);

			((u8 *)&file)[at] = ktap_random(&seed);
		}
		if (parse())
			continue;
		EXPECT(image.interp_size <= ELF_PATH_MAX);
		EXPECT((u64)image.interp_offset + image.interp_size <= FILE_SIZE);
		for (u32 s = 0, low = image.movable ? 0 : PAGE_SIZE; s < image.nr_segments; s++) {
			struct elf_segment *seg = &image.segment[s];

			EXPECT(seg->vaddr >= low);
			EXPECT((u64)seg->vaddr + seg->memsz <= ELF_ADDRESS_MAX);
			EXPECT((u64)seg->offset + seg->filesz <= FILE_SIZE);
			low = ALIGN_UP(seg->vaddr + seg->memsz, PAGE_SIZE);
		}
	}
}
