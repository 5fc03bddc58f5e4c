/*
 * mode=alloc: the kernel's allocations and frees, as a log that tools/allocsim replays.
 *
 * The guest takes no part. The plugin is called when one of the functions below begins, and when an
 * allocating function returns; it reads the arguments, the result and the chain of callers. Frames are
 * logged where they enter and leave the buddy (buddy.c), objects at the slab caches (slab.c). Memory
 * that the slab allocator takes for itself, descriptors and caches, is left out of the objects: another
 * allocator would not need it.
 *
 * An allocation is logged when it returns, because it may sleep. So the log of the frames is in the
 * order in which the buddy worked. That of the objects may differ from it where an allocation waited
 * for a frame.
 *
 * Options: out=FILE; symbols=FILE: the output of `nm -n` for the kernel; pages=: the address of the
 * variable mem_map. FILE appears when QEMU ends. Its lines, with addresses and frames in hexadecimal:
 *
 *   tidemark-alloc 1              the version of this format
 *   z START END                   a zone of these frames, which is still empty
 *   c SIZE ALIGN NAME             a slab cache of objects of SIZE bytes
 *   g ZONE ORDER FRAME CALLER     2^ORDER frames are given to the zone at boot
 *   p ZONE ORDER FRAME CALLER     2^ORDER frames are allocated; zones count from 0
 *   q ZONE ORDER FRAME CALLER     they are freed
 *   a ADDRESS SIZE CACHE CALLER   an object is allocated; SIZE is what the caller asked kmalloc for
 *   f ADDRESS CALLER              it is freed
 *   r                             all empty slabs are freed
 *   s FUNCTION                    /proc/buddyinfo or /proc/slabinfo is written by this function
 *   end LINES                     the number of lines before this one
 */
#include "calls.h"
#include "symbols.h"

#include <stdlib.h>
#include <string.h>

enum { STACK_SIZE = 8192, MAX_OPEN = 1 << 12, MAX_KNOWN = 256, MAX_CALLERS = 24 };
enum { STRUCT_PAGE = 64, ZONE_START = 4, ZONE_END = 8, LARGEST_KMALLOC = 128 << 10 };

/* Functions through which frames and objects pass on their way to their user. */
static const char *const passing[] = {
	"buddy_alloc",     "buddy_free", "alloc_from_zones", "alloc_slow",      "alloc_pages",
	"get_free_pages",  "free_pages", "free_pages_at",    "pagelists_alloc", "pagelists_free",
	"kmem_cache_free", "kmalloc",    "kzalloc",          "kfree",           NULL,
};
static const char *const slabs[] = {
	"kmem_cache_alloc",   "cache_grow", "kmem_cache_create", "kmem_cache_shrink",
	"kmem_cache_destroy", "slab_reap",  "slab_destroy",      NULL,
};

static const char *out_name, *symbols_name;
static uint64_t pages;
static FILE *out;
static uint64_t nr_lines;

/* The zones and the caches by their address in the guest; their numbers are in the log. */
static struct known {
	uint32_t at[MAX_KNOWN], size[MAX_KNOWN];
	size_t nr;
} zones, caches;

/* Calls that have not returned yet. Only one can be at a place of a stack. */
static struct open_call {
	uint32_t esp, of, size;
	const char *caller;
} open_calls[MAX_OPEN];
static uint32_t kmalloc_size; /* of the call of kmalloc that has begun; 0: none */

#define LOG(...) (nr_lines++, fprintf(out, __VA_ARGS__))

static void know(struct known *known, uint32_t address, uint32_t size)
{
	if (known->nr == MAX_KNOWN)
		fail("more than %d zones or slab caches", MAX_KNOWN);
	known->at[known->nr] = address;
	known->size[known->nr++] = size;
}

static size_t number_of(const struct known *known, uint32_t address)
{
	size_t i;

	for (i = 0; i < known->nr && known->at[i] != address; i++)
		;
	if (i == known->nr)
		fail("memory of an unknown zone or slab cache at %#x", address);
	return i;
}

static bool is_in(const char *name, const char *const *list)
{
	while (*list && !calls_is_of(name, *list))
		list++;
	return *list;
}

/* Returns the first caller that no list names. Call when a function begins: esp is at its return
 * address, and ebp at its caller's frame. `skipped` may be NULL. */
static const char *caller(const char *const *skipped)
{
	uint32_t esp = read_register(ESP), frame = read_register(EBP), pc = read_word(esp);
	const char *name = "";

	for (int i = 0; i < MAX_CALLERS && pc >= KERNEL_BASE; i++) {
		name = symbol_name(symbol_of(pc - 1));
		if (!is_in(name, passing) && !(skipped && is_in(name, skipped)))
			break;
		if ((frame ^ esp) >= STACK_SIZE)
			break;
		pc = read_word(frame + 4);
		frame = read_word(frame);
	}
	return name;
}

static void open_call(uint32_t of, uint32_t size, const char *name)
{
	uint32_t esp = read_register(ESP);
	struct open_call *at = open_calls, *unused = NULL;

	for (; at < open_calls + MAX_OPEN && at->esp != esp; at++)
		if (!at->esp && !unused)
			unused = at;
	if (at == open_calls + MAX_OPEN)
		at = unused;
	if (!at)
		fail("more than %d allocations wait", MAX_OPEN);
	*at = (struct open_call){ esp, of, size, name };
}

