/*
 * SEQ: finds sequences of faults on neighboring pages, and evicts from a long one, close behind its
 * newest page; otherwise it is CLOCK.
 *
 * A program that passes over more than memory, again and again, defeats LRU: the page that was used
 * least recently is the next one to be used. Most recently used would be right there, and wrong
 * nearly everywhere else. SEQ tells the two apart by the addresses of faults. A fault extends a
 * sequence if its page is next to the page that faulted last in that sequence, the head, in the
 * direction of the sequence:
 *
 *	sequence, upwards:   tail ................................ head   -> next fault here: longer
 *	its resident pages:  [        far: evicted first here --> ] near (`distance` pages)
 *
 *	a fault on a page that is	the sequence
 *	next to the head		has this page as its head
 *	inside a sequence		ends before that page, which begins another one
 *	anywhere else			is new, with one page and without a direction
 *
 * Each sequence records the times of its recent faults, a time being a count of all faults. When a
 * frame is needed, only sequences of at least `length` pages count; of these, the one whose Nth
 * most recent fault (N: `faults`) is latest, which is the fastest one. It gives up the page nearest
 * to its head that is at least `distance` pages behind. So the first part of the program's data
 * stays in memory, and is hit when the program comes round. The accessed bit of that page is not
 * read: it was used, a moment ago, and that does not count. If there is no such page, the hand of
 * CLOCK goes on; all pages are in its circle, too.
 *
 * The data. A sequence lists its resident pages, in the order of addresses, in two lists: a page
 * moves from near to far when the head is `distance` pages away, so that the next victim is the
 * first of far. A page remembers the number by which it joined. All sequences, of all processes, are
 * in one table, since memory is one, too; the addresses of each process are separate. Pages of a
 * file, or of shared memory, form sequences by their numbers in it. If the table is full, the short
 * sequence that was extended least recently is replaced; at most half of the table are long ones.
 *
 * Differences. In the paper a page that does not belong to a sequence is evicted by LRU; here by
 * CLOCK, which is what accessed bits allow. Sequences need no bit: the kernel sees each fault, or,
 * where it reads ahead, each first request for a page (CLAIM), which counts as a fault here. There
 * is room for 32 sequences on the machine instead of 200 for a program, because each fault that
 * extends none of them looks at all. Pages used only by read and write are in no sequence. At most
 * LOOKS pages of far that the scan may not take are passed, and at priority 0 there is only CLOCK.
 *
 * G. Glass and P. Cao, "Adaptive page replacement based on memory reference behavior", SIGMETRICS
 * 1997. Its L, M and N are `length`, `distance` and `faults`; the paper was not at hand, and the
 * values are those of a later implementation.
 */
#include "mm/policy.h"

#define NR_SEQUENCES 32u
#define MAX_FAULTS 8u
#define LOOKS 16u

struct sequence {
	struct list_head node; /* on long_ones or short_ones, extended most recently first */
	struct mm_struct *mm;  /* NULL: unused, at the end of short_ones */
	u32 store;             /* 0: addresses; otherwise a file: page_id.store */
	u32 head, length; /* number of the page that faulted last; pages from it to the tail */
	int step; /* 1: upwards, -1: downwards, 0: only one page yet */
	bool is_long; /* on long_ones */
	struct list_head near, far; /* resident pages, the one nearest to the head first */
	u32 times[MAX_FAULTS], nr_times;
};

struct seq_page {
	struct list_head node; /* on the circle */
	struct list_head link; /* on near or far, if it is in a sequence */
	u32 number;            /* by which it joined the sequence */
	u8 sequence;           /* 1 + index in the table; 0: in no sequence */
	bool used;             /* set by a use that the core saw */
};
POLICY_PAGE_FITS(struct seq_page);

static u32 min_length = 20, distance = 20, nr_faults = 5;

static LIST_HEAD(circle);
static struct sequence table[NR_SEQUENCES];
static LIST_HEAD(long_ones);
static LIST_HEAD(short_ones);
static u32 nr_long, now;
static u64 nr_followed, nr_turned; /* victims from sequences; pages passed because they were used */

static const struct vm_param seq_params[] = {
	{ "length", &min_length, 2, 10000, "pages", "L: a sequence this long is evicted from" },
	{ "distance", &distance, 2, 10000, "pages", "M: pages kept behind a sequence's head" },
	{ "faults", &nr_faults, 1, MAX_FAULTS, NULL,
	  "N: the sequence whose Nth most recent fault is latest is evicted from" },
	{ 0 },
};

static struct seq_page *seq_data(struct page *page)
{
	return policy_page(page);
}

