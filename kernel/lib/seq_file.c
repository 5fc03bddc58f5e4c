#include "lib/seq_file.h"
#include "lib/printf.h"
#include "lib/string.h"

void seq_init(struct seq_file *m, char *buf, size_t size)
{
	m->buf = buf;
	m->size = size;
	m->count = 0;
	m->overflow = false;
	m->number = NULL;
}

/* Text that does not fit is cut; the owner starts again with a larger buffer. */
void seq_printf(struct seq_file *m, const char *fmt, ...)
{
	size_t room = m->size - m->count, len;
	va_list args;

	if (m->number)
		return;
	va_start(args, fmt);
	len = vsnprintf(m->buf + m->count, room, fmt, args);
	va_end(args);
	if (len < room) {
		m->count += len;
	} else {
		m->count = room ? m->size - 1 : m->size;
		m->overflow = true;
	}
}

void seq_puts(struct seq_file *m, const char *s)
{
	size_t room = m->size - m->count, len = strlen(s), n = MIN(len, room);

	if (m->number)
		return;
	memcpy(m->buf + m->count, s, n);
	m->count += n;
	m->overflow |= n < len;
}

void seq_putc(struct seq_file *m, char c)
{
	if (m->number)
		return;
	if (m->count < m->size)
		m->buf[m->count++] = c;
	else
		m->overflow = true;
}

void show_u64(struct seq_file *m, const char *name, u64 value)
{
	if (m->number)
		m->number(m, name, value);
	else
		seq_printf(m, "%s: %llu\n", name, (unsigned long long)value);
}
