/*
 * A disk on the first channel of an IDE controller, its data moved by bus-master DMA.
 *
 * The disk. Its registers are at ports 0x1F0 to 0x1F7 and 0x3F6. A command is: while it is not
 * busy, write sector count (0 means 256), sector address (LBA, 28 bits, the upper four together
 * with the unit) and command. At the end it raises the interrupt line, and reading the status
 * register lowers it. IDENTIFY DEVICE answers with 256 words: the model in 27 to 46, what it can do
 * in 49, the number of sectors in 60 and 61. From ATA/ATAPI-6 (T13 1410D): registers, commands.
 *
 * The controller. In PCI configuration space it has the class 0101; bit 7 of the programming
 * interface says that it can be bus master, bit 0 that the first channel is not at the ports and
 * the IRQ 14 of the PC (then it is not for us). Its BAR 4 has command, status and table registers.
 * The table lists where the data lie: physical address and length of each piece, which must not
 * cross 64 KiB; pages never do. A transfer is: set table and direction, clear the status, give the
 * disk its command, set START; and after the interrupt: clear START, read both statuses. ACTIVE is
 * clear when all of the table has been moved. From Intel's 82371FB/82371SB (PIIX, PIIX3) datasheet,
 * 290550: bus master function, BMICX, BMISX, BMIDTPX.
 *
 * A request that either of them reports as failed ends in -EIO. One that is not answered within
 * LIMIT_NS does, too, and so do all that follow: the controller is stopped, so that it does not
 * write into frames that have gone to somebody else, and is not used again.
 *
 * Left out: the second channel, partitions (the whole disk is used), PIO, resets, setting transfer
 * modes (the BIOS has), flushing the write cache (nothing here outlives the power).
 *
 * No run with this disk repeats exactly: in QEMU the host completes the requests, when it can.
 */
#include "drivers/ata.h"

#include "arch/irq.h"
#include "arch/mmu.h"
#include "arch/x86/io.h"
#include "drivers/block.h"
#include "drivers/pci.h"
#include "errno.h"
#include "lib/printf.h"
#include "mm/page.h"
#include "sched/timer.h"

enum { DATA = 0x1F0, COUNT = 0x1F2, LBA_LOW, LBA_MID, LBA_HIGH, DEVICE, COMMAND };
enum { STATUS = COMMAND }; /* when read */
enum { CONTROL = 0x3F6, ALT_STATUS = CONTROL }; /* reading ALT_STATUS leaves the line raised */
enum { STATUS_ERR = 0x01, STATUS_DRQ = 0x08, STATUS_DF = 0x20, STATUS_BSY = 0x80 };
#define STATUS_NOT_DONE (STATUS_BSY | STATUS_DRQ | STATUS_DF | STATUS_ERR)
enum { DEVICE_LBA = 0xE0, DEVICE_UNIT1 = 0x10 };
enum { CONTROL_NO_IRQ = 0x02 };
enum { IDENTIFY = 0xEC, READ_DMA = 0xC8, WRITE_DMA = 0xCA };
enum { CAN_DMA = 1 << 8, CAN_LBA = 1 << 9 };

enum { BM_COMMAND = 0, BM_STATUS = 2, BM_TABLE = 4 }; /* from bus_master on */
enum { BM_START = 0x01, BM_TO_MEMORY = 0x08 };
enum { BM_ACTIVE = 0x01, BM_ERROR = 0x02, BM_INTERRUPT = 0x04 };

#define CLASS_IDE 0x0101
#define INTERFACE_MASTER (0x80u << 8)
#define INTERFACE_NATIVE (0x01u << 8)
#define SECTORS_PER_PAGE (PAGE_SIZE / 512)
#define MAX_BLOCKS (1u << 24) /* that a page-table entry can name */
#define MAX_POLLS 1000000     /* about a second: a port takes a microsecond */
#define LIMIT_NS 30000000000ull

struct piece {
	u32 address;
	u16 bytes;
	u16 flags;
};
enum { PIECE_LAST = 0x8000 };

struct identity {
	char model[41];
	u32 capabilities;
	u32 sectors;
};

/* Aligned to its size, so that it does not cross 64 KiB either. */
static volatile struct piece table[BIO_MAX_PAGES] __attribute__((aligned(256)));
STATIC_ASSERT(sizeof(struct piece) == 8 && sizeof(table) <= 256);
STATIC_ASSERT(BIO_MAX_PAGES *SECTORS_PER_PAGE <= 256);

static u16 bus_master;
static u8 device_bits;
static struct timer limit; /* irq: runs while a request does */
static bool given_up;      /* irq */

static void fill_table(const struct bio *bio)
{
	for (u32 i = 0; i < bio->nr; i++) {
		table[i].address = page_pfn(bio->pages[i]) << PAGE_SHIFT;
		table[i].bytes = PAGE_SIZE;
		table[i].flags = i == bio->nr - 1 ? PIECE_LAST : 0;
	}
}

static void command_disk(const struct bio *bio)
{
	u32 lba = bio->block * SECTORS_PER_PAGE;

	outb(DEVICE, device_bits | lba >> 24);
	outb(COUNT, bio->nr * SECTORS_PER_PAGE);
	outb(LBA_LOW, lba);
	outb(LBA_MID, lba >> 8);
	outb(LBA_HIGH, lba >> 16);
	outb(COMMAND, bio->write ? WRITE_DMA : READ_DMA);
}

