/*
 * interpreters: programs that another one interprets: scripts, and ELF files that name a dynamic linker. Both names
 * may be missing, wrong, or lead in a circle. On Linux, too, this must report no failures. Linux gives up the old
 * program before it has read all headers of the new one, so a bad file may end in SIGSEGV there, and here in an error.
 */
#include "check.h"
#include "lab.h"
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define HELP "usage: interpreters [ARG...]\n"
#define DIR "/tmp/interpreters"

enum { PROGRAM = 7, LINKER = 42, CODE = 0x600, PAGE = 4096, SIGNAL = 1000 };

/* An ELF file: the program exits with a number that names it. */
struct file {
	Elf32_Ehdr ehdr;
	Elf32_Phdr text, interp, extra;
	char name[1000];
	char rest[2 * PAGE - sizeof(Elf32_Ehdr) - 3 * sizeof(Elf32_Phdr) - 1000];
};

static struct file program, linker;
static char self[PATH_MAX], output[1000];

static struct file file_of(int type, uint32_t address, int status, const char *interpreter)
{
	struct file f = { .ehdr = { .e_type = type,
				    .e_machine = EM_386,
				    .e_version = EV_CURRENT,
				    .e_entry = address + CODE,
				    .e_phoff = offsetof(struct file, text),
				    .e_ehsize = sizeof(Elf32_Ehdr),
				    .e_phentsize = sizeof(Elf32_Phdr),
				    .e_phnum = 3 } };
	const unsigned char code[] = { 0xb8, 1, 0, 0, 0, 0xbb, status, 0, 0, 0, 0xcd, 0x80 };

	memcpy(f.ehdr.e_ident, ELFMAG "\1\1\1", 7);
	f.text = (Elf32_Phdr){ .p_type = PT_LOAD,
			       .p_vaddr = address,
			       .p_filesz = PAGE,
			       .p_memsz = PAGE,
			       .p_flags = PF_R | PF_X,
			       .p_align = PAGE };
	f.interp = (Elf32_Phdr){ .p_type = interpreter ? PT_INTERP : PT_NULL,
				 .p_offset = offsetof(struct file, name) };
	if (interpreter) {
		f.interp.p_filesz = strlen(interpreter) + 1;
		strcpy(f.name, interpreter);
	}
	memcpy((char *)&f + CODE, code, sizeof(code));
	return f;
}

static void write_file(const char *name, const void *data, size_t size, int mode)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0700);

	CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size && !fchmod(fd, mode) && !close(fd));
}

static void script(const char *name, const char *text)
{
	write_file(name, text, strlen(text), 0700);
}

/* Runs a file with one argument and collects its output. Returns the exit status, SIGNAL plus a signal, or the error of
 * execve, negative. */
