/* Tests of pipes in the running kernel. One task uses both ends, so no call may have to wait. */
#include "fs/pipe.h"

#include "internal.h"
#include "ktest_user.h"
#include "lib/ktap.h"
#include "lib/string.h"
#include "mm/slab.h"
#include "mm/zone.h"
#include "sched/current.h"

#define USER_BYTES (20 * PAGE_SIZE)

static struct file *end[2];
static u8 *user;

static bool begin(void)
{
	user = ktest_user_begin(USER_BYTES);
	if (!user)
		return false;
	EXPECT_EQ(do_pipe(end, O_NONBLOCK), 0);
	return true;
}

static void finish(void)
{
	if (end[0])
		file_put(end[0]);
	if (end[1])
		file_put(end[1]);
	end[0] = end[1] = NULL;
	current->sig.pending &= ~(1ull << (SIGPIPE - 1));
	ktest_user_end();
}

KTEST(pipe, delivers_bytes_in_order)
{
	char got[6] = "";

	if (!begin())
		return;
	ktest_user_write(user, "abcde", 5);
	EXPECT_EQ(vfs_write(end[1], user, 3), 3);
	EXPECT_EQ(vfs_write(end[1], user + 3, 2), 2);
	EXPECT_EQ(vfs_read(end[0], user + 100, 4), 4);
	EXPECT_EQ(vfs_read(end[0], user + 104, 50), 1);
	ktest_user_read(got, user + 100, 5);
	EXPECT_STREQ(got, "abcde");
	finish();
}

KTEST(pipe, empty_is_eagain_then_end_of_file)
{
	if (!begin())
		return;
	EXPECT_EQ(vfs_read(end[0], user, 1), -EAGAIN);
	EXPECT_EQ(file_poll(end[0]), 0);
	ktest_user_write(user, "x", 1);
	vfs_write(end[1], user, 1);
	file_put(end[1]);
	end[1] = NULL;
	EXPECT_EQ(file_poll(end[0]), POLLIN | POLLHUP);
	EXPECT_EQ(vfs_read(end[0], user, 10), 1);
	EXPECT_EQ(vfs_read(end[0], user, 10), 0);
	finish();
}

KTEST(pipe, without_reader_is_epipe_and_sigpipe)
{
	if (!begin())
		return;
	file_put(end[0]);
	end[0] = NULL;
	EXPECT_EQ(file_poll(end[1]), POLLOUT | POLLERR);
	EXPECT_EQ(vfs_write(end[1], user, 1), -EPIPE);
	EXPECT(current->flags & TF_KTHREAD || current->sig.pending >> (SIGPIPE - 1) & 1);
	finish();
}

KTEST(pipe, small_writes_are_whole_or_nothing)
{
	if (!begin())
		return;
	EXPECT_EQ(vfs_write(end[1], user, 16 * PAGE_SIZE), 16 * PAGE_SIZE);
	EXPECT_EQ(vfs_write(end[1], user, 1), -EAGAIN);
	EXPECT_EQ(vfs_read(end[0], user, 100), 100);
	EXPECT_EQ(vfs_write(end[1], user, 101), -EAGAIN);
	EXPECT_EQ(vfs_write(end[1], user, 100), 100);
	EXPECT_EQ(vfs_read(end[0], user, 5000), 5000);
	EXPECT_EQ(vfs_write(end[1], user, 6000), 5000); /* more than PIPE_BUF: partial write */
	finish();
}

KTEST(pipe, bad_buffers_are_efault_and_lose_nothing)
{
	char got = 0;

	if (!begin())
		return;
	EXPECT_EQ(vfs_write(end[1], NULL, 1), -EFAULT);
	ktest_user_write(user, "k", 1);
	EXPECT_EQ(vfs_write(end[1], user, 1), 1);
	EXPECT_EQ(vfs_read(end[0], (void *)KERNEL_BASE, 1), -EFAULT);
	EXPECT_EQ(vfs_read(end[0], user + 1, 1), 1);
	ktest_user_read(&got, user + 1, 1);
	EXPECT_EQ(got, 'k');
	finish();
}

KTEST(pipe, wrong_ends_are_ebadf)
{
	if (!begin())
		return;
	EXPECT_EQ(vfs_write(end[0], user, 1), -EBADF);
	EXPECT_EQ(vfs_read(end[1], user, 1), -EBADF);
	EXPECT_EQ(vfs_read_at(end[0], user, 1, &end[0]->pos), -ESPIPE);
	finish();
}

/* Returns the byte at a position in the stream. */
static u8 stream_byte(u32 at)
{
	return at * 31 >> 3;
}

static u32 write_some(u32 at, u32 n)
{
	static u8 buf[9000];
	long moved;

	for (u32 i = 0; i < n; i++)
		buf[i] = stream_byte(at + i);
	ktest_user_write(user, buf, n);
	moved = vfs_write(end[1], user, n);
	return moved > 0 ? moved : 0;
}

static u32 read_some(u32 at, u32 n)
{
	static u8 buf[9000];
	long moved = vfs_read(end[0], user, n);
	u32 wrong = 0;

	if (moved <= 0)
		return 0;
	ktest_user_read(buf, user, moved);
	for (long i = 0; i < moved; i++)
		wrong += buf[i] != stream_byte(at + i);
	EXPECT_EQ(wrong, 0);
	return moved;
}

KTEST(pipe, carries_a_long_stream_and_frees_all)
{
	u32 seed = 7, objects, in = 0, out = 0;

	if (!begin())
		return;
	finish(); /* the slabs and tables for the first use exist now */
	objects = slab_objects_in_use();
	if (!begin())
		return;
	for (int i = 0; i < 300; i++) {
		in += write_some(in, ktap_random(&seed) % 9000 + 1);
		out += read_some(out, ktap_random(&seed) % 9000 + 1);
		EXPECT(out <= in && in - out <= 16 * PAGE_SIZE);
	}
	EXPECT(in > 100 * PAGE_SIZE);
	finish();
	EXPECT_EQ(slab_objects_in_use(), objects);
}
