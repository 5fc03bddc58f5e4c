/*
 * The terminal's line discipline.
 *
 * Received bytes go into a ring with three marks: [tail, ready) may be read, [ready, head) is the
 * line being edited. In canonical mode ready moves when a line ends (newline or ^D, which stays in
 * the ring as a mark and is not returned by read). Otherwise ready moves with every byte. The marks
 * count bytes and never wrap; the index is the count modulo the size. One byte is kept free for the
 * end of a line that fills the ring. The ring is filled in irq context, and tasks read it with
 * interrupts off. Only tasks change termios.
 */
#include "fs/tty.h"
#include "arch/irq.h"
#include "arch/uaccess.h"
#include "drivers/console.h"
#include "drivers/keyboard.h"
#include "drivers/serial.h"
#include "errno.h"
#include "lib/string.h"
#include "sched/current.h"
#include "sched/sched.h"
#include "sched/wait.h"

enum { TCGETS = 0x5401, TCSETS, TCSETSW, TCSETSF };
enum { TIOCGPGRP = 0x540F, TIOCSPGRP, TIOCGWINSZ = 0x5413, FIONREAD = 0x541B };
enum { ICRNL = 0000400, OPOST = 1, ONLCR = 4 };
enum { ISIG = 1, ICANON = 2, ECHO = 010, ECHOE = 020, ECHOK = 040 };
enum { VINTR, VQUIT, VERASE, VKILL, VEOF, VTIME, VMIN, VWERASE = 14 };
#define RING_SIZE 4096u
#define CHUNK 256u

struct termios {
	u32 iflag, oflag, cflag, lflag;
	u8 line, cc[19];
};

STATIC_ASSERT(sizeof(struct termios) == 36);

static struct termios termios = {
	.iflag = ICRNL,
	.oflag = OPOST | ONLCR,
	.cflag = 0000277 /* B38400 CS8 CREAD */,
	.lflag = ISIG | ICANON | ECHO | ECHOE | ECHOK,
	.cc = { 3, 28, 127, 21, 4, 0, 1, 0, 17, 19, 26, 0, 18, 15, 23, 22 },
};
static u8 ring[RING_SIZE];        /* irq */
static u32 head, ready, tail;     /* irq */
static int foreground; /* the process group that receives ^C and ^\; 0: none */
WAIT_QUEUE(tty_readers);

static void echo(const char *s, size_t n)
{
	if (termios.lflag & ECHO)
		console_write(s, n);
}

static bool is_control(u8 c)
{
	return c < ' ' || c == 127;
}

static void echo_char(u8 c)
{
	char caret[2] = { '^', c ^ 0x40 };

	if (is_control(c) && c != '\n' && c != '\t')
		echo(caret, 2);
	else
		echo((char *)&c, 1);
}

/* Deletes the last byte of the line. Returns false if the line is empty. */
static bool erase_char(void)
{
	u8 c;

	if (head == ready)
		return false;
	c = ring[--head % RING_SIZE];
	echo("\b \b\b \b", is_control(c) && c != '\t' ? 6 : 3);
	return true;
}

static u8 last_char(void)
{
	return head == ready ? 0 : ring[(head - 1) % RING_SIZE];
}

static void erase_word(void)
{
	while (last_char() == ' ')
		erase_char();
	while (last_char() && last_char() != ' ')
		erase_char();
}

static void put_ready(void)
{
	ready = head;
	wake_up(&tty_readers);
	file_poll_changed();
}

/* A byte that sends a signal also discards the typed input. */
static bool signal_char(u8 c)
{
	int sig = c == termios.cc[VINTR] ? SIGINT : c == termios.cc[VQUIT] ? SIGQUIT : 0;

	if (!(termios.lflag & ISIG) || !sig)
		return false;
	echo_char(c);
	echo("\n", 1);
	head = ready = tail;
	if (foreground)
		signal_group(foreground, sig, 0);
	return true;
}

/* Returns true if c edited the line. */
static bool edit_char(u8 c)
{
	if (c == termios.cc[VERASE] || c == '\b')
		erase_char();
	else if (c == termios.cc[VKILL])
		while (erase_char())
			;
	else if (c == termios.cc[VWERASE])
		erase_word();
	else
		return false;
	return true;
}

