/* Port input and output. */
#ifndef ARCH_X86_IO_H
#define ARCH_X86_IO_H

#include "types.h"

static inline void outb(u16 port, u8 value)
{
	__asm__ volatile("outb %0, %1" ::"a"(value), "Nd"(port));
}

static inline void outw(u16 port, u16 value)
{
	__asm__ volatile("outw %0, %1" ::"a"(value), "Nd"(port));
}

static inline void outl(u16 port, u32 value)
{
	__asm__ volatile("outl %0, %1" ::"a"(value), "Nd"(port));
}

static inline u8 inb(u16 port)
{
	u8 value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

static inline u16 inw(u16 port)
{
	u16 value;

	__asm__ volatile("inw %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

static inline u32 inl(u16 port)
{
	u32 value;

	__asm__ volatile("inl %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

/* Writes n bytes to one port by one string instruction. */
static inline void outsb(u16 port, const void *from, size_t n)
{
	__asm__ volatile("rep outsb" : "+S"(from), "+c"(n) : "d"(port) : "memory");
}

#endif
