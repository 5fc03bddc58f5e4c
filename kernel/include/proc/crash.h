/* crash=WAY on the command line: the kernel breaks on purpose as soon as it has booted. */
#ifndef PROC_CRASH_H
#define PROC_CRASH_H

/* Starts the thread that does it, if the command line asks for one. */
void crash_init(void);

#endif
