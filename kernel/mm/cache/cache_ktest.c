/* Tests files with a store, on a small disk in memory that can be told to fail or to be slow. */
#include "arch/time.h"
#include "arch/uaccess.h"
#include "drivers/disk.h"
#include "internal.h"
#include "../../fs/ktest_user.h"
#include "lib/ktap.h"
#include "lib/param.h"
#include "lib/string.h"
#include "mm/mm.h"
#include "mm/policy_core.h"
#include "mm/frames.h"
#include "mm/vmstat.h"
#include "mm/zone.h"
#include "proc/task.h"
#include "sched/wait.h"

#define NAME "/ktest-file"
#define ORDER 6u /* the disk is a block of 2^ORDER pages: 256 KiB */
#define NR_SECTORS (PAGE_SIZE / SECTOR_SIZE << ORDER)
#define BLOCK 1024u
#define SHIFT 64u /* sector at which the file's first block lies */
#define HOLE 5u /* this block and every eighth one after it are holes until allocated */

static char *memory;
static bool fails; /* every write fails */
static bool fails_to_read;
static bool slow; /* a request takes one millisecond */
static struct timer ending;
static char *user;
static struct file *f;
static bool made[64]; /* holes that have been filled */
static bool hungry; /* map needs a frame to find a block */

static int move(const struct request *rq)
{
	char *at = memory + rq->sector * SECTOR_SIZE;
	struct bio *bio;

	if (rq->write ? fails : fails_to_read)
		return -EIO;
	list_for_each_entry(bio, &rq->bios, node)
		for (u32 i = 0; i < bio->nr; i++) {
			const struct bio_piece *p = &bio->piece[i];

			if (rq->write)
				page_read(p->page, p->offset, at, p->bytes);
			else
				page_write(p->page, p->offset, at, p->bytes);
			at += p->bytes;
		}
	return 0;
}

static bool serve(struct disk *disk, struct request *rq, int *error)
{
	(void)disk;
	if (slow)
		timer_start(&ending, clock_ns() + 1000000);
	else
		*error = move(rq);
	return !slow;
}

static const struct disk_ops disk_ops = { .start = serve };
static struct disk disk = {
	.whole = { .name = "ktest", .nr_sectors = NR_SECTORS, .synchronous = true },
	.ops = &disk_ops
};

static void end_request(struct timer *t)
{
	(void)t;
	block_end(&disk, move(disk.active));
}

/* Neighbours in the file are not neighbours on the disk: each pair of blocks is swapped. */
static int map(struct inode *inode, u32 block, u32 max, bool create, struct extent *e)
{
	struct page *frame = hungry ? alloc_page(GFP_KERNEL) : NULL;

	(void)inode, (void)max;
	if (hungry && !frame)
		return -ENOMEM;
	if (frame)
		page_put(frame);
	*e = (struct extent){ .sector = SHIFT + (block ^ 1) * (BLOCK / SECTOR_SIZE), .blocks = 1 };
	if (block % 8 != HOLE)
		return 0;
	if (create && block >= 8 * 7)
		return -ENOSPC;
	e->fresh = create && !made[block];
	made[block] |= create;
	if (!made[block])
		e->sector = 0;
	return 0;
}

static const struct cache_ops ops = { .map = map };

static char *on_disk(u32 block)
{
	return memory + (SHIFT + (block ^ 1) * (BLOCK / SECTOR_SIZE)) * SECTOR_SIZE;
}

/* Returns a file of 16 pages whose blocks contain their numbers. */
static bool begin(void)
{
	user = ktest_user_begin(4 * PAGE_SIZE);
	memory = get_free_pages(GFP_KERNEL, ORDER);
	if (!user || !memory || vfs_open(NAME, O_RDWR | O_CREAT, 0600, &f))
		return false;
	memset(made, 0, sizeof(made));
	fails = fails_to_read = slow = hungry = false;
	timer_setup(&ending, end_request, false);
	for (u32 block = 0; block < 64; block++)
		memset(on_disk(block), 'A' + block % 26, BLOCK);
	disk_init(&disk);
	f->inode->cache.ops = &ops;
	f->inode->cache.bdev = &disk.whole;
	f->inode->block_bits = 10;
	f->inode->size = 16 * PAGE_SIZE;
	return true;
}

static void finish(void)
{
	file_put(f);
	EXPECT_EQ(vfs_unlink(NAME), 0);
	ktest_user_end();
	free_pages_at(memory, ORDER);
}

static char byte_at(u64 pos)
{
	char c = 0;

	EXPECT_EQ(vfs_read_at(f, user, 1, &pos), 1);
	ktest_user_read(&c, user, 1);
	return c;
}

static void put(u64 pos, const char *text)
{
	ktest_user_write(user, text, strlen(text));
	EXPECT_EQ(vfs_write_at(f, user, strlen(text), &pos), strlen(text));
}

