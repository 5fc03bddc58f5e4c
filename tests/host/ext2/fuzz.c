/*
 * Images damaged by accident or on purpose. Each is a copy in which some bytes of metadata are changed, and with
 * some images the disk has read errors. It is mounted, everything in it is read, and names and files are created,
 * changed and removed in it. Any answer is allowed, but there must be one: the sanitizers detect accesses out of
 * bounds, the alarm detects loops.
 */
#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECONDS_EACH 20
#define DEPTH 6

static const char *options;
static u32 state, nr_mounted,
	looks; /* looks: left for one image, so that a large one takes no longer */

static u32 below(u32 n)
{
	return host_random(&state) % n;
}

/* Is the block at this offset likely to be metadata? Data are noise, or text. */
static u32 metadata_offset(const u8 *bytes, u32 size)
{
	static const u8 zeros[1024];

	for (;;) {
		u32 at = below(size / 1024) * 1024;

		if (at == 1024 || at == 2048 || below(4) == 0 || memcmp(bytes + at, zeros, 1024))
			return at + (at == 1024 ? below(128) : below(1024));
	}
}

static void damage(u8 *bytes, u32 size)
{
	static const u8 likely[] = { 0, 1, 2, 0x7f, 0x80, 0xff };

	for (u32 n = 1 + below(12); n; n--) {
		u32 at = below(6) ? metadata_offset(bytes, size) : 1024 + below(3 * 1024);

		bytes[at] = below(2) ? likely[below(ARRAY_SIZE(likely))] : below(256);
		if (below(4) == 0) /* the address of something that exists */
			*(u32 *)(bytes + at / 4 * 4) = below(size / 1024);
	}
}

static void look_at(struct inode *inode, u32 depth);

static void look_in(struct inode *dir, u32 depth)
{
	struct dir_entry e = { 0 };

	while (looks && !dir->ops->iterate(dir, e.next, &e)) {
		struct path_name name = { .s = e.name, .len = e.len };
		struct inode *inode;

		if (dir->ops->lookup(dir, &name, &inode))
			continue;
		look_at(inode, depth + 1);
		inode_put(inode);
	}
}

static void change(struct inode *inode)
{
	struct file f = { .inode = inode };
	u64 end = inode->size, far = (u64)below(1u << 20) << below(14);
	char bytes[3000];

	memset(bytes, 'x', sizeof(bytes));
	cache_file_write(&f, bytes, sizeof(bytes), &far);
	cache_file_write(&f, bytes, sizeof(bytes), &end);
	host_truncate(inode, below(2) ? below(100000) : 0);
}

static void look_at(struct inode *inode, u32 depth)
{
	struct file f = { .inode = inode };
	char bytes[4096];
	u64 pos = 0;

	if (looks)
		looks--;
	if (ext2_kind(inode) == S_IFDIR && depth < DEPTH)
		look_in(inode, depth);
	if (ext2_kind(inode) == S_IFLNK)
		inode->ops->readlink(inode, bytes, sizeof(bytes));
	if (ext2_kind(inode) != S_IFREG)
		return;
	for (u32 n = 0; n < 8; n++)
		cache_file_read(&f, bytes, sizeof(bytes), &pos);
	for (u32 bit = 12; bit < 32; bit++) {
		pos = 1ull << bit;
		cache_file_read(&f, bytes, sizeof(bytes), &pos);
	}
	if (!host_sb.read_only && below(2))
		change(inode);
}

/* Uses names in a directory that exists. */
static void use(const char *dir)
{
	char a[64], b[64], target[128];

	snprintf(a, sizeof(a), "%s/a", dir);
	snprintf(b, sizeof(b), "%s/b%u", dir, below(100));
	memset(target, 't', sizeof(target));
	target[below(127)] = '\0';
	target[127] = '\0';
	host_create(a, S_IFREG | 0644, 0, NULL);
	host_rename(a, b);
	host_create(a, S_IFDIR | 0755, 0, NULL);
	host_rename(a, "/moved");
	host_create(a, S_IFLNK | 0777, 0, target);
	host_link(b, "/linked");
	host_create("/other", S_IFREG | 0644, 0, NULL);
	host_rename("/other", "/linked");
	host_create("/empty", S_IFDIR | 0755, 0, NULL);
	host_rename("/moved", "/empty");
	host_rename("/empty", "/moved");
	host_remove("/linked", false);
	host_remove("/moved", true);
}

/* Removes what a random directory of the image contains. */
static void clear(const char *path)
{
	struct dir_entry e = { 0 };
	struct inode *dir;
	char name[320];

	if (host_walk(path, &dir))
		return;
	for (u32 n = 0; n < 40 && ext2_kind(dir) == S_IFDIR; n++) {
		if (dir->ops->iterate(dir, e.next, &e))
			break;
		snprintf(name, sizeof(name), "%s/%s", path, e.name);
		if (below(3) && host_remove(name, false) == -EISDIR)
			host_remove(name, true);
	}
	inode_put(dir);
}

static void one(const u8 *bytes, u32 size)
{
	u8 *copy = malloc(size);

	memcpy(copy, bytes, size);
	damage(copy, size);
	disk_open(copy, size);
	free(copy);
	looks = 200;
	if (below(3) == 0)
		disk_fail(20 + below(200), state);
	if (!host_mount(below(8) == 0, options)) {
		nr_mounted++;
		look_at(host_sb.root, 0);
		if (!host_sb.read_only) {
			use("");
			use("/dir");
			clear(below(2) ? "" : "/dir");
			host_sync();
			host_drop_unused();
			use("/dir/deep");
			look_at(host_sb.root, 0);
		}
		host_umount();
	}
	disk_fail(0, 0);
	disk_close();
}

void host_fuzz(const u8 *bytes, u32 size, u32 seed, u32 count, const char *mount_options)
{
	host_quiet = true;
	options = mount_options;
	for (u32 i = 0; i < count; i++) {
		state = (seed + i) * 2654435761u;
		fprintf(stderr, "\rimage %u ", seed + i); /* the number of the current image */
		alarm(SECONDS_EACH);
		one(bytes, size);
	}
	printf("%u images, %u of them could be mounted\n", count, nr_mounted);
}