static bool ata_start(struct block_device *b, struct bio *bio)
{
	u8 direction = bio->write ? 0 : BM_TO_MEMORY;

	if (given_up || inb(ALT_STATUS) & (STATUS_BSY | STATUS_DRQ)) {
		bio->error = -EIO;
		return true;
	}
	fill_table(bio);
	outl(bus_master + BM_TABLE, virt_to_phys((void *)table));
	outb(bus_master + BM_COMMAND, direction);
	outb(bus_master + BM_STATUS, BM_ERROR | BM_INTERRUPT);
	command_disk(bio);
	outb(bus_master + BM_COMMAND, direction | BM_START);
	timer_start(&limit, b->busy_since_ns + LIMIT_NS);
	return false;
}

static const struct block_device_ops ops = { .start = ata_start };

static struct block_device disk = { .ops = &ops, .queue = LIST_HEAD_INIT(disk.queue) };

static void request_over(bool failed)
{
	list_first_entry(&disk.queue, struct bio, node)->error = failed ? -EIO : 0;
	block_end(&disk);
}

/* The answer to a request that was given up may still come. */
static void ata_interrupt(void)
{
	u8 moved = inb(bus_master + BM_STATUS), status;

	if (!(moved & BM_INTERRUPT))
		return;
	outb(bus_master + BM_COMMAND, 0);
	status = inb(STATUS);
	outb(bus_master + BM_STATUS, BM_ERROR | BM_INTERRUPT);
	if (given_up)
		return;
	timer_stop(&limit);
	request_over(status & STATUS_NOT_DONE || moved & (BM_ACTIVE | BM_ERROR));
}

static void limit_reached(struct timer *t)
{
	(void)t;
	given_up = true;
	outb(bus_master + BM_COMMAND, 0);
	printk("%s: no answer for %llu s: given up, all requests fail\n", disk.name,
	       LIMIT_NS / 1000000000);
	request_over(true);
}

/* For 400 ns after a unit was selected, or given a command, its status may be wrong. */
static void let_status_settle(void)
{
	for (int i = 0; i < 4; i++)
		inb(ALT_STATUS);
}

static void select_unit(u32 unit)
{
	device_bits = DEVICE_LBA | (unit ? DEVICE_UNIT1 : 0);
	outb(DEVICE, device_bits);
	let_status_settle();
}

/* True: data are there to be read. 0 and FF: nobody answers. */
static bool wait_for_data(void)
{
	int polls = MAX_POLLS;
	u8 status = inb(STATUS);

	while (status != 0xFF && status & STATUS_BSY && --polls)
		status = inb(STATUS);
	return status != 0xFF && polls &&
	       (status & (STATUS_DRQ | STATUS_DF | STATUS_ERR)) == STATUS_DRQ;
}

/* The first letter of a word is in its upper byte; blanks fill the end. */
static void copy_model(char *to, const u16 *words)
{
	u32 end = 0;

	for (u32 i = 0; i < 40; i++) {
		to[i] = i % 2 ? words[i / 2] : words[i / 2] >> 8;
		if (to[i] != ' ')
			end = i + 1;
	}
	to[end] = '\0';
}

static bool identify(u32 unit, struct identity *id)
{
	u16 words[256];

	select_unit(unit);
	outb(CONTROL, CONTROL_NO_IRQ);
	outb(COMMAND, IDENTIFY);
	let_status_settle();
	if (!wait_for_data())
		return false;
	for (u32 i = 0; i < 256; i++)
		words[i] = inw(DATA);
	copy_model(id->model, words + 27);
	id->capabilities = words[49];
	id->sectors = words[60] | words[61] << 16;
	return true;
}

static bool find_controller(void)
{
	u32 f = pci_find(CLASS_IDE);
	u32 interface = f ? pci_read(f, PCI_CLASS) & (INTERFACE_MASTER | INTERFACE_NATIVE) : 0;
	u32 command;

	if (interface != INTERFACE_MASTER)
		return false;
	command = pci_read(f, PCI_COMMAND) & 0xFFFF; /* zeros written to the status clear nothing */
	pci_write(f, PCI_COMMAND, command | PCI_COMMAND_IO | PCI_COMMAND_MASTER);
	bus_master = pci_read(f, PCI_BAR4) & 0xFFFC;
	return bus_master;
}

static void start_using(u32 unit, const struct identity *id)
{
	disk.name = unit ? "hdb" : "hda";
	disk.nr_blocks = MIN(id->sectors / SECTORS_PER_PAGE, MAX_BLOCKS);
	snprintf(disk.model, sizeof(disk.model), "%s, by DMA", id->model);
	timer_setup(&limit, limit_reached, false);
	inb(STATUS);
	outb(bus_master + BM_STATUS, BM_ERROR | BM_INTERRUPT);
	irq_register(IRQ_DISK, ata_interrupt);
	outb(CONTROL, 0);
}

static void say_what_is_there(u32 missing, char *why, size_t size)
{
	struct identity other;

	if (identify(!missing, &other))
		snprintf(why, size, "there is only hd%c, %s of %u KiB", 'b' - missing, other.model,
			 other.sectors / 2);
	else
		snprintf(why, size, "the first IDE channel has no disk");
}

struct block_device *ata_open(u32 unit, char *why, size_t size)
{
	struct identity id;

	if (!find_controller())
		snprintf(why, size, "no IDE controller with DMA and IRQ 14 on PCI bus 0");
	else if (!identify(unit, &id))
		say_what_is_there(unit, why, size);
	else if (~id.capabilities & (CAN_DMA | CAN_LBA))
		snprintf(why, size, "%s cannot do DMA with LBA", id.model);
	else if (id.sectors < 2 * SECTORS_PER_PAGE)
		snprintf(why, size, "%s has %u bytes, less than two pages", id.model,
			 id.sectors * 512);
	else {
		start_using(unit, &id);
		return &disk;
	}
	return NULL;
}
