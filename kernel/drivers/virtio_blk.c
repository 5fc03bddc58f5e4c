/*
 * Disks behind virtio over PCI, with the legacy interface, which QEMU's devices offer besides the
 * modern one (Virtual I/O Device 1.1: 2.6 split virtqueues, 4.1.4.8 and 4.1.5.1 legacy registers,
 * 5.2 block device).
 *
 * BAR 0 has ports: features, the queue's frame number and size, a doorbell, the device's status,
 * the cause of the interrupt; and then the disk's own: the number of sectors and the maximum number
 * of pieces per request.
 *
 * The queue is a table of descriptors (address, length, flags, next) and two rings. The driver
 * links the descriptors of a request: a header with operation and sector, the pieces of memory, and
 * a byte for the result. It puts the first one's number into the ring "available", and rings the
 * doorbell. The device puts it into the ring "used" and interrupts. Only one request is in progress
 * at a time, so it always begins at descriptor 0, and it is enough to count "used".
 *
 * Left out: several queues, indirect descriptors, concurrent requests, MSI.
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
#include "mm/bootmem.h"
#include "mm/page.h"

#define MAX_DISKS 4u
#define PCI_VIRTIO_BLK 0x10011AF4u
#define QUEUE_MAX 1024u
#define MAX_SECTORS 2048u

enum { HOST_FEATURES = 0, GUEST_FEATURES = 4, QUEUE_PFN = 8, QUEUE_SIZE = 12, QUEUE_SELECT = 14 };
enum { NOTIFY = 16, STATUS = 18, CAUSE = 19, CAPACITY = 20, SEG_MAX = 32 }; /* ports from BAR 0 */
enum { STATUS_ACKNOWLEDGE = 1, STATUS_DRIVER = 2, STATUS_READY = 4 };
enum { FEATURE_SEG_MAX = 1 << 2, FEATURE_READ_ONLY = 1 << 5, FEATURE_FLUSH = 1 << 9 };
enum { TYPE_READ = 0, TYPE_WRITE = 1, TYPE_FLUSH = 4 };
enum { DESC_NEXT = 1, DESC_TO_MEMORY = 2 };

struct descriptor {
	u64 address;
	u32 length;
	u16 flags, next;
};
STATIC_ASSERT(sizeof(struct descriptor) == 16);

struct available {
	u16 flags, index;
	u16 ring[];
};

struct used {
	u16 flags, index;
	struct {
		u32 id, length;
	} ring[];
};

struct header {
	u32 type, reserved;
	u64 sector;
};

static struct virtio_disk {
	struct disk disk;
	u16 port;
	u16 size; /* of the queue */
	u16 seen; /* irq: of used->index */
	volatile struct descriptor *table;
	volatile struct available *available;
	volatile struct used *used;
	struct header header; /* irq: of the active request */
	volatile u8 outcome;  /* irq: 0 means success */
} *disks[MAX_DISKS];
static u32 nr_disks;

static void describe(struct virtio_disk *v, u32 n, u32 address, u32 length, u16 flags)
{
	v->table[n].address = address;
	v->table[n].length = length;
	v->table[n].flags = flags;
	v->table[n].next = n + 1;
}

/* Returns the number of descriptors used so far. */
static u32 describe_pieces(struct virtio_disk *v, const struct request *rq)
{
	u16 flags = DESC_NEXT | (rq->write ? 0 : DESC_TO_MEMORY);
	const struct bio *bio;
	u32 n = 1;

	list_for_each_entry(bio, &rq->bios, node)
		for (u32 i = 0; i < bio->nr; i++) {
			const struct bio_piece *p = &bio->piece[i];

			describe(v, n++, (page_pfn(p->page) << PAGE_SHIFT) + p->offset, p->bytes,
				 flags);
		}
	return n;
}

static bool virtio_start(struct disk *d, struct request *rq, int *error)
{
	struct virtio_disk *v = container_of(d, struct virtio_disk, disk);
	u16 index = v->available->index;
	u32 n;

	(void)error;
	v->header.type = !rq->nr_sectors ? TYPE_FLUSH : rq->write ? TYPE_WRITE : TYPE_READ;
	v->header.sector = rq->nr_sectors ? rq->sector : 0;
	v->outcome = 0xFF;
	describe(v, 0, virt_to_phys(&v->header), sizeof(v->header), DESC_NEXT);
	n = describe_pieces(v, rq);
	describe(v, n, virt_to_phys((void *)&v->outcome), 1, DESC_TO_MEMORY);
	v->available->ring[index % v->size] = 0;
	barrier();
	v->available->index = index + 1;
	barrier();
	outw(v->port + NOTIFY, 0);
	return false;
}

