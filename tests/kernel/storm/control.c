/*
 * What the storm must not affect: memory and files of the process that watches it, and the kernel's own counts.
 */
#include "storm.h"
#include "procfs.h"

enum { KEPT_PAGES = 48, KEPT_FILE_PAGES = 6, PATIENCE = 4000 };

static uint32_t *kept, program_sum;
static int self, last_alive;

static void kept_path(char *path, size_t size, int dir)
{
	snprintf(path, size, "%s/kept", dirs[dir]);
}

/* Computes a checksum of this program's file; false if memory is short. */
static bool sum_program(uint32_t *sum)
{
	static uint8_t text[PAGE_SIZE_BYTES];
	int fd = open("/proc/self/exe", O_RDONLY);
	ssize_t n = fd < 0 ? -1 : 0;

	for (*sum = 0; fd >= 0 && (n = read(fd, text, sizeof(text))) > 0;)
		for (ssize_t i = 0; i < n; i++)
			*sum = *sum * 31 + text[i];
	close(fd);
	return !n;
}

void control_begin(void)
{
	char path[128];

	self = getpid();
	kept = lab_map(KEPT_PAGES);
	if (!sum_program(&program_sum))
		die_errno("/proc/self/exe");
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
	uint32_t wrong = wrong_memory(), sum;

	if (wrong)
		printf("storm: memory of another process: %u words differ\n", wrong);
	if (sum_program(&sum) && sum != program_sum) {
		printf("storm: its own program has changed\n");
		wrong++;
	}
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

/* Processes that have ended, and kernel threads, have no memory. If this process itself lacks memory,
 * what cannot be read counts as alive. */
static bool is_alive(int pid)
{
	struct process p;

	errno = 0;
	return process_read(pid, &p) ? p.vsize : errno == ENOMEM;
}

/* Sends SIGKILL to all once. Returns their number. */
static int kill_younger(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int nr = 0;

	if (!dir)
		return 1; /* as long as memory is short */
	errno = 0;
	while ((entry = readdir(dir))) {
		int pid = atoi(entry->d_name);

		if (pid > self && is_alive(pid)) {
			kill(pid, SIGKILL);
			last_alive = pid;
			nr++;
		}
		errno = 0;
	}
	nr += errno != 0;
	closedir(dir);
	return nr;
}

bool control_clear(void)
{
	int alive = 1;

	for (int turn = 0; alive && turn < PATIENCE; turn++) {
		sysctl_restore(); /* with vm.overcommit_memory at 2 there may be no memory to read */
		alive = kill_younger();
		sleep_ms(5);
	}
	if (alive)
		printf("storm: process %d cannot be killed\n", last_alive);
	return !alive;
}
