/* Tests of names and files in the running kernel, in a directory of their own. */
#include "internal.h"

#include "ktest_user.h"
#include "lib/ktap.h"
#include "lib/string.h"
#include "mm/page.h"
#include "mm/slab.h"
#include "mm/frames.h"
#include "mm/zone.h"

#define TOP "/ktest"
#define FILE_MAX CACHE_MAX_SIZE

static char *user;

static bool begin(void)
{
	user = ktest_user_begin(4 * PAGE_SIZE);
	if (!user)
		return false;
	EXPECT_EQ(vfs_mkdir(TOP, 0755), 0);
	return true;
}

static void finish(void)
{
	EXPECT_EQ(vfs_rmdir(TOP), 0);
	ktest_user_end();
}

static struct file *open_file(const char *path, u32 flags)
{
	struct file *f = NULL;

	EXPECT_EQ(vfs_open(path, flags, 0644, &f), 0);
	return f;
}

static int try_open(const char *path, u32 flags)
{
	struct file *f;
	int err = vfs_open(path, flags, 0644, &f);

	if (!err)
		file_put(f);
	return err;
}

static void put_text(const char *path, const char *text)
{
	struct file *f = open_file(path, O_WRONLY | O_CREAT | O_TRUNC);

	ktest_user_write(user, text, strlen(text));
	EXPECT_EQ(vfs_write(f, user, strlen(text)), strlen(text));
	file_put(f);
}

static void expect_text(const char *path, const char *text)
{
	struct file *f = open_file(path, O_RDONLY);
	char got[64] = "";

	EXPECT_EQ(vfs_read(f, user, sizeof(got) - 1), strlen(text));
	ktest_user_read(got, user, strlen(text));
	EXPECT_STREQ(got, text);
	file_put(f);
}

KTEST(ramfs, what_was_written_is_read)
{
	if (!begin())
		return;
	put_text(TOP "/a", "hello");
	expect_text(TOP "/a", "hello");
	put_text(TOP "/a", "bye");
	expect_text(TOP "/a", "bye");
	EXPECT_EQ(vfs_unlink(TOP "/a"), 0);
	EXPECT_EQ(try_open(TOP "/a", O_RDONLY), -ENOENT);
	finish();
}

KTEST(ramfs, holes_and_tails_read_as_zeros)
{
	struct file *f;
	char got[4];
	u64 pos = 3 * PAGE_SIZE - 2;

	if (!begin())
		return;
	put_text(TOP "/hole", "xxxx");
	f = open_file(TOP "/hole", O_RDWR);
	EXPECT_EQ(vfs_write_at(f, user, 4, &pos), 4);
	EXPECT_EQ(f->inode->cache.nr_pages, 3); /* 0, 2 and 3 */
	pos = 2;
	EXPECT_EQ(vfs_read_at(f, user + 100, 4, &pos), 4);
	ktest_user_read(got, user + 100, 4);
	EXPECT_EQ(memcmp(got, "xx\0\0", 4), 0);
	EXPECT_EQ(vfs_truncate(f->inode, 1), 0);
	EXPECT_EQ(f->inode->cache.nr_pages, 1);
	EXPECT_EQ(vfs_truncate(f->inode, 4), 0);
	pos = 0;
	EXPECT_EQ(vfs_read_at(f, user + 100, 9, &pos), 4);
	ktest_user_read(got, user + 100, 4);
	EXPECT_EQ(memcmp(got, "x\0\0\0", 4), 0);
	file_put(f);
	EXPECT_EQ(vfs_unlink(TOP "/hole"), 0);
	finish();
}

KTEST(ramfs, files_end_at_64_mib)
{
	struct file *f;
	u64 pos = FILE_MAX - 1;

	if (!begin())
		return;
	f = open_file(TOP "/big", O_RDWR | O_CREAT);
	EXPECT_EQ(vfs_write_at(f, user, 10, &pos), 1);
	EXPECT_EQ(vfs_write_at(f, user, 1, &pos), -EFBIG);
	EXPECT_EQ(vfs_truncate(f->inode, FILE_MAX + 1), -EFBIG);
	file_put(f);
	EXPECT_EQ(vfs_unlink(TOP "/big"), 0);
	finish();
}

