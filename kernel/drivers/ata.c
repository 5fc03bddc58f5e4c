/*
 * Disks on the first channel of an IDE controller, with data transfer by bus-master DMA.
 *
 * The disk. Its registers are at ports 0x1F0 to 0x1F7 and 0x3F6. To give a command, wait until it
 * is not busy, then write sector count (0 means 256), sector address (LBA, 28 bits, the upper four
 * together with the unit) and command. At the end the disk raises the interrupt line; reading the
 * status register lowers it. IDENTIFY DEVICE returns 256 words: the model in 27 to 46, capabilities
 * in 49, the number of sectors in 60 and 61. From ATA/ATAPI-6 (T13 1410D): registers, commands.
 *
 * The controller. In PCI configuration space it has the class 0101. Bit 7 of the programming
 * interface: it can be bus master. Bit 0: the first channel is not at the PC's ports and IRQ 14
 * (then this driver cannot use it). Its BAR 4 has command, status and table registers. The table
 * lists the physical address and length of each piece of data, which must not cross 64 KiB; pages
 * never do. For a transfer, set table and direction, clear the status, give the disk its command,
 * set START; and after the interrupt clear START and read both statuses. ACTIVE is clear if the
 * whole table has been moved. From Intel's 82371FB/82371SB (PIIX, PIIX3) datasheet, 290550: bus
 * master function, BMICX, BMISX, BMIDTPX.
 *
 * Two disks share the channel, which does one thing at a time: a request for one disk waits while
 * the other's is in progress. A request that either the disk or the controller reports as failed
 * ends with -EIO. If a request is not answered, the controller is stopped and the channel is not
 * used again.
 *
 * Left out: the second channel, PIO, resets, 48-bit addresses (128 GiB of a disk are used at most),
 * setting transfer modes (the BIOS has done that).
 *
 * Runs with such a disk are not reproducible: in QEMU the host's timing decides when requests
 * complete.
 */
#include "arch/irq.h"
#include "arch/mmu.h"
#include "arch/x86/io.h"
#include "drivers/disk.h"
#include "drivers/disks.h"
#include "drivers/pci.h"
#include "errno.h"
#include "lib/printf.h"
#include "mm/page.h"

enum { DATA = 0x1F0, COUNT = 0x1F2, LBA_LOW, LBA_MID, LBA_HIGH, DEVICE, COMMAND };
enum { STATUS = COMMAND }; /* when read */
enum { CONTROL = 0x3F6, ALT_STATUS = CONTROL }; /* reading ALT_STATUS does not clear the IRQ */
enum { STATUS_ERR = 0x01, STATUS_DRQ = 0x08, STATUS_DF = 0x20, STATUS_BSY = 0x80 };
#define STATUS_NOT_DONE (STATUS_BSY | STATUS_DRQ | STATUS_DF | STATUS_ERR)
enum { DEVICE_LBA = 0xE0, DEVICE_UNIT1 = 0x10 };
enum { CONTROL_NO_IRQ = 0x02 };
enum { IDENTIFY = 0xEC, READ_DMA = 0xC8, WRITE_DMA = 0xCA, FLUSH_CACHE = 0xE7 };
enum { CAN_DMA = 1 << 8, CAN_LBA = 1 << 9 };

enum { BM_COMMAND = 0, BM_STATUS = 2, BM_TABLE = 4 }; /* offsets from bus_master */
enum { BM_START = 0x01, BM_TO_MEMORY = 0x08 };
enum { BM_ACTIVE = 0x01, BM_ERROR = 0x02, BM_INTERRUPT = 0x04 };

#define CLASS_IDE 0x0101
#define INTERFACE_MASTER (0x80u << 8)
#define INTERFACE_NATIVE (0x01u << 8)
#define MAX_SECTORS 256u  /* per request */
#define MAX_ENTRIES 128u
#define MAX_LBA (1u << 28)
#define MAX_POLLS 1000000 /* about a second: a port access takes a microsecond */

struct entry {
	u32 address;
	u16 bytes;
	u16 flags;
};
enum { ENTRY_LAST = 0x8000 };

struct identity {
	char model[41];
	u32 capabilities;
	u32 sectors;
};

/* Aligned to its size, so that it does not cross 64 KiB, either. */
static volatile struct entry table[MAX_ENTRIES] __attribute__((aligned(1024)));
STATIC_ASSERT(sizeof(struct entry) == 8 && sizeof(table) <= 1024);

static u16 bus_master; /* first port; 0: no controller */
static struct disk units[2];
static struct disk *active, *waiting; /* irq: the disk now served, and the next one */
static bool dead;       /* irq: a request was not answered */

static void fill_table(const struct request *rq)
{
	const struct bio *bio;
	u32 n = 0;

	list_for_each_entry(bio, &rq->bios, node)
		for (u32 i = 0; i < bio->nr; i++, n++) {
			const struct bio_piece *piece = &bio->piece[i];

			table[n].address = (page_pfn(piece->page) << PAGE_SHIFT) + piece->offset;
			table[n].bytes = piece->bytes;
			table[n].flags = 0;
		}
	table[n - 1].flags = ENTRY_LAST;
}

