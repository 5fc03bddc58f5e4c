/* Tools on file systems: mount, umount, df, sync. */
#include "fstools.h"
#include <sys/mount.h>
#include <sys/statfs.h>

#define OPTIONS_ROOM 256

static const struct {
	const char *name;
	unsigned long set, clear;
} flags[] = {
	{ "ro", MS_RDONLY, 0 },         { "rw", 0, MS_RDONLY },       { "remount", MS_REMOUNT, 0 },
	{ "nosuid", MS_NOSUID, 0 },     { "nodev", MS_NODEV, 0 },     { "noexec", MS_NOEXEC, 0 },
	{ "relatime", MS_RELATIME, 0 }, { "noatime", MS_NOATIME, 0 }, { "defaults", 0, 0 },
};

/* Options common to all file systems become flags; the others go to the mounted file system. */
static unsigned long parse_options(char *text, char *rest)
{
	unsigned long value = 0;

	for (char *word = strtok(text, ","); word; word = strtok(NULL, ",")) {
		size_t i = 0;

		while (i < ARRAY_SIZE(flags) && strcmp(flags[i].name, word))
			i++;
		if (i < ARRAY_SIZE(flags))
			value = (value | flags[i].set) & ~flags[i].clear;
		else
			snprintf(rest + strlen(rest), OPTIONS_ROOM - strlen(rest), "%s%s",
				 *rest ? "," : "", word);
	}
	return value;
}

static int show_mounts(void)
{
	static char text[8192];

	if (read_file("/proc/mounts", text, sizeof(text)) < 0)
		return failed(-1, "/proc/mounts");
	fputs(text, stdout);
	return 0;
}

static int run_mount(int argc, char **argv)
{
	char rest[OPTIONS_ROOM] = "";
	const char *type = "ext2";
	unsigned long value = 0;
	int c;

	if (argc == 1)
		return show_mounts();
	while ((c = getopt(argc, argv, "t:o:")) != -1) {
		if (c == '?')
			return 2;
		if (c == 't')
			type = optarg;
		else
			value = parse_options(optarg, rest);
	}
	argv += optind;
	argc -= optind;
	if (argc == 1 && value & MS_REMOUNT)
		return failed(mount(NULL, argv[0], NULL, value, NULL), argv[0]);
	if (argc != 2) {
		warn_user("a device and a directory are needed");
		return 2;
	}
	return failed(mount(argv[0], argv[1], type, value, *rest ? rest : NULL), argv[1]);
}

static int run_umount(int argc, char **argv)
{
	int status = 0;

	for (int i = 1; i < argc; i++)
		status |= failed(umount(argv[i]), argv[i]);
	return status;
}

static unsigned long long kib(const struct statfs *st, unsigned long long blocks)
{
	return blocks * st->f_bsize / 1024;
}

static int show_room(const char *source, const char *path)
{
	struct statfs st;

	if (failed(statfs(path, &st), path))
		return 1;
	if (st.f_blocks)
		printf("%-12s %10llu %10llu %10llu %s\n", source, kib(&st, st.f_blocks),
		       kib(&st, st.f_blocks - st.f_bfree), kib(&st, st.f_bavail), path);
	return 0;
}

/* A line of /proc/mounts begins with the source and the mount point. */
static int show_line(char *line)
{
	char *source = strtok(line, " "), *path = strtok(NULL, " ");

	return path ? show_room(source, path) : 0;
}

static int run_df(int argc, char **argv)
{
	static char text[8192];
	int status = 0;

	printf("%-12s %10s %10s %10s %s\n", "FROM", "KIB", "USED", "FREE", "ON");
	for (int i = 1; i < argc; i++)
		status |= show_room("-", argv[i]);
	if (argc > 1)
		return status;
	if (read_file("/proc/mounts", text, sizeof(text)) < 0)
		return failed(-1, "/proc/mounts");
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		status |= show_line(line);
	}
	return status;
}

static int run_sync(int argc, char **argv)
{
	(void)argc, (void)argv;
	sync();
	return 0;
}

const struct tool mount_tools[] = {
	{ "mount",
	  "usage: mount [-t TYPE] [-o OPTION,...] DEVICE DIR\n       mount -o remount,... DIR\n"
	  "Mount a file system (ext2 if no TYPE is given). Without arguments: show mounts.\n",
	  0, 0, run_mount },
	{ "umount", "usage: umount DIR...\nUnmount file systems.\n", 1, 0, run_umount },
	{ "df", "usage: df [DIR...]\nShow how full file systems are.\n", 0, 0, run_df },
	{ "sync", "usage: sync\nWrite everything to the devices, and wait.\n", 0, 0, run_sync },
	{ 0 },
};