/* Returns how many pages this page is behind the head; more than the length if it is outside. */
static u32 behind(const struct sequence *s, u32 number)
{
	return s->step < 0 ? number - s->head : s->head - number;
}

static bool extends(const struct sequence *s, u32 number)
{
	if (s->step)
		return number == s->head + s->step;
	return number == s->head + 1 || number == s->head - 1;
}

static struct seq_page *first(struct list_head *list)
{
	return list_first_entry(list, struct seq_page, link);
}

static void leave(struct seq_page *p)
{
	if (p->sequence)
		list_del(&p->link);
	p->sequence = 0;
}

static void drop_list(struct list_head *list)
{
	while (!list_empty(list))
		leave(first(list));
}

/* Puts the sequence where its length says, as the one that was extended last. */
static void enlist(struct sequence *s)
{
	bool is_long = s->length >= min_length;

	nr_long += is_long - s->is_long;
	s->is_long = is_long;
	list_move(&s->node, is_long ? &long_ones : &short_ones);
}

static void end_sequence(struct sequence *s)
{
	drop_list(&s->near);
	drop_list(&s->far);
	s->mm = NULL;
	s->length = 0;
	enlist(s);
	list_move_tail(&s->node, &short_ones);
}

/* The page with this number has faulted: it and the pages ahead of it are not in the sequence now. */
static void cut(struct sequence *s, u32 number)
{
	u32 ahead = behind(s, number) + 1;

	if (ahead == s->length) {
		end_sequence(s);
		return;
	}
	while (!list_empty(&s->near) && behind(s, first(&s->near)->number) < ahead)
		leave(first(&s->near));
	while (!list_empty(&s->far) && behind(s, first(&s->far)->number) < ahead)
		leave(first(&s->far));
	s->head = number - s->step;
	s->length -= ahead;
	while (!list_empty(&s->far) && behind(s, first(&s->far)->number) < distance)
		list_move_tail(&first(&s->far)->link, &s->near);
	enlist(s);
}

static struct sequence *begin(struct mm_struct *mm, u32 store, u32 number)
{
	struct sequence *s = list_last_entry(&short_ones, struct sequence, node);

	end_sequence(s);
	s->mm = mm;
	s->store = store;
	s->head = number;
	s->step = 0;
	s->nr_times = 0;
	return s;
}

/* Finds the sequence that the fault extends, or NULL, and cuts those in which it is. */
static struct sequence *extended(struct list_head *list, struct mm_struct *mm, u32 store,
				 u32 number)
{
	struct sequence *s, *next, *found = NULL;

	list_for_each_entry_safe(s, next, list, node) {
		if (!s->mm) /* unused, and so are those after it */
			break;
		if (s->mm != mm || s->store != store)
			continue;
		if (behind(s, number) < s->length)
			cut(s, number);
		else if (!found && extends(s, number))
			found = s;
	}
	return found;
}

/* The page is the new head of the sequence. */
static void extend(struct sequence *s, struct seq_page *p)
{
	s->step = (int)(p->number - s->head);
	s->head = p->number;
	s->length++;
	s->times[s->nr_times++ % MAX_FAULTS] = ++now;
	p->sequence = 1 + (s - table);
	list_add(&p->link, &s->near);
	while (behind(s, list_last_entry(&s->near, struct seq_page, link)->number) >= distance)
		list_move(s->near.prev, &s->far);
	enlist(s);
	if (nr_long > NR_SEQUENCES / 2)
		end_sequence(list_last_entry(&long_ones, struct sequence, node));
}

/* A process has asked for this page, which was not in memory, or only read ahead. */
static void follow(struct page *page, struct mm_struct *mm)
{
	u32 store = page_id_of(page).store, number = page_vpn(page);
	struct sequence *s, *short_one;

	if (store == 1) /* the swap area: the number is an address */
		store = 0;
	short_one = extended(&short_ones, mm, store, number); /* before long ones become short */
	s = extended(&long_ones, mm, store, number);
	if (!s)
		s = short_one ? short_one : begin(mm, store, number);
	seq_data(page)->number = number;
	extend(s, seq_data(page));
}

static int seq_start(void)
{
	INIT_LIST_HEAD(&long_ones);
	INIT_LIST_HEAD(&short_ones);
	for (u32 i = 0; i < NR_SEQUENCES; i++) {
		table[i] = (struct sequence){ 0 };
		INIT_LIST_HEAD(&table[i].near);
		INIT_LIST_HEAD(&table[i].far);
		list_add(&table[i].node, &short_ones);
	}
	nr_long = now = 0;
	nr_followed = nr_turned = 0;
	return 0;
}

