/*
 * The arguments of execve: copied from the old program's memory into a kernel buffer, and from
 * there onto the new program's stack, while the old program is still intact.
 *
 * The new stack, from its top down (System V ABI, i386 supplement; Linux's additions):
 *
 *	"i686", 16 random bytes, path          the auxiliary vector points here
 *	argument and environment strings
 *	auxiliary vector, ended by AT_NULL
 *	environment pointers, NULL
 *	argument pointers, NULL
 *	argc                                   <- sp, a multiple of 16
 *
 * Strings and pointers together are limited to ARG_MAX, as on Linux.
 */
#include "arch/task.h"
#include "arch/uaccess.h"
#include "errno.h"
#include "internal.h"
#include "lib/string.h"
#include "mm/mm.h"
#include "mm/slab.h"
#include "lib/random.h"
#include "observe/events.h"

#define ARG_MAX (128u << 10)
#define ARGS_FIRST_SIZE 1024u
#define STACK_SLACK (32u << 10) /* mapped below the arguments; the rest grows on demand */

enum {
	AT_NULL,
	AT_PHDR = 3,
	AT_PHENT,
	AT_PHNUM,
	AT_PAGESZ,
	AT_BASE = 7,
	AT_FLAGS,
	AT_ENTRY,
	AT_UID = 11,
	AT_EUID,
	AT_GID,
	AT_EGID,
	AT_PLATFORM,
	AT_HWCAP,
	AT_CLKTCK,
	AT_SECURE = 23,
	AT_RANDOM = 25,
	AT_EXECFN = 31,
};

/* Buffers words to be written to the stack. */
struct stack_writer {
	struct mm_struct *mm;
	u32 addr;
	u32 nr;
	u32 words[64];
	int err;
};

int args_grow(struct exec_args *args, u32 size)
{
	char *bigger;

	if (size > ARG_MAX)
		return -E2BIG;
	bigger = kmalloc(size, GFP_KERNEL);
	if (!bigger)
		return -ENOMEM;
	if (args->used)
		memcpy(bigger, args->buf, args->used);
	kfree(args->buf);
	args->buf = bigger;
	args->size = size;
	return 0;
}

static int args_add(struct exec_args *args, const char *s, bool kernel)
{
	int n, err;

	for (;;) {
		u32 room = args->size - args->used;

		if (kernel)
			n = strlen(s) < room ? (int)strlcpy(args->buf + args->used, s, room)
					     : -ENAMETOOLONG;
		else
			n = room ? strncpy_from_user(args->buf + args->used, s, room)
				 : -ENAMETOOLONG;
		if (n >= 0)
			break;
		if (n != -ENAMETOOLONG)
			return n;
		err = args_grow(args, args->size * 2);
		if (err)
			return err;
	}
	args->used += n + 1;
	if (args->used + 4 * (args->argc + args->envc) > ARG_MAX)
		return -E2BIG;
	return 0;
}

static int args_add_vector(struct exec_args *args, char *const *vector, bool kernel, u32 *count)
{
	u32 p;
	int err;

	for (; vector; vector++) {
		if (kernel)
			p = (u32)*vector;
		else if (get_user_u32(&p, vector))
			return -EFAULT;
		if (!p)
			break;
		err = args_add(args, (const char *)p, kernel);
		if (err)
			return err;
		++*count;
	}
	return 0;
}

int args_copy(struct exec_args *args, char *const *argv, char *const *envp, bool kernel)
{
	int err;

	*args = (struct exec_args){ 0 };
	err = args_grow(args, ARGS_FIRST_SIZE);
	if (!err)
		err = args_add_vector(args, argv, kernel, &args->argc);
	if (!err && !args->argc) { /* programs expect a name; Linux adds an empty one, too */
		err = args_add(args, "", true);
		args->argc = !err;
	}
	if (!err)
		err = args_add_vector(args, envp, kernel, &args->envc);
	return err;
}

void args_free(struct exec_args *args)
{
	kfree(args->buf);
}

static void flush(struct stack_writer *w)
{
	if (!w->err)
		w->err = mm_write(w->mm, w->addr, w->words, 4 * w->nr);
	w->addr += 4 * w->nr;
	w->nr = 0;
}

