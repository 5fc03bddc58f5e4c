/*
 * hostile [--live] SEED COUNT FIRST END IMAGE...: damaged ext2 images in the kernel, with everything above a file
 * system: names, pages, mappings, reclaim.
 *
 * Image number SEED, SEED + 1, ... is one of the IMAGEs with some bytes changed; its number determines which
 * (mutate.c). It is written to a partition, which begins at sector FIRST and ends before END of the disk. A process
 * mounts it and uses it in every way (use.c). Then unmounting must succeed, memory and the kernel's objects must be the
 * same as before, /proc/vm/check must say ok, and the sectors on either side of the partition must be unchanged.
 * Otherwise a line gives the image's number, which reproduces the error.
 *
 * --live: the images are undamaged when they are mounted, and damaged afterwards, again and again until they are
 * unmounted: another process writes to the partition's device meanwhile.
 */
#include "hostile.h"
#include "lab.h"

#include <signal.h>
#include <sys/mount.h>

#define HELP                                                                                       \
	"usage: hostile [--live] SEED COUNT FIRST END IMAGE...\nMount and use COUNT damaged "      \
	"images, from number SEED on. --live: damage them while they are mounted.\n"

enum {
	GUARD = 64,
	SECTOR = 512,
	MAX_IMAGE = 4 << 20,
	ROOM = 8192,
	WARM_UP = 3,
	LEFT = 24,
	SLOW_S = 20,
	PAUSE_MS = 2
};

static const char disk[] = "/dev/sda", part[] = "/dev/sda2";
static uint8_t image[MAX_IMAGE];
static uint32_t number, nr_mounted;
static bool live;
static off_t first, end;

void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("FAILED image %u: ", number);
	vprintf(format, args);
	puts("");
	va_end(args);
	exit(1);
}

static void say(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fail("%s: %s", path, strerror(errno));
	close(fd);
}

static uint32_t read_image(const char *path)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, image, sizeof(image));

	if (n <= 0)
		die_errno(path);
	close(fd);
	return n;
}

static void write_image(uint32_t size)
{
	int fd = open(part, O_WRONLY);

	if (fd < 0 || write(fd, image, size) != (ssize_t)size || fsync(fd))
		fail("%s: %s", part, strerror(errno));
	close(fd);
	say("/proc/sys/vm/drop_caches", "3");
}

static void check_guard(off_t sector)
{
	static uint8_t guard[GUARD * SECTOR];
	int fd = open(disk, O_RDONLY);

	if (fd < 0 || pread(fd, guard, sizeof(guard), sector * SECTOR) != sizeof(guard))
		fail("%s: %s", disk, strerror(errno));
	close(fd);
	for (size_t i = 0; i < sizeof(guard); i++)
		if (guard[i] != 0xc5)
			fail("byte %zu of sector %lld was written, which lies outside", i % SECTOR,
			     (long long)(sector + (off_t)(i / SECTOR)));
}

/* Objects in use by kind: the first two words of each line. Nodes of trees are counted with the frames, because
 * evicted pages leave marks in them. */
static void objects(char *to)
{
	static char text[ROOM], *line, *rest;
	size_t n = 0;

	if (read_file("/proc/slabinfo", text, sizeof(text)) < 0)
		fail("/proc/slabinfo");
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *name = strtok(line, " "), *used = strtok(NULL, " ");

		if (used && n < ROOM - 100 && strcmp(name, "radix_node"))
			n += sprintf(to + n, "%s %s\n", name, used);
	}
}

/* Frames of init and its children count as free, because their number varies. */
static uint32_t frames(void)
{
	static char text[ROOM];

	if (read_file("/proc/vmstat", text, sizeof(text)) < 0)
		fail("/proc/vmstat");
	return file_value(text, "nr_free_pages") + file_value(text, "nr_anon_pages");
}

