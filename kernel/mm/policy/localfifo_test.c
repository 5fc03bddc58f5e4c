/* Local FIFO with several processes: quotas, and which process gives up which page. One process
 * alone is compared with tests/kernel/models/localfifo.py. */
#include "localfifo.c"

#include "../../lib/seq_file.c"
#include "host/fake_core.h"

#define FIRST_PASS 12
#define FRAMES 620

static u32 next_frame;

static struct mm_struct *begin(u32 demand)
{
	struct mm_struct *mm = core_mm_new();

	mm->demand = demand;
	return mm;
}

static void start(u32 frames)
{
	share = strict = 1;
	pages = next_frame = 0;
	unowned_percent = 20;
	core_start(&localfifo, frames);
}

/* Gives mm (NULL: no process) the next n frames. */
static void fault_in(struct mm_struct *mm, u32 n)
{
	for (; n; n--)
		core_insert(&mem_map[next_frame++], mm, mm ? VM_IN_FAULT : VM_IN_READ,
			    (struct page_id){ 0 });
}

/* Evicts a page. Returns its frame number. */
static u32 evict(void)
{
	struct vm_scan scan = policy_scan(ZONES_ALL, FIRST_PASS);
	struct page *page = core_select(&scan);

	if (!page)
		return UINT32_MAX;
	core_drop_isolated(page);
	return page - mem_map;
}

/* The textbook's example, ten times as large: of 62 frames, processes of 10 and 127 pages get 4
 * and 57. */
KTEST(localfifo, quotas_are_proportional_or_equal_or_given)
{
	struct mm_struct *student, *database;

	start(FRAMES);
	student = begin(100);
	database = begin(1270);
	EXPECT_EQ(partition_of(student)->quota, NO_QUOTA);
	EXPECT(!localfifo_tick());
	EXPECT_EQ(partition_of(student)->quota, 45);
	EXPECT_EQ(partition_of(database)->quota, 574);
	share = 0;
	localfifo_tick();
	EXPECT_EQ(partition_of(student)->quota, 310);
	EXPECT_EQ(partition_of(database)->quota, 310);
	pages = 77;
	localfifo_tick();
	EXPECT_EQ(partition_of(student)->quota, 77);
	EXPECT_EQ(partition_of(database)->quota, 77);
	core_stop();
}

/* A process of almost no size, and a quota that is too small for one instruction. */
KTEST(localfifo, quota_is_enough_for_an_instruction)
{
	struct mm_struct *tiny;

	start(FRAMES);
	tiny = begin(0);
	begin(100000);
	localfifo_tick();
	EXPECT_EQ(partition_of(tiny)->quota, MIN_QUOTA);
	pages = 1;
	localfifo_tick();
	EXPECT_EQ(partition_of(tiny)->quota, MIN_QUOTA);
	core_stop();
}

KTEST(localfifo, process_alone_has_all_of_memory)
{
	struct mm_struct *mm;

	start(FRAMES);
	mm = begin(5);
	localfifo_tick();
	EXPECT_EQ(partition_of(mm)->quota, FRAMES);
	fault_in(mm, FRAMES);
	EXPECT_EQ(localfifo_surplus(mm), 0);
	EXPECT_EQ(evict(), 0);
	core_stop();
}

/* The first process sleeps; its pages are the oldest of all. Both are at their quotas, so the older
 * process pays once; from then on it is below its quota, and the other pays for its own faults. */
KTEST(localfifo, process_that_faults_pays_and_not_one_that_sleeps)
{
	struct mm_struct *sleeper, *faulter;

	start(FRAMES);
	share = 0;
	sleeper = begin(1);
	sleeper->sleeps = true;
	faulter = begin(1);
	fault_in(sleeper, 310);
	fault_in(faulter, 310);
	for (u32 i = 0; i < 200; i++) {
		localfifo_tick();
		next_frame = evict();
		EXPECT_EQ(next_frame, i ? 310 + i - 1 : 0);
		fault_in(faulter, 1);
	}
	EXPECT_EQ(partition_of(sleeper)->nr, 309);
	EXPECT_EQ(nr_over, 199);
	EXPECT_EQ(nr_within, 1);
	core_stop();
}

/* 3 * 100 of 620 frames: a process loses what it has above its quota, and 320 frames are free. */
KTEST(localfifo, quotas_smaller_than_memory_leave_frames_unused)
{
	struct mm_struct *mm;

	start(FRAMES);
	pages = 100;
	mm = begin(1);
	begin(1);
	begin(1);
	localfifo_tick();
	fault_in(mm, 100 + CLUSTER - 1);
	EXPECT_EQ(localfifo_surplus(mm), 0);
	fault_in(mm, 1);
	EXPECT_EQ(localfifo_surplus(mm), CLUSTER);
	strict = 0;
	EXPECT_EQ(localfifo_surplus(mm), 0);
	fault_in(mm, FRAMES - next_frame);
	EXPECT_EQ(partition_of(mm)->nr, FRAMES);
	core_stop();
}

/* 2 * 1000 of 620 frames: no process reaches its quota, and the largest pays. */
KTEST(localfifo, quotas_larger_than_memory_let_the_largest_pay)
{
	struct mm_struct *small, *large;

	start(FRAMES);
	pages = 1000;
	small = begin(1);
	large = begin(1);
	localfifo_tick();
	fault_in(small, 200);
	fault_in(large, 420);
	for (u32 i = 0; i < 220; i++)
		EXPECT_EQ(evict(), 200 + i);
	EXPECT_EQ(partition_of(large)->nr, 200);
	EXPECT_EQ(nr_over, 0);
	EXPECT_EQ(evict(), 0); /* equally large: the older process */
	EXPECT_EQ(evict(), 420);
	core_stop();
}

