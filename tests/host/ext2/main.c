/*
 * ext2 IMAGE [ro | record | redo [N SEED]]: performs the commands on standard input and writes the image back; one line
 *	of output for each. N: the power fails N writes after the start, as by the command cut. record: also prints the
 *	disk's writes and flushes (disk_record in host.h).
 * ext2 --each COMMANDS OPTION IMAGE[,N,SEED]...: the same for many images, each in a process of its own,
 *	with the commands in a file; N, SEED: the power fails in a first mount, before this one. What is
 *	printed goes to IMAGE.said and IMAGE.errors. Prints the status of each, and ends after the first
 *	that a signal ended.
 * ext2 --fuzz IMAGE SEED COUNT [redo]: see fuzz.c.
 *
 *	create|mkdir|fifo PATH        symlink TARGET PATH      node c|b MAJOR MINOR PATH
 *	unlink|rmdir PATH             link|rename FROM TO      readlink PATH    stat PATH
 *	write PATH OFFSET LEN SEED    truncate PATH SIZE       read PATH OFFSET LEN
 *	list PATH    statfs    sync    fsync PATH    drop    open PATH    close
 * 	flush N SEED                  writes N random dirty blocks of metadata
 * 	busy                          from now on all dirty blocks are written before each read of metadata
 *	broken N                      the Nth read of metadata or flush fails, and all after it; 0: none
 *	refuse flush|write            the next flush, or the next writing of all dirty metadata, fails
 *	second now|later|N COMMAND    a second program does it, from now on, or from the next kmalloc, or from the Nth
 *	                              read of metadata; it waits for its flush until
 *	finish                        it ends; the answer is that to the COMMAND
 * 	cut N SEED                    the power fails N writes from now
 *	off                           the power fails now; nothing that was not flushed is on the medium
 *
 * An answer is a number: 0, the requested value, or -errno. %XX in a path is a byte. Byte i of a write
 * with seed s is (s + i * 7 + i / 256) mod 256. open keeps one file in use until close.
 */
#include "host.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_WORDS 6

static FILE *image; /* stays open: the program may not be able to open a file later */
static struct inode *opened;

static u8 *load(const char *path, u32 *size)
{
	FILE *f = fopen(path, "rb");
	u8 *bytes;

	if (!f || fseek(f, 0, SEEK_END))
		exit(2);
	*size = ftell(f);
	rewind(f);
	bytes = malloc(*size);
	if (fread(bytes, 1, *size, f) != *size)
		exit(2);
	fclose(f);
	return bytes;
}

static void save(void)
{
	rewind(image);
	if (fwrite(disk_medium(), SECTOR_SIZE, disk.nr_sectors, image) != disk.nr_sectors ||
	    fclose(image))
		exit(2);
}

/* Loses everything in memory. */
static void power_off(void)
{
	save();
	puts("cut");
	fflush(stdout);
	_Exit(0);
}

static void decode(char *s)
{
	char *to = s;

	for (; *s; s++) {
		char hex[3] = { s[0] == '%' ? s[1] : 0, s[0] == '%' ? s[2] : 0, 0 };

		*to++ = *hex ? (char)strtoul(hex, NULL, 16) : *s;
		s += *hex ? 2 : 0;
	}
	*to = '\0';
}

static long do_write(struct inode *inode, u64 pos, size_t n, u32 seed)
{
	struct file f = { .inode = inode };
	u8 *bytes = malloc(n + 1);
	long done;

	for (size_t i = 0; i < n; i++)
		bytes[i] = seed + i * 7 + i / 256;
	done = cache_file_write(&f, bytes, n, &pos);
	free(bytes);
	return done;
}

/* Also prints a checksum of the bytes: FNV-1a. */
static long do_read(struct inode *inode, u64 pos, size_t n)
{
	struct file f = { .inode = inode };
	u8 *bytes = malloc(n + 1);
	u32 sum = 2166136261u;
	long done = cache_file_read(&f, bytes, n, &pos);

	for (long i = 0; i < done; i++)
		sum = (sum ^ bytes[i]) * 16777619u;
	if (done >= 0)
		printf("%08x ", sum);
	free(bytes);
	return done;
}

