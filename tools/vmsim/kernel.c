/* What a policy uses of the kernel besides the policy interface: panic, printk, memory. */
#include "vmsim.h"

#include "lib/assert.h"
#include "lib/printf.h"
#include "mm/slab.h"
#include <stdlib.h>

void panic(const char *fmt, ...)
{
	char what[200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	rule_fatal(&policy_timer, "panic", policy_timer.running ?: "", "%s", what);
}

int printk(const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vfprintf(stderr, fmt, args);
	va_end(args);
	return n;
}

void *kmalloc(size_t size, gfp_t gfp)
{
	(void)gfp;
	return malloc(size);
}

void *kzalloc(size_t size, gfp_t gfp)
{
	(void)gfp;
	return calloc(1, size);
}

void kfree(const void *p)
{
	free((void *)p);
}
