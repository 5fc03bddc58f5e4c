/*
 * The disk below a mounted file system: writes random bytes to its device while other workers mount, use,
 * sync, truncate on and unmount it. Its content is lost, so nothing is expected of it afterwards. Each round
 * restores an undamaged image, and its first blocks from time to time, because a heavily damaged one cannot be mounted.
 */
#include "storm.h"
#include <sys/mount.h>

enum { BLOCK = 1024, SECTOR = 512, SUPERBLOCK = 1, DESCRIPTORS = 2, NR_META = 64, PIECE = 4096 };
enum { NR_FIELDS = 28 }; /* of the superblock, up to the feature flags */

static const char device[] = "/dev/sda2";

/* Returns 0, or -1 with errno. */
static int restore(int disk, uint32_t nr_pieces)
{
	static char piece[PIECE];
	char path[64];
	ssize_t n = 0;
	int sound;

	snprintf(path, sizeof(path), "%s/raw", dirs[0]);
	sound = open(path, O_RDONLY);
	if (sound < 0)
		return -1;
	for (uint32_t at = 0; at < nr_pieces && (n = read(sound, piece, PIECE)) > 0; at++)
		if (pwrite(disk, piece, n, at * PIECE) != n)
			n = -1;
	close(sound);
	return n < 0 ? -1 : 0;
}

void raw_prepare(void)
{
	int disk;

	if (!calls_have("raw"))
		return;
	disk = open(device, O_WRONLY);
	if (disk < 0 || restore(disk, UINT32_MAX) || fsync(disk) || close(disk))
		die_errno(device);
}

/* Returns a block, mostly of metadata: fields of the superblock and of descriptors, bitmaps, inodes. */
static uint32_t draw_place(uint32_t nr_blocks)
{
	switch (draw(4)) {
	case 0:
		return SUPERBLOCK * BLOCK + 4 * draw(NR_FIELDS);
	case 1:
		return DESCRIPTORS * BLOCK + 4 * draw(32);
	case 2:
		return draw(NR_META) * BLOCK + 4 * draw(BLOCK / 4);
	default:
		return draw(nr_blocks) * BLOCK + 4 * draw(BLOCK / 4);
	}
}

/* Zeros, ones, random bytes, small numbers, or the content of another place. */
static void draw_bytes(int disk, uint32_t nr_blocks, uint32_t *words, uint32_t length)
{
	uint32_t how = draw(5);

	if (how == 4 && pread(disk, words, length, draw_place(nr_blocks)) == (ssize_t)length)
		return;
	for (uint32_t w = 0; w < length / 4; w++)
		words[w] = how < 2 ? -how : how == 2 ? draw_word() : draw(nr_blocks);
}

static long store_mapped(int disk, uint32_t at)
{
	uint32_t *page = mmap(NULL, PAGE_SIZE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, disk,
			      at & -PAGE_SIZE_BYTES);

	if (page == MAP_FAILED)
		return -errno;
	page[at % PAGE_SIZE_BYTES / 4] = draw_word();
	munmap(page, PAGE_SIZE_BYTES);
	return 0;
}

static long write_drawn(int disk, uint32_t nr_blocks, uint32_t at)
{
	static const uint32_t lengths[] = { 4, 4, 4, 4, 32, SECTOR, BLOCK, PIECE };
	static uint32_t words[PIECE / 4];
	uint32_t length = lengths[draw(ARRAY_SIZE(lengths))];

	draw_bytes(disk, nr_blocks, words, length);
	return pwrite(disk, words, length, length < SECTOR ? at : at & -SECTOR) < 0 ? -errno : 0;
}

static long write_file(const char *name)
{
	int fd = open(name, O_CREAT | O_WRONLY, 0644);
	ssize_t n = fd < 0 ? -1 : pwrite(fd, scratch, PIECE, draw(100) * BLOCK);

	close(fd);
	return n < 0 ? -errno : 0;
}

/* Uses the file system meanwhile, more often than other calls do. */
static long use(void)
{
	switch (draw(6)) {
	case 0:
		return umount("m") ? -errno : 0;
	case 1:
		sync();
		return 0;
	case 2:
		return truncate("m/a", draw(200) * (BLOCK / 2)) ? -errno : 0;
	case 3:
		return write_file(draw(2) ? "m/a" : "m/new");
	default:
		return mount(device, "m", "ext2", 0, NULL) ? -errno : 0;
	}
}

static long touch_disk(int disk)
{
	static char block[BLOCK];
	uint32_t nr_blocks = lseek(disk, 0, SEEK_END) / BLOCK, at = draw_place(nr_blocks);

	switch (draw(12)) {
	case 0:
		return pread(disk, block, BLOCK, at) < 0 ? -errno : 0;
	case 1:
		return fsync(disk) ? -errno : 0;
	case 2:
	case 3:
		return restore(disk, draw(2) ? 1 : NR_META * BLOCK / PIECE) ? -errno : 0;
	case 4:
		return store_mapped(disk, at);
	default:
		return write_drawn(disk, nr_blocks, at);
	}
}

long raw_touch(void)
{
	int disk;
	long ret;

	if (draw(2))
		return use();
	disk = open(device, O_RDWR);
	ret = disk < 0 ? -errno : touch_disk(disk);
	close(disk);
	return ret;
}
