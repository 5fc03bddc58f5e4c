/*
 * The VGA text screen. Its 32 KiB hold 204 lines, of which 25 are shown. Scrolling moves the start
 * address; only every 180th line copies the screen back to the beginning. Escape sequences: home,
 * clear screen, clear to end of line. Others are ignored.
 */
#include "drivers/vga.h"
#include "arch/mmu.h"
#include "arch/x86/io.h"
#include "lib/string.h"

enum { COLUMNS = 80, ROWS = 25, BUFFER_LINES = 204 };
enum { CRTC_INDEX = 0x3D4, CRTC_DATA = 0x3D5, CRTC_START = 0x0C, CRTC_CURSOR = 0x0E };
enum { PLAIN, ESCAPE, SEQUENCE };
#define BLANK 0x0720u
#define VGA_PA 0xB8000u

static volatile u16 *screen;
static u32 top;      /* first line shown */
static u32 row, col; /* of the cursor on the screen */
static int state, parameter;

static void crtc_set(u8 reg, u32 value)
{
	outb(CRTC_INDEX, reg);
	outb(CRTC_DATA, value >> 8);
	outb(CRTC_INDEX, reg + 1);
	outb(CRTC_DATA, value & 0xFF);
}

static void fill_blank(u32 from, u32 to)
{
	for (; from < to; from++)
		screen[from] = BLANK;
}

static u32 here(void)
{
	return (top + row) * COLUMNS + col;
}

static void clear_screen(void)
{
	fill_blank(top * COLUMNS, (top + ROWS) * COLUMNS);
}

bool vga_init(void)
{
	volatile u16 *memory = phys_to_virt(VGA_PA);

	memory[0] = 0x0741;
	memory[1] = 0x0742;
	if (memory[0] != 0x0741 || memory[1] != 0x0742)
		return false;
	screen = memory;
	clear_screen();
	crtc_set(CRTC_START, 0);
	crtc_set(CRTC_CURSOR, 0);
	return true;
}

static void scroll(void)
{
	if (top + ROWS < BUFFER_LINES) {
		top++;
	} else {
		memmove((void *)screen, (void *)(screen + (top + 1) * COLUMNS),
			(ROWS - 1) * COLUMNS * sizeof(*screen));
		top = 0;
	}
	fill_blank((top + ROWS - 1) * COLUMNS, (top + ROWS) * COLUMNS);
	crtc_set(CRTC_START, top * COLUMNS);
}

static void line_feed(void)
{
	col = 0;
	if (row + 1 < ROWS)
		row++;
	else
		scroll();
}

static void plain(char c)
{
	switch (c) {
	case '\n':
		line_feed();
		break;
	case '\r':
		col = 0;
		break;
	case '\b':
		col -= col > 0;
		break;
	case '\t':
		col = MIN((col + 8) & ~7u, COLUMNS - 1u);
		break;
	case '\x1b':
		state = ESCAPE;
		break;
	default:
		if ((u8)c < ' ')
			break;
		if (col == COLUMNS)
			line_feed();
		screen[here()] = 0x0700 | (u8)c;
		col++;
	}
}

static void end_sequence(char c)
{
	if (c == 'H')
		row = col = 0;
	else if (c == 'J')
		fill_blank(parameter == 2 ? top * COLUMNS : here(), (top + ROWS) * COLUMNS);
	else if (c == 'K')
		fill_blank(here(), (top + row + 1) * COLUMNS);
	state = PLAIN;
}

static void escape(char c)
{
	if (state == ESCAPE) {
		state = c == '[' ? SEQUENCE : PLAIN;
		parameter = 0;
	} else if (c >= '0' && c <= '9') {
		parameter = parameter % 100 * 10 + c - '0';
	} else if (c >= '@' && c <= '~') {
		end_sequence(c);
	}
}

void vga_write(const char *buf, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (state == PLAIN)
			plain(buf[i]);
		else
			escape(buf[i]);
	}
	crtc_set(CRTC_CURSOR, here());
}
