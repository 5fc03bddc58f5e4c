/*
 * badelf: truncated and hostile programs.
 *
 * Every field of an ELF file is untrusted. The kernel adds these numbers, compares them and uses
 * them for mappings. So each sum can overflow, each range can overlap another or extend into the
 * kernel's half, and each part can lie beyond the end of the file. Each file here is a small valid
 * program with one error. execve may refuse to run it, or it may die of SIGSEGV if the error shows
 * only after the old program is gone. Anything else (a running program, another signal, a hanging
 * kernel) is an error of the kernel.
 *
 * The valid program has two segments: code that calls exit(GOOD_STATUS), and zero-filled data. It
 * is run first, so that a kernel which refuses everything does not pass.
 */
#include "lab.h"
#include <elf.h>
#include <stddef.h>

#define HELP                                                                                       \
	"usage: badelf [DIR]\n"                                                                    \
	"Write bad programs into DIR (default /tmp), try to run each, and remove it.\n"            \
	"refused= execve said no, segv= died of SIGSEGV or SIGBUS, other= what should not "        \
	"happen.\n"

enum {
	GOOD_STATUS = 42,
	TEXT = 0x08048000,
	DATA = 0x08050000,
	CODE_OFFSET = 0x200,
	MAX_FILE = 8192
};

/* The image as a file. Fields not used by a mutation keep the values of the valid program. */
struct image {
	Elf32_Ehdr ehdr;
	Elf32_Phdr text, data, extra;
	char rest[MAX_FILE - sizeof(Elf32_Ehdr) - 3 * sizeof(Elf32_Phdr)];
};

static struct image image;
static size_t file_size;
static char path[256];
static int nr_files, nr_refused, nr_segv, nr_other;

/* mov $1, %eax; mov $GOOD_STATUS, %ebx; int $0x80 */
static const unsigned char code[] = { 0xb8, 1, 0, 0, 0, 0xbb, GOOD_STATUS, 0, 0, 0, 0xcd, 0x80 };

static void make_good_image(void)
{
	memset(&image, 0, sizeof(image));
	memcpy(image.ehdr.e_ident, ELFMAG, SELFMAG);
	image.ehdr.e_ident[EI_CLASS] = ELFCLASS32;
	image.ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
	image.ehdr.e_ident[EI_VERSION] = EV_CURRENT;
	image.ehdr.e_type = ET_EXEC;
	image.ehdr.e_machine = EM_386;
	image.ehdr.e_version = EV_CURRENT;
	image.ehdr.e_entry = TEXT + CODE_OFFSET;
	image.ehdr.e_phoff = offsetof(struct image, text);
	image.ehdr.e_ehsize = sizeof(Elf32_Ehdr);
	image.ehdr.e_phentsize = sizeof(Elf32_Phdr);
	image.ehdr.e_phnum = 2;
	image.text = (Elf32_Phdr){ .p_type = PT_LOAD,
				   .p_vaddr = TEXT,
				   .p_paddr = TEXT,
				   .p_filesz = PAGE_SIZE_BYTES,
				   .p_memsz = PAGE_SIZE_BYTES,
				   .p_flags = PF_R | PF_X,
				   .p_align = PAGE_SIZE_BYTES };
	image.data = image.text;
	image.data.p_offset = PAGE_SIZE_BYTES;
	image.data.p_vaddr = image.data.p_paddr = DATA;
	image.data.p_memsz = 2 * PAGE_SIZE_BYTES;
	image.data.p_flags = PF_R | PF_W;
	image.extra = image.data;
	memcpy((char *)&image + CODE_OFFSET, code, sizeof(code));
	file_size = sizeof(image);
}

static void write_file(void)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);

	if (fd < 0 || write(fd, &image, file_size) != (ssize_t)file_size)
		die_errno(path);
	close(fd);
}

/*
 * Execute @file in a child. Returns the child's wait status. *refusal is execve's errno, or 0 if
 * execve did not return.
 */
