/*
 * What the storm must leave alone: memory and files of the process that watches it, and the kernel's own counts.
 */
#include "storm.h"
#include "procfs.h"

enum { KEPT_PAGES = 48, KEPT_FILE_PAGES = 6, MAX_PROCESSES = 512, PATIENCE = 4000 };

static uint32_t *kept;
static int self;

static void kept_path(char *path, size_t size, int dir)
{
	snprintf(path, size, "%s/kept", dirs[dir]);
}

void control_begin(void)
{
	char path[128];

	self = getpid();
	kept = lab_map(KEPT_PAGES);
	for (uint32_t w = 0; w < KEPT_PAGES * WORDS_PER_PAGE; w++)
		kept[w] = lab_word(seed + w);
	for (int dir = 0; dir < nr_dirs; dir++) {
		kept_path(path, sizeof(path), dir);
		close(lab_file(path, KEPT_FILE_PAGES));
	}
}

static uint32_t wrong_memory(void)
{
	uint32_t wrong = 0;

	for (uint32_t w = 0; w < KEPT_PAGES * WORDS_PER_PAGE; w++)
		wrong += kept[w] != lab_word(seed + w);
	return wrong;
}

static uint32_t wrong_file(int dir)
{
	static uint32_t page[WORDS_PER_PAGE];
	char path[128];
	uint32_t wrong = 0;
	int fd;

	kept_path(path, sizeof(path), dir);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		die_errno(path);
	for (uint32_t n = 0; n < KEPT_FILE_PAGES; n++) {
		lab_file_read(fd, n, page);
		wrong += lab_file_check(page, n);
	}
	close(fd);
	return wrong;
}

bool control_check(void)
{
	char text[512];
	uint32_t wrong = wrong_memory();

	if (wrong)
		printf("storm: memory of another process: %u words differ\n", wrong);
	for (int dir = 0; dir < nr_dirs; dir++) {
		uint32_t differ = wrong_file(dir);

		if (differ)
			printf("storm: %s/kept: %u words differ\n", dirs[dir], differ);
		wrong += differ;
	}
	if (read_file("/proc/vm/check", text, sizeof(text)) < 0 || strcmp(text, "ok\n")) {
		printf("storm: /proc/vm/check: %s", text);
		return false;
	}
	return !wrong;
}

/* A process that has ended, and a thread of the kernel, have no memory. */
static bool is_alive(const struct process *p)
{
	return p->pid > self && p->vsize;
}

bool control_clear(void)
{
	static struct process list[MAX_PROCESSES];
	int nr, alive = 1;

	for (int turn = 0; alive && turn < PATIENCE; turn++) {
		nr = process_list(list, MAX_PROCESSES);
		alive = 0;
		for (int i = 0; i < nr; i++) {
			if (!is_alive(&list[i]))
				continue;
			kill(list[i].pid, SIGKILL);
			alive++;
		}
		sleep_ms(5);
	}
	for (int i = 0; alive && i < nr; i++)
		if (is_alive(&list[i]))
			printf("storm: process %d (%s, %c) cannot be killed\n", list[i].pid,
			       list[i].name, list[i].state);
	return !alive;
}
