/*
 * Tracks which frames hold pages of files, and which pages of files read(2) and write(2) use.
 *
 * A frame belongs to a file from the moment when the policy receives the page, with its name (store,
 * page of the file), until the frame is freed. Only files with a store on disk have such pages;
 * pages of ramfs count as the program's own here. A page that was locked in memory before its first
 * use never reached the policy, and is unknown here.
 *
 * read and write are observed where the kernel notes the use of a page (cache_note_io), once for each
 * page of a call. Metadata that a call uses in addition counts as read.
 *
 * For the future of a run (forget=, shrink=, read_page=) more is watched: when the policy receives a page
 * of a file on a disk, when such pages are dropped, and every piece of a page that is read, not only the
 * first one: a page may be evicted between two pieces.
 *
 * The frame of a program's instructions is found while they are translated: QEMU gives their address
 * in its own memory. The address of the kernel's code, which lies at a fixed place in the guest, tells
 * where guest memory begins there.
 */
#include "files.h"

#include <stdlib.h>
#include <string.h>

#define PRESENT (1u << 0) /* in an entry of a page table */
#define LARGE (1u << 7)   /* in an entry of a directory: a page of 4 MiB */
enum { NR_FRAMES = 1 << 20, PER_TABLE = 1024, PAGE_BYTES = 64, LAST_PAGE = (1 << 20) - 1 };
enum { PAGE_FLAGS = 0, PAGE_INODE = 20 }; /* offsets in mm/page.h */
enum { FILE_INODE = 0, INODE_STORE = 156 }; /* offsets in fs/vfs.h */
enum { PG_DIRTY = 7, PG_FILECACHE = 17, IN_READ = 3 }; /* mm/page.h; mm/policy.h: enum vm_in */
#define FIRST_STORE 256u /* smallest store number of a file: mm/cache/store.c */
#define FILE_STORES (1u << 25) /* smallest of a file on a disk: mm/policy.h */

bool files_any;
void (*files_used)(file_page page, bool written);
void (*files_came)(file_page page, uint32_t how, bool dirty);
void (*files_gone)(file_page first, uint32_t last);

static uint64_t mem_map, free_pages, note_io, file_read, file_write;
static uint64_t forget, shrink, read_page; /* for the future */
static file_page in_frame[NR_FRAMES];
static file_page **said[NR_FRAMES]; /* by frame of the page directory, then by page in two steps */
static uint32_t written_inode[NR_FRAMES]; /* of the write(2) in progress in that space */
static uint32_t waiting; /* page that a call uses before the policy receives it */
static const uint8_t *ram;

static void *some(size_t nr, size_t size)
{
	void *memory = calloc(nr, size);

	if (!memory)
		fail("out of memory");
	return memory;
}

static uint32_t frame_of(uint32_t page)
{
	static uint32_t first;

	if (!first)
		first = read_word(mem_map);
	return (page - first) / PAGE_BYTES % NR_FRAMES;
}

file_page files_in_frame(uint64_t frame)
{
	return frame < NR_FRAMES ? in_frame[frame] : 0;
}

bool files_is_file(uint32_t page)
{
	return read_word(page + PAGE_FLAGS) >> PG_FILECACHE & 1;
}

static uint32_t read_entry(uint32_t table, uint32_t index)
{
	uint32_t entry = read_word(KERNEL_BASE + table + index % PER_TABLE * 4);

	return (entry & (PRESENT | LARGE)) == PRESENT ? entry & ~(PAGE_SIZE - 1) : 0;
}

uint64_t files_frame_of_page(uint32_t page)
{
	uint32_t table = read_entry(current_cr3, page / PER_TABLE);

	return table ? read_entry(table, page) / PAGE_SIZE : 0;
}

uint64_t files_frame_of_insn(struct qemu_plugin_insn *insn)
{
	const uint8_t *at = qemu_plugin_insn_haddr(insn);
	uint64_t address = qemu_plugin_insn_vaddr(insn);

	if (!at)
		return 0;
	if (address >= KERNEL_BASE)
		ram = at - (address - KERNEL_BASE);
	return ram && at >= ram ? (uint64_t)(at - ram) / PAGE_SIZE : 0;
}

