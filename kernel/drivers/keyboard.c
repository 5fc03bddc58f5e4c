/* The PS/2 keyboard behind the 8042: scan code set 1, US layout, shift, control, caps lock. */
#include "drivers/keyboard.h"
#include "arch/irq.h"
#include "arch/x86/io.h"

enum { DATA = 0x60, STATUS = 0x64, COMMAND = 0x64 };
enum { STATUS_FULL = 1, STATUS_BUSY = 2, STATUS_MOUSE = 0x20, RELEASED = 0x80 };
enum { KEY_CTRL = 0x1D, KEY_LSHIFT = 0x2A, KEY_RSHIFT = 0x36, KEY_CAPS = 0x3A };
#define MAX_POLLS 10000

static const char unshifted[] = "\0\x1b"
				"1234567890-=\x7f\tqwertyuiop[]\r\0asdfghjkl;'`\0\\"
				"zxcvbnm,./\0*\0 ";
static const char shifted[] = "\0\x1b"
			      "!@#$%^&*()_+\x7f\tQWERTYUIOP{}\r\0ASDFGHJKL:\"~\0|"
			      "ZXCVBNM<>?\0*\0 ";

STATIC_ASSERT(sizeof(unshifted) == 0x3A + 1 && sizeof(shifted) == sizeof(unshifted));

static void (*receiver)(u8 c);
static bool shift, ctrl, caps;

static bool is_letter(char c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static void key_pressed(u8 code)
{
	char c;

	if (code >= sizeof(unshifted) - 1)
		return;
	c = shift ? shifted[code] : unshifted[code];
	if (caps && is_letter(c))
		c ^= 0x20;
	if (ctrl && c >= '@')
		c &= 0x1F;
	if (c)
		receiver(c);
}

static void scan_code(u8 code)
{
	bool down = !(code & RELEASED);

	switch (code & ~RELEASED) {
	case KEY_CTRL:
		ctrl = down;
		break;
	case KEY_LSHIFT:
	case KEY_RSHIFT:
		shift = down;
		break;
	case KEY_CAPS:
		caps ^= down;
		break;
	default:
		if (down)
			key_pressed(code);
	}
}

static void keyboard_interrupt(void)
{
	u8 status;

	while ((status = inb(STATUS)) & STATUS_FULL) {
		u8 code = inb(DATA);

		if (!(status & STATUS_MOUSE))
			scan_code(code);
	}
}

static void wait_until_ready(void)
{
	int polls = MAX_POLLS;

	while ((inb(STATUS) & STATUS_BUSY) && polls--)
		;
}

/* Enables the keyboard interrupt and translation to set 1, and disables the mouse. */
void keyboard_init(void (*receive)(u8 c))
{
	if (inb(STATUS) == 0xFF)
		return;
	receiver = receive;
	wait_until_ready();
	outb(COMMAND, 0x60);
	wait_until_ready();
	outb(DATA, 0x61);
	while (inb(STATUS) & STATUS_FULL)
		inb(DATA);
	irq_register(IRQ_KEYBOARD, keyboard_interrupt);
}