static char *map_file(u32 nr_pages)
{
	return (char *)do_mmap(current->mm, 0, nr_pages * PAGE_SIZE, PROT_READ | PROT_WRITE,
			       MAP_SHARED, f->inode, 0);
}

static bool is_dirty(u32 index)
{
	return radix_has_tag(&f->inode->cache.pages, index, RADIX_DIRTY);
}

KTEST(cache, blocks_come_from_where_they_lie)
{
	if (!begin())
		return;
	for (u32 block = 0; block < 64; block++)
		EXPECT_EQ(byte_at(block * BLOCK + block),
			  block % 8 == HOLE ? 0 : 'A' + (int)block % 26);
	EXPECT_EQ(f->inode->cache.nr_pages, 16);
	EXPECT_EQ(cache_shrink(f->inode), 16);
	EXPECT_EQ(byte_at(0), 'A');
	finish();
}

KTEST(cache, two_writers_of_a_page_lose_nothing)
{
	char *mapped, c;

	if (!begin())
		return;
	mapped = map_file(2);
	EXPECT_EQ(copy_from_user(&c, mapped + BLOCK, 1), 0);
	EXPECT(c == 'B' && !is_dirty(0));
	put(10, "write");
	EXPECT_EQ(copy_to_user(mapped + 2 * BLOCK, "map", 3), 0);
	EXPECT(is_dirty(0));
	EXPECT_EQ(cache_sync(f->inode), 0);
	EXPECT(!is_dirty(0) && !f->inode->cache.nr_writeback);
	EXPECT(!memcmp(on_disk(0) + 10, "write", 5) && !memcmp(on_disk(2), "map", 3));
	/* the entry was made read-only again, so the next write is noticed */
	EXPECT_EQ(copy_to_user(mapped + 2 * BLOCK, "MAP", 3), 0);
	EXPECT(is_dirty(0));
	EXPECT_EQ(cache_sync(f->inode), 0);
	EXPECT(!memcmp(on_disk(2), "MAP", 3) && !memcmp(on_disk(0) + 10, "write", 5));
	finish();
}

KTEST(cache, holes_get_a_place_with_the_first_write)
{
	if (!begin())
		return;
	put(HOLE * BLOCK + 3, "x");
	EXPECT(made[HOLE]);
	EXPECT_EQ(cache_sync(f->inode), 0);
	EXPECT(on_disk(HOLE)[3] == 'x' && on_disk(HOLE)[2] == 0 && on_disk(HOLE)[4] == 0);
	finish();
}

KTEST(cache, no_space_is_said_by_write)
{
	u64 pos = (8 * 7 + HOLE) * BLOCK;

	if (!begin())
		return;
	EXPECT_EQ(vfs_write_at(f, user, 1, &pos), -ENOSPC);
	EXPECT(!is_dirty(pos / PAGE_SIZE) && !f->inode->cache.reach);
	EXPECT_EQ(byte_at(pos), 0);
	finish();
}

KTEST(cache, truncated_pages_are_gone_from_mappings)
{
	char *mapped, c;

	if (!begin())
		return;
	mapped = map_file(4);
	for (u32 i = 0; i < 4; i++)
		EXPECT_EQ(copy_to_user(mapped + i * PAGE_SIZE, "dirty", 5), 0);
	EXPECT_EQ(vfs_truncate(f->inode, PAGE_SIZE + 2), 0);
	EXPECT_EQ(current->mm->count.file, 2);
	EXPECT_EQ(copy_from_user(&c, mapped + 2 * PAGE_SIZE, 1), -EFAULT);
	EXPECT_EQ(copy_from_user(&c, mapped + PAGE_SIZE + 1, 1), 0);
	EXPECT_EQ(c, 'i');
	EXPECT_EQ(copy_from_user(&c, mapped + PAGE_SIZE + 2, 1), 0);
	EXPECT_EQ(c, 0); /* after the end */
	EXPECT_EQ(cache_sync(f->inode), 0);
	EXPECT(on_disk(4)[1] == 'i' && !on_disk(4)[2] && !on_disk(4)[BLOCK - 1]);
	EXPECT(memcmp(on_disk(8), "dirty", 5)); /* never written */
	finish();
}

KTEST(cache, what_could_not_be_written_stays_dirty)
{
	if (!begin())
		return;
	put(0, "new");
	fails = true;
	EXPECT_EQ(cache_sync(f->inode), -EIO);
	EXPECT(is_dirty(0));
	EXPECT(memcmp(on_disk(0), "new", 3));
	fails = false;
	EXPECT_EQ(cache_sync(f->inode), 0); /* the error was reported once already */
	EXPECT(!is_dirty(0) && !memcmp(on_disk(0), "new", 3));
	finish();
}

