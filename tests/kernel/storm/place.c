/*
 * The storm's place: a folder on each file system, the same at the beginning of every round. Mounts, swap areas
 * and shared memory of the storm are removed after each round.
 */
#include "storm.h"
#include <sys/mount.h>
#include <sys/shm.h>
#include <sys/swap.h>

enum { SWAP_PAGES = 24, MAX_SEGMENTS = 128 };

static void must(bool ok, const char *what)
{
	if (!ok)
		die_errno(what);
}

static void make_file(const char *name, size_t size, mode_t mode)
{
	static char text[20000];
	int fd = open(name, O_CREAT | O_TRUNC | O_WRONLY, mode);

	memset(text, 'x', sizeof(text));
	must(fd >= 0 && write(fd, text, size) == (ssize_t)size && !close(fd), name);
}

static void make_script(void)
{
	int fd = open("s", O_CREAT | O_TRUNC | O_WRONLY, 0755);

	must(fd >= 0 && write(fd, "#!/bin/true\n", 12) == 12 && !close(fd), "s");
}

static void make_swap_file(void)
{
	static uint32_t page[WORDS_PER_PAGE];
	int fd;

	make_file("sw", 0, 0600);
	fd = open("sw", O_WRONLY);
	page[256] = 1;
	page[257] = SWAP_PAGES - 1;
	memcpy((char *)page + PAGE_SIZE_BYTES - 10, "SWAPSPACE2", 10);
	for (int i = 0; i < SWAP_PAGES; i++, page[256] = page[257] = 0)
		must(write(fd, page, sizeof(page)) == sizeof(page), "sw");
	must(!close(fd), "sw");
}

void place_make(int dir)
{
	if (!dir)
		raw_prepare();
	must(!mkdir(work[dir], 0755) && !chdir(work[dir]), work[dir]);
	make_file("f", 12388, 0644);
	make_file("g", 0, 0644);
	must(!mkdir("d", 0755) && !mkdir("m", 0755) && !mkdir("n", 0755), "mkdir");
	make_file("d/h", 20000, 0644);
	must(!symlink("f", "l") && !symlink("loop", "loop") && !mkfifo("fifo", 0644), "symlink");
	make_script();
	make_swap_file();
	must(!chdir("/"), "/");
}

/* Removes everything below @path, and @path. Names may get longer than a path may be, so this changes the directory. */
static void remove_tree(const char *path)
{
	struct dirent *entry;
	DIR *dir;

	if (!unlink(path) || errno == ENOENT)
		return;
	must(!chdir(path), path);
	dir = opendir(".");
	must(dir, path);
	while ((entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			remove_tree(entry->d_name);
	}
	closedir(dir);
	must(!chdir(".."), path);
	must(!rmdir(path), path);
}

/* Unmounts what is mounted below the folders, last first. Returns the number unmounted; *left: failures. */
static int unmount_some(int *left)
{
	static char text[8192];
	char *line, *target;
	int done = 0;

	*left = 0;
	if (read_file("/proc/mounts", text, sizeof(text)) < 0)
		die_errno("/proc/mounts");
	while ((line = strrchr(text, '\n'))) {
		*line = '\0';
		line = strrchr(text, '\n');
		target = strchr(line ? line + 1 : text, ' ') + 1;
		target[strcspn(target, " ")] = '\0';
		if (!strstr(target, "/storm.d"))
			continue;
		if (umount(target))
			++*left;
		else
			done++;
	}
	return done;
}

/* Returns the number of swap areas in files that were switched off; *left: failures. */
static int switch_off_some(int *left)
{
	static char text[4096];
	char *at = text;
	int done = 0;

	*left = 0;
	if (read_file("/proc/swaps", text, sizeof(text)) < 0)
		die_errno("/proc/swaps");
	while ((at = strchr(at, '\n')) && *++at) {
		char path[256] = "";

		snprintf(path, sizeof(path), "%.*s", (int)strcspn(at, " \t"), at);
		if (!strcmp(path, "/dev/sim"))
			continue;
		if (swapoff(path))
			++*left;
		else
			done++;
	}
	return done;
}

/*
 * A mount may lie below an older one, through a working directory, and can be reached once that is unmounted. The same
 * holds for a swap area, which keeps its own mount busy.
 */
static void let_go(void)
{
	int areas, mounts, done;

	do {
		done = switch_off_some(&areas);
		done += unmount_some(&mounts);
	} while (done && (areas || mounts));
	must(!areas, "swapoff");
	must(!mounts, "umount");
}

static void remove_segments(void)
{
	static char text[MAX_SEGMENTS * 160];
	char *at = text;
	int id;

	if (read_file("/proc/sysvipc/shm", text, sizeof(text)) < 0)
		die_errno("/proc/sysvipc/shm");
	while ((at = strchr(at, '\n')) && sscanf(++at, "%*d %d", &id) == 1)
		if (shmctl(id, IPC_RMID, NULL))
			warn_errno("shmctl");
}

void place_clear(void)
{
	must(!chdir("/"), "/");
	let_go();
	remove_segments();
	for (int dir = 0; dir < nr_dirs; dir++)
		remove_tree(work[dir]);
}

/* Sets up descriptors 0 to 16, of every kind, and the arena: memory, a file, read-only memory, a hole. */
void place_enter(int dir, int terminal)
{
	static const char *const names[] = { "/dev/null", "/dev/zero", "/dev/null", "f",
					     "d/h",       "g",         "d",         "." };
	int ends[2];

	must(!chdir(work[dir]), work[dir]);
	for (int fd = 0; fd < 64; fd++)
		if (fd != terminal)
			close(fd);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (open(names[i], O_RDWR) < 0)
			open(names[i], O_RDONLY);
	(void)(pipe2(ends, O_NONBLOCK) || pipe(ends));
	open("fifo", O_RDWR | O_NONBLOCK);
	syscall(SYS_memfd_create, "storm", 0);
	open("/proc/self/maps", O_RDONLY);
	open("/dev/full", O_RDWR);
	dup2(terminal < 0 ? open("/dev/console", O_RDONLY | O_NOCTTY) : dup(terminal), CONSOLE_FD);
	mmap((void *)ARENA, ARENA_PAGES * PAGE_SIZE_BYTES, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	for (uint32_t page = 0; page < ARENA_PAGES; page++)
		*lab_at((void *)ARENA, page, 0) = page;
	mmap((void *)(ARENA + 16 * PAGE_SIZE_BYTES), 5 * PAGE_SIZE_BYTES, PROT_READ | PROT_WRITE,
	     MAP_SHARED | MAP_FIXED, 4, 0);
	mprotect((void *)(ARENA + 32 * PAGE_SIZE_BYTES), 8 * PAGE_SIZE_BYTES, PROT_READ);
	munmap((void *)(ARENA + 48 * PAGE_SIZE_BYTES), 4 * PAGE_SIZE_BYTES);
}
