/*
 * The future of a run: the pages that each process will reference, in order. The lab records it and
 * loads it into memory (tools/tidemark/trace/future.py writes the format read here). The policies
 * min and vmin use it to look ahead.
 *
 * Each address space, in order of creation, has a reference string: its references to pages managed
 * by the policy, without immediate repetitions. Each reference stores the index of the next one to
 * its page. A page is named by a file and an index: 0 and a virtual page number, or the store of a
 * file on a disk and a page of that file. Both names are the same in every run.
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
 * A page that was freed and used again counts as another page with the same name. The references
 * begin with the one that brings the page in. Several spaces may use a page of a file: each has an
 * entry of its own for it, with its own next use, and while the page is resident these entries are
 * chained by `peer`. Nothing is allocated: positions and states are kept in the file itself.
 *
 * The file states its size, a sum, and the command of the recorded run. future_wrong checks all that
 * the other functions rely on, so that a damaged file leads nowhere else.
 */
#ifndef LIB_FUTURE_H
#define LIB_FUTURE_H

#include "types.h"

#define FUTURE_MAGIC 0x32465554u /* TUF2 */
#define FUTURE_NEVER UINT32_MAX

struct future_ref {
	u32 page, next; /* page number; index of the page's next reference, or NEVER */
	u32 time; /* the process's own, in instructions / 1024 */
};

struct future_name {
	u32 file, index;
};

struct future_page {
	struct future_name name;
	u32 next;
	u32 space; /* index in future_file.of */
	void *holder; /* the policy's data while the page is resident, or NULL */
	struct future_page *peer; /* the same page in another space; NULL: the last one */
};

/* One address space. In the file, refs and pages are offsets from its beginning. */
struct future {
	struct future_ref *refs;
	struct future_page *pages;
	u32 nr_refs, nr_pages;
	u32 at, ahead;
	u32 came, returned; /* faults that brought a page in; those that read it from disk */
	u32 early, lost;
	void *mm; /* the policy's; NULL: the space is not born yet, or has ended */
};

struct future_file {
	u32 magic, bytes, nr;
	u32 sum; /* makes the sum of all words 0 */
	u32 main; /* the space that is shown separately */
	u32 nr_of_files; /* pages of files in all spaces */
	u32 run; /* offset of the recorded run's command, which ends with a zero */
	struct future of[];
};

STATIC_ASSERT(sizeof(struct future_ref) == 12 && sizeof(struct future_page) == 24);
STATIC_ASSERT(sizeof(struct future) == 44 && sizeof(struct future_file) == 28);

/* Is there a table of n items at this offset, after the spaces? */
static inline bool future_has(const struct future_file *file, u64 offset, u64 n, u32 size)
{
	u64 first = sizeof(*file) + (u64)file->nr * sizeof(struct future);

	return !(offset % sizeof(u32)) && offset >= first && offset + n * size <= file->bytes;
}

static inline bool future_refs_ok(const struct future *f, const struct future_ref *r)
{
	for (u32 i = 0; i < f->nr_refs; i++)
		if (r[i].page >= f->nr_pages ||
		    (r[i].next != FUTURE_NEVER && (r[i].next <= i || r[i].next >= f->nr_refs)))
			return false;
	return true;
}

static inline bool future_pages_ok(const struct future *f, const struct future_page *p, u32 space)
{
	for (u32 i = 0; i < f->nr_pages; i++)
		if (p[i].space != space || p[i].holder || p[i].peer ||
		    (p[i].next != FUTURE_NEVER && p[i].next >= f->nr_refs))
			return false;
	return true;
}

static inline bool future_space_ok(const struct future_file *file, u32 space)
{
	const struct future *f = &file->of[space];
	const char *start = (const char *)file;
	u32 refs = (uintptr_t)f->refs, pages = (uintptr_t)f->pages;

	if (!future_has(file, refs, f->nr_refs, sizeof(struct future_ref)) ||
	    !future_has(file, pages, f->nr_pages, sizeof(struct future_page)))
		return false;
	return !f->at && !f->ahead && !f->mm && future_refs_ok(f, (const void *)(start + refs)) &&
	       future_pages_ok(f, (const void *)(start + pages), space);
}

