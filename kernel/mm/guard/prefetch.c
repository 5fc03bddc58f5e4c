/*
 * prefetch: when the machine has been idle for a while and has free memory, the pages evicted last
 * are read back before they are needed.
 *
 * Problem. A large program runs for a while and pushes all others into the swap area. It ends, and
 * leaves much free memory and an idle disk. Still each of the others must wait for the disk, page
 * by page, when it is used again: demand paging reads a page only when a process needs it.
 *
 * Idea. Use the idle time. Record which pages are evicted. When nothing has happened for some
 * seconds, read them back, newest first: the page evicted last was used last. (C. Kolivas, swap
 * prefetch, patches to Linux 2.6.13 and later, in the -ck series and in 2.6.16-mm to 2.6.22-mm,
 * 2005 to 2007: mm/swap_prefetch.c, after T. Schlichter.) It protects no process; it repairs the
 * effects of thrashing.
 *
 *	remembers  evicted pages, by where they can be read again; at most two thirds of
 *	           the number of frames: the oldest are dropped
 *	waits      until for delay_ms no process has had to read a page, no page was evicted, and the
 *	           processor was idle (at least nine tenths of the time)
 *	reads      while enough frames are free: begins above four times the high watermarks, ends
 *	           at three times, so that it never makes kswapd evict
 *	stops      at the first fault, eviction or shortage, and waits again
 *
 * Pages read back lie in the swap cache. The policy has them as read ahead, and their slots are
 * kept. So a page that is still unused when memory is short again is dropped without a write. A
 * page is read together with its neighbours, and those are usually requested next; that request
 * then costs nothing.
 *
 * An idle machine sleeps: the guard requests ticks only while there is something to read and room
 * for it, and once more each time after the machine was awake, because memory may have been freed
 * then.
 *
 * Left out: the patch also keeps a third of memory free, for pages of files, and stops while pages
 * are being written; laptop mode. Its list loses a page as soon as that page is read again. Here no
 * hook reports that, and a request for a resident page does nothing.
 */
#include "mm/guard.h"
#include "mm/ghost.h"

#define NS_PER_MS 1000000ull
#define TICK_MS 100
#define BEGIN_AT 4 /* in high watermarks */
#define END_AT 3
#define CLUSTER 8 /* frames that one read may take, with the default vm.page_cluster */

static u32 delay_ms = 5000, batch = 32;

static const struct vm_param prefetch_params[] = {
	{ "delay_ms", &delay_ms, 0, 3600000, "ms", "calm time before it reads" },
	{ "batch", &batch, 1, 32, "pages", "requested at once, ten times a second" },
	{ 0 },
};

static struct ghosts swapped;
static struct list_head order; /* the ghosts, newest first */
static bool disturbed;         /* since the last tick */
static bool reading;
static u64 calm_ns;         /* time since when nothing has happened */
static u64 last_ns, idle_ns; /* of the last tick; the machine's idle time then */
static u64 nr_asked, nr_stopped;

static int prefetch_init(void)
{
	INIT_LIST_HEAD(&order);
	return ghosts_init(&swapped, vm_frames() / 3 * 2 + 1);
}

static void disturb(void)
{
	disturbed = true;
	nr_stopped += reading;
	reading = false;
}

static void prefetch_evicted(struct page *page, struct mm_struct *owner, struct page_id to)
{
	(void)page, (void)owner;
	if (swapped.nr == swapped.capacity && !ghost_find(&swapped, to))
		ghost_drop(&swapped, list_last_entry(&order, struct ghost, node));
	list_add(&ghost_add(&swapped, to)->node, &order);
	disturb();
}

static void prefetch_forget(struct page_id id)
{
	struct ghost *ghost = ghost_find(&swapped, id);

	if (ghost)
		ghost_drop(&swapped, ghost);
}

static void prefetch_fault(struct mm_struct *mm)
{
	(void)mm;
	disturb();
}

static void prefetch_pressure(bool min)
{
	(void)min;
	disturb();
}

/* Reads back the newest pages, as many as there is room for. */
static void read_some(u32 room)
{
	for (u32 n = MIN(batch, room / CLUSTER); n && swapped.nr; n--) {
		struct ghost *ghost = list_first_entry(&order, struct ghost, node);

		if (!vm_prefetch(ghost->id))
			return;
		ghost_drop(&swapped, ghost);
		nr_asked++;
	}
}

static bool prefetch_tick(void)
{
	u64 now = vm_now(), idle = vm_idle(), passed = now - last_ns;
	bool was_idle = !disturbed && 10 * (idle - idle_ns) >= 9 * passed;
	bool was_asleep = passed > 2 * TICK_MS * NS_PER_MS;
	u32 room = vm_free(reading ? END_AT : BEGIN_AT);

	if (!was_idle)
		calm_ns = now;
	reading = swapped.nr && room >= CLUSTER && now - calm_ns >= delay_ms * NS_PER_MS;
	if (reading)
		read_some(room);
	disturbed = false;
	last_ns = now;
	idle_ns = idle;
	return swapped.nr && (room >= CLUSTER || !was_idle || was_asleep);
}

static void prefetch_show(struct seq_file *m)
{
	show_u64(m, "remembered", swapped.nr);
	show_u64(m, "reading", reading);
	show_u64(m, "asked", nr_asked);
	show_u64(m, "stopped", nr_stopped);
}

static const struct vm_guard prefetch = {
	.name = "prefetch",
	.summary = "an idle machine with free memory reads back what was evicted last",
	.tick_ms = TICK_MS,
	.params = prefetch_params,
	.init = prefetch_init,
	.fault = prefetch_fault,
	.pressure = prefetch_pressure,
	.tick = prefetch_tick,
	.evicted = prefetch_evicted,
	.forget = prefetch_forget,
	.show = prefetch_show,
};
VM_GUARD(prefetch);