KTEST(cache, a_write_behind_the_end_may_be_written_back_before_it_is_over)
{
	if (!begin())
		return;
	f->inode->size = PAGE_SIZE;
	put(PAGE_SIZE, "abc");
	f->inode->size = PAGE_SIZE; /* as it is until the copy is complete */
	f->inode->cache.reach = PAGE_SIZE + 3;
	EXPECT_EQ(cache_sync(f->inode), 0);
	EXPECT(!memcmp(on_disk(4), "abc", 3));
	f->inode->size = PAGE_SIZE + 3;
	f->inode->cache.reach = 0;
	EXPECT_EQ(byte_at(PAGE_SIZE), 'a');
	finish();
}

/* Blocks of metadata of 1 KiB in the disk's own file. */
KTEST(cache, only_sectors_of_dirty_blocks_are_written)
{
	struct super_block sb = { .bdev = &disk.whole, .block_size = BLOCK };
	struct buf a, b;
	struct page *page;

	if (!begin())
		return;
	cache_init_device(f->inode, &disk.whole);
	EXPECT_EQ(buf_read(&sb, 33, &a), 0);
	EXPECT_EQ(buf_new(&sb, 34, &b), 0);
	EXPECT_EQ(a.page, b.page);
	EXPECT(a.data == (char *)page_address(a.page) + BLOCK && !b.data[0]);
	strlcpy(a.data, "block 33", BLOCK);
	buf_dirty(&a);
	page = a.page;
	memset(memory + 32 * BLOCK, '!', BLOCK); /* a write past the cache */
	EXPECT_EQ(page->sectors, 0x3C);
	buf_forget(&sb, 34);
	EXPECT_EQ(page->sectors, 0x0C);
	buf_put(&a);
	buf_put(&b);
	memset(memory + 34 * BLOCK, '?', BLOCK);
	EXPECT_EQ(buf_sync_all(&disk.whole), 0);
	EXPECT_STREQ(memory + 33 * BLOCK, "block 33");
	EXPECT(memory[32 * BLOCK] == '!' && memory[34 * BLOCK] == '?');
	disk.whole.inode = NULL;
	finish();
}

KTEST(cache, a_short_read_in_the_middle_reads_one_page)
{
	if (!begin())
		return;
	EXPECT_EQ(byte_at(8 * PAGE_SIZE), 'A' + 32 % 26);
	EXPECT_EQ(f->inode->cache.nr_pages, 1);
	finish();
}

/* Writes of dirty pages are started. */
KTEST(cache, whole_pages_that_are_not_needed_go)
{
	enum { DONTNEED = 4 }; /* POSIX_FADV_DONTNEED */

	if (!begin())
		return;
	for (u32 i = 0; i < 16; i++)
		EXPECT_EQ(byte_at(i * PAGE_SIZE), 'A' + i * 4 % 26);
	put(6 * PAGE_SIZE, "new");
	EXPECT_EQ(cache_advise(f, 4 * PAGE_SIZE + 1, 4 * PAGE_SIZE - 1, DONTNEED), 0);
	EXPECT_EQ(f->inode->cache.nr_pages, 16 - 3);
	EXPECT(cache_find(f->inode, 4) && !cache_find(f->inode, 5));
	EXPECT(!cache_find(f->inode, 7) && cache_find(f->inode, 8));
	EXPECT(!memcmp(on_disk(24), "new", 3));
	finish();
}

KTEST(cache, a_file_without_a_store_is_not_shrunk)
{
	if (!begin())
		return;
	f->inode->cache.ops = NULL;
	put(0, "kept");
	EXPECT_EQ(cache_shrink(f->inode), 0);
	EXPECT_EQ(f->inode->cache.nr_pages, 1);
	finish();
}

KTEST(cache, who_maps_a_page_owns_it)
{
	struct page *page;
	char *mapped, c;

	if (!begin())
		return;
	EXPECT_EQ(byte_at(0), 'A');
	page = cache_find(f->inode, 0);
	EXPECT(!page_mm(page));
	mapped = map_file(1);
	EXPECT_EQ(copy_from_user(&c, mapped, 1), 0);
	EXPECT_EQ(page_mm(page), current->mm);
	EXPECT(!page_is_executable(page)); /* until a program may execute it */
	EXPECT_EQ(do_mprotect(current->mm, (u32)mapped, PAGE_SIZE, PROT_READ | PROT_EXEC), 0);
	EXPECT(page_is_executable(page));
	EXPECT_EQ(do_munmap(current->mm, (u32)mapped, PAGE_SIZE), 0);
	EXPECT(!page_mm(page));
	finish();
}

static void begin_to_write(const char *text)
{
	put(0, text);
	slow = true;
	EXPECT_EQ(cache_write_range(f->inode, 0, 0, 1, false), 1);
	EXPECT_EQ(f->inode->cache.nr_writeback, 1);
}

