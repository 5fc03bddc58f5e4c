/*
 * The future for vm=min (lib/future.h): the lab puts it into memory above all that the kernel
 * manages, and says where with future=. It comes from outside, so all of it is checked before use.
 */
#include "future.h"

#include "arch/machine.h"
#include "lib/future.h"
#include "lib/param.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/bootmem.h"
#include "mm/zone.h"

u64 future_at;
PARAM_SIZE("future", future_at, 4ull << 20, LOWMEM_MAX,
	   "where the lab has put the future, for vm=min", AT_BOOT);

/* Returns the number of bytes from `at` to the end of that range of memory, as far as it is mapped. */
static u64 room_from(u64 at)
{
	for (int i = 0; i < boot_info.nr_ram; i++)
		if (boot_info.ram[i].start <= at && at < boot_info.ram[i].end)
			return MIN(boot_info.ram[i].end, LOWMEM_MAX) - MIN(at, LOWMEM_MAX);
	return 0;
}

static void __noreturn refuse(const char *why)
{
	printk("command line: future=%llu: %s\n", future_at, why);
	machine_exit(EXIT_REFUSED);
}

u32 future_check(u64 mem_limit, const char *run)
{
	const struct future_file *file = phys_to_virt(future_at);
	const char *why;

	if (!future_at)
		return 0;
	if (future_at < mem_limit || future_at % sizeof(u32))
		refuse("it must be a multiple of 4 above mem=");
	why = future_wrong(file, room_from(future_at));
	if (why)
		refuse(why);
	if (strcmp(future_run(file), run)) {
		printk("command line: future=%llu: it is the future of `%s`, not of `%s`\n",
		       future_at, future_run(file), run);
		machine_exit(EXIT_REFUSED);
	}
	return future_at + file->bytes;
}

void *bootmem_future(void)
{
	return future_at ? phys_to_virt(future_at) : NULL;
}