/* The empty partition has room for 8 pages, the other two have room for more. */
KTEST(localfifo, empty_partition_does_not_pay)
{
	struct mm_struct *far, *near;

	start(FRAMES);
	begin(0);
	far = begin(100);
	near = begin(100);
	localfifo_tick();
	fault_in(far, 100);
	fault_in(near, 200);
	EXPECT_EQ(evict(), 100);
	core_stop();
}

KTEST(localfifo, unowned_pages_have_a_partition)
{
	struct mm_struct *mm;

	start(FRAMES);
	mm = begin(10);
	fault_in(mm, 400);
	fault_in(NULL, 100);
	localfifo_tick();
	EXPECT_EQ(unowned.quota, 124);
	EXPECT_EQ(partition_of(mm)->quota, 520);
	EXPECT_EQ(evict(), 400); /* 24 pages below the quota; the process is 120 below its own */
	fault_in(mm, 120);
	localfifo_tick();
	EXPECT_EQ(evict(), 0); /* the process is closer, by 1 to 25 */
	fault_in(NULL, FRAMES - next_frame);
	localfifo_tick();
	for (u32 i = 1; i < 3; i++)
		EXPECT_EQ(evict(), i);
	core_stop();
}

/* After a fork the parent owns the pages. When it ends, the child gets them, and then no process. */
KTEST(localfifo, page_counts_for_its_owner)
{
	struct mm_struct *parent, *child;

	start(FRAMES);
	parent = begin(10);
	fault_in(parent, 20);
	child = begin(10);
	fault_in(child, 5);
	localfifo_tick();
	EXPECT_EQ(partition_of(child)->quota, 310);
	core_mm_end(parent, child);
	EXPECT_EQ(partition_of(child)->nr, 25);
	core_expect_count();
	localfifo_tick();
	EXPECT_EQ(partition_of(child)->quota, FRAMES);
	EXPECT_EQ(evict(), 20); /* its own pages came before those that it got */
	policy_call_moved(&mem_map[21], NULL);
	EXPECT_EQ(unowned.nr, 1);
	EXPECT_EQ(partition_of(child)->nr, 23);
	core_expect_count();
	core_stop();
}

/* The chosen process's pages are all locked for I/O. */
KTEST(localfifo, other_partition_pays_if_no_page_is_eligible)
{
	struct mm_struct *busy, *other;

	start(FRAMES);
	other = begin(10);
	busy = begin(10);
	fault_in(other, 10);
	fault_in(busy, 20);
	localfifo_tick();
	for (u32 i = 10; i < 30; i++)
		page_set(&mem_map[i], PG_locked);
	EXPECT_EQ(evict(), 0);
	page_clear(&mem_map[25], PG_locked);
	EXPECT_EQ(evict(), 25);
	core_stop();
}

/* A naive model: who owns each frame and since when. */
enum { NR_MM = 4, MODEL_FRAMES = 300 };

static struct mm_struct *owner[MODEL_FRAMES];
static u32 since[MODEL_FRAMES]; /* 0: free */

static u32 held(const struct mm_struct *mm)
{
	u32 n = 0;

	for (u32 i = 0; i < MODEL_FRAMES; i++)
		n += since[i] && owner[i] == mm;
	return n;
}

/* The frame that came first, of the owner whose pages exceed its share of memory by the most. */
static u32 naive_victim(struct mm_struct *const *mms)
{
	u32 total = 0, first = UINT32_MAX, none = held(NULL);
	struct mm_struct *payer = NULL;
	long most = none ? (long)none - MODEL_FRAMES / 5 : -MODEL_FRAMES - 1;

	for (int i = 0; i < NR_MM; i++)
		total += mms[i]->demand;
	for (int i = 0; i < NR_MM; i++) {
		u32 rest = MODEL_FRAMES - (none < MODEL_FRAMES / 5 ? none : MODEL_FRAMES / 5);
		u32 quota = rest * mms[i]->demand / total;
		long over = (long)held(mms[i]) - (quota < 8 ? 8 : quota);

		if (held(mms[i]) && over > most) {
			most = over;
			payer = mms[i];
		}
	}
	for (u32 i = 0; i < MODEL_FRAMES; i++)
		if (since[i] && owner[i] == payer &&
		    (first == UINT32_MAX || since[i] < since[first]))
			first = i;
	return first;
}

KTEST(localfifo, decides_as_a_naive_model_with_four_processes)
{
	u32 seed = ktap_seed_noted(), clock = 0;
	struct mm_struct *mms[NR_MM];

	start(MODEL_FRAMES);
	memset(since, 0, sizeof(since));
	for (int i = 0; i < NR_MM; i++)
		mms[i] = begin(1 + ktap_random(&seed) % 400);
	for (u32 n = 0; n < 5000 && !core_nr_errors; n++) {
		u32 frame = ktap_random(&seed) % MODEL_FRAMES;
		u32 who = ktap_random(&seed) % (NR_MM + 1);

		if (!since[frame]) {
			owner[frame] = who == NR_MM ? NULL : mms[who];
			since[frame] = ++clock;
			next_frame = frame;
			fault_in(owner[frame], 1);
		} else if (ktap_random(&seed) % 2) {
			u32 victim = naive_victim(mms);

			localfifo_tick();
			EXPECT_EQ(evict(), victim);
			since[victim] = 0;
		} else if (ktap_random(&seed) % 8 == 0) {
			mms[who % NR_MM]->demand = 1 + ktap_random(&seed) % 400;
		}
	}
	core_stop();
}