static int execute(const char *file, int *refusal)
{
	int channel[2], status = 0;
	pid_t pid;

	if (pipe2(channel, O_CLOEXEC))
		die_errno("pipe");
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die_errno("fork");
	if (!pid) {
		execve(file, (char *[]){ (char *)file, NULL }, (char *[]){ NULL });
		_exit(write(channel[1], &errno, sizeof(errno)) < 0);
	}
	close(channel[1]);
	*refusal = 0;
	if (read(channel[0], refusal, sizeof(*refusal)) < 0)
		die_errno("read");
	close(channel[0]);
	waitpid(pid, &status, 0);
	return status;
}

static void judge(const char *name, const char *file)
{
	int refusal, status = execute(file, &refusal);

	nr_files++;
	if (refusal) {
		nr_refused++;
	} else if (WIFSIGNALED(status) &&
		   (WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGBUS)) {
		nr_segv++;
	} else {
		nr_other++;
		printf("badelf: %s: %s %d\n", name,
		       WIFSIGNALED(status) ? "killed by signal" : "ran, exit status",
		       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	}
}

/* Write the modified image, run it, and restore the valid image. */
static void try_image(const char *name)
{
	write_file();
	judge(name, path);
	if (unlink(path))
		die_errno(path);
	make_good_image();
}

/* Returns false after a message if the valid program does not run. */
static bool try_good_image(void)
{
	int refusal, status;

	make_good_image();
	write_file();
	status = execute(path, &refusal);
	unlink(path);
	if (!refusal && WIFEXITED(status) && WEXITSTATUS(status) == GOOD_STATUS)
		return true;
	warn_user("the good program does not run: %s", refusal ? strerror(refusal) : "wrong end");
	return false;
}

/*
 * Truncate at and beside every border inside the headers. The relevant parts lie before the last
 * length.
 */
static void try_truncated(void)
{
	static const size_t lengths[] = {
		0,
		1,
		3,
		4,
		15,
		16,
		sizeof(Elf32_Ehdr) - 1,
		sizeof(Elf32_Ehdr),
		sizeof(Elf32_Ehdr) + 1,
		offsetof(struct image, data) - 1,
		offsetof(struct image, data),
		offsetof(struct image, extra) - 1,
	};
	char name[48];

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		file_size = lengths[i];
		snprintf(name, sizeof(name), "cut to %zu bytes", lengths[i]);
		try_image(name);
	}
	/* The last page of the code's own segment exists but is empty: zeros are not a valid
	 * program. */
	file_size = CODE_OFFSET;
	try_image("cut before the code");
}

static void try_identities(void)
{
	image.ehdr.e_ident[EI_MAG0] = 'E';
	try_image("wrong magic");
	image.ehdr.e_ident[EI_CLASS] = ELFCLASS64;
	image.ehdr.e_machine = EM_AARCH64;
	try_image("a 64-bit program");
	image.ehdr.e_machine = EM_ARM;
	try_image("wrong machine");
	image.ehdr.e_type = ET_REL;
	try_image("an object file");
	image.ehdr.e_type = ET_CORE;
	try_image("a core dump");
	image.ehdr.e_entry = 0;
	try_image("entry at 0");
	image.ehdr.e_entry = 0xC0100000;
	try_image("entry in the kernel");
	image.ehdr.e_entry = TEXT - PAGE_SIZE_BYTES;
	try_image("entry outside");
}

static void try_program_headers(void)
{
	image.ehdr.e_phnum = 0;
	try_image("no program headers");
	image.ehdr.e_phnum = 65535;
	try_image("65535 program headers");
	image.ehdr.e_phentsize = 1;
	try_image("program headers of one byte");
	image.ehdr.e_phentsize = 65535;
	try_image("program headers of 65535 bytes");
	image.ehdr.e_phoff = 2 * MAX_FILE;
	try_image("program headers behind the end");
	image.ehdr.e_phoff = 0xFFFFFFF0;
	try_image("program headers that wrap around");
	image.ehdr.e_phoff = MAX_FILE - sizeof(Elf32_Phdr);
	try_image("program headers cut by the end");
	image.text.p_type = image.data.p_type = PT_NULL;
	try_image("nothing to load");
	image.text.p_type = PT_NOTE;
	try_image("no code to load");
}

