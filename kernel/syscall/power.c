/* The system call that powers off or restarts the machine. */
#include "arch/machine.h"
#include "calls.h"
#include "errno.h"
#include "observe/events.h"

/* POWER_OFF: arg, a string in Linux, is the exit status of the run. */
long sys_reboot(u32 magic1, u32 magic2, u32 command, u32 arg)
{
	enum { MAGIC1 = 0xfee1dead, MAGIC2 = 672274793 };
	enum { RESTART = 0x01234567, POWER_OFF = 0x4321fedc, CAD_ON = 0x89abcdef, CAD_OFF = 0 };

	if (magic1 != (u32)MAGIC1 || magic2 != MAGIC2)
		return -EINVAL;
	switch (command) {
	case POWER_OFF:
		event_power_off(&(int){ arg });
		return 0;
	case RESTART:
		machine_reboot();
	case (u32)CAD_ON:
	case CAD_OFF:
		return 0;
	default:
		return -EINVAL;
	}
}
