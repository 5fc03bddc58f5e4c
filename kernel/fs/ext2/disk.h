/*
 * ext2 on the disk: the structures described in super.c, byte for byte. All numbers are
 * little-endian, like those of this processor. Fields of later file systems, which are kept
 * unchanged, have no name.
 */
#ifndef FS_EXT2_DISK_H
#define FS_EXT2_DISK_H

#include "types.h"

#define EXT2_MAGIC 0xef53u
#define EXT2_SUPER_OFFSET 1024u /* bytes from the start of the device */
#define EXT2_ROOT_INO 2u
#define EXT2_OLD_FIRST_INO 11u /* revision 0: lower numbers are reserved */
#define EXT2_OLD_INODE_SIZE 128u
#define EXT2_MAX_LINKS 32000u

/* s_state */
#define EXT2_VALID 1u /* it was unmounted cleanly */
#define EXT2_ERROR 2u /* inconsistencies were found */
/* s_errors: the reaction to errors; 1: continue */
#define EXT2_ERRORS_READ_ONLY 2u
#define EXT2_ERRORS_PANIC 3u

/* Features. A kernel that does not know an INCOMPAT bit cannot read the disk; one that does not
 * know an RO_COMPAT bit must not write it. COMPAT bits can be ignored. */
#define EXT2_COMPAT_RESIZE_INODE 0x10u
#define EXT2_COMPAT_SPARSE_SUPER2 0x200u
#define EXT2_INCOMPAT_FILETYPE 0x2u
#define EXT2_RO_COMPAT_SPARSE_SUPER 0x1u
#define EXT2_RO_COMPAT_LARGE_FILE 0x2u

struct ext2_super_block {
	u32 inodes_count, blocks_count, reserved_blocks, free_blocks, free_inodes;
	u32 first_data_block; /* 1 if a block has 1 KiB, else 0 */
	u32 log_block_size;   /* 1024 << it */
	u32 log_frag_size;
	u32 blocks_per_group, frags_per_group, inodes_per_group;
	u32 mtime, wtime; /* seconds since 1970, here and everywhere */
	u16 mnt_count, max_mnt_count, magic, state, errors, minor_rev;
	u32 lastcheck, checkinterval, creator_os, rev;
	u16 def_resuid, def_resgid;
	/* revision 1 */
	u32 first_ino;
	u16 inode_size, block_group_nr;
	u32 compat, incompat, ro_compat;
	u8 uuid[16];
	char volume_name[16], last_mounted[64];
	u32 algo_bitmap;
	u8 prealloc_blocks, prealloc_dir_blocks;
	u16 reserved_gdt_blocks; /* behind each copy of the descriptors: RESIZE_INODE */
	u8 unused[380];
	u32 backup_groups[2]; /* SPARSE_SUPER2 */
	u8 unused_too[428];
};
STATIC_ASSERT(sizeof(struct ext2_super_block) == 1024);
STATIC_ASSERT(offsetof(struct ext2_super_block, first_ino) == 84);
STATIC_ASSERT(offsetof(struct ext2_super_block, backup_groups) == 0x24c);

struct ext2_group {
	u32 block_bitmap, inode_bitmap, inode_table; /* blocks */
	u16 free_blocks, free_inodes, used_dirs, pad;
	u32 reserved[3];
};
#define EXT2_GROUP_BITS 5 /* log2 of its size */
STATIC_ASSERT(sizeof(struct ext2_group) == 1u << EXT2_GROUP_BITS);

#define EXT2_NR_DIRECT 12u
#define EXT2_NR_SLOTS 15u
#define EXT2_FAST_LINK (EXT2_NR_SLOTS * 4) /* shorter targets fit into the slots */

/* flags */
#define EXT2_INDEX 0x1000u /* a directory with a hash tree */
/* Unsupported content formats: compressed, encrypted, counted in blocks, extents, EAs, inline. */
#define EXT2_FOREIGN (0x200u | 0x800u | 0x40000u | 0x80000u | 0x200000u | 0x10000000u)

struct ext2_inode {
	u16 mode, uid;
	u32 size, atime, ctime, mtime, dtime;
	u16 gid, links;
	u32 blocks; /* of 512 bytes, with blocks of addresses */
	u32 flags, osd1;
	u32 slot[EXT2_NR_SLOTS]; /* 12 blocks, then one, two and three levels of indirection */
	u32 generation, file_acl;
	u32 size_high; /* of regular files */
	u32 faddr;
	u8 frag, fsize;
	u16 pad, uid_high, gid_high;
	u32 reserved;
};
STATIC_ASSERT(sizeof(struct ext2_inode) == EXT2_OLD_INODE_SIZE);

#define EXT2_NAME_OFFSET 8u
/* Bytes needed by an entry with a name of this length. */
#define EXT2_ENTRY_SIZE(len) ALIGN_UP(EXT2_NAME_OFFSET + (len), 4u)

struct ext2_entry {
	u32 inode; /* 0: unused */
	u16 size; /* to the next entry; the last one extends to the end of its block */
	u8 len;
	u8 type; /* EXT2_FT_..., 0 without the feature FILETYPE */
	char name[];
};
STATIC_ASSERT(sizeof(struct ext2_entry) == EXT2_NAME_OFFSET);

enum ext2_type {
	EXT2_FT_UNKNOWN,
	EXT2_FT_REG,
	EXT2_FT_DIR,
	EXT2_FT_CHR,
	EXT2_FT_BLK,
	EXT2_FT_FIFO,
	EXT2_FT_SOCK,
	EXT2_FT_LNK,
	EXT2_NR_FT
};

/* A block of extended attributes, which several inodes may share. */
#define EXT2_XATTR_MAGIC 0xea020000u
struct ext2_xattr_header {
	u32 magic, refcount;
};

#endif