static long do_list(struct inode *dir)
{
	struct dir_entry e = { 0 };
	long n = 0;
	int err;

	if (ext2_kind(dir) != S_IFDIR)
		return -ENOTDIR;
	while (!(err = dir->ops->iterate(dir, e.next, &e))) {
		for (u32 i = 0; i < e.len; i++)
			printf("%02x", (u8)e.name[i]);
		printf(":%o ", e.mode);
		n++;
	}
	return err == -ENOENT ? n : err;
}

static long do_readlink(struct inode *inode)
{
	char text[4097];
	int err;

	if (ext2_kind(inode) != S_IFLNK)
		return -EINVAL;
	err = inode->ops->readlink(inode, text, sizeof(text));
	if (!err)
		printf("%s ", text);
	return err;
}

static long do_stat(struct inode *inode)
{
	printf("%o %u %llu %llu %x ", inode->mode, inode->nlink, (unsigned long long)inode->size,
	       (unsigned long long)inode->blocks, inode->rdev);
	return 0;
}

/* Commands about a file that exists. */
static long on_inode(char **word)
{
	struct inode *inode;
	const char *what = word[0];
	long result = host_walk(word[1], &inode);

	if (result)
		return result;
	if (!strcmp(what, "write"))
		result = do_write(inode, strtoull(word[2], NULL, 0), strtoul(word[3], NULL, 0),
				  strtoul(word[4], NULL, 0));
	else if (!strcmp(what, "read"))
		result = do_read(inode, strtoull(word[2], NULL, 0), strtoul(word[3], NULL, 0));
	else if (!strcmp(what, "truncate"))
		result = host_truncate(inode, strtoull(word[2], NULL, 0));
	else if (!strcmp(what, "list"))
		result = do_list(inode);
	else if (!strcmp(what, "readlink"))
		result = do_readlink(inode);
	else if (!strcmp(what, "stat"))
		result = do_stat(inode);
	else if (!strcmp(what, "fsync"))
		result = host_fsync(inode);
	else if (!strcmp(what, "open") && !opened)
		return opened = inode, 0;
	else
		result = -ENOSYS;
	inode_put(inode);
	return result;
}

static long run(char *line);

static long on_second(char **word)
{
	char command[256];

	if (!strcmp(word[0], "finish"))
		return second_finish();
	snprintf(command, sizeof(command), "%s %s", word[2], word[3]);
	return second_begin(command, word[1], run);
}

static long on_all(char **word)
{
	struct kstatfs st;

	if (!strcmp(word[0], "sync"))
		return host_sync();
	if (!strcmp(word[0], "drop"))
		return host_drop_unused(), 0;
	if (!strcmp(word[0], "flush"))
		return disk_flush_some(atoi(word[1]), strtoul(word[2], NULL, 0)), 0;
	if (!strcmp(word[0], "busy"))
		return disk_busy(), 0;
	if (!strcmp(word[0], "broken"))
		return disk_break_after(atoi(word[1])), 0;
	if (!strcmp(word[0], "refuse"))
		return disk_refuse(!strcmp(word[1], "flush")), 0;
	if (!strcmp(word[0], "off"))
		power_off();
	if (!strcmp(word[0], "cut"))
		return disk_cut_after(atoi(word[1]), strtoul(word[2], NULL, 0), power_off), 0;
	if (!strcmp(word[0], "statfs")) {
		host_sb.ops->statfs(&host_sb, &st);
		printf("%llu %llu %llu %llu ", (unsigned long long)st.blocks,
		       (unsigned long long)st.blocks_free, (unsigned long long)st.files,
		       (unsigned long long)st.files_free);
		return 0;
	}
	if (!strcmp(word[0], "close") && opened) {
		inode_put(opened);
		opened = NULL;
		return 0;
	}
	return -ENOSYS;
}

static long on_names(char **word)
{
	if (!strcmp(word[0], "create"))
		return host_create(word[1], S_IFREG | 0644, 0, NULL);
	if (!strcmp(word[0], "mkdir"))
		return host_create(word[1], S_IFDIR | 0755, 0, NULL);
	if (!strcmp(word[0], "fifo"))
		return host_create(word[1], S_IFIFO | 0600, 0, NULL);
	if (!strcmp(word[0], "symlink"))
		return host_create(word[2], S_IFLNK | 0777, 0, word[1]);
	if (!strcmp(word[0], "node"))
		return host_create(word[4], (*word[1] == 'b' ? S_IFBLK : S_IFCHR) | 0600,
				   atoi(word[2]) << 8 | atoi(word[3]), NULL);
	if (!strcmp(word[0], "unlink"))
		return host_remove(word[1], false);
	if (!strcmp(word[0], "rmdir"))
		return host_remove(word[1], true);
	if (!strcmp(word[0], "link"))
		return host_link(word[1], word[2]);
	return host_rename(word[1], word[2]);
}