static void check_kernel(void)
{
	static char before[ROOM], now[ROOM], text[ROOM];
	static uint32_t least;

	if (read_file("/proc/vm/check", text, sizeof(text)) < 0 || strcmp(text, "ok\n"))
		fail("/proc/vm/check: %s", text);
	say("/proc/sys/vm/drop_caches", "3");
	objects(now);
	if (nr_mounted <= WARM_UP)
		least = frames() - LEFT;
	else if (strcmp(before, now))
		fail("objects before it:\n%safter it:\n%s", before, now);
	else if (frames() < least)
		fail("%u frames are left of %u", frames(), least + LEFT);
	strcpy(before, now);
}

/* Writes the sectors that have changed. */
static void write_changes(int fd, const uint8_t *before, uint32_t size)
{
	for (uint32_t at = 0; at < size; at += SECTOR)
		if (memcmp(image + at, before + at, SECTOR) &&
		    pwrite(fd, image + at, SECTOR, at) != SECTOR)
			_exit(3);
}

/* Damages the current content of the device, until this process is killed. */
static void damage(uint32_t size)
{
	static uint8_t before[MAX_IMAGE];
	int fd = open(part, O_RDWR);

	random_start(~number);
	for (;;) {
		sleep_ms(below(PAUSE_MS));
		if (fd < 0 || pread(fd, before, size, 0) != (ssize_t)size)
			_exit(3);
		memcpy(image, before, size);
		mutate(image);
		write_changes(fd, before, size);
	}
}

static pid_t start_damage(uint32_t size)
{
	pid_t pid = live ? fork() : -1;

	if (!pid)
		damage(size);
	return pid;
}

static void stop_damage(pid_t pid)
{
	int status;

	if (!live)
		return;
	if (pid < 0 || kill(pid, SIGKILL) || waitpid(pid, &status, 0) != pid)
		fail("no process that damages it");
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		fail("what damages it ended with status %d", status_code(status));
	sync();
	read_image(part); /* no page of the device is still being written */
}

static void child(void)
{
	unsigned long how = below(10) ? 0 : MS_RDONLY;

	if (mount(part, DIR_PATH, "ext2", how, NULL))
		_exit(2);
	use_files();
	_exit(0);
}

static void one(int nr_images, char **images)
{
	uint32_t size;
	int status;
	pid_t pid, other;

	random_start(number);
	size = read_image(images[below(nr_images)]);
	understand(image, size);
	if (!live)
		mutate(image);
	write_image(size);
	other = start_damage(size);
	pid = fork();
	if (!pid)
		child();
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		fail("fork: %s", strerror(errno));
	if (!WIFEXITED(status) || WEXITSTATUS(status) % 2)
		fail("its process ended with status %d", status_code(status));
	if (!WEXITSTATUS(status)) {
		nr_mounted++;
		if (umount(DIR_PATH))
			fail("umount: %s", strerror(errno));
	}
	stop_damage(other);
	check_kernel();
	check_guard(first - GUARD);
	check_guard(end);
}

int main(int argc, char **argv)
{
	uint32_t start, count;

	help_if_asked(argc, argv, HELP);
	live = lab_flag(&argc, argv, "--live");
	if (argc < 6)
		usage_error(HELP);
	start = number = parse_number(argv[1], "SEED", 0, UINT32_MAX);
	count = parse_number(argv[2], "COUNT", 1, 1000000);
	first = parse_number(argv[3], "FIRST", GUARD, 1 << 30);
	end = parse_number(argv[4], "END", GUARD, 1 << 30);
	mkdir(DIR_PATH, 0755);
	setvbuf(stdout, NULL, _IONBF, 0);
	for (; number < start + count; number++) {
		time_t began = time(NULL);

		printf("image %u\n", number);
		one(argc - 5, argv + 5);
		if (time(NULL) - began > SLOW_S)
			fail("it took %lld s", (long long)(time(NULL) - began));
	}
	printf("%u images, %u of them could be mounted\n", count, nr_mounted);
	return 0;
}
