/*
 * Stages: how optional parts of the kernel are called without being named anywhere.
 *
 * A part that the other files can do without (tracing, failure injection, disks for files) states
 * in its own file at which stage of the machine's life each of its functions is called:
 *
 *	AT_STAGE(parts, 20, sample_init);
 *
 * The linker puts the functions of a stage side by side, sorted by their two digits. A kernel that
 * is linked without the file lacks the part. The core itself is started in kernel/main.c, by name.
 *
 *	first     the command line is not read yet: no memory, no time
 *	files     the root directory exists and is empty
 *	parts     memory, files and the scheduler work; init does not run yet
 *	disks     in init's kernel thread: interrupts come, so disks can be read. May sleep.
 *	mounts    in init's kernel thread, before it opens a file. May sleep.
 *	running   init's program is loaded and runs next
 *	end       the machine is about to power off (power_off_status). May sleep.
 *	report    the last stage: prints what the run cost. Interrupts are off and the clock stands still.
 */
#ifndef LIB_STAGES_H
#define LIB_STAGES_H

#define AT_STAGE(stage, order, function)                                                           \
	static void (*const stage##_##function)(void)                                              \
		__attribute__((used, section(".stages." #stage "." #order))) = function

/* Calls the functions of a stage. */
#define run_stage(stage)                                                                           \
	do {                                                                                       \
		extern void (*const __##stage##_start[])(void), (*const __##stage##_end[])(void);  \
		for (void (*const *call)(void) = __##stage##_start; call < __##stage##_end;        \
		     call++)                                                                       \
			(*call)();                                                                 \
	} while (0)

#endif
