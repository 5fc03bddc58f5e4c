/*
 * What the small kernel lacks and its files still name, by area. A stub of no effect returns 0, and
 * that is right: there is no disk for files, no lock, no pinned page, no guard. Other stubs report
 * that the operation is missing. Arguments need no declaration here: the caller removes them.
 */
#include "errno.h"
#include "types.h"

#define NONE(name)                                                                                 \
	u64 name(void);                                                                            \
	u64 name(void)                                                                             \
	{                                                                                          \
		return 0;                                                                          \
	}
#define MISSING(name)                                                                              \
	long name(void);                                                                           \
	long name(void)                                                                            \
	{                                                                                          \
		return -ENOSYS;                                                                    \
	}

/* clang-format off */
/* Backtraces, watchdog, time that stands still, pressure stall information, handlers of signals. */
NONE(backtrace) NONE(backtrace_regs) NONE(print_regs) NONE(watchdog_init)
NONE(watchdog_feed) NONE(watchdog_pause) NONE(watchdog_waits_again) NONE(still_timer_interrupt)
NONE(psi_init) NONE(psi_task_changed) NONE(loadavg_init) MISSING(thread_push_signal) NONE(alarm_restart)

/* Keyboard, screen, disks for files. */
NONE(keyboard_init) NONE(vga_init) NONE(vga_write) NONE(disks_find)

/* Pages and inodes of file systems on disks, direct I/O. */
NONE(cache_clean) NONE(cache_protect) NONE(cache_set_dirty) NONE(cache_sync_file)
NONE(cache_wait_writers) NONE(cache_write_for_reclaim) NONE(stored_end) NONE(cache_note_io) NONE(cache_unmap)
MISSING(cache_make_blocks) MISSING(cache_read_page) NONE(cache_note_fault) NONE(cache_note_neighbour)
MISSING(stored_read) MISSING(stored_write) MISSING(cache_direct_read) MISSING(direct_settle)
MISSING(direct_write) MISSING(frames_alloc_file) NONE(cache_new_store)
NONE(inode_mark_dirty) NONE(inode_sync) NONE(inode_unused) NONE(cache_note_unmap) NONE(cache_make_writable)

/* Locks, truncation and shared memory of files. */
char shmem_ops[64]; /* no file has these operations */
MISSING(files_grow) NONE(locks_release) NONE(fcntl_is_lock) MISSING(fcntl_lock) MISSING(fcntl_pipe)
NONE(inode_runs) NONE(fsize_check) NONE(limit_forbids) NONE(limit_forbids_brk) MISSING(vfs_truncate)
MISSING(vfs_shmem_create) NONE(shmem_drop) NONE(shmem_evict)

/* Swap files and swapoff, pinned memory, memory of many pages, pages of 4 MiB, killing for memory. */
bool swap_leaving, frames_files;
u32 huge_nr_pages, cache_nr_shmem, swap_nr_files, jitter;
u64 future_at;
NONE(swap_file_sector) NONE(vzalloc) NONE(vfree) NONE(page_pin) NONE(page_unpin) NONE(mm_populate)
MISSING(huge_map) NONE(huge_unmap) MISSING(huge_copy) NONE(huge_protect) NONE(huge_page_at)
NONE(vpn_in_owner) NONE(future_check) NONE(bootmem_future) NONE(out_of_memory) NONE(init_lacks_memory)

/* Guards, turns for starving processes, checks of trees, limits of hooks, jitter, tests in the kernel. */
NONE(guard_register_params) NONE(guard_init) NONE(guard_call_may_run) NONE(guard_call_ticks)
NONE(guard_call_evicted) NONE(guard_call_fault) NONE(guard_call_forget) NONE(guard_call_mm_exit)
NONE(guard_call_pressure) NONE(hook_is_nested) NONE(hook_may_be_slow) NONE(hook_report)
NONE(starve_fault) NONE(starve_mm_exit) NONE(starve_note_major) NONE(starve_others_wait)
NONE(hook_watch) NONE(jitter_below) MISSING(ktap_run) MISSING(rb_check)
char ktap_suites[64], policy_timer[64], guard_timer[64];
