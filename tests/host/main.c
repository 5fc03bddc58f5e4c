/*
 * Host tests: kernel code that is independent of the kernel's environment, run as a program under the
 * address and the undefined-behaviour sanitizer.
 *
 * Each kernel/.../X_test.c is one program. It includes the .c files that it tests ("X.c" and files that
 * X.c calls) and is compiled as 32-bit code, so that pointers, long and struct page have the
 * kernel's sizes:
 *
 *	i686-linux-gnu-gcc -std=gnu11 -g -O1 -fsanitize=address,undefined
 *		-fno-sanitize-recover=all -Wall -Wextra -Werror -DHOST_TEST
 *		-Itests/host/portable -Itests/host/include -Ikernel/include -o build/host/.../X_test
 *		kernel/.../X_test.c tests/host/{main,fakes,fake_core,watchdog}.c
 *		kernel/mm/seam/{rules,hooks,handover,timer}.c
 *		-Wl,-T,tests/host/sections.ld
 *		-Wl,-dynamic-linker,/usr/i686-linux-gnu/lib/ld-linux.so.2
 *		-Wl,--disable-new-dtags,-rpath,/usr/i686-linux-gnu/lib
 *
 * The last two lines let the program find the C library and the sanitizers that come with
 * Debian's cross compiler; with a native `gcc -m32` they are omitted.
 *
 * tests/host/include has the headers that differ from the kernel's: lib/string.h and
 * lib/printf.h declare the C library's functions (a test of the kernel's own ones includes
 * host/rename.h first), and host/host.h has what only tests may call: EXPECT_PANIC, host_ram_create.
 * tests/host/portable stands for the processor, but requires no particular one: arch/mmu.h maps frame
 * numbers to a block of host memory, arch/time.h is a clock that the program advances.
 *
 * The program prints KTAP and ends with 1 if a test failed. SEED=n in the environment replaces
 * the seed of the random tests.
 */
#include "host/host.h"
#include <stdio.h>
#include <stdlib.h>

static void print(const char *line)
{
	fputs(line, stdout);
	fflush(stdout);
}

int main(void)
{
	const char *seed = getenv("SEED");

	if (seed)
		ktap_seed = strtoul(seed, NULL, 0);
	host_watch(1000);
	return ktap_run(print) ? 1 : 0;
}
