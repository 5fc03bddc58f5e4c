/*
 * raw: programs write to the device of a mounted ext2, into its metadata, at the worst moments: while it is synced,
 * unmounted, or one of its files truncated; and with contradictions that are only possible in a mounted file system,
 * because cached names and inodes differ from the disk. Calls may fail; the machine and other names must not suffer.
 *
 * /dev/sda is an ext2 with blocks of 1 KiB, which is not mounted. Each case begins with its initial content.
 */
#include "check.h"
#include "lib.h"

#include <sys/mman.h>
#include <sys/mount.h>

#define HELP                                                                                       \
	"usage: raw\nWrite to /dev/sda, an ext2 that is not mounted, while it is mounted at /mnt.\n"

enum {
	BLOCK = 1024,
	MAX_IMAGE = 2 << 20,
	GROUPS_AT = 2 * BLOCK,
	SLOTS = 40,
	FILE_KB = 600,
};

static const char device[] = "/dev/sda";
static uint8_t image[MAX_IMAGE], block[BLOCK];
static ssize_t image_size;
static int disk;

/* --- the device --- */

static void write_block(uint32_t nr)
{
	CHECK(pwrite(disk, block, BLOCK, (off_t)nr * BLOCK) == BLOCK);
}

static uint32_t word(uint32_t at)
{
	uint32_t value = 0;

	CHECK(pread(disk, &value, sizeof(value), at) == sizeof(value));
	return value;
}

/* Returns where the file's inode lies. The groups have 128 bytes for each inode. */
static uint32_t record_of(const char *path)
{
	uint32_t per_group = word(BLOCK + 40), inode_size = word(BLOCK + 88) & 0xffff, ino;
	struct stat st;

	CHECK(!stat(path, &st));
	ino = st.st_ino - 1;
	return word(GROUPS_AT + ino / per_group * 32 + 8) * BLOCK + ino % per_group * inode_size;
}

static uint32_t slot_of(const char *path, uint32_t slot)
{
	sync(); /* data not written yet would be missing */
	return word(record_of(path) + SLOTS + 4 * slot);
}

static uint32_t ino_of(const char *path)
{
	struct stat st = { 0 };

	CHECK(!lstat(path, &st));
	return st.st_ino;
}

/* Puts an entry into the block that was read. */
static uint32_t put_entry(uint32_t at, uint32_t ino, uint32_t size, const char *name)
{
	uint16_t length = size;

	memset(block + at, 0, size);
	memcpy(block + at, &ino, sizeof(ino));
	memcpy(block + at + 4, &length, sizeof(length));
	block[at + 6] = strlen(name);
	memcpy(block + at + 8, name, strlen(name));
	return at + size;
}

/* Makes the whole content of a directory: its dots, and one more name, or none. */
static void rewrite_dir(const char *path, const char *parent, const char *name,
			const char *leads_to)
{
	uint32_t nr = slot_of(path, 0), at;

	at = put_entry(0, ino_of(path), 12, ".");
	at = put_entry(at, ino_of(parent), name ? 12 : BLOCK - 12, "..");
	if (name)
		put_entry(at, ino_of(leads_to), BLOCK - at, name);
	write_block(nr);
}

/* --- cases --- */

static void mount_it(void)
{
	CHECK(pwrite(disk, image, image_size, 0) == image_size && !fsync(disk));
	CHECK(!mount(device, "/mnt", "ext2", 0, NULL) && !chdir("/mnt"));
}

static void unmount_it(void)
{
	CHECK(!chdir("/") && !umount("/mnt"));
}

static void make_file(const char *name, uint32_t kb)
{
	int fd = open(name, O_CREAT | O_WRONLY, 0644);

	memset(block, 'f', BLOCK);
	for (uint32_t n = 0; n < kb; n++)
		CHECK(write(fd, block, BLOCK) == BLOCK);
	CHECK(!close(fd));
}

/* A directory inside itself, or above its own ancestor, is endless. */
static void test_circle(void)
{
	mount_it();
	CHECK(!mkdir("a", 0755) && !mkdir("a/b", 0755) && !mkdir("c", 0755));
	rewrite_dir("a/b", "a", "x", "a");
	rewrite_dir("c", "c", "x", "c");
	rewrite_dir("a", "a/b", "b", "a/b");
	FAILS(access("a/b/x", F_OK), EIO);
	FAILS(rmdir("c/x"), EIO);
	FAILS(rename("a/b/x", "a/y"), EIO);
	FAILS(rename("c", "a/b/x/c"), EIO);
	CHECK(!access("a/b", F_OK) && !access("c", F_OK));
	unmount_it();
}

