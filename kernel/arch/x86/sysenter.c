/* Enables system calls by sysenter; the entry is in sysenter_entry.S. */
#include "arch/vdso.h"
#include "arch/x86/cpu.h"
#include "internal.h"

/* sysenter loads cs with the selector in the MSR and ss with the next one. */
STATIC_ASSERT(GDT_KERNEL_DS == GDT_KERNEL_CS + 1);

u32 sysenter_return; /* user address at which every such call continues */

bool sysenter_init(u32 return_to)
{
	if (!(cpuid_features() & CPUID_SEP))
		return false;
	sysenter_return = return_to;
	wrmsr(MSR_SYSENTER_CS, KERNEL_CS);
	wrmsr(MSR_SYSENTER_ESP, (u32)double_fault_stack + DOUBLE_FAULT_STACK_SIZE);
	wrmsr(MSR_SYSENTER_EIP, (u32)entry_sysenter);
	return true;
}