/* Call at a return: esp is where it was when the call began. Returns NULL if none is open. */
static const struct open_call *close_call(void)
{
	uint32_t esp = read_register(ESP);

	for (struct open_call *at = open_calls; at < open_calls + MAX_OPEN; at++)
		if (at->esp == esp) {
			at->esp = 0;
			return at;
		}
	return NULL;
}

static uint32_t frame_of(uint32_t page)
{
	return (page - read_word(pages)) / STRUCT_PAGE;
}

/* buddy_init(zone) */
static void on_zone(unsigned int cpu, void *data)
{
	uint32_t zone = read_register(EAX);

	(void)cpu, (void)data;
	know(&zones, zone, 0);
	LOG("z %x %x\n", read_word(zone + ZONE_START), read_word(zone + ZONE_END));
}

/* buddy_alloc(zone, order) */
static void on_frames(unsigned int cpu, void *data)
{
	(void)cpu, (void)data;
	open_call(number_of(&zones, read_register(EAX)), read_register(EDX), caller(slabs));
}

static void on_frames_return(unsigned int cpu, void *data)
{
	const struct open_call *call = close_call();
	uint32_t page = read_register(EAX);

	(void)cpu, (void)data;
	if (call && page)
		LOG("p %u %u %x %s\n", call->of, call->size, frame_of(page), call->caller);
}

/* buddy_free(zone, page, order) */
static void on_frames_freed(unsigned int cpu, void *data)
{
	static const char *const at_boot[] = { "release_range", NULL };
	const char *name = caller(slabs);

	(void)cpu, (void)data;
	LOG("%c %zu %u %x %s\n", is_in(name, at_boot) ? 'g' : 'q',
	    number_of(&zones, read_register(EAX)), read_register(ECX), frame_of(read_register(EDX)),
	    name);
}

/* kmem_cache_setup(cache, name, size, align, ctor) */
static void on_cache(unsigned int cpu, void *data)
{
	uint32_t size = read_register(ECX), align = read_word(read_register(ESP) + 4);
	char name[32];

	(void)cpu, (void)data;
	read_memory(read_register(EDX), name, sizeof(name));
	name[sizeof(name) - 1] = '\0';
	know(&caches, read_register(EAX), size);
	LOG("c %u %u %s\n", size, align, name);
}

/* kmalloc(size, gfp) and kzalloc(size, gfp), whose first act is to call kmem_cache_alloc. */
static void on_kmalloc(unsigned int cpu, void *data)
{
	uint32_t size = read_register(EAX);

	(void)cpu, (void)data;
	kmalloc_size = size <= LARGEST_KMALLOC ? size : 0;
}

/* kmem_cache_alloc(cache, gfp) */
static void on_object(unsigned int cpu, void *data)
{
	size_t cache = number_of(&caches, read_register(EAX));
	const char *name = caller(NULL);

	(void)cpu, (void)data;
	if (!is_in(name, slabs))
		open_call(cache, kmalloc_size ?: caches.size[cache], name);
	kmalloc_size = 0;
}

static void on_object_return(unsigned int cpu, void *data)
{
	const struct open_call *call = close_call();
	uint32_t address = read_register(EAX);

	(void)cpu, (void)data;
	if (call && address)
		LOG("a %x %u %u %s\n", address, call->size, call->of, call->caller);
}

/* kmem_cache_free(cache, object) */
static void on_object_freed(unsigned int cpu, void *data)
{
	const char *name = caller(NULL);

	(void)cpu, (void)data;
	if (!is_in(name, slabs))
		LOG("f %x %s\n", read_register(EDX), name);
}

static void on_reap(unsigned int cpu, void *data)
{
	(void)cpu, (void)data;
	LOG("r\n");
}

static void on_shown(unsigned int cpu, void *name)
{
	(void)cpu;
	LOG("s %s\n", (const char *)name);
}

static const struct call watched[] = {
	{ "buddy_init", on_zone, NULL },
	{ "buddy_alloc", on_frames, on_frames_return },
	{ "alloc_by_halving", NULL, on_frames_return }, /* buddy_alloc jumps to it */
	{ "buddy_free", on_frames_freed, NULL },
	{ "kmem_cache_setup", on_cache, NULL },
	{ "kmem_cache_alloc", on_object, on_object_return },
	{ "kmem_cache_free", on_object_freed, NULL },
	{ "kmalloc", on_kmalloc, NULL },
	{ "kzalloc", on_kmalloc, NULL },
	{ "slab_reap", on_reap, NULL },
	{ "slab_show", on_shown, NULL },
	{ "buddyinfo_show", on_shown, NULL },
};

static void translate(struct qemu_plugin_tb *tb)
{
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++)
		calls_watch(qemu_plugin_tb_get_insn(tb, i));
}

static bool option(const char *name, const char *value)
{
	static const struct number numbers[] = { { "pages", &pages } };

	if (!strcmp(name, "out"))
		out_name = value;
	else if (!strcmp(name, "symbols"))
		symbols_name = value;
	else
		return NUMBER_OPTION(numbers, name, value);
	return true;
}

static void start(void)
{
	if (!out_name || !symbols_name || !pages)
		fail("mode=alloc needs out=, symbols= and pages=");
	calls_find(watched, sizeof(watched) / sizeof(watched[0]), symbols_name);
	out = open_whole(out_name);
	LOG("tidemark-alloc 1\n");
}

static void finish(void)
{
	fprintf(out, "end %llu\n", (unsigned long long)nr_lines);
	close_whole(out, out_name);
}

const struct mode alloc_mode = {
	.name = "alloc",
	.option = option,
	.start = start,
	.translate = translate,
	.finish = finish,
};
