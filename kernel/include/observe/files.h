/* A file of /proc that another file of this folder prints. */
#ifndef OBSERVE_FILES_H
#define OBSERVE_FILES_H

struct seq_file;

/* check.c: prints "ok", or which numbers are inconsistent. */
void vm_check_show(struct seq_file *m);

#endif
