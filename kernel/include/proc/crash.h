/* crash=WAY on the command line: the kernel crashes deliberately right after boot. */
#ifndef PROC_CRASH_H
#define PROC_CRASH_H

/* Starts the crashing thread, if the command line requests it. */
void crash_init(void);

#endif
