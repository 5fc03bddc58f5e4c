/* Reports on the swap areas: whether their tables and counts agree, and the text of /proc/swaps. */
#include "errno.h"
#include "fs/vfs.h"
#include "lib/printf.h"
#include "lib/seq_file.h"
#include "lib/string.h"
#include "swap_internal.h"

static bool place_sound(const struct swap_area *a, u32 place)
{
	struct page *page = a->t.cache[place];

	if (swap_place_forbidden(a, place))
		return !a->t.map[place];
	return !page ||
	       (page_test(page, PG_swapcache) && page->slot == a->first + place && page->count);
}

static bool area_sound(const struct swap_area *a)
{
	u32 used = 0, forbidden = 0, in_groups = 0;

	for (u32 i = 0; i < a->nr; i++) {
		if (!place_sound(a, i))
			return false;
		used += !swap_place_free(a, i);
		forbidden += swap_place_forbidden(a, i);
	}
	for (u32 g = 0; g <= (a->nr - 1) / SWAP_GROUP; g++)
		in_groups += a->t.group_used[g];
	return used == in_groups && used + a->nr_free == a->nr && forbidden + a->nr_usable == a->nr;
}

int swap_check(void)
{
	u32 nr_free = 0, nr_usable = 0, nr = 0;
	const struct swap_area *a;

	for_each_swap_area(a) {
		if (!area_sound(a))
			return -EINVAL;
		nr += a->open ? a->nr : 0;
		nr_free += a->open ? a->nr_free : 0;
		nr_usable += a->open ? a->nr_usable : 0;
	}
	return nr == swap_nr_slots && nr_free == swap_nr_free && nr_usable == swap_nr_usable
		       ? 0
		       : -EINVAL;
}

u64 swap_nr_entries(void)
{
	const struct swap_area *a;
	u64 named = 0;

	for_each_swap_area(a)
		for (u32 i = 0; i < a->nr; i++)
			named += a->t.map[i];
	return named;
}

void swaps_show(struct seq_file *m)
{
	const struct swap_area *a;
	char name[128];

	seq_printf(m, "%-40s%-10s%10s%12s%12s\n", "Filename", "Type", "Size", "Used", "Priority");
	for_each_swap_area(a) {
		if (!a->file)
			snprintf(name, sizeof(name), "/dev/%s", a->bdev->name);
		else if (vfs_path_of(swap_file_inode(a->file), name, sizeof(name)))
			strlcpy(name, "(too long)", sizeof(name));
		seq_printf(m, "%-39s %-10s%10u%12u%12d\n", name, a->file ? "file" : "partition",
			   a->nr_usable * 4, swap_area_used(a) * 4, a->prio);
	}
}
