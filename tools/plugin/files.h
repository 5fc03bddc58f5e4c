/* Which frames hold pages of files: files.c, for mode=trace. */
#ifndef FILES_H
#define FILES_H

#include "plugin.h"

#pragma GCC visibility push(hidden)

/* A page of a file: store << 20 | page of the file; 0: none. */
typedef uint64_t file_page;

/* false: not an option of files.c */
bool files_option(const char *name, const char *value);
/* Has there been any page of a file? Until then nothing below need be asked. */
extern bool files_any;
/* The page in a frame. */
file_page files_in_frame(uint64_t frame);
/* The frame of a program's page in the address space in use; of one that is not mapped: 0. */
uint64_t files_frame_of_page(uint32_t page);
/* The page in the frame that an instruction lies in, which is being translated. */
uint64_t files_frame_of_insn(struct qemu_plugin_insn *insn);
/* What was said last of a page of the address space in use, to be changed; 0: nothing. */
file_page *files_said(uint32_t page);
/* The page directory at this frame is freed. */
void files_space_gone(uint32_t frame);

/* The kernel's functions that are watched here; @used is called when read(2) or write(2) used a page. */
exec_callback *files_callback(uint64_t pc);
extern void (*files_used)(file_page page, bool written);
/* policy_call_insert(page, mm, how, from) has been entered. */
void files_insert(uint32_t page, uint32_t how, uint32_t store, uint32_t index);
/* Is the page at this address of the kernel one of a file? */
bool files_is_file(uint32_t page);

#pragma GCC visibility pop

#endif