static void seq_mm_exit(struct mm_struct *mm)
{
	for (u32 i = 0; i < NR_SEQUENCES; i++)
		if (table[i].mm == mm)
			end_sequence(&table[i]);
}

static void seq_insert(struct page *page, struct mm_struct *mm, enum vm_in how, struct page_id from)
{
	(void)from;
	list_add_tail(&seq_data(page)->node, &circle);
	if (mm && how != VM_IN_ADOPT)
		follow(page, mm);
}

static void seq_touch(struct page *page, struct mm_struct *mm, enum vm_touch how)
{
	(void)mm;
	seq_data(page)->used = how != VM_TOUCH_DONTNEED;
	if (how == VM_TOUCH_DONTNEED) {
		page_referenced(page);
		list_move(&seq_data(page)->node, &circle);
	}
}

static void seq_remove(struct page *page, enum vm_out why)
{
	(void)why;
	leave(seq_data(page));
	list_del(&seq_data(page)->node);
}

/* The faults of the process that has the page now are other sequences. */
static void seq_moved(struct page *page, struct mm_struct *from, struct mm_struct *to)
{
	(void)from, (void)to;
	leave(seq_data(page));
}

/* Returns the number of faults since the Nth most recent one in this sequence. */
static u32 age(const struct sequence *s)
{
	return now - s->times[(s->nr_times - nr_faults) % MAX_FAULTS];
}

/* Returns the long sequence that grows fastest and has a page far behind its head, or NULL. */
static struct sequence *fastest(const struct vm_scan *scan)
{
	struct sequence *s, *best = NULL;

	list_for_each_entry(s, &long_ones, node) {
		if (list_empty(&s->far) || (scan->mm && s->mm != scan->mm))
			continue;
		if (!best || age(s) < age(best))
			best = s;
	}
	return best;
}

static struct page *from_sequence(struct vm_scan *scan)
{
	struct sequence *s = fastest(scan);
	struct seq_page *p;
	u32 looks = 0;

	if (!s)
		return NULL;
	list_for_each_entry(p, &s->far, link) {
		if (looks++ == LOOKS || !vm_scan_more(scan))
			break;
		if (vm_eligible(scan, policy_page_of(p))) {
			nr_followed++;
			return policy_page_of(p);
		}
	}
	return NULL;
}

static bool was_used(struct page *page)
{
	bool was = page_referenced(page) || seq_data(page)->used;

	seq_data(page)->used = false;
	return was;
}

static struct page *from_circle(struct vm_scan *scan)
{
	while (!list_empty(&circle) && vm_scan_more(scan)) {
		struct seq_page *p = list_first_entry(&circle, struct seq_page, node);
		struct page *page = policy_page_of(p);

		if (!vm_eligible(scan, page)) {
			list_move_tail(&p->node, &circle);
		} else if (was_used(page)) {
			nr_turned++;
			list_move_tail(&p->node, &circle);
		} else {
			return page;
		}
	}
	return NULL;
}

static struct page *seq_select(struct vm_scan *scan)
{
	struct page *page = scan->priority ? from_sequence(scan) : NULL;

	if (!page)
		page = from_circle(scan);
	if (page)
		seq_remove(page, VM_OUT_FREED);
	return page;
}

static void seq_putback(struct page *page, enum vm_put why)
{
	seq_data(page)->used = why == VM_PUT_USED;
	list_add_tail(&seq_data(page)->node, &circle);
}

static int seq_check(void)
{
	for (u32 i = 0; i < NR_SEQUENCES; i++)
		if (vm_list_length(&table[i].near) < 0 || vm_list_length(&table[i].far) < 0)
			return -1;
	return vm_list_length(&circle);
}

static void seq_show(struct seq_file *m)
{
	show_u64(m, "circle", vm_list_length(&circle));
	show_u64(m, "long_sequences", nr_long);
	show_u64(m, "from_sequences", nr_followed);
	show_u64(m, "passed_used", nr_turned);
}

static const struct vm_policy seq = {
	.name = "seq",
	.summary = "SEQ: close behind the head of a long sequence of faults; otherwise CLOCK",
	.params = seq_params,
	.init = seq_start,
	.mm_exit = seq_mm_exit,
	.insert = seq_insert,
	.touch = seq_touch,
	.remove = seq_remove,
	.moved = seq_moved,
	.select = seq_select,
	.putback = seq_putback,
	.check = seq_check,
	.show = seq_show,
};
VM_POLICY(seq);