static u8 device_bits(const struct disk *d)
{
	return DEVICE_LBA | (d == &units[1] ? DEVICE_UNIT1 : 0);
}

static void command_disk(const struct disk *d, const struct request *rq)
{
	outb(DEVICE, device_bits(d) | rq->sector >> 24);
	outb(COUNT, rq->nr_sectors);
	outb(LBA_LOW, rq->sector);
	outb(LBA_MID, rq->sector >> 8);
	outb(LBA_HIGH, rq->sector >> 16);
	outb(COMMAND, !rq->nr_sectors ? FLUSH_CACHE : rq->write ? WRITE_DMA : READ_DMA);
}

static void begin(struct disk *d)
{
	const struct request *rq = d->active;
	u8 direction = rq->write ? 0 : BM_TO_MEMORY;

	active = d;
	outb(bus_master + BM_STATUS, BM_ERROR | BM_INTERRUPT);
	if (!rq->nr_sectors) {
		command_disk(d, rq);
		return;
	}
	fill_table(rq);
	outl(bus_master + BM_TABLE, virt_to_phys((void *)table));
	outb(bus_master + BM_COMMAND, direction);
	command_disk(d, rq);
	outb(bus_master + BM_COMMAND, direction | BM_START);
}

static bool ata_start(struct disk *d, struct request *rq, int *error)
{
	(void)rq;
	if (dead || (!active && inb(ALT_STATUS) & (STATUS_BSY | STATUS_DRQ))) {
		*error = -EIO;
		return true;
	}
	if (active)
		waiting = d;
	else
		begin(d);
	return false;
}

static void ata_stop(struct disk *d)
{
	if (waiting == d)
		waiting = NULL;
	if (active != d)
		return;
	dead = true;
	outb(bus_master + BM_COMMAND, 0);
}

static const struct disk_ops ops = { .start = ata_start, .stop = ata_stop };

/* The answer to a request that was given up may still arrive. */
static void ata_interrupt(void)
{
	u8 moved = inb(bus_master + BM_STATUS), status;
	struct disk *d = active;
	bool failed;

	if (!(moved & BM_INTERRUPT))
		return;
	outb(bus_master + BM_COMMAND, 0);
	status = inb(STATUS);
	outb(bus_master + BM_STATUS, BM_ERROR | BM_INTERRUPT);
	if (!d || dead)
		return;
	failed = status & STATUS_NOT_DONE || moved & (BM_ACTIVE | BM_ERROR);
	active = NULL;
	if (waiting)
		begin(waiting);
	waiting = NULL;
	block_end(d, failed ? -EIO : 0);
}

/* For 400 ns after selecting a unit, or giving it a command, its status may be wrong. */
static void let_status_settle(void)
{
	for (int i = 0; i < 4; i++)
		inb(ALT_STATUS);
}

static void select_unit(u32 unit)
{
	outb(DEVICE, device_bits(&units[unit]));
	let_status_settle();
}

/* Returns true if data can be read. Status 0 or FF: there is no disk. */
static bool wait_for_data(void)
{
	int polls = MAX_POLLS;
	u8 status = inb(STATUS);

	while (status != 0xFF && status & STATUS_BSY && --polls)
		status = inb(STATUS);
	return status != 0xFF && polls &&
	       (status & (STATUS_DRQ | STATUS_DF | STATUS_ERR)) == STATUS_DRQ;
}

/* The first letter of each word is in its upper byte. Blanks pad the end. */
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
	command = pci_read(f, PCI_COMMAND) & 0xFFFF; /* zeros in the status clear nothing */
	pci_write(f, PCI_COMMAND, command | PCI_COMMAND_IO | PCI_COMMAND_MASTER);
	bus_master = pci_read(f, PCI_BAR4) & 0xFFFC;
	return bus_master;
}

static void start_using(u32 unit, const struct identity *id)
{
	struct disk *d = &units[unit];

	d->whole.name = unit ? "hdb" : "hda";
	d->whole.dev = 3 << 8 | unit << 6;
	d->whole.nr_sectors = MIN(id->sectors, MAX_LBA);
	d->ops = &ops;
	d->max_pieces = MAX_ENTRIES;
	d->max_sectors = MAX_SECTORS;
	d->has_cache = true;
	snprintf(d->model, sizeof(d->model), "%s, by DMA", id->model);
	disk_init(d);
	bdev_register(&d->whole);
}

static bool try_unit(u32 unit)
{
	struct identity id;

	if (!identify(unit, &id))
		return false;
	if (~id.capabilities & (CAN_DMA | CAN_LBA)) {
		printk("hd%c: %s cannot do DMA with LBA, and is not used\n", 'a' + unit, id.model);
		return false;
	}
	start_using(unit, &id);
	return true;
}

static bool ata_find(void)
{
	bool found;

	if (!find_controller())
		return false;
	found = try_unit(0) | try_unit(1);
	select_unit(0);
	inb(STATUS);
	outb(bus_master + BM_STATUS, BM_ERROR | BM_INTERRUPT);
	irq_register(IRQ_DISK, ata_interrupt);
	outb(CONTROL, 0);
	return found;
}

DISK_KIND(ide) = { .name = "ide", .prefix = "hd", .find = ata_find };