static void try_interpreters(void)
{
	image.ehdr.e_phnum = 3;
	image.extra.p_type = PT_INTERP;
	image.extra.p_filesz = image.extra.p_memsz = 16;
	try_image("an interpreter without a name");
	image.ehdr.e_phnum = 3;
	image.extra.p_type = PT_INTERP;
	image.extra.p_offset = 4 * MAX_FILE;
	try_image("an interpreter behind the end");
	image.ehdr.e_phnum = 3;
	image.extra.p_type = PT_INTERP;
	image.extra.p_filesz = 0xFFFFFFFF;
	try_image("an interpreter with a name of 4 GiB");
}

static void try_segment_places(void)
{
	image.text.p_vaddr = 0;
	image.ehdr.e_entry = CODE_OFFSET - 1;
	try_image("code at 0");
	image.text.p_vaddr = 0xC0000000;
	try_image("code at the kernel");
	image.data.p_vaddr = 0xC0100000;
	try_image("data in the kernel");
	image.data.p_vaddr = 0xBFFFF000;
	image.data.p_memsz = 0x100000;
	try_image("data from below the kernel into it");
	image.data.p_vaddr = 0xFFFFF000;
	try_image("data at the top");
	image.data.p_vaddr = TEXT;
	try_image("data over the code");
	image.data.p_vaddr = TEXT;
	image.data.p_filesz = 0;
	try_image("zeroes over the code");
}

static void try_segment_sizes(void)
{
	image.data.p_memsz = 0xFFFFFFFF;
	try_image("data of 4 GiB");
	image.data.p_memsz = 0xFFFFFFFF - DATA;
	try_image("data to the top");
	image.data.p_memsz = image.data.p_filesz = 0xFFFFF000;
	try_image("data whose end wraps around");
	image.data.p_filesz = 2 * PAGE_SIZE_BYTES;
	image.data.p_memsz = PAGE_SIZE_BYTES;
	try_image("more data in the file than in memory");
	image.text.p_offset = 1;
	try_image("code unaligned in the file");
	image.text.p_offset = 64 * MAX_FILE;
	try_image("code behind the end of the file");
	image.text.p_offset = 0xFFFFF000;
	try_image("code whose offset wraps around");
	image.text.p_filesz = image.text.p_memsz = 0;
	try_image("code of no bytes");
	image.text.p_flags = 0;
	image.text.p_vaddr = DATA;
	try_image("code that is nowhere");
}

static void try_other_files(void)
{
	memset(&image, 'x', sizeof(image));
	file_size = 100;
	try_image("a text without #!");
	memset(&image, 0, sizeof(image));
	try_image("zeroes");
	memset(&image, 0xFF, sizeof(image));
	memcpy(image.ehdr.e_ident, ELFMAG, SELFMAG);
	try_image("all ones behind the magic");
	judge("a directory", "/");
	judge("a path through a file", "/bin/sh/x");
	judge("a file that is not there", "/no such file");
}

int main(int argc, char **argv)
{
	help_if_asked(argc, argv, HELP);
	lab_operands(argc, argv, 0, 1, HELP);
	snprintf(path, sizeof(path), "%s/badelf.%d", argc > 1 ? argv[1] : "/tmp", (int)getpid());
	if (!try_good_image())
		return 1;
	try_truncated();
	try_identities();
	try_program_headers();
	try_interpreters();
	try_segment_places();
	try_segment_sizes();
	try_other_files();
	printf("R badelf files=%d refused=%d segv=%d other=%d\n", nr_files, nr_refused, nr_segv,
	       nr_other);
	return nr_other != 0;
}
