/*
 * System V shared memory: segments that are identified by a number. A segment is a file of shared
 * memory without a name (tmpfs.c). Attaching it maps that file.
 *
 * The table holds a reference until IPC_RMID drops it. Then the segment lives as long as it is
 * attached, and the inode's last reference removes it from the table. The list of the file's
 * regions shows the attachments, so fork, exec and exit need no extra work.
 *
 * Left out: permissions (every process is root), limits except the table's size, SHM_LOCK,
 * SHM_INFO. Only shmdt records the time of detaching.
 */
#include "fs/shm.h"

#include "arch/time.h"
#include "errno.h"
#include "fs/proc.h"
#include "internal.h"
#include "lib/printf.h"
#include "lib/seq_file.h"
#include "mm/mm.h"
#include "sched/current.h"

#define MAX_SEGMENTS 128u
#define SEQ_STEP 32768u /* an identifier is SEQ_STEP times the sequence number, plus the index */

#define IPC_PRIVATE 0u
#define IPC_CREAT 01000u
#define IPC_EXCL 02000u
#define SHM_DEST 01000u
#define SHM_RDONLY 010000u
#define SHM_RND 020000u
#define SHM_REMAP 040000u
#define SHM_EXEC 0100000u

struct segment {
	struct inode *inode; /* NULL: the entry is free */
	struct shmid_ds ds;
	bool gone; /* after IPC_RMID: the table holds no reference */
};

static struct segment table[MAX_SEGMENTS];
static void (*drop_pages)(struct inode *inode); /* original inode->evict of an unnamed file */

static u32 id_of(const struct segment *s)
{
	return s->ds.seq * SEQ_STEP + (s - table);
}

static struct segment *find_id(u32 id)
{
	struct segment *s = &table[id % SEQ_STEP % MAX_SEGMENTS];

	return id % SEQ_STEP < MAX_SEGMENTS && s->inode && id_of(s) == id ? s : NULL;
}

static struct segment *find_key(u32 key)
{
	for (struct segment *s = table; s < table + MAX_SEGMENTS; s++)
		if (s->inode && s->ds.key == key)
			return s;
	return NULL;
}

static struct segment *find_inode(const struct inode *inode)
{
	for (struct segment *s = table; s < table + MAX_SEGMENTS; s++)
		if (inode && s->inode == inode)
			return s;
	return NULL;
}

static void note(u32 *seconds)
{
	*seconds = clock_realtime_ns() / 1000000000;
}

static void evict(struct inode *inode)
{
	struct segment *s = find_inode(inode);

	if (s) {
		u32 seq = s->ds.seq + 1;

		*s = (struct segment){ .ds = { .seq = seq % (SEQ_STEP * 2) } };
	}
	drop_pages(inode);
}

/* Segments. */

static long create(u32 key, u32 size, u32 mode)
{
	struct segment *s = table;
	struct inode *inode;
	char name[16];
	int err;

	if (!size)
		return -EINVAL;
	snprintf(name, sizeof(name), "/SYSV%08x", key);
	err = vfs_shmem_create(name, size,
			       &inode); /* may sleep: a free entry is searched for afterwards */
	if (err)
		return err == -EFBIG ? -EINVAL : err;
	while (s < table + MAX_SEGMENTS && s->inode)
		s++;
	if (s == table + MAX_SEGMENTS) {
		inode_put(inode);
		return -ENOSPC;
	}
	drop_pages = inode->evict;
	inode->evict = evict;
	s->inode = inode;
	s->ds = (struct shmid_ds){ .key = key,
				   .seq = s->ds.seq,
				   .mode = mode & 0777,
				   .size = size,
				   .cpid = current->pid };
	note(&s->ds.ctime);
	return id_of(s);
}

long shm_get(u32 key, u32 size, u32 flags)
{
	struct segment *s = key == IPC_PRIVATE ? NULL : find_key(key);

	if (!s)
		return key == IPC_PRIVATE || flags & IPC_CREAT ? create(key, size, flags) : -ENOENT;
	if (flags & IPC_CREAT && flags & IPC_EXCL)
		return -EEXIST;
	return size > s->ds.size ? -EINVAL : (long)id_of(s);
}

static u32 nr_attached(const struct segment *s)
{
	struct interval *i;
	u32 nr = 0;

	for_each_interval(i, &s->inode->cache.regions, 0, ~0u)
		nr++;
	return nr;
}

