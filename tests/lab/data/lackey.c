/* A few hundred references of every kind, some across a page boundary. */
static char area[3 * 4096] __attribute__((aligned(4096)));
void _start(void)
{
	for (int round = 0; round < 12; round++) {
		for (int page = 0; page < 3; page++)
			area[page * 4096 + round]++;
		*(volatile int *)(area + 4094) = round;
		*(volatile long *)(area + 8190);
	}
	__asm__ volatile("mov $60, %eax; xor %edi, %edi; syscall");
}
