/*
 * Writeback: the thread that writes dirty pages, and the throttling of writers.
 *
 * While any page is dirty, the thread is woken every dirty_writeback_centisecs and writes the files that
 * have been dirty for dirty_expire_centisecs. It is also woken when more pages are dirty than
 * dirty_background_ratio permits, and then writes the oldest files until the number is below that. A
 * program that writes to a file is throttled while more pages than dirty_ratio are dirty or being written.
 *
 * A file whose pages cannot be written stays dirty and is tried again when it has expired again; no
 * task waits for a device that writes nothing. With laptop_mode, everything is written laptop_mode
 * seconds after the disk was read, since the disk runs then anyway.
 *
 * While nothing is dirty no timer runs. A machine without disks for files does not have this thread.
 */
#include "arch/irq.h"
#include "arch/time.h"
#include "internal.h"
#include "lib/param.h"
#include "limits.h"
#include "sched/task.h"
#include "sched/timer.h"
#include "sched/wait.h"

#define BATCH 1024u /* pages of one file, before the next file has its turn */

LIST_HEAD(dirty_caches);

static struct dirty_knobs knobs = {
	.background_ratio = 10, .ratio = 20, .expire_centisecs = 3000, .writeback_centisecs = 500
};

static void look_anew(void);

PARAM_U32("vm.dirty_background_ratio", knobs.background_ratio, 0, 100, "%",
	  "of memory dirty: it is written in the background");
PARAM_U32("vm.dirty_ratio", knobs.ratio, 0, 100, "%",
	  "of memory dirty before writers are throttled");
PARAM_U32("vm.dirty_expire_centisecs", knobs.expire_centisecs, 0, 360000, "10 ms",
	  "how long a file may be dirty");
PARAM_U32("vm.dirty_writeback_centisecs", knobs.writeback_centisecs, 0, 360000, "10 ms",
	  "time between two looks for dirty pages; 0: never", .changed = look_anew);
PARAM_U32("vm.laptop_mode", knobs.laptop_seconds, 0, 3600, "s",
	  "after the disk was read from, all that is dirty is written; 0: not");

static WAIT_QUEUE(thread_wait);
static WAIT_QUEUE(writers_wait);
static struct timer look_timer, laptop_timer;
static bool look_due, laptop_due; /* irq */
static bool background_due;
static u32 nr_written;            /* irq: number of pages written successfully */
static bool stuck;                /* the last round wrote no page */

static u32 dirtyable(void)
{
	return nr_free_pages() + cache_nr_stored - cache_nr_shmem;
}

static bool over_background(void)
{
	return cache_nr_dirty > dirty_background(&knobs, dirtyable());
}

static bool over_limit(void)
{
	return cache_nr_dirty + cache_nr_writeback > dirty_limit(&knobs, dirtyable());
}

static void look_fire(struct timer *t)
{
	(void)t;
	look_due = true;
	wake_up(&thread_wait);
}

static void laptop_fire(struct timer *t)
{
	(void)t;
	laptop_due = true;
	wake_up(&thread_wait);
}

static void start_look_timer(void)
{
	u64 at;

	if (look_timer.armed)
		return;
	at = dirty_look_ns(&knobs, clock_ns());
	if (at)
		timer_start(&look_timer, at);
}

/* Starts a running timer again after the interval has changed. */
static void look_anew(void)
{
	timer_stop(&look_timer);
	if (cache_nr_dirty || cache_nr_writeback)
		start_look_timer();
}

void writeback_disk_runs(void)
{
	if (knobs.laptop_seconds && cache_nr_dirty && !laptop_timer.armed)
		timer_start(&laptop_timer, clock_ns() + knobs.laptop_seconds * 1000000000ull);
}

void writeback_progress(bool written)
{
	nr_written += written;
	if (!list_empty(&writers_wait.waiters))
		wake_up(&writers_wait);
}

/* A device that fails must not block its writers forever, nor those of other devices. */
void writeback_throttle(struct page_cache *cache)
{
	while (unlikely(over_limit()) && !cache->failing && !stuck &&
	       !fatal_signal_pending(current)) {
		u32 before = nr_written;

		background_due = true;
		wake_up(&thread_wait);
		wait_event(&writers_wait, nr_written != before || stuck || !over_limit());
	}
}

bool writeback_hopeless(const struct page_cache *cache)
{
	return unlikely(stuck) && cache->failing && over_limit();
}

/* The file that has been dirty longest, or NULL if there is none (expired: none old enough). */
static struct inode *oldest(u64 now_ns, bool expired)
{
	struct page_cache *cache;

	if (list_empty(&dirty_caches))
		return NULL;
	cache = list_first_entry(&dirty_caches, struct page_cache, dirty);
	if (expired && !dirty_expired(&knobs, now_ns, cache->dirtied_ns))
		return NULL;
	return container_of(cache, struct inode, cache);
}

/* Writes some pages of the file. Those that remain dirty have their next turn after all other
 * files. */
static void write_some(struct inode *inode)
{
	struct page_cache *cache = &inode->cache;
	unsigned long flags = irq_save();

	list_move_tail(&cache->dirty, &dirty_caches);
	cache->dirtied_ns = clock_ns();
	irq_restore(flags);
	if (unlikely(cache->held))
		cache_commit(inode);
	else
		cache_write_range(inode, 0, ~0u, BATCH, false);
}

/* Writes each file that is dirty now, once. expired: only files that are old enough. */
static void write_round(bool expired)
{
	u64 now_ns = clock_ns();
	struct inode *inode;

	while ((inode = oldest(now_ns, expired)) && inode->cache.dirtied_ns <= now_ns &&
	       (expired || laptop_due || over_background())) {
		write_some(inode);
		cond_resched();
	}
}

static void wait_for_device(void)
{
	u32 before = nr_written;

	if (cache_nr_writeback)
		wait_event(&writers_wait, nr_written != before || !cache_nr_writeback);
}

static void write_background(void)
{
	while (over_background()) {
		u32 before = nr_written;

		write_round(false);
		wait_for_device();
		stuck = nr_written == before;
		if (stuck)
			break;
	}
	wake_up(&writers_wait);
}

static void writeback_thread(void *arg)
{
	(void)arg;
	for (;;) {
		wait_event_interruptible(&thread_wait, look_due || laptop_due || background_due);
		if (look_due) {
			look_due = false;
			write_round(true);
			if (cache_nr_dirty || cache_nr_writeback) /* writes may fail */
				start_look_timer();
		}
		if (laptop_due) {
			write_round(false);
			laptop_due = false;
		}
		write_background();
		background_due = false;
	}
}

u32 writeback_nr_threads;

void writeback_start(void)
{
	if (writeback_nr_threads)
		return;
	writeback_nr_threads = 1;
	timer_setup(&look_timer, look_fire, false);
	timer_setup(&laptop_timer, laptop_fire, false);
	kthread_create("writeback", 0, writeback_thread, NULL);
}

void writeback_note(void)
{
	writeback_start();
	start_look_timer();
	if (background_due || !over_background())
		return;
	background_due = true;
	wake_up(&thread_wait);
}
