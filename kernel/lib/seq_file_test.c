#include "seq_file.c"
#include "lib/ktap.h"

KTEST(seq_file, pieces_are_strung_together)
{
	char buf[32];
	struct seq_file m;

	seq_init(&m, buf, sizeof(buf));
	seq_printf(&m, "%s=%d", "pages", 17);
	seq_putc(&m, '\n');
	seq_puts(&m, "end\n");
	EXPECT_EQ(m.count, 13);
	EXPECT(!m.overflow);
	EXPECT(!memcmp(buf, "pages=17\nend\n", 13));
}

/* With any size, nothing is written past the end, and overflow says if text was lost. */
KTEST(seq_file, overflow_is_reported_at_every_size)
{
	char buf[16];
	struct seq_file m;
	size_t size;

	for (size = 0; size <= sizeof(buf); size++) {
		memset(buf, '#', sizeof(buf));
		seq_init(&m, buf, size);
		seq_puts(&m, "ab");
		seq_printf(&m, "%d", 345);
		seq_putc(&m, '6');
		EXPECT(m.count <= size);
		EXPECT_EQ(m.overflow, size < 6);
		if (size < sizeof(buf))
			EXPECT_EQ(buf[size], '#');
	}
}

/* vsnprintf would overwrite the last character with its NUL. */
KTEST(seq_file, printf_needs_room_for_a_nul)
{
	char buf[4];
	struct seq_file m;

	seq_init(&m, buf, sizeof(buf));
	seq_printf(&m, "%d", 123);
	EXPECT(!m.overflow);
	seq_init(&m, buf, sizeof(buf));
	seq_printf(&m, "%d", 1234);
	EXPECT(m.overflow);
	EXPECT_EQ(m.count, 3);
}

KTEST(seq_file, exact_fit_of_a_string_is_no_overflow)
{
	char buf[4];
	struct seq_file m;

	seq_init(&m, buf, sizeof(buf));
	seq_puts(&m, "abcd");
	EXPECT(!m.overflow);
	EXPECT_EQ(m.count, 4);
	seq_putc(&m, 'e');
	EXPECT(m.overflow);
	EXPECT_EQ(m.count, 4);
}

static void keep_number(struct seq_file *m, const char *name, u64 value)
{
	m->count = m->count * 100 + value + name[0] - 'a';
}

KTEST(seq_file, numbers_come_as_lines_or_alone)
{
	struct seq_file m, numbers = { .number = keep_number };
	char buf[40];

	seq_init(&m, buf, sizeof(buf));
	for (struct seq_file *to = &m;; to = &numbers) {
		show_u64(to, "a", 17);
		seq_printf(to, "for people: %d\n", 3);
		seq_puts(to, "text");
		seq_putc(to, '\n');
		show_u64(to, "b", 4);
		if (to == &numbers)
			break;
	}
	EXPECT_EQ(m.count, 30);
	EXPECT(!memcmp(buf, "a: 17\nfor people: 3\ntext\nb: 4\n", 30));
	EXPECT_EQ(numbers.count, 1705);
}