long shm_control(u32 id, u32 cmd, struct shmid_ds *ds)
{
	struct segment *s = find_id(id);

	if (!s || cmd > IPC_STAT)
		return -EINVAL;
	if (cmd == IPC_STAT) {
		*ds = s->ds;
		ds->nattch = nr_attached(s);
		ds->mode |= s->gone ? SHM_DEST : 0;
	} else if (cmd == IPC_SET) {
		s->ds.uid = ds->uid;
		s->ds.gid = ds->gid;
		s->ds.mode = ds->mode & 0777;
		note(&s->ds.ctime);
	} else if (!s->gone) {
		s->gone = true;
		s->ds.key = IPC_PRIVATE;
		inode_put(s->inode);
	}
	return 0;
}

/* Attaching. */

long shm_attach(u32 id, u32 addr, u32 flags)
{
	u32 map = MAP_SHARED | (flags & SHM_RDONLY ? MAP_NOWRITE : 0) |
		  (addr ? MAP_FIXED | MAP_FIXED_NOREPLACE : 0);
	u32 prot = PROT_READ | (flags & SHM_RDONLY ? 0 : PROT_WRITE) |
		   (flags & SHM_EXEC ? PROT_EXEC : 0);
	struct segment *s = find_id(id);
	struct inode *inode;
	long at;

	if (flags & SHM_RND)
		addr &= PAGE_MASK;
	if (!s || addr & ~PAGE_MASK || (flags & SHM_REMAP && !addr))
		return -EINVAL;
	if (flags & SHM_REMAP)
		map &= ~(u32)MAP_FIXED_NOREPLACE;
	inode = s->inode;
	inode_get(inode);
	at = do_mmap(current->mm, addr, s->ds.size, prot, map, inode, 0);
	if (at >= 0 || at < -4095) {
		s->ds.lpid = current->pid;
		note(&s->ds.atime);
	}
	inode_put(inode);
	return at == -EEXIST ? -EINVAL : at;
}

/* Returns a region of the segment attached at addr; inode NULL: of any segment. */
static struct vm_area_struct *attached_at(u32 addr, const struct inode *inode)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma, *found = NULL;

	mutex_lock(&mm->lock);
	list_for_each_entry(vma, &mm->vma_list, list) {
		if (!find_inode(vma->inode) || (inode && vma->inode != inode))
			continue;
		if (vma->start - addr == vma->pgoff << PAGE_SHIFT) {
			found = vma;
			break;
		}
	}
	mutex_unlock(&mm->lock);
	return found;
}

long shm_detach(u32 addr)
{
	struct vm_area_struct *vma = addr & ~PAGE_MASK ? NULL : attached_at(addr, NULL);
	struct inode *inode;
	struct segment *s;

	if (!vma)
		return -EINVAL;
	inode = vma->inode;
	inode_get(inode);
	while ((vma = attached_at(addr, inode)))
		if (do_munmap(current->mm, vma->start, vma->end - vma->start))
			break;
	s = find_inode(inode);
	s->ds.lpid = current->pid;
	note(&s->ds.dtime);
	inode_put(inode);
	return 0;
}

/* /proc/sysvipc/shm, in Linux's format. */

static void show_segment(struct seq_file *m, const struct segment *s)
{
	const struct shmid_ds *ds = &s->ds;

	seq_printf(m, "%10d %10u  %4o %10u %5u %5u  %5u %5u %5u %5u %5u %10u %10u %10u %10u %10u\n",
		   ds->key, id_of(s), ds->mode | (s->gone ? SHM_DEST : 0), ds->size, ds->cpid,
		   ds->lpid, nr_attached(s), ds->uid, ds->gid, ds->cuid, ds->cgid, ds->atime,
		   ds->dtime, ds->ctime, s->inode->cache.nr_pages << PAGE_SHIFT,
		   s->inode->cache.nr_swapped << PAGE_SHIFT);
}

static void show(struct seq_file *m)
{
	seq_puts(m,
		 "       key      shmid perms       size  cpid  lpid nattch   uid   gid  cuid  cgid"
		 "      atime      dtime      ctime        rss       swap\n");
	for (const struct segment *s = table; s < table + MAX_SEGMENTS; s++)
		if (s->inode)
			show_segment(m, s);
}

static const struct proc_file files[] = { { "sysvipc/shm", show, NULL }, { NULL, NULL, NULL } };

PROC_FILES(files);
