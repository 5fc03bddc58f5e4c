/*
 * Included before each policy when it is compiled for the page: every call of the core reports the line that it comes
 * from. A macro does not expand within itself, so the inner call is the real one.
 */
#ifndef STEP_LINES_H
#define STEP_LINES_H

#include "mm/ghost.h"
#include "mm/policy.h"

void step_at(const char *file, u32 line);
void step_ghosts(const struct ghosts *ghosts);

#define STEP_AT step_at(__FILE__, __LINE__)

#define page_referenced(...) (STEP_AT, page_referenced(__VA_ARGS__))
#define page_young(...) (STEP_AT, page_young(__VA_ARGS__))
#define page_dirty(...) (STEP_AT, page_dirty(__VA_ARGS__))
#define page_is_file(...) (STEP_AT, page_is_file(__VA_ARGS__))
#define page_is_mapped(...) (STEP_AT, page_is_mapped(__VA_ARGS__))
#define page_is_executable(...) (STEP_AT, page_is_executable(__VA_ARGS__))
#define page_id_of(...) (STEP_AT, page_id_of(__VA_ARGS__))
#define page_vpn(...) (STEP_AT, page_vpn(__VA_ARGS__))
#define page_trap(...) (STEP_AT, page_trap(__VA_ARGS__))
#define page_mm(...) (STEP_AT, page_mm(__VA_ARGS__))
#define vm_scan_more(...) (STEP_AT, vm_scan_more(__VA_ARGS__))
#define vm_eligible(...) (STEP_AT, vm_eligible(__VA_ARGS__))
#define vm_now(...) (STEP_AT, vm_now(__VA_ARGS__))
#define mm_vtime(...) (STEP_AT, mm_vtime(__VA_ARGS__))
#define mm_sleeps(...) (STEP_AT, mm_sleeps(__VA_ARGS__))
#define mm_demand(...) (STEP_AT, mm_demand(__VA_ARGS__))
#define mm_rss(...) (STEP_AT, mm_rss(__VA_ARGS__))
#define vm_frames(...) (STEP_AT, vm_frames(__VA_ARGS__))
#define vm_slots(...) (STEP_AT, vm_slots(__VA_ARGS__))
#define vm_prepage(...) (STEP_AT, vm_prepage(__VA_ARGS__))
#define vm_tick_after(...) (STEP_AT, vm_tick_after(__VA_ARGS__))
#define vm_next_mm(...) (STEP_AT, vm_next_mm(__VA_ARGS__))
#define vm_future(...) (STEP_AT, vm_future(__VA_ARGS__))
#define ghost_find(...) (STEP_AT, ghost_find(__VA_ARGS__))
#define ghost_add(...) (STEP_AT, ghost_add(__VA_ARGS__))
#define ghost_drop(...) (STEP_AT, ghost_drop(__VA_ARGS__))
#define ghosts_init(table, places) (step_ghosts(table), ghosts_init(table, places))

#endif