static long run(char *line)
{
	static const char names[] = " create mkdir fifo symlink node unlink rmdir link rename ";
	static const char all[] = " sync drop flush busy broken refuse cut off statfs close ";
	static const char both[] = " second finish ";
	char *word[MAX_WORDS] = { "", "", "", "", "", "" }, key[32];

	for (u32 n = 0; n < MAX_WORDS && (word[n] = strtok(n ? NULL : line, " \n")); n++)
		decode(word[n]);
	if (!word[0])
		return 0;
	snprintf(key, sizeof(key), " %s ", word[0]);
	return strstr(names, key)  ? on_names(word)
	       : strstr(all, key)  ? on_all(word)
	       : strstr(both, key) ? on_second(word)
				   : on_inode(word);
}

static int script(const char *option)
{
	static char line[8192];
	bool read_only = !strcmp(option, "ro"), recorded = !strcmp(option, "record");
	int err;

	if (recorded)
		disk_record();
	err = host_mount(read_only, read_only || recorded ? "" : option);

	printf("%d\n", err);
	if (err)
		return 0;
	while (fgets(line, sizeof(line), stdin)) {
		printf("%ld\n", run(line));
		fflush(stdout);
	}
	if (opened)
		inode_put(opened);
	host_umount();
	save();
	return 0;
}

/* n: NULL, or the number of the write at which the power fails. Returns the exit status. */
static int one(const char *path, const char *option, const char *n, const char *seed)
{
	u32 size;
	u8 *bytes = load(path, &size);

	image = fopen(path, "rb+");
	if (!image)
		return 2;
	if (host_confine)
		host_confine();
	disk_open(bytes, size);
	if (n)
		disk_cut_after(atoi(n), strtoul(seed, NULL, 0), power_off);
	script(option);
	disk_close();
	free(bytes);
	return 0;
}

static void attach(const char *path, const char *suffix, int flags, int fd)
{
	char name[4096];
	int opened_as;

	snprintf(name, sizeof(name), "%s%s", path, suffix);
	opened_as = open(name, flags, 0600);
	if (opened_as < 0 || dup2(opened_as, fd) < 0 || close(opened_as))
		_Exit(2);
}

/* Does one(...) in a new process, which starts sooner than the program; returns its status as a shell does. */
static int forked(const char *commands, const char *path, const char *option, const char *n,
		  const char *seed)
{
	pid_t child;
	int status;

	fflush(stdout);
	child = fork();
	if (!child) {
		attach(commands, "", O_RDONLY, STDIN_FILENO);
		attach(path, ".said", O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
		attach(path, ".errors", O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
		exit(one(path, option, n, seed));
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		exit(2);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int each(char **word)
{
	const char *commands = word[0], *option = word[1];
	int status = 0;

	for (word += 2; *word && status < 128; word++) {
		const char *path = strtok(*word, ","), *n = strtok(NULL, ","),
			   *seed = strtok(NULL, ",");

		status = n && seed ? forked(commands, path, option, n, seed) : 0;
		if (!status)
			status = forked(commands, path, option, NULL, NULL);
		printf("%d\n", status);
	}
	return 0;
}

int main(int argc, char **argv)
{
	u32 size;
	u8 *bytes;

	if (argc > 4 && !strcmp(argv[1], "--each"))
		return each(argv + 2);
	if (argc > 4 && !strcmp(argv[1], "--fuzz")) {
		bytes = load(argv[2], &size);
		host_fuzz(bytes, size, strtoul(argv[3], NULL, 0), atoi(argv[4]),
			  argc > 5 ? argv[5] : "");
		free(bytes);
		return 0;
	}
	if (argc < 2 || argv[1][0] == '-')
		return 2;
	return one(argv[1], argc > 2 ? argv[2] : "", argc > 4 ? argv[3] : NULL,
		   argc > 4 ? argv[4] : NULL);
}