static void virtio_stop(struct disk *d)
{
	outb(container_of(d, struct virtio_disk, disk)->port + STATUS, 0);
}

static const struct disk_ops ops = { .start = virtio_start, .stop = virtio_stop };

/* Several disks may share a line. Reading the cause lowers the line. */
static void virtio_interrupt(void)
{
	for (u32 i = 0; i < nr_disks; i++) {
		struct virtio_disk *v = disks[i];

		inb(v->port + CAUSE);
		if (v->used->index == v->seen)
			continue;
		v->seen++;
		block_end(&v->disk, v->outcome ? -EIO : 0);
	}
}

/* Allocates the frames of the queue: table and available, then used on its own page. */
static void place_queue(struct virtio_disk *v)
{
	u32 first = v->size * sizeof(struct descriptor);
	u32 second = ALIGN_UP(first + sizeof(struct available) + (v->size + 1) * 2, PAGE_SIZE);
	u32 end = second + sizeof(struct used) + v->size * 8 + 2;
	char *memory = boot_alloc(end, PAGE_SIZE);

	v->table = (void *)memory;
	v->available = (void *)(memory + first);
	v->used = (void *)(memory + second);
	outl(v->port + QUEUE_PFN, virt_to_phys(memory) >> PAGE_SHIFT);
}

static void describe_disk(struct virtio_disk *v, u32 features)
{
	static const char *const names[MAX_DISKS] = { "vda", "vdb", "vdc", "vdd" };
	u32 most = features & FEATURE_SEG_MAX ? inl(v->port + SEG_MAX) : 1;
	bool huge = inl(v->port + CAPACITY + 4);
	struct disk *d = &v->disk;

	d->whole.name = names[nr_disks];
	d->whole.dev = 254 << 8 | nr_disks << 4;
	d->whole.nr_sectors = huge ? UINT32_MAX : inl(v->port + CAPACITY);
	d->whole.read_only = features & FEATURE_READ_ONLY;
	d->ops = &ops;
	d->max_pieces = MIN(most, v->size - 2u);
	d->max_sectors = MAX_SECTORS;
	d->has_cache = features & FEATURE_FLUSH;
	snprintf(d->model, sizeof(d->model), "virtio%s", d->whole.read_only ? ", read-only" : "");
}

static bool can_be_used(const struct virtio_disk *v, u32 line)
{
	return line < NR_IRQS && v->size > BIO_MAX_PIECES + 2 && v->size <= QUEUE_MAX &&
	       v->disk.max_pieces >= BIO_MAX_PIECES;
}

static void start_using(struct virtio_disk *v, u32 function)
{
	u8 status = STATUS_ACKNOWLEDGE | STATUS_DRIVER;
	u32 line = pci_read(function, PCI_INTERRUPT) & 0xFF, features;

	v->port = pci_read(function, PCI_BAR0) & 0xFFFC;
	outb(v->port + STATUS, 0);
	outb(v->port + STATUS, status);
	features = inl(v->port + HOST_FEATURES) &
		   (FEATURE_SEG_MAX | FEATURE_READ_ONLY | FEATURE_FLUSH);
	outl(v->port + GUEST_FEATURES, features);
	outw(v->port + QUEUE_SELECT, 0);
	v->size = inw(v->port + QUEUE_SIZE);
	describe_disk(v, features);
	if (!can_be_used(v, line)) {
		printk("%s: no interrupt, or a queue too short: it is not used\n",
		       v->disk.whole.name);
		return;
	}
	place_queue(v);
	disk_init(&v->disk);
	bdev_register(&v->disk.whole);
	disks[nr_disks++] = v;
	irq_register(line, virtio_interrupt);
	outb(v->port + STATUS, status | STATUS_READY);
}

static bool virtio_blk_find(void)
{
	u32 function;

	for (u32 n = 0; nr_disks < MAX_DISKS && (function = pci_find_id(PCI_VIRTIO_BLK, n)); n++) {
		u32 command = pci_read(function, PCI_COMMAND) & 0xFFFF;

		pci_write(function, PCI_COMMAND, command | PCI_COMMAND_IO | PCI_COMMAND_MASTER);
		start_using(boot_alloc(sizeof(struct virtio_disk), 8), function);
	}
	return nr_disks;
}

DISK_KIND(virtio) = { .name = "virtio", .prefix = "vd", .find = virtio_blk_find };
