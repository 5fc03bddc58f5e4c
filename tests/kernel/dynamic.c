/*
 * dynamic: a position-independent program and, with -DLINKER, its dynamic linker, both without a C library.
 *
 * The linker checks what the kernel says of it in the auxiliary vector, and jumps to the program, which checks its own
 * addresses, its data and its bss. A linker that runs alone is itself the program, and ends. Both print one line; each
 * question that fails is a letter in it. On Linux they print the same.
 */
typedef unsigned int u32;
typedef struct {
	u32 type, value;
} aux;

enum {
	AT_PHDR = 3,
	AT_PHENT,
	AT_PHNUM,
	AT_PAGESZ,
	AT_BASE = 7,
	AT_ENTRY = 9,
	AT_HWCAP = 16,
	AT_CLKTCK
};
enum { PT_INTERP = 3, FPU = 1 };

#ifdef LINKER
#define NAME "linker"
#else
#define NAME "program"
#endif

extern char __ehdr_start[] __attribute__((visibility("hidden")));
void start(void) __asm__("_start") __attribute__((visibility("hidden")));
u32 checked(u32 *sp);

/* The stack is left as the kernel made it: the program gets it from its linker. */
__asm__(".globl _start\n"
	"_start:	mov %esp, %eax\n"
	"	push %eax\n"
	"	call checked\n"
	"	add $4, %esp\n"
	"	jmp *%eax\n");

static u32 counter = 41; /* data: a private copy of the file's page */
static u32 zero[3000];   /* bss: more than a page */

static int call(int nr, int a, const void *b, int c)
{
	int result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(nr), "b"(a), "c"(b), "d"(c) : "memory");
	return result;
}

static u32 value(const aux *v, u32 type)
{
	for (; v->type; v++)
		if (v->type == type)
			return v->value;
	return 0;
}

static const aux *vector(u32 *sp)
{
	u32 *p = sp + 1 + *sp + 1;

	while (*p++)
		;
	return (const aux *)p;
}

static int bss_is_clear(void)
{
	for (u32 i = 0; i < sizeof(zero) / sizeof(*zero); i++)
		if (zero[i])
			return 0;
	return 1;
}

/* Are the program's headers, which begin with their own address, where AT_PHDR says? */
static int headers_right(const aux *v)
{
	const u32 *p = (const u32 *)value(v, AT_PHDR);

	for (u32 n = value(v, AT_PHNUM); n; n--, p += value(v, AT_PHENT) / 4)
		if (*p == PT_INTERP)
			return 1;
	return 0;
}

u32 checked(u32 *sp)
{
	const aux *v = vector(sp);
	char line[] = NAME ":         \n", *at = line + sizeof(NAME);

#ifdef LINKER
	if (value(v, AT_BASE) != (u32)__ehdr_start)
		*++at = 'b';
#else
	if (value(v, AT_ENTRY) != (u32)start)
		*++at = 'e';
	if ((u32)__ehdr_start != 0x56555000)
		*++at = 'a';
#endif
	if (!headers_right(v))
		*++at = 'h';
	if (++counter != 42)
		*++at = 'd';
	if (!bss_is_clear())
		*++at = 'z';
	if (value(v, AT_PAGESZ) != 4096 || value(v, AT_CLKTCK) != 100)
		*++at = 'p';
	if (!(value(v, AT_HWCAP) & FPU))
		*++at = 'c';
	call(4, 1, line, sizeof(line) - 1);
#ifdef LINKER
	if (value(v, AT_ENTRY) != (u32)start)
		return value(v, AT_ENTRY);
#endif
	return call(1, at != line + sizeof(NAME), 0, 0);
}