static void tty_input(u8 c)
{
	bool canonical = termios.lflag & ICANON, ends;

	if (c == '\r' && (termios.iflag & ICRNL))
		c = '\n';
	if (!c || signal_char(c) || (canonical && edit_char(c)))
		return;
	ends = c == '\n' || c == termios.cc[VEOF];
	if (head - tail >= RING_SIZE - (canonical && ends ? 0 : 1))
		return;
	ring[head++ % RING_SIZE] = c;
	if (!canonical || c != termios.cc[VEOF])
		echo_char(c);
	if (!canonical || ends)
		put_ready();
}

void tty_init(void)
{
	serial_receive(tty_input);
	keyboard_init(tty_input);
}

static bool at_eof_mark(void)
{
	return tail != ready && (termios.lflag & ICANON) &&
	       ring[tail % RING_SIZE] == termios.cc[VEOF];
}

/* Takes up to max readable bytes. Sets *end at the end of a line or of the file. A ^D right after
 * the bytes taken has ended this line, and must not count as end of file for the next read. */
static size_t take(u8 *to, size_t max, bool *end)
{
	unsigned long flags = irq_save();
	size_t n = 0;

	while (n < max && tail != ready && !*end && !at_eof_mark()) {
		u8 c = ring[tail++ % RING_SIZE];

		to[n++] = c;
		*end = (termios.lflag & ICANON) && c == '\n';
	}
	if (!*end && at_eof_mark()) {
		tail++;
		*end = true;
	}
	irq_restore(flags);
	return n;
}

/* With VMIN = 0 reads never wait (VTIME is not supported). */
static bool may_wait(bool nonblock)
{
	return !nonblock && ((termios.lflag & ICANON) || termios.cc[VMIN]);
}

static long tty_read(struct file *f, void *user, size_t n, u64 *pos)
{
	bool nonblock = f->flags & O_NONBLOCK;
	u8 chunk[CHUNK];
	size_t done = 0, got;
	bool end = false;

	(void)pos;
	if (!n)
		return 0;
	if (tail == ready && !may_wait(nonblock))
		return nonblock ? -EAGAIN : 0;
	if (wait_event_interruptible(&tty_readers, tail != ready))
		return -ERESTARTSYS;
	do {
		got = take(chunk, MIN(n - done, CHUNK), &end);
		if (copy_to_user((u8 *)user + done, chunk, got))
			return -EFAULT;
		done += got;
	} while (got && done < n && !end);
	return done;
}

static long tty_write(struct file *f, const void *user, size_t n, u64 *pos)
{
	char chunk[CHUNK];
	size_t done, part;

	(void)f, (void)pos;
	for (done = 0; done < n; done += part) {
		part = MIN(n - done, CHUNK);
		if (copy_from_user(chunk, (const u8 *)user + done, part))
			return done ? (long)done : -EFAULT;
		console_write(chunk, part);
		cond_resched();
		if (signal_pending(current))
			return done + part;
	}
	return done;
}

static u32 tty_poll(struct file *f)
{
	(void)f;
	return POLLOUT | (tail != ready ? POLLIN : 0);
}

/* Leaving canonical mode makes a partly typed line readable. */
static long set_termios(u32 cmd, const void *user)
{
	struct termios t;
	unsigned long flags;

	if (copy_from_user(&t, user, sizeof(t)))
		return -EFAULT;
	flags = irq_save();
	termios = t;
	if (cmd == TCSETSF)
		head = ready = tail;
	if (!(t.lflag & ICANON) && ready != head)
		put_ready();
	irq_restore(flags);
	return 0;
}

static long tty_ioctl(struct file *f, u32 cmd, u32 arg)
{
	static const u16 winsize[4] = { 25, 80, 0, 0 };
	void *user = (void *)arg;
	u32 value;

	(void)f;
	switch (cmd) {
	case TCGETS:
		return copy_to_user(user, &termios, sizeof(termios));
	case TCSETS:
	case TCSETSW:
	case TCSETSF:
		return set_termios(cmd, user);
	case TIOCGPGRP:
		return put_user_u32(user, foreground);
	case TIOCSPGRP:
		if (get_user_u32(&value, user))
			return -EFAULT;
		if ((int)value <= 0)
			return -EINVAL;
		foreground = value;
		return 0;
	case TIOCGWINSZ:
		return copy_to_user(user, winsize, sizeof(winsize));
	case FIONREAD:
		return put_user_u32(user, ready - tail);
	default:
		return -ENOTTY;
	}
}

const struct file_operations tty_fops = {
	.read = tty_read,
	.write = tty_write,
	.ioctl = tty_ioctl,
	.poll = tty_poll,
};
