/* Tests of paths and directories in the running kernel. */
#include "internal.h"

#include "arch/mmu.h"
#include "ktest_user.h"
#include "lib/ktap.h"
#include "lib/printf.h"
#include "lib/string.h"

#define TOP "/ktest"

static void add_link(const char *path, const char *target)
{
	EXPECT_EQ(vfs_symlink(target, path), 0);
}

static int move(const char *from, const char *to)
{
	const struct path_at a = { NULL, from }, b = { NULL, to };

	return vfs_rename(&a, &b, 0);
}

static void add_file(const char *path)
{
	struct file *f;
	int err = vfs_open(path, O_CREAT | O_EXCL | O_WRONLY, 0644, &f);

	EXPECT_EQ(err, 0);
	if (!err)
		file_put(f);
}

static int lookup(const char *path, bool follow)
{
	struct inode *inode;
	int err = vfs_lookup(path, follow, &inode);

	if (!err)
		inode_put(inode);
	return err;
}

static bool same(const char *a, const char *b)
{
	struct inode *ia = NULL, *ib = NULL;
	bool equal = !vfs_lookup(a, true, &ia) && !vfs_lookup(b, true, &ib) && ia == ib;

	if (ia)
		inode_put(ia);
	if (ib)
		inode_put(ib);
	return equal;
}

KTEST(namei, dots_and_slashes)
{
	EXPECT_EQ(vfs_mkdir(TOP, 0755), 0);
	EXPECT_EQ(vfs_mkdir(TOP "/d", 0755), 0);
	EXPECT(same(TOP "/d/..", TOP));
	EXPECT(same("/..//." TOP "/./d/", TOP "/d"));
	EXPECT_EQ(lookup("", true), -ENOENT);
	EXPECT_EQ(vfs_mkdir(TOP "/d/.", 0755), -EEXIST);
	EXPECT_EQ(vfs_rmdir(TOP "/d/."), -EINVAL);
	EXPECT_EQ(vfs_rmdir(TOP), -ENOTEMPTY);
	EXPECT_EQ(vfs_rmdir(TOP "/d/"), 0);
	EXPECT_EQ(vfs_rmdir(TOP), 0);
}

KTEST(namei, files_are_not_directories)
{
	struct file *f;

	EXPECT_EQ(vfs_mkdir(TOP, 0755), 0);
	add_file(TOP "/f");
	EXPECT_EQ(lookup(TOP "/f/", true), -ENOTDIR);
	EXPECT_EQ(lookup(TOP "/f/x", true), -ENOTDIR);
	EXPECT_EQ(lookup(TOP "/none/x", true), -ENOENT);
	EXPECT_EQ(vfs_rmdir(TOP "/f"), -ENOTDIR);
	EXPECT_EQ(vfs_unlink(TOP), -EISDIR);
	EXPECT_EQ(vfs_open(TOP, O_WRONLY, 0, &f), -EISDIR);
	EXPECT_EQ(vfs_open(TOP "/f", O_RDONLY | O_DIRECTORY, 0, &f), -ENOTDIR);
	EXPECT_EQ(vfs_open(TOP "/f", O_CREAT | O_EXCL | O_RDWR, 0, &f), -EEXIST);
	EXPECT_EQ(vfs_unlink(TOP "/f"), 0);
	EXPECT_EQ(vfs_rmdir(TOP), 0);
}

KTEST(namei, links_are_followed_up_to_a_limit)
{
	struct file *f;
	char text[16];

	EXPECT_EQ(vfs_mkdir(TOP, 0755), 0);
	EXPECT_EQ(vfs_mkdir(TOP "/d", 0755), 0);
	add_file(TOP "/d/f");
	add_link(TOP "/rel", "d");
	add_link(TOP "/abs", TOP "/rel/f");
	add_link(TOP "/loop", "loop");
	EXPECT(same(TOP "/rel/f", TOP "/d/f"));
	EXPECT(same(TOP "/abs", TOP "/d/f"));
	EXPECT(same(TOP "/rel/..", TOP));
	EXPECT_EQ(lookup(TOP "/loop", true), -ELOOP);
	EXPECT_EQ(lookup(TOP "/loop", false), 0);
	EXPECT_EQ(vfs_open(TOP "/rel", O_RDONLY | O_NOFOLLOW, 0, &f), -ELOOP);
	EXPECT_EQ(vfs_readlink(TOP "/rel", text, sizeof(text)), 1);
	EXPECT_EQ(text[0], 'd');
	EXPECT_EQ(vfs_readlink(TOP "/d", text, sizeof(text)), -EINVAL);
	EXPECT_EQ(vfs_unlink(TOP "/loop"), 0);
	EXPECT_EQ(vfs_unlink(TOP "/abs"), 0);
	EXPECT_EQ(vfs_unlink(TOP "/rel"), 0);
	EXPECT_EQ(vfs_unlink(TOP "/d/f"), 0);
	EXPECT_EQ(vfs_rmdir(TOP "/d"), 0);
	EXPECT_EQ(vfs_rmdir(TOP), 0);
}

