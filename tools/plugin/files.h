/* Which frames hold pages of files: files.c, for mode=trace. */
#ifndef FILES_H
#define FILES_H

#include "plugin.h"

#pragma GCC visibility push(hidden)

/* A page of a file: store << 20 | page of the file; 0: none. */
typedef uint64_t file_page;

/* Returns false if files.c has no such option. */
bool files_option(const char *name, const char *value);
/* Has any page of a file appeared? Until then nothing below need be called. */
extern bool files_any;
/* Returns the page in a frame. */
file_page files_in_frame(uint64_t frame);
/* Returns the frame of a program's page in the current address space, or 0 if the page is not mapped. */
uint64_t files_frame_of_page(uint32_t page);
/* Returns the frame of an instruction that is being translated. */
uint64_t files_frame_of_insn(struct qemu_plugin_insn *insn);
/* The file page last reported for a page of the current address space, for the caller to change; 0: none. */
file_page *files_said(uint32_t page);
/* Call when the page directory at this frame is freed. */
void files_space_gone(uint32_t frame);

/* Returns the callback for a watched kernel function, or NULL. read(2) and write(2) call @used for each page. */
exec_callback *files_callback(uint64_t pc);
extern void (*files_used)(file_page page, bool written);
/* policy_call_insert(page, mm, how, from) has been entered. */
void files_insert(uint32_t page, uint32_t how, uint32_t store, uint32_t index);
/* The policy has received a page of a file on a disk; pages of such a file are gone from memory. */
extern void (*files_came)(file_page page, uint32_t how, bool dirty);
extern void (*files_gone)(file_page first, uint32_t last);
/* Does the page at this kernel address belong to a file? */
bool files_is_file(uint32_t page);

#pragma GCC visibility pop

#endif