static void put(struct stack_writer *w, u32 word)
{
	w->words[w->nr++] = word;
	if (w->nr == ARRAY_SIZE(w->words))
		flush(w);
}

static void put_aux(struct stack_writer *w, u32 type, u32 value)
{
	put(w, type);
	put(w, value);
}

/* Writes pointers to `count` strings, which begin at *s in the buffer and at *addr on the stack. */
static void put_pointers(struct stack_writer *w, u32 count, const char **s, u32 *addr)
{
	for (; count; count--) {
		u32 n = strlen(*s) + 1;

		put(w, *addr);
		*s += n;
		*addr += n;
	}
	put(w, 0);
}

#define NR_AUX 18

static void put_auxv(struct stack_writer *w, const struct elf_image *image,
		     const struct new_program *new, u32 platform, u32 random, u32 path)
{
	put_aux(w, AT_PHDR, image->phdr_va);
	put_aux(w, AT_PHENT, image->phentsize);
	put_aux(w, AT_PHNUM, image->phnum);
	put_aux(w, AT_PAGESZ, PAGE_SIZE);
	put_aux(w, AT_BASE, image->base);
	put_aux(w, AT_FLAGS, 0);
	put_aux(w, AT_ENTRY, image->entry);
	put_aux(w, AT_UID, current->cred.user.real);
	put_aux(w, AT_EUID, current->cred.user.effective);
	put_aux(w, AT_GID, current->cred.group.real);
	put_aux(w, AT_EGID, current->cred.group.effective);
	put_aux(w, AT_PLATFORM, platform);
	put_aux(w, AT_HWCAP, cpu_features());
	put_aux(w, AT_CLKTCK, 100);
	put_aux(w, AT_SECURE, 0);
	put_aux(w, AT_RANDOM, random);
	put_aux(w, AT_EXECFN, path);
	for (u32 i = 0; i < new->nr_aux; i++)
		put_aux(w, new->aux[i].type, new->aux[i].value);
	put_aux(w, AT_NULL, 0);
}

/* Makes the region of the stack, whose top is in use from sp on. Returns its address, or an error. */
static long map_stack(struct mm_struct *mm, u32 sp)
{
	u32 low = ALIGN_DOWN(sp, PAGE_SIZE) - STACK_SLACK;

	return do_mmap(mm, low, USER_STACK_TOP - low, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_GROWSDOWN, NULL, 0);
}

int args_build_stack(struct exec_args *args, struct mm_struct *mm, const struct elf_image *image,
		     const char *path, u32 *sp)
{
	struct {
		char platform[8];
		u8 random[16];
	} head = { .platform = "i686" };
	u32 path_len = strlen(path) + 1, head_at = USER_STACK_TOP - sizeof(head);
	u32 path_at = head_at - path_len, strings = path_at - args->used, addr = strings;
	u32 nr_words = 1 + args->argc + 1 + args->envc + 1 + 2 * NR_AUX;
	const char *s = args->buf;
	struct stack_writer w = { .mm = mm };
	struct new_program new = { .mm = mm };
	long err;

	event_new_program(&new);
	if (new.err)
		return new.err;
	*sp = ALIGN_DOWN(strings - 4 * (nr_words + 2 * new.nr_aux), 16u);
	err = map_stack(mm, *sp);
	if (is_error(err))
		return err;
	random_bytes(head.random, sizeof(head.random));
	err = mm_write(mm, head_at, &head, sizeof(head));
	if (!err)
		err = mm_write(mm, path_at, path, path_len);
	if (!err && args->used)
		err = mm_write(mm, strings, args->buf, args->used);
	if (err)
		return err;
	w.addr = *sp;
	put(&w, args->argc);
	put_pointers(&w, args->argc, &s, &addr);
	mm->arg_start = strings;
	mm->arg_end = addr;
	put_pointers(&w, args->envc, &s, &addr);
	mm->env_end = addr;
	put_auxv(&w, image, &new, head_at, head_at + sizeof(head.platform), path_at);
	flush(&w);
	mm->start_stack = *sp;
	return w.err;
}