static inline bool future_is_whole(const struct future_file *file)
{
	u32 words = file->bytes / sizeof(u32), sum = 0;
	u64 spaces = sizeof(*file) + (u64)file->nr * sizeof(struct future);

	for (u32 i = 0; i < words; i++)
		sum += ((const u32 *)file)[i];
	if (sum || file->bytes % sizeof(u32) || spaces > file->bytes ||
	    !future_has(file, file->run, 1, sizeof(u32)) || ((const char *)file)[file->bytes - 1] ||
	    file->main >= MAX(file->nr, 1u))
		return false;
	for (u32 i = 0; i < file->nr; i++)
		if (!future_space_ok(file, i))
			return false;
	return true;
}

/* Returns what is wrong with a file that was just loaded, at the beginning of `room` bytes; NULL: nothing. */
static inline const char *future_wrong(const struct future_file *file, u64 room)
{
	if (room < sizeof(*file) || file->magic != FUTURE_MAGIC)
		return "no future lies there; `tidemark min` puts one";
	if (file->bytes < sizeof(*file) || file->bytes > room)
		return "the future does not fit: it is longer than the memory from there on";
	return future_is_whole(file) ? NULL : "the future is damaged or cut off";
}

static inline const char *future_run(const struct future_file *file)
{
	return (const char *)file + file->run;
}

/* Call once, first. Returns false if the file has been opened before. */
static inline bool future_open(struct future_file *file)
{
	if (file->magic != FUTURE_MAGIC)
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

static inline bool future_is(const struct future_page *page, struct future_name name)
{
	return page->name.index == name.index && page->name.file == name.file;
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

/* Goes back if the process was interrupted before a reference to this page, evicted since. Returns
 * false if there is no such reference. */
static inline bool future_go_back(struct future *f, struct future_name name)
{
	u32 i = f->at;

	while (i < f->ahead &&
	       (!future_is(future_page_at(f, i), name) || future_page_at(f, i)->holder))
		i++;
	if (i == f->ahead)
		return false;
	while (f->ahead > i) {
		f->ahead--;
		future_page_at(f, f->ahead)->next = f->ahead;
	}
	return true;
}

/* Returns the nonresident page of this name with the earliest next use, or NULL if none will be used. */
static inline struct future_page *future_find(const struct future *f, struct future_name name)
{
	struct future_page *found = NULL;

	for (struct future_page *p = f->pages; p < f->pages + f->nr_pages; p++)
		if (future_is(p, name) && !p->holder &&
		    p->next < (found ? found->next : FUTURE_NEVER))
			found = p;
	return found;
}

static inline bool future_expects(const struct future *f, struct future_name name)
{
	return f->ahead < f->nr_refs && future_is(future_page_at(f, f->ahead), name);
}

/* Advances to the next use of the page, if there is one. */
static inline void future_skip_to(struct future *f, struct future_name name)
{
	const struct future_page *page = future_find(f, name);

	for (u32 to = page ? page->next : 0; f->ahead < to; f->ahead++)
		future_page_at(f, f->ahead)->next = f->refs[f->ahead].next;
}

/* A fault has brought the page in. Returns false if the string does not have it there. */
static inline bool future_came(struct future *f, struct future_name name)
{
	bool expected;

	f->came++;
	future_advance(f, UINT32_MAX);
	expected = future_expects(f, name);
	if (!expected && future_go_back(f, name)) {
		f->early++;
		expected = true;
	} else if (!expected) {
		f->lost++;
		future_skip_to(f, name);
	}
	f->at = f->ahead;
	return expected;
}

/* The space has ended: it makes no more references. */
static inline void future_end(struct future *f)
{
	f->at = f->ahead = f->nr_refs;
	for (struct future_page *p = f->pages; p < f->pages + f->nr_pages; p++)
		p->next = FUTURE_NEVER;
	f->mm = NULL;
}

#endif