KTEST(cache, sync_waits_for_what_is_being_written_and_keeps_no_page)
{
	struct page *page;
	u32 count;

	if (!begin())
		return;
	begin_to_write("sync");
	page = cache_find(f->inode, 0);
	count = page->count;
	EXPECT_EQ(cache_sync(f->inode), 0);
	EXPECT(!memcmp(on_disk(0), "sync", 4));
	EXPECT_EQ(page->count, count);
	finish();
}

KTEST(cache, what_is_being_written_is_cut_off_afterwards)
{
	if (!begin())
		return;
	begin_to_write("cut");
	EXPECT_EQ(vfs_truncate(f->inode, 0), 0);
	EXPECT_EQ(f->inode->cache.nr_writeback, 0);
	EXPECT(!memcmp(on_disk(0), "cut", 3));
	finish();
}

/* The task that holds memory may be waiting for pages that have not been sent yet. */
KTEST(cache, who_writes_does_not_wait_for_memory)
{
	struct page *page, *next;
	u64 stalls = vm_events[VM_allocstall];
	LIST_HEAD(held);

	if (!begin())
		return;
	put(0, "few");
	while (nr_free_pages() > 8 && (page = alloc_page(GFP_RESERVE | GFP_HIGH)))
		list_add(&page->lru, &held);
	hungry = true;
	EXPECT_EQ(cache_sync(f->inode), 0);
	EXPECT(vm_events[VM_allocstall] == stalls && !memcmp(on_disk(0), "few", 3));
	list_for_each_entry_safe(page, next, &held, lru)
		free_pages(page, 0);
	put(0, "none");
	param_set("fail", "alloc:1", NULL, 0);
	EXPECT_EQ(cache_write_range(f->inode, 0, 0, 1, false), 0);
	EXPECT(is_dirty(0) && !f->inode->cache.nr_writeback);
	param_set("fail", "alloc:1", NULL, 0);
	EXPECT_EQ(cache_sync(f->inode), 0); /* this sync waits for memory, with no page begun */
	EXPECT(!is_dirty(0) && !memcmp(on_disk(0), "none", 4));
	finish();
}

static void writer(void *inode)
{
	cache_write_range(inode, 0, ~0u, ~0u, true);
	do_exit(0);
}

/* The writer waits for the page that cache_drop has locked, and finds no page afterwards. */
KTEST(cache, pages_go_for_good_when_no_writer_looks_for_them)
{
	if (!begin())
		return;
	begin_to_write("one");
	put(0, "two");
	kthread_create("writer", 0, writer, f->inode);
	cache_drop(f->inode);
	EXPECT_EQ(f->inode->cache.nr_pages, 0);
	EXPECT_EQ(f->inode->cache.nr_writers, 0);
	finish();
}

KTEST(cache, a_page_that_cannot_be_read_is_let_go)
{
	u64 pos = 3 * PAGE_SIZE;
	struct page *page;

	if (!begin())
		return;
	slow = fails_to_read = true;
	cache_prefetch(f->inode, 3, 1);
	page = cache_find(f->inode, 3);
	page_get(page);
	EXPECT(page_test(page, PG_owned)); /* unowned by any process, but the policy may evict it */
	EXPECT_EQ(vfs_read_at(f, user, 1, &pos), -EIO);
	EXPECT(!page->inode && !page_test(page, PG_locked));
	EXPECT_EQ(page->count, 1);
	page_put(page);
	fails_to_read = false;
	EXPECT_EQ(byte_at(pos), 'A' + 12);
	finish();
}

static int map_nothing(struct inode *inode, u32 block, u32 max, bool create, struct extent *e)
{
	(void)inode, (void)block, (void)create;
	*e = (struct extent){ .blocks = max };
	return 0;
}

/* Evicts a page as reclaim does. */
static void evict(u32 index)
{
	struct page *page;

	EXPECT_EQ(cache_get_page(f->inode, index, &page), 0);
	page_put(page);
	policy_call_remove(page, VM_OUT_FREED);
	cache_evict(page);
}

/* There may be twice as many shadows as frames. */
KTEST(cache, shadows_go_with_their_file_and_make_room_for_others)
{
	static const struct cache_ops holes = { .map = map_nothing };

	if (!begin())
		return;
	f->inode->cache.ops = &holes;
	for (u32 nr = 0; nr <= 2 * nr_managed_pages(); nr += 16) {
		for (u32 i = 0; i < 16; i++)
			evict(i);
		EXPECT(is_shadow(radix_find(&f->inode->cache.pages, 15)));
		f->inode->size = 0;
		cache_truncate(f->inode, 0);
		f->inode->size = 16 * PAGE_SIZE;
	}
	finish();
}
