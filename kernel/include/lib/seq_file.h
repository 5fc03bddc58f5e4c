/*
 * Text files that the kernel writes, such as those in /proc: a buffer that is filled by printing.
 *
 * The owner supplies the buffer and, when overflow is set afterwards, a larger one and calls the
 * show function once more. What does not fit is dropped; nothing is written past the buffer.
 * The text is not NUL-terminated: it is buf[0 .. count).
 *
 * Whoever wants only the numbers that a show function knows, and no text, sets `number`: show_u64
 * then calls it, and everything else is dropped.
 */
#ifndef LIB_SEQ_FILE_H
#define LIB_SEQ_FILE_H

#include "types.h"

struct seq_file {
	char *buf;
	size_t size;   /* bytes at buf */
	size_t count;  /* bytes written */
	bool overflow; /* something was dropped */
	void (*number)(struct seq_file *m, const char *name, u64 value); /* NULL: text is wanted */
};

void seq_init(struct seq_file *m, char *buf, size_t size);
void seq_printf(struct seq_file *m, const char *fmt, ...) __printf(2, 3);
void seq_puts(struct seq_file *m, const char *s);
void seq_putc(struct seq_file *m, char c);
/* A line "name: value"; the name is a word. */
void show_u64(struct seq_file *m, const char *name, u64 value);

#endif
