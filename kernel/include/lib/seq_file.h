/*
 * Text files that the kernel writes, such as those in /proc: a buffer that is filled by printing.
 *
 * The owner supplies the buffer. If overflow is set afterwards, the owner supplies a larger one and
 * calls the show function again. Text that does not fit is dropped; nothing is written past the
 * buffer. The text is not NUL-terminated: it is buf[0 .. count).
 *
 * To get only the numbers that a show function reports, without text, set `number`: show_u64 calls
 * it, and all other output is dropped.
 */
#ifndef LIB_SEQ_FILE_H
#define LIB_SEQ_FILE_H

#include "types.h"

struct seq_file {
	char *buf;
	size_t size;   /* bytes at buf */
	size_t count;  /* bytes written */
	bool overflow; /* output was dropped */
	void (*number)(struct seq_file *m, const char *name, u64 value); /* NULL: produce text */
};

void seq_init(struct seq_file *m, char *buf, size_t size);
void seq_printf(struct seq_file *m, const char *fmt, ...) __printf(2, 3);
void seq_puts(struct seq_file *m, const char *s);
void seq_putc(struct seq_file *m, char c);
/* Prints a line "name: value". The name is one word. */
void show_u64(struct seq_file *m, const char *name, u64 value);

#endif
