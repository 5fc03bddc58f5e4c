/*
 * Doubly linked circular lists, with the interface of Linux's list.h.
 *
 * A struct list_head is embedded in each entry. One more is the head of the list; it is linked to
 * itself if the list is empty. Because the ring has no ends, inserting and deleting have no special
 * cases and need no pointer to the head.
 *
 * list_del poisons the entry's links, so that a second deletion, or a walk over a deleted entry,
 * faults at once. list_del_init makes the entry an empty ring instead, which can be tested and
 * deleted again.
 */
#ifndef LIB_LIST_H
#define LIB_LIST_H

#include "types.h"

struct list_head {
	struct list_head *next, *prev;
};

/* Never mapped: page 0 is unmapped in every address space. */
#define LIST_POISON_NEXT ((struct list_head *)0x100)
#define LIST_POISON_PREV ((struct list_head *)0x200)

#define LIST_HEAD_INIT(name) { &(name), &(name) }
#define LIST_HEAD(name) struct list_head name = LIST_HEAD_INIT(name)

static inline void INIT_LIST_HEAD(struct list_head *head)
{
	head->next = head;
	head->prev = head;
}

static inline void list_insert_between(struct list_head *entry, struct list_head *prev,
				       struct list_head *next)
{
	next->prev = entry;
	entry->next = next;
	entry->prev = prev;
	prev->next = entry;
}

/* Adds the entry as the first one. */
static inline void list_add(struct list_head *entry, struct list_head *head)
{
	list_insert_between(entry, head, head->next);
}

/* Adds the entry as the last one. */
static inline void list_add_tail(struct list_head *entry, struct list_head *head)
{
	list_insert_between(entry, head->prev, head);
}

static inline void list_unlink(struct list_head *entry)
{
	struct list_head *next = entry->next, *prev = entry->prev;

	next->prev = prev;
	prev->next = next;
}

static inline void list_del(struct list_head *entry)
{
	list_unlink(entry);
	entry->next = LIST_POISON_NEXT;
	entry->prev = LIST_POISON_PREV;
}

static inline void list_del_init(struct list_head *entry)
{
	list_unlink(entry);
	INIT_LIST_HEAD(entry);
}

static inline void list_move(struct list_head *entry, struct list_head *head)
{
	list_unlink(entry);
	list_add(entry, head);
}

static inline void list_move_tail(struct list_head *entry, struct list_head *head)
{
	list_unlink(entry);
	list_add_tail(entry, head);
}

static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

static inline bool list_is_last(const struct list_head *entry, const struct list_head *head)
{
	return entry->next == head;
}

static inline void list_splice_between(const struct list_head *list, struct list_head *prev,
				       struct list_head *next)
{
	struct list_head *first = list->next, *last = list->prev;

	first->prev = prev;
	prev->next = first;
	last->next = next;
	next->prev = last;
}

/* Inserts the entries of `list` before those of `head`. `list` itself is left stale. */
static inline void list_splice(const struct list_head *list, struct list_head *head)
{
	if (!list_empty(list))
		list_splice_between(list, head, head->next);
}

/* Inserts the entries of `list` after those of `head`. `list` itself is left stale. */
static inline void list_splice_tail(const struct list_head *list, struct list_head *head)
{
	if (!list_empty(list))
		list_splice_between(list, head->prev, head);
}

/* Like list_splice, but `list` is empty afterwards. */
static inline void list_splice_init(struct list_head *list, struct list_head *head)
{
	list_splice(list, head);
	INIT_LIST_HEAD(list);
}

static inline void list_splice_tail_init(struct list_head *list, struct list_head *head)
{
	list_splice_tail(list, head);
	INIT_LIST_HEAD(list);
}

#define list_entry(ptr, type, member) container_of(ptr, type, member)

/* The list must not be empty. */
#define list_first_entry(head, type, member) list_entry((head)->next, type, member)
#define list_last_entry(head, type, member) list_entry((head)->prev, type, member)

#define list_first_entry_or_null(head, type, member)                                               \
	(list_empty(head) ? NULL : list_first_entry(head, type, member))

#define list_next_entry(pos, member) list_entry((pos)->member.next, __typeof__(*(pos)), member)
#define list_prev_entry(pos, member) list_entry((pos)->member.prev, __typeof__(*(pos)), member)

#define list_for_each(pos, head) for ((pos) = (head)->next; (pos) != (head); (pos) = (pos)->next)

#define list_for_each_entry(pos, head, member)                                                     \
	for ((pos) = list_first_entry(head, __typeof__(*(pos)), member); &(pos)->member != (head); \
	     (pos) = list_next_entry(pos, member))

#define list_for_each_entry_reverse(pos, head, member)                                             \
	for ((pos) = list_last_entry(head, __typeof__(*(pos)), member); &(pos)->member != (head);  \
	     (pos) = list_prev_entry(pos, member))

/* pos may be deleted in the body; `next` is a second cursor. */
#define list_for_each_entry_safe(pos, next, head, member)                                          \
	for ((pos) = list_first_entry(head, __typeof__(*(pos)), member),                           \
	    (next) = list_next_entry(pos, member);                                                 \
	     &(pos)->member != (head); (pos) = (next), (next) = list_next_entry(next, member))

#endif
