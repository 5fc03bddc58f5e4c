/*
 * No log, in the grader's program on the host. So the program does not depend on lab 12's file
 * (kernel/fs/ext2/redo.c).
 */
#include "../../kernel/fs/ext2/ext2.h"

u32 ext2_redo_capacity(const struct ext2_fs *fs)
{
	(void)fs;
	return 0;
}

int ext2_redo_commit(struct ext2_fs *fs)
{
	(void)fs;
	return -EIO;
}

int ext2_redo_replay(struct ext2_fs *fs)
{
	(void)fs;
	return -EIO;
}
