/*
 * The future of a run: which pages each process will refer to, in order. The lab records it and
 * puts it into memory (tools/tidemark/future.py writes what is read here); the policies min and
 * vmin look ahead in it.
 *
 * Of each address space, in order of creation, there is the string of its references to pages that
 * a policy has, without immediate repetitions; with each reference the next one to the same page.
 *
 *	refs    A  B  A  C  B  A  ...        pages  A: in memory, next 5
 *	next    2  4  5  -  -  -                    B: in memory, next 4
 *	        ^at      ^ahead                     C: not in memory, next 3
 *
 * When a process runs, nobody tells us where in its string it is. But a fault does: it stands at
 * its first reference to a page that is not in memory, since it cannot have passed that one.
 * `ahead` is this place. It is exact while the process waits for a page, or asks for a frame; a
 * process that was interrupted is before it, and surely not before `at`, its last fault. A fault on
 * another page than the one expected is
 *
 *	early   a reference between at and ahead: it was interrupted, and lost that page meanwhile
 *	lost    anything else: the process does not do what it did when it was recorded. It is then
 *	        taken to be at the next reference to the page.
 *
 * In passing a reference, its page's `next` becomes that of the reference; in going back, the
 * reference itself. So each page has its next use at hand: the first one not before ahead.
 *
 * A page that was given back and used anew is another page, with the same number. The references
 * begin with the one that brings the page in. Nothing is allocated: places and states are kept in
 * the file itself.
 */
#ifndef LIB_FUTURE_H
#define LIB_FUTURE_H

#include "types.h"

#define FUTURE_MAGIC 0x31465554u /* TUF1 */
#define FUTURE_NEVER UINT32_MAX

struct future_ref {
	u32 page, next; /* numbers; of the next reference to the page, or NEVER */
	u32 time; /* of the process, in instructions / 1024 */
};

struct future_page {
	u32 vpn, next;
	void *holder; /* what the policy keeps with it while it is in memory, or NULL */
};

/* One address space. In the file, refs and pages are offsets from its beginning. */
struct future {
	struct future_ref *refs;
	struct future_page *pages;
	u32 nr_refs, nr_pages;
	u32 at, ahead;
	u32 came, returned; /* faults that brought a page in; those for which it was read */
	u32 early, lost;
};

struct future_file {
	u32 magic, bytes, nr;
	u32 sum; /* makes the sum of all words 0 */
	u32 main; /* the space that is shown apart */
	struct future of[];
};

STATIC_ASSERT(sizeof(struct future_ref) == 12 && sizeof(struct future_page) == 12);
STATIC_ASSERT(sizeof(struct future) == 40 && sizeof(struct future_file) == 20);

/* Once, before anything else; false: this is no future, or not a whole one. */
static inline bool future_open(struct future_file *file)
{
	u32 sum = 0;

	for (u32 i = 0; file->magic == FUTURE_MAGIC && i < file->bytes / sizeof(u32); i++)
		sum += ((const u32 *)file)[i];
	if (file->magic != FUTURE_MAGIC || sum)
		return false;
	file->magic = 0;
	for (struct future *f = file->of; f < file->of + file->nr; f++) {
		f->refs = (void *)((char *)file + (uintptr_t)f->refs);
		f->pages = (void *)((char *)file + (uintptr_t)f->pages);
	}
	return true;
}

static inline struct future_page *future_page_at(const struct future *f, u32 ref)
{
	return &f->pages[f->refs[ref].page];
}

/* Passes references to pages in memory, so many at most. True: there are more to pass. */
static inline bool future_advance(struct future *f, u32 most)
{
	for (; f->ahead < f->nr_refs && future_page_at(f, f->ahead)->holder; f->ahead++) {
		if (!most--)
			return true;
		future_page_at(f, f->ahead)->next = f->refs[f->ahead].next;
	}
	return false;
}

/* Was it interrupted before it came to a page with this number, which has left since? Goes back. */
static inline bool future_go_back(struct future *f, u32 vpn)
{
	u32 i = f->at;

	while (i < f->ahead && (future_page_at(f, i)->vpn != vpn || future_page_at(f, i)->holder))
		i++;
	if (i == f->ahead)
		return false;
	while (f->ahead > i) {
		f->ahead--;
		future_page_at(f, f->ahead)->next = f->ahead;
	}
	return true;
}

/* The page with this number that will be used next and is not in memory, NULL: none will be. */
static inline struct future_page *future_find(const struct future *f, u32 vpn)
{
	struct future_page *found = NULL;

	for (struct future_page *p = f->pages; p < f->pages + f->nr_pages; p++)
		if (p->vpn == vpn && !p->holder && p->next < (found ? found->next : FUTURE_NEVER))
			found = p;
	return found;
}

static inline bool future_expects(const struct future *f, u32 vpn)
{
	return f->ahead < f->nr_refs && future_page_at(f, f->ahead)->vpn == vpn;
}

/* Goes on to the next use of such a page, if there is one. */
static inline void future_skip_to(struct future *f, u32 vpn)
{
	const struct future_page *page = future_find(f, vpn);

	for (u32 to = page ? page->next : 0; f->ahead < to; f->ahead++)
		future_page_at(f, f->ahead)->next = f->refs[f->ahead].next;
}

/* A fault has brought this page in: which one is it? NULL: one of which nothing is known. */
static inline struct future_page *future_came(struct future *f, u32 vpn)
{
	f->came++;
	future_advance(f, UINT32_MAX);
	if (!future_expects(f, vpn)) {
		if (future_go_back(f, vpn)) {
			f->early++;
		} else {
			f->lost++;
			future_skip_to(f, vpn);
		}
	}
	f->at = f->ahead;
	return future_expects(f, vpn) ? future_page_at(f, f->ahead) : NULL;
}

#endif
