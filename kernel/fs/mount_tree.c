/*
 * The tree of mounts: where the roots of mounted file systems lie, and the first of them.
 *
 * The directory under a mount points to the root of the mounted file system (inode->mounted), and a
 * walk continues from that root; the super block points back. So mounts can be stacked: the second
 * is mounted on the root of the first, and only the last one can be unmounted. The root has the
 * parent of the directory, so ".." needs no special case. The first root is a ramfs that the boot
 * archive fills.
 */
#include "internal.h"

#include "fs/fs_type.h"
#include "lib/assert.h"
#include "lib/string.h"

static FILE_SYSTEM(ramfs_type) = { .name = "ramfs", .mount = ramfs_mount };
static FILE_SYSTEM(proc_type) = { .name = "proc", .single = &proc_sb };
static FILE_SYSTEM(dev_type) = { .name = "devtmpfs", .single = &dev_sb };
static const struct fs_type pipe_type = { .name = "pipefs" };

static int proc_statfs(struct super_block *sb, struct kstatfs *st)
{
	(void)sb;
	*st = (struct kstatfs){ .magic = 0x9fa0, .block_size = PAGE_SIZE };
	return 0;
}

static const struct super_operations proc_super_ops = { .statfs = proc_statfs };

struct super_block root_sb, dev_sb;
struct super_block proc_sb = { .ops = &proc_super_ops, .block_size = PAGE_SIZE };
struct super_block pipe_sb = { .ops = &proc_super_ops, .block_size = PAGE_SIZE };

LIST_HEAD(mounts);

void mount_attach(struct super_block *sb, struct inode *dir)
{
	sb->mounted_on = dir;
	dir->mounted = sb->root;
	sb->root->parent = dir->parent;
	if (dir == vfs_root) {
		vfs_root = sb->root;
		sb->root->parent = sb->root;
	}
	list_add_tail(&sb->node, &mounts);
}

void mount_init(void)
{
	super_init(&root_sb, &ramfs_type);
	super_init(&dev_sb, &dev_type);
	super_init(&proc_sb, &proc_type);
	super_init(&pipe_sb, &pipe_type);
	if (ramfs_mount(&root_sb, NULL))
		panic("vfs: no memory for the root directory");
	strlcpy(root_sb.source, "rootfs", sizeof(root_sb.source));
	vfs_root = root_sb.root;
	vfs_root->parent = vfs_root;
	list_add_tail(&root_sb.node, &mounts);
}

void mount_at_boot(struct super_block *sb, const char *name)
{
	struct walk w = { .dir = vfs_root, .last = path_name_of(name) };
	struct inode *dir;

	if (walk_create(&w, S_IFDIR | 0755, 0, NULL, &dir))
		panic("vfs: cannot make /%s", name);
	mount_attach(sb, dir);
}