KTEST(ramfs, an_open_file_outlives_its_name)
{
	struct file *f;
	char got[2];
	u64 pos = 0;

	if (!begin())
		return;
	put_text(TOP "/a", "ok");
	f = open_file(TOP "/a", O_RDONLY);
	EXPECT_EQ(vfs_unlink(TOP "/a"), 0);
	EXPECT_EQ(f->inode->nlink, 0);
	EXPECT_EQ(vfs_read_at(f, user, 2, &pos), 2);
	ktest_user_read(got, user, 2);
	EXPECT_EQ(memcmp(got, "ok", 2), 0);
	file_put(f);
	finish();
}

KTEST(ramfs, bad_buffers_are_efault)
{
	struct file *f;

	if (!begin())
		return;
	f = open_file(TOP "/a", O_RDWR | O_CREAT);
	EXPECT_EQ(vfs_write(f, NULL, 10), -EFAULT);
	EXPECT_EQ(vfs_write(f, (void *)KERNEL_BASE, PAGE_SIZE), -EFAULT);
	EXPECT_EQ(f->inode->size, 0);
	EXPECT_EQ(f->inode->cache.nr_pages, 0);
	EXPECT_EQ(vfs_write(f, user, 1), 1);
	f->pos = 0;
	EXPECT_EQ(vfs_read(f, NULL, 1), -EFAULT);
	file_put(f);
	EXPECT_EQ(vfs_unlink(TOP "/a"), 0);
	finish();
}

KTEST(ramfs, pages_are_for_mapping_up_to_the_end)
{
	struct page *page = NULL, *again = NULL;
	struct file *f;

	if (!begin())
		return;
	put_text(TOP "/a", "mapped");
	f = open_file(TOP "/a", O_RDONLY);
	EXPECT_EQ(vfs_get_page(f->inode, 0, &page), 0);
	EXPECT_EQ(vfs_get_page(f->inode, 0, &again), 0);
	EXPECT_EQ(page, again);
	EXPECT_EQ(vfs_get_page(f->inode, 1, &again), -EINVAL);
	EXPECT_EQ(page->count, 3);
	page_put(page);
	page_put(page);
	file_put(f);
	EXPECT_EQ(vfs_unlink(TOP "/a"), 0);
	finish();
}

KTEST(ramfs, filling_it_is_enospc_and_leaves_half_of_memory)
{
	struct file *f;
	long n;

	if (nr_managed_pages() > FILE_MAX / PAGE_SIZE) {
		ktap_skip("one file does not reach half of this memory");
		return;
	}
	if (!begin())
		return;
	f = open_file(TOP "/fill", O_RDWR | O_CREAT);
	do
		n = vfs_write(f, user, 4 * PAGE_SIZE);
	while (n == 4 * PAGE_SIZE);
	if (n > 0)
		n = vfs_write(f, user, PAGE_SIZE);
	EXPECT_EQ(n, -ENOSPC);
	EXPECT(f->inode->cache.nr_pages <= nr_managed_pages() / 2);
	EXPECT(f->inode->cache.nr_pages > nr_managed_pages() / 8);
	EXPECT_EQ(vfs_unlink(TOP "/fill"), 0);
	file_put(f);
	finish();
}

KTEST(ramfs, everything_is_given_back)
{
	u32 objects, frames;

	if (!begin())
		return;
	put_text(TOP "/a", "x");
	EXPECT_EQ(vfs_unlink(TOP "/a"), 0);
	objects = slab_objects_in_use();
	frames = nr_free_pages();
	for (int i = 0; i < 20; i++) {
		struct file *f = open_file(TOP "/a", O_RDWR | O_CREAT);

		for (int page = 0; page < 3 * i; page++)
			EXPECT_EQ(vfs_write(f, user, PAGE_SIZE), PAGE_SIZE);
		EXPECT_EQ(vfs_unlink(TOP "/a"), 0);
		file_put(f);
	}
	EXPECT_EQ(slab_objects_in_use(), objects);
	slab_reap();
	EXPECT(nr_free_pages() + 4 >= frames); /* the user's own pages were touched meanwhile */
	finish();
}
