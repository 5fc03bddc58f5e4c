/*
 * linked NPROC CALLS KIB: a program with a shared library and, with -DLINKER, its dynamic linker, all without a C
 * library. For a machine whose disk has them in /mnt.
 *
 * The linker maps the library at a fixed address, as prelinked libraries lie, and hands the address of its first
 * function on in %edx. Each of NPROC processes makes CALLS calls to functions of the library in random order, each of
 * which lies in a page of its own and returns a number that tells which it is, and writes to KIB of its own memory.
 * `corrupt` counts processes that got a wrong number or found wrong memory, `lost` those that a signal ended.
 */
typedef unsigned int u32;
typedef unsigned long long u64;

enum { SYS_exit = 1, SYS_fork, SYS_read, SYS_write, SYS_open, SYS_waitpid = 7, SYS_mmap = 90 };
enum { PAGE = 4096, PAGES = 64, MIX = 0x9E3779B1, LIBRARY = 0x60000000, AT_ENTRY = 9, PT_LOAD = 1 };
enum { PROT_READ = 1, PROT_WRITE = 2, PROT_EXEC = 4, PRIVATE = 2, FIXED = 0x10, ANONYMOUS = 0x20 };
enum { NOT_LOADED = 126 };

static int call(int nr, u32 a, const void *b, u32 c)
{
	int result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(nr), "b"(a), "c"(b), "d"(c) : "memory");
	return result;
}

static void *map(u32 at, u32 size, u32 prot, u32 flags, int fd, u32 offset)
{
	const u32 arguments[6] = { at, size, prot, flags, fd, offset };

	return (void *)call(SYS_mmap, (u32)arguments, 0, 0);
}

#ifdef LINKER

/* What follows the identification in an ELF header, and a program header. */
struct header {
	unsigned char ident[16];
	unsigned short type, machine;
	u32 version, entry, phoff, shoff, flags;
	unsigned short ehsize, phentsize, phnum;
};

struct segment {
	u32 type, offset, vaddr, paddr, filesz, memsz, flags;
	u32 align;
};

__asm__(".globl _start\n"
	"_start:	mov %esp, %eax\n"
	"	push %eax\n"
	"	call link\n"
	"	add $4, %esp\n"
	"	jmp *%eax\n");

/* The protection of a segment: its flags have the same bits in the opposite order. */
static u32 protection(u32 flags)
{
	return (flags & 4 ? PROT_READ : 0) | (flags & 2) | (flags & 1 ? PROT_EXEC : 0);
}

/* Returns the address of the first function. */
static u32 map_library(void)
{
	union {
		struct header header;
		char bytes[1024];
	} head;
	int fd = call(SYS_open, (u32) "/mnt/linked.so", 0, 0);
	const struct segment *s;

	head.bytes[0] = 0;
	if (call(SYS_read, fd, &head, sizeof(head)) != sizeof(head))
		call(SYS_exit, NOT_LOADED, 0, 0);
	s = (const struct segment *)(head.bytes + head.header.phoff);
	for (u32 i = 0; i < head.header.phnum; i++, s++) {
		u32 start = s->vaddr & -PAGE, at = LIBRARY + start;

		if (s->type == PT_LOAD && s->memsz &&
		    map(at, s->vaddr + s->memsz - start, protection(s->flags), PRIVATE | FIXED, fd,
			s->offset & -PAGE) != (void *)at)
			call(SYS_exit, NOT_LOADED, 0, 0);
	}
	return LIBRARY + head.header.entry;
}

/* Returns what the program needs: its entry in the lower half, for %eax, and the library in the upper one, for %edx. */
u64 link(const u32 *sp);
u64 link(const u32 *sp)
{
	const u32 *p = sp + 1 + *sp + 1;

	while (*p++)
		;
	while (*p != AT_ENTRY)
		p += 2;
	return (u64)map_library() << 32 | p[1];
}

#else

__asm__(".globl _start\n"
	"_start:	mov %esp, %eax\n"
	"	push %edx\n"
	"	push %eax\n"
	"	call run\n");

static u32 number(const char *text)
{
	u32 n = 0;

	for (; *text; text++)
		n = n * 10 + (*text - '0');
	return n;
}

static char *put_number(char *at, u32 n)
{
	if (n > 9)
		at = put_number(at, n / 10);
	*at++ = '0' + n % 10;
	return at;
}

static char *put(char *at, const char *name, u32 n)
{
	while (*name)
		*at++ = *name++;
	return put_number(at, n);
}

/* Returns 0, or 1 if a function or the memory was wrong. */
static int use_library(u32 library, u32 calls, u32 pages, u32 seed)
{
	u32 *own = map(0, pages * PAGE, PROT_READ | PROT_WRITE, PRIVATE | ANONYMOUS, -1, 0);
	int wrong = 0;

	if ((u32)own > -(u32)PAGE)
		return 0; /* out of memory: nothing is corrupt */
	while (calls--) {
		u32 page, *word;

		seed = seed * 1664525 + 1013904223;
		page = (seed >> 16) % PAGES;
		wrong |= ((u32(*)(void))(library + page * PAGE))() != page * (u32)MIX;
		page = (seed >> 8) % pages;
		word = own + page * (PAGE / sizeof(*own));
		wrong |= *word && *word != page + 1;
		*word = page + 1;
	}
	return wrong;
}

void run(const u32 *sp, u32 library);
void run(const u32 *sp, u32 library)
{
	char *const *argv = (char *const *)(sp + 1);
	char line[100], *at = line;
	u32 nproc, calls, pages, corrupt = 0, lost = 0, running = 0;
	int status = 0;

	if (sp[0] != 4)
		call(SYS_exit, 2, 0, 0);
	nproc = number(argv[1]);
	calls = number(argv[2]);
	pages = number(argv[3]) / 4 + 1;
	for (u32 i = 0; i < nproc; i++) {
		int pid = call(SYS_fork, 0, 0, 0);

		if (!pid)
			call(SYS_exit, use_library(library, calls, pages, i), 0, 0);
		running += pid > 0;
	}
	for (; running; running--) {
		call(SYS_waitpid, -1, &status, 0);
		lost += (status & 0x7f) != 0;
		corrupt += !(status & 0x7f) && status;
	}
	at = put(at, "R linked nproc=", nproc);
	at = put(at, " calls=", calls);
	at = put(at, " lost=", lost);
	at = put(at, " corrupt=", corrupt);
	*at++ = '\n';
	call(SYS_write, 1, line, at - line);
	call(SYS_exit, lost || corrupt, 0, 0);
}

#endif
