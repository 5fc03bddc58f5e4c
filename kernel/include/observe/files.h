/* The files that this folder adds to /proc. */
#ifndef OBSERVE_FILES_H
#define OBSERVE_FILES_H

struct seq_file;

/* check.c: prints "ok", or which numbers are inconsistent. */
void vm_check_show(struct seq_file *m);
/* Register files; sysctl_init: those of /proc/sys/vm. */
void vmstat_init(void);
void sysctl_init(void);
void smaps_init(void); /* smaps files of processes */

#endif