KTEST(namei, long_names_are_refused)
{
	static char path[NAME_MAX + 3];

	memset(path, 'n', sizeof(path) - 1);
	path[0] = '/';
	EXPECT_EQ(lookup(path, true), -ENAMETOOLONG);
	EXPECT_EQ(vfs_mkdir(path, 0755), -ENAMETOOLONG);
	path[NAME_MAX + 1] = '\0';
	EXPECT_EQ(vfs_mkdir(path, 0755), 0);
	EXPECT_EQ(vfs_rmdir(path), 0);
}

KTEST(namei, rename_moves_and_replaces)
{
	EXPECT_EQ(vfs_mkdir(TOP, 0755), 0);
	EXPECT_EQ(vfs_mkdir(TOP "/d", 0755), 0);
	add_file(TOP "/a");
	add_file(TOP "/b");
	EXPECT_EQ(move(TOP "/a", TOP "/b"), 0);
	EXPECT_EQ(lookup(TOP "/a", true), -ENOENT);
	EXPECT_EQ(move(TOP "/b", TOP "/d/c"), 0);
	EXPECT_EQ(lookup(TOP "/d/c", true), 0);
	EXPECT_EQ(move(TOP "/d", TOP "/d/e"), -EINVAL);
	EXPECT_EQ(move(TOP "/d/c", TOP "/d"), -ENOTEMPTY);
	EXPECT_EQ(vfs_mkdir(TOP "/e", 0755), 0);
	EXPECT_EQ(move(TOP "/e", TOP "/d"), -ENOTEMPTY);
	EXPECT_EQ(move(TOP "/d", TOP "/e"), 0);
	EXPECT(same(TOP "/e/..", TOP));
	EXPECT_EQ(lookup(TOP "/e/c", true), 0);
	EXPECT_EQ(vfs_unlink(TOP "/e/c"), 0);
	EXPECT_EQ(vfs_rmdir(TOP "/e"), 0);
	EXPECT_EQ(vfs_rmdir(TOP), 0);
}

KTEST(namei, paths_of_inodes)
{
	struct inode *inode = NULL;
	char path[32];

	EXPECT_EQ(vfs_mkdir(TOP, 0755), 0);
	add_file(TOP "/f");
	EXPECT_EQ(vfs_lookup(TOP "/f", true, &inode), 0);
	EXPECT_EQ(vfs_path_of(inode, path, sizeof(path)), 0);
	EXPECT_STREQ(path, TOP "/f");
	EXPECT_EQ(vfs_path_of(inode, path, 8), -ERANGE);
	EXPECT_EQ(vfs_unlink(TOP "/f"), 0);
	EXPECT_EQ(vfs_path_of(inode, path, sizeof(path)), -ENOENT);
	inode_put(inode);
	EXPECT_EQ(vfs_path_of(vfs_root, path, sizeof(path)), 0);
	EXPECT_STREQ(path, "/");
	EXPECT_EQ(vfs_rmdir(TOP), 0);
}

/* Entries that are removed while a directory is being read must not hide others. */
KTEST(namei, reading_a_directory_while_emptying_it)
{
	struct file *f;
	char path[32];
	u8 *user = ktest_user_begin(PAGE_SIZE);
	long n;
	u32 calls = 0, removed = 0;

	if (!user)
		return;
	EXPECT_EQ(vfs_mkdir(TOP, 0755), 0);
	for (int i = 0; i < 30; i++) {
		snprintf(path, sizeof(path), TOP "/%d", i);
		add_file(path);
	}
	EXPECT_EQ(vfs_open(TOP, O_RDONLY | O_DIRECTORY, 0, &f), 0);
	EXPECT_EQ(vfs_getdents64(f, user, 8), -EINVAL);
	while ((n = vfs_getdents64(f, user, 100)) > 0 && calls++ < 100) {
		u8 buf[100];

		ktest_user_read(buf, user, n);
		for (long at = 0; at < n; at += buf[at + 16]) {
			snprintf(path, sizeof(path), TOP "/%s", (char *)buf + at + 19);
			removed += !vfs_unlink(path);
		}
	}
	EXPECT_EQ(removed, 30);
	file_put(f);
	EXPECT_EQ(vfs_rmdir(TOP), 0);
	ktest_user_end();
}
