/* The first C function that does not belong to a processor; boot/boot.S calls it. */
#ifndef MAIN_H
#define MAIN_H

#include "types.h"

void __noreturn kernel_main(void);

#endif