/* Two names lead to one directory. */
static void test_two_names(void)
{
	mount_it();
	CHECK(!mkdir("a", 0755) && !mkdir("a/d", 0755));
	rewrite_dir("a", ".", "e", "a/d");
	CHECK(!access("a/d", F_OK)); /* this name is cached */
	FAILS(access("a/e", F_OK), EIO);
	unmount_it();
}

/* A name leads to a removed file that is still open. */
static void test_removed(void)
{
	int file, dir;

	mount_it();
	CHECK(!mkdir("a", 0755) && !mkdir("a/d", 0755));
	make_file("f", 1);
	file = open("f", O_RDONLY);
	dir = open("a/d", O_RDONLY);
	rewrite_dir("a", ".", "f", "f");
	CHECK(!unlink("f"));
	FAILS(access("a/f", F_OK), EIO);
	FAILS(unlink("a/f"), EIO);
	CHECK(!close(file) && !close(dir));
	unmount_it();
}

/* A directory is empty only on the disk. */
static void test_not_empty(void)
{
	int file;

	mount_it();
	CHECK(!mkdir("a", 0755) && !mkdir("a/d", 0755));
	make_file("a/d/f", 1);
	file = open("a/d/f", O_RDWR);
	rewrite_dir("a/d", "a", NULL, NULL);
	FAILS(rmdir("a/d"), ENOTEMPTY);
	CHECK(write(file, "x", 1) == 1 && !close(file));
	unmount_it();
}

/* --- races --- */

enum { SUPER, GROUPS, BLOCK_BITMAP, INODE_BITMAP, TABLE, ROOT, ADDRESSES, NR_PLACES };

static uint32_t place(int which)
{
	switch (which) {
	case SUPER:
		return 1;
	case GROUPS:
		return 2;
	case BLOCK_BITMAP:
	case INODE_BITMAP:
	case TABLE:
		return word(GROUPS_AT + (which - BLOCK_BITMAP) * 4);
	case ROOT:
		return slot_of("/mnt", 0);
	default:
		return slot_of("/mnt/big", 12);
	}
}

static void do_sync(void)
{
	sync();
}

static void do_umount(void)
{
	unmount_it();
}

static void do_truncate(void)
{
	(void)!truncate("/mnt/big", 0);
}

static void (*const acts[])(void) = { do_sync, do_umount, do_truncate };

/* Shared with the writing process: is the act in progress, and how many blocks were written meanwhile? */
static volatile struct {
	bool under_way;
	uint32_t writes;
} *race;

__attribute__((noreturn)) static void write_again_and_again(uint32_t nr)
{
	for (uint32_t turn = 0;; turn++) {
		for (uint32_t i = 0; i < BLOCK; i++)
			block[i] = turn % 3 == 0 ? 0 : turn % 3 == 1 ? 0xff : i * 37 + turn;
		if (pwrite(disk, block, BLOCK, (off_t)nr * BLOCK) != BLOCK)
			_exit(1);
		race->writes += race->under_way;
		usleep(20);
	}
}

/* Returns the number of writes to the device while the act was in progress. */
static uint32_t one_race(int where, void (*act)(void))
{
	int status;
	uint32_t nr;
	pid_t pid;

	mount_it();
	make_file("big", FILE_KB);
	nr = place(where);
	make_file("dirty", 20);
	race->writes = race->under_way = 0;
	CHECK(!chdir("/")); /* the current folder would keep the mount busy */
	pid = fork();
	if (!pid)
		write_again_and_again(nr);
	race->under_way = true;
	act();
	race->under_way = false;
	if (act != do_umount)
		unmount_it();
	CHECK(!kill(pid, SIGKILL) && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	return race->writes;
}

static void test_races(void)
{
	for (size_t a = 0; a < ARRAY_SIZE(acts); a++) {
		uint32_t writes = 0;

		for (int where = 0; where < NR_PLACES; where++)
			writes += one_race(where, acts[a]);
		CHECK(writes > NR_PLACES);
	}
}

int main(int argc, char **argv)
{
	help_if_asked(argc, argv, HELP);
	disk = open(device, O_RDWR);
	image_size = read(disk, image, MAX_IMAGE);
	race = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (disk < 0 || image_size <= 0 || race == MAP_FAILED)
		die_errno(device);
	test_circle();
	test_two_names();
	test_removed();
	test_not_empty();
	test_races();
	return check_report("raw");
}
