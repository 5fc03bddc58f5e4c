/*
 * The only terminal, on the console. Its ioctls have the numbers of Linux i386: TCGETS, TCSETS(WF),
 * TIOCGPGRP, TIOCSPGRP, TIOCGWINSZ, FIONREAD. Any other returns -ENOTTY.
 */
#ifndef FS_TTY_H
#define FS_TTY_H

#include "fs/vfs.h"
#include "types.h"

struct wait_queue;

extern const struct file_operations tty_fops;

/* Woken when there is input to read. */
extern struct wait_queue tty_readers;

/* Starts to receive from the serial port and the keyboard. */
void tty_init(void);

#endif
