/*
 * The future of a run: the pages that each process will reference, in order. The lab records it and
 * loads it into memory (tools/tidemark/trace/future.py writes the format read here). The policies
 * min and vmin use it to look ahead.
 *
 * Each address space, in order of creation, has a reference string: its references to pages managed
 * by the policy, without immediate repetitions. Each reference stores the index of the next one to
 * its page.
 *
 *	refs    A  B  A  C  B  A  ...        pages  A: in memory, next 5
 *	next    2  4  5  -  -  -                    B: in memory, next 4
 *	        ^at      ^ahead                     C: not in memory, next 3
 *
 * A running process does not report its position in the string. But a fault reveals it: the process
 * is at its first reference to a nonresident page, since it cannot have passed that reference.
 * `ahead` is this position. It is exact while the process waits for a page or requests a frame. A
 * process that was interrupted is before `ahead`, and certainly not before `at`, the position of
 * its last fault. A fault on another page than the expected one is
 *
 *	early   a reference between at and ahead: it was interrupted, and lost that page meanwhile
 *	lost    anything else: the process differs from the recorded run. It is then assumed to be at
 *	        the next reference to the page.
 *
 * Passing a reference sets its page's `next` to that of the reference; going back sets it to the
 * reference itself. So each page has its next use at hand: the first one not before ahead.
 *
 * A page that was freed and used again counts as another page with the same number. The references
 * begin with the one that brings the page in. Nothing is allocated: positions and states are kept
 * in the file itself.
 */
#ifndef LIB_FUTURE_H
#define LIB_FUTURE_H

#include "types.h"

#define FUTURE_MAGIC 0x31465554u /* TUF1 */
#define FUTURE_NEVER UINT32_MAX

struct future_ref {
	u32 page, next; /* page number; index of the page's next reference, or NEVER */
	u32 time; /* the process's own, in instructions / 1024 */
};

struct future_page {
	u32 vpn, next;
	void *holder; /* the policy's data while the page is resident, or NULL */
};

/* One address space. In the file, refs and pages are offsets from its beginning. */
struct future {
	struct future_ref *refs;
	struct future_page *pages;
	u32 nr_refs, nr_pages;
	u32 at, ahead;
	u32 came, returned; /* faults that brought a page in; those that read it from disk */
	u32 early, lost;
};

struct future_file {
	u32 magic, bytes, nr;
	u32 sum; /* makes the sum of all words 0 */
	u32 main; /* the space that is shown separately */
	struct future of[];
};

STATIC_ASSERT(sizeof(struct future_ref) == 12 && sizeof(struct future_page) == 12);
STATIC_ASSERT(sizeof(struct future) == 40 && sizeof(struct future_file) == 20);

/* Call once, first. Returns false if the file is not a future, or is incomplete. */
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

/* Passes at most `most` references to resident pages. Returns true if more remain to be passed. */
static inline bool future_advance(struct future *f, u32 most)
{
	for (; f->ahead < f->nr_refs && future_page_at(f, f->ahead)->holder; f->ahead++) {
		if (!most--)
			return true;
		future_page_at(f, f->ahead)->next = f->refs[f->ahead].next;
	}
	return false;
}

/* Goes back if the process was interrupted before a reference to page vpn, evicted since. Returns
 * false if there is no such reference. */
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

/* Returns the nonresident page vpn with the earliest next use, or NULL if none will be used. */
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

/* Advances to the next use of page vpn, if there is one. */
static inline void future_skip_to(struct future *f, u32 vpn)
{
	const struct future_page *page = future_find(f, vpn);

	for (u32 to = page ? page->next : 0; f->ahead < to; f->ahead++)
		future_page_at(f, f->ahead)->next = f->refs[f->ahead].next;
}

/* A fault has brought page vpn in. Returns that page, or NULL if the future does not know it. */
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