file_page *files_said(uint32_t page)
{
	file_page ***tables = &said[current_cr3 / PAGE_SIZE];

	if (!*tables)
		*tables = some(PER_TABLE, sizeof(**tables));
	if (!(*tables)[page / PER_TABLE])
		(*tables)[page / PER_TABLE] = some(PER_TABLE, sizeof(file_page));
	return &(*tables)[page / PER_TABLE][page % PER_TABLE];
}

void files_space_gone(uint32_t frame)
{
	for (int i = 0; said[frame] && i < PER_TABLE; i++)
		free(said[frame][i]);
	free(said[frame]);
	said[frame] = NULL;
	written_inode[frame] = 0;
}

static void used(uint32_t page)
{
	uint32_t inode = read_word(page + PAGE_INODE);

	files_used(in_frame[frame_of(page)], inode == written_inode[current_cr3 / PAGE_SIZE]);
}

void files_insert(uint32_t page, uint32_t how, uint32_t store, uint32_t index)
{
	in_frame[frame_of(page)] = store >= FIRST_STORE ? (file_page)store << 20 | index : 0;
	files_any |= store >= FIRST_STORE;
	if (forget && store >= FILE_STORES)
		files_came(in_frame[frame_of(page)], how,
			   read_word(page + PAGE_FLAGS) >> PG_DIRTY & 1);
	if (page == waiting && how == IN_READ)
		used(page);
	waiting = 0;
}

/* At cache_note_io(page). */
static void on_note_io(unsigned int cpu, void *data)
{
	uint32_t page = read_register(EAX);

	(void)cpu;
	(void)data;
	waiting = 0;
	if (in_frame[frame_of(page)])
		used(page);
	else
		waiting = page;
}

/* At free_pages(page, order). */
static void on_free(unsigned int cpu, void *data)
{
	uint32_t frame = frame_of(read_register(EAX));

	(void)cpu;
	(void)data;
	for (uint32_t i = 0; files_any && i < 1u << read_register(EDX); i++)
		in_frame[(frame + i) % NR_FRAMES] = 0;
}

/* At cache_file_read(file, ...). */
static void on_read(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	written_inode[current_cr3 / PAGE_SIZE] = 0;
}

/* At cache_file_write(file, ...). */
static void on_write(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	written_inode[current_cr3 / PAGE_SIZE] = read_word(read_register(EAX) + FILE_INODE);
}

static void gone(uint32_t store, uint32_t first, uint32_t last)
{
	if (store >= FILE_STORES)
		files_gone((file_page)store << 20 | first, last < LAST_PAGE ? last : LAST_PAGE);
}

/* At policy_call_forget(id), a struct on the stack. */
static void on_forget(unsigned int cpu, void *data)
{
	uint32_t id = read_register(ESP) + sizeof(uint32_t), index = read_word(id + sizeof(id));

	(void)cpu;
	(void)data;
	gone(read_word(id), index, index);
}

/* At cache_shrink_range(inode, first, last). */
static void on_shrink(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	gone(read_word(read_register(EAX) + INODE_STORE), read_register(EDX), read_register(ECX));
}

/* At stored_read(file, index, ...). */
static void on_read_page(unsigned int cpu, void *data)
{
	uint32_t inode = read_word(read_register(EAX) + FILE_INODE);
	uint32_t store = read_word(inode + INODE_STORE);

	(void)cpu;
	(void)data;
	if (store >= FILE_STORES)
		files_used((file_page)store << 20 | read_register(EDX), false);
}

exec_callback *files_callback(uint64_t pc)
{
	return pc == note_io      ? on_note_io
	       : pc == forget     ? on_forget
	       : pc == shrink     ? on_shrink
	       : pc == read_page  ? on_read_page
	       : pc == free_pages ? on_free
	       : pc == file_read  ? on_read
	       : pc == file_write ? on_write
				  : NULL;
}

bool files_option(const char *name, const char *value)
{
	static const struct number numbers[] = {
		{ "mem_map", &mem_map },     { "free", &free_pages },       { "note_io", &note_io },
		{ "file_read", &file_read }, { "file_write", &file_write }, { "forget", &forget },
		{ "shrink", &shrink },       { "read_page", &read_page },
	};

	return NUMBER_OPTION(numbers, name, value);
}