static int run(const char *name)
{
	int failed[2], out[2], error = 0, status, n, size = 0;

	CHECK(!pipe2(failed, O_CLOEXEC) && !pipe(out));
	if (!fork()) {
		dup2(out[1], 1);
		close(out[0]);
		close(out[1]);
		execl(name, "zero", "given", NULL);
		_exit(write(failed[1], &errno, sizeof(errno)) < 0);
	}
	close(failed[1]);
	close(out[1]);
	CHECK(read(failed[0], &error, sizeof(error)) >= 0);
	while ((n = read(out[0], output + size, sizeof(output) - 1 - size)) > 0)
		size += n;
	output[size] = '\0';
	close(failed[0]);
	close(out[0]);
	CHECK(wait(&status) > 0);
	if (error)
		return -error;
	return WIFSIGNALED(status) ? SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* May Linux find the error only after it gave up the old program? */
static bool refused(int result)
{
	return result < 0 || result == SIGNAL + SIGSEGV || result == SIGNAL + SIGBUS;
}

/* --- scripts --- */

/* The file and arguments that this program printed; the first is the program itself. */
static bool printed(const char *arguments)
{
	size_t n = strlen(self);

	return !strncmp(output, self, n) && !strcmp(output + n, arguments);
}

static const char *link_of(int n)
{
	static char name[50];

	snprintf(name, sizeof(name), DIR "/s%d", n);
	return name;
}

static void chains(void)
{
	char text[PATH_MAX + 50];

	snprintf(text, sizeof(text), "#!%s a  b \n", self);
	script(link_of(1), text);
	for (int i = 2; i <= 6; i++) {
		snprintf(text, sizeof(text), "#! %s\t%d\nmore\n", link_of(i - 1), i);
		script(link_of(i), text);
	}
	CHECK(run(link_of(1)) == 0 && printed("|a  b|" DIR "/s1|given"));
	CHECK(run(link_of(2)) == 0 && printed("|a  b|" DIR "/s1|2|" DIR "/s2|given"));
	CHECK(run(link_of(5)) == 0 && printed("|a  b|" DIR "/s1|2|" DIR "/s2|3|" DIR "/s3|4|" DIR
					      "/s4|5|" DIR "/s5|given"));
	CHECK(run(link_of(6)) == -ELOOP);
	script(DIR "/a", "#!" DIR "/b\n");
	script(DIR "/b", "#!" DIR "/a\n");
	script(DIR "/c", "#!" DIR "/c\n");
	CHECK(run(DIR "/a") == -ELOOP && run(DIR "/c") == -ELOOP);
}

static void lines(void)
{
	char text[PATH_MAX + 50];

	snprintf(text, sizeof(text), "#!%s", self);
	script(DIR "/a", text);
	CHECK(run(DIR "/a") == 0 && printed("|" DIR "/a|given"));
	snprintf(text, sizeof(text), "#!%s  last", self);
	script(DIR "/a", text);
	CHECK(run(DIR "/a") == 0 && printed("|last|" DIR "/a|given"));
	script(DIR "/a", "#!" DIR "/none\n");
	CHECK(run(DIR "/a") == -ENOENT);
	script(DIR "/a", "#!" DIR "\n");
	CHECK(run(DIR "/a") == -EACCES);
	script(DIR "/a", "#!" DIR "/a/b\n");
	CHECK(run(DIR "/a") == -ENOTDIR);
	write_file(DIR "/text", "text", 4, 0600);
	script(DIR "/a", "#!" DIR "/text\n");
	CHECK(run(DIR "/a") == -EACCES);
	chmod(DIR "/text", 0700);
	CHECK(run(DIR "/a") == -ENOEXEC);
	CHECK(run(DIR "/text") == -ENOEXEC);
	script(DIR "/a", "#!");
	CHECK(refused(run(DIR "/a")));
	script(DIR "/a", "#! \t\n" DIR "/text\n");
	CHECK(run(DIR "/a") == -ENOEXEC);
	script(DIR "/a", "");
	CHECK(run(DIR "/a") == -ENOEXEC);
}

/* --- dynamic linkers --- */

static int run_files(void)
{
	write_file(DIR "/program", &program, sizeof(program), 0700);
	write_file(DIR "/linker", &linker, sizeof(linker), 0700);
	return run(DIR "/program");
}

static void good_files(void)
{
	program = file_of(ET_EXEC, 0x08048000, PROGRAM, DIR "/linker");
	linker = file_of(ET_DYN, 0, LINKER, NULL);
}

static void linkers(void)
{
	int fd;

	good_files();
	CHECK(run_files() == LINKER);
	program = file_of(ET_DYN, 0, PROGRAM, DIR "/linker");
	CHECK(run_files() == LINKER);
	linker = file_of(ET_EXEC, 0x30000000, LINKER, NULL); /* at an address of its own */
	CHECK(run_files() == LINKER);
	linker = file_of(ET_DYN, 0x10000, LINKER, DIR "/none"); /* its linker is ignored */
	CHECK(run_files() == LINKER);
	linker = file_of(ET_DYN, 0, LINKER, DIR "/linker");
	CHECK(run_files() == LINKER);
	program = file_of(ET_DYN, 0, PROGRAM, DIR "/program");
	CHECK(run_files() == PROGRAM);
	program.extra = program.interp; /* the first one counts */
	program.extra.p_offset = offsetof(struct file, rest);
	CHECK(run_files() == PROGRAM);
	good_files();
	CHECK(run_files() == LINKER);
	fd = open(DIR "/linker", O_WRONLY);
	CHECK(run(DIR "/program") == -ETXTBSY && !close(fd));
	CHECK(run(DIR "/program") == LINKER);
}

static void bad_linkers(void)
{
	program = file_of(ET_EXEC, 0x08048000, PROGRAM, DIR "/none");
	CHECK(run_files() == -ENOENT);
	program = file_of(ET_EXEC, 0x08048000, PROGRAM, DIR);
	CHECK(run_files() == -EACCES);
	program = file_of(ET_EXEC, 0x08048000, PROGRAM, DIR "/a");
	script(DIR "/a", "#!" DIR "/text\nand so much more text that an ELF header would fit\n");
	CHECK(run_files() == -ELIBBAD);
	program = file_of(ET_EXEC, 0x08048000, PROGRAM, DIR "/text");
	write_file(DIR "/text", &program.name, 999, 0600);
	CHECK(run_files() == -EACCES);
	chmod(DIR "/text", 0700);
	CHECK(run_files() == -ELIBBAD);
	good_files();
	linker.ehdr.e_machine = EM_AARCH64;
	CHECK(run_files() == -ELIBBAD);
	good_files();
	linker.ehdr.e_phentsize = 1;
	CHECK(run_files() == -ELIBBAD);
	good_files();
	linker.ehdr.e_phnum = 65535;
	CHECK(run_files() == -ELIBBAD);
	good_files();
	linker.ehdr.e_type = ET_REL;
	CHECK(refused(run_files()));
	good_files();
	linker.text.p_type = PT_NOTE;
	CHECK(refused(run_files()));
	good_files();
	linker.text.p_memsz = 0xF0000000;
	CHECK(refused(run_files()));
	good_files();
	CHECK(run_files() == LINKER && !truncate(DIR "/linker", CODE)); /* its code is missing */
	CHECK(refused(run(DIR "/program")));
}

static void names_of_linkers(void)
{
	static char path[3 * PAGE];

	good_files();
	program.interp.p_filesz--; /* without its NUL */
	CHECK(run_files() == -ENOEXEC);
	program.interp.p_filesz = 1;
	CHECK(run_files() == -ENOEXEC);
	program.interp.p_filesz = PATH_MAX + 1;
	CHECK(run_files() == -ENOEXEC);
	good_files();
	program.interp.p_offset = 0x7FFFFFFF;
	CHECK(refused(run_files()));
	good_files();
	write_file(DIR "/linker", &linker, sizeof(linker), 0700);
	program.interp.p_offset = sizeof(program);
	program.interp.p_filesz = PATH_MAX;
	memcpy(path, &program, sizeof(program));
	memset(path + sizeof(program), '/', PATH_MAX - 1);
	memcpy(path + sizeof(program) + PATH_MAX - sizeof(DIR "/linker"), DIR "/linker",
	       sizeof(DIR "/linker"));
	write_file(DIR "/program", path, sizeof(path), 0700);
	CHECK(run(DIR "/program") == LINKER);
	memset(path + sizeof(program), 'x', PATH_MAX - 1);
	write_file(DIR "/program", path, sizeof(path), 0700);
	CHECK(run(DIR "/program") == -ENAMETOOLONG);
}

/* --- programs that can lie anywhere --- */

static void movable(void)
{
	program = file_of(ET_DYN, 0, PROGRAM, NULL);
	CHECK(run_files() == PROGRAM);
	program.text.p_type = PT_NOTE;
	CHECK(refused(run_files()));
	program = file_of(ET_DYN, 0, PROGRAM, NULL);
	program.text.p_vaddr = 0xFFFFF000;
	CHECK(refused(run_files()));
	program = file_of(ET_DYN, 0, PROGRAM, NULL);
	program.extra = program.text; /* zeroes over the code */
	program.extra.p_filesz = 0;
	program.extra.p_flags |= PF_W;
	CHECK(refused(run_files()));
	program = file_of(ET_DYN, 0, PROGRAM, NULL);
	program.extra = program.text; /* another page over it */
	program.extra.p_offset = PAGE;
	CHECK(refused(run_files()));
	program = file_of(ET_DYN, 0, PROGRAM, NULL);
	program.ehdr.e_phentsize = sizeof(Elf32_Phdr) + 1;
	CHECK(run_files() == -ENOEXEC);
	program.ehdr.e_phentsize = sizeof(Elf32_Phdr);
	program.ehdr.e_phnum = 65535;
	CHECK(run_files() == -ENOEXEC);
	program.ehdr.e_phnum = 2000; /* more than the file has */
	CHECK(refused(run_files()));
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[argc - 1], "given")) {
		for (int i = 0; i < argc; i++)
			printf(i ? "|%s" : "%s", argv[i]);
		return 0;
	}
	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 0, 0, HELP);
	CHECK(realpath(argv[0], self));
	mkdir(DIR, 0700);
	chains();
	lines();
	linkers();
	bad_linkers();
	names_of_linkers();
	movable();
	for (int i = 1; i <= 6; i++)
		CHECK(!unlink(link_of(i)));
	CHECK(!unlink(DIR "/a") && !unlink(DIR "/b") && !unlink(DIR "/c") && !unlink(DIR "/text"));
	CHECK(!unlink(DIR "/program") && !unlink(DIR "/linker") && !rmdir(DIR));
	return check_report("interpreters");
}
