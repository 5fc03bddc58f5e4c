/*
 * 16550 serial ports. With an empty transmitter the chip takes 16 bytes, so its status is read once
 * per 16 bytes. The status of COM2 is never read: QEMU's port passes each byte on at once, and the
 * host's processing must not affect the number of instructions that the guest executes.
 */
#include "drivers/serial.h"
#include "arch/irq.h"
#include "arch/x86/io.h"

enum { COM1 = 0x3F8, COM2 = 0x2F8 };
enum { DATA = 0, INTERRUPTS = 1, FIFO = 2, LINE = 3, MODEM = 4, LINE_STATUS = 5, SCRATCH = 7 };
enum { STATUS_DATA = 0x01, STATUS_EMPTY = 0x20 };
#define FIFO_SIZE 16u
#define MAX_POLLS 1000000

static bool have_com1, have_com2;
static void (*receiver)(u8 c);

/* 115200 baud, 8N1, FIFO on. Returns false if there is no chip. */
static bool port_init(u16 port)
{
	outb(port + SCRATCH, 0x5A);
	if (inb(port + SCRATCH) != 0x5A)
		return false;
	outb(port + INTERRUPTS, 0);
	outb(port + LINE, 0x80);
	outb(port + DATA, 1);
	outb(port + INTERRUPTS, 0);
	outb(port + LINE, 3);
	outb(port + FIFO, 7);
	outb(port + MODEM, 0x0B);
	return true;
}

void serial_init(void)
{
	have_com1 = port_init(COM1);
	have_com2 = port_init(COM2);
}

static void wait_until_empty(void)
{
	int polls = MAX_POLLS;

	while (!(inb(COM1 + LINE_STATUS) & STATUS_EMPTY) && polls--)
		;
}

void serial_write(const char *buf, size_t n)
{
	size_t part;

	for (; have_com1 && n; buf += part, n -= part) {
		part = MIN(n, FIFO_SIZE);
		wait_until_empty();
		outsb(COM1, buf, part);
	}
}

static void serial_interrupt(void)
{
	while (inb(COM1 + LINE_STATUS) & STATUS_DATA)
		receiver(inb(COM1 + DATA));
}

void serial_receive(void (*receive)(u8 c))
{
	if (!have_com1)
		return;
	receiver = receive;
	irq_register(IRQ_SERIAL1, serial_interrupt);
	outb(COM1 + INTERRUPTS, 1);
}

bool telemetry_present(void)
{
	return have_com2;
}

void telemetry_write(const char *buf, size_t n)
{
	if (have_com2)
		outsb(COM2, buf, n);
}
