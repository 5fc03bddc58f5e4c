/* Shared by the host tests of ws, which include ws.c and host/fake_core.h before this file. */

static const struct page_id none;

/* Gives mm n pages from frame `first` on. */
static void fault_in(struct mm_struct *mm, u32 first, u32 n)
{
	for (u32 i = first; i < first + n; i++)
		core_insert(&mem_map[i], mm, VM_IN_FAULT, none);
}

/* mm uses these pages, and ms pass for mm and for the machine; then a tick comes. */
static void run(struct mm_struct *mm, u32 first, u32 n, u32 ms)
{
	mm->vtime_ns += ms * 1000000ull;
	core_now_ns += ms * 1000000ull;
	for (u32 i = first; i < first + n; i++)
		page_set(&mem_map[i], PG_young);
	EXPECT(!ws_tick());
}
